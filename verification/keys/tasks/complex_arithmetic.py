"""complex_arithmetic: reads both numbers and computes with whole real and imaginary parts."""

import re
from fractions import Fraction


def read(text):
    real = re.match(r"\s*(-?[\d.]+(?:e[+-]?\d+)?)(?!i|[\d.e])", text)
    imaginary = re.search(r"([+-]?)\s*([\d.]+(?:e[+-]?\d+)?)i", text)
    return Fraction(real[1]) if real else 0, Fraction(imaginary[1] + imaginary[2]) if imaginary else 0


def solve(question):
    one, sign, other = re.search(r": \((.+)\) ([+×÷-]) \((.+)\)$", question).groups()
    (a, b), (c, d) = read(one), read(other)
    if sign == "+":
        return form(a + c, b + d)
    if sign == "-":
        return form(a - c, b - d)
    if sign == "×":
        return form(a * c - b * d, a * d + b * c)
    norm = c * c + d * d
    return form((a * c + b * d) / norm, (b * c - a * d) / norm)


def form(real, imaginary):
    assert real.denominator == imaginary.denominator == 1
    return f"{real} {'-' if imaginary < 0 else '+'} {abs(imaginary)}i"


def same(a, b):
    return read(a) == read(b)


def others(question, key):
    real, imaginary = read(solve(question))
    yield f"{imaginary}i + {real}" if real >= 0 else f"{imaginary}i - {-real}"
    yield f"({solve(question)})".replace(" ", "")
    if imaginary == 0:
        yield str(real)
    if real == 0:
        yield f"{imaginary}i"


def wrong(question, key):
    real, imaginary = read(solve(question))
    yield "the real part is off", form(real + 1, imaginary)
    yield "the imaginary part is off", form(real, imaginary + 1)
    if imaginary:
        yield "conjugated", form(real, -imaginary)
    if real != imaginary:
        yield "parts exchanged", form(imaginary, real)
    yield "no number", "nan"
