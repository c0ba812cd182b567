"""word_sequence_reversal: the words of a list from the last to the first."""


def _words(question):
    return question.split("Reverse this list of words: ", 1)[1].split("\n")[0].split(", ")


def solve(question):
    return ", ".join(_words(question)[::-1])


def same(a, b):
    return a.strip() == b.strip()


def wrong(question, key):
    words = _words(question)
    if words != words[::-1]:
        yield "the list as it stands", ", ".join(words)
    yield "the letters are reversed", ", ".join(words)[::-1]
    yield "no space after the commas", ",".join(words[::-1])
    yield "no commas", " ".join(words[::-1])
    yield "a word is missing", ", ".join(words[:0:-1])
    yield "a word twice", ", ".join(words[::-1] + words[:1])


def solved_at_start(question):
    return _words(question) == _words(question)[::-1]
