"""prime_factorization: takes off the smallest divisor again and again; the order of the factors is free."""

import math
import re


def read_number(question):
    return int(re.search(r"factorization of (\d+)\.", question)[1])


def factorize(number):
    factors = []
    while number > 1:
        factors.append(next((d for d in range(2, math.isqrt(number) + 1) if number % d == 0), number))
        number //= factors[-1]
    return factors


def solve(question):
    return " × ".join(map(str, factorize(read_number(question))))


def others(question, key):
    factors = factorize(read_number(question))
    return [" × ".join(map(str, reversed(factors))), "×".join(map(str, factors))]


def wrong(question, key):
    number = read_number(question)
    factors = factorize(number)
    if len(factors) > 1:
        yield "the number is not prime", str(number)
        yield "a factor is left out", " × ".join(map(str, factors[1:]))
    if len(factors) > 2:
        yield "a factor is not prime", " × ".join(map(str, [factors[0] * factors[1], *factors[2:]]))
    if len(set(factors)) < len(factors):
        yield "each factor once", " × ".join(map(str, sorted(set(factors))))
    yield "1 is not prime", " × ".join(map(str, [1, *factors]))
    yield "a factor twice", " × ".join(map(str, [factors[0], *factors]))
    yield "not separated", "".join(map(str, factors)) if len(factors) > 1 else f"{number}0"
