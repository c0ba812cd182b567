"""The items of a run by position, for asyncio."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional

from ._errors import Problem
from ._models import Item

if TYPE_CHECKING:
    from ._async_client import AsyncRun


class AsyncPositions:
    """The items of a run by position. See `Positions`; here `await positions.get(0)` takes the place of `positions[0]`.

    Calls for the same block at the same time cause one request.
    """

    BLOCKS = 8  #: blocks in the cache

    def __init__(self, run: "AsyncRun", per_step: int = 64, *, timeout_s: float = 300.0) -> None:
        if not 1 <= per_step <= 1024:
            raise ValueError(f"per_step must be between 1 and 1024, not {per_step}")
        self.run = run
        self.per_step = per_step
        self.timeout_s = timeout_s
        self._blocks: "OrderedDict[int, asyncio.Task[List[Optional[Item]]]]" = OrderedDict()

    def __getstate__(self) -> Dict[str, Any]:
        return {"run": self.run, "per_step": self.per_step, "timeout_s": self.timeout_s, "_blocks": OrderedDict()}

    def __repr__(self) -> str:
        return f"AsyncPositions({self.run!r}, per_step={self.per_step})"

    async def get(self, position: int) -> Item:
        """Returns the item at this position."""
        if position < 0:
            raise IndexError(f"positions start at 0, got {position}")
        block, within = divmod(int(position), self.per_step)
        item = (await self._block(block))[within]
        return (await self._items(int(position), 1))[0] if item is None else item

    async def take(self, positions: Iterable[int]) -> List[Item]:
        """Returns the items at these positions in this order. Sends one request per block of `per_step` that is not cached."""
        return [await self.get(position) for position in positions]

    async def _block(self, block: int) -> List[Optional[Item]]:
        task = self._blocks.get(block)
        if task is None:
            task = self._blocks[block] = asyncio.ensure_future(self._ask(block))
        self._blocks.move_to_end(block)
        while len(self._blocks) > self.BLOCKS:
            self._blocks.popitem(last=False)
        try:
            return await asyncio.shield(task)  # another caller may wait for it too
        except BaseException:
            if task.done() and (task.cancelled() or task.exception() is not None) and self._blocks.get(block) is task:
                del self._blocks[block]
            raise

    async def _ask(self, block: int) -> List[Optional[Item]]:
        first = block * self.per_step
        try:
            return list(await self._items(first, self.per_step))
        except Problem as problem:
            if problem.code != "make_failed":
                raise
        # One position has no item. Request the others one by one. Access to that position requests it again and raises.
        items: List[Optional[Item]] = []
        for position in range(first, first + self.per_step):
            try:
                items += await self._items(position, 1)
            except Problem as problem:
                if problem.code != "make_failed":
                    raise
                items.append(None)
        return items

    async def _items(self, position: int, count: int) -> List[Item]:
        return await self.run.items(count, position=position, timeout_s=self.timeout_s)
