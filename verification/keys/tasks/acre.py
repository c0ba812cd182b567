"""acre: tries every set of blickets that fits the results; the light is on where at least one blicket lies."""

from itertools import product


def solve(question):
    results, test = question.split("Previous experimental results:\n")[1].split("\n\nNew test case:\n")
    seen = [(set(line.split(" → ")[0].split(", ")), line.split(" → ")[1] == "on") for line in results.splitlines()]
    test = set(test.split("\n")[0].split(", "))
    objects = sorted(test.union(*(view for view, _ in seen)))
    verdicts = set()
    for bits in product([False, True], repeat=len(objects)):
        blickets = {name for name, bit in zip(objects, bits) if bit}
        if all(bool(view & blickets) == is_on for view, is_on in seen):
            verdicts.add(bool(test & blickets))
    assert verdicts
    return "undetermined" if len(verdicts) == 2 else "on" if True in verdicts else "off"


def wrong(question, key):
    for answer in ("on", "off", "undetermined"):
        if answer != solve(question):
            yield "another state of the light", answer
