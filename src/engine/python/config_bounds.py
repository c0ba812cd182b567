"""Bounds and enumerations of a config's fields, read from the assertions in the library's own `validate`."""

import ast
import inspect
import operator
import textwrap

MIRRORED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq}
SCHEMA_KEYWORD = {ast.Gt: "exclusiveMinimum", ast.GtE: "minimum", ast.Lt: "exclusiveMaximum", ast.LtE: "maximum"}
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow}


def read_bounds(config_cls):
    """{field: {"minimum": 1, …}} for assertions that compare a field with a constant; others are left out."""
    validate = getattr(config_cls, "validate", None)
    if validate is None:
        return {}
    bounds = {}
    tree = ast.parse(textwrap.dedent(inspect.getsource(validate)))
    for statement in tree.body[0].body:  # not inside an `if`: those apply only sometimes
        if isinstance(statement, ast.Assert):
            for test in _conjuncts(statement.test):
                _read_assertion(test, bounds)
    return bounds


def _conjuncts(test):
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _read_assertion(test, bounds):
    if isinstance(test, ast.Call) and getattr(test.func, "id", "") == "all" and isinstance(test.args[0], ast.GeneratorExp):
        loop, inner = test.args[0].generators[0], test.args[0].elt
        if _field_name(loop.iter) and isinstance(inner, ast.Compare) and isinstance(inner.ops[0], ast.In):
            choices = _constant_choices(inner.comparators[0])
            if choices:
                bounds.setdefault(_field_name(loop.iter), {})["items"] = {"enum": choices}
        return
    if not isinstance(test, ast.Compare):
        return
    terms = [test.left, *test.comparators]
    for left, op, right in zip(terms, test.ops, terms[1:]):
        if isinstance(op, ast.In) and _field_name(left):
            choices = _constant_choices(right)
            if choices:
                bounds.setdefault(_field_name(left), {})["enum"] = choices
        elif type(op) in SCHEMA_KEYWORD:
            _add_bound(left, type(op), right, bounds)
            _add_bound(right, MIRRORED[type(op)], left, bounds)


def _add_bound(term, op, limit, bounds):
    name, value = _field_name(term), _constant_number(limit)
    if name and value is not None:
        bounds.setdefault(name, {})[SCHEMA_KEYWORD[op]] = value


def _field_name(node):
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if own else None


def _constant_number(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _constant_number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        left, right = _constant_number(node.left), _constant_number(node.right)
        return None if left is None or right is None else ARITHMETIC[type(node.op)](left, right)
    return None


def _constant_choices(node):
    elements = getattr(node, "elts", None)
    if elements and all(isinstance(e, ast.Constant) and isinstance(e.value, (str, int)) for e in elements):
        return [e.value for e in elements]
    return None
