"""leg_counting: adds up legs by general knowledge; arms and claws are legs to some, until a note says so."""

import itertools
import re

LEGS = {
    0: "snake, sea slug, jellyfish, flatworm, leech",
    2: "chicken, bird, human, duck",
    4: "dog, cat, cow, horse, lion, elephant, giraffe, tiger, deer, sheep",
    6: "insect, ant, butterfly, beetle, bee, wasp, grasshopper, cricket, cockroach, praying mantis, firefly",
    8: "spider, scorpion",
    10: "shrimp",
    14: "woodlouse",
}
LEGS = {animal: (count,) for count, animals in LEGS.items() for animal in animals.split(", ")}
LEGS |= {"starfish": (5, 0), "crab": (10, 8), "lobster": (10, 8)}


def read_animals(question):
    listed = re.search(r"if you have (.+)\?", question)[1]
    return [(int(count), name) for count, name in re.findall(r"(\d+) ([a-z ]+)", listed)]


def find_legs(name):
    return LEGS[name] if name in LEGS else LEGS[name.removesuffix("s")]


def solve(question):
    animals = read_animals(question)
    legs = [find_legs(name)[:1] if "\nNote: " in question else find_legs(name) for _, name in animals]
    totals = [sum(n * count for (n, _), count in zip(animals, counts)) for counts in itertools.product(*legs)]
    return [str(total) for total in totals]


def wrong(question, key):
    total, animals = int(solve(question)[0]), read_animals(question)
    right = solve(question)
    yield "one too many", str(total + 1)
    yield "two too many", str(total + 2)
    for n, name in animals:
        if find_legs(name)[0]:
            less = total - n * find_legs(name)[0]
            if str(less) not in right:
                yield "an animal is left out", str(less)
            break
    heads = sum(n for n, _ in animals)
    if str(heads) not in right:
        yield "heads, not legs", str(heads)
