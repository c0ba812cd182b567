"""basic_arithmetic: works out the expression with exact fractions, multiplication and division first."""

import re
from fractions import Fraction


def evaluate(question):
    expression = re.search(r"Calculate (.+)\.", question)[1]
    if not re.fullmatch(r"[-+*/() \d]+", expression):
        raise ValueError(expression)
    return Fraction(eval(re.sub(r"\d+", r"Fraction(\g<0>)", expression)))


def solve(question):
    return str(evaluate(question))


def others(question, key):
    value = evaluate(question)
    if value.denominator > 1:
        yield from (f"{float(value):.2f}", f"{float(value):.4f}", f"{7 * value.numerator}/{7 * value.denominator}")


def wrong(question, key):
    value = evaluate(question)
    expression = re.search(r"Calculate (.+)\.", question)[1]
    yield "the question repeated", expression
    yield "one too much", str(value + 1)
    if value:
        yield "the other sign", str(-value)
    if value.denominator > 1:
        yield "rounded down", str(value.numerator // value.denominator)
        yield "rounded to the nearest whole number", str(round(value))
        yield "the second decimal is off", f"{float(value) + 0.02:.2f}"
    floored = eval(expression.replace("/", "//"))
    if floored != value:
        yield "each quotient rounded down", str(floored)
