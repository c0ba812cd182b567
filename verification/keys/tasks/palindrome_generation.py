"""palindrome_generation: a palindrome of all the letters, each as often as it is given."""

from collections import Counter


def _letters(question):
    return question.split("using the following letters: ", 1)[1].split("\n")[0].strip().split(", ")


def _build(half, middle):
    return "".join([*half, *middle, *reversed(half)])


def check(question, answer):
    return answer == answer[::-1] and sorted(answer) == sorted(_letters(question))


def others(question, key):
    counts = Counter(_letters(question))
    half = sorted(letter for letter in counts for _ in range(counts[letter] // 2))
    middle = [letter for letter in counts if counts[letter] % 2]
    yield _build(half, middle)
    yield _build(half[::-1], middle)


def wrong(question, key):
    right = next(others(question, key))
    yield "a letter too many", right[0] + right + right[0]
    if len(right) > 2:
        yield "two letters are missing", right[1:-1]
        yield "another letter twice", "q" + right[1:-1] + "q" if right[0] != "q" else "x" + right[1:-1] + "x"
        yield "with spaces", " ".join(right)
        yield "with punctuation", ",".join(right)
    ordered = "".join(sorted(right))
    if ordered != ordered[::-1]:
        yield "no palindrome", ordered


def solved_at_start(question):
    return _letters(question) == _letters(question)[::-1]
