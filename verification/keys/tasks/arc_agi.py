"""arc_agi: checks the form of the key against the examples."""

from tasks import _boards as boards

WHY = "Each puzzle has its own rule, which people found and no program does: only the form of the answers is checked."


def check(question, answer):
    return boards.has_form(question, answer)


def wrong(question, key):
    return boards.near_misses(question, key)
