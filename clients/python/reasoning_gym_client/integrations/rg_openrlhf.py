"""OpenRLHF: items of the run's curriculum in place of a fixed data set, and their rewards.

    export REASONING_GYM_URL=http://trainer:KEY@host:8000 REASONING_GYM_RUN=my-run REASONING_GYM_PER_STEP=128
    python rg_openrlhf.py 100000 > rows.jsonl
    … --train.agent_func_path rg_openrlhf.py \\
      --data.prompt_dataset rows.jsonl --data.input_key prompt --data.label_key label

A row's label is a position in the run's sequence (a number), whose item replaces the row's prompt, chat template included; or
an item ID, and then the prompt stays as it is (the rows of `GET /dataset.jsonl?format=openrlhf`, with
`--data.label_key item_id --data.apply_chat_template`). All samples of a row get the same item. REASONING_GYM_PER_STEP is the
`--rollout.batch_size`.

A rollout that could not be scored has reward 0 and `unscored` 1 in the logs, since OpenRLHF has no mask: an exception or None
would end the run. An outage of the server is waited for, 10 minutes by default (REASONING_GYM_DEADLINE_S).
"""

# mypy: disable-error-code="import-not-found,import-untyped,misc"
# Where types are checked the trainer's package need not be installed; its classes and decorators are Any then.

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Mapping, Optional

from reasoning_gym_client import Item, TrainerClient, in_thread, strip_special_tokens

if __name__ == "__main__":  # only to write the rows: needs no OpenRLHF
    for position in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000):
        print(json.dumps({"prompt": f"position {position}", "label": str(position)}))
    sys.exit(0)

from openrlhf.utils.agent import AgentInstanceBase, MultiTurnAgentExecutor

server = TrainerClient("openrlhf", deadline_s=float(os.environ.get("REASONING_GYM_DEADLINE_S", "600")))


class AgentInstance(AgentInstanceBase):
    """One rollout: a single turn, scored."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    async def reset(self, states: Dict[str, Any], **_: Any) -> Dict[str, Any]:
        """The prompt as it is: AgentExecutor has put the item there."""
        return {"observation": states["observation"]}

    async def step(self, state_dict: Mapping[str, Any], **_: Any) -> Dict[str, Any]:
        """Scores `action_text` for the item `label`. Raises what the server refuses, and an outage that lasts."""
        completion = strip_special_tokens(state_dict["action_text"])
        verdict = await in_thread(server.sample, str(state_dict["label"] or ""), completion)
        reward = verdict["reward"] if verdict["status"] == "scored" else 0.0
        score = verdict["score"] if verdict["status"] == "scored" else 0.0
        return {
            "rewards": _Scalar(reward or 0.0),
            "scores": float(score or 0.0),
            "environment_feedback": "",
            "done": True,
            # The same keys each time: OpenRLHF averages them over the batch.
            "extra_logs": {
                "unscored": float(verdict["status"] != "scored"),
                "no_answer": float(verdict.get("fault") == "no_answer"),
                "fault": float(verdict.get("fault") is not None),
            },
        }


class _Scalar(float):
    """A reward as OpenRLHF reads it, with `item()`, without torch."""

    def item(self) -> float:
        return float(self)


class AgentExecutor(MultiTurnAgentExecutor):
    """What OpenRLHF looks for in the file. It is one per engine, and runs many rollouts at once."""

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
        """One rollout; a label that is a number is the position of its item. The result's label is the item's ID."""
        if isinstance(label, int) or str(label).isdecimal():
            item: Item = await in_thread(server.positions.__getitem__, int(label))
            label = item["id"]
            prompt = hf_tokenizer.apply_chat_template(item["messages"], tokenize=False, add_generation_prompt=True)
        result: Dict[str, Any] = await super().execute(
            prompt, label, sampling_params, max_length, hf_tokenizer, llm_engine, images
        )
        return result
