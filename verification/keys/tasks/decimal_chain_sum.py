"""decimal_chain_sum: adds up the signed decimals of the question exactly."""

import re
from decimal import Decimal
from fractions import Fraction


def solve(question):
    chain = re.search(r": (.+) =\s*$", question.splitlines()[-1])[1]
    total, sign = Fraction(0), 1
    for token in chain.split():
        if token in "+-":
            sign = 1 if token == "+" else -1
        else:
            total += sign * Fraction(token)
    places = max(len(digits) for digits in re.findall(r"\.(\d+)", chain))
    return f"{Decimal(int(total * 10**places)).scaleb(-places):f}"


def same(a, b):
    return Decimal(a) == Decimal(b)


def others(question, key):
    yield solve(question) + "0"
    if "." in solve(question):
        yield solve(question).rstrip("0").rstrip(".") or "0"


def wrong(question, key):
    answer = Decimal(solve(question))
    yield "one off in the last place", f"{answer + Decimal(1).scaleb(answer.as_tuple().exponent):f}"
    yield "no carry", f"{answer + 1:f}"
    if answer:
        yield "the other sign", f"{-answer:f}"
