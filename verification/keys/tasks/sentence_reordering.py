"""sentence_reordering: only English tells the right order, but it has all words, and no word twice in a row."""


def _words(question):
    return question.split("in the following sentence: ", 1)[1].split("\nNote: ")[0].split()


def check(question, answer):
    words = answer.split()
    return sorted(words) == sorted(_words(question)) and all(a != b for a, b in zip(words, words[1:]))


def wrong(question, key):
    words = key.split()
    if words != _words(question):
        yield "the question repeated", " ".join(_words(question))
    yield "a word is missing", " ".join(words[:-1])
    yield "a word too many", f"{key} {words[0]}"
    if words[0] != words[-1]:
        yield "the first and the last word are swapped", " ".join([words[-1], *words[1:-1], words[0]])
    for i, word in enumerate(words[1:], 1):
        if word != words[0] and word.lower() == words[0].lower():
            swapped = [word, *words[1:i], words[0], *words[i + 1 :]]
            yield "two words that differ in case only are swapped", " ".join(swapped)
