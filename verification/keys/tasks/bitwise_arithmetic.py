"""bitwise_arithmetic: works out the signed integers of the expression, whose result is written in hexadecimal."""

import re


def evaluate(question):
    expression = next(line for line in question.splitlines()[1:] if line)
    if not re.fullmatch(r"(?:0x[0-9a-f]+|[-+*()<> ])+", expression):
        raise ValueError(expression)
    return eval(expression)


def solve(question):
    return hex(evaluate(question))


def others(question, key):
    value = evaluate(question)
    sign, digits = "-" if value < 0 else "", f"{abs(value):x}"
    return [f"{sign}0x{digits.upper()}", f"{sign}0X{digits}", f"{sign}{digits}", f"{sign}0x0{digits}"]


def wrong(question, key):
    value = evaluate(question)
    if abs(value) > 9:
        yield "decimal, not hexadecimal", str(value)
        yield "binary, not hexadecimal", bin(value)
    if value:
        yield "the other sign", hex(-value)
    if value < 0:
        bits = 8 * (value.bit_length() // 8 + 1)
        yield "two's complement", hex(value & ((1 << bits) - 1))
    yield "one too much", hex(value + 1)
    yield "the question repeated", question.splitlines()[1]
