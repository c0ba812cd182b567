"""An environment for SkyRL. Each row has an item ID, or takes the run's next item.

Register it in the entry script, before training starts, and on the workers:

    import skyrl_gym
    skyrl_gym.register(
        id="reasoning_gym", entry_point="reasoning_gym_client.integrations.rg_skyrl:ReasoningGymEnv"
    )

Rows are `{"prompt": [messages], "env_class": "reasoning_gym", "reward_spec": {"method": "rule", "ground_truth": ""},
"extra_info": {"item_id": …}}`, as in `GET /dataset.jsonl?format=skyrl`. With `{"position": 17}` in `extra_info`, any
number of its own, a row takes the run's next item each time it is read, so that the difficulty follows the curriculum, and the
item replaces the prompt. SkyRL does not tell an environment its step. So the run has none, and cannot be rewound when SkyRL
resumes.

A SkyRL environment has no mask, so a rollout that could not be scored gets the mean reward of its complete group, or else of its task
in the run so far, and the metric `unscored` is 1. While there is no such mean, without a run, and while the server is down, calls are
retried for 10 minutes (REASONING_GYM_DEADLINE_S); then the exception is raised.
"""

# mypy: disable-error-code="import-not-found,import-untyped,misc"
# The trainer's package may be missing where types are checked. Its classes and decorators are then Any.

from __future__ import annotations

import os
import uuid
from typing import Any, Dict, List, Mapping, Optional, Tuple

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from reasoning_gym_client import Message, TrainerClient, Verdict, require_reward, strip_special_tokens

_server: Optional[TrainerClient] = None


def server() -> TrainerClient:
    """The client of this process."""
    global _server
    if _server is None:
        _server = TrainerClient("skyrl", deadline_s=float(os.environ.get("REASONING_GYM_DEADLINE_S", "600")))
    return _server


class ReasoningGymEnv(BaseTextEnv):
    """A single-turn episode. `extras` is the row; the fields of `extra_info` may also be at its top level."""

    def __init__(self, env_config: Any = None, extras: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__()
        extras = extras or {}
        self.row: Dict[str, Any] = {**extras, **(extras.get("extra_info") or {})}
        self.rollout_id = uuid.uuid4().hex
        self.item_id = str(self.row.get("item_id") or "")
        is_live = not self.item_id and self.row.get("position") is not None
        # the other episodes of the group get the item of the row for as long as this one exists
        self.live = server().rows.begin(self.row["position"]) if is_live else None
        self.verdict: Optional[Verdict] = None

    def init(self, prompt: List[Message]) -> Tuple[List[Message], Dict[str, Any]]:
        """The prompt of the row, or of the item that it takes; and the item ID as metadata."""
        if self.live is None:
            return prompt, {"item_id": self.item_id}
        item = self.live.get()
        self.item_id = item["id"]
        return item["messages"], {"item_id": self.item_id, "task": item["task"], "difficulty": item.get("difficulty")}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Scores the completion; the episode is over."""
        self.turns += 1
        completion = strip_special_tokens(action)
        self.verdict = server().sample(self.item_id, completion, rollout_id=self.rollout_id, unscored="mean")
        self.live = None
        return BaseTextEnvStepOutput(
            observations=[], reward=require_reward(self.verdict), done=True, metadata=dict(self.verdict)
        )

    def get_metrics(self) -> Dict[str, Any]:
        """`unscored`, `no_answer` and `fault`, 1.0 or 0.0; and the library's `score` if the completion was scored."""
        verdict = self.verdict
        if verdict is None:
            return {}
        is_scored = verdict["status"] == "scored"
        score = {"score": verdict["score"]} if is_scored else {}
        return {
            **score,
            "unscored": float(not is_scored),
            "no_answer": float(verdict.get("fault") == "no_answer"),
            "fault": float(verdict.get("fault") is not None),
        }
