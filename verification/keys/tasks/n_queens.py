"""n_queens: completes the board by a search and checks the number of queens, their attacks and the given ones."""

import re

LIMIT = 40


def read(question):
    board = re.search(r"no two queens attack each other\.\n((?:[Q_]( [Q_])*\n)+)", question + "\n")[1]
    return [line.split() for line in board.strip().split("\n")], int(re.search(r"to place (\d+) queen", question)[1])


def place_of(board):
    return [(r, c) for r, row in enumerate(board) for c, cell in enumerate(row) if cell == "Q"]


def attack(a, b):
    return a[0] == b[0] or a[1] == b[1] or abs(a[0] - b[0]) == abs(a[1] - b[1])


def search(size, queens, row=0):
    if row == size:
        yield sorted(queens)
    elif any(r == row for r, _ in queens):
        yield from search(size, queens, row + 1)
    else:
        for c in range(size):
            if not any(attack((row, c), queen) for queen in queens):
                yield from search(size, [*queens, (row, c)], row + 1)


def find(question):
    board, _ = read(question)
    given = place_of(board)
    found = []
    for queens in search(len(board), given):
        found.append(queens)
        if len(found) == LIMIT:
            break
    return found


def show(size, queens):
    return "\n".join(" ".join("Q" if (r, c) in queens else "_" for c in range(size)) for r in range(size))


def solve(question):
    return [] if find(question) else None


def check(question, answer):
    board, count = read(question)
    given, size = place_of(board), len(board)
    rows = [line.split() for line in answer.strip().splitlines()]
    if len(rows) != size or any(len(row) != size or set(row) - {"Q", "_"} for row in rows):
        return False
    queens = place_of(rows)
    free = all(not attack(a, b) for k, a in enumerate(queens) for b in queens[:k])
    return free and set(given) <= set(queens) and len(queens) == len(given) + count == size


def others(question, key):
    size = len(read(question)[0])
    return [show(size, queens) for queens in find(question)]


def solved_at_start(question):
    board, count = read(question)
    return count == 0 or len(place_of(board)) == len(board)


def wrong(question, key):
    board, _ = read(question)
    size, given, queens = len(board), place_of(board), find(question)[0]
    new = [queen for queen in queens if queen not in given]
    yield "the question repeated", show(size, given)
    yield "a queen is missing", show(size, [queen for queen in queens if queen != new[0]])
    extra = next((r, c) for r in range(size) for c in range(size) if (r, c) not in queens)
    yield "a queen is too many", show(size, [*queens, extra])
    other = [(r, c) for r, c in ((r, size - 1 - c) for r, c in queens)]
    if given and not set(given) <= set(other):
        yield "a given queen is moved", show(size, other)
    row, column = new[0]
    beside = (row, column + 1 if column + 1 < size else column - 1)
    yield "two queens attack each other", show(size, [beside if queen == new[0] else queen for queen in queens])
    yield "a column is too many", "\n".join(f"{line} _" for line in show(size, queens).split("\n"))
