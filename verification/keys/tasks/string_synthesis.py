"""string_synthesis: joins blocks by the first rule that can be used, or by each rule once in turn."""

import re

# What a rule takes and gives, by the place in the list of the blocks.
RULES = [
    ({0: 1, 1: 1, 2: 1}, {3: 1}),
    ({0: 1, 1: 1}, {5: 1}),
    ({1: 1, 2: 1}, {4: 1}),
    ({2: 2}, {5: 1}),
    ({3: 1, 5: 1}, {6: 1, 7: 1}),
    ({4: 2}, {8: 1}),
]


def _use(counts, rule):
    takes, gives = rule
    if any(counts[block] < number for block, number in takes.items()):
        return False
    for block, number in takes.items():
        counts[block] -= number
    for block, number in gives.items():
        counts[block] += number
    return True


def _run(question, rules, in_turn=False):
    start = re.search(r"you have (\d+) \[A\], (\d+) \[B\], and (\d+) \[C\]", question)
    counts, left = [*map(int, start.groups())] + [0] * 6, int(re.search(r"at most (\d+) times", question)[1])
    k, idle = 0, 0
    while left > 0 and idle < len(rules):
        used = _use(counts, rules[k])
        left, idle = left - used, 0 if used else idle + 1
        k = 0 if used and not in_turn else (k + 1) % len(rules)
    return " ".join(map(str, counts))


def solve(question):
    first = _run(question, RULES)
    return first if "start again from rule 1" in question else [first, _run(question, RULES, in_turn=True)]


def wrong(question, key):
    right = _run(question, RULES)
    for number in range(1, 7):
        without = _run(question, [rule for i, rule in enumerate(RULES, 1) if i != number])
        if without != right:
            yield f"rule {number} is not used", without
    in_turn = _run(question, RULES, in_turn=True)
    if in_turn != right:
        yield "each rule once in turn", in_turn
    yield "commas between the counts", right.replace(" ", ", ")
    yield "one count is missing", right[:-2]
