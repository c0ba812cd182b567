"""boxnet: brings each box to the nearest target of its color and plays a plan by the rules of the question."""

import ast
import json
import re
from copy import deepcopy


def read(question):
    lines = re.findall(r"Agent\[([\d.]+), ([\d.]+)\]: I am in .*?, I can observe (\[.*?\]), I can do", question)
    return {(float(x), float(y)): ast.literal_eval(items) for x, y, items in lines}


def near(field, square):
    x, y = square
    return [to for to in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)) if to in field]


def check(question, answer):
    fenced = re.fullmatch(r"```json\s(.*)```", answer, re.DOTALL)
    field = read(question)
    try:
        steps = json.loads(fenced[1] if fenced else answer, object_pairs_hook=list)
    except ValueError:
        return False
    back = {}
    for step in steps:
        agents, before, arrived = set(), deepcopy(field), []
        for who, what in step:
            agent = re.fullmatch(r"Agent\[([\d.]+), ([\d.]+)\]", who)
            square = agent and (float(agent[1]), float(agent[2]))
            move = re.fullmatch(r"move\(box_(\w+), (?:target_(\w+)|square\[([\d.]+), ([\d.]+)\])\)", what)
            if not move or square in agents or f"box_{move[1]}" not in before.get(square, []):
                return False
            agents.add(square)
            has_target = f"target_{move[1]}" in before[square]
            field[square].remove(f"box_{move[1]}")
            if move[2]:
                if move[2] != move[1] or not has_target:
                    return False
                back.pop(move[1], None)
                field[square].remove(f"target_{move[1]}")
            else:
                to = (float(move[3]), float(move[4]))
                if to not in near(field, square) or back.get(move[1]) == (square, to):
                    return False
                arrived.append((square, to, move[1]))
        for square, to, color in arrived:
            field[to].append(f"box_{color}")
            back[color] = (to, square)
    return not any(item.startswith("box_") for items in field.values() for item in items)


def route(field, start, color):
    before, edge = {start: None}, [start]
    for square in edge:
        if f"target_{color}" in field[square]:
            way = [square]
            while before[way[-1]]:
                way.append(before[way[-1]])
            return way[::-1]
        for to in near(field, square):
            if to not in before:
                before[to] = square
                edge.append(to)


def plan(question):
    """One action a step."""
    field, steps = read(question), []
    say = lambda square: f"[{square[0]}, {square[1]}]"
    boxes = [(square, item[4:]) for square, items in field.items() for item in items if item.startswith("box_")]
    boxes.sort(key=lambda box: len(route(field, *box)))
    for square, color in boxes:
        way = route(field, square, color)
        steps += [{f"Agent{say(a)}": f"move(box_{color}, square{say(b)})"} for a, b in zip(way, way[1:])]
        steps.append({f"Agent{say(way[-1])}": f"move(box_{color}, target_{color})"})
        field[way[-1]].remove(f"target_{color}")
    return steps


def merge(steps):
    """Neighboring steps of different agents at once, where the second does not wait for the first."""
    merged = []
    for step in steps:
        (who, what), = step.items()
        last = merged[-1] if merged else None
        color = re.search(r"box_(\w+),", what)[1]
        if last and who not in last and not any(f"box_{color}," in other for other in last.values()):
            last[who] = what
        else:
            merged.append(dict(step))
    return merged


def solved_at_start(question):
    return check(question, "[]")


def others(question, key):
    steps = plan(question)
    for text in (json.dumps(steps), json.dumps(merge(steps))):
        if check(question, text):
            yield from (text, f"```json\n{text}\n```")


def wrong(question, key):
    steps, field = plan(question), read(question)
    text = json.dumps(steps)
    (who, what), = steps[0].items()
    yield "a box is not at its target", json.dumps(steps[:-1])
    yield "only one step and no list", json.dumps(steps[0])
    yield "an agent has two actions", json.dumps(steps).replace("[{", f'[{{"{who}": "{what}", ', 1)
    yield "an agent has two names", json.dumps(steps).replace("[{", f'[{{"{who.replace(", ", ",")}": "{what}", ', 1)
    yield "an agent that is not there", json.dumps([*steps, {"Agent[99.5, 0.5]": "move(box_red, square[98.5, 0.5])"}])
    yield "a box that is not there", json.dumps([{who: "move(box_purple, target_purple)"}, *steps])
    yield "a box goes off the field", json.dumps([{who: re.sub(r", .*\)", ", square[-0.5, 0.5])", what)}, *steps])
    all_at_once = {name: action for step in steps for name, action in step.items()}
    if len(steps) > 1 and "square" in what:
        yield "a box takes two actions in one step", json.dumps([{**steps[0], **steps[1]}, *steps[2:]])
        yield "all actions in one step", json.dumps([all_at_once])
    if "target" in what:
        square = tuple(map(float, re.findall(r"[\d.]+", who)))
        to = near(field, square)[0]
        box, away = re.search(r"box_\w+", what)[0], f"Agent[{to[0]}, {to[1]}]"
        go = {who: f"move({box}, square[{to[0]}, {to[1]}])"}
        come = {away: f"move({box}, square[{square[0]}, {square[1]}])"}
        yield "a box is moved away from its target", json.dumps([go, come, *steps])
    far = {f"Agent[{x}, {y}]": f"move({item}, target_{item[4:]})" for (x, y), items in field.items() for item in items
           if item.startswith("box_")}
    if "square" in what:
        yield "a target in another square", json.dumps([{name: action} for name, action in far.items()])
