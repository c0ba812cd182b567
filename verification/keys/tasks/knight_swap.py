"""knight_swap: searches the places of all knights for a way to swap them by the rules of the question."""

import json
import re
from functools import lru_cache


def read(question):
    text = question.split("```")[1].split("\n")
    names = text[1].split()
    squares = {}
    for line in text:
        found = re.match(r"(\d+) \|(.*)", line)
        if found:
            for name, cell in zip(names, found[2].split("|")):
                if cell.strip():
                    squares[f"{name}{found[1]}"] = cell.strip()
    return squares, re.search(r"\n3\. (\w) moves first", question)[1]


def is_jump(a, b):
    return sorted((abs(ord(a[0]) - ord(b[0])), abs(int(a[1:]) - int(b[1:])))) == [1, 2]


def sides(squares):
    return tuple(frozenset(name for name, piece in squares.items() if piece == color) for color in "wB")


@lru_cache(2)
def find(question):
    squares, first = read(question)
    jumps = {a: [b for b in squares if is_jump(a, b)] for a in squares}
    white, black = sides(squares)
    start = (white, black, first)
    before, edge = {start: []}, [start]
    for state in edge:
        if state[:2] == (black, white):
            return before[state]
        mine, other = (state[0], state[1]) if state[2] == "w" else (state[1], state[0])
        for a in mine:
            for b in jumps[a]:
                if b not in mine and b not in other:
                    moved = mine - {a} | {b}
                    new = (moved, other, "B") if state[2] == "w" else (other, moved, "w")
                    if new not in before:
                        before[new] = [*before[state], f"{state[2]},{a},{b}"]
                        edge.append(new)
    return None


def check(question, answer):
    if answer.strip('"').lower() == "no":
        return find(question) is None
    squares, turn = read(question)
    after = dict(squares)
    for move in json.loads(answer):
        color, a, b = move.split(",")
        if color != turn or after.get(a) != color or after.get(b) != "." or not is_jump(a, b):
            return False
        after[a], after[b] = ".", color
        turn = "B" if turn == "w" else "w"
    return sides(after) == sides(squares)[::-1]


def others(question, key):
    way = find(question)
    if way is None:
        return ["No", "no", '"No"']
    (white, black), (squares, turn) = sides(read(question)[0]), read(question)
    longer = detour(squares, turn)
    return [json.dumps(way), json.dumps(way).replace(" ", ""), *([json.dumps(longer + way)] if longer else [])]


def detour(squares, turn):
    """Both sides go and come back, where they can do so without each other."""
    there = {}
    for color in "wB":
        for a, piece in squares.items():
            for b in squares:
                if piece == color and squares[b] == "." and is_jump(a, b) and b not in there.values():
                    there.setdefault(color, (a, b))
                    there[f"{color} to"] = there[color][1]
    if not {"w", "B"} <= there.keys():
        return []
    other = "B" if turn == "w" else "w"
    (a, b), (c, d) = there[turn], there[other]
    return [f"{turn},{a},{b}", f"{other},{c},{d}", f"{turn},{b},{a}", f"{other},{d},{c}"] if b != d else []


def wrong(question, key):
    way, (squares, turn) = find(question), read(question)
    if way is None:
        yield "there is no way", json.dumps([f"{turn},{a},{b}" for a in squares for b in squares
                                             if squares[a] == turn and squares[b] == "." and is_jump(a, b)][:1])
        yield "there is no empty way", "[]"
        return
    yield "there is a way", "No"
    yield "the last move is missing", json.dumps(way[:-1])
    yield "a move is made twice", json.dumps([way[0], *way])
    yield "the other side begins", json.dumps(way[1:])
    yield "one side makes all moves first", json.dumps(sorted(way, key=lambda move: move[0] != turn))
    white, black = (sorted(side) for side in sides(squares))
    jumps = [(f"w,{a},{b}", f"B,{b},{a}") for a, b in zip(white, black)]
    onto = [move for pair in jumps for move in (pair if turn == "w" else pair[::-1])]
    yield "knights jump onto each other", json.dumps(onto)
    yield "no moves", "[]"
