"""string_manipulation: uses the first rule that fits until none does or a string comes back."""

import re


def _cut(text, start, length):
    return text[:start] + text[start + length :]


def _compile(rule, side):
    """A function from a text to the next, None where the rule does not fit."""
    if "length is greater than 15" in rule:
        return lambda s: _cut(s, (len(s) - 1) // 2 if side == "left" else len(s) // 2, 1) if len(s) > 15 else None
    if "even number of 'b's" in rule:
        return lambda s: s + "ab" if s.count("b") > 0 and s.count("b") % 2 == 0 else None
    what, *others = re.findall(r"'([a-z]+)'", rule)
    if "not at the start" in rule:
        return lambda s: _cut(s, s.index(what, 1), len(what)) if what in s[1:] else None
    if "contains" in rule:
        return lambda s: s.replace(what, others[0] if others else "", 1) if what in s else None
    is_prefix = "prefix" in rule or "starts with" in rule
    fits = str.startswith if is_prefix else str.endswith
    return lambda s: _edit(rule, s, what, others, is_prefix) if fits(s, what) else None


def _edit(rule, s, what, others, is_prefix):
    if "remove the second character" in rule:
        return _cut(s, 1, 1)
    if "remove the first character" in rule:
        return s[1:]
    if "remove the last character" in rule:
        return s[:-1]
    new = others[0] if re.search("replace (it|the first two characters) with", rule) else ""
    s = new + s[len(what) :] if is_prefix else s[: -len(what)] + new
    if "delete the last character" in rule:
        s = s[:-1]
    append, prepend = re.search(r"append '(\w+)'", rule), re.search(r"prepend '(\w+)'", rule)
    return (prepend[1] if prepend else "") + s + (append[1] if append else "")


def _read(question):
    return re.findall(r"^\d+\. (If .+)$", question, re.M), re.search(r"list of rules:\n([a-z]*)", question)[1]


def _run(rules, string, side, steps=100_000):
    functions, seen = [_compile(rule, side) for rule in rules], []
    while string not in seen and len(seen) <= steps:
        seen.append(string)
        string = next((new for new in (use(string) for use in functions) if new is not None), string)
    return seen[-1]


def solve(question):
    """None where nothing is left of the string: nobody can tell that answer from none."""
    rules, string = _read(question)
    sides = ["right"] if "first one of the second half" in question else ["right", "left"]
    answers = [_run(rules, string, side) for side in sides]
    return answers if answers[0] else None


def wrong(question, key):
    rules, string = _read(question)
    right = _run(rules, string, "right")
    for name, other in [
        ("the rules in the other order", _run(rules[::-1], string, "right")),
        ("one step only", _run(rules, string, "right", steps=1)),
        ("nothing is done", string),
        ("the first rule is left out", _run(rules[1:], string, "right")),
        ("the other middle", _run(rules, string, "left")),
        ("a character too many", right + "a"),
    ]:
        if other != right:
            yield name, other
