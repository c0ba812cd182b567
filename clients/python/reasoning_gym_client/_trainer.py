"""What the integrations of trainers share."""

from __future__ import annotations

import asyncio
import math
import os
import re
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ._client import Client, Positions, Run
from ._models import Message, Verdict
from ._rows import RowItems


#: The components of a reward, and the weight of each in it: reward = correct + length_penalty + try_discount.
REWARD_COMPONENTS: Dict[str, float] = {"correct": 1.0, "format": 0.0, "length_penalty": 1.0, "try_discount": 1.0}
#: The settings of a run by which `Client.score` scores as the run does.
SCORING_SETTINGS = ("extraction", "dual_format", "scoring", "stop", "opens_thinking", "feedback")
CORRECT_MIN_SCORE = 0.99  #: from which a turn is right, as for the server


class TrainerClient:
    """The client that the integration of a trainer uses. Arguments that you omit come from environment variables.

    REASONING_GYM_URL       address of the server, which may contain the key
    REASONING_GYM_API_KEY   key, if the address has none
    REASONING_GYM_RUN       run whose settings apply and which counts the completions; without it they are only scored

    While the server is down, calls are retried for `deadline_s` seconds and then raise. A completion that the server cannot score
    gets a verdict with status `unscored`. The client opens connections when it needs them, and can be pickled.
    """

    def __init__(
        self,
        adapter: str,
        *,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
        run: Optional[str] = None,
        per_step: int = 64,
        deadline_s: float = 600.0,
    ) -> None:
        timeout_s = min(60.0, deadline_s)  # a shorter timeout would only add load
        self.adapter = adapter
        self.client = Client(
            url,
            api_key=api_key,
            timeout_s=timeout_s,
            retry_for_s=deadline_s,
            deadline_s=deadline_s,
            connect_for_s=deadline_s,  # a rank may start before the server
        )
        self.run_name = run or os.environ.get("REASONING_GYM_RUN") or None
        self.per_step = per_step
        self.deadline_s = deadline_s
        self._positions: Optional[Positions] = None
        self._rows: Optional[RowItems] = None
        self._settings: Mapping[str, Any] = {}

    def __repr__(self) -> str:
        return f"TrainerClient({self.adapter!r}, run={self.run_name!r} on {self.client!r})"

    @property
    def run(self) -> Run:
        """The run. Raises ValueError if none is set."""
        if self.run_name is None:
            raise ValueError("items by position need a run: set REASONING_GYM_RUN to its name")
        return self.client.run(self.run_name)

    @property
    def positions(self) -> Positions:
        """The items of the run by position. Raises ValueError if no run is set."""
        if self._positions is None:
            self._positions = self.run.positions(self.per_step, timeout_s=self.deadline_s)
        return self._positions

    @property
    def rows(self) -> RowItems:
        """The items of the run for rows that come in any order. Raises ValueError if no run is set."""
        if self._rows is None:
            self._rows = RowItems(self.run, self.deadline_s)
        return self._rows

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the run as they were at first use."""
        if not self._settings:
            self._settings = self.run.get()["settings"]
        return self._settings

    @property
    def tries(self) -> int:
        """How many tries at an item the run allows: 1 if no run is set."""
        return 1 if self.run_name is None else int(self.settings["tries"])

    def retry_prompt(self, item_id: str, turns: Sequence[str]) -> Optional[str]:
        """Returns the message to the model after the last of its turns, with feedback as the run says. None: that turn was right,
        or was the last one that the run allows. Counts nothing: send all `turns` with `sample` or `Run.post` at the end."""
        if len(turns) >= self.tries:
            return None
        rules = {name: self.settings[name] for name in SCORING_SETTINGS}
        scores = self.client.score([{"item_id": item_id, "completion": turns[-1]}], **rules)
        verdict: Mapping[str, Any] = {**scores["verdicts"][0]}
        if verdict["status"] != "scored" or verdict["score"] >= CORRECT_MIN_SCORE:
            return None
        feedback = verdict.get("feedback") or {"text": "The answer is wrong."}
        return str(self.settings["retry_prompt"]).replace("{feedback}", feedback["text"])

    def check(self) -> None:
        """Raises Problem if the key is wrong or the run does not exist."""
        if self.run_name is None:
            self.client.whoami()
        else:
            self.run.get()

    def sample(self, item_id: str, completion: Union[str, Sequence[Message]], **details: Any) -> Verdict:
        """Scores one completion, in the run if one is set. Retries count once. `details` are arguments of `Client.sample`."""
        named = {"rollout_id": uuid.uuid4().hex, **details}
        return self.client.sample(item_id, completion, run=self.run_name, adapter=self.adapter, **named)


_SPECIAL_TOKENS = re.compile(
    r"(?:\s*(?:<[|\uff5c][^<>]{1,40}[|\uff5c]>|</s>|<eos>|<bos>|<pad>|<(?:start|end)_of_turn>|\[(?:PAD|EOS|SEP)\]))+\s*\Z"
)


def strip_special_tokens(completion: str) -> str:
    """Removes special tokens such as `<|im_end|>` and `</s>` from the end of a completion, which some trainers leave there."""
    while found := _SPECIAL_TOKENS.search(completion[-2000:]):  # padding may be longer
        completion = completion[: len(completion) - len(found.group())]
    return completion


def is_eval_item(item_id: Optional[str]) -> bool:
    """Whether the item is of a suite, by its seed. Such items measure a run and do not count in it: send them as samples."""
    found = re.match(r"\w+\.(\d{10})\.", item_id or "")
    return found is not None and 2**30 <= int(found.group(1)) < 2**31


class Unscored(Exception):
    """A completion could not be scored, and no number stands in for its reward."""


def require_reward(verdict: Mapping[str, Any]) -> float:
    """The reward of a verdict. Raises Unscored if it has none."""
    if verdict.get("reward") is None:
        raise Unscored(f"{verdict.get('code')}: {verdict.get('detail')}")
    return float(verdict["reward"])


def fill_unscored(rewards: Sequence[Optional[float]], otherwise: Optional[Callable[[], float]] = None) -> List[float]:
    """Replaces each None in the rewards of one complete group with the mean of the others.

    For trainers without a mask. The mean of the group does not change, and the replaced rewards get an advantage of 0. A reward
    of 0 instead would train the model as if the answer were wrong. If all are None, `otherwise` gives the number, such as
    `lambda: task_mean(run, item_id)`; without it, raises Unscored.
    """
    scored = [reward for reward in rewards if reward is not None]
    if len(scored) == len(rewards):
        return scored
    if not scored and otherwise is None:
        raise Unscored("no completion of the group could be scored")
    mean = math.fsum(scored) / len(scored) if scored or otherwise is None else otherwise()
    return [mean if reward is None else reward for reward in rewards]


def group_components(verdicts: Sequence[Mapping[str, Any]], rewards: Sequence[float]) -> List[Dict[str, float]]:
    """The components of each reward of one group, for trainers without a mask. An unscored completion has the mean of the
    others in each component. If none was scored, `correct` is its reward, as `fill_unscored` or the server gave it."""
    scored = [verdict["components"] for verdict in verdicts if verdict["status"] == "scored"]
    means = {name: math.fsum(parts[name] for parts in scored) / len(scored) for name in REWARD_COMPONENTS if scored}
    return [
        {**verdict["components"]} if verdict["status"] == "scored" else means or {**dict.fromkeys(REWARD_COMPONENTS, 0.0), "correct": reward}
        for verdict, reward in zip(verdicts, rewards)
    ]


def task_mean(run: Optional[Run], item_id: str, wait_s: float = 30.0) -> float:
    """The mean reward of the item's task in the run so far; 0 for an item of a suite. Waits for the first one, then raises Unscored."""
    if is_eval_item(item_id):
        return 0.0  # no model learns from it, and it must not end a training
    deadline = time.monotonic() + wait_s
    while run is not None:
        task = run.get()["tasks"].get(item_id.split(".")[0])
        if task and task["mean_reward"] is not None:
            return float(task["mean_reward"])
        if time.monotonic() > deadline:
            break
        time.sleep(1)
    raise Unscored(f"no completion of item {item_id} could be scored, and no run has a mean reward of its task yet")


_threads: "Optional[tuple[int, ThreadPoolExecutor]]" = None


def in_thread(function: Callable[..., Any], *arguments: Any, **options: Any) -> "Awaitable[Any]":
    """Runs a call of this module without blocking the event loop: `await in_thread(client.rewards, ids, texts)`.

    Up to 64 calls run at once. The default pool of asyncio may have only six threads, too few if calls wait for a server that
    is down.
    """
    global _threads
    if _threads is None or _threads[0] != os.getpid():
        _threads = (os.getpid(), ThreadPoolExecutor(64, thread_name_prefix="reasoning-gym"))
    return asyncio.get_running_loop().run_in_executor(_threads[1], lambda: function(*arguments, **options))
