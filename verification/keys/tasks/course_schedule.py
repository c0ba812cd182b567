"""course_schedule: takes courses as long as one has all its prerequisites."""

import re


def solve(question):
    left = set(range(int(re.search(r"total of (\d+) courses", question)[1])))
    pairs = [(int(a), int(b)) for a, b in re.findall(r"\((\d+), (\d+)\)", question)]
    assert all(a in left and b in left for a, b in pairs)
    while ready := {course for course in left if not any(a == course and b in left for a, b in pairs)}:
        left -= ready
    return str(not left)


def wrong(question, key):
    yield "the other word", str(solve(question) != "True")
