"""The fields of a task's config: their JSON Schemas, with bounds and enumerations from the assertions in the library's own `validate`,
and the conversion from JSON to the types of the library's dataclass."""

import ast
import dataclasses
import datetime
import enum
import inspect
import operator
import textwrap
import types
import typing

from errors import EngineError

# A path that the library reads from disk, and fields that the recipe itself has.
HIDDEN_FIELDS = {"seed", "data_file", "size"}
# `size` is part of the recipe where items depend on it or are limited by it.
SIZE_DEPENDENT_TASKS = {"acre", "word_ladder", "gsm_symbolic", "list_functions"}
MAX_LIST_LENGTH = 4096
MAX_TEXT_CHARS = 4096
MAX_NUMBER = 2**63
MIRRORED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq}
SCHEMA_KEYWORD = {ast.Gt: "exclusiveMinimum", ast.GtE: "minimum", ast.Lt: "exclusiveMaximum", ast.LtE: "maximum"}
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow}



@dataclasses.dataclass
class Field:
    name: str
    hint: object
    default: object


def list_fields(task, config_cls):
    """The fields that a client may set."""
    hints = typing.get_type_hints(config_cls)
    defaults = config_cls()
    return {
        f.name: Field(f.name, _correct_hint(hints[f.name], getattr(defaults, f.name)), getattr(defaults, f.name))
        for f in dataclasses.fields(config_cls)
        if f.name not in HIDDEN_FIELDS or (f.name == "size" and task in SIZE_DEPENDENT_TASKS)
    }


def _correct_hint(hint, default):
    """rearc declares a field as `int` whose default is 0.2."""
    return float if hint is int and isinstance(default, float) else hint


def json_schema(hint, default):
    """JSON Schema of a type hint. A bare `tuple` does not name its elements' type; then the default decides."""
    hint, nullable = _unwrap(hint)
    if nullable:
        return {"anyOf": [json_schema(hint, default), {"type": "null"}]}
    if typing.get_origin(hint) is typing.Literal:
        return {"type": "string", "enum": list(typing.get_args(hint))}
    if hint is bool:
        return {"type": "boolean"}
    if hint in (int, float):
        return {"type": "integer" if hint is int else "number"}
    if hint is datetime.date:
        return {"type": "string", "format": "date"}
    if hint is datetime.time:
        return {"type": "string", "format": "time"}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"type": "string", "enum": [e.value for e in hint]}
    if dataclasses.is_dataclass(hint):
        inner, whole = typing.get_type_hints(hint), hint()
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": {n: json_schema(t, getattr(whole, n)) | {"default": to_json(getattr(whole, n))} for n, t in inner.items()},
        }
    element = _element(hint, default)
    if element is not None:
        return {"type": "array", "items": json_schema(element, None)}
    return {"type": "string"}


def coerce(hint, default, value, path):
    """Converts `value` to the type of the dataclass field. Raises EngineError that names the field."""
    hint, nullable = _unwrap(hint)
    if value is None and nullable:
        return None
    if typing.get_origin(hint) is typing.Literal:
        return _require_choice(value, {a: a for a in typing.get_args(hint)}, path)
    if hint is bool:
        return _require(value, isinstance(value, bool), "true or false", path)
    if hint is int:
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        _require(value, whole and not isinstance(value, bool) and abs(value) < MAX_NUMBER, "an integer", path)
        return int(value)
    if hint is float:
        _require(value, isinstance(value, (int, float)) and not isinstance(value, bool), "a number", path)
        return float(value)
    if hint in (datetime.date, datetime.time):
        try:
            return hint.fromisoformat(value)
        except (TypeError, ValueError):
            raise EngineError("invalid_config", f"{path}: expected an ISO 8601 {hint.__name__}", path) from None
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _require_choice(value, {e.value: e for e in hint}, path)
    if dataclasses.is_dataclass(hint):
        _require(value, isinstance(value, dict), "an object", path)
        inner, whole = typing.get_type_hints(hint), hint()
        for name in value:
            if name not in inner:
                raise EngineError("invalid_config", f"{path}.{name}: unknown field; known are {', '.join(inner)}", f"{path}.{name}")
        return hint(**{n: coerce(inner[n], getattr(whole, n), v, f"{path}.{n}") for n, v in value.items()})
    element = _element(hint, default)
    if element is None:
        return _require(value, isinstance(value, str) and len(value) <= MAX_TEXT_CHARS, "a string", path)
    _require(value, isinstance(value, list) and len(value) <= MAX_LIST_LENGTH, "a list", path)
    items = [coerce(element, None, v, f"{path}[{k}]") for k, v in enumerate(value)]
    as_tuple = isinstance(default, tuple) if default is not None else _origin(hint) is tuple
    return tuple(items) if as_tuple else items


def to_json(value):
    """A config value as plain JSON: tuples as lists, enums as their values, integral floats as integers."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [to_json(v) for v in value]
    if dataclasses.is_dataclass(value):
        whole = type(value)()
        return {
            f.name: to_json(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if getattr(value, f.name) != getattr(whole, f.name)
        }
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _unwrap(hint):
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        inner = [a for a in typing.get_args(hint) if a is not type(None)]
        return inner[0], True
    return hint, False


def _origin(hint):
    return typing.get_origin(hint) or hint


def _element(hint, default):
    """The type of a list's elements, or None if the field is not a list."""
    if isinstance(default, str):
        return None
    arguments = [a for a in typing.get_args(hint) if a is not ...]
    if _origin(hint) is tuple and len(arguments) > 1:
        return arguments[0]
    if arguments:
        return arguments[0]
    if isinstance(default, (list, tuple)) and default:
        return type(default[0])
    return None


def _require(value, condition, expected, path):
    if not condition:
        raise EngineError("invalid_config", f"{path}: expected {expected}", path)
    return value


def _require_choice(value, choices, path):
    if not isinstance(value, str) or value not in choices:
        raise EngineError("invalid_config", f"{path}: expected one of {', '.join(map(str, choices))}", path)
    return choices[value]


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
