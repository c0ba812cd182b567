"""An agent file for OpenRLHF with items from the run's curriculum, in place of a fixed data set, and their rewards.

    export REASONING_GYM_URL=http://trainer:KEY@host:8000 REASONING_GYM_RUN=my-run
    python rg_openrlhf.py 100000 > rows.jsonl
    … --train.agent_func_path rg_openrlhf.py \\
      --data.prompt_dataset rows.jsonl --data.input_key prompt --data.label_key label

The label of a row is one of two things. All samples of a row get the same item.

* A number: the row takes the run's next item each time it is read. The item, with the chat template applied, replaces the prompt.
* An item ID: the prompt stays as it is. Use the rows of `GET /dataset.jsonl?format=openrlhf` with
  `--data.label_key item_id --data.apply_chat_template`.

OpenRLHF does not tell an agent its step. So the run has none, and cannot be rewound when OpenRLHF resumes.

OpenRLHF has no mask, and an exception or None ends the training. So a rollout that could not be scored gets the mean reward of its
complete group, or else of its task in the run so far, and `unscored` is 1 in the logs. While there is no such mean, without a run, and
while the server is down, calls are retried for 10 minutes (REASONING_GYM_DEADLINE_S); then the exception is raised.
"""

# mypy: disable-error-code="import-not-found,import-untyped,misc"
# The trainer's package may be missing where types are checked. Its classes and decorators are then Any.

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Mapping, Optional

from reasoning_gym_client import Item, TrainerClient, in_thread, require_reward, strip_special_tokens

if __name__ == "__main__":  # writes the rows, without OpenRLHF
    for position in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000):
        print(json.dumps({"prompt": f"row {position}", "label": str(position)}))
    sys.exit(0)

from openrlhf.utils.agent import AgentInstanceBase, MultiTurnAgentExecutor

server = TrainerClient("openrlhf", deadline_s=float(os.environ.get("REASONING_GYM_DEADLINE_S", "600")))


class AgentInstance(AgentInstanceBase):
    """One rollout: a single turn, scored."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    async def reset(self, states: Dict[str, Any], **_: Any) -> Dict[str, Any]:
        """The prompt unchanged: AgentExecutor has already inserted the item."""
        return {"observation": states["observation"]}

    async def step(self, state_dict: Mapping[str, Any], **_: Any) -> Dict[str, Any]:
        """Scores `action_text` for the item `label`. Raises Problem for an error response, Unreachable if the server stays down."""
        completion = strip_special_tokens(state_dict["action_text"])
        verdict = await in_thread(server.sample, str(state_dict["label"] or ""), completion, unscored="mean")
        reward = require_reward(verdict)
        return {
            "rewards": _Scalar(reward),
            "scores": float(verdict["score"] if verdict["status"] == "scored" else reward),
            "environment_feedback": "",
            "done": True,
            # Always the same keys, because OpenRLHF averages them over the batch.
            "extra_logs": {
                "unscored": float(verdict["status"] != "scored"),
                "no_answer": float(verdict.get("fault") == "no_answer"),
                "fault": float(verdict.get("fault") is not None),
            },
        }


class _Scalar(float):
    """A number with the method `item()`, which OpenRLHF calls. It avoids an import of torch."""

    def item(self) -> float:
        return float(self)


class AgentExecutor(MultiTurnAgentExecutor):
    """The class that OpenRLHF loads from the file. Each engine has one, which runs many rollouts at once."""

    def __init__(self) -> None:
        super().__init__(AgentInstance)

    async def execute(
        self,
        prompt: str,
        label: Any,
        sampling_params: Any,
        max_length: int,
        hf_tokenizer: Any,
        llm_engine: Any,
        images: Optional[List[Any]] = None,
    ) -> Dict[str, Any]:
        """Runs one rollout. The label of the result is the item ID."""
        if isinstance(label, int) or str(label).isdecimal():
            row = server.rows.begin(str(label))  # the other rollouts of the group get its item while this one runs
            item: Item = await in_thread(row.get)
            label = item["id"]
            prompt = hf_tokenizer.apply_chat_template(item["messages"], tokenize=False, add_generation_prompt=True)
        result: Dict[str, Any] = await super().execute(
            prompt, label, sampling_params, max_length, hf_tokenizer, llm_engine, images
        )
        return result
