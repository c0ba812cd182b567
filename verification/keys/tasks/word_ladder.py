"""word_ladder: checks the ends of a ladder and that one letter changes at a time; the question has no list of words."""

import re

WHY = "no dictionary is given, so whether a word is English is not checked"


def read(question):
    return re.search(r"ladder '([A-Z]+)' to '([A-Z]+)' by", question).groups()


def check(question, answer):
    start, end = read(question)
    words = answer.split(",")
    if words[0] != start or words[-1] != end:
        return False
    if any(not re.fullmatch("[A-Z]+", word) or len(word) != len(start) for word in words):
        return False
    return all(sum(a != b for a, b in zip(one, two)) == 1 for one, two in zip(words, words[1:]))


def solved_at_start(question):
    start, end = read(question)
    return start == end


def others(question, key):
    words = key.split(",")
    yield ",".join([*words[:2], *words])


def wrong(question, key):
    start, end = read(question)
    words = key.split(",")
    if not check(question, f"{start},{end}"):
        yield "more than one letter changes", f"{start},{end}"
    yield "the start is missing", ",".join(words[1:])
    yield "the end is missing", ",".join(words[:-1])
    yield "the ladder goes down", ",".join(words[::-1])
    yield "a word stays as it is", ",".join([start, *words])
    yield "a word of another length", ",".join([start, f"{start}S", *words[1:]])
    up = [start] + ["QXQXQ"[:k] + start[k:] for k in range(1, len(start) + 1)]
    down = [end[:k] + "QXQXQ"[k : len(end)] for k in range(1, len(end) + 1)]
    steps = [word for word, before in zip(up + down, ["", *up, *down]) if word != before]
    yield "words that do not exist", ",".join(steps)
