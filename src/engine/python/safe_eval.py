"""Parses a model's text as data where nine of the library's scorers would run it as Python, with `eval` or sympy's `parse_expr`.

For everything that an honest answer can contain, the value is the one that those functions would return, so the score is the
same. Everything else raises, which the scorers count as a wrong answer. Text becomes a syntax tree, and the rules below turn the
tree into a value: no attributes, no subscripts, no keywords, no names except those listed. Growth is estimated before anything is
computed; what is slow without growing (sympy's `simplify`) is left to the deadline.
"""

import ast
import builtins
import importlib
import json
import operator
import os
import re
import types
from functools import partial
from itertools import accumulate

import sympy
from sympy import Add, E, Expr, Float, Function, Integer, Number, Pow, Rational, Symbol, exp, log
from sympy.parsing.sympy_parser import convert_xor, standard_transformations, stringify_expr

# The scorers in TypeScript have the same limits, which a test compares: an answer must score the same in both.
with open(os.path.join(os.path.dirname(__file__), "safe_eval_limits.json")) as limits_file:
    _LIMITS = json.load(limits_file)
# A matrix of 100 by 100, one element a line, takes 80,000.
MAX_LITERAL_CHARS = _LIMITS["literal_chars"]
# The longest answer on polynomial_multiplication's ladder takes about 10,000.
MAX_EXPRESSION_CHARS = _LIMITS["expression_chars"]
MAX_DEPTH = _LIMITS["depth"]
# sympy takes time quadratic in the terms of a sum and more for a product; a call may take a millisecond.
MAX_TERMS = _LIMITS["terms"]
MAX_FACTORS = _LIMITS["factors"]
MAX_CALLS = _LIMITS["calls"]
# In a literal: the number of `+` and `*`, and the largest number or the most leaves that one of them may produce.
MAX_OPERATORS = _LIMITS["operators"]
MAX_LEAVES = _LIMITS["leaves"]
# A double's range. The ladder's longest coefficient has 306 bits; a root of a number of 2,000 bits takes 30 ms.
MAX_BITS = _LIMITS["bits"]
MAX_FACTORIAL_ARGUMENT = _LIMITS["factorial_argument"]
MAX_FLOAT_CHARS = _LIMITS["float_chars"]


class UnsafeExpressionError(ValueError):
    """The text is not a value, or the value is too big."""


def patch_library():
    """Installs the parsers in the nine scorers. The last three also parse the item's own text with them; the limits allow for it.
    Two more `eval` calls of the library stay, because they only read the item's text: number_sorting and bitwise_arithmetic."""
    for module, name, reader in (
        ("algorithmic.binary_matrix", "eval", parse_literal),
        ("algorithmic.spiral_matrix", "eval", parse_literal),
        ("algorithmic.string_insertion", "eval", parse_literal),
        ("games.n_queens", "eval", parse_literal),
        ("games.countdown", "parse_expr", parse_number),
        ("games.puzzle24", "parse_expr", parse_number),
        ("algebra.polynomial_multiplication", "sp", _sympy_with(parse_expression)),
        ("algebra.simple_integration", "sympy", _sympy_with(parse_antiderivative)),
        ("algebra.intermediate_integration", "sympy", _sympy_with(parse_antiderivative)),
    ):
        setattr(importlib.import_module(f"reasoning_gym.{module}"), name, reader)


def _sympy_with(parse_expr):
    return types.SimpleNamespace(**{**vars(sympy), "parse_expr": parse_expr})


def parse_literal(text):
    """Replaces `eval` for Python literals. Small sums and products are allowed: `["_"] * 3 + ["Q"]`."""
    _require_shape(text, MAX_LITERAL_CHARS)
    _require(text.count("+") + text.count("*") <= MAX_OPERATORS, "too many operators")
    return _evaluate_literal(_parse_tree(text))


def parse_expression(text, local_dict=None, transformations=standard_transformations):
    """Replaces sympy's `parse_expr`. sympy's own rules tokenize the text and resolve names; only their last step, `eval` of the
    generated code, is replaced. As there, `1 == 2` gives a bool and a quoted text a str."""
    _require_shape(text, MAX_EXPRESSION_CHARS)
    _require(text.count("(") + text.count("!") <= MAX_CALLS, "too many calls")
    if "'" in text or '"' in text:
        value = parse_literal(text.strip())
        _require(isinstance(value, str), "a string inside an expression")
        return value
    names = local_dict or {}
    return _require_bounded(_evaluate(_parse_tree(stringify_expr(text, names, _KNOWN_NAMES, transformations)), names))


def parse_number(text):
    """Parses an expression for `float` and `int`. Those raise as well, but take long to search for the value of log(y**1000)."""
    value = parse_expression(text)
    _require(not isinstance(value, Expr) or (not value.free_symbols and value.evalf().is_Number), "not a real number")
    return value


def parse_antiderivative(text, local_dict=None):
    """Parses an expression for `sympy.diff`, which must never receive text, since it would run it. Like `diff`, this parses a quoted
    answer a second time and reads `^` in it as a power."""
    value = parse_expression(text, local_dict)
    if isinstance(value, str):
        value = parse_expression(value.replace("\n", ""), transformations=(*standard_transformations, convert_xor))
    _require(not isinstance(value, str), "quoted twice")
    return value


def _require_shape(text, max_chars):
    _require(len(text) <= max_chars, "too long")
    depths = accumulate(1 if bracket in "([{" else -1 for bracket in re.findall(r"[][(){}]", text))
    _require(max(depths, default=0) <= MAX_DEPTH, "too deep")


def _require(condition, message):
    if not condition:
        raise UnsafeExpressionError(message)


def _parse_tree(code):
    return ast.parse(code.lstrip(" \t"), mode="eval").body  # eval also skips leading blanks


def _evaluate_literal(node):
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple() | ast.Set():
            return {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)](map(_evaluate_literal, node.elts))
        case ast.Dict():
            return {_evaluate_literal(key): _evaluate_literal(value) for key, value in zip(node.keys, node.values)}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            return _UNARY_OPERATORS[type(node.op)](_evaluate_literal(node.operand))
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
            left, right = _evaluate_literal(node.left), _evaluate_literal(node.right)
            joined = operator.mul if isinstance(node.op, ast.Mult) else operator.add
            _require(joined(_count_leaves(left), _count_leaves(right)) <= MAX_LEAVES, "too big")
            return _BINARY_OPERATORS[type(node.op)](left, right)
    raise UnsafeExpressionError(f"no {type(node).__name__} in a literal")


def _count_leaves(value):
    if isinstance(value, (list, tuple, set, dict)):
        return 1 + sum(map(_count_leaves, value))
    return max(1, len(value) if isinstance(value, (str, bytes)) else abs(value))


def _evaluate(node, names):
    match node:
        case ast.BinOp():
            return _evaluate_chain(node, names)
        case ast.Call(keywords=[]):
            return _require_size(_evaluate_call(node, names))
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name) if name in _CONSTANTS:
            return getattr(sympy, name)
        case ast.Constant(value=True | False | None):
            return node.value
        case ast.UnaryOp() if type(node.op) in _UNARY_OPERATORS:
            return _UNARY_OPERATORS[type(node.op)](_evaluate(node.operand, names))
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()]):
            same = _evaluate(node.left, names) == _evaluate(node.comparators[0], names)
            return same is isinstance(node.ops[0], ast.Eq)
        case ast.BoolOp():  # an answer with two alternatives: `4*6 or 6*4`
            for part in node.values:
                value = _evaluate(part, names)
                if bool(value) is isinstance(node.op, ast.Or):
                    break
            return value
    raise UnsafeExpressionError(f"no {type(node).__name__} in an expression")


def _evaluate_chain(node, names):
    """Evaluates terms and factors from left to right, as Python does, without recursing once per term."""
    steps = []
    while isinstance(node, ast.BinOp):
        steps.append(node)
        node = node.left
    factors = sum(isinstance(step.op, ast.Mult | ast.Div) for step in steps)
    _require(factors <= MAX_FACTORS and len(steps) <= MAX_TERMS, "too many terms or factors")
    value = _evaluate(node, names)
    for step in reversed(steps):
        _require(type(step.op) in _BINARY_OPERATORS, "no such operator")
        value = _require_size(_BINARY_OPERATORS[type(step.op)](value, _evaluate(step.right, names)))
    return value


def _evaluate_call(node, names):
    match node:  # sympy's rules generate the first four; only there a bare str or int may appear
        case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(name))]):
            return Symbol(name)
        case ast.Call(func=ast.Name(id="Integer"), args=[ast.Constant(value=int(number))]):
            return Integer(number)
        case ast.Call(func=ast.Name(id="Float"), args=[ast.Constant(value=str(number))]):
            exponent = number.lower().partition("e")[2] or "0"
            _require(len(number) <= MAX_FLOAT_CHARS and abs(int(exponent)) <= MAX_FLOAT_CHARS, "number too long")
            return Float(number)
        case ast.Call(func=ast.Call(func=ast.Name(id="Function"), args=[ast.Constant(value=str(name))])):
            return Function(name)(*[_evaluate(argument, names) for argument in node.args])
        case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS and name not in names:
            return _FUNCTIONS[name](*[_require_bounded(_evaluate(argument, names)) for argument in node.args])
    raise UnsafeExpressionError("no such function")


def _estimate_bits(value):
    """Estimates how many bits the largest number of the expression would have if its powers were multiplied out."""
    match value:
        case Rational():
            return (abs(value.p) | value.q).bit_length() - 1
        case Float():
            return abs(value._mpf_[2] + value._mpf_[3])
        case Pow() | exp():
            return max(1, _estimate_bits(value.base)) * _exponent_reach(value.exp)
    return max(map(_estimate_bits, value.args), default=1)


def _exponent_reach(exponent):
    """The largest factor by which the exponent multiplies the bits of its base."""
    if not exponent.is_number:
        return max(map(_exponent_reach, exponent.atoms(Number)), default=1)
    if isinstance(exponent, Rational):
        return -(-abs(exponent.p) // exponent.q)
    return int(abs(complex(_require_bounded(exponent).evalf(2)))) + 1


def _require_size(value):
    """Returns the value unless a coefficient of its terms exceeds the limit."""
    if isinstance(value, Expr):
        for term in value.args if isinstance(value, Add) else (value,):
            _require(_estimate_bits(term.as_coeff_Mul()[0]) <= MAX_BITS, "number too big")
    return value


def _require_bounded(value):
    """Returns the value unless it is a constant such as exp(exp(99)), which is short to write and too long to write out."""
    if isinstance(value, Expr) and value.is_number and not isinstance(value, Number):
        for part in value.evalf(2).atoms(Float):
            _require(_estimate_bits(part) <= 2 * MAX_BITS, "constant too big")  # room for exp(MAX_BITS)
    return value


def _bounded_power(base, exponent):
    base, exponent = _require_bounded(sympy.sympify(base)), _require_bounded(sympy.sympify(exponent))
    weight = 0 if base is E and not exponent.is_number else _estimate_bits(base)
    if exponent.has(log):  # exp(9*log(2*x)) becomes (2*x)**9
        weight += max(1, _estimate_bits(exponent))
    _require(weight == 0 or weight * _exponent_reach(exponent) <= MAX_BITS, "power too big")
    _require(not isinstance(exponent, Rational) or exponent.q <= MAX_BITS, "exponent denominator too big")
    return base**exponent


def _bounded_factorial(function, argument):
    _require(not argument.is_number or isinstance(argument, Integer) and argument <= MAX_FACTORIAL_ARGUMENT, "factorial too big")
    return function(argument)


def _bounded_binary(kind, function):
    def bounded(left, right):
        _require(isinstance(left, kind) and isinstance(right, kind), "operator not defined for these operands")
        return function(left, right)

    return bounded


_UNARY_OPERATORS = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
_BINARY_OPERATORS = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: _bounded_power},
    **{ast.Mod: _bounded_binary(Number, operator.mod), ast.FloorDiv: _bounded_binary(Number, operator.floordiv)},
    **{ast.BitXor: _bounded_binary(Integer, operator.xor), ast.BitAnd: _bounded_binary(Integer, operator.and_)},  # `2^3` is 1, as in sympy
    ast.BitOr: _bounded_binary(Integer, operator.or_),
}
_CONSTANTS = {"E", "I", "pi", "oo", "zoo", "nan", "true", "false", "EulerGamma", "GoldenRatio", "Catalan"}
_TRIGONOMETRIC = [f"{a}{f}{h}" for a in ("", "a") for f in ("sin", "cos", "tan", "cot", "sec", "csc") for h in ("", "h")]
_PASSED_THROUGH = [*_TRIGONOMETRIC, "log", "ln", "sqrt", "cbrt", "Abs", "sign", "floor", "ceiling", "Integer", "Rational", "Integral"]
# `Integral` occurs in the item's own answer where sympy found no closed form: in one of 24 items of intermediate_integration.
_FUNCTIONS = {
    **{name: getattr(sympy, name) for name in _PASSED_THROUGH},
    **{"abs": sympy.Abs, "S": sympy.sympify, "pow": _bounded_power, "Pow": _bounded_power},
    **{"exp": lambda argument: _bounded_power(E, argument), "root": lambda base, n: _bounded_power(base, 1 / n)},
    **{name: partial(_bounded_factorial, getattr(sympy, name)) for name in ("factorial", "factorial2")},
}
# The names that `parse_expr` knows: any other name is a symbol or an undefined function.
_BUILTINS = {name: known for name, known in vars(builtins).items() if isinstance(known, types.BuiltinFunctionType)}
_KNOWN_NAMES = {**{name: getattr(sympy, name) for name in sympy.__all__}, **_BUILTINS, "max": sympy.Max, "min": sympy.Min}
