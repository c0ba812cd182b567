"""tower_of_hanoi: finds ways with three of the pegs and follows an answer by the rules of the question."""

import re


def read(question):
    disks, pegs = re.search(r"with (\d+) disks and (\d+) pegs", question).groups()
    start, target = re.search(r"from Peg (\d+) to Peg (\d+) following", question).groups()
    return int(disks), int(pegs), int(start), int(target)


def check(question, answer):
    disks, pegs, start, target = read(question)
    towers = {peg: [] for peg in range(1, pegs + 1)}
    towers[start] = list(range(disks, 0, -1))
    for line in answer.splitlines():
        found = re.fullmatch(r"Move disk (\d+) from Peg (\d+) to Peg (\d+)", line)
        disk, source, goal = map(int, found.groups()) if found else (0, 0, 0)
        if source == goal or source not in towers or goal not in towers or towers[source][-1:] != [disk]:
            return False
        if towers[goal] and towers[goal][-1] < disk:
            return False
        towers[goal].append(towers[source].pop())
    return len(towers[target]) == disks


def solved_at_start(question):
    return check(question, "")


def move(disk, source, goal, spare):
    if disk:
        yield from move(disk - 1, source, spare, goal)
        yield f"Move disk {disk} from Peg {source} to Peg {goal}"
        yield from move(disk - 1, spare, goal, source)


def ways(question):
    """Ways through one other peg, and one by way of it: longer, and as legal."""
    disks, pegs, start, target = read(question)
    spare = next(peg for peg in range(1, pegs + 1) if peg not in (start, target))
    detour = [*move(disks, start, spare, target), *move(disks, spare, target, start)]
    return list(move(disks, start, target, spare)), detour


def others(question, key):
    return ["\n".join(way) for way in ways(question)]


def wrong(question, key):
    disks, pegs, start, target = read(question)
    spare = next(peg for peg in range(1, pegs + 1) if peg not in (start, target))
    way, detour = ways(question)
    yield "the last move is missing", "\n".join(way[:-1])
    yield "the disks end on another peg", "\n".join(move(disks, start, spare, target))
    say = lambda disk, source, goal: f"Move disk {disk} from Peg {source} to Peg {goal}"
    if disks > 1:
        all_over = [say(disk, start, target) for disk in range(1, disks + 1)]
        yield "a larger disk is on a smaller one", "\n".join(all_over)
    away = [say(1, target, pegs + 1), say(1, pegs + 1, target)]
    yield "a peg that is not there", "\n".join([*way, *away])
    yield "a disk that is not on top moves", "\n".join([*way, f"Move disk {disks} from Peg {start} to Peg {target}"])
    yield "a move from a peg to itself", "\n".join([*way, f"Move disk 1 from Peg {target} to Peg {target}"])
    yield "a move is not counted", "\n".join([way[0], *way])
    if disks > 1 and pegs == 10:
        yield "a peg is written as 1_0", "\n".join(f"{line}_0" for line in all_over)
