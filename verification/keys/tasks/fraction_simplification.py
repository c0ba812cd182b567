"""fraction_simplification: divides both parts by what divides them both, where something does."""

import re
from fractions import Fraction
from math import gcd


def parts(text):
    found = re.search(r"\\d?frac\{(\d+)\}\{(\d+)\}|(\d+)/(\d+)", text)
    return tuple(int(digits) for digits in found.groups() if digits)


def solve(question):
    top, bottom = parts(question)
    return "{}/{}".format(*Fraction(top, bottom).as_integer_ratio())


def same(a, b):
    return parts(a) == parts(b)


def solved_at_start(question):
    return gcd(*parts(question)) == 1


def others(question, key):
    top, bottom = Fraction(*parts(question)).as_integer_ratio()
    yield from [rf"$\frac{{{top}}}{{{bottom}}}$", rf"$\dfrac{{{top}}}{{{bottom}}}$", f"${top}/{bottom}$"]
    if bottom == 1:
        yield str(top)


def wrong(question, key):
    top, bottom = Fraction(*parts(question)).as_integer_ratio()
    yield "not in lowest terms", f"{2 * top}/{2 * bottom}"
    yield "the fraction given", "{}/{}".format(*parts(question))
    yield "not only the fraction", f"{top}/{bottom} = {top / bottom}"
    yield "a decimal", str(top / bottom + 0.5)
    if top != bottom:
        yield "upside down", f"{bottom}/{top}"
