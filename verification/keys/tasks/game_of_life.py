"""game_of_life: steps the board on a torus and writes it as JSON."""

import json
import re

import numpy

EMPTY = "[[0,0,0],[0,0,0],[0,0,0]])"


def step(board):
    near = sum(numpy.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
    return ((near == 3) | ((board == 1) & (near == 2))).astype(int)


def parse(question):
    board = numpy.array(json.loads(question.split(EMPTY)[1].strip().removesuffix(".")))
    return board, int(re.search(r"after (\d+) steps", question)[1])


def write(board):
    return json.dumps(board.tolist(), separators=(",", ":"))


def run(question):
    board, steps = parse(question)
    for _ in range(steps):
        board = step(board)
    return board


def solve(question):
    return write(run(question))


def others(question, key):
    board = run(question)
    yield json.dumps(board.tolist())
    yield json.dumps(board.tolist(), indent=1)


def wrong(question, key):
    board, steps = parse(question)
    end = run(question)
    early = board
    for _ in range(steps - 1):
        early = step(early)
    yield "a step too few", write(early)
    yield "a step too many", write(step(end))
    flat = numpy.pad(board, steps + 1)
    for _ in range(steps):
        flat = step(flat)
    yield "edges that do not wrap", write(flat[steps + 1 : -steps - 1, steps + 1 : -steps - 1])
    one = end.copy()
    one[0, 0] = 1 - one[0, 0]
    yield "a cell is wrong", write(one)
    yield "columns instead of rows", write(end.T)
    yield "rows from bottom to top", write(end[::-1])
    yield "a row is missing", write(end[:-1])
    yield "a row too many", write(numpy.vstack([end, 0 * end[:1]]))
    yield "a column too many", write(numpy.hstack([end, 0 * end[:, :1]]))
    yield "one list", json.dumps(end.flatten().tolist())


def same(a, b):
    return json.loads(a) == json.loads(b)
