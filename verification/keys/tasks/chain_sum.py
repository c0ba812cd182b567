"""chain_sum: adds up the signed whole numbers of the question."""

import re


def read_addends(question):
    chain = re.search(r": (.+) =\s*$", question.split("\n\nNote: ")[0].splitlines()[-1])[1]
    parts = re.findall(r"([+-] )?(-?\d+)", chain)
    return chain, [-int(number) if sign == "- " else int(number) for sign, number in parts]


def solve(question):
    return str(sum(read_addends(question)[1]))


def others(question, key):
    total = int(solve(question))
    return [f"{total:,}", f"{total}.0"]


def wrong(question, key):
    chain, addends = read_addends(question)
    total = sum(addends)
    yield "one too much", str(total + 1)
    yield "the question repeated", chain
    for k, addend in enumerate(addends):
        if addend:
            yield "an addend is left out", str(total - addend)
            yield "an addend has the other sign", str(total - 2 * addend)
            break
    if total:
        yield "the other sign", str(-total)
        yield "a digit is left out", str(total)[:-1] or "0"
