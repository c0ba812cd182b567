"""aiw: counts the sisters, friends and colleagues, the woman asked about left out and the woman told about put in."""

import re


def solve(question):
    return [str(count) for count in count_readings(question)] or None


def count_readings(question):
    plain, *note = question.split("\n\nNote: ")
    numbers = {what: int(n) for n, what in re.findall(r"(\d+) (brothers|sisters|female friends)", plain)}
    if "brothers" in numbers:
        she, he = plain.split(" has ")[0], re.search(r"does (\w+)'s brother", plain)[1]
        count = numbers["sisters"] + 1
        if he == she or note == [f"{he} is one of {she}'s brothers."]:
            return [count]
        # Nothing says who he is; and where she has but one brother, he is not that brother's brother.
        return [count, "unknown"] if numbers["brothers"] > 1 else []
    if "female friends" in numbers:
        return [numbers["female friends"] + 1]
    hers, his = [int(n) for n in re.findall(r"(\d+) female colleagues", plain)]
    # Matilda is one of the women of both circles, and all of a circle are her colleagues; or in his circle only he is.
    both = hers - 1 + 1 + his - 1
    is_settled = note and re.fullmatch(rf"Matilda is one of .+'s {hers} .+ and one of .+'s {his} female .+", note[0])
    return [both] if is_settled else [both, hers]


def wrong(question, key):
    right = [str(count) for count in count_readings(question)]
    told = [int(number) for number in re.findall(r"(\d+) (?:sisters|female)", question)]
    near = {"herself not counted": told[0], "counted twice": told[0] + 1, "all added": sum(told), "more": sum(told) + 1}
    yield from ((rule, str(count)) for rule, count in near.items() if right and str(count) not in right)
