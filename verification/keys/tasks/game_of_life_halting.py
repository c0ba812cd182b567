"""game_of_life_halting: steps the board on a torus until it is empty, or for as many steps as the question says."""

import re

import numpy


def solve(question):
    """A board that is shown with "..." in it cannot be known."""
    shown = question.split("Initial board:\n")[1]
    if "..." in shown:
        return None
    board = numpy.array([row.split() for row in re.findall(r"\[([01\s]+)\]", shown)], int)
    for _ in range(int(re.search(r"at or before (\d+) steps", question)[1]) + 1):
        if not board.any():
            return "True"
        near = sum(numpy.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
        board = ((near == 3) | ((board == 1) & (near == 2))).astype(int)
    return "False"


def wrong(question, key):
    yield "the contrary", {"True": "False", "False": "True"}[solve(question)]
    yield "both", "True or False"
    yield "no word", "maybe"
