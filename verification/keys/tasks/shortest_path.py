"""shortest_path: spreads from the start over the open cells."""

STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def parse(question):
    rows = [line.split() for line in question.split("following grid:\n")[1].splitlines() if line.strip()]
    return {(i, j): cell for i, row in enumerate(rows) for j, cell in enumerate(row)}


def walk(grid, moves):
    """The cell that the moves lead to; None where one leads off the grid or into a blocked cell, or is none."""
    at = next(cell for cell, sign in grid.items() if sign == "*")
    for move in moves:
        if move not in STEPS:
            return None
        at = (at[0] + STEPS[move][0], at[1] + STEPS[move][1])
        if grid.get(at, "X") == "X":
            return None
    return at


def find_paths(question, order):
    """The first shortest path when the directions are tried in this order."""
    grid = parse(question)
    start = next(cell for cell, sign in grid.items() if sign == "*")
    ways = {start: []}
    for at in (queue := [start]):  # grows meanwhile
        if grid[at] == "#":
            return ways[at]
        for move in order:
            to = (at[0] + STEPS[move][0], at[1] + STEPS[move][1])
            if grid.get(to, "X") != "X" and to not in ways:
                ways[to] = [*ways[at], move]
                queue.append(to)
    return None


def solve(question):
    path = find_paths(question, STEPS)
    return "infeasible" if path is None else " ".join(path)


def check(question, answer):
    path = find_paths(question, STEPS)
    if path is None:
        return answer == "infeasible"
    grid = parse(question)
    return grid.get(walk(grid, answer.split())) == "#" and len(answer.split()) == len(path)


def others(question, key):
    for order in (list(STEPS)[::-1], ["left", "up", "right", "down"], ["right", "down", "left", "up"]):
        path = find_paths(question, order)
        if path is not None:
            yield " ".join(path)


def wrong(question, key):
    grid, moves = parse(question), solve(question).split()
    start = next(cell for cell, sign in grid.items() if sign == "*")
    goal = next(cell for cell, sign in grid.items() if sign == "#")
    straight = ["down" if goal[0] > start[0] else "up"] * abs(goal[0] - start[0])
    straight += ["right" if goal[1] > start[1] else "left"] * abs(goal[1] - start[1])
    if walk(grid, straight) is None:
        yield "through a blocked cell or no way at all", " ".join(straight)
    if moves == ["infeasible"]:
        return
    yield "there is a way", "infeasible"
    yield "a step is left out", " ".join(moves[:-1])
    yield "a step too many", " ".join([*moves, moves[-1]])
    back = {"up": "down", "down": "up", "left": "right", "right": "left"}
    yield "not the shortest", " ".join([*moves, back[moves[-1]], moves[-1]])
    yield "diagonal moves", " ".join(["right-down", *moves])
