"""arc_1d: applies every rule of a list of moves, fills and colorings, or its mirror image, that fits all examples."""

import re


def blocks(row, apart=True):
    """Runs of cells that are not 0, as (start, cells); where `apart`, another color begins another run."""
    found = []
    for k, color in enumerate(row):
        if color and k and row[k - 1] and (not apart or row[k - 1] == color):
            found[-1][1].append(color)
        elif color:
            found.append((k, [color]))
    return found


def put(size, *parts):
    row = [0] * size
    for start, cells in parts:
        for k, color in enumerate(cells):
            row[start + k] = color
    return row


def only(found):
    if len(found) != 1:
        raise ValueError
    return found[0]


def move(n):
    def rule(row):
        start, cells = only(blocks(row, False))
        if start + n + len(cells) > len(row):
            raise ValueError
        return put(len(row), (start + n, cells))

    return rule


def rotate(n):
    return lambda row: row[-n:] + row[:-n]


def gravity(row):
    return [n for n in row if n] + [0] * row.count(0)


def count(row):
    return [1] * (len(row) - row.count(0)) + [0] * row.count(0)


def apart(row):
    return [2] * row.count(2) + [0] * (len(row) - row.count(1) - row.count(2)) + [1] * row.count(1)


def heavy(row):
    return sorted(row, reverse=True)


def step(row):
    row = list(row)
    for k in range(1, len(row)):
        if row[k] and not row[k - 1]:
            row[k - 1], row[k] = row[k], 0
    return row


def step_at_once(row):
    row, moves = list(row), [k for k in range(1, len(row)) if row[k] and not row[k - 1]]
    for k in moves:
        row[k - 1], row[k] = row[k], 0
    return row


def to_dot(dot, n=None):
    """The block goes to the dot on its right, or n cells towards it."""

    def rule(row):
        at = only([k for k, color in enumerate(row) if color == dot])
        start, cells = only([(k, c) for k, c in blocks(row) if c[0] != dot])
        if start > at:
            return rule(row[::-1])[::-1]
        free = at - start - len(cells)
        return put(len(row), (at, [dot]), (start + (free if n is None else min(n, free)), cells))

    return rule


def grow_to_dot(row):
    at = row.index(2)
    start, cells = only([(k, c) for k, c in blocks(row) if c[0] != 2])
    return put(len(row), (min(start, at), [cells[0]] * (max(start + len(cells) - 1, at) - min(start, at) + 1)))


def mirror_at_dot(row):
    at = only([k for k, color in enumerate(row) if color == 2])
    start, cells = only([(k, c) for k, c in blocks(row) if c[0] != 2])
    to = 2 * at - start - len(cells) + 1
    return put(len(row), (at, [2]), (to, cells)) if to >= 0 else None


def own_size(row):
    start, cells = only(blocks(row))
    return move(len(cells))(row)


def fill_between(row):
    a, b = [k for k, color in enumerate(row) if color]
    return put(len(row), (a, [row[a]] * (b - a + 1)))


def ends(row):
    start, cells = only(blocks(row))
    return put(len(row), (start, cells[:1]), (start + len(cells) - 1, cells[-1:]))


def turn(row):
    start, cells = only(blocks(row, False))
    return put(len(row), (start, cells[::-1]))


def lone_off(row):
    return put(len(row), *(block for block in blocks(row) if len(block[1]) > 1))


def largest_only(row):
    return put(len(row), max(blocks(row), key=lambda block: len(block[1])))


def one_color(row):
    start, cells = only(blocks(row, False))
    return put(len(row), (start, [max(sorted(set(cells)), key=cells.count)] * len(cells)))


def copy_to_dots(row):
    (start, cells), *dots = blocks(row)
    if start or any(len(dot) != 1 for _, dot in dots):
        raise ValueError
    return put(len(row), (0, cells), *((at - len(cells) // 2, dot * len(cells)) for at, dot in dots))


def repeat(row):
    length = max(k for k, color in enumerate(row) if color) + 1
    pattern = next(row[:n] for n in range(1, length + 1) if length % n == 0 and row[:n] * (length // n) == row[:length])
    return (pattern * len(row))[: len(row)]


def repeat_halves(row):
    length = max(k for k, color in enumerate(row) if color) + 1
    return (row[: length // 2] * len(row))[: len(row)] if length % 2 == 0 else None


def paint_largest(row):
    found = blocks(row)
    most = max(len(cells) for _, cells in found)
    return put(len(row), *((k, [1] * most if len(cells) == most else cells) for k, cells in found))


def rank_sizes(row):
    (a, first), (b, second) = blocks(row)
    colors = (2, 1) if len(first) < len(second) else (1, 2)
    return put(len(row), (a, colors[:1] * len(first)), (b, colors[1:] * len(second)))


def five(row):
    return [5 if color else 0 for color in row]


def palette(row):
    head = row.index(0)
    rest = blocks([0] * head + row[head:])
    if head != len(rest):
        raise ValueError
    return put(len(row), (0, row[:head]), *((k, [row[i]] * len(cells)) for i, (k, cells) in enumerate(rest)))


def left_half(row):
    return put(len(row), *((k, [8] * (len(cells) // 2) + cells[len(cells) // 2 :]) for k, cells in blocks(row)))


def sort_blocks(row):
    parts, at = [], 0
    for _, cells in sorted(blocks(row), key=lambda block: len(block[1])):
        parts.append((at, cells))
        at += len(cells) + 1
    return put(len(row), *parts)


def seeds(row):
    found = blocks(row)
    start, cells = only([block for block in found if len(block[1]) > 1])
    result, size = list(row), len(cells)
    for at, (color,) in [block for block in found if len(block[1]) == 1]:
        for k in range(at, len(row)) if at > start else range(at + 1):
            if abs(k - at) % (size + 1) < size:
                result[k] = color
    return result


def from_pixel(row):
    start, cells = only(blocks(row, False))
    inner = blocks(row)
    (a, one), (_, rest) = inner if len(inner[0][1]) == 1 else inner[::-1]
    return one * (a + 1) + row[a + 1 :] if a == start else row[:a] + one * (len(row) - a)


def mark_pairs(row):
    result = list(row)
    for k, cells in blocks(row):
        if len(cells) == 2:
            for at in (k - 1, k + 2):
                if 0 <= at < len(row):
                    result[at] = 3
    return result


def fill_to_wall(row):
    if row[0] != 5:
        return fill_to_wall(row[::-1])[::-1] if row[-1] == 5 else None
    result = list(row)
    for k in range(len(row) - 2, 0, -1):
        result[k] = result[k] or result[k + 1]
    return result


RULES = [
    lambda row: row,
    *(rule(n) for rule in (move, rotate) for n in range(1, 5)),
    *(gravity, count, apart, heavy, step, step_at_once, to_dot(1), grow_to_dot, mirror_at_dot, own_size, fill_between),
    *(to_dot(2, n) for n in range(1, 5)),
    *(ends, turn, lone_off, largest_only, one_color, copy_to_dots, repeat, repeat_halves, paint_largest, rank_sizes),
    *(five, palette, left_half, sort_blocks, seeds, from_pixel, mark_pairs, fill_to_wall),
]


def parse(question):
    lines = re.findall(r"^(?:Input: |Output:)? *(\d(?: \d)+)$", question, re.M)
    rows = [[int(n) for n in line.split()] for line in lines]
    return list(zip(rows[0:-1:2], rows[1:-1:2])), rows[-1]


def apply(rule, row):
    try:
        return rule(list(row))
    except (ValueError, IndexError, TypeError, StopIteration):
        return None


def find_answers(question):
    """By the name of the rule."""
    examples, row = parse(question)
    found = {}
    for rule in RULES:
        for way in (rule, lambda row, rule=rule: rule(row[::-1])[::-1]):
            if all(apply(way, a) == b for a, b in examples) and apply(way, row):
                found.setdefault(" ".join(map(str, apply(way, row))), []).append(rule.__qualname__)
    return found


def solve(question):
    found = sorted(find_answers(question))
    return found if len(found) <= 1 else None


def wrong(question, key):
    cells, row = key.split(), parse(question)[1]
    yield "one cell is wrong", " ".join([str((int(cells[0]) + 1) % 10), *cells[1:]])
    if row != list(map(int, cells)):
        yield "the input as it is", " ".join(map(str, row))
    yield "a cell too many", key + " 0"
    yield "a cell is missing", " ".join(cells[:-1])
    if cells != cells[::-1]:
        yield "right to left", " ".join(reversed(cells))


def solved_at_start(question):
    found = find_answers(question)
    return " ".join(map(str, parse(question)[1])) in found and len(found) == 1
