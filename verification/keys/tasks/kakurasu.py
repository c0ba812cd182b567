"""kakurasu: finds all grids whose rows and columns have the weighted sums of the question."""

import re
from functools import lru_cache
from itertools import islice, product

LIMIT = 4


def read(question):
    sums = [[int(number) for number in re.findall(r"\d+", text)] for text in re.findall(r"\[([\d, ]+)\]", question)]
    return sums[0], sums[1]


def weigh(cells):
    return sum(place * cell for place, cell in enumerate(cells, 1))


def search(options, left, row=1):
    if row > len(options):
        if not any(left):
            yield []
        return
    for cells in options[row - 1]:
        rest = [need - row * cell for need, cell in zip(left, cells)]
        if min(rest) >= 0 and max(rest) <= sum(range(row + 1, len(options) + 1)):
            for below in search(options, rest, row + 1):
                yield [cells, *below]


@lru_cache(2)
def find(question):
    rows, columns = read(question)
    options = [[cells for cells in product((0, 1), repeat=len(columns)) if weigh(cells) == need] for need in rows]
    return list(islice(search(options, columns), LIMIT))


def show(grid):
    return "\n".join(" ".join(map(str, row)) for row in grid)


def solve(question):
    return [] if find(question) else None


def check(question, answer):
    rows, columns = read(question)
    grid = [line.split() for line in answer.strip().splitlines()]
    if len(grid) != len(rows) or any(len(row) != len(columns) or set(row) - {"0", "1"} for row in grid):
        return False
    cells = [[int(cell) for cell in row] for row in grid]
    return [weigh(row) for row in cells] == rows and [weigh(column) for column in zip(*cells)] == columns


def others(question, key):
    return [show(grid) for grid in find(question)]


def solved_at_start(question):
    return not any(sum(read(question), []))


def wrong(question, key):
    grid = find(question)[0]
    rows = [" ".join(map(str, row)) for row in grid]
    r, c = next((r, c) for r, row in enumerate(grid) for c, cell in enumerate(row) if cell)
    flip = lambda value: show([[value if (i, j) == (r, c) else cell for j, cell in enumerate(row)]
                               for i, row in enumerate(grid)])
    yield "a row and a column have other sums", flip(0)
    yield "a cell is neither 1 nor 0", flip(2)
    yield "a cell is minus 1", flip(-1)
    yield "a row is too long by a 2", "\n".join([f"{rows[0]} 2", *rows[1:]])
    yield "a row is too long by a 0", "\n".join([f"{rows[0]} 0", *rows[1:]])
    yield "a row is missing", "\n".join(rows[:-1])
    yield "a row is too many", "\n".join([*rows, rows[-1]])
    if [list(column) for column in zip(*grid)] != grid:
        yield "rows and columns are exchanged", "\n".join(" ".join(map(str, column)) for column in zip(*grid))
    yield "the question repeated", show([[0] * len(row) for row in grid])
