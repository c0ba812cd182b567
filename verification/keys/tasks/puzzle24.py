"""puzzle24: searches all expressions of the numbers for one that is 24, and reads an answer by the rules."""

import ast
import re
from collections import Counter
from fractions import Fraction
from itertools import combinations


def read(question):
    numbers, operators = re.search(r"using ([\d, ]+)\. You can only.*operators ([^a-zA-Z]+)\.\n", question).groups()
    return [int(number) for number in numbers.split(", ")], operators.split(", ")


def combine(a, b, operators):
    (x, left), (y, right) = a, b
    if "+" in operators:
        yield x + y, f"({left} + {right})"
    if "*" in operators:
        yield x * y, f"({left} * {right})"
    if "-" in operators:
        yield x - y, f"({left} - {right})"
        yield y - x, f"({right} - {left})"
    if "/" in operators and y:
        yield x / y, f"({left} / {right})"
    if "/" in operators and x:
        yield y / x, f"({right} / {left})"


def search(terms, operators, target):
    if len(terms) == 1:
        if terms[0][0] == target:
            yield terms[0][1]
        return
    for i, j in combinations(range(len(terms)), 2):
        rest = [term for k, term in enumerate(terms) if k not in (i, j)]
        for value in combine(terms[i], terms[j], operators):
            yield from search([*rest, value], operators, target)


def find(numbers, operators, target=24):
    return next(search([(Fraction(number), str(number)) for number in numbers], operators, target), None)


def evaluate(text, operators):
    """The exact value; ValueError for what the operators cannot say."""

    def visit(node):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return Fraction(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -visit(node.operand)
        signs = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
        sign = isinstance(node, ast.BinOp) and signs.get(type(node.op))
        if sign not in operators:
            raise ValueError(text)
        a, b = visit(node.left), visit(node.right)
        return a + b if sign == "+" else a - b if sign == "-" else a * b if sign == "*" else a / b

    try:
        return visit(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(text) from error


def is_right(answer, numbers, operators, target):
    try:
        value = evaluate(answer, operators)
    except ValueError:
        return False
    return value == target and Counter(map(int, re.findall(r"\d+", answer))) == Counter(numbers)


def solve(question):
    return [] if find(*read(question)) else None


def check(question, answer):
    return is_right(answer, *read(question), 24)


def others(question, key):
    answer = find(*read(question))
    return [answer, answer[1:-1]] if answer else []


def wrong(question, key):
    numbers, operators = read(question)
    answer = find(numbers, operators)
    yield "numbers that are not given", "4 * 6 * 1 * 1" if sorted(numbers) != [1, 1, 4, 6] else "3 * 8 * 1 * 1"
    yield "a number is used twice", f"{answer} + {numbers[0]} - {numbers[0]}"
    yield "the target is in the expression", "24"
    yield "a word is added", f"{answer} = 24"
    for count in (2, 3):
        for some in combinations(numbers, count):
            few = find(some, operators)
            if few:
                yield "not all numbers are used", few
    if "/" not in operators:
        cut = next((text for text in search([(Fraction(n), str(n)) for n in numbers], "+-*/", 24) if "/" in text), None)
        if cut:
            yield "an operator that is not named", cut
