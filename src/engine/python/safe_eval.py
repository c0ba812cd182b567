"""Reads a model's text as data where nine of the library's scorers would run it as Python: `eval` and sympy's `parse_expr`.

For whatever an honest answer may hold the value is the one that those would give, so the score is the same. Anything
else raises, which the scorers count as a wrong answer. Text becomes a syntax tree, and the tree becomes a value by the
rules below and nothing else: no attributes, no subscripts, no keywords, no names but those listed. What would grow is
measured before it is computed; what is slow without growing (sympy's `simplify`) is left to the deadline.
"""

import ast
import builtins
import importlib
import operator
import re
import types
from functools import partial
from itertools import accumulate

import sympy
from sympy import Add, E, Expr, Float, Function, Integer, Number, Pow, Rational, Symbol, exp, log
from sympy.parsing.sympy_parser import convert_xor, standard_transformations, stringify_expr

# A matrix of 100 by 100, one element a line, takes 80,000.
MAX_LITERAL_CHARS = 131_072
# The longest answer on polynomial_multiplication's ladder takes about 10,000.
MAX_EXPRESSION_CHARS = 16_384
MAX_DEPTH = 50
# A sum takes sympy time by the square of its terms, a product by more; a call may take a millisecond.
MAX_TERMS = 1000
MAX_FACTORS = 100
MAX_CALLS = 200
# In a literal: how many `+` and `*`, and how large a number or how many leaves one of them may give.
MAX_OPERATORS = 200
MAX_LEAVES = 10_000
# A double's range. The ladder's longest coefficient has 306 bits; a root of a number of 2,000 bits takes 30 ms.
MAX_BITS = 1024
MAX_FACTORIAL_OF = 170
MAX_FLOAT_CHARS = 400


class Refused(ValueError):
    """The text is no value, or too big a one."""


def install():
    """Puts the readers into the nine scorers. The last three read the item's own text in the same way; the bounds leave it
    room. Two more `eval`s of the library stay, for an item's text is all they read: number_sorting's and bitwise_arithmetic's."""
    for module, name, reader in (
        ("algorithmic.binary_matrix", "eval", read_literal),
        ("algorithmic.spiral_matrix", "eval", read_literal),
        ("algorithmic.string_insertion", "eval", read_literal),
        ("games.n_queens", "eval", read_literal),
        ("games.countdown", "parse_expr", read_number),
        ("games.puzzle24", "parse_expr", read_number),
        ("algebra.polynomial_multiplication", "sp", _sympy_with(read_expression)),
        ("algebra.simple_integration", "sympy", _sympy_with(read_antiderivative)),
        ("algebra.intermediate_integration", "sympy", _sympy_with(read_antiderivative)),
    ):
        setattr(importlib.import_module(f"reasoning_gym.{module}"), name, reader)


def _sympy_with(parse_expr):
    return types.SimpleNamespace(**{**vars(sympy), "parse_expr": parse_expr})


def read_literal(text):
    """The value of a Python literal, in place of `eval`. Small sums and products count: `["_"] * 3 + ["Q"]`."""
    _check_shape(text, MAX_LITERAL_CHARS)
    _check(text.count("+") + text.count("*") <= MAX_OPERATORS, "too many operators")
    return _literal(_tree(text))


def read_expression(text, local_dict=None, transformations=standard_transformations):
    """The sympy object that the text means, in place of `parse_expr`. Tokens and names are read by sympy's own rules; only
    their last step, `eval` of the code that they write, is another. As there, `1 == 2` is a bool and a quoted text a str."""
    _check_shape(text, MAX_EXPRESSION_CHARS)
    _check(text.count("(") + text.count("!") <= MAX_CALLS, "too many calls")
    if "'" in text or '"' in text:
        value = read_literal(text.strip())
        _check(isinstance(value, str), "a string inside an expression")
        return value
    names = local_dict or {}
    return _modest(_value(_tree(stringify_expr(text, names, _KNOWN, transformations)), names))


def read_number(text):
    """An expression for `float` and `int`. They would raise as well, but look a long time for the value of log(y**1000)."""
    value = read_expression(text)
    _check(not isinstance(value, Expr) or (not value.free_symbols and value.evalf().is_Number), "no real number")
    return value


def read_antiderivative(text, local_dict=None):
    """An expression for `sympy.diff`, which no text may reach: it would run it. As it would, this reads a quoted answer
    again, and takes `^` for a power there."""
    value = read_expression(text, local_dict)
    if isinstance(value, str):
        value = read_expression(value.replace("\n", ""), transformations=(*standard_transformations, convert_xor))
    _check(not isinstance(value, str), "quoted twice")
    return value


def _check_shape(text, max_chars):
    _check(len(text) <= max_chars, "too long")
    depths = accumulate(1 if bracket in "([{" else -1 for bracket in re.findall(r"[][(){}]", text))
    _check(max(depths, default=0) <= MAX_DEPTH, "too deep")


def _check(holds, why):
    if not holds:
        raise Refused(why)


def _tree(code):
    return ast.parse(code.lstrip(" \t"), mode="eval").body  # eval, too, passes over blanks in front


def _literal(node):
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple() | ast.Set():
            return {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)](map(_literal, node.elts))
        case ast.Dict():
            return {_literal(key): _literal(value) for key, value in zip(node.keys, node.values)}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            return _UNARY[type(node.op)](_literal(node.operand))
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
            left, right = _literal(node.left), _literal(node.right)
            joined = operator.mul if isinstance(node.op, ast.Mult) else operator.add
            _check(joined(_leaves(left), _leaves(right)) <= MAX_LEAVES, "too big")
            return _BINARY[type(node.op)](left, right)
    raise Refused(f"no {type(node).__name__} in a literal")


def _leaves(value):
    if isinstance(value, (list, tuple, set, dict)):
        return 1 + sum(map(_leaves, value))
    return max(1, len(value) if isinstance(value, (str, bytes)) else abs(value))


def _value(node, names):
    match node:
        case ast.BinOp():
            return _chain(node, names)
        case ast.Call(keywords=[]):
            return _sized(_call(node, names))
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name) if name in _CONSTANTS:
            return getattr(sympy, name)
        case ast.Constant(value=True | False | None):
            return node.value
        case ast.UnaryOp() if type(node.op) in _UNARY:
            return _UNARY[type(node.op)](_value(node.operand, names))
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()]):
            same = _value(node.left, names) == _value(node.comparators[0], names)
            return same is isinstance(node.ops[0], ast.Eq)
        case ast.BoolOp():  # two answers for one: `4*6 or 6*4`
            for part in node.values:
                value = _value(part, names)
                if bool(value) is isinstance(node.op, ast.Or):
                    break
            return value
    raise Refused(f"no {type(node).__name__} in an expression")


def _chain(node, names):
    """Terms and factors from left to right, as Python takes them, but without a call inside a call for each."""
    steps = []
    while isinstance(node, ast.BinOp):
        steps.append(node)
        node = node.left
    factors = sum(isinstance(step.op, ast.Mult | ast.Div) for step in steps)
    _check(factors <= MAX_FACTORS and len(steps) <= MAX_TERMS, "too many terms or factors")
    value = _value(node, names)
    for step in reversed(steps):
        _check(type(step.op) in _BINARY, "no such operator")
        value = _sized(_BINARY[type(step.op)](value, _value(step.right, names)))
    return value


def _call(node, names):
    match node:  # the first four are what sympy's rules write, and only there is a bare str or int
        case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(name))]):
            return Symbol(name)
        case ast.Call(func=ast.Name(id="Integer"), args=[ast.Constant(value=int(number))]):
            return Integer(number)
        case ast.Call(func=ast.Name(id="Float"), args=[ast.Constant(value=str(number))]):
            exponent = number.lower().partition("e")[2] or "0"
            _check(len(number) <= MAX_FLOAT_CHARS and abs(int(exponent)) <= MAX_FLOAT_CHARS, "too long a number")
            return Float(number)
        case ast.Call(func=ast.Call(func=ast.Name(id="Function"), args=[ast.Constant(value=str(name))])):
            return Function(name)(*[_value(argument, names) for argument in node.args])
        case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS and name not in names:
            return _FUNCTIONS[name](*[_modest(_value(argument, names)) for argument in node.args])
    raise Refused("no such function")


def _bits(value):
    """About how many bits the expression's largest number would have, were its powers multiplied out."""
    match value:
        case Rational():
            return (abs(value.p) | value.q).bit_length() - 1
        case Float():
            return abs(value._mpf_[2] + value._mpf_[3])
        case Pow() | exp():
            return max(1, _bits(value.base)) * _reach(value.exp)
    return max(map(_bits, value.args), default=1)


def _reach(exponent):
    """How many times over, at most, the exponent takes the bits of what it stands on."""
    if not exponent.is_number:
        return max(map(_reach, exponent.atoms(Number)), default=1)
    if isinstance(exponent, Rational):
        return -(-abs(exponent.p) // exponent.q)
    return int(abs(complex(_modest(exponent).evalf(2)))) + 1


def _sized(value):
    """The value, if no number in front of its terms has outgrown the bound."""
    if isinstance(value, Expr):
        for term in value.args if isinstance(value, Add) else (value,):
            _check(_bits(term.as_coeff_Mul()[0]) <= MAX_BITS, "too big a number")
    return value


def _modest(value):
    """The value, if it is no constant like exp(exp(99)), short to write and endless to write out."""
    if isinstance(value, Expr) and value.is_number and not isinstance(value, Number):
        for part in value.evalf(2).atoms(Float):
            _check(_bits(part) <= 2 * MAX_BITS, "too big a constant")  # room for exp(MAX_BITS)
    return value


def _power(base, exponent):
    base, exponent = _modest(sympy.sympify(base)), _modest(sympy.sympify(exponent))
    weight = 0 if base is E and not exponent.is_number else _bits(base)
    if exponent.has(log):  # exp(9*log(2*x)) becomes (2*x)**9
        weight += max(1, _bits(exponent))
    _check(weight == 0 or weight * _reach(exponent) <= MAX_BITS, "too big a power")
    _check(not isinstance(exponent, Rational) or exponent.q <= MAX_BITS, "too small a power")
    return base**exponent


def _factorial(function, argument):
    _check(not argument.is_number or isinstance(argument, Integer) and argument <= MAX_FACTORIAL_OF, "too big a factorial")
    return function(argument)


def _between(kind, function):
    def bounded(left, right):
        _check(isinstance(left, kind) and isinstance(right, kind), "not between such numbers")
        return function(left, right)

    return bounded


_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
_BINARY = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: _power},
    **{ast.Mod: _between(Number, operator.mod), ast.FloorDiv: _between(Number, operator.floordiv)},
    **{ast.BitXor: _between(Integer, operator.xor), ast.BitAnd: _between(Integer, operator.and_)},  # `2^3` is 1, as there
    ast.BitOr: _between(Integer, operator.or_),
}
_CONSTANTS = {"E", "I", "pi", "oo", "zoo", "nan", "true", "false", "EulerGamma", "GoldenRatio", "Catalan"}
_ANGLES = [f"{a}{f}{h}" for a in ("", "a") for f in ("sin", "cos", "tan", "cot", "sec", "csc") for h in ("", "h")]
_PLAIN = [*_ANGLES, "log", "ln", "sqrt", "cbrt", "Abs", "sign", "floor", "ceiling", "Integer", "Rational", "Integral"]
# `Integral` stands in the item's own answer where sympy found no other, in one of 24 of intermediate_integration.
_FUNCTIONS = {
    **{name: getattr(sympy, name) for name in _PLAIN},
    **{"abs": sympy.Abs, "S": sympy.sympify, "pow": _power, "Pow": _power},
    **{"exp": lambda argument: _power(E, argument), "root": lambda base, n: _power(base, 1 / n)},
    **{name: partial(_factorial, getattr(sympy, name)) for name in ("factorial", "factorial2")},
}
# The names that mean something to `parse_expr`: any other is a symbol, or a function that nothing is known of.
_BUILTINS = {name: known for name, known in vars(builtins).items() if isinstance(known, types.BuiltinFunctionType)}
_KNOWN = {**{name: getattr(sympy, name) for name in sympy.__all__}, **_BUILTINS, "max": sympy.Max, "min": sympy.Min}
