"""string_insertion: inserts in one scan, all five substrings at each place, or in five scans, one for each rule."""

import re

RULE = re.compile(r"substring ([A-E]{4}) in the string, insert the character ([A-E])")


def _read(question):
    return dict(RULE.findall(question)), re.search(r"according to the pattern: ([A-E]+)", question)[1]


def solve(question):
    insertions, string = _read(question)
    once = re.sub("|".join(insertions), lambda found: found[0] + insertions[found[0]], string)
    if "\nNote: " in question:
        return once
    by_rule = string
    for substring, character in insertions.items():
        by_rule = by_rule.replace(substring, substring + character)
    return [once, by_rule]


def wrong(question, key):
    insertions, string = _read(question)
    right = re.sub("|".join(insertions), lambda found: found[0] + insertions[found[0]], string)
    every = re.sub(f"(?<=({'|'.join(insertions)}))", lambda found: insertions[found[1]], string)
    if every != right:
        yield "substrings that overlap are not skipped", every
    before = re.sub("|".join(insertions), lambda found: insertions[found[0]] + found[0], string)
    if before != right:
        yield "inserted before the substring", before
    first = re.sub("|".join(insertions), lambda found: found[0] + insertions[found[0]], string, count=1)
    if first != right:
        yield "the search ends after the first", first
    if right != string:
        yield "nothing is inserted", string
    yield "a character too many", right + "A"
