"""largest_island: floods each island of the grid in four directions."""

import re


def solve(question):
    return str(measure_largest(question, [(0, 1), (1, 0), (0, -1), (-1, 0)]))


def wrong(question, key):
    right = solve(question)
    others = {
        "diagonals connect": str(measure_largest(question, [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])),
        "all land is one island": str(len(find_land(question))),
        "one cell too many": str(int(right) + 1),
        "one cell too few": str(int(right) - 1),
    }
    yield from ((rule, answer) for rule, answer in others.items() if answer != right)


def find_land(question):
    rows, columns = map(int, re.search(r"following (\d+) x (\d+) binary", question).groups())
    lines = [line.split() for line in question.splitlines() if re.fullmatch(r"[01]( [01])*", line)]
    assert len(lines) == rows and all(len(line) == columns for line in lines)
    return {(i, j) for i, line in enumerate(lines) for j, cell in enumerate(line) if cell == "1"}


def measure_largest(question, steps):
    land, largest = find_land(question), 0
    while land:
        front = [land.pop()]
        for i, j in front:  # grows meanwhile
            near = {(i + di, j + dj) for di, dj in steps} & land
            land -= near
            front.extend(near)
        largest = max(largest, len(front))
    return largest
