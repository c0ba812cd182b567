"""decimal_arithmetic: the value of the expression, rounded at the end or, in another reading, after each operation."""

import ast
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from operator import add, mul, sub, truediv

OPERATIONS = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv}


def read(question):
    digits, expression = re.search(r"maximum of (\d+) significant digits.*\n(.+) = \?", question).groups()
    return Context(prec=int(digits), rounding=ROUND_HALF_UP), expression


def evaluate(expression, after_each):
    def value(node):
        if isinstance(node, ast.BinOp):
            return after_each(OPERATIONS[type(node.op)](value(node.left), value(node.right)))
        return Fraction(ast.get_source_segment(expression, node))

    return value(ast.parse(expression, mode="eval").body)


def rounded(context, value):
    exact = Context(prec=400).divide(value.numerator, value.denominator)
    return context.plus(exact)


def readings(question):
    context, expression = read(question)
    stepwise = evaluate(expression, lambda value: Fraction(rounded(context, value)))
    at_the_end = evaluate(expression, lambda value: value)
    note = question.partition("\n\nNote: ")[2]
    return [stepwise] if "each operation" in note else [at_the_end] if "final" in note else [at_the_end, stepwise]


def solve(question):
    return [f"{rounded(read(question)[0], value):f}" for value in readings(question)]


def same(a, b):
    return Decimal(a) == Decimal(b)


def check(question, answer):
    """The digits asked for are a maximum."""
    given, half = Fraction(answer), Fraction(10) ** Decimal(answer).as_tuple().exponent / 2
    up = 1 if given < 0 else -1  # from the half
    return any(-half < (given - value) * up < half or given - value == -half * up for value in readings(question))


def wrong(question, key):
    context, expression = read(question)
    exact = rounded(context, evaluate(expression, lambda value: value))
    place = Decimal(1).scaleb(exact.adjusted() - context.prec + 1)
    yield "the last digit is far off", f"{exact + 100 * place:f}"
    yield "a thousandth off", f"{exact + Decimal('0.0009'):f}"
    yield "no value", expression
    yield "the other sign", f"{-exact:f}" if exact else "1"
