"""Rewards and live items for slime, and for miles, whose interfaces are the same.

    --data-source-path reasoning_gym_client.integrations.rg_slime.LiveItems
    --group-rm --custom-rm-path reasoning_gym_client.integrations.rg_slime.group_reward

Set REASONING_GYM_URL (it may contain the key: `http://trainer:KEY@host:8000`) and REASONING_GYM_RUN for every worker. Configure the
run once, with `group_size` equal to `--n-samples-per-prompt`:

    Client().run("my-run").put(preset="clean", group_size=8, buffer=False)

* `LiveItems` requests items by position just before slime uses them, so their difficulty follows the run's curriculum. The
  rollout ID is the step of the run (with miles, only rollouts that are saved end steps). `--save` and `--load` keep the position, and
  `--load` rewinds the run to the rollout that was saved. It replaces `--prompt-data`. For a file of `GET /dataset.jsonl?format=slime`, leave `LiveItems`
  out and set `--prompt-data` and `--label-key item_id`.
* `group_reward` (with `--group-rm`) posts a whole group, so group penalties apply. A sample that could not be scored is removed
  from the loss (`remove_sample`). slime still uses its reward to normalize the group, so it gets the mean of the group's other
  rewards, or of its task in the run if none was scored. A sample that comes with `remove_sample` is a failed generation.
* `reward` (without `--group-rm`) scores one sample; the server gathers the samples of one item into a group of the run. A sample
  that could not be scored is removed from the loss, too. Its reward is the mean of its complete group, or else of its task in the run.
* Without REASONING_GYM_RUN, both score and count nothing. While the server is down, calls are retried for five minutes; then the
  exception is raised, which ends the training. Unscored is raised for a sample that no mean can stand in for.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import uuid
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence

if importlib.util.find_spec("reasoning_gym_client") is None:  # loaded by path, without the installed package
    sys.path.insert(0, str(Path(__file__).parents[2]))
from reasoning_gym_client import Client, Problem, Verdict, fill_unscored, in_thread, is_eval_item, resume_run, task_mean

__all__ = ["reward", "group_reward", "LiveItems"]

WAIT_S = 120.0  #: seconds to wait for the verdicts of one group
FINISH_REASONS = {"completed": "stop", "truncated": "length", "aborted": "abort", "failed": "error"}
FAULTS_OF_ITEM = ("invalid_item_id", "unknown_task", "invalid_config", "engine_version_mismatch")


@lru_cache(maxsize=None)
def _client() -> Client:
    return Client()


def _run() -> Optional[str]:
    return os.environ.get("REASONING_GYM_RUN")


# Rewards


async def reward(args: Any, sample: Any, **kwargs: Any) -> Any:
    """For `--custom-rm-path` without `--group-rm`: one reward, or a list of them if miles passes a list (several turns)."""
    if isinstance(sample, (list, tuple)):
        return await in_thread(_reward, _score, sample)
    return (await in_thread(_reward, _score, [sample]))[0]


async def group_reward(args: Any, samples: Sequence[Any], **kwargs: Any) -> List[float]:
    """For `--custom-rm-path` with `--group-rm`: all samples of one prompt."""
    is_group = _run() is not None and len({sample.label for sample in samples}) == 1 and not is_eval_item(str(samples[0].label))
    return await in_thread(_reward, _post if is_group else _score, samples)


def _reward(score: Callable[[Any, Sequence[Any]], Sequence[Verdict]], samples: Sequence[Any]) -> List[float]:
    name = _run()
    rewards = _mark(samples, score(name, samples))
    run = None if name is None else _client().run(name)
    return fill_unscored(rewards, partial(task_mean, run, str(samples[0].label)))


def _score(run: Optional[str], samples: Sequence[Any]) -> Sequence[Verdict]:
    sent = [{"item_id": str(sample.label), "rollout_id": uuid.uuid4().hex, **_rollout(sample)} for sample in samples]
    mode = "null" if run is None or is_eval_item(str(samples[0].label)) else "mean"
    return _client().samples(sent, run=run, adapter="slime", unscored=mode)["verdicts"]


def _post(run: str, samples: Sequence[Any]) -> Sequence[Verdict]:
    """Posts the whole group. A bad item ID leaves it without verdicts, since an exception would end the training."""
    try:
        group = _client().run(run).post(
            str(samples[0].label),
            [_rollout(sample) for sample in samples],
            group_id=uuid.uuid4().hex,
            buffer=False,
            wait_s=WAIT_S,
        )
    except Problem as problem:
        if problem.code not in FAULTS_OF_ITEM:
            raise
        return []
    return group.get("verdicts", [])


def _rollout(sample: Any) -> Dict[str, Any]:
    rollout = {"completion": sample.response, "length_tokens": int(sample.response_length)}
    finish_reason = "abort" if getattr(sample, "remove_sample", False) else FINISH_REASONS.get(getattr(sample.status, "value", ""))
    return rollout if finish_reason is None else {**rollout, "finish_reason": finish_reason}


def _mark(samples: Sequence[Any], verdicts: Sequence[Verdict]) -> List[Optional[float]]:
    """Removes unscored samples from the loss. Returns the rewards. Without verdicts, the whole group was not scored in time."""
    for k, sample in enumerate(samples):
        if not verdicts or verdicts[k]["status"] != "scored":
            sample.remove_sample = True
        if isinstance(sample.metadata, dict):
            verdict = verdicts[k] if verdicts else {}
            sample.metadata["reasoning_gym"] = {name: verdict.get(name) for name in ("status", "score", "fault", "code")}
    return [verdict.get("reward") for verdict in verdicts] or [None] * len(samples)


# Items


class LiveItems:
    """A data source of slime: groups of samples of the run's items, in the order of their positions."""

    def __init__(self, args: Any) -> None:
        run = _run()
        if run is None:
            raise ValueError("LiveItems needs REASONING_GYM_RUN, the name of the run")
        self.args = args
        self.position = 0
        self.sample_index = 0
        self.returned: List[List[Any]] = []  # groups that slime returned, such as aborted ones
        self.run = _client().run(run)
        self.positions = self.run.positions(min(int(getattr(args, "rollout_batch_size", 0) or 64), 1024))

    def get_samples(self, num_samples: int) -> List[List[Any]]:
        """Returns `num_samples` groups: first those that slime returned, then new ones."""
        rollout_id = getattr(sys.modules.get("slime.rollout.sample_hooks"), "_current_rollout_id", None)  # miles has none
        if rollout_id:
            self.run.end_step(rollout_id - 1)
        groups, self.returned = self.returned[:num_samples], self.returned[num_samples:]
        first = self.position
        self.position += num_samples - len(groups)
        return groups + [self._group(position) for position in range(first, self.position)]

    def _group(self, position: int) -> List[Any]:
        item = self.positions[position]
        group = []
        for _ in range(self.args.n_samples_per_prompt):
            sample = _sample_class(self.args)(
                group_index=position,
                index=self.sample_index,
                prompt=self._prompt(item["messages"]),
                label=item["id"],
                metadata={"task": item["task"], "difficulty": item["difficulty"]},
            )
            self.sample_index += 1
            group.append(sample)
        return group

    def _prompt(self, messages: List[Dict[str, Any]]) -> Any:
        """The prompt as in slime's own data set: text if it applies the chat template, else messages."""
        if not getattr(self.args, "apply_chat_template", False):
            return messages
        tools = getattr(self.args, "apply_chat_template_kwargs", None) or {}
        tokenizer = _tokenizer(self.args.hf_checkpoint)
        return tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **tools)

    def add_samples(self, samples: List[List[Any]]) -> None:
        self.returned += samples

    def save(self, rollout_id: Any) -> None:
        """Saves the next position with the weights. Groups that slime returned are generated again after a resume."""
        self.run.end_step(rollout_id)
        path = self._state_file(self.args.save, rollout_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        position = min([self.position, *(group[0].group_index for group in self.returned if group)])
        path.write_text(json.dumps({"position": position, "sample_index": self.sample_index}))

    def load(self, rollout_id: Any = None) -> None:
        path = self._state_file(self.args.load, rollout_id)
        if path.exists():
            state = json.loads(path.read_text())
            self.position, self.sample_index = state["position"], state["sample_index"]
            resume_run(self.run, rollout_id)

    @staticmethod
    def _state_file(folder: Optional[str], rollout_id: Any) -> Path:
        return Path(folder or "") / "rollout" / f"reasoning_gym_position_{rollout_id}.json"

    def __len__(self) -> int:
        return 1_000_000 + len(self.returned)


@lru_cache(maxsize=None)
def _tokenizer(checkpoint: str) -> Any:
    return importlib.import_module("transformers").AutoTokenizer.from_pretrained(checkpoint, trust_remote_code=True)


def _sample_class(args: Any) -> Any:
    """`Sample` of the trainer that is running: slime or miles."""
    package = "slime" if "slime" in sys.modules else "miles" if "miles" in sys.modules else "slime"
    return importlib.import_module(f"{package}.utils.types").Sample
