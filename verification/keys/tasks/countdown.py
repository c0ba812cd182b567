"""countdown: searches for an expression of all numbers that is the target, and reads an answer by the rules."""

import re
from itertools import islice

from tasks.puzzle24 import Fraction, evaluate, is_right, search

OPERATORS = "+-*/"
LIMIT = 100_000


def read(question):
    text = question.split("\n\nFinal answer")[0]
    numbers = re.search(r"numbers:? ([\d, ]+\d)", text)[1].split(", ")
    return [int(number) for number in numbers], int(re.search(r"(?:equals|make|Calculate) (\d+)", text)[1])


def check(question, answer):
    numbers, target = read(question)
    return is_right(answer, numbers, OPERATORS, target)


def find(question):
    numbers, target = read(question)
    if len(numbers) > 4:
        return None
    return next(search([(Fraction(number), str(number)) for number in numbers], OPERATORS, target), None)


def solve(question):
    numbers, _ = read(question)
    return None if len(numbers) <= 4 and find(question) is None else []


def others(question, key):
    if key is not None and check(question, key):
        yield from (f"({key})", f"-(-({key}))", key.replace(" ", ""))
    found = find(question)
    if found:
        yield found


def wrong(question, key):
    numbers, target = read(question)
    if not check(question, key):
        return
    yield "a number is used twice", f"{key} + {numbers[0]} - {numbers[0]}"
    yield "a number that is not given", f"({key}) * 1"
    yield "an equals sign", f"{key} = {target}"
    yield "the target alone", str(target)
    yield "another value", f"({key}) - 1"
    yield "the target from other numbers", f"{target - 1} + 1"
    for left in numbers:
        rest = [number for number in numbers]
        rest.remove(left)
        if 1 < len(rest) <= 3:
            few = next(search([(Fraction(number), str(number)) for number in rest], OPERATORS, target), None)
            if few:
                yield "not all numbers are used", few
