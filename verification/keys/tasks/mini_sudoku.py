"""mini_sudoku: fills the 4x4 grid of the question in all ways."""

import re

from tasks import _squares as squares


def parse(question):
    rows = [line.split() for line in question.splitlines() if re.fullmatch(r"[1-4_]( [1-4_]){3}", line.strip())]
    assert len(rows) == 4
    return [[0 if n == "_" else int(n) for n in row] for row in rows]


def solve(question):
    filled = squares.fill(parse(question), squares.lines(4) + squares.boxes(4, 2))
    return [squares.to_text(square) for square in filled] or None


def wrong(question, key):
    square = parse(question)
    filled = squares.fill(square, squares.lines(4) + squares.boxes(4, 2))[0]
    yield from squares.near_misses(square, filled)
    yield "subgrids have a number twice", squares.to_text([filled[r] for r in (0, 2, 1, 3)])


def solved_at_start(question):
    return all(map(all, parse(question)))
