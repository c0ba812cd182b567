"""color_cube_rotation: turns a cube of colors; a half turn may go over the front or over the right."""

import re

SIDES = ("top", "right", "front", "left", "back", "bottom")
OPPOSITE = {"top": "bottom", "bottom": "top", "front": "back", "back": "front", "left": "right", "right": "left"}
TURN = re.compile(
    r"which was before at the (\w+) is now|bring the (\w+) side to|make the (\w+) face the|place its (\w+) side at|"
    r"the (\w+) side is rotated to become"
)


def bring_up(cube, side):
    """A quarter turn round the axis that joins the two sides that stay."""
    turned = dict(cube)
    turned["top"], turned[OPPOSITE[side]] = cube[side], cube["top"]
    turned["bottom"], turned[side] = cube[OPPOSITE[side]], cube["bottom"]
    return turned


def solve(question):
    question, _, note = question.partition("\nNote: ")
    cube = {side: color for color, side in re.findall(r"- an? (\w+) (\w+) side", question)}
    assert set(cube) == set(SIDES)
    over = ("front",) if "front and back" in note else ("front", "right")
    cubes = [cube]
    for turn in TURN.finditer(question):
        side = next(filter(None, turn.groups()))
        if side == "bottom":
            turned = [bring_up(bring_up(cube, way), way) for cube in cubes for way in over]
        else:
            turned = [bring_up(cube, side) for cube in cubes]
        cubes = [dict(cube) for cube in {tuple(sorted(cube.items())) for cube in turned}]
    asked = re.search(r"now the color of the (\w+) side", question)[1]
    return sorted({cube[asked] for cube in cubes})


def wrong(question, key):
    others = re.findall(r"- an? (\w+) \w+ side", question)
    answers = solve(question)
    yield "the color of another side", next(color for color in others if color not in answers)
    for answer in solve(question.split("\nNote: ")[0]):
        if answer not in answers:
            yield "over the right, not the front", answer
    yield "not only the color", f"{others[0]} or {others[1]}"
