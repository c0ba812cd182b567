"""rotate_matrix: turns the matrix clockwise by the degrees that the question says."""

import re

import numpy as np


def solve(question):
    return write(np.rot90(*read(question)))


def read(question):
    degrees, table = re.search(r"by (\d+) degrees clockwise:\n([\d\n ]+)", question).groups()
    return np.array([[int(cell) for cell in row.split()] for row in table.strip().splitlines()]), -int(degrees) // 90


def write(matrix):
    return "\n".join(" ".join(map(str, row)) for row in matrix)


def wrong(question, key):
    matrix, turns = read(question)
    yield "counterclockwise", write(np.rot90(matrix, -turns))
    yield "a quarter too far", write(np.rot90(matrix, turns - 1))
    yield "mirrored", write(np.rot90(matrix, turns).T)
    yield "all in one line", solve(question).replace("\n", " ")
    yield "a row twice", f"{solve(question)}\n{solve(question).splitlines()[-1]}"
