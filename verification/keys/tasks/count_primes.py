"""count_primes: divides each number from start to end by all numbers up to its root."""

import functools
import re


@functools.cache
def is_prime(number):
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def read_bounds(question):
    start, end = re.search(r"between (\d+) and (\d+) \(inclusive\)", question).groups()
    return int(start), int(end)


def solve(question):
    start, end = read_bounds(question)
    return str(sum(map(is_prime, range(start, end + 1))))


def wrong(question, key):
    (start, end), count = read_bounds(question), int(solve(question))
    if is_prime(start) or is_prime(end):
        inner = sum(map(is_prime, range(start + 1, end)))
        yield "without the ends", str(inner)
    yield "one too many", str(count + 1)
    primes = [str(number) for number in range(start, end + 1) if is_prime(number)]
    if len(primes) > 1:
        yield "the primes, not their number", ", ".join(primes[:2000])
