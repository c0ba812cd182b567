"""cryptarithm: checks digits letter by letter against the sum; others are found column by column."""

import re
from itertools import islice


def parse(question):
    above, below = question.split("cryptarithm:\n\n")[1].split("\n\nEach letter")[0].split("---", 1)
    words, result = re.findall(r"[A-Z]+", above), re.search(r"[A-Z]+", below)[0]
    return words, result, "Leading letters may be zero" not in question


def check(question, answer):
    words, result, no_zero = parse(question)
    pairs = [part.strip() for part in answer.split(",")]
    if not all(re.fullmatch(r"[A-Z]=\d", pair) for pair in pairs):
        return False
    digits = {pair[0]: int(pair[2]) for pair in pairs}
    if len(digits) != len(pairs) or set(digits) != set("".join(words) + result):
        return False
    if len(set(digits.values())) != len(digits) or (no_zero and any(digits[word[0]] == 0 for word in [*words, result])):
        return False
    return sum(value(word, digits) for word in words) == value(result, digits)


def value(word, digits):
    return int("".join(str(digits[letter]) for letter in word))


def solutions(question):
    words, result, no_zero = parse(question)
    heads = {word[0] for word in [*words, result]} if no_zero else set()
    width = max(map(len, [*words, result]))
    above = [[word[-1 - k] for word in words if len(word) > k] for k in range(width)]
    digits = {}

    def assign(letter, then):
        if letter in digits:
            yield from then()
            return
        for digit in range(10):
            if digit not in digits.values() and not (digit == 0 and letter in heads):
                digits[letter] = digit
                yield from then()
                del digits[letter]

    def column(k, carry):
        if k == width:
            if carry == 0:
                yield dict(digits)
            return
        yield from term(k, above[k], carry, result[-1 - k] if len(result) > k else None)

    def term(k, letters, total, below):
        if letters:
            yield from assign(letters[0], lambda: term(k, letters[1:], total + digits[letters[0]], below))
        elif below is None:
            if total == 0:
                yield from column(k + 1, 0)
        elif below in digits:
            if digits[below] == total % 10:
                yield from column(k + 1, total // 10)
        elif total % 10 not in digits.values() and not (total % 10 == 0 and below in heads):
            digits[below] = total % 10
            yield from column(k + 1, total // 10)
            del digits[below]

    return column(0, 0)


def others(question, key):
    return [
        *map(write, islice(solutions(question), 4)),
        key.replace(",", ", "),
        ",".join(reversed(key.split(","))),
    ]


def write(digits):
    return ",".join(f"{letter}={digit}" for letter, digit in digits.items())


def wrong(question, key):
    digits = dict(pair.split("=") for pair in key.split(","))
    (first, second), words = list(digits)[:2], parse(question)[0]

    for a in digits:
        for b in digits:
            swapped = write({**digits, a: digits[b], b: digits[a]})
            if a < b and not check(question, swapped):
                yield "the sum is wrong", swapped
                break
    yield "two letters have one digit", write({**digits, first: digits[second]})
    yield "a letter is missing", write({letter: digit for letter, digit in digits.items() if letter != first})
    yield "a letter too many", key + "," + next(f"{c}=0" for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in digits)
    yield "a letter has two digits", f"{first}={(int(digits[first]) + 1) % 10},{key}"
    yield "a letter has two digits, the last of them wrong", f"{key},{first}={(int(digits[first]) + 1) % 10}"
    yield "all letters are zero", write(dict.fromkeys(digits, "0"))
    yield "no digit", write({**digits, first: "10"})
    yield "numbers instead of letters", ",".join(f"{word}={value(word, digits)}" for word in words)
