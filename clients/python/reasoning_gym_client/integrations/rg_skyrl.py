"""SkyRL: an environment whose rows name an item, or a position in the run's sequence.

In the entry script, before training starts, also on the workers:

    import skyrl_gym
    skyrl_gym.register(
        id="reasoning_gym", entry_point="reasoning_gym_client.integrations.rg_skyrl:ReasoningGymEnv"
    )

Rows are `{"prompt": [messages], "env_class": "reasoning_gym", "reward_spec": {"method": "rule", "ground_truth": ""},
"extra_info": {"item_id": …}}`, those of `GET /dataset.jsonl?format=skyrl`. With `{"position": 17}` in `extra_info` the environment
asks for the item when the episode begins, so that the curriculum is live, and replaces the prompt.

A rollout that could not be scored has reward 0 and the metric `unscored`, since SkyRL has no mask. An outage of the server is
waited for, 10 minutes by default (REASONING_GYM_DEADLINE_S), and raised then.
"""

# mypy: disable-error-code="import-not-found,import-untyped,misc"
# Where types are checked the trainer's package need not be installed; its classes and decorators are Any then.

from __future__ import annotations

import os
import uuid
from typing import Any, Dict, List, Mapping, Optional, Tuple

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from reasoning_gym_client import Message, TrainerClient, Verdict, strip_special_tokens

_server: Optional[TrainerClient] = None


def server() -> TrainerClient:
    """The client of this process."""
    global _server
    if _server is None:
        _server = TrainerClient("skyrl", deadline_s=float(os.environ.get("REASONING_GYM_DEADLINE_S", "600")))
    return _server


class ReasoningGymEnv(BaseTextEnv):
    """One episode of one turn. `extras` is the row; `extra_info` may also stand flat in it."""

    def __init__(self, env_config: Any = None, extras: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__()
        extras = extras or {}
        self.row: Dict[str, Any] = {**extras, **(extras.get("extra_info") or {})}
        self.rollout_id = uuid.uuid4().hex
        self.item_id: Optional[str] = None
        self.verdict: Optional[Verdict] = None

    def init(self, prompt: List[Message]) -> Tuple[List[Message], Dict[str, Any]]:
        """The prompt of the row, or that of the item at the row's position."""
        if self.row.get("item_id") or self.row.get("position") is None:
            self.item_id = server().item_id(self.row)
            return prompt, {"item_id": self.item_id}
        item = server().positions[int(self.row["position"])]
        self.item_id = item["id"]
        return item["messages"], {"item_id": self.item_id, "task": item["task"], "difficulty": item.get("difficulty")}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Scores the completion; the episode is over."""
        self.turns += 1
        if self.item_id is None:
            self.item_id = server().item_id(self.row)
        self.verdict = server().sample(self.item_id, strip_special_tokens(action), rollout_id=self.rollout_id)
        return BaseTextEnvStepOutput(
            observations=[], reward=float(self.verdict.get("reward") or 0.0), done=True, metadata=dict(self.verdict)
        )

    def get_metrics(self) -> Dict[str, Any]:
        """`score` of the scored; `unscored`, `no_answer` and `fault` of all, as shares."""
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
