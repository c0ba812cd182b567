"""The two integration tasks: antiderivatives by sympy; the slope of an answer is compared at real points."""

import re

import sympy
from sympy.simplify.fu import TR8

HUNDREDTHS = (7, 17, 31, 62, 137, 533, 983, 1117, 1230, 1570, 2390)
POINTS = [sympy.Rational(sign * n, 100) for n in HUNDREDTHS for sign in (1, -1)]


def parse(question):
    """The integrand and the variables over which it may be meant to be integrated."""
    integrand = sympy.sympify(re.search(r"∫ (.+) dx", question)[1])
    small, capital = sympy.symbols("x X")
    if not integrand.has(capital):
        return integrand, [small]
    return integrand, [capital] if "\nNote: " in question else [capital, small]


def is_antiderivative(integrand, variable, answer):
    if "Integral" in answer:
        return False
    real = sympy.Symbol("real", real=True)
    names = {"C": sympy.Symbol("C"), variable.name: real}
    slope = sympy.diff(sympy.sympify(answer, locals=names), real)
    near = []
    for point in POINTS:
        value, given = sympy.N(integrand.subs(variable, point), 30), sympy.N(slope.subs(real, point), 30)
        if value.is_real and abs(value) < 10**12 and given.is_real:
            near.append(abs(value - given) <= 10**-15 * (1 + abs(value)))
    return len(near) >= 4 and all(near)


def solve(question):
    integrand, variables = parse(question)
    return [f"{sympy.integrate(integrand, variable)} + C" for variable in variables]


def check(question, answer):
    integrand, variables = parse(question)
    return is_antiderivative(integrand, variables[0], answer)


def same(a, b):
    return sympy.expand(sympy.sympify(a) - sympy.sympify(b)) == 0


def others(question, key):
    integrand, (variable, *_) = parse(question)
    result = sympy.integrate(integrand, variable)
    text = str(result)
    forms = {text, f"{text} + c", f"{sympy.factor(result)} + C"}
    if "**" not in str(integrand):  # of powers, sympy takes a minute to see it
        forms.add(f"{TR8(sympy.expand(result))} + C")
    forms.add(re.sub(r"log\(([^()]*)\)", r"log(abs(\1))", text) + " + C")
    forms.add(re.sub(r"log\(x\*\*(\d)\)", r"\1*log(x)", text) + " + C")
    forms.add(re.sub(r"(?<![a-z])sqrt\(([^()]*)\)", r"(\1)**0.5", text) + " + C")
    forms.add(re.sub(r"(?<![a-z])\(([^()]*)\)\*\*\(3/2\)", r"sqrt((\1)**3)", text) + " + C")
    return sorted(form for form in forms if is_antiderivative(integrand, variable, form))


def wrong(question, key):
    integrand, (variable, *_) = parse(question)
    result = sympy.integrate(integrand, variable)
    yield "the integral is written again", f"Integral({integrand}, {variable}) + C"
    yield "a factor of the integral is taken out", f"3*Integral(({integrand})/3, {variable}) + C"
    yield "the integral without its variable", f"Integral({integrand})"
    if sympy.simplify(integrand) != 0:
        if not integrand.has(sympy.sin, sympy.cos):
            yield "the integrand is written again", f"{integrand} + C"
            yield "the derivative", f"{sympy.diff(integrand, variable)} + C"
        yield "another sign", f"{-result} + C"
        yield "a term too many", f"{result} + {variable} + C"
        yield "^ is no power", f"{result} + C".replace("**", "^") if "**" in str(result) else "0"
