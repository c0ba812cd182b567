"""Client for reasoning-gym-server: standard library only, Python 3.10 or newer.

    from reasoning_gym_client import Client

    client = Client("http://127.0.0.1:8000")
    run = client.run("first")
    for item in run.items(8):
        completions = my_model(item["messages"])
        run.post(item["id"], [{"completion": text} for text in completions], policy_version=0)
    batch = run.batch(step=0, min_rollouts=1)      # waits until the batch is complete
    for group in batch["groups"]:
        for rollout, verdict in zip(group["rollouts"], group["verdicts"]):
            ...                                      # verdict["reward"], verdict["advantage"]
    run.ack(step=0)

`Client()` without a URL reads the environment variables REASONING_GYM_URL and REASONING_GYM_API_KEY.

`AsyncClient` has the same methods for asyncio: `group = await run.post(…)`, `async for row in run.export()`.

What the client does for you:

* Retries. Every call can safely be repeated, so the client retries lost connections, 408, 429, 502, 503, 504, and a 409 with
  Retry-After (another call was changing the same run). Pauses grow exponentially with jitter, and are never shorter than the
  server's Retry-After. `retry_for_s` limits the total time.
* Connections. Each thread keeps one connection open. Threads can share a client. It survives a fork and can be pickled.
* Positions. `Run.positions` returns the same item for the same position in every process.
* Arrays. Wherever the server takes numbers, you can pass numpy arrays or torch tensors on the CPU. They are sent as typed bytes
  and never rounded. Batches return all lists of numbers as numpy arrays, or as `array.array` if numpy is not installed.
* Compression of large bodies with gzip.

Results are plain dicts with the server's field names. The TypedDicts below describe them.
"""

from ._async_client import AsyncClient, AsyncRun
from ._async_positions import AsyncPositions
from ._client import Client, Positions, Run
from ._env import VERSION as __version__
from ._errors import NotReady, Problem, ReasoningGymError, RunLost, Unreachable
from ._models import (
    Batch, BatchGroup, Collection, Eval, Group, Item, Message, PostedGroup, Rollout, SampleFailure, Scores, Verdict,
)
from ._resume import StepWatch, resume_run
from ._trainer import (
    REWARD_COMPONENTS, TrainerClient, Unscored, fill_unscored, group_components, is_eval_item, in_thread,
    require_reward, strip_special_tokens, task_mean,
)

__all__ = [
    "Client", "Run", "Positions", "AsyncClient", "AsyncRun", "AsyncPositions", "TrainerClient", "StepWatch",
    "resume_run", "in_thread", "Unscored", "REWARD_COMPONENTS", "fill_unscored", "group_components", "is_eval_item",
    "require_reward", "task_mean", "strip_special_tokens", "ReasoningGymError", "Problem", "Unreachable", "NotReady",
    "RunLost", "Item", "Message", "Rollout", "Verdict", "Group", "PostedGroup", "Batch", "BatchGroup", "Scores", "Eval",
    "Collection",
]
