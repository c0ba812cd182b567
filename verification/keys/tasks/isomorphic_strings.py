"""isomorphic_strings: whether equal characters stand at the same places of both strings."""


def solve(question):
    s, t = question.split("False otherwise:\n", 1)[1].split()[:2]
    return str([s.index(a) for a in s] == [t.index(b) for b in t])


def others(question, key):
    yield solve(question).lower()


def wrong(question, key):
    yield "the opposite", "False" if solve(question) == "True" else "True"
    yield "both", "True or False"
