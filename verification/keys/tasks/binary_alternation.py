"""binary_alternation: each swap mends one 0 and one 1 that stand wrong, so the fewest is half of the wrong places."""

import re


def solve(question):
    text = re.search(r"alternating: ([01]+)", question)[1]
    length = len(text)
    patterns = [("01" * length)[:length], ("10" * length)[:length]]
    patterns = [pattern for pattern in patterns if pattern.count("1") == text.count("1")]
    counts = [sum(a != b for a, b in zip(text, pattern)) for pattern in patterns]
    return str(min(counts) // 2) if counts else "-1"


def wrong(question, key):
    answer = int(solve(question))
    yield "one swap too many", str(answer + 1)
    if answer < 0:
        yield "possible", "0"
    else:
        yield "impossible", "-1"
        if answer > 0:
            yield "each wrong place counted", str(2 * answer)
        text = re.search(r"alternating: ([01]+)", question)[1]
        yield "only neighbors are swapped", str(min(swap_neighbors(text, first) for first in "01"))


def swap_neighbors(text, first):
    """The distance that the ones travel if each swap moves one of them by one place."""
    ones = [k for k, bit in enumerate(text) if bit == "1"]
    wanted = range(0 if first == "1" else 1, len(text), 2)
    return sum(abs(a - b) for a, b in zip(ones, wanted)) if len(ones) == len(wanted) else 1 << 30
