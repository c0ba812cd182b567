"""mahjong_puzzle: plays all rounds and judges the card of the last one by the numbered rules."""

import re
from collections import Counter


def play(question):
    """The hand before the last card, and this card."""
    hand = Counter(re.search(r"the initial cards ([A-Z]+),", question)[1])
    rounds = re.findall(r"Round \d+: Add an? ([A-Z]) card and remove an? ([A-Z]) card\.", question)
    for added, removed in rounds[:-1]:
        hand[added] += 1
        hand[removed] -= 1
    return hand, rounds[-1][0]


def is_run(hand, card):
    place = ord(card)
    return any(all(hand[chr(place + step)] > 0 for step in steps) for steps in ((-2, -1), (-1, 1), (1, 2)))


def solve(question):
    hand, card = play(question)
    if hand[card] >= 2:
        return "Peng"
    return "Chi" if is_run(hand, card) else "Pass"


def wrong(question, key):
    right = solve(question)
    for answer in {"Peng", "Chi", "Pass"} - {right}:
        yield f"{right} is not seen", answer
    yield "several results", "Peng, Chi, or Pass"
