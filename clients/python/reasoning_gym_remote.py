"""A taskset for verifiers v1 and prime-rl whose items and rewards come from a run of the server.

    export REASONING_GYM_URL=http://trainer:KEY@host:8000

    [env.taskset]                         # vf-eval; for prime-rl [orchestrator.train.source.env.taskset]
    id = "reasoning-gym-remote"
    run = "my-run"

verifiers imports tasksets as top-level modules, so this one is beside the client package and not in it. Task k is the item at
position k of the run. Without `size` the taskset is endless, as training with prime-rl needs: a resume skips the tasks that were
used and gets the same items as before. With `size` it has the first `size` positions, as vf-eval and the difficulty pools of
prime-rl need.

If a rollout could not be scored, the reward function raises: verifiers records an error of the rollout and no reward, and prime-rl
excludes the rollout. With `tries` above 1 in the run, the rollout goes on after a wrong reply with the run's `retry_prompt` as the
next message of the user; all turns are scored as one rollout. While the server is down, calls are retried for `deadline_s` seconds;
then the exception is raised.
"""

# mypy: disable-error-code="import-not-found,import-untyped,misc,untyped-decorator,no-any-return"
# The trainer's package may be missing where types are checked. Its classes and decorators are then Any.

from __future__ import annotations

import itertools
from typing import Any, Iterator, List, Optional

import verifiers.v1 as vf
from pydantic import Field
from reasoning_gym_client import Item, TrainerClient, in_thread

__all__ = ["ReasoningGymEnv", "ReasoningGymTaskset"]


class ReasoningGymTaskConfig(vf.TaskConfig):
    """Where rewards come from. If `url` or `run` is None, that of the taskset applies. `deadline_s`: seconds to retry a call."""

    url: Optional[str] = None
    run: Optional[str] = None
    deadline_s: float = Field(600.0, gt=0)


class ReasoningGymConfig(vf.TasksetConfig):
    """Where the items come from. If `url` or `run` is None, REASONING_GYM_URL or REASONING_GYM_RUN applies. Set the key in the
    environment, not here: verifiers writes its configuration beside the results. `per_step`: items requested at once."""

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
        """The run's reward for the last reply, or for all turns. Raises if it could not be scored, or if the server is down for
        `deadline_s`."""
        verdict = await in_thread(
            _server(self.config).sample,
            self.data.item_id,
            trace.last_reply,
            rollout_id=trace.id,
            length_tokens=trace.num_output_tokens or None,
            finish_reason="length" if trace.is_truncated else None,
            turns=trace.info.get("turns"),
        )
        if verdict["status"] != "scored":
            raise RuntimeError(f"not scored: {verdict['code']}: {verdict['detail']}")
        trace.record_metrics(
            {
                "score": verdict["score"],
                "no_answer": float(verdict["fault"] == "no_answer"),
                "fault": float(verdict["fault"] is not None),
                "tries": float(len(verdict.get("turns") or "1")),
            }
        )
        return float(verdict["reward"])


class ReasoningGymEnv(vf.SingleAgentEnv):
    """One agent, which tries again after a wrong reply where the run allows several tries."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        server = _server(task.config)
        if await in_thread(lambda: server.tries) == 1:
            await super().run(task, agents)
            return
        turns: List[str] = []
        async with agents.agent.interaction(task) as interaction:
            segment = await interaction.turn()
            while segment.last_reply:
                turns.append(segment.last_reply)
                interaction.trace.info["turns"] = turns
                prompt = None if segment.terminated else await in_thread(server.retry_prompt, task.data.item_id, turns)
                if prompt is None:
                    break
                segment = await interaction.turn(prompt)


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
        """Requests `per_step` items at a time, just before they are used."""
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
    """The system prompt and the user's message."""
    by_role = {role: [m["content"] for m in messages if m["role"] == role] for role in ("system", "user")}
    return ("\n\n".join(by_role["system"]) or None, "\n\n".join(by_role["user"]))


_servers: "dict[tuple[Any, ...], TrainerClient]" = {}


def _server(config: ReasoningGymTaskConfig, per_step: int = 64) -> TrainerClient:
    """The client of this process for a URL and run, shared by all tasks, which are pickled to other processes."""
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
