"""tsumego: tries each point of the board for Black and counts the white stones that are then without liberties."""

import re


def read(question):
    rows = re.findall(r"^ ?(\d+) ((?:[.XO] ?)+)$", question, re.M)
    board = {(int(number), chr(65 + c)): stone for number, row in rows for c, stone in enumerate(row.split())}
    return board


def around(point):
    row, column = point
    return [(row + 1, column), (row - 1, column), (row, chr(ord(column) + 1)), (row, chr(ord(column) - 1))]


def group_of(board, point):
    group, edge = {point}, [point]
    while edge:
        for near in around(edge.pop()):
            if board.get(near) == board[point] and near not in group:
                group.add(near)
                edge.append(near)
    return group


def captured(board, color):
    return {point for point, stone in board.items() if stone == color
            and not any(board.get(near) == "." for other in group_of(board, point) for near in around(other))}


def moves(question):
    """How many white stones each legal move captures, of those that capture any."""
    board, found = read(question), {}
    if captured(board, "O"):  # no position: White is captured before a move
        return found
    for point, stone in board.items():
        if stone == ".":
            count = len(captured({**board, point: "X"}, "O"))
            if count:
                found[f"{point[1]}{point[0]}"] = count
    return found


def right(question):
    found = moves(question)
    most = max(found.values(), default=0)
    if "as many white stones as possible" in question:
        return {move for move, count in found.items() if count == most}
    return set(found)


def solve(question):
    return [] if right(question) else None


def check(question, answer):
    return answer in right(question)


def others(question, key):
    good = sorted(right(question))
    return [*good, *(move.lower() for move in good)]


def wrong(question, key):
    good, board = right(question), read(question)
    names = {point: f"{point[1]}{point[0]}" for point in board}
    if not good:
        return
    free = [names[point] for point, stone in board.items() if stone == "." and names[point] not in good]
    yield from (("the move captures nothing, or too few", move) for move in free[::7])
    yield "the point is taken", next(names[point] for point, stone in board.items() if stone != ".")
    yield "the point is off the board", f"A{max(row for row, _ in board) + 1}"
    yield "two moves", f"{sorted(good)[0]} {free[0]}"
    if key and key not in good:
        yield "the key captures nothing, or too few", key
