"""number_sequence: the next number by all short rules that fit; none is right where they differ or none fits."""

import re
from fractions import Fraction
from itertools import product

CONSTANTS = [number for number in range(-10, 11) if number]
OPERATIONS = [lambda x, c=c: x + c for c in CONSTANTS] + [lambda x, c=c: x * c for c in CONSTANTS]
OPERATIONS += [lambda x: x * x, lambda x: x // 2]
COMPOSED = OPERATIONS + [lambda x, f=f, g=g: g(f(x)) for f, g in product(OPERATIONS, OPERATIONS)]
LAST_TWO = [lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x + 2 * y]
LAST_TWO += [lambda x, y, f=f: f(x + y) for f in OPERATIONS] + [lambda x, y, f=f: f(x) + y for f in OPERATIONS]


def by_last_term(terms):
    for rule in COMPOSED:
        if all(rule(a) == b for a, b in zip(terms, terms[1:])):
            yield rule(terms[-1])


def by_last_two(terms):
    """The rule need not say how the second term comes about."""
    small = [(a, b) for a in range(-3, 4) for b in range(-3, 4) if b and (a or len(terms) > 4)]
    for rule in LAST_TWO + [lambda x, y, a=a, b=b: a * x + b * y for a, b in small]:
        if all(rule(b, a) == c for a, b, c in zip(terms, terms[1:], terms[2:])):
            yield rule(terms[-1], terms[-2])


def by_ratio(terms):
    steps = [Fraction(b - a) for a, b in zip(terms, terms[1:])]
    if all(steps) and len({b / a for a, b in zip(steps, steps[1:])}) == 1:
        yield terms[-1] + steps[-1] * steps[1] / steps[0]
    elif steps[0] and not any(steps[1:]):
        yield terms[-1]


def by_differences(terms):
    row, total = terms, 0
    for degree in range(1, min(3, len(terms) - 2) + 1):
        total += row[-1]
        row = [b - a for a, b in zip(row, row[1:])]
        if len(set(row)) == 1:
            yield total + row[0]
            return


def by_recurrence(terms):
    steps = [b - a for a, b in zip(terms, terms[1:])]
    if len(terms) > 5 and steps[1] ** 2 != steps[0] * steps[2]:
        a, b, c, d = map(Fraction, steps[:4])
        p, q = (b * c - a * d) / (b * b - a * c), (b * d - c * c) / (b * b - a * c)
        if all(p * y + q * x == z for x, y, z in zip(steps, steps[1:], steps[2:])):
            yield terms[-1] + p * steps[-1] + q * steps[-2]


def by_turns(terms):
    steps = [b - a for a, b in zip(terms, terms[1:])]
    apart = [b - a for a, b in zip(terms, terms[2:])]
    if len(terms) > 4 and all(a == b for a, b in zip(steps, steps[2:])):
        yield terms[-1] + steps[-2]
    if len(terms) > 5 and all(a == b for a, b in zip(apart, apart[2:])):
        yield terms[-2] + apart[-2]


def solve(question):
    terms = [int(term) for term in re.findall(r"-?\d+", question.split("?")[0])]
    finders = (by_last_term, by_last_two, by_ratio, by_differences, by_recurrence, by_turns)
    found = {Fraction(number) for find in finders for number in find(terms)}
    is_sum = all(a + b == c for a, b, c in zip(terms, terms[1:], terms[2:]))
    is_determined = len(terms) > 4 or is_sum or bool(list(by_ratio(terms)))
    return str(found.pop()) if len(found) == 1 and is_determined else None


def wrong(question, key):
    answer = solve(question)
    if answer:
        yield "one too much", str(Fraction(answer) + 1)
        yield "the question repeated", question.split(", ?")[0]
        yield "the question with the answer", question.replace("?", answer).split("\n")[0]
