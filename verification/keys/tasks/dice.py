"""dice: counts the rolls that reach the total among all rolls, as a fraction in lowest terms."""

import re
from fractions import Fraction

import numpy as np


def solve(question):
    dice, target = re.search(r"these dice: (.+?)\. What are the odds of rolling (\d+) or higher", question).groups()
    ways = np.array([1], dtype=object)  # ways[k]: of all dice together to show k more than their number
    sides = [int(count) for count in re.findall(r"1d(\d+)", dice)]
    for count in sides:
        ways = np.convolve(ways, np.ones(count, dtype=object))
    missing = max(int(target) - len(sides), 0)
    top, bottom = Fraction(int(sum(ways[missing:])), int(sum(ways))).as_integer_ratio()
    return f"{top}/{bottom}"


def wrong(question, key):
    top, bottom = map(int, solve(question).split("/"))
    yield "not reduced", f"{2 * top}/{2 * bottom}"
    yield "a decimal", str(top / bottom)
    yield "a roll more", f"{top + 1}/{bottom}"
    if 2 * top != bottom:
        yield "the opposite", f"{bottom - top}/{bottom}"
