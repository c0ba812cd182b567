"""Encodes arrays and bodies of requests, and decodes the numbers of batches."""

from __future__ import annotations

import array
import base64
import urllib.parse
import uuid
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence, Union

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

from ._models import Batch


_TYPED = ("int32", "float32", "uint8", "int16", "float64")
_WIDENED = {"bool": "uint8", "int8": "int16", "uint16": "int32", "float16": "float32"}
_NARROWED = {"int64", "uint64", "uint32"}
_NOT_IN_NUMPY = ("torch.bfloat16", "torch.float8")  # converts to float32 without loss
_BY_TYPECODE = {"B": "uint8", "h": "int16", "i": "int32", "f": "float32", "d": "float64"}
_EXACT_MOST = 2**53 - 1  # the server parses JSON numbers as doubles


def _plain(value: Any) -> Any:
    """Encodes arrays for `json.dumps`: as `{dtype, data}` if that is lossless, and as lists of numbers otherwise."""
    if isinstance(value, array.array):
        dtype = _BY_TYPECODE.get(value.typecode)
        return _listed(value) if dtype is None else _typed(dtype, value.tobytes())
    if hasattr(value, "__array__") and numpy is not None:
        if getattr(value, "requires_grad", False):
            value = value.detach()
        if str(getattr(value, "dtype", "")).startswith(_NOT_IN_NUMPY):
            value = value.float()
        given = numpy.asarray(value)
        if given.ndim != 1:
            return _listed(given)
        name = given.dtype.name
        if name in _NARROWED and (given.size == 0 or (given.min() >= -(2**31) and given.max() < 2**31)):
            name = "int32"
        name = _WIDENED.get(name, name)
        if name not in _TYPED:
            return _listed(given)
        return _typed(name, numpy.ascontiguousarray(given, dtype=numpy.dtype(name).newbyteorder("<")).tobytes())
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def _listed(values: Any) -> Any:
    """Converts an array to a list. Raises ValueError for integers that JSON numbers would round."""
    edges: Sequence[int] = ()
    if isinstance(values, array.array):
        if values.typecode in "lLqQ" and len(values) > 0:
            edges = min(values), max(values)
    elif values.dtype.kind in "iu" and values.size > 0:
        edges = int(values.min()), int(values.max())
    if any(abs(edge) > _EXACT_MOST for edge in edges):
        raise ValueError("integers above 2**53 - 1 in absolute value would be rounded as JSON numbers: send them as strings")
    return values.tolist()


def _typed(dtype: str, raw: bytes) -> Dict[str, str]:
    return {"dtype": dtype, "data": base64.b64encode(raw).decode("ascii")}


def _numbers(value: Any) -> Any:
    """Decodes `{dtype, data}` to a numpy array, or to `array.array` without numpy. Returns other values unchanged."""
    if not (isinstance(value, dict) and value.keys() == {"dtype", "data"} and value["dtype"] in _TYPED):
        return value
    raw = base64.b64decode(value["data"])
    if numpy is not None:
        return numpy.frombuffer(raw, dtype=numpy.dtype(value["dtype"]).newbyteorder("<"))
    code = next(code for code, dtype in _BY_TYPECODE.items() if dtype == value["dtype"])
    return array.array(code, raw)


def _with_arrays(batch: Batch) -> Batch:
    for group in batch.get("groups", []):
        for rollout in group.get("rollouts", []):
            fields: Dict[str, Any] = rollout  # type: ignore[assignment]
            for name in ("tokens", "masks", "logprobs"):
                if name in fields:
                    fields[name] = _numbers(fields[name])
            if isinstance(fields.get("arrays"), dict):
                fields["arrays"] = {name: _numbers(value) for name, value in fields["arrays"].items()}
    return batch


def _query(query: Optional[Mapping[str, Any]]) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return f"?{urllib.parse.urlencode(given)}" if given else ""


def _given(**fields: Any) -> Dict[str, Any]:
    """Returns the fields that are not None. The server uses its defaults for the others."""
    return {name: value for name, value in fields.items() if value is not None}


def _with_completion(sample: Mapping[str, Any]) -> Dict[str, Any]:
    """The fields of a sample that are not None. Without a completion, it says that the generation failed, so that it is unscored."""
    sent = {name: value for name, value in sample.items() if value is not None or name == "item_id"}
    names = {"completion", "messages", "answer", "turns"}
    is_failed = names & sample.keys() and not names & sent.keys()
    return {**sent, "completion": "", "finish_reason": "error"} if is_failed else sent


def _once_key() -> Dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def _path(*parts: Union[str, int]) -> str:
    return "/" + "/".join(urllib.parse.quote(str(part), safe="") for part in parts)


def _chunks(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
