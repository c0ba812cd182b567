"""gcd: divides with remainders until nothing is left, as Euclid did."""

import re


def read_numbers(question):
    return [int(number) for number in re.search(r"numbers: ([\d, ]+)\.", question)[1].split(", ")]


def solve(question):
    divisor = 0
    for number in read_numbers(question):
        while number:
            divisor, number = number, divisor % number
    return str(divisor)


def wrong(question, key):
    numbers, divisor = read_numbers(question), int(solve(question))
    yield "the numbers repeated", ", ".join(map(str, numbers))
    yield "no divisor", str(max(numbers) + 1)
    smaller = next((n for n in range(2, 1000) if divisor % n == 0), None)
    if smaller:
        yield "a divisor, but not the greatest", str(divisor // smaller)
    yield "a common multiple, not a divisor", str(2 * max(numbers))
