"""A reward function for verl, and a data set that requests items from a run as verl reads them. For verl 0.9.

    python -m verl.trainer.main_ppo \\
        reward.custom_reward_function.path=…/integrations/rg_verl.py reward.custom_reward_function.name=compute_score \\
        +reward.custom_reward_function.reward_kwargs.run=my-run \\
        data.custom_cls.path=…/integrations/rg_verl.py data.custom_cls.name=LivePrompts \\
        data.train_files=my-run data.val_files=held-out data.dataloader_num_workers=0 data.shuffle=False …

Set REASONING_GYM_URL for every worker; it may contain the key (`http://trainer:KEY@host:8000`). Configure the run once:
`Client().run("my-run").put(preset="clean", group_size=8, buffer=False)`, with `group_size` equal to `actor_rollout_ref.rollout.n`.

With LivePrompts, `data.train_files` is the name of the run, and `data.val_files=held-out` selects the frozen suite `original`,
whose items are never trained on. A file works as well: leave out `data.custom_cls`, and set `data.train_files=rows.jsonl`,
downloaded from `GET /dataset.jsonl?format=verl`. Each row has the item ID in `extra_info`; `ground_truth` is empty, since the
answer stays on the server. If the trainer resumes at a later row, LivePrompts rewinds the run to the step before it. Responses to held-out rows (`extra_info.held_out`, or `extra_info.split` `test`) are not counted
in the run; those of a suite other than `easy-*` and `hard-*` are scored by its rules.

verl scores one response at a time. The server returns each reward at once and gathers the responses to one item into a group of
the run, which feeds the curriculum, statistics and dumps; penalties that need the whole group do not apply.

`compute_score` raises Unscored for a response that could not be scored. verl then leaves the response out of the batch; it ends the
training only if no response of a batch is left. The same holds while the server is down, after five minutes of retries. Do not use
the reward manager `rate_limited`, which turns an exception into a reward of 0.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import uuid
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

if importlib.util.find_spec("reasoning_gym_client") is None:  # loaded by path, without the installed package
    sys.path.insert(0, str(Path(__file__).parents[2]))
from reasoning_gym_client import Client, Item, Positions, StepWatch, Verdict, in_thread, is_eval_item, require_reward

try:
    _Dataset: Any = importlib.import_module("torch.utils.data").Dataset  # verl requires this class
except ImportError:
    _Dataset = object

__all__ = ["compute_score", "LivePrompts"]

HELD_OUT = "held-out"
SUITE = "original"
PER_STEP = 64  #: items requested at once if verl's configuration has no batch size
POSITIONS = 1_000_000  #: rows of the endless data set; `trainer.total_training_steps` ends the training


@lru_cache(maxsize=None)
def _client() -> Client:
    return Client()


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Optional[Mapping[str, Any]] = None,
    run: Optional[str] = None,
    **more: Any,
) -> Dict[str, float]:
    """Returns the reward of one response as `score`, with its components. The keys are always the same, because verl averages
    them, and can be `algorithm.gdpo_reward_keys`. Raises Unscored, which is verl's mask.

    The response counts in the run of its row (LivePrompts), else in `run`, else in REASONING_GYM_RUN. Held-out rows count in none.
    """
    info = extra_info or {}
    item_id = str(info.get("item_id") or "")
    held_out = info.get("held_out") or info.get("split") == "test"
    is_alone = held_out and not is_eval_item(item_id)  # a run does not count the items of suites
    counted = None if is_alone else info.get("run") or run or os.environ.get("REASONING_GYM_RUN")
    verdict: Verdict = await in_thread(
        _client().sample,
        item_id,
        solution_str,
        run=counted,
        rollout_id=uuid.uuid4().hex if counted else None,
        adapter="verl",
    )
    return {
        "score": require_reward(verdict),
        "no_answer": float(verdict.get("fault") == "no_answer"),
        **{name: float(value) for name, value in verdict["components"].items()},
    }


class LivePrompts(_Dataset):  # type: ignore[misc]
    """Prompts of a run by position, or the held-out suite."""

    def __init__(
        self,
        data_files: Union[str, Sequence[str]],
        tokenizer: Any = None,
        config: Optional[Mapping[str, Any]] = None,
        processor: Any = None,
        max_samples: int = -1,
    ) -> None:
        self.run = data_files if isinstance(data_files, str) else data_files[0]
        self.suite: Optional[List[str]] = None
        if self.run == HELD_OUT:
            recipes = _client().call("GET", f"/eval/suites/{SUITE}")["recipes"]
            self.suite = [recipe["id"] for recipe in recipes][: max_samples if max_samples > 0 else None]
        given = config or {}
        trained = given.get("train_files") or ""
        self.trained = str(trained if isinstance(trained, str) else trained[0])
        self.per_step = int(given.get("gen_batch_size") or given.get("train_batch_size") or PER_STEP)  # as verl's loader reads
        self.positions = Positions(_client().run(self.run), min(self.per_step, 1024))
        self.steps = StepWatch(self.positions.run, first=1)  # as verl counts

    def __len__(self) -> int:
        return POSITIONS if self.suite is None else len(self.suite)

    def __getitem__(self, position: int) -> Dict[str, Any]:
        if self.suite is None:
            self.steps.begin(1 + position // self.per_step)
            return _row(self.positions[position], position, {"run": self.run, "held_out": False})
        item = _client().item(self.suite[position], run=self.trained or None)
        return _row(item, position, {"run": self.trained, "held_out": True})


def _row(item: Item, position: int, extra_info: Dict[str, Any]) -> Dict[str, Any]:
    """A row as verl's own data set returns it."""
    row = {
        "data_source": f"reasoning_gym/{item['task']}",
        "raw_prompt": item["messages"],
        "ability": item["category"],
        "reward_model": {"style": "rule", "ground_truth": ""},
        "extra_info": {"item_id": item["id"], "index": position, **extra_info},
        "index": position,
        "tools_kwargs": {},
        "interaction_kwargs": {},
    }
    if _Dataset is not object:
        torch = importlib.import_module("torch")
        row["dummy_tensor"] = torch.tensor([0], dtype=torch.uint8)
    return row
