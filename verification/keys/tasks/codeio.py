"""codeio: runs the program of the question in the sandbox, on the input that it shows or that is answered."""

import ast
import functools
import json
import re

from tasks import _programs

WORLDS = range(3)
MAX_CHANGES = 6


def solve(question):
    """The output, if it is the same in all worlds. What asks for an input has many right answers: see `others`."""
    given, shown, source = read(question)
    if given == "output":
        return []
    texts = {run(source, shown, world).get("text") for world in WORLDS}
    return texts.pop() if len(texts) == 1 else None


def read(question):
    """What is given, input or output, how it is shown, and the program."""
    form = r"\nGiven the following (input|output):\n\n(.*?)\n\nCan you predict .*?code directly\.\n\n(.*)\n$"
    return re.search(form, question, re.S).groups()


@functools.lru_cache(64)
def run(source, inputs, world):
    return _programs.run(source, inputs, world)


def check(question, answer):
    given, shown, source = read(question)
    if given == "input":
        right = solve(question)
        return right is not None and same(right, answer)
    inputs = json.loads(answer)
    return all(is_shown(shown, run(source, repr(inputs), world)) for world in WORLDS)


def is_shown(shown, reply):
    if "shown" not in reply:
        return False
    try:
        return same_values(ast.literal_eval(shown), ast.literal_eval(reply["shown"]))
    except (ValueError, SyntaxError):
        return shown == reply["shown"]


def same(a, b):
    try:
        return same_values(json.loads(a), json.loads(b))
    except ValueError:
        return a == b


def same_values(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same_values, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_values(a[key], b[key]) for key in a)
    return a == b or a != a and b != b


def others(question, key):
    given, shown, source = read(question)
    if given == "input" or not check(question, key):
        if (right := solve(question)) and given == "input":
            yield json.dumps(json.loads(right), separators=(",", ":"))
            yield json.dumps(turn(json.loads(right)), indent=1)
        return
    yield json.dumps(turn(json.loads(key)), separators=(",", ":"))
    yield from (answer for answer in change_input(key) if check(question, answer))


def turn(value):
    """The same with its keys in another order."""
    if isinstance(value, dict):
        return {key: turn(value[key]) for key in reversed(value)}
    return list(map(turn, value)) if isinstance(value, list) else value


def wrong(question, key):
    given, shown, source = read(question)
    if given == "output":
        yield from (("another output", answer) for answer in change_input(key) if not check(question, answer))
        yield "no JSON value with the names of the inputs", "{}" if json.loads(key) else '{"x": 1}'
        yield "a list", f"[{key}]"
        yield "one more name", json.dumps({**json.loads(key), "one_more": 1})
        return
    right = json.loads(solve(question) or "null")
    yield "a text for a value", json.dumps(str(right)) if not isinstance(right, str) else json.dumps(f"{right} ")
    yield "in a list", json.dumps([right])
    for changed in list_changes(right)[:MAX_CHANGES]:
        if not same_values(changed, right):
            yield "another value", json.dumps(changed)


def change_input(key):
    return [json.dumps(changed) for changed in list_changes(json.loads(key))[:MAX_CHANGES]]


def list_changes(value):
    """Values that differ from this one in one place each."""
    if isinstance(value, dict):
        pairs = [{**value, key: changed} for key in value for changed in list_changes(value[key])[:2]]
        return pairs
    if isinstance(value, list):
        changes = [(k, changed) for k in range(min(2, len(value))) for changed in list_changes(value[k])[:1]]
        items = [value[:k] + [changed] + value[k + 1 :] for k, changed in changes]
        return [value[::-1], value[:-1], *items] if value else [[1]]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [value + "a", value[:-1] if value else "b", value.swapcase()]
    if isinstance(value, (int, float)):
        return [value + 1, value - 1, str(value)]
    return ["none"]
