"""advanced_geometry: measures the triangle of the question and rounds to three decimals."""

import math
import re

import sympy


def measure(question):
    a, b, c = [sympy.Point(int(x), int(y)) for x, y in re.findall(r"[ABC]=\((-?\d+), (-?\d+)\)", question)]
    if "orthocenter" in question:
        return [sympy.Rational(part) for part in sympy.Triangle(a, b, c).orthocenter.args]
    if "incircle" in question:
        sides = [math.dist(p, q) for p, q in ((a, b), (b, c), (c, a))]
        return [2 * float(abs(sympy.Triangle(a, b, c).area)) / math.fsum(sides)]
    (ax, ay), (bx, by), (cx, cy) = [[int(part) for part in point] for point in (a, b, c)]
    one, other = math.atan2(ay - by, ax - bx), math.atan2(cy - by, cx - bx)
    between = math.degrees(abs(one - other))
    return [min(between, 360 - between)]


def form(question, values, places=3):
    texts = [f"{float(value):.{places}f}" if places else f"{float(value):.7f}" for value in values]
    if "orthocenter" in question:
        return f"({', '.join(texts)})"
    return texts[0] + ("" if "incircle" in question else "°")


def solve(question):
    return form(question, measure(question))


def same(a, b):
    """An angle of two decimals, as the keys have it, and a half rounded down are the same answer."""
    x, y = [[float(digits) for digits in re.findall(r"-?[\d.]+", text)] for text in (a, b)]
    fewer = min(len(digits) for digits in re.findall(r"\.(\d+)", a + " " + b))
    return len(x) == len(y) and all(abs(p - q) <= 0.5011 * 10**-fewer + (fewer > 2) * 0.0005 for p, q in zip(x, y))


def others(question, key):
    # Half up, where the third decimal is followed by a 5 alone.
    halves = [sympy.floor(value * 1000 + sympy.Rational(1, 2)) / 1000 for value in measure(question)]
    if "orthocenter" in question:
        yield form(question, halves)
        yield form(question, measure(question)).replace(" ", "")


def wrong(question, key):
    values = measure(question)
    step = 0.002
    yield "the last place is off", form(question, [value + step for value in values])
    if any(abs(value * 1000 - round(value * 1000)) > 1e-3 for value in values):
        yield "not rounded", form(question, values, 0)
    if "orthocenter" in question:
        yield "more than the coordinates", f"{solve(question)}, (0, 0)"
        if abs(values[0] - values[1]) > 0.01:
            yield "y before x", form(question, values[::-1])
    else:
        yield "not only the answer", f"It is {solve(question)}"
        yield "two decimals off", form(question, [value + 0.02 for value in values], 2)
