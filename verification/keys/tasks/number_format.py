"""number_format: reads the candidates as they are printed and picks the largest or smallest."""

import re
from decimal import Decimal


def candidates(question):
    size, texts = re.search(r"pick the (largest|smallest) number of the following candidates: (.+)", question).groups()
    return size, texts.split()


def number(text):
    return Decimal(text.replace(",", ""))


def solve(question):
    size, texts = candidates(question)
    return (max if size == "largest" else min)(texts, key=number)


def same(a, b):
    """But for the noise of floats, which some formats print."""
    return abs(number(a) - number(b)) <= Decimal("1e-6")


def others(question, key):
    yield f"{number(solve(question)):,f}"
    yield f"{number(solve(question)):e}"


def wrong(question, key):
    _, texts = candidates(question)
    for text in texts:
        if number(text) != number(solve(question)):
            yield "another candidate", text
    yield "none of the candidates", str(number(solve(question)) + Decimal("0.005"))
    yield "more than the number", " ".join(texts)
