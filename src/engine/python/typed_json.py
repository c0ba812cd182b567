"""JSON that keeps Python's types: a value that JSON cannot express is an object with one key that begins with `$`.

    (1, 2)          {"$tuple": [1, 2]}          1.0, inf, nan   {"$float": "1.0"}
    2 ** 80         {"$int": "0x1000…"}         Fraction(1, 3)  {"$fraction": ["0x1", "0x3"]}
    {1: "a"}        {"$dict": [[1, "a"]]}       {1, 2}          {"$set": [1, 2]}
    Decimal("1.0")  {"$decimal": "1.0"}         date(…)         {"$date": "2022-01-01"}
    an object of any other class                {"$opaque": "its repr"}

Other floats are plain JSON numbers: both sides parse them to the same double.
"""

import datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy

MAX_SAFE_INTEGER = 2**53
# Far below Python's recursion limit, so that what can be encoded here can be decoded in any process.
MAX_DEPTH = 200


def encode_typed(value, depth=0):
    """Raises ValueError for a value that is nested too deep."""
    if depth > MAX_DEPTH:
        raise ValueError(f"the item is nested more than {MAX_DEPTH} levels deep")
    inner = depth + 1
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (numpy.generic, numpy.ndarray)):
        return encode_typed(value.tolist(), inner)
    if isinstance(value, int):
        return int(value) if -MAX_SAFE_INTEGER < value < MAX_SAFE_INTEGER else {"$int": hex(value)}
    if isinstance(value, float):
        is_tagged = value.is_integer() or value != value or value in (float("inf"), float("-inf"))
        return {"$float": repr(value)} if is_tagged else value
    if isinstance(value, list):
        return [encode_typed(v, inner) for v in value]
    if isinstance(value, tuple):
        return {"$tuple": [encode_typed(v, inner) for v in value]}
    if isinstance(value, dict):
        if all(isinstance(k, str) and not k.startswith("$") for k in value):
            return {str.__str__(k): encode_typed(v, inner) for k, v in value.items()}
        return {"$dict": [[encode_typed(k, inner), encode_typed(v, inner)] for k, v in value.items()]}
    if isinstance(value, (set, frozenset)):
        return {"$set": [encode_typed(v, inner) for v in value]}
    if isinstance(value, Fraction):
        return {"$fraction": [hex(value.numerator), hex(value.denominator)]}
    if isinstance(value, Decimal):
        return {"$decimal": str(value)}
    if isinstance(value, datetime.datetime):
        return {"$datetime": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"$date": value.isoformat()}
    if isinstance(value, Enum):
        return encode_typed(value.value, inner)
    return {"$opaque": repr(value)[:1000]}


def decode_typed(value):
    if isinstance(value, list):
        return [decode_typed(v) for v in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (tag, inner), = value.items()
        if tag in TAG_DECODERS:
            return TAG_DECODERS[tag](inner)
    return {k: decode_typed(v) for k, v in value.items()}


TAG_DECODERS = {
    "$tuple": lambda v: tuple(decode_typed(x) for x in v),
    "$float": float,
    "$int": lambda v: int(v, 16),
    "$fraction": lambda v: Fraction(int(v[0], 16), int(v[1], 16)),
    "$dict": lambda v: {decode_typed(k): decode_typed(x) for k, x in v},
    "$set": lambda v: {decode_typed(x) for x in v},
    "$decimal": Decimal,
    "$datetime": datetime.datetime.fromisoformat,
    "$date": datetime.date.fromisoformat,
    "$opaque": str,
}
