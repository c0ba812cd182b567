"""chain_sum: adds up the signed whole numbers of the question."""

import re


def solve(question):
    chain = re.search(r": (.+) =\s*$", question.splitlines()[-1])[1]
    return str(sum(int(sign + digits) for sign, digits in re.findall(r"(^|[+-])\s*(\d+)", chain)))


def wrong(question, key):
    yield "an addend is left out", str(int(solve(question)) + 1)
