"""string_splitting: takes machines apart, always by the first of the five rules that can be used."""

import re

# What a rule takes and gives of A B C X Y Z.
RULES = [
    ([1, 0, 0, 0, 0, 0], [0, 0, 0, 2, 1, 0]),
    ([0, 2, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]),
    ([0, 0, 2, 0, 0, 0], [0, 0, 0, 0, 1, 0]),
    ([0, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]),
    ([0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 1]),
]


def _run(question, rules):
    start = re.search(r"you have (\d+) machine A, (\d+) machine B, and (\d+) machine C", question)
    counts = [*map(int, start.groups()), 0, 0, 0]
    for _ in range(int(re.search(r"at most (\d+) times", question)[1])):
        usable = [rule for rule in rules if all(have >= takes for have, takes in zip(counts, rule[0]))]
        if not usable:
            break
        takes, gives = usable[0]
        counts = [have - a + b for have, a, b in zip(counts, takes, gives)]
    return " ".join(map(str, counts))


def solve(question):
    return _run(question, RULES)


def wrong(question, key):
    right = solve(question)
    for number in range(1, 6):
        without = _run(question, [rule for i, rule in enumerate(RULES, 1) if i != number])
        if without != right:
            yield f"rule {number} is not used", without
    other = _run(question, [RULES[3], *RULES[:3], RULES[4]])
    if other != right:
        yield "rule 4 before the others", other
    turned = " ".join(right.split()[3:] + right.split()[:3])
    if turned != right:
        yield "the parts before the machines", turned
    yield "commas between the counts", right.replace(" ", ", ")
    yield "one count is missing", right[:-2]
