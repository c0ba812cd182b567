"""power_function: the exact power, to three significant figures; of a negative base in both readings of the sign."""

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction


def powers(question):
    sign, base, exponent = re.search(r"Compute (-?)([\d.]+)\^(-?\d+)\.", question).groups()
    power = Fraction(base) ** int(exponent)
    readings = [power if int(exponent) % 2 == 0 else -power, -power] if sign else [power]
    return readings[:1] if "Note: the base is (" in question else readings


def form(power, digits=3):
    exact = Context(prec=200).divide(power.numerator, power.denominator)
    return f"{Context(prec=digits, rounding=ROUND_HALF_UP).plus(exact):.{digits - 1}e}"


def solve(question):
    return [form(power, 16) for power in powers(question)]


def same(a, b):
    """Two texts of more than three figures agree in all that a double has."""
    digits = min(14, *(max(3, len(Decimal(text).normalize().as_tuple().digits)) for text in (a, b)))
    x, y = (Context(prec=digits, rounding=ROUND_HALF_UP).plus(Decimal(text)) for text in (a, b))
    return x == y if digits == 3 else abs(x - y) <= abs(x).scaleb(2 - digits)


def others(question, key):
    power = powers(question)[0]
    if len(powers(question)) == 1:
        yield form(power)
        yield f"{Decimal(form(power)):E}"


def wrong(question, key):
    power = powers(question)[0]
    yield "the third figure is off", form(power * Fraction(1011, 1000))
    yield "another power of ten", form(power * 10)
    if not Decimal(fourth := form(power * Fraction(10002, 10000), 5)) == Decimal(form(power)):
        yield "the fourth figure is off", fourth
    if len(set(map(form, powers(question)))) == 1:
        yield "the other sign", form(-power)
