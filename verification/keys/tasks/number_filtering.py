"""number_filtering: keeps or removes what lies beyond the bound, each number as it is spelled."""

import re
from ast import literal_eval
from decimal import Decimal


def solve(question):
    action, side, bound, numbers = re.match(
        r"(\w+) all numbers (\w+) than (\S+) in this list: (\[.*\])\nReturn", question
    ).groups()
    bound = Decimal(bound)
    beyond = [Decimal(n) > bound if side == "larger" else Decimal(n) < bound for n in literal_eval(numbers)]
    return str([n for n, is_beyond in zip(literal_eval(numbers), beyond) if is_beyond == (action == "Keep")])


def wrong(question, key):
    kept = literal_eval(solve(question))
    if kept:
        yield "not in the same format", ", ".join(kept)
        yield "one is missing", str(kept[1:])
        yield "one is there twice", str([*kept, kept[0]])
        yield "another spelling", str([kept[0] + ("0" if "." in kept[0] else ".0"), *kept[1:]])
        if kept != kept[::-1]:
            yield "another order", str(kept[::-1])
    else:
        yield "one that goes", str(["0"])
