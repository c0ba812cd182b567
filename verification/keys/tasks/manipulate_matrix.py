"""manipulate_matrix: applies the operations in order, rotations and mirrors in both of their readings."""

import re
from itertools import product

import numpy as np


def solve(question):
    question, _, note = question.partition("\nNote: ")
    table, _, tail = question.partition("\n\nPerform")
    matrix = np.array([[int(cell) for cell in row.split()] for row in table.splitlines()[1:]])
    operations = re.findall(r"^- (.+)$", tail, re.M)[1:]
    ways = [True] if "clockwise" in note else [True, False]
    sides = [True] if "upside down" in note or "left and right" in note else [True, False]
    results = [run(matrix, operations, *reading) for reading in product(ways, sides)]
    return ["\n".join(" ".join(map(str, row)) for row in result) for result in results]


def run(matrix, operations, is_clockwise, is_upside_down):
    for text in operations:
        matrix = apply(matrix, text, is_clockwise, is_upside_down)
    return matrix


def apply(matrix, text, is_clockwise, is_upside_down):
    """`is_upside_down`: to mirror horizontally turns the matrix upside down, and vertically swaps left and right."""
    numbers = [int(digits) for digits in re.findall(r"\d+", text)]
    if text.startswith("Rotate"):
        return np.rot90(matrix, (-1 if is_clockwise else 1) * numbers[0] // 90)
    if text.startswith(("Horizontally", "Vertically")):
        return np.flip(matrix, 0 if text.startswith("Horizontally") == is_upside_down else 1)
    if text.startswith("Mirror"):
        return np.rot90(matrix, 2).T if "counterdiagonal" in text else matrix.T
    if text.startswith("Map"):
        return np.where(matrix == numbers[0], numbers[1], matrix)
    if text.startswith("Set"):
        return np.where(matrix % numbers[0] == 0, 0, matrix)
    if text.startswith("Crop"):
        top, bottom, left, right = numbers[:4]
        return matrix[top - 1 : bottom, left - 1 : right]
    axis = 0 if " row" in text else 1
    return np.delete(matrix, np.s_[numbers[0] - 1 :: numbers[0]], axis)


def wrong(question, key):
    lines = question.splitlines()
    for k, line in enumerate(lines):
        if line.startswith("- ") and "Identity" not in line:
            yield f"left out: {line[2:]}", solve("\n".join(lines[:k] + lines[k + 1 :]))[0]
