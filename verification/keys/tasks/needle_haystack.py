"""needle_haystack: lists everyone of whom the statements say what the question asks."""

import re


def find_names(question):
    statements, asked = question.rsplit("\nWho ", 1)
    what = asked.split("? Reply only")[0]
    return sorted(set(re.findall(rf"(?:^|\. )([^.]+?) {re.escape(what)}(?=\.)", statements)))


def solve(question):
    return find_names(question)[0]


def check(question, answer):
    return answer in find_names(question)


def others(question, key):
    return [name for name in find_names(question) if name != key]


def wrong(question, key):
    names = re.findall(r"(?:^|\. )(\S+) ", question.rsplit("\nWho ", 1)[0])
    yield from (("another person", name) for name in names[:4] if name not in find_names(question))
    yield "two names", f"{key} {next(name for name in names if name != key)}"
