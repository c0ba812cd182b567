"""rotten_oranges: lets all oranges beside a rotten one rot at once, minute by minute, until nothing changes."""

import numpy as np


def solve(question):
    return str(count_minutes(read(question), [(0, 1), (0, -1), (1, 1), (1, -1)]))


def read(question):
    rows = filter(None, question.partition("fresh orange:\n")[2].splitlines())
    return np.array([[int(cell) for cell in row.split()] for row in rows])


def count_minutes(grid, shifts):
    grid = np.pad(grid, 1)
    for minute in range(grid.size):
        if not (grid == 1).any():
            return minute
        near = sum(np.roll(grid == 2, by, axis) for axis, by in shifts)
        rotting = (grid == 1) & (near > 0)
        if not rotting.any():
            return -1
        grid = np.where(rotting, 2, grid)


def wrong(question, key):
    answer = count_minutes(read(question), [(0, 1), (0, -1), (1, 1), (1, -1)])
    yield "a minute too many", str(answer + 1)
    yield "a fraction", str(answer + 0.5)
    grid = read(question)
    if answer >= 0:
        yield "impossible", "-1"
    else:
        yield "possible", str(grid.size)
        yield "what nothing reaches is ignored", "0"
