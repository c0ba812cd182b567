"""jugs: finds the shortest way by a search over the levels of the jugs and pours as an answer says."""

import json
import re


def read(question):
    capacities = re.search(r"this many litres of water: (.+)\n", question)[1]
    names = {name: int(size) for name, size in re.findall(r"([A-Z]):(\d+)", capacities)}
    return names, int(re.search(r"your target is: (\d+) litres", question)[1])


def act(sizes, levels, deed):
    """The levels after a move, None where it is none."""
    found = re.fullmatch(r"fill ([A-Z])|empty ([A-Z])|pour ([A-Z])->([A-Z])", deed)
    filled, emptied, source, goal = found.groups() if found else (None,) * 4
    if not found or {filled, emptied, source, goal} - {None} - sizes.keys() or (source and source == goal):
        return None
    if filled:
        return {**levels, filled: sizes[filled]}
    if emptied:
        return {**levels, emptied: 0}
    amount = min(levels[source], sizes[goal] - levels[goal])
    return {**levels, source: levels[source] - amount, goal: levels[goal] + amount}


def check(question, answer):
    sizes, target = read(question)
    levels = dict.fromkeys(sizes, 0)
    try:
        deeds = json.loads(answer)
    except ValueError:
        return False
    if not isinstance(deeds, list):
        return False
    for deed in deeds:
        levels = act(sizes, levels, deed)
        if levels is None:
            return False
    return target in levels.values()


def find(question):
    sizes, target = read(question)
    deeds = [f"{deed} {name}" for name in sizes for deed in ("fill", "empty")]
    deeds += [f"pour {a}->{b}" for a in sizes for b in sizes if a != b]
    start = tuple(0 for _ in sizes)
    before, edge = {start: []}, [start]
    for state in edge:
        if target in state:
            return before[state]
        for deed in deeds:
            new = tuple(act(sizes, dict(zip(sizes, state)), deed).values())
            if new not in before:
                before[new] = [*before[state], deed]
                edge.append(new)
    return None


def solve(question):
    return None if find(question) is None else []


def solved_at_start(question):
    return check(question, "[]")


def others(question, key):
    way = find(question)
    return [json.dumps(way), json.dumps(["fill A", "empty A", *way])]


def wrong(question, key):
    way, (sizes, target) = find(question), read(question)
    yield "the last move is missing", json.dumps(way[:-1])
    yield "a jug is filled in part", json.dumps([f"fill A {target}"])
    yield "moves with more words", json.dumps([*way[:-1], f"{way[-1]} again"])
    yield "a jug is poured into itself", json.dumps([*way, "pour A->A"])
    yield "a jug that is not there", json.dumps([*way, f"fill {chr(65 + len(sizes))}"])
    yield "no list but an object", json.dumps({deed: 1 for deed in way})
    yield "all jugs are empty at the end", json.dumps([*way, *(f"empty {name}" for name in sizes)])
    yield "an unknown move", json.dumps([*way, "spill A"])
    if target not in sizes.values():
        yield "one jug is filled", json.dumps(["fill A"])
