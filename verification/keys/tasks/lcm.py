"""lcm: takes the highest power of each prime that divides one of the numbers."""

import math
import re


def read_numbers(question):
    return [int(number) for number in re.search(r"numbers: ([\d, ]+)", question)[1].split(", ")]


def solve(question):
    powers = {}
    for number in read_numbers(question):
        prime = 2
        while number > 1:
            count = 0
            while number % prime == 0:
                number, count = number // prime, count + 1
            powers[prime] = max(powers.get(prime, 0), count)
            prime += 1
    return str(math.prod(prime**count for prime, count in powers.items()))


def wrong(question, key):
    numbers, multiple = read_numbers(question), int(solve(question))
    yield "the numbers repeated", ", ".join(map(str, numbers))
    yield "a multiple, but not the least", str(2 * multiple)
    if math.prod(numbers) != multiple:
        yield "the product", str(math.prod(numbers))
    if math.gcd(*numbers) != multiple:
        yield "the greatest divisor", str(math.gcd(*numbers))
