"""pool_matrix: pools the regions of the matrix, those at the edges in three readings."""

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction


def solve(question):
    kind, size, rows = read(question)
    readings = [pool(kind, size, rows)]
    if "Note: " not in question and (len(rows) % size or len(rows[0]) % size):
        whole = [row[: len(row) // size * size] for row in rows[: len(rows) // size * size]]
        readings.append(pool(kind, size, whole))
        wide = [row + [0] * (-len(row) % size) for row in rows]
        readings.append(pool(kind, size, wide + [[0] * len(wide[0])] * (-len(rows) % size)))
    return [write(reading, ROUND_HALF_EVEN) for reading in readings]


def read(question):
    kind, size, table = re.search(r"Perform (\w+) pooling .* size of (\d+):\n([\d\n ]+)", question).groups()
    return kind, int(size), [[int(cell) for cell in row.split()] for row in table.strip().splitlines()]


def pool(kind, size, rows):
    result = []
    for top in range(0, len(rows), size):
        band = [row for row in rows[top : top + size]]
        regions = [[cell for row in band for cell in row[left : left + size]] for left in range(0, len(band[0]), size)]
        result.append([max(region) if kind == "max" else Fraction(sum(region), len(region)) for region in regions])
    return result


def write(matrix, rounding):
    return "\n".join(" ".join(str(to_hundredths(cell, rounding)) for cell in row) for row in matrix)


def to_hundredths(cell, rounding):
    return (Decimal(cell.numerator) / Decimal(cell.denominator)).quantize(Decimal("0.01"), rounding)


def same(a, b):
    """The numbers, row by row."""
    first, second = ([list(map(float, row.split())) for row in text.splitlines()] for text in (a, b))
    return first == second


def others(question, key):
    if len(solve(question)) == 1:
        matrix = pool(*read(question))
        yield write(matrix, ROUND_HALF_UP)
        short = [["g" if cell.denominator < 5 else ".2f" for cell in row] for row in matrix]
        rows = [[format(float(cell), form) for cell, form in zip(*pair)] for pair in zip(matrix, short)]
        yield "\n".join(map(" ".join, rows))
        yield "\n".join(" ".join(str(round(float(cell), 4)) for cell in row) for row in matrix)


def wrong(question, key):
    rows = [row.split() for row in solve(question)[0].splitlines()]
    nudged = [[str(Decimal(cell) + (k == 0) * Decimal("0.02")) for k, cell in enumerate(row)] for row in rows]
    yield "not right to two decimals", "\n".join(map(" ".join, nudged))
    short = "\n".join(" ".join(f"{float(cell):.1f}" for cell in row) for row in rows)
    if not same(short, solve(question)[0]):
        yield "one decimal", short
    if min(len(rows), len(rows[0])) == 1 < max(len(rows), len(rows[0])):
        yield "a row for a column", "\n".join(map(" ".join, zip(*rows)))
    yield "a row too many", "\n".join(map(" ".join, [*rows, rows[-1]]))
