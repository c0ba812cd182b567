"""caesar_cipher: of the 25 texts, the one that is most like English by the frequency of letters and short words."""

import math
import re

ORDER = "ETAOINSHRDLCUMWFGYPBVKJXQZ"
PER_MILLE = [127, 91, 82, 75, 70, 67, 63, 61, 60, 43, 40, 28, 28, 24, 24, 22, 20, 20, 19, 15, 10, 8, 1.5, 1.5, 1, 0.7]
LETTERS = dict(zip(ORDER, PER_MILLE))
WORDS = set(
    "A I OF TO IN IS IT BE AS AT SO WE HE BY OR ON DO IF ME MY UP AN GO NO US AM MR DR MRS THE AND FOR ARE BUT NOT YOU "
    "ALL ANY CAN HER WAS ONE OUR OUT HAS HIM HIS HOW NOW SEE TWO WHO WITH THIS THAT HAVE FROM THEY WILL "
    "SAID ASKED ADDED ANSWERED REPLIED EXCLAIMED MUTTERED REMARKED BELOW JULES".split()
)


def _cipher(question):
    return re.search(r"Decrypt this Caesar cipher text: ([^.]+)\. Provide", question)[1]


def _shift(text, by):
    return re.sub("[A-Z]", lambda found: chr((ord(found[0]) - 65 - by) % 26 + 65), text)


def _likeness(text):
    letters = re.findall("[A-Z]", text)
    known = sum(len(word) for word in text.split() if word in WORDS)
    return (sum(math.log(LETTERS[letter]) for letter in letters) + 3 * known) / len(letters)


def solve(question):
    return max((_shift(_cipher(question), by) for by in range(1, 26)), key=_likeness)


def wrong(question, key):
    right = solve(question)
    yield "the text as it stands", _cipher(question)
    yield "another shift", _shift(right, 1)
    if " " in right:
        yield "no spaces", right.replace(" ", "")
        yield "a word is missing", right.rsplit(" ", 1)[0]
    yield "more than the text", f"The decrypted text is {right}"
