"""number_sorting: sorts the printed numbers and writes them as a list of texts."""

import re
from ast import literal_eval
from decimal import Decimal


def solve(question):
    direction, numbers = re.match(r"Sort these numbers in (\w+) order: (.+)", question).groups()
    return str(sorted(numbers.split(", "), key=Decimal, reverse=direction == "descending"))


def same(a, b):
    """0 and -0 are equal, in whatever order."""
    return [Decimal(number) for number in literal_eval(a)] == [Decimal(number) for number in literal_eval(b)]


def others(question, key):
    yield solve(question).replace("'", '"')


def wrong(question, key):
    numbers = literal_eval(solve(question))
    yield "no list", ", ".join(numbers)
    yield "a number is missing", str(numbers[1:])
    yield "a number is there twice", str([numbers[0], *numbers])
    yield "a number is another", str([str(Decimal(numbers[0]) + Decimal("0.001")), *numbers[1:]])
    if Decimal(numbers[0]) != Decimal(numbers[-1]):
        yield "the other direction", str(numbers[::-1])
