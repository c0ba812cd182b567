"""Progress bars where tqdm is installed."""

from __future__ import annotations

import sys
from typing import Any, Optional


class Progress:
    """A bar of tqdm on the standard error. Without tqdm, or where it is not wanted, it does nothing.

    Args:
        label: Text before the bar.
        total: Number of steps; None while it is unknown.
        wanted: True or False. None: in a terminal or a notebook.
    """

    def __init__(self, label: str, total: Optional[int], wanted: Optional[bool]) -> None:
        self._bar: Any = None
        if wanted is False or (wanted is None and not _is_watched()):
            return
        try:
            from tqdm.auto import tqdm  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            return
        self._bar = tqdm(total=total, desc=label, leave=True)

    def show(self, done: int, total: Optional[int] = None) -> None:
        """Moves the bar to `done` steps."""
        if self._bar is None:
            return
        if total is not None:
            self._bar.total = total
        self._bar.update(done - self._bar.n)
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules
