"""circuit_logic: follows the wires of the drawing from each gate back to its inputs, and on to the last gate."""

import re

TURNS = {
    "┐": {"right": "down", "up": "left"},
    "┘": {"right": "up", "down": "left"},
    "└": {"down": "right", "left": "up"},
    "┌": {"up": "right", "left": "down"},
}
STEPS = {"right": (0, 1), "left": (0, -1), "up": (-1, 0), "down": (1, 0)}
GATES = {
    "AND": lambda bits: int(all(bits)),
    "NAND": lambda bits: int(not all(bits)),
    "OR": lambda bits: int(any(bits)),
    "NOR": lambda bits: int(not any(bits)),
    "XOR": lambda bits: sum(bits) % 2,
}


def solve(question):
    drawing, legend = question.split("\n\n\nLegend for gates:\n")
    rows = drawing.split("\n\n", 1)[1].split("\n")
    names = dict(re.findall(r"^(\S)\1: (\w+)$", legend, re.M))
    values = {name: int(bit) for name, bit in re.findall(r"^  (\w+) = ([01])$", legend, re.M)}
    inputs = {row.index("┐"): values[row.split(":")[0]] for row in rows[: len(values)]}
    found = [(row, m.start(), m[1]) for row, text in enumerate(rows) for m in re.finditer(r"│([&↑⊕+↓])\1", text)]
    first, last = min(column for _, column, _ in found), max(column for _, column, _ in found)
    [last_sign] = {sign for _, column, sign in found if column == last}
    gates = []
    for row, column, sign in found:
        if column == first:
            if gates and gates[-1]["rows"][-1] == row - 1:
                gates[-1]["rows"].append(row)
            else:
                gates.append({"rows": [row], "sign": sign})
    bits = []
    for gate in gates:
        assert {rows[row][first + 1] for row in gate["rows"]} == {gate["sign"]}
        bits.append(GATES[names[gate["sign"]]]([read_input(rows, row, first - 1, inputs) for row in gate["rows"]]))
        [start] = [row for row in gate["rows"] if rows[row][first + 3 :].startswith("─")]
        assert (follow_output(rows, start, first + 3, last), last, last_sign) in found
    # Where two outputs touch, it does not matter which goes in first: the last gate takes one of each.
    assert len(gates) == sum(column == last for _, column, _ in found)
    return str(GATES[names[last_sign]](bits))


def read_input(rows, row, column, inputs):
    """To the left, to where the wire leaves that of an input; wires that cross it are passed."""
    is_negated = False
    while rows[row][column] in "─>o":
        is_negated ^= rows[row][column] == "o"
        column -= 1
    assert rows[row][column] in "├└"
    return inputs[column] ^ is_negated


def follow_output(rows, row, column, last):
    direction = "right"
    while column < last:
        sign = rows[row][column]
        assert sign in "─│┐┘└┌"
        direction = TURNS.get(sign, {}).get(direction, direction)
        row, column = row + STEPS[direction][0], column + STEPS[direction][1]
    return row


def wrong(question, key):
    yield "the last gate is negated", str(1 - int(solve(question)))
