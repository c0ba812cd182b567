"""JSON that keeps Python's types: what JSON cannot tell apart is an object with one key that begins with `$`.

    (1, 2)          {"$tuple": [1, 2]}          1.0, inf, nan   {"$float": "1.0"}
    2 ** 80         {"$int": "0x1000…"}         Fraction(1, 3)  {"$fraction": ["0x1", "0x3"]}
    {1: "a"}        {"$dict": [[1, "a"]]}       {1, 2}          {"$set": [1, 2]}
    Decimal("1.0")  {"$decimal": "1.0"}         date(…)         {"$date": "2022-01-01"}
    an object of any other class                {"$opaque": "its repr"}

Floats that are not whole stand as JSON numbers: both sides read them as the same double.
"""

import datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy

SAFE = 2**53


def encode(value):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (numpy.generic, numpy.ndarray)):
        return encode(value.tolist())
    if isinstance(value, int):
        return int(value) if -SAFE < value < SAFE else {"$int": hex(value)}
    if isinstance(value, float):
        whole = value.is_integer() or value != value or value in (float("inf"), float("-inf"))
        return {"$float": repr(value)} if whole else value
    if isinstance(value, list):
        return [encode(v) for v in value]
    if isinstance(value, tuple):
        return {"$tuple": [encode(v) for v in value]}
    if isinstance(value, dict):
        if all(isinstance(k, str) and not k.startswith("$") for k in value):
            return {str.__str__(k): encode(v) for k, v in value.items()}
        return {"$dict": [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, (set, frozenset)):
        return {"$set": [encode(v) for v in value]}
    if isinstance(value, Fraction):
        return {"$fraction": [hex(value.numerator), hex(value.denominator)]}
    if isinstance(value, Decimal):
        return {"$decimal": str(value)}
    if isinstance(value, datetime.datetime):
        return {"$datetime": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"$date": value.isoformat()}
    if isinstance(value, Enum):
        return encode(value.value)
    return {"$opaque": repr(value)[:1000]}


def decode(value):
    if isinstance(value, list):
        return [decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (mark, inner), = value.items()
        if mark in MARKS:
            return MARKS[mark](inner)
    return {k: decode(v) for k, v in value.items()}


MARKS = {
    "$tuple": lambda v: tuple(decode(x) for x in v),
    "$float": float,
    "$int": lambda v: int(v, 16),
    "$fraction": lambda v: Fraction(int(v[0], 16), int(v[1], 16)),
    "$dict": lambda v: {decode(k): decode(x) for k, x in v},
    "$set": lambda v: {decode(x) for x in v},
    "$decimal": Decimal,
    "$datetime": datetime.datetime.fromisoformat,
    "$date": datetime.date.fromisoformat,
    "$opaque": str,
}
