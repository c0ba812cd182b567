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
    return [form(power) for power in powers(question)]


def same(a, b):
    return Context(prec=3, rounding=ROUND_HALF_UP).plus(Decimal(a)) == Context(prec=3, rounding=ROUND_HALF_UP).plus(
        Decimal(b)
    )


def others(question, key):
    power = powers(question)[0]
    if len(powers(question)) == 1:
        yield f"{Decimal(form(power)):E}"


def wrong(question, key):
    power = powers(question)[0]
    yield "the third figure is off", form(power * Fraction(1011, 1000))
    yield "another power of ten", form(power * 10)
    if not Decimal(fourth := form(power * Fraction(10002, 10000), 5)) == Decimal(form(power)):
        yield "the fourth figure is off", fourth
    if len(set(map(form, powers(question)))) == 1:
        yield "the other sign", form(-power)
