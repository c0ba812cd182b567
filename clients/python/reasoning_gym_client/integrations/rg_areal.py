"""AReaL: a reward function, and a prompt function for items of the run's curriculum.

    RLVRWorkflow(reward_fn="reasoning_gym_client.integrations.rg_areal.reward", …)

Rows carry `item_id` beside their `messages` (`GET /dataset.jsonl?format=hf`). For live items give rows with a `position` and nothing else
that matters, and `data_extract_prompt_fn="reasoning_gym_client.integrations.rg_areal.live_prompt"`: all processes then find the
same item for the same position.

AReaL gives a reward 15 s, tries four times, and then **takes 0**. So `reward` answers or raises within 12 s; four times raised,
AReaL raises too. A rollout that could not be scored has reward 0, since AReaL has no mask; it is logged as a warning and
counted by the server (`rgs_unscored_total`).
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
    """The client of this process: AReaL runs rewards in a pool of processes."""
    global _server
    if _server is None:
        _server = TrainerClient("areal", deadline_s=float(os.environ.get("REASONING_GYM_DEADLINE_S", DEADLINE_S)))
    return _server


def reward(
    prompt: Any, completions: str, prompt_ids: Any = None, completion_ids: Optional[Sequence[int]] = None, **row: Any
) -> float:
    """The reward of one completion; 0 if it could not be scored. `row` has `item_id` or `position`.

    Raises Unreachable or Problem after 12 s of an outage.
    """
    length = {} if completion_ids is None else {"length_tokens": len(completion_ids)}
    verdict = server().sample(server().item_id(row), strip_special_tokens(completions), **length)
    if verdict["status"] != "scored":
        log.warning("not scored, so its reward is 0: %s: %s", verdict["code"], verdict["detail"])
    return float(verdict.get("reward") or 0.0)


def live_prompt(data: Mapping[str, Any]) -> List[Message]:
    """The messages of the item at the row's `position`; those of the row if it has an `item_id`."""
    if data.get("item_id") or data.get("position") is None:
        messages: List[Message] = data["messages"]
        return messages
    return server().positions[int(data["position"])]["messages"]
