"""letter_jumble: only English tells which word is meant, but it has the letters of its jumble, capitals included."""

# Common words of the same letters: a jumble of one of them alone may stand for any of them.
COMMON = "no on|saw was|how who|form from|own now won|there three|its sit|not ton|but tub|any nay|are ear era|may yam"
COMMON += "|earth heart|life file|use sue|time item|last salt|what thaw|has ash|these sheet|being begin|could cloud"

NAMES = ["Faithburn", "Korum", "Nier", "PGLAF"]


def _jumbles(question):
    return question.split("unscramble these words: ", 1)[1].split("\nNote: ")[0].split()


def _letters(word):
    return sorted(word)


def _readings(jumble):
    return [word for family in COMMON.split("|") for word in family.split() if _letters(word) == _letters(jumble)]


def solve(question):
    """None where nobody can tell: a jumble alone that has two readings, or one of a made-up name."""
    jumbles = _jumbles(question)
    if any(_letters(jumble) in map(_letters, NAMES) and jumble not in NAMES for jumble in jumbles):
        return None
    return None if len(jumbles) < 3 and any(len(_readings(jumble)) > 1 for jumble in jumbles) else []


def check(question, answer):
    jumbles, words = _jumbles(question), answer.split()
    return len(words) == len(jumbles) and all(_letters(a) == _letters(b) for a, b in zip(words, jumbles))


def wrong(question, key):
    words = key.split()
    yield "a word is missing", " ".join(words[:-1])
    yield "a word too many", f"{key} {words[0]}"
    if key != key.lower():
        yield "the capital letters are lost", key.lower()
    if words != words[::-1]:
        yield "the words are in another order", " ".join(words[::-1])
    if _jumbles(question) != words:
        yield "the question repeated", " ".join(_jumbles(question))
    yield "the letters of a word are not unscrambled", " ".join([*words[:-1], words[-1][1:] + words[-1][0] + "x"])
