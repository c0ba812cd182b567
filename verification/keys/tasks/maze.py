"""maze: walks from start to goal through neighboring cells that are no walls and counts the steps."""

import re


def read(question):
    start, goal = re.match(r"Navigate from '(.)' \(start\) to '(.)' \(goal\):\n", question).groups()
    grid = re.search(r":\n\n```\n(.*?)\n```\nLegend: ", question, re.DOTALL)[1].split("\n")
    wall = re.search(r"\nLegend: '(.)' = Wall, '(.)' = Passage\n", question)[1]
    places = {(r, c): cell for r, row in enumerate(grid) for c, cell in enumerate(row)}
    find = lambda wanted: next(place for place, cell in places.items() if cell == wanted)
    return {place for place, cell in places.items() if cell != wall}, find(start), find(goal)


def solve(question):
    free, start, goal = read(question)
    steps, reached, edge = 0, {start}, {start}
    while goal not in reached:
        around = {(r + dr, c + dc) for r, c in edge for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0))}
        edge = (around & free) - reached
        if not edge:
            return None
        reached |= edge
        steps += 1
    return str(steps)


def solved_at_start(question):
    return solve(question) == "0"


def wrong(question, key):
    steps = int(solve(question))
    yield "the start is counted as a step", str(steps + 1)
    yield "the step onto the goal is left out", str(steps - 1)
