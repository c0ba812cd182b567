"""Tables for pandas and Hugging Face datasets. Neither package is needed by the rest of the client."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any, Dict, Mapping, Optional, Sequence


def to_frame(rows: Sequence[Mapping[str, Any]], index: Optional[str] = None) -> Any:
    """A pandas.DataFrame of the rows, with the column `index` as its index if the rows have one. Nested objects become columns."""
    try:
        import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise ImportError("data frames need pandas: pip install 'reasoning-gym-client[pandas]'") from error
    frame = pandas.json_normalize(rows, sep="/")
    return frame.set_index(index) if index in frame.columns else frame


def to_dataset(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A datasets.Dataset of the rows."""
    try:
        import datasets  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ImportError("data sets need the package datasets: pip install 'reasoning-gym-client[datasets]'") from error
    return datasets.Dataset.from_list(rows)


def mean_and_error(values: Sequence[float]) -> Dict[str, Any]:
    """The mean of the values of `runs`, and its standard error."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else None
    return {"mean": mean(values), "stderr": error, "runs": len(values)}
