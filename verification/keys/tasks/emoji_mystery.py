"""emoji_mystery: decodes the bytes as the question's own hint does; None where that gives more than a sentence."""

import re


def solve(question):
    hidden = re.search(r"from the emoji: (\S+)", question)[1]
    codes = [ord(ch) for ch in hidden[1:]]
    low = range(0xFE00, 0xFE10)
    high = range(0xE0100, 0xE01F0)
    text = bytes(low.index(c) if c in low else high.index(c) + 16 for c in codes if c in low or c in high).decode()
    return text if text.isprintable() else None


def others(question, key):
    text = solve(question)
    if text is not None:
        yield " ".join(text.split())


def wrong(question, key):
    text = solve(question)
    if text is not None:
        yield "the last character is missing", text[:-1]
        yield "the words are in another order", " ".join(text.split()[::-1])
        yield "a character is wrong", ("x" if text[0] != "x" else "y") + text[1:]
        yield "the emoji is in it", question.split("emoji: ", 1)[1][0] + text
