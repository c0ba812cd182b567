"""Puzzles of boards of digits: reads the examples and the test, and checks the form of an answer."""


def parse(question):
    """The pairs of the examples, and the board of the test."""

    def board(text):
        return [line.split() for line in text.strip().split("\n")]

    examples, test = question.split("Below is a test input grid.")
    pairs = [part.split("Input:\n")[1].split("Output:\n") for part in examples.split("Example ")[1:]]
    return [(board(a), board(b)) for a, b in pairs], board(test.split("Input:\n")[1])


def write(board):
    return "\n".join(" ".join(row) for row in board)


def has_form(question, answer):
    """Whether the examples allow it: they show a change, its size stays if theirs do, and each color was seen."""
    examples, test = parse(question)
    board = [line.split(" ") for line in answer.split("\n")]
    if any(len(row) != len(board[0]) or not all(n in set("0123456789") for n in row) for row in board):
        return False
    if board != test and all(a == b for a, b in examples):
        return False
    if any(a == test and b != board for a, b in examples):
        return False
    sizes = {(len(b) / len(a), len(b[0]) / len(a[0])) for a, b in examples}
    if sizes == {(1, 1)} and (len(board), len(board[0])) != (len(test), len(test[0])):
        return False
    seen = {n for pair in [*examples, (test, test)] for grid in pair for row in grid for n in row}
    return {n for row in board for n in row} <= seen


def near_misses(question, key):
    board, test = [line.split() for line in key.split("\n")], parse(question)[1]
    changed = [list(row) for row in board]
    changed[-1][-1] = str((int(changed[-1][-1]) + 1) % 10)
    yield "a cell is wrong", write(changed)
    yield "a row too many", write([*board, board[-1]])
    yield "a column too many", write([[*row, row[-1]] for row in board])
    if len(board) > 1:
        yield "a row is missing", write(board[:-1])
    if board != test:
        yield "the input as it is", write(test)
    for name, other in (("upside down", board[::-1]), ("columns as rows", [list(row) for row in zip(*board)])):
        if other != board:
            yield name, write(other)
