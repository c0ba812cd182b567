"""Items and rollouts for servers that play one rollout in a session: which item a client asks for, and the turns of the model."""

from __future__ import annotations

import argparse
import random
import sys
import uuid
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .._async_client import AsyncClient
from .._client import Client
from .._errors import Problem
from .._models import Item, Verdict
from .._trainer import SCORING_SETTINGS

#: The splits: positions of the run, and a frozen suite, whose completions the server scores and does not count.
SPLITS = ("train", "test")
TEST_SUITE = "original"
#: Size of the split train, with a run and without one.
RUN_TASKS, LIBRARY_TASKS = 100_000, 10_000
#: Name of the environment without a run.
LIBRARY = "reasoning-gym"
#: Seconds that a call is retried. Clients of the frameworks give up on a message after a minute.
RETRY_FOR_S = 40.0


def add_server_arguments(parser: argparse.ArgumentParser, port: int) -> None:
    parser.add_argument("--run", help="run whose settings apply and that counts the rollouts (default: none, for items of all tasks that are only scored)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=port, help="port to listen on (default: %(default)s)")


class ItemSource:
    """The items of a run, or of all tasks of the library without one."""

    def __init__(self, framework: str, url: Optional[str], run: Optional[str]) -> None:
        self.framework = framework
        self.name = run or LIBRARY
        self.run = run
        self.client = AsyncClient(url, retry_for_s=RETRY_FOR_S, deadline_s=RETRY_FOR_S, connect_for_s=RETRY_FOR_S)
        self._url = url
        self._test: Any = None
        self._tasks: Any = None

    def require_run(self) -> None:
        """Waits for the server, and exits if it has no such run."""
        try:
            with Client(self._url, connect_for_s=600.0, retry_for_s=600.0) as client:
                if self.run is None:
                    client.whoami()
                else:
                    client.run(self.run).get()
        except Problem as problem:
            sys.exit(problem.detail)

    async def count(self, split: str) -> int:
        if split == "test":
            return len(await self._list_test())
        require_split(split)
        return LIBRARY_TASKS if self.run is None else RUN_TASKS

    async def task(self, split: str, index: int) -> Dict[str, Any]:
        """Returns what names the item: its ID, a position of the run, or a recipe. Raises IndexError."""
        if not 0 <= index < await self.count(split):
            raise IndexError(f"the split {split} has no task {index}")
        if split == "test":
            return {"item_id": (await self._list_test())[index]["id"]}
        if self.run is not None:
            return {"position": index}
        self._tasks = self._tasks or await self.client.tasks()
        return {"task": self._tasks[index % len(self._tasks)]["name"], "seed": 1 + index // len(self._tasks)}

    async def item(self, named: Mapping[str, Any]) -> Item:
        """Returns the item that `task` has named, or the next one of the run."""
        if "item_id" in named:
            return await self.client.item(named["item_id"], run=self.run)
        if "task" in named:
            items = await self.client.make(**named)
            if items and self.run is not None:
                return await self.client.item(items[0]["id"], run=self.run)
        elif self.run is None:
            if "position" in named:
                raise ValueError("positions are those of a run: name one with --run")
            return await self.item(await self.task("train", random.randrange(LIBRARY_TASKS)))
        else:
            items = await self.client.run(self.run).items(1, position=named.get("position"), timeout_s=RETRY_FOR_S)
        if not items:
            raise LookupError("no such item is available at the moment: try again")
        return items[0]

    async def score(self, samples: Sequence[Mapping[str, Any]]) -> List[Verdict]:
        """Scores completions by the rules of the run, without counting them."""
        settings = {} if self.run is None else (await self.client.run(self.run).get())["settings"]
        rules = {name: settings[name] for name in SCORING_SETTINGS if name in settings}
        return (await self.client.score(samples, **rules))["verdicts"]

    async def _list_test(self) -> Any:
        self._test = self._test or (await self.client.suite(TEST_SUITE))["recipes"]
        return self._test


class ServedRollout:
    """An item and the turns of the model. The server keeps the turns by the ID of the rollout, so that a restart forgets none."""

    def __init__(self, source: ItemSource, item: Item, rollout_id: Optional[str] = None, *, resumed: bool = False) -> None:
        self.source = source
        self.item = item
        self.id = rollout_id or uuid.uuid4().hex
        #: Place of the next turn. `next`: the server knows which turns of a resumed rollout it has.
        self.turn: Union[int, str] = "next" if resumed else 0

    @property
    def prompt(self) -> str:
        """The instructions and the question, for clients without a system prompt."""
        return "\n\n".join(message["content"] for message in self.item["messages"])

    async def submit(self, answer: Mapping[str, Any], unscored: str = "null", *, is_last: bool = False) -> Verdict:
        """Scores one turn, which `is_last` makes the last one. `retry_prompt` in the verdict: it is wrong and there is another try."""
        source = self.source
        sample = {"item_id": self.item["id"], "rollout_id": self.id, **({} if is_last else {"turn": self.turn}), **answer}
        scores = await source.client.samples([sample], run=source.run, adapter=source.framework, unscored=unscored)
        verdict = scores["verdicts"][0]
        if verdict["status"] == "scored":
            self.turn = len(verdict["turns"]) if "turns" in verdict else 1
        return verdict

    def describe(self, verdict: Optional[Verdict] = None) -> Dict[str, Any]:
        """The metadata of an observation: which item and rollout it is, and the verdict."""
        about = {"item_id": self.item["id"], "task": self.item["task"], "difficulty": self.item["difficulty"]}
        names = ("score", "answer", "fault", "components", "feedback", "code", "detail")
        return {**about, **{name: verdict[name] for name in names if verdict and name in verdict}}  # type: ignore[literal-required]


def require_split(split: str) -> None:
    if split not in SPLITS:
        raise IndexError(f"there is no split {split}: use {' or '.join(SPLITS)}")
