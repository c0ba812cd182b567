"""spiral_matrix: takes the top row off and turns the rest counterclockwise until nothing is left."""

import numpy as np


def solve(question):
    rows = filter(None, question.partition("spiral order?\n")[2].splitlines())
    rest = np.array([[int(cell) for cell in row.split()] for row in rows])
    order = []
    while rest.size:
        order += rest[0].tolist()
        rest = np.rot90(rest[1:])
    return " ".join(map(str, order))


def wrong(question, key):
    order = solve(question).split()
    size = round(len(order) ** 0.5)
    yield "counterclockwise", " ".join(order[:1] + order[1 : 4 * size - 4][::-1] + order[4 * size - 4 :])
    yield "the last element is missing", " ".join(order[:-1])
    yield "an element too many", " ".join([*order, order[-1]])
    yield "without spaces", "".join(order)
    yield "with commas", ", ".join(order)
    rows = [row for row in question.partition("spiral order?\n")[2].splitlines() if row]
    yield "row by row", " ".join(rows)
