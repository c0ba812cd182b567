"""knights_knaves: reads the statements with a grammar of its own, and tries all ways to give out the two roles."""

import re
from itertools import product

def parse(question):
    people = re.search(r"inhabitants: (.+?)\. ", question)[1].replace(", and ", ", ").split(", ")
    true_role, false_role = re.search(r"So who is an? (\w+) and who is an? (\w+)\?", question).groups()
    body = question.split("inhabitants: ")[1].split(". ", 1)[1].split(" So who is ")[0]
    names = "|".join(people)
    logic = r"[\w(][\w\s()]*"
    statements = {}
    for pattern in (
        rf'"({logic})[,"]+ ?(?:- )?({names})\b',  # the speaker stands behind
        rf'({names})\b[^".()]*?[,:] "({logic})',
        rf"({names}) (?:said|told you|expressed) that ({logic})\.",
    ):
        for found in re.finditer(pattern, body):
            one, two = found.groups()
            speaker, text = (one, two) if one in people else (two, one)
            statements.setdefault(speaker, text)
    assert set(statements) == set(people), (statements, people, body)
    return people, (true_role, false_role), [(name, statements[name]) for name in people]


def evaluate(text, truthful, true_role):
    """A formula of parts in parentheses or of the form `NAME is a ROLE`, with one kind of word between them."""
    tokens = re.findall(r"\(|\)|if and only if|it is not the case that|\w+ is an? \w+|\w+", text)
    at = 0

    def part():
        nonlocal at
        token = tokens[at]
        at += 1
        if token == "(":
            value = whole()
            assert tokens[at] == ")"
            at += 1
            return value
        if token == "it is not the case that":
            return not part()
        name, role = re.fullmatch(r"(\w+) is an? (\w+)", token).groups()
        return truthful[name] == (role == true_role)

    def whole():
        nonlocal at
        if tokens[at] == "if":
            at += 1
            condition = part()
            assert tokens[at] == "then"
            at += 1
            result = part()
            return not condition or result
        values, words = [part()], set()
        while at < len(tokens) and tokens[at] != ")":
            words.add(tokens[at])
            at += 1
            values.append(part())
        if not words:
            return values[0]
        [word] = words
        return {"and": all, "or": any, "if and only if": lambda pair: pair[0] == pair[1]}[word](values)

    value = whole()
    assert at == len(tokens), (text, tokens, at)
    return value


def solve(question):
    people, roles, statements = parse(question)
    found = []
    for truths in product([True, False], repeat=len(people)):
        truthful = dict(zip(people, truths))
        if all(evaluate(text, truthful, roles[0]) == truthful[name] for name, text in statements):
            found.append(write(truthful, roles))
    return found or None


def write(truthful, roles):
    parts = [f"{name} is {article(roles[not truth])}" for name, truth in truthful.items()]
    return f"{', '.join(parts[:-1])}, and {parts[-1]}."


def article(role):
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"


def others(question, key):
    """In the format that the question shows: `a` before vowels, and no period."""
    for answer in solve(question):
        yield re.sub(r"\ban\b", "a", answer).rstrip(".")


def wrong(question, key):
    people, roles, _ = parse(question)
    right = solve(question)[0]
    parts = right.rstrip(".").replace(", and ", ", ").split(", ")
    flip = {roles[0]: roles[1], roles[1]: roles[0]}
    for k, name in enumerate(people):
        role = parts[k].split()[-1]
        yield "one role is the other", ", ".join([*parts[:k], f"{name} is {article(flip[role])}", *parts[k + 1 :]])
    yield "one is left out", ", ".join(parts[:-1])
    yield "a stranger", f"{right} Zelda is {article(roles[0])}."
    yield "both roles", ", ".join(f"{part} and {article(flip[part.split()[-1]])}" for part in parts)
    yield "both roles, without a word between", ", ".join(f"{part} {flip[part.split()[-1]]}" for part in parts)
    yield "or", f"{right} Or {parts[0].split()[0]} is {article(flip[parts[0].split()[-1]])}."
    yield "denied", f"It is not true that {right}"
    yield "denied behind", f"{right} That is false."
    yield "denied with a colon", f"False: {right}"
    yield "the format itself", re.search(r'like: "(.+)"\)', question)[1]
