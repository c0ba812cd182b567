"""rubiks_cube: folds the drawing into a cube, turns it as an answer says and finds a way where few turns are enough."""

import re
from functools import lru_cache
from itertools import product

import numpy as np

WHY = "a cube that needs more than some four turns is not solved, only answers to it are checked"
AXES = {"L": (0, -1), "R": (0, 1), "D": (1, -1), "U": (1, 1), "B": (2, -1), "F": (2, 1)}


def read(question):
    size = int(re.search(r"(?:a|size) (\d)", question)[1])
    text = re.search(r":\n\n(.*?)\n *\n\nPlease", question, re.DOTALL)[1]
    rows = [line.split() for line in text.split("\n") if line.strip()]
    return size, rows


@lru_cache(8)
def places(size):
    """Where the stickers of the drawing are: doubled coordinates from the middle, the outer one beyond the cube."""
    line, out = [2 * k - size + 1 for k in range(size)], size + 1
    back = line[::-1]
    up = [[(x, out, z) for x in line] for z in line]
    down = [[(x, -out, z) for x in line] for z in back]
    sides = [[*((-out, y, z) for z in line), *((x, y, out) for x in line), *((out, y, z) for z in back),
              *((x, y, -out) for x in back)] for y in back]
    return [place for row in [*up, *sides, *down] for place in row]


@lru_cache(None)
def turn(size, face, first, last, is_back):
    """From where each sticker comes; layers count from the face."""
    axis, side = AXES[face]
    index = {place: k for k, place in enumerate(places(size))}
    come = list(range(len(index)))
    for place, k in index.items():
        depth = max(1, (size + 1 - min(side * place[axis], size - 1)) // 2)
        if first <= depth <= last:
            a, b = [(1, 2), (2, 0), (0, 1)][axis]
            to = list(place)
            # Clockwise for who looks at the face from outside.
            to[a], to[b] = (place[b], -place[a]) if (side > 0) != is_back else (-place[b], place[a])
            come[index[tuple(to)]] = k
    return np.array(come)


def parse(size, word):
    found = re.fullmatch(r"([2-9]?)([LRUDFB])(w?)('?)|([MES])('?)|([XYZxyz])('?)", word)
    if not found:
        return None
    layer, face, wide, back, middle, middle_back, whole, whole_back = found.groups()
    if middle:
        at = (size + 1) // 2
        return turn(size, {"M": "L", "E": "D", "S": "F"}[middle], at, at, bool(middle_back)) if size % 2 else None
    if whole:
        return turn(size, {"X": "R", "Y": "U", "Z": "F"}[whole.upper()], 1, size, bool(whole_back))
    depth = int(layer or (2 if wide else 1))
    return turn(size, face, 1 if wide else depth, depth, bool(back)) if depth <= size else None


def start(question):
    size, rows = read(question)
    return size, np.array([cell for row in rows for cell in row])


def is_done(size, colors):
    faces = {}
    for (x, y, z), color in zip(places(size), colors):
        side = next(k for k, at in enumerate((x, y, z)) if abs(at) == size + 1)
        faces.setdefault((side, (x, y, z)[side] > 0), set()).add(color)
    return all(len(face) == 1 for face in faces.values())


def check(question, answer):
    size, colors = start(question)
    for word in answer.split():
        come = parse(size, word)
        if come is None:
            return False
        colors = colors[come]
    return is_done(size, colors)


def solved_at_start(question):
    return check(question, "")


@lru_cache(2)
def find(question):
    """Breadth first: three turns and some of four, more of the smallest cube, of which three faces are enough."""
    size, colors = start(question)
    words = [face + back for face in ("RUF" if size == 2 else "LRUDFB") for back in ("", "'")]
    if size > 3:
        words += [f"{face}w{back}" for face, back in product("LRUDFB", ("", "'"))]
    seen, edge = {colors.tobytes()}, [("", colors)]
    for way, now in edge:
        if is_done(size, now):
            return way.split()
        if len(edge) < 20_000 / size**2:
            for word in words:
                new = now[parse(size, word)]
                if new.tobytes() not in seen:
                    seen.add(new.tobytes())
                    edge.append((f"{way} {word}", new))
    return None


def others(question, key):
    way = find(question)
    if way:
        yield " ".join(way)
        yield " ".join(["R", "R'", *way])
        yield " ".join(["R"] * 4 + way)


def wrong(question, key):
    way, (size, colors) = find(question), start(question)
    yield "no moves", " "
    if not way:
        return
    yield "the last turn is missing", " ".join(way[:-1])
    yield "the first turn is made three times", " ".join([way[0], way[0], *way])
    yield "steps are combined", " ".join([*way, "U2", "U'", "U'"])
    yield "steps are combined as U'2", " ".join([*way, "U'2", "U", "U"])
    inverse = [word[:-1] if "'" in word else f"{word}'" for word in way]
    for name, words in (("the inverse", inverse), *(("a word is dropped", [*way, word]) for word in
                                                   ("2R", "2R'", "R2'", "2Rw", "Q2", "3", "2U2"))):
        if not check(question, " ".join(words)):
            yield name, " ".join(words)
