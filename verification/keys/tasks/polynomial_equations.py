"""polynomial_equations: isolates the real roots and cuts them to four decimals, or rounds them as usual."""

import re
from fractions import Fraction

import sympy


def find_roots(question):
    """The roots in ten-thousandths, each as near as a billionth."""
    variable = re.search(r"(?:real value\(s\) of|for real) ([a-z])\b", question)[1]
    text = re.search(r": ?\n?(.+) = 0\n", question)[1]
    symbol = sympy.Symbol(variable)
    polynomial = sympy.Poly(sympy.sympify(text, locals={variable: symbol}), symbol)
    roots = []
    for (low, high), _ in polynomial.intervals(eps=sympy.Rational(1, 10**13)):
        grid = round((low + high) * 5000)
        is_exact = polynomial.eval(sympy.Rational(grid, 10000)) == 0
        middle = sympy.Rational(grid) if is_exact else (low + high) * 5000
        roots.append(Fraction(int(middle.p), int(middle.q)))
    return sorted(roots)


def write(roots):
    return ", ".join(str(root / 10000) for root in roots)


def solve(question):
    return write(map(round, find_roots(question)))


def same(a, b):
    """The last place may be rounded or cut: the question says the one and then the other."""
    one, other = [[float(root) for root in text.split(",") if root.strip()] for text in (a, b)]
    return len(one) == len(other) and all(abs(x - y) < 1.01e-4 for x, y in zip(one, other))


def check(question, answer):
    given = sorted(round(10000 * float(root)) for root in answer.split(",") if root.strip(' "'))
    roots = find_roots(question)
    return len(given) == len(roots) and all(one in (round(root), int(root)) for one, root in zip(given, roots))


def others(question, key):
    roots = find_roots(question)
    cut, down = [int(root) for root in roots], [int(root) if root > 0 else round(root) for root in roots]
    fixed = ", ".join(f"{float(round(root)) / 10000:.4f}" for root in roots)
    return [write(cut), write(down), fixed, write(reversed(list(map(round, roots))))] if roots else ['""']


def wrong(question, key):
    roots = find_roots(question)
    rounded = list(map(round, roots))
    if roots:
        yield "a root is left out", write(rounded[1:])
        yield "no root", '""'
        yield "a root has another last place", write([rounded[0] + (2 if roots[0] > 0 else -2), *rounded[1:]])
    yield "a root too many", write([*rounded, 77])
    for k, root in enumerate(roots):
        if root > 0 and 0 < root % 1 < Fraction(1, 2):
            other = [*rounded[:k], int(root) + 1, *rounded[k + 1 :]]
            yield "rounded up though the fifth decimal is below 5", write(other)
        if abs(root - round(root, -1)) > 1:
            yield "three decimals", write([*rounded[:k], round(root, -1), *rounded[k + 1 :]])
