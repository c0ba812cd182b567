"""A workflow for AReaL: RLVRWorkflow with items and rewards of the server.

    trainer.train(
        workflow="reasoning_gym_client.integrations.rg_areal.ReasoningGymWorkflow",
        workflow_kwargs={"gconfig": config.gconfig, "tokenizer": config.tokenizer_path},
    )

Rows have `item_id` beside their prompt (`GET /dataset.jsonl?format=hf`). For live items, use rows with only a `position`, such as
their number: a row takes the run's next item each time it is read. AReaL's version of the weights is the step of the run. If
AReaL recovers from an earlier version, the run is rewound to it.

A rollout that could not be scored is rejected: AReaL trains on the other rollouts of its group. While the server is down, calls
are retried for 10 minutes (REASONING_GYM_DEADLINE_S); then the exception rejects the rollout, too. A wrong key or run raises when the
workflow is created. Up to 64 calls run at once,
outside AReaL's pool of reward processes, whose timeouts would become rewards of 0.
"""

# mypy: disable-error-code="import-not-found,import-untyped,misc"
# The trainer's package may be missing where types are checked. Its classes and decorators are then Any.

from __future__ import annotations

import logging
import os
import threading
from typing import Any, Dict, Optional

from areal.workflow.rlvr import RLVRWorkflow

from reasoning_gym_client import StepWatch, TrainerClient, Unscored, in_thread, require_reward, strip_special_tokens

log = logging.getLogger("reasoning_gym_client.areal")

_server: Optional[TrainerClient] = None
_steps: Optional[StepWatch] = None
_lock = threading.Lock()


def server() -> TrainerClient:
    """The client of this process."""
    global _server
    if _server is None:
        _server = TrainerClient("areal", deadline_s=float(os.environ.get("REASONING_GYM_DEADLINE_S", "600")))
    return _server


def begin_step(version: int) -> None:
    """Tells the run the version of the weights. Other processes do the same."""
    global _steps
    with _lock:  # no item is requested before the run is rewound
        if _steps is None:
            _steps = StepWatch(server().run, alone=False)
        _steps.begin(version)


class ReasoningGymWorkflow(RLVRWorkflow):
    """`options` are the other arguments of RLVRWorkflow, such as `enable_thinking`."""

    def __init__(self, gconfig: Any, tokenizer: Any, **options: Any) -> None:
        super().__init__("unused", gconfig, tokenizer, **options)
        self.reward_fn = None  # RLVRWorkflow would import the name
        server().check()  # AReaL would reject rollouts without end

    async def arun_episode(self, engine: Any, data: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """One rollout, or None if it could not be scored. Raises Unreachable or Problem if the server is down."""
        if not data.get("item_id") and data.get("position") is not None:
            row = server().rows.begin(data["position"])  # the other rollouts of the group get its item while this one runs
            await in_thread(begin_step, int(engine.get_version()))
            item = await in_thread(row.get)
            data = {**data, "item_id": item["id"], "messages": item["messages"]}
        try:
            rollout: Optional[Dict[str, Any]] = await super().arun_episode(engine, data)
            return rollout
        except Unscored as error:
            log.warning("a rollout could not be scored and is left out: %s", error)
            return None

    async def _compute_rewards(self, resp: Any, prompt_str: str, task_data: Dict[str, Any]) -> float:
        completion = strip_special_tokens(self.tokenizer.decode(resp.output_tokens))
        length = len(resp.output_tokens)
        verdict = await in_thread(server().sample, str(task_data.get("item_id") or ""), completion, length_tokens=length)
        return require_reward(verdict)
