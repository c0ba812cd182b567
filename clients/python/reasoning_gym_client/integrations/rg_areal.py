"""A reward function for AReaL, and a prompt function for items of the run's curriculum.

    RLVRWorkflow(reward_fn="reasoning_gym_client.integrations.rg_areal.reward", …)

Rows have `item_id` beside their prompt (`GET /dataset.jsonl?format=hf`). For live items, use rows with only a `position`, and set
`data_extract_prompt_fn="reasoning_gym_client.integrations.rg_areal.live_prompt"`: every process gets the same item for the same
position.

AReaL allows a reward function 15 s and tries it four times. After four timeouts it **uses 0**; after four exceptions it raises.
Therefore each call to the server raises after 12 s (REASONING_GYM_DEADLINE_S). AReaL has no mask, so a rollout that could not be
scored gets reward 0. The integration logs a warning for it, and the server counts it (`rgs_unscored_total`).
"""

from __future__ import annotations

import logging
import os
from typing import Any, List, Mapping, Optional, Sequence

from reasoning_gym_client import Message, TrainerClient, strip_special_tokens

log = logging.getLogger("reasoning_gym_client.areal")

#: AReaL's own limit is 15 s.
DEADLINE_S = 12.0

_server: Optional[TrainerClient] = None


def server() -> TrainerClient:
    """The client of this process. AReaL runs reward functions in a pool of processes."""
    global _server
    if _server is None:
        _server = TrainerClient("areal", deadline_s=float(os.environ.get("REASONING_GYM_DEADLINE_S", DEADLINE_S)))
    return _server


def reward(
    prompt: Any, completions: str, prompt_ids: Any = None, completion_ids: Optional[Sequence[int]] = None, **row: Any
) -> float:
    """Returns the reward of one completion, or 0 if it could not be scored. `row` has `item_id` or `position`.

    Raises Unreachable or Problem if the server is down for 12 s.
    """
    length = {} if completion_ids is None else {"length_tokens": len(completion_ids)}
    verdict = server().sample(server().item_id(row), strip_special_tokens(completions), **length)
    if verdict["status"] != "scored":
        log.warning("the completion could not be scored and gets reward 0: %s: %s", verdict["code"], verdict["detail"])
    return float(verdict.get("reward") or 0.0)


def live_prompt(data: Mapping[str, Any]) -> List[Message]:
    """Returns the messages of the item at the row's `position`, or the row's `messages` if it has an `item_id` or no position."""
    if data.get("item_id") or data.get("position") is None:
        messages: List[Message] = data["messages"]
        return messages
    return server().positions[int(data["position"])]["messages"]
