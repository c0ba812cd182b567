"""A reward function for GRPO in ms-swift.

    export REASONING_GYM_URL=http://trainer:KEY@host:8000 REASONING_GYM_RUN=my-run
    swift rlhf --rlhf_type grpo --external_plugins rg_swift.py --reward_funcs reasoning_gym --dataset rows.jsonl …

Rows have `item_id` beside `messages`, as in `GET /dataset.jsonl?format=swift`. Steps of the run are those of ms-swift. If it resumes
from a checkpoint, the run is rewound to that step.

ms-swift turns a reward of None into **0**. Therefore a rollout that could not be scored gets the mean of its group's
other rewards: the mean of the group does not change, and the rollout's own advantage is 0. If no rollout of the group could be scored,
all get the mean reward of their task in the run so far. While there is none, and without a run, Unscored is raised, which ends the
training. A group that arrives whole is posted whole. Parts of a group (`num_generations` spread over processes) are gathered by the server, and group penalties do not apply.
Rows of a suite, as in an eval data set, are sent one by one, and the run does not count them: 0 stands in for their mean.
For GDPO: `--scale_rewards gdpo --reward_funcs reasoning_gym_correct reasoning_gym_format reasoning_gym_length_penalty
reasoning_gym_try_discount`. With `--reward_weights 1 0 1 1`, their sum is the reward. Keep the order: the first one scores.
While the server is down, calls are retried for 10 minutes (REASONING_GYM_DEADLINE_S); then the exception is raised.
"""

# mypy: disable-error-code="import-not-found,import-untyped,misc"
# The trainer's package may be missing where types are checked. Its classes and decorators are then Any.

from __future__ import annotations

import os
import uuid
from functools import partial
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Sequence

from swift.rewards import ORM, orms

from reasoning_gym_client import (
    REWARD_COMPONENTS,
    StepWatch,
    TrainerClient,
    Verdict,
    fill_unscored,
    group_components,
    is_eval_item,
    strip_special_tokens,
    task_mean,
)


class ReasoningGymReward(ORM):
    """Returns the rewards of a batch, given `completions` and the columns of its rows as lists of the same length."""

    components: ClassVar[Dict[str, List[float]]] = {}  #: of the rewards of the last call

    def __init__(self, args: Any = None, **options: Any) -> None:
        super().__init__(args, **options)
        self.server = TrainerClient("swift", deadline_s=float(os.environ.get("REASONING_GYM_DEADLINE_S", "600")))
        # global_step counts optimizer steps, of which there may be several after one generation
        self.steps = None if self.server.run_name is None else StepWatch(self.server.run, first=1, leaves_out=True)
        self.group_size: Optional[int] = getattr(args, "num_generations", None)

    def __call__(self, completions: Sequence[str], **columns: Any) -> List[float]:
        """One reward for each completion, in order. Raises ValueError without the column `item_id`."""
        rows = _rows(columns, len(completions))
        if any(not row.get("item_id") for row in rows):
            raise ValueError("rows need the column item_id, as in GET /dataset.jsonl?format=swift")
        state = columns.get("trainer_state")
        if self.steps is not None and state is not None:
            self.steps.begin(int(state.global_step) + 1)
        groups: Dict[Any, List[int]] = {}
        for k, row in enumerate(rows):
            # Two rows of a batch may have the same item. prompt_id distinguishes their groups.
            groups.setdefault((row.get("prompt_id"), str(row["item_id"])), []).append(k)
        verdicts: List[Verdict] = [{"status": "unscored", "reward": None, "score": None} for _ in completions]
        alone: Dict[str, List[int]] = {"mean": [], "null": []}  # with a run, the server knows the rest of each group
        for (_, item_id), members in groups.items():
            counts = self.server.run_name is not None and not is_eval_item(item_id)
            if not counts or len(members) != self.group_size:
                alone["mean" if counts else "null"] += members
                continue
            posted = self.server.run.post(
                item_id,
                [_rollout(strip_special_tokens(completions[k]), rows[k]) for k in members],
                group_id=uuid.uuid4().hex,
                buffer=False,  # ms-swift keeps the rollouts itself
                wait_s=self.server.deadline_s,
            )
            for k, verdict in zip(members, posted.get("verdicts") or []):  # none: not scored in time
                verdicts[k] = verdict
        for unscored, some in alone.items():
            self._score_parts(some, completions, rows, verdicts, unscored)
        run = None if self.server.run_name is None else self.server.run
        rewards, components = [0.0] * len(rows), [{name: 0.0 for name in REWARD_COMPONENTS} for _ in rows]
        for (_, item_id), members in groups.items():  # last, so that the task has a mean
            filled = fill_unscored([verdicts[k]["reward"] for k in members], partial(task_mean, run, item_id))
            for k, reward, parts in zip(members, filled, group_components([verdicts[k] for k in members], filled)):
                rewards[k], components[k] = reward, parts
        ReasoningGymReward.components = {name: [parts[name] for parts in components] for name in REWARD_COMPONENTS}
        return rewards

    def _score_parts(
        self, alone: Sequence[int], completions: Sequence[str], rows: Sequence[Mapping[str, Any]], verdicts: List[Verdict], unscored: str
    ) -> None:
        samples = [
            {
                "item_id": str(rows[k]["item_id"]),
                "rollout_id": uuid.uuid4().hex,
                **_rollout(strip_special_tokens(completions[k]), rows[k]),
            }
            for k in alone
        ]
        found = self.server.client.samples(samples, run=self.server.run_name, adapter="swift", unscored=unscored)
        for k, verdict in zip(alone, found["verdicts"]):
            verdicts[k] = verdict


def _rows(columns: Mapping[str, Any], count: int) -> List[Dict[str, Any]]:
    """The columns as rows. Arguments that are not columns, such as `trainer_state`, are left out."""
    lists = {name: values for name, values in columns.items() if isinstance(values, list) and len(values) == count}
    return [{name: values[k] for name, values in lists.items()} for k in range(count)]


def _rollout(completion: str, row: Mapping[str, Any]) -> Dict[str, Any]:
    tokens = row.get("response_token_ids")
    length = {} if not tokens else {"length_tokens": _count(tokens)}
    reason = {} if not row.get("finish_reason") else {"finish_reason": row["finish_reason"]}
    return {"completion": completion, **length, **reason}


def _count(tokens: Any) -> int:
    """The number of tokens in all turns, by which ms-swift nests them."""
    return sum(_count(part) for part in tokens) if isinstance(tokens[0], list) else len(tokens)


class Correct(ReasoningGymReward):
    """The first component of the rewards. It scores the completions, so it comes before the other components."""

    def __call__(self, completions: Sequence[str], **columns: Any) -> List[float]:
        super().__call__(completions, **columns)
        return self.components.pop("correct")


class Component(ORM):
    """Another component of the rewards of the batch that was just scored."""

    name: ClassVar[str]

    def __call__(self, completions: Sequence[str], **columns: Any) -> List[float]:
        if self.name not in ReasoningGymReward.components:
            raise ValueError("reward_funcs: reasoning_gym_correct comes first, and each component once")
        return ReasoningGymReward.components.pop(self.name)


orms["reasoning_gym"] = ReasoningGymReward
orms["reasoning_gym_correct"] = Correct
for name in list(REWARD_COMPONENTS)[1:]:
    orms[f"reasoning_gym_{name}"] = type(name, (Component,), {"name": name})
