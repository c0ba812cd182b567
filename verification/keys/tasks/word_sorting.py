"""word_sorting: sorts words by the code points of their characters."""

import re


def _read(question):
    found = re.search(r"sort these words in (\w+) order \(using.*?list: (.+)", question)
    return found[1] == "descending", [word.strip() for word in found[2].split(",")]


def _join(words):
    return ", ".join(words)


def solve(question):
    is_descending, words = _read(question)
    return _join(sorted(words, key=lambda word: [ord(ch) for ch in word], reverse=is_descending))


def same(a, b):
    return [word.strip() for word in a.split(",")] == [word.strip() for word in b.split(",")]


def others(question, key):
    yield solve(question).replace(", ", ",")


def wrong(question, key):
    is_descending, words = _read(question)
    right = solve(question)
    if len(set(words)) > 1:
        yield "the other direction", _join(sorted(words, reverse=not is_descending))
    alphabetical = _join(sorted(words, key=str.lower, reverse=is_descending))
    if alphabetical != right:
        yield "as in a dictionary, not by code points", alphabetical
    yield "a word is missing", _join(right.split(", ")[:-1])
    yield "a word too many", f"{right}, {words[0]}"
    if len(words) > 1:
        yield "no commas", right.replace(",", "")


def solved_at_start(question):
    return _join(_read(question)[1]) == solve(question)
