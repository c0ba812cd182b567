"""group_anagrams: the words that have the same letters stand together."""

import json
import re


def _groups(question):
    words, groups = json.loads(re.search(r"list of words into anagrams:\n(\[.*\])", question)[1]), {}
    for word in words:
        groups.setdefault("".join(sorted(word)), []).append(word)
    return list(groups.values())


def solve(question):
    return json.dumps(_groups(question))


def same(a, b):
    return sorted(map(sorted, json.loads(a))) == sorted(map(sorted, json.loads(b)))


def others(question, key):
    yield json.dumps([group[::-1] for group in _groups(question)[::-1]], separators=(",", ":"))


def wrong(question, key):
    groups = _groups(question)
    yield "a word is missing", json.dumps([*groups[:-1], groups[-1][:-1]])
    yield "a word twice", json.dumps([*groups[:-1], groups[-1] + groups[-1][:1]])
    yield "a group twice", json.dumps(groups + groups[:1])
    yield "two groups in one", json.dumps([groups[0] + groups[1], *groups[2:]])
    yield "a group is divided", json.dumps([groups[0][:1], groups[0][1:], *groups[1:]])
    yield "one list, not a list of lists", json.dumps(sum(groups, []))
    yield "objects, not lists", json.dumps([{word: 1 for word in group} for group in groups])
