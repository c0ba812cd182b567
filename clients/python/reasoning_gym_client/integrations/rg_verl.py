"""verl's reward function, and a data set that asks a run for its items when verl gets there. For verl 0.9.

    python -m verl.trainer.main_ppo \\
        reward.custom_reward_function.path=…/integrations/rg_verl.py reward.custom_reward_function.name=compute_score \\
        +reward.custom_reward_function.reward_kwargs.run=my-run \\
        data.custom_cls.path=…/integrations/rg_verl.py data.custom_cls.name=LivePrompts \\
        data.train_files=my-run data.val_files=held-out data.dataloader_num_workers=0 data.shuffle=False …

Set REASONING_GYM_URL for every worker; the key may stand in it (`http://trainer:KEY@host:8000`). Configure the run once:
`Client().run("my-run").put(preset="clean", group_size=8, buffer=False)`, with `group_size` equal to `actor_rollout_ref.rollout.n`.

`data.train_files` of LivePrompts is the name of the run, and `data.val_files` is `held-out` for the frozen suite `original`, which no
training item is from. A frozen data set works as well: `data.train_files=rows.jsonl` from `GET /dataset.jsonl?format=verl`, without
`custom_cls`. Rows carry the item's ID in `extra_info`; `ground_truth` stays empty, since the answer is on the server.

verl scores one response at a time. The server answers at once and gathers the responses to one item into a group of the run, so the
curriculum, statistics and dumps follow; penalties that need the whole group do not apply. verl has no mask and an exception ends
the training, so a response that could not be scored is 0 with `unscored` 1, by which the metrics tell it from a wrong answer. An
outage is retried for five minutes and then raised.
"""

from __future__ import annotations

import importlib
import os
import sys
import uuid
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

try:
    from reasoning_gym_client import Client, Item, Positions, in_thread
except ImportError:  # loaded by its path, without the package
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from reasoning_gym_client import Client, Item, Positions, in_thread

try:
    _Dataset: Any = importlib.import_module("torch.utils.data").Dataset  # verl takes no other class
except ImportError:
    _Dataset = object

__all__ = ["compute_score", "LivePrompts"]

HELD_OUT = "held-out"
SUITE = "original"
PER_STEP = 64  #: prompts that are asked for at once, where verl's configuration names no batch size
POSITIONS = 1_000_000  #: more than a training gets to: `trainer.total_training_steps` ends it


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
    """The reward of one response. The keys and their types are the same each time, since verl averages them.

    `run`: counts the response in this run; without it, the run that LivePrompts names or REASONING_GYM_RUN, else none.
    """
    info = extra_info or {}
    counted = None if info.get("held_out") else info.get("run") or run or os.environ.get("REASONING_GYM_RUN")
    verdict = await in_thread(
        _client().sample,
        str(info.get("item_id") or ""),
        solution_str,
        run=counted,
        rollout_id=uuid.uuid4().hex if counted else None,
        adapter="verl",
    )
    fault = verdict.get("fault")
    return {
        "score": float(verdict["reward"] or 0.0),
        "unscored": float(verdict["reward"] is None),
        "no_answer": float(fault == "no_answer"),
        "format_fault": float(fault is not None),
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
        per_step = int((config or {}).get("train_batch_size") or PER_STEP)
        self.positions = Positions(_client().run(self.run), min(per_step, 1024))

    def __len__(self) -> int:
        return POSITIONS if self.suite is None else len(self.suite)

    def __getitem__(self, position: int) -> Dict[str, Any]:
        if self.suite is None:
            return _row(self.positions[position], position, {"run": self.run, "held_out": False})
        return _row(_client().item(self.suite[position]), position, {"run": "", "held_out": True})


def _row(item: Item, position: int, extra_info: Dict[str, Any]) -> Dict[str, Any]:
    """What verl's own data set gives for a row."""
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
