"""simple_geometry: interior angles add up to (sides - 2) · 180 degrees, and each of a convex polygon is below 180."""

import re


def solve(question):
    angles = [float(digits) for digits in re.findall(r"([\d.]+)°", question)]
    sides = int(re.search(r"(\d+)(?: sides|-gon)", question)[1])
    assert len(angles) == sides - 1
    last = 180 * (sides - 2) - sum(angles)
    return f"{last:g}" if 0 < last < 180 else None


def wrong(question, key):
    answer = solve(question)
    if answer:
        yield "units are given", f"{answer}°"
        yield "not only the angle", f"The angle is {answer}"
        yield "a degree more", f"{float(answer) + 1:g}"
        yield "the sum of the interior angles is that of a polygon with a side more", f"{float(answer) + 180:g}"
