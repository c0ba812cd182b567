"""quantum_lock: spreads from the start over values and colors, by buttons that match the light or by all of them."""

import re

NOTE = "a button marked with a color can only be pressed while the light has that color."
RED, GREEN = "red", "green"


def parse(question):
    start, color = re.search(r"Start: (-?\d+) \((\w+)\)", question).groups()
    buttons = re.findall(r"^(\w): (Add|Subtract|Multiply) (\d+) \(when (any|red|green)\)", question, re.M)
    target = int(re.search(r"Target: (-?\d+)", question)[1])
    return int(start), color, target, {name: (kind, int(n), when) for name, kind, n, when in buttons}


def press(value, color, button, idle):
    """The next value and color; None where the button cannot be pressed. An idle press only toggles the light."""
    kind, n, when = button
    other = GREEN if color == RED else RED
    if when not in ("any", color):
        return (value, other) if idle else None
    return {"Add": value + n, "Subtract": value - n, "Multiply": value * n}[kind], other


def find_shortest(question, idle):
    """All shortest sequences, each as a word."""
    start, color, target, buttons = parse(question)
    front, seen = {(start, color): [""]}, {(start, color)}
    while front:
        done = [path for (value, _), paths in front.items() if value == target for path in paths]
        if done:
            return sorted(done)
        following = {}
        for (value, light), paths in front.items():
            for name, button in buttons.items():
                state = press(value, light, button, idle)
                if state is not None and state not in seen:
                    following.setdefault(state, []).extend(path + name for path in paths)
        seen |= set(following)
        front = following
    return []


def list_readings(question):
    plain, *note = question.split("\n\nNote: ")
    readings = [find_shortest(plain, False)]
    if note != [NOTE]:
        readings.append(find_shortest(plain, True))
    return readings


def write(path):
    return " → ".join(path)


def solve(question):
    """One of each reading, where the readings differ."""
    first, *rest = list_readings(question)
    new = [path for paths in rest for path in paths if path not in first]
    return [write(path) for path in [first[0], *new[:1]]]


def check(question, answer):
    return any(answer.replace(" → ", "") in paths for paths in list_readings(question))


def others(question, key):
    readings = list_readings(question)
    if len(readings) == 1 or set(readings[0]) == set(readings[1]):
        yield from (write(path) for path in readings[0][:5])
        yield "->".join(readings[0][-1])
        yield ", ".join(readings[0][0])


def wrong(question, key):
    _, _, _, buttons = parse(question)
    path = list_readings(question)[0][0]
    idle = [] if len(list_readings(question)) == 2 else find_shortest(question, True)[:5]
    every = "".join(buttons)
    for near in (*idle, path[:-1], path + path[-1], path[1:], path + every, every, path[0] + path):
        if not check(question, write(near)):
            yield "not the shortest or not the target", write(near)
    yield "a button that there is none of", write([*path, "D"])
    yield "presses in digits", write([f"{path[0]}2", *path[1:]])
    yield "no button", "no"
