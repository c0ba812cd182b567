"""binary_matrix: for each cell the smallest taxicab distance to any 0, by trying all of them."""

import numpy as np


def solve(question):
    return write(measure(read(question), lambda down, right: down + right))


def read(question):
    rows = filter(None, question.partition("below:\n")[2].splitlines())
    return np.array([[int(cell) for cell in row.split()] for row in rows])


def measure(matrix, metric):
    zeros = np.argwhere(matrix == 0)
    cells = np.argwhere(matrix >= 0)
    gaps = abs(cells[:, None] - zeros[None])
    return metric(gaps[..., 0], gaps[..., 1]).min(axis=1).reshape(matrix.shape)


def write(matrix):
    return "\n".join(" ".join(map(str, row)) for row in matrix)


def wrong(question, key):
    matrix = read(question)
    yield "diagonal steps", write(measure(matrix, np.maximum))
    yield "the question repeated", write(matrix)
    rows = solve(question).splitlines()
    yield "a row missing", "\n".join(rows[:-1])
    yield "a row too many", "\n".join([*rows, rows[-1]])
    yield "in one line", " ".join(rows)
