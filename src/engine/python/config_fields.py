"""The fields of a task's config: their JSON Schema, and the way from JSON to what the library's dataclass wants."""

import dataclasses
import datetime
import enum
import types
import typing

from errors import Fault

# A path that the library reads from disk, and what the recipe itself carries.
HIDDEN = {"seed", "data_file", "size"}
# Where items depend on `size` or are bounded by it, it is part of the recipe.
SIZED = {"acre", "word_ladder", "gsm_symbolic", "list_functions"}
MAX_LIST = 4096
MAX_TEXT = 4096
MAX_NUMBER = 2**63


@dataclasses.dataclass
class Field:
    name: str
    hint: object
    default: object


def of(task, config_cls):
    """Every field that a client may set."""
    hints = typing.get_type_hints(config_cls)
    defaults = config_cls()
    return {
        f.name: Field(f.name, _honest(hints[f.name], getattr(defaults, f.name)), getattr(defaults, f.name))
        for f in dataclasses.fields(config_cls)
        if f.name not in HIDDEN or (f.name == "size" and task in SIZED)
    }


def _honest(hint, default):
    """rearc says `int` of a field whose default is 0.2."""
    return float if hint is int and isinstance(default, float) else hint


def schema(hint, default):
    """JSON Schema of a type hint; a bare `tuple` says nothing of its elements, so the default speaks for it."""
    hint, nullable = _unwrap(hint)
    if nullable:
        return {"anyOf": [schema(hint, default), {"type": "null"}]}
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
            "properties": {n: schema(t, getattr(whole, n)) | {"default": to_json(getattr(whole, n))} for n, t in inner.items()},
        }
    element = _element(hint, default)
    if element is not None:
        return {"type": "array", "items": schema(element, None)}
    return {"type": "string"}


def coerce(hint, default, value, path):
    """`value` as the library's dataclass wants it; Fault names the field that is not of its type."""
    hint, nullable = _unwrap(hint)
    if value is None and nullable:
        return None
    if typing.get_origin(hint) is typing.Literal:
        return _choice(value, {a: a for a in typing.get_args(hint)}, path)
    if hint is bool:
        return _check(value, isinstance(value, bool), "true or false", path)
    if hint is int:
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        _check(value, whole and not isinstance(value, bool) and abs(value) < MAX_NUMBER, "an integer", path)
        return int(value)
    if hint is float:
        _check(value, isinstance(value, (int, float)) and not isinstance(value, bool), "a number", path)
        return float(value)
    if hint in (datetime.date, datetime.time):
        try:
            return hint.fromisoformat(value)
        except (TypeError, ValueError):
            raise Fault("invalid_config", f"{path}: expected an ISO 8601 {hint.__name__}", path) from None
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _choice(value, {e.value: e for e in hint}, path)
    if dataclasses.is_dataclass(hint):
        _check(value, isinstance(value, dict), "an object", path)
        inner, whole = typing.get_type_hints(hint), hint()
        for name in value:
            if name not in inner:
                raise Fault("invalid_config", f"{path}.{name}: unknown field; known are {', '.join(inner)}", f"{path}.{name}")
        return hint(**{n: coerce(inner[n], getattr(whole, n), v, f"{path}.{n}") for n, v in value.items()})
    element = _element(hint, default)
    if element is None:
        return _check(value, isinstance(value, str) and len(value) <= MAX_TEXT, "a text", path)
    _check(value, isinstance(value, list) and len(value) <= MAX_LIST, "a list", path)
    items = [coerce(element, None, v, f"{path}[{k}]") for k, v in enumerate(value)]
    as_tuple = isinstance(default, tuple) if default is not None else _origin(hint) is tuple
    return tuple(items) if as_tuple else items


def to_json(value):
    """A config value as plain JSON: tuples as lists, enums as their values, whole floats as integers."""
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
    """The type of a list's elements, or None if the field is no list."""
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


def _check(value, holds, wanted, path):
    if not holds:
        raise Fault("invalid_config", f"{path}: expected {wanted}", path)
    return value


def _choice(value, choices, path):
    if not isinstance(value, str) or value not in choices:
        raise Fault("invalid_config", f"{path}: expected one of {', '.join(map(str, choices))}", path)
    return choices[value]
