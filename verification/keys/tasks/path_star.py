"""path_star: walks from the start to the goal over the edges, in the direction that the goal can be reached in."""

import re


def solve(question):
    task = question.strip().splitlines()[-1]
    edges = [tuple(edge.split()) for edge in task.split("/")[0].strip("|").split("|")]
    start, goal = re.search(r"/(\d+) (\d+) =", task).groups()
    paths = find_paths(edges, start, goal) or find_paths([(b, a) for a, b in edges], start, goal)
    [path] = paths
    return " ".join(path)


def find_paths(edges, start, goal):
    found, front = [], [[start]]
    for path in front:  # grows meanwhile
        if path[-1] == goal:
            found.append(path)
        front.extend([*path, b] for a, b in edges if a == path[-1] and b not in path)
    return found


def wrong(question, key):
    path = solve(question).split()
    yield "the start is left out", " ".join(path[1:])
    yield "the goal is left out", " ".join(path[:-1])
    yield "backwards", " ".join(path[::-1])
    yield "a node is skipped", " ".join(path[:1] + path[2:])
    yield "the goal stands twice", " ".join([*path, path[-1]])
