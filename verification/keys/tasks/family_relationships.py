"""family_relationships: draws the family tree of the sentences; the sex of a person is that of the first name."""

import re

FEMALE = set(
    "Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Emma Lisa Anna Margaret Victoria "
    "Charlotte Sophia Isabella Olivia Ava Mia Emily Abigail Amelia Eleanor Grace Alice Lucy Chloe Sophie Lily Hannah "
    "Zoe Luna Nova Aria Willow Aurora Sage River Winter Sky Rain".split()
)
WORDS = {  # of a woman, of a man
    "parent": ("mother", "father"),
    "child": ("daughter", "son"),
    "spouse": ("wife", "husband"),
    "sibling": ("sister", "brother"),
    "grandparent": ("grandmother", "grandfather"),
    "grandchild": ("granddaughter", "grandson"),
    "parent's sibling": ("aunt", "uncle"),
    "sibling's child": ("niece", "nephew"),
    "spouse's parent": ("mother-in-law", "father-in-law"),
    "child's spouse": ("daughter-in-law", "son-in-law"),
}


def parse(question):
    story, asked = question.split("\n\n")
    spouse, parents = {}, {}
    couple = r"(\w+) is married to (\w+)\.(?: They have (?:a child|children) called ([^.]+))?"
    for a, b, children in re.findall(couple, story):
        spouse |= {a: b, b: a}
        parents |= {child: {a, b} for child in re.split(", | and ", children) if child}
    return spouse, parents, re.search(r"(?:is|related) (\w+) (?:related )?to (\w+)\W", asked).groups()


def relate(a, b, spouse, parents):
    """What a is to b."""

    def of(name):
        return parents.get(name, set())

    def above(name):
        return {old for parent in of(name) for old in of(parent)}

    found = {
        "parent": a in of(b),
        "child": b in of(a),
        "spouse": spouse.get(a) == b,
        "sibling": bool(of(a)) and of(a) == of(b),
        "grandparent": a in above(b),
        "grandchild": b in above(a),
        "parent's sibling": a not in of(b) and bool(of(a) & above(b)),
        "sibling's child": b not in of(a) and bool(of(b) & above(a)),
        "spouse's parent": a in of(spouse.get(b)),
        "child's spouse": b in of(spouse.get(a)),
    }
    [relation] = [relation for relation, holds in found.items() if holds]
    return relation


def solve(question):
    spouse, parents, (a, b) = parse(question)
    return WORDS[relate(a, b, spouse, parents)][a not in FEMALE]


def wrong(question, key):
    spouse, parents, (a, b) = parse(question)
    yield "the other sex", WORDS[relate(a, b, spouse, parents)][a in FEMALE]
    yield "the other direction", WORDS[relate(b, a, spouse, parents)][b not in FEMALE]
    yield "one more generation", f"great-{solve(question)}"
