"""sokoban: takes the steps of an answer as long as they are possible, and finds its own way where boxes are few."""

from functools import lru_cache

STEPS = {"L": (0, -1), "R": (0, 1), "U": (-1, 0), "D": (1, 0)}
LIMIT = 60_000


def read(question):
    text = question.split("Here is your puzzle:\n")[1].split("\nNote")[0]
    cells = {(r, c): cell for r, row in enumerate(text.splitlines()) for c, cell in enumerate(row.split())}
    find = lambda signs: frozenset(place for place, cell in cells.items() if cell in signs)
    return find("+"), find("X%$"), find("@$"), next(iter(find("*%")))


def step(walls, boxes, player, name):
    """The boxes and the player after a step, None where it is not possible."""
    r, c = STEPS[name]
    to, beyond = (player[0] + r, player[1] + c), (player[0] + 2 * r, player[1] + 2 * c)
    if to in walls or (to in boxes and (beyond in walls or beyond in boxes)):
        return None
    return (boxes - {to} | {beyond} if to in boxes else boxes), to


def check(question, answer):
    walls, goals, boxes, player = read(question)
    for name in answer:
        state = step(walls, boxes, player, name) if name in STEPS else None
        if not state:
            return False
        boxes, player = state
    return boxes <= goals


@lru_cache(2)
def find(question):
    walls, goals, boxes, player = read(question)
    before, edge = {(boxes, player): ""}, [(boxes, player)]
    for state in edge:
        if state[0] <= goals:
            return before[state]
        for name in STEPS if len(edge) < LIMIT else ():
            new = step(walls, *state, name)
            if new and new not in before:
                before[new] = before[state] + name
                edge.append(new)
    return None


def solved_at_start(question):
    return check(question, "")


def others(question, key):
    walls, _, boxes, player = read(question)
    found = find(question)
    if found:
        yield found
    for name, back in (("L", "R"), ("R", "L"), ("U", "D"), ("D", "U")):
        state = step(walls, boxes, player, name)
        if state and state[0] == boxes and step(walls, *state, back):
            yield f"{name}{back}{key}"
            return


def wrong(question, key):
    if not key:
        return
    walls, _, boxes, player = read(question)
    yield "a box is not on a goal", key[:-1]
    yield "the puzzle repeated", question.split("Here is your puzzle:\n")[1]
    for name in STEPS:
        if not step(walls, boxes, player, name):
            yield "a step that is not possible", f"{name}{key}"
            break
    yield "a sign that is no step", f"{key}X"
    yield "steps in small letters", f"{key}lr"
    yield "a number of steps", f"{key}2"
    if not check(question, "LDRU" * 200):
        yield "all directions blindly", "LDRU" * 200
