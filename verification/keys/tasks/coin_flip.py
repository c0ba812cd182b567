"""coin_flip: counts the outcomes with so many heads among all of them, as an exact fraction."""

import re
from fractions import Fraction
from math import comb


def solve(question):
    kind, heads, flips = re.search(r"(exactly|at least) (\d+) heads in (\d+) fair", question).groups()
    heads, flips = int(heads), int(flips)
    counts = [heads] if kind == "exactly" else range(heads, flips + 1)
    return str(Fraction(sum(comb(flips, k) for k in counts), 2**flips))


def same(a, b):
    """A decimal of ten digits, as the keys are, is the fraction."""
    x, y = Fraction(a), Fraction(b)
    return abs(x - y) <= min(Fraction(51, 10**12), Fraction(1, 10**9) * max(x, y))


def others(question, key):
    chance = Fraction(solve(question))
    yield f"{chance.numerator * 2}/{chance.denominator * 2}"
    yield f"{float(chance):.12g}"
    yield f"{float(100 * chance):.12g}%"


def wrong(question, key):
    chance = Fraction(solve(question))
    if 0 < chance < 1:
        yield "an outcome more", str(chance + Fraction(1, 2 ** int(re.findall(r"\d+", question)[-1])))
        yield "the opposite", str(1 - chance) if chance != Fraction(1, 2) else "0"
        yield "0 for a small chance", "0"
        yield "1 for a great one", "1"
        yield "a digit off", f"{float(chance) * 1.0003:.5e}"
