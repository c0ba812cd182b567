"""The items of a run for trainers that shuffle their rows."""

from __future__ import annotations

import threading
from typing import Any, Dict, Hashable, Optional
from weakref import WeakValueDictionary

from ._client import Run
from ._models import Item


class RowItem:
    """What a running rollout keeps of its row: `get()` returns the item."""

    def __init__(self, run: Run, timeout_s: float) -> None:
        self._run, self._timeout_s = run, timeout_s
        self._lock = threading.Lock()
        self._item: Optional[Item] = None

    def get(self) -> Item:
        """Requests the item, unless another rollout of the row has."""
        with self._lock:
            if self._item is None:
                (self._item,) = self._run.items(position="next", timeout_s=self._timeout_s)
            return self._item


class RowItems:
    """The items of a run for a trainer that reads its rows in any order: a row takes the run's next item when its rollouts begin.

    The rollouts of a group begin together in one process, so they get the same item: a row has its item for as long as one of
    them keeps its RowItem. A later pass over the rows finds none, and takes the next item.
    """

    def __init__(self, run: Run, timeout_s: float = 300.0) -> None:
        self.run = run
        self.timeout_s = timeout_s
        self._lock = threading.Lock()
        self._rows: "WeakValueDictionary[Hashable, RowItem]" = WeakValueDictionary()

    def __getstate__(self) -> Dict[str, Any]:
        return {"run": self.run, "timeout_s": self.timeout_s}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def begin(self, row: Hashable) -> RowItem:
        """Keep the result until the rollout has ended."""
        with self._lock:
            found = self._rows.get(row)
            if found is None:
                found = self._rows[row] = RowItem(self.run, self.timeout_s)
            return found
