"""propositional_logic: looks for the shortest clause that all premises together entail, and that none of them says."""

import re
from itertools import combinations, product


class Table(tuple):
    """The truth of a formula in each world; → and ↔ are written as >> and ^."""

    def __invert__(self):
        return Table(not bit for bit in self)

    def __and__(self, other):
        return Table(a and b for a, b in zip(self, other))

    def __or__(self, other):
        return Table(a or b for a, b in zip(self, other))

    def __rshift__(self, other):
        return ~self | other

    def __xor__(self, other):
        return Table(a == b for a, b in zip(self, other))


def parse(question):
    premises = re.findall(r"^\.?\d+\. (.+)$", question, re.M)
    names = sorted(set(re.findall(r"[A-Z]", " ".join(premises))))
    worlds = list(product([False, True], repeat=len(names)))
    columns = {name: Table(world[k] for world in worlds) for k, name in enumerate(names)}
    return premises, columns


def evaluate(formula, columns):
    """The formulas have all parentheses but those after ¬, which binds the most, as ~ does."""
    signs = str.maketrans({"¬": "~", "∧": "&", "∨": "|", "→": ">>", "↔": "^"})
    return eval(formula.translate(signs), {}, columns)


def write_clause(literals):
    first, *rest = literals
    return f"({first} ∨ {write_clause(rest)})" if rest else first


def list_conclusions(question):
    """Clauses of up to three literals: no shorter one of the same literals follows, and no premises say just that."""
    premises, columns = parse(question)
    tables = [evaluate(premise, columns) for premise in premises]
    known = Table(map(all, zip(*tables)))
    if not any(known):
        return
    bare = [text for text in premises if not re.search("[∨→↔]|¬[(¬]", text)]
    said_plainly = set(re.findall("¬?[A-Z]", " ".join(bare)))
    literals = [sign + name for name in columns for sign in ("", "¬")]
    followed = []
    for size in (1, 2, 3):
        for chosen in combinations(literals, size):
            if len({literal[-1] for literal in chosen}) < size or any(set(less) <= set(chosen) for less in followed):
                continue
            clause = evaluate(write_clause(chosen), columns)
            if not all(known >> clause):
                continue
            followed.append(chosen)
            weaker = [other for other in tables if all(clause >> other)]
            is_said = chosen[0] in said_plainly if size == 1 else Table(map(all, zip(*weaker))) == clause
            if not is_said:
                yield write_clause(chosen)


def solve(question):
    """None where the premises contradict each other, or where no such clause follows."""
    return next(list_conclusions(question), None)


def others(question, key):
    found = list(list_conclusions(question))[:6]
    yield from found
    new = [literal for literal in found if len(literal) < 3]
    if len(new) > 1:
        yield f"({new[0]} ∧ {new[1]})"
    pair = next((conclusion for conclusion in found if re.fullmatch(r"\([A-Z] ∨ ¬?[A-Z]\)", conclusion)), None)
    if pair is not None:
        yield pair[1:-1]
        yield f"(¬{pair[1]} → {pair[5:-1]})"


def wrong(question, key):
    premises, columns = parse(question)
    known = evaluate(" ∧ ".join(premises), columns)
    name = next(iter(columns))
    yield "a premise", premises[0]
    yield "always true", f"({name} ∨ ¬{name})"
    yield "never true", f"({name} ∧ ¬{name})"
    yield "all premises", " ∧ ".join(premises)
    for literal in (sign + name for name in columns for sign in ("", "¬")):
        if not all(known >> evaluate(literal, columns)):
            yield "does not follow", literal
