"""rush_hour: finds a way by a search on the board of the question and follows an answer, refusing what does not fit."""

import re
from functools import lru_cache

SIZE = 6


def read(question):
    """Of each car its cells from left to right or from top to bottom; the walls."""
    rows = question.split("Board:\n")[1].split("\n")[:SIZE]
    cells = {(r, c): cell for r, row in enumerate(rows) for c, cell in enumerate(row) if cell != "."}
    names = sorted({*cells.values()} - {"x"})
    cars = {name: sorted(place for place in cells if cells[place] == name) for name in names}
    return cars, {place for place in cells if cells[place] == "x"}


def slide(cars, walls, name, steps):
    """The cars after a move, None where it is not possible."""
    place = cars[name]
    way = (0, 1) if place[0][0] == place[1][0] else (1, 0)
    taken = walls.union(*(other for key, other in cars.items() if key != name))
    for step in range(1, abs(steps) + 1):
        by = step if steps > 0 else -step
        moved = [(r + way[0] * by, c + way[1] * by) for r, c in place]
        if any(not (0 <= r < SIZE and 0 <= c < SIZE) or (r, c) in taken for r, c in moved):
            return None
    return {**cars, name: moved if steps else place}


def is_out(cars):
    return cars["A"][-1][1] == SIZE - 1


def check(question, answer):
    cars, walls = read(question)
    for move in answer.split():
        found = re.fullmatch(r"([A-Z])([+-]\d+)", move)
        cars = found and found[1] in cars and slide(cars, walls, found[1], int(found[2]))
        if not cars:
            return False
    return is_out(cars)


@lru_cache(2)
def find(question):
    """The shortest way, by a search over the places of all cars, each as a mask of bits."""
    cars, walls = read(question)
    names = list(cars)
    bit = lambda places: sum(1 << (r * SIZE + c) for r, c in places)
    masks, ways = [], []
    for name in names:
        (r, c), *_, end = cars[name]
        track = range(r * SIZE, r * SIZE + SIZE) if r == end[0] else range(c, SIZE * SIZE, SIZE)
        length = len(cars[name])
        masks.append([sum(1 << cell for cell in track[k : k + length]) for k in range(SIZE - length + 1)])
        ways.append(masks[-1].index(bit(cars[name])))
    start, wall = tuple(ways), bit(walls)
    before, edge = {start: None}, [start]
    while edge:
        following = []
        for state in edge:
            if state[names.index("A")] == SIZE - len(cars["A"]):
                return trace(before, state, names)
            taken = wall + sum(masks[k][at] for k, at in enumerate(state))
            for k, at in enumerate(state):
                rest = taken - masks[k][at]
                for way in (1, -1):
                    to = at + way
                    while 0 <= to < len(masks[k]) and not masks[k][to] & rest:
                        new = (*state[:k], to, *state[k + 1 :])
                        if new not in before:
                            before[new] = (state, k, to - at)
                            following.append(new)
                        to += way
        edge = following
    return None


def trace(before, state, names):
    moves = []
    while before[state]:
        state, car, steps = before[state]
        moves.append(f"{names[car]}{steps:+d}")
    return moves[::-1]


def solve(question):
    return None if find(question) is None else []


def solved_at_start(question):
    return is_out(read(question)[0])


def others(question, key):
    moves = find(question)
    yield " ".join(moves)
    yield " ".join(f"{move[0]}{move[1]}1" for move in moves for _ in range(int(move[2:])))
    cars, walls = read(question)
    for name in cars:
        if slide(cars, walls, name, 1):
            yield " ".join([f"{name}+1", f"{name}-1", *moves])
            return


def wrong(question, key):
    moves, (cars, walls) = find(question), read(question)
    yield "the red car is not at the exit", " ".join(moves[:-1])
    yield "the cars drive through others", f"A+{SIZE - 1 - cars['A'][-1][1]}" if len(moves) > 1 else "A+9"
    yield "the cars are pushed blindly", " ".join(f"{name}{sign}9" for sign in "+-" * 20 for name in [*cars][::-1])
    yield "a car leaves the board", " ".join([*moves[:-1], f"{moves[-1][:2]}9"])
    yield "a car that is not there moves", " ".join([*moves, "Z+1"])
    yield "a move is impossible", " ".join([f"{moves[0][0]}+5", f"{moves[0][0]}-5", *moves])
    yield "a move that is none", " ".join([*moves, "a-1"])
    if walls:
        yield "a wall is moved", " ".join(["x+1", *moves])
