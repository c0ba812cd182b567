"""Bounds and enumerations of a config's fields, read from the asserts of the library's own `validate`."""

import ast
import inspect
import operator
import textwrap

MIRROR = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq}
KEYWORD = {ast.Gt: "exclusiveMinimum", ast.GtE: "minimum", ast.Lt: "exclusiveMaximum", ast.LtE: "maximum"}
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow}


def of(config_cls):
    """{field: {"minimum": 1, …}} for what `assert` compares with a constant; what it cannot read it leaves out."""
    validate = getattr(config_cls, "validate", None)
    if validate is None:
        return {}
    found = {}
    tree = ast.parse(textwrap.dedent(inspect.getsource(validate)))
    for statement in tree.body[0].body:  # not those inside an `if`: they hold only sometimes
        if isinstance(statement, ast.Assert):
            for test in _conjuncts(statement.test):
                _read(test, found)
    return found


def _conjuncts(test):
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _read(test, found):
    if isinstance(test, ast.Call) and getattr(test.func, "id", "") == "all" and isinstance(test.args[0], ast.GeneratorExp):
        loop, inner = test.args[0].generators[0], test.args[0].elt
        if _field(loop.iter) and isinstance(inner, ast.Compare) and isinstance(inner.ops[0], ast.In):
            choices = _constants(inner.comparators[0])
            if choices:
                found.setdefault(_field(loop.iter), {})["items"] = {"enum": choices}
        return
    if not isinstance(test, ast.Compare):
        return
    terms = [test.left, *test.comparators]
    for left, op, right in zip(terms, test.ops, terms[1:]):
        if isinstance(op, ast.In) and _field(left):
            choices = _constants(right)
            if choices:
                found.setdefault(_field(left), {})["enum"] = choices
        elif type(op) in KEYWORD:
            _bound(left, type(op), right, found)
            _bound(right, MIRROR[type(op)], left, found)


def _bound(term, op, limit, found):
    name, value = _field(term), _number(limit)
    if name and value is not None:
        found.setdefault(name, {})[KEYWORD[op]] = value


def _field(node):
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if own else None


def _number(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        left, right = _number(node.left), _number(node.right)
        return None if left is None or right is None else ARITHMETIC[type(node.op)](left, right)
    return None


def _constants(node):
    elements = getattr(node, "elts", None)
    if elements and all(isinstance(e, ast.Constant) and isinstance(e.value, (str, int)) for e in elements):
        return [e.value for e in elements]
    return None
