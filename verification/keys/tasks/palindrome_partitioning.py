"""palindrome_partitioning: all ways to cut a string into palindromes, or any one, if "may" is a permission."""

import json
import re
from functools import cache


def _string(question):
    return re.search(r"string into palindromes: (\w+)", question)[1]


@cache
def _partitions(string):
    if not string:
        return [[]]
    heads = [string[:n] for n in range(1, len(string) + 1) if string[:n] == string[:n][::-1]]
    return [[head, *tail] for head in heads for tail in _partitions(string[len(head) :])]


def _is_settled(question):
    return "list all possible partitions" in question


def solve(question):
    partitions = _partitions(_string(question))
    return [json.dumps(partitions)] + ([] if _is_settled(question) else [json.dumps(partitions[:1])])


def same(a, b):
    a, b = json.loads(a), json.loads(b)
    return len(a) == len(b) and sorted(a) == sorted(b)


def others(question, key):
    yield json.dumps(_partitions(_string(question))[::-1], separators=(",", ":"))


def wrong(question, key):
    partitions = _partitions(_string(question))
    yield "a partition twice", json.dumps(partitions + partitions[:1])
    yield "a part that is no palindrome", json.dumps([*partitions, [_string(question) + "xy"]])
    yield "a partition of another string", json.dumps([*partitions, [*partitions[0], partitions[0][0]]])
    string = _string(question)
    yield "a string, not a list", json.dumps([string if other == list(string) else other for other in partitions])
    yield "one list, not a list of lists", json.dumps(partitions[0])
    if _is_settled(question):
        yield "a partition is missing", json.dumps(partitions[1:])
