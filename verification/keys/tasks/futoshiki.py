"""futoshiki: fills the square of the question in all ways that obey its signs."""

import re

from tasks import _squares as squares


def parse(question):
    """The lines of the puzzle, the numbers, and the pairs of cells of which the first is less."""
    size = int(re.search(r"following (\d)x\d Futoshiki", question)[1])
    text = question.split("puzzle:\n\n")[1].split("\n\nEnsure")[0].split("\n")
    assert len(text) == 2 * size - 1
    square, less = [], []
    for r in range(size):
        row = text[2 * r].ljust(4 * size)
        square.append([0 if row[4 * c] == "_" else int(row[4 * c]) for c in range(size)])
        below = text[2 * r + 1].ljust(4 * size) if r < size - 1 else ""
        for c in range(size):
            cell, right, down = (r, c), (r, c + 1), (r + 1, c)
            beside = row[4 * c + 2] if c < size - 1 else " "
            less += {"<": [(cell, right)], ">": [(right, cell)], " ": []}[beside]
            less += {"∧": [(cell, down)], "∨": [(down, cell)], " ": []}[below[4 * c] if below else " "]
    return text, square, less


def write(text, square):
    """The puzzle with other numbers."""
    rows = []
    for r, line in enumerate(text):
        numbers = iter(square[r // 2] if r // 2 < len(square) else [])
        rows.append(re.sub(r"[\d_]", lambda _: str(next(numbers)), line) if r % 2 == 0 else line)
    return "\n".join(rows)


def solve(question):
    text, square, less = parse(question)
    return [write(text, filled) for filled in squares.fill(square, squares.lines(len(square)), less, 2)] or None


def wrong(question, key):
    text, square, less = parse(question)
    size = len(square)
    filled = squares.fill(square, squares.lines(size), less, 1)[0]
    yield from squares.near_misses(square, filled, lambda other: write(text[: 2 * len(other) - 1], other))
    without = squares.fill(square, squares.lines(size), [], 5) if size < 6 else []
    for other in without:
        if other != filled:
            yield "a sign is not obeyed", write(text, other)
            break


def same(a, b):
    return a.split() == b.split()


def solved_at_start(question):
    return all(map(all, parse(question)[1]))
