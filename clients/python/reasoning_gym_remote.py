"""verifiers v1 and prime-rl: a taskset whose items, and rewards, come from a run of the server.

    export REASONING_GYM_URL=http://trainer:KEY@host:8000

    [env.taskset]                         # vf-eval; for prime-rl [orchestrator.train.source.env.taskset]
    id = "reasoning-gym-remote"
    run = "my-run"

verifiers imports it as `reasoning_gym_remote`, so it is a module of its own beside the client. Without `size` it never ends, as
prime-rl's training wants: task number k is the item at position k of the run, so a resume that skips what was pulled
comes to the same items. With `size` it has the first `size` positions, for vf-eval and for prime-rl's difficulty pools.

A rollout that could not be scored raises: verifiers records an error of the rollout, which prime-rl leaves out, and no reward.
An outage of the server is waited for (`deadline_s`) and raises then.
"""

# mypy: disable-error-code="import-not-found,import-untyped,misc,untyped-decorator,no-any-return"
# Where types are checked the trainer's package need not be installed; its classes and decorators are Any then.

from __future__ import annotations

import itertools
from typing import Any, Iterator, List, Optional

import verifiers.v1 as vf
from pydantic import Field
from reasoning_gym_client import Item, TrainerClient, in_thread

__all__ = ["ReasoningGymTaskset"]


class ReasoningGymTaskConfig(vf.TaskConfig):
    """How rewards are asked for. The taskset fills in its own `url` and `run` where these are None."""

    url: Optional[str] = None
    run: Optional[str] = None
    deadline_s: float = Field(600.0, gt=0)


class ReasoningGymConfig(vf.TasksetConfig):
    """Where the items come from. None: REASONING_GYM_URL and REASONING_GYM_RUN; the key comes from the environment alone, since
    verifiers writes its configuration beside the results."""

    url: Optional[str] = None
    run: Optional[str] = None
    size: Optional[int] = Field(None, ge=1)
    per_step: int = Field(64, ge=1, le=1024)
    task: ReasoningGymTaskConfig = ReasoningGymTaskConfig()


class ReasoningGymData(vf.TaskData):
    """An item; its answer stays on the server."""

    item_id: str
    difficulty: Optional[float] = None


class ReasoningGymTask(vf.Task[ReasoningGymData, vf.State, ReasoningGymTaskConfig]):
    """One item, scored by the server once the rollout is over."""

    @property
    def key(self) -> str:
        return self.data.item_id

    @vf.reward
    async def reasoning_gym(self, trace: vf.Trace) -> float:
        """The run's reward of the last reply. Raises if it could not be scored, or the server is away for `deadline_s`."""
        verdict = await in_thread(
            _server(self.config).sample,
            self.data.item_id,
            trace.last_reply,
            rollout_id=trace.id,
            length_tokens=trace.num_output_tokens or None,
            finish_reason="length" if trace.is_truncated else None,
        )
        if verdict["status"] != "scored":
            raise RuntimeError(f"not scored: {verdict['code']}: {verdict['detail']}")
        trace.record_metrics(
            {
                "score": verdict["score"],
                "no_answer": float(verdict["fault"] == "no_answer"),
                "fault": float(verdict["fault"] is not None),
            }
        )
        return float(verdict["reward"])


class ReasoningGymTaskset(vf.Taskset[ReasoningGymTask, ReasoningGymConfig]):
    """The items of a run by position."""

    INFINITE = True

    def __init__(self, config: ReasoningGymConfig) -> None:
        super().__init__(config)
        if config.size is not None:
            self.INFINITE = False
        own = {"url": config.url, "run": config.run}
        given = {name: value for name, value in own.items() if getattr(config.task, name) is None}
        self.task_config = config.task.model_copy(update=given)

    def load(self) -> Iterator[ReasoningGymTask]:
        """Asks for `per_step` items at a time, when they are pulled."""
        positions = _server(self.task_config, self.config.per_step).positions
        for position in itertools.count() if self.config.size is None else range(self.config.size):
            yield ReasoningGymTask(_data(positions[position]), self.task_config)


def _data(item: Item) -> ReasoningGymData:
    system, rest = _split(item["messages"])
    return ReasoningGymData(
        id=item["id"],
        item_id=item["id"],
        name=item["task"],
        difficulty=item.get("difficulty"),
        prompt=rest,
        system_prompt=system,
    )


def _split(messages: List[Any]) -> "tuple[Optional[str], str]":
    """The system prompt, and what the user says."""
    by_role = {role: [m["content"] for m in messages if m["role"] == role] for role in ("system", "user")}
    return ("\n\n".join(by_role["system"]) or None, "\n\n".join(by_role["user"]))


_servers: "dict[tuple[Any, ...], TrainerClient]" = {}


def _server(config: ReasoningGymTaskConfig, per_step: Optional[int] = None) -> TrainerClient:
    """One client for each address and run in a process: tasks are many, and travel between processes."""
    key = (config.url, config.run, config.deadline_s, per_step)
    if key not in _servers:
        _servers[key] = TrainerClient(
            "verifiers",
            url=config.url,
            run=config.run,
            per_step=per_step,
            deadline_s=config.deadline_s,
        )
    return _servers[key]
