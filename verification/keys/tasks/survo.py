"""survo: checks givens, sums and the numbers used; others are found by search."""

import re
from collections import Counter
from itertools import islice


def parse(question):
    size = int(re.search(r"(\d+)\*\d+", question)[1])
    lines = [line for line in question.splitlines() if re.fullmatch(r"\d+( \d+)+", line.strip())]
    rows = [[int(n) for n in line.split()] for line in lines]
    assert len(rows) == size and all(len(row) == size for row in rows)
    return rows, [int(n) for n in re.search(r"\[([\d, ]+)\]", question)[1].split(",")]


def to_text(rows):
    return "\n".join(" ".join(map(str, row)) for row in rows)


def check(question, answer):
    rows, numbers = parse(question)
    given = [[int(n) for n in line.split()] for line in answer.strip().split("\n")]
    size = len(rows)
    if len(given) != size or any(len(row) != size for row in given):
        return False
    if any(a not in (0, b) for old, new in zip(rows, given) for a, b in zip(old, new)):
        return False
    used = Counter(b for old, new in zip(rows, given) for a, b in zip(old, new) if a == 0)
    has_sums = all(sum(line[:-1]) == line[-1] for line in [*given, *zip(*given)])
    return has_sums and used == Counter(numbers)


def fillings(question):
    rows, numbers = parse(question)
    size = len(rows)
    blanks = [(r, c) for r in range(size) for c in range(size) if rows[r][c] == 0]
    rows = [list(row) for row in rows]

    def is_done(line):
        return 0 in line or sum(line[:-1]) == line[-1]

    def place(k, left):
        if k == len(blanks):
            yield to_text(rows)
            return
        r, c = blanks[k]
        for number in list(left):
            if left[number]:
                rows[r][c] = number
                if is_done(rows[r]) and is_done([row[c] for row in rows]):
                    yield from place(k + 1, left - Counter([number]))
                rows[r][c] = 0

    return place(0, Counter(numbers))


def others(question, key):
    return [text for text in islice(fillings(question), 6) if key is None or text.split() != key.split()]


def wrong(question, key):
    rows, numbers = parse(question)
    full = [[int(n) for n in line.split()] for line in key.split("\n")]
    blanks = [(r, c) for r, row in enumerate(rows) for c, n in enumerate(row) if n == 0]

    def change(*cells):
        changed = [list(row) for row in full]
        for r, c, step in cells:
            changed[r][c] += step
        return to_text(changed)

    (r, c), last = blanks[0], len(rows) - 1
    yield "a number that is not of the set", change((r, c, 1))
    yield "the zeros stay", to_text(rows)
    given = next((i, j) for i in range(last) for j in range(last) if rows[i][j])
    yield "a given is changed", change((*given, 1))
    yield "givens are changed, and all sums are right", change((r, c, 1), (r, last, 1), (last, c, 1), (last, last, 1))
    yield "without the sums", to_text([row[:-1] for row in full[:-1]])
    yield "a row too many", key + "\n" + key.split("\n")[0]
    for a in blanks:
        for b in blanks:
            if full[a[0]][a[1]] != full[b[0]][b[1]]:
                step = full[b[0]][b[1]] - full[a[0]][a[1]]
                yield "two numbers are exchanged, so that sums are wrong", change((*a, step), (*b, -step))
                return


def solved_at_start(question):
    return all(map(all, parse(question)[0]))
