"""base_conversion: reads the number by Horner's rule and writes it in the other base by division."""

import re

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def get_base(name):
    return {"binary": 2, "hexadecimal": 16}.get(name) or int(name.removeprefix("base-"))


def parse(question):
    source, digits, target = re.search(r"convert the (\S+) number (\S*) to (\S+)", question).groups()
    value = 0
    for digit in digits:
        value = value * get_base(source) + DIGITS.index(digit)
    return digits, value, get_base(target)


def write(value, base):
    return (write(value // base, base) if value >= base else "") + DIGITS[value % base]


def solve(question):
    digits, value, base = parse(question)
    return write(value, base) if digits else None


def wrong(question, key):
    digits, value, base = parse(question)
    if not digits:
        return
    answer = write(value, base)
    yield "nothing", ""
    if digits != answer:
        yield "not converted", digits
    if str(value) != answer:
        yield "decimal", str(value)
    yield "one too much", write(value + 1, base)
    yield "a zero too many at the end", answer + "0" if value else "1"
    if answer != answer[::-1]:
        yield "the digits backward", answer[::-1]
    numbers = [DIGITS.index(digit) for digit in answer]
    if max(numbers) > 9:
        yield "digits as decimal numbers", " ".join(map(str, numbers))
