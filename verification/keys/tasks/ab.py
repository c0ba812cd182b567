"""ab: rewrites the last pair of tokens that face each other until none does; the order of rewriting changes nothing."""

import re

RULES = {("A#", "#A"): (), ("A#", "#B"): ("#B", "A#"), ("B#", "#A"): ("#A", "B#"), ("B#", "#B"): ()}


def solve(question):
    return rewrite(question) or None  # a text cannot say nothing


def read(question):
    return re.search(r"following program:\n\n(.*)\n", question)[1].split()


def rewrite(question, rules=RULES, steps=None):
    tokens = read(question)
    while steps is None or steps > 0:
        at = next((k for k in reversed(range(len(tokens) - 1)) if tuple(tokens[k : k + 2]) in rules), None)
        if at is None:
            break
        tokens[at : at + 2] = rules[tuple(tokens[at : at + 2])]
        steps = steps and steps - 1
    return " ".join(tokens)


def wrong(question, key):
    final = rewrite(question)
    for pair in RULES:
        rules = {a: b for a, b in RULES.items() if a != pair}
        yield f"{' '.join(pair)} is not rewritten", rewrite(question, rules)
    for count in 1, 2, 3:
        yield "not to the end", rewrite(question, steps=count)
    yield "the program repeated", " ".join(read(question))
    yield "a token too many", f"{final} A#"
    yield "as a list", ", ".join(final.split())
    yield "without spaces", "".join(final.split())
