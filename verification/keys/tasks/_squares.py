"""Squares of digits: finds the ways to fill one whose groups of cells differ, and in some pairs of cells ascend."""


def fill(square, groups, less=(), limit=3):
    """Up to `limit` filled squares; 0 is a blank. The blank with the fewest choices is filled first."""
    size = len(square)
    peers = {(r, c): set() for r in range(size) for c in range(size)}
    for group in groups:
        for cell in group:
            peers[cell].update(group)
    choices = {(r, c): {square[r][c]} if square[r][c] else set(range(1, size + 1)) for r, c in peers}
    found = []

    def narrow(choices):
        """False where a cell has no choice left."""
        changed = True
        while changed:
            changed = False
            for cell, left in choices.items():
                if len(left) == 1:
                    for peer in peers[cell] - {cell}:
                        if left & choices[peer]:
                            choices[peer] = choices[peer] - left
                            changed = True
                            if not choices[peer]:
                                return False
            for a, b in less:
                small = {n for n in choices[a] if n < max(choices[b])}
                large = {n for n in choices[b] if n > min(small or {size})}
                if not small or not large:
                    return False
                changed |= small != choices[a] or large != choices[b]
                choices[a], choices[b] = small, large
        return True

    def search(choices):
        if len(found) >= limit or not narrow(choices):
            return
        open_cells = [cell for cell, left in choices.items() if len(left) > 1]
        if not open_cells:
            found.append([[min(choices[r, c]) for c in range(size)] for r in range(size)])
            return
        cell = min(open_cells, key=lambda cell: len(choices[cell]))
        for number in sorted(choices[cell]):
            search({**choices, cell: {number}})

    search(choices)
    return found


def lines(size):
    return [[(k, i) for i in range(size)] for k in range(size)] + [[(i, k) for i in range(size)] for k in range(size)]


def boxes(size, side):
    corners = [(r, c) for r in range(0, size, side) for c in range(0, size, side)]
    return [[(r + i, c + j) for i in range(side) for j in range(side)] for r, c in corners]


def to_text(square):
    return "\n".join(" ".join(map(str, row)) for row in square)


def near_misses(square, filled, text=to_text):
    """Of a filled square with blanks: answers that break one rule each."""
    size = len(square)
    r, c = next((r, c) for r in range(size) for c in range(size) if not square[r][c])
    other = filled[r][c] % size + 1
    changed = [list(row) for row in filled]
    changed[r][c] = other
    yield "one blank is wrong", text(changed)
    given = next((n for row in square for n in row if n), None)
    if given:
        swap = {given: given % size + 1, given % size + 1: given}
        yield "givens are changed", text([[swap.get(n, n) for n in row] for row in filled])
    yield "columns have a number twice", text([sorted(row) for row in filled])
    yield "rows have a number twice", text([[filled[k][0]] * size for k in range(size)])
    yield "rows have another order", text(filled[1:] + filled[:1])
    yield "the blanks stay", text(square).replace("0", "_")
    yield "a row is missing", text(filled).rsplit("\n", 1)[0]
    yield "a row too many", text(filled) + "\n" + " ".join(map(str, filled[0]))
