"""spell_backward: the letters of a word from the last to the first."""

import re


def _word(question):
    return re.search(r"\(example: sun -> nus\): (\S+)", question)[1]


def solve(question):
    return "".join(reversed(_word(question)))


def wrong(question, key):
    word = _word(question)
    if word.lower() != word.lower()[::-1]:
        yield "the word as it stands", word
    yield "a letter is missing", solve(question)[:-1]
    yield "a letter too many", solve(question) + word[0]
    yield "the answer to the example", "nus"


def solved_at_start(question):
    return _word(question).lower() == _word(question).lower()[::-1]
