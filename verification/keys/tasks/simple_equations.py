"""simple_equations: finds where the two sides of the linear equation are equal, from their difference at 0 and at 1."""

import re
from fractions import Fraction


def read_equation(question):
    equation = re.search(r": (.+ = .+)", question)[1]
    left, right = equation.split(" = ")

    def difference(value):
        return sum(eval(re.sub(r"[a-z]", f"({value})", side)) * sign for side, sign in ((left, 1), (right, -1)))

    return equation, difference


def solve(question):
    _, difference = read_equation(question)
    at_zero, slope = difference(0), difference(1) - difference(0)
    return str(Fraction(-at_zero, slope)) if slope else None


def wrong(question, key):
    answer = solve(question)
    if answer:
        yield "the question repeated", read_equation(question)[0]
        yield "one too much", str(Fraction(answer) + 1)
        if answer != "0":
            yield "the other sign", str(-Fraction(answer))
        yield "two guesses", f"{answer}, {int(answer) + 1}"
