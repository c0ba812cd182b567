"""bf: runs the program on cells of a byte, and of two."""

import re


def run(program, cell, limit=20_000_000):
    """The output; None where it takes too long. Runs of a sign, and loops that only add to cells, are one step each."""
    parts, jumps, opened = re.findall(r"\[-\]|\[-(?:>+\++)+<+\]|\++|-+|>+|<+|[][.]", program), {}, []
    for k, part in enumerate(parts):
        if part == "[":
            opened.append(k)
        elif part == "]":
            jumps[k] = opened.pop()
            jumps[jumps[k]] = k
    tape, at, k, out = [0] * 30000, 0, 0, []
    for _ in range(limit):
        if k == len(parts):
            return "".join(out)
        part = parts[k]
        sign = part[0]
        if sign in "+-":
            tape[at] = (tape[at] + (len(part) if sign == "+" else -len(part))) % cell
        elif sign in "<>":
            at += len(part) if sign == ">" else -len(part)
            assert at >= 0
        elif sign == ".":
            out.append(chr(tape[at] % 256))
        elif part == "[":
            k = k if tape[at] else jumps[k]
        elif part == "]":
            k = jumps[k] if tape[at] else k
        elif part.count(">") != part.count("<"):
            raise ValueError("a loop that moves on")
        else:
            to = at
            for moves, adds in re.findall(r"(>+)(\++)", part):
                to += len(moves)
                tape[to] = (tape[to] + tape[at] * len(adds)) % cell
            tape[at] = 0
        k += 1
    return None


def solve(question):
    program = max(question.split("\n\n")[1:], key=lambda part: len(re.findall(r"[][<>+.-]", part)))
    outputs = [run(program, 256), run(program, 65536)]
    return [out for out in dict.fromkeys(outputs) if out is not None]


def wrong(question, key):
    yield "a character is missing", key[:-1]
    yield "a character is different", key[:-1] + chr(ord(key[-1]) + 1)
    yield "more than the output", key + key
    if key.isalpha():
        yield "the other case", key.upper()
    yield "characters in reverse", key[::-1]


def same(a, b):
    return a == b
