"""ransom_note: whether the magazine has each letter of the note as often as the note has."""

import re


def solve(question):
    note, magazine = re.search(r"Ransom note: (\w+)\s+Magazine: (\w+)", question).groups()
    return str(all(note.count(letter) <= magazine.count(letter) for letter in set(note)))


def others(question, key):
    yield solve(question).lower()


def wrong(question, key):
    yield "the opposite", "False" if solve(question) == "True" else "True"
    yield "both", "True or False"
