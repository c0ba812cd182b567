"""polynomial_multiplication: multiplies out and collects; a question that is so already asks for nothing."""

import re

import sympy


def read_expression(question):
    return re.search(r"(?:expression|following): (.+)", question)[1]


def expand(question):
    return sympy.expand(sympy.sympify(read_expression(question)))


def solve(question):
    return str(expand(question))


def same(a, b):
    return sympy.sympify(a) == sympy.sympify(b)


def solved_at_start(question):
    return read_expression(question) == solve(question)


def others(question, key):
    terms = [str(term) for term in sympy.Add.make_args(expand(question))]
    text = " + ".join(reversed(terms)).replace("+ -", "- ")
    return [text, solve(question).replace(" ", "")]


def wrong(question, key):
    product, given = expand(question), read_expression(question)
    if given != str(product):
        yield "not multiplied out", given
    if sympy.factor(product) != product:
        yield "factored", str(sympy.factor(product))
    yield "one too much", str(product + 1)
    if product:
        yield "another sign", str(-product)
        first, *rest = sympy.Add.make_args(product)
        tail = "".join(f" + {term}" for term in rest).replace("+ -", "- ")
        one, bare = ("-1", str(-first)) if str(first)[0] == "-" else ("1", str(first))
        if bare[0].isdigit():
            yield "a product of numbers is left", f"{one}*{bare}{tail}"
        yield "like terms are not collected", f"{2 * first} - {first}{tail}".replace("- -", "+ ")
        if rest:
            yield "a term is left out", str(product - first)
    yield "powers with ^", str(product).replace("**", "^") if "**" in str(product) else f"{product + 2}"
