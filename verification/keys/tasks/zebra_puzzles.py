"""zebra_puzzles: fills the houses trait by trait as the clues allow, and looks who can live in the one asked about."""

import re
from itertools import permutations

ORDINALS = "first second third fourth fifth sixth seventh".split()
STEMS = {"brit": "british", "swede": "swedish", "roses": "rose", "horse": "horses"}  # as the clues spell them


def parse(question):
    houses = int(re.search(r"There are (\d+) houses", question)[1])
    lists = re.findall(r"^ - (.+?): (.+)$", question, re.M)
    traits = {what: values.split(", ") for what, values in lists}
    clues = []
    for line in re.findall(r"^\d+\. (.+)\.$", question, re.M):
        if found := re.fullmatch(r"(.+) is in the (\w+) house", line):
            clues.append(("at", [find_value(found[1], traits)], ORDINALS.index(found[2])))
        elif found := re.fullmatch(r"(.+) is directly left of (.+)", line):
            clues.append(("left", [find_value(text, traits) for text in found.groups()], None))
        elif found := re.fullmatch(r"(.+) and (.+) are next to each other", line):
            clues.append(("beside", [find_value(text, traits) for text in found.groups()], None))
        else:
            halves = re.split(r"(?<! who) is (?=the |[A-Z]\w*$)", line)
            assert len(halves) == 2
            clues.append(("same", [find_value(text, traits) for text in halves], None))
    asked = int(re.search(r"lives in House (\d+)", question)[1]) - 1
    return houses, traits, clues, asked


def find_value(text, traits):
    """The value that a person is described by: the longest that stands in the text; a bare name is a name."""
    text = text.lower()
    found = [
        (len(value), what, value)
        for what, values in traits.items()
        for value in values
        if (text == value if "unique name" in what else re.search(rf"\b{STEMS.get(value, value)}\b", text))
    ]
    if " " not in text:
        found = [entry for entry in found if "unique name" in entry[1]]
    elif "child" in text or "mother of" in text:
        found = [entry for entry in found if "child" in entry[1]]
    longest = max(length for length, _, _ in found)
    [(_, what, value)] = [entry for entry in found if entry[0] == longest]
    return what, value


def fits(clue, place):
    kind, values, number = clue
    if any(value not in place for value in values):
        return True
    houses = [place[value] for value in values]
    return {
        "at": lambda: houses[0] == number,
        "left": lambda: houses[0] + 1 == houses[1],
        "beside": lambda: abs(houses[0] - houses[1]) == 1,
        "same": lambda: houses[0] == houses[1],
    }[kind]()


def find_places(houses, traits, clues, place):
    """Trait by trait, first those that fit in the fewest ways."""
    left = [what for what in traits if (what, traits[what][0]) not in place]
    if not left:
        yield place
        return
    ways = {what: list_ways(houses, what, traits[what], clues, place) for what in left}
    for more in min(ways.values(), key=len):
        yield from find_places(houses, traits, clues, more)


def list_ways(houses, what, values, clues, place):
    near = [clue for clue in clues if any(value[0] == what for value in clue[1])]
    orders = permutations(range(houses))
    ways = [place | {(what, value): house for value, house in zip(values, order)} for order in orders]
    return [way for way in ways if all(fits(clue, way) for clue in near)]


def solve(question):
    houses, traits, clues, asked = parse(question)
    assert all(len(values) == houses for values in traits.values())
    names = set()
    for place in find_places(houses, traits, clues, {}):
        names |= {value for (what, value), house in place.items() if "unique name" in what and house == asked}
    return sorted(names) or None


def wrong(question, key):
    names = next(values for what, values in parse(question)[1].items() if "unique name" in what)
    yield from (("another person", name) for name in names if name not in solve(question))
