"""modulo_grid: fills the gaps by every sum, difference, product or power of row and column, modulo n, that fits."""

MAX_DIVISOR = 100


def parse(question):
    return [line for line in question.splitlines() if line and set(line) <= set("✅❌❔")]


def completions(grid):
    """All grids that some rule with a divisor up to MAX_DIVISOR gives, where it fits all that is seen."""
    cells = [(x, y) for y, row in enumerate(grid) for x in range(len(row))]
    found = set()
    for work in (lambda x, y, n: x + y, lambda x, y, n: abs(x - y), lambda x, y, n: x * y, pow):
        for n in range(1, MAX_DIVISOR + 1):
            values = {(x, y): work(x, y, n) % n for x, y in cells}
            seen = {values[x, y] for x, y in cells if grid[y][x] == "✅"}
            for rest in seen if len(seen) == 1 else () if seen else range(n):
                full = [
                    "".join("✅" if values[x, y] == rest else "❌" for x in range(len(row))) for y, row in enumerate(grid)
                ]
                if all(a in (b, "❔") for given, row in zip(grid, full) for a, b in zip(given, row)):
                    found.add("\n".join(full))
    return found


def solve(question):
    found = sorted(completions(parse(question)))
    return found if len(found) == 1 else None


def wrong(question, key):
    grid = parse(question)
    yield "the gaps are not filled", "\n".join(grid)
    flipped = key.translate(str.maketrans("✅❌", "❌✅"))
    k = "\n".join(grid).index("❔")
    yield "a gap is filled wrongly", key[:k] + flipped[k] + key[k + 1 :]
    j = next(i for i, c in enumerate("\n".join(grid)) if c in "✅❌")
    yield "a given cell is changed", key[:j] + flipped[j] + key[j + 1 :]
    yield "a row is missing", key.split("\n", 1)[1]
    yield "only a row", key.splitlines()[0]
    yield "a grid twice", key + "\n" + key
