"""products: multiplies the whole numbers of the question."""

import math
import re


def read_factors(question):
    expression = re.search(r"multiplication: (.+?)\. Give", question)[1]
    return expression, [int(factor) for factor in expression.split(" * ")]


def solve(question):
    return str(math.prod(read_factors(question)[1]))


def others(question, key):
    product = int(solve(question))
    return [f"{product:,}", f"{product}.00"]


def wrong(question, key):
    expression, factors = read_factors(question)
    product = math.prod(factors)
    yield "the question repeated", expression
    yield "one too much", str(product + 1)
    yield "the last digit is off", str(product + 10)
    if sum(factors) != product:
        yield "a sum, not a product", str(sum(factors))
    if math.prod(factors[1:]) != product:
        yield "a factor is left out", str(math.prod(factors[1:]))
