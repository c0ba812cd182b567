"""syllogism: looks for a world with the statements and without the conclusion, where groups may be empty or not."""

import re
from itertools import product

FORM = r"(All|No|Some) (\w+) are (not )?(\w+)"


def follows(statements, may_be_empty):
    *premises, conclusion = statements
    groups = sorted({statement[k] for statement in statements for k in (1, 3)})
    kinds = [frozenset(g for g, bit in zip(groups, bits) if bit) for bits in product([0, 1], repeat=len(groups))]
    for bits in product([0, 1], repeat=len(kinds)):
        world = [kind for kind, bit in zip(kinds, bits) if bit]
        if not may_be_empty and any(all(group not in kind for kind in world) for group in groups):
            continue
        if all(holds(premise, world) for premise in premises) and not holds(conclusion, world):
            return False
    return True


def holds(statement, world):
    quantifier, subject, negation, predicate = statement
    having = [(predicate in kind) != bool(negation) for kind in world if subject in kind]
    return {"All": all(having), "No": not any(having), "Some": any(having)}[quantifier]


def solve(question):
    plain, *note = question.split("\n\nNote: ")
    statements = [re.fullmatch(FORM, text).groups() for text in re.findall(r"(?:All|No|Some) [^?\n]+", plain)]
    assert len(statements) == 3
    readings = [False] if note == ["each of these groups has at least one member."] else [False, True]
    return ["Yes" if follows(statements, may_be_empty) else "No" for may_be_empty in readings]


def wrong(question, key):
    answers = solve(question)
    yield from (("the other word", word) for word in ("Yes", "No") if word not in answers)
