"""sudoku: fills the 9x9 grid of the question in all ways."""

import re

from tasks import _squares as squares


def parse(question):
    rows = [line.split() for line in question.splitlines() if re.fullmatch(r"[\d_]( [\d_]){8}", line.strip())]
    assert len(rows) == 9
    return [[0 if n == "_" else int(n) for n in row] for row in rows]


def solve(question):
    filled = squares.fill(parse(question), squares.lines(9) + squares.boxes(9, 3))
    return [squares.to_text(square) for square in filled] or None


def wrong(question, key):
    square = parse(question)
    filled = squares.fill(square, squares.lines(9) + squares.boxes(9, 3))[0]
    yield from squares.near_misses(square, filled)
    yield "boxes have a number twice", squares.to_text([filled[r] for r in (0, 3, 6, 1, 4, 7, 2, 5, 8)])


def solved_at_start(question):
    return all(map(all, parse(question)))
