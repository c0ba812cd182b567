"""letter_counting: counts a letter in both cases or as it stands, with or without those that carry an accent."""

import re
import unicodedata


def _read(question):
    return re.search(r'the letter "(.)" appear in the text: "([^"]*)"\?', question).groups()


def solve(question):
    letter, text = _read(question)
    texts = [text.lower()] if "capital and small letters count alike" in question else [text.lower(), text]
    if "letters with accents are other letters" not in question:
        texts += [unicodedata.normalize("NFD", text) for text in texts]
    return [str(text.count(letter)) for text in texts]


def wrong(question, key):
    letter, text = _read(question)
    yield "one occurrence is left out", str(int(key) - 1)
    if text.lower().count(letter) != sum(letter in word.lower() for word in text.split()):
        yield "words are counted, not letters", str(sum(letter in word.lower() for word in text.split()))
    if "capital and small letters" in question:
        yield "capital letters are not counted", str(text.count(letter))
