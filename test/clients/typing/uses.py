"""How programs use the client. Type checkers read this file and nothing runs it: each `type: ignore` must hide exactly that error."""

from __future__ import annotations

from typing import List, Optional

from reasoning_gym_client import Batch, Client, Eval, Item, Positions, Run, TrainerClient
from reasoning_gym_client.types import UpdatedRun


def settings(client: Client) -> None:
    run: Run = client.run("first")
    updated: UpdatedRun = run.put(batch_size=4, complexity_mode="curriculum", restart=True)
    names: List[str] = updated["changed"]
    incarnation: str = updated["incarnation"]
    print(names, incarnation, updated["progress"])
    run.put(group_size=None, system_prompt=None)
    run.put(batch_sise=4)  # type: ignore[call-arg]
    run.put(complexity_mode="no")  # type: ignore[arg-type]
    run.put(batch_size="4")  # type: ignore[arg-type]
    print(updated["change"])  # type: ignore[typeddict-item]


def train(run: Run) -> None:
    for item in run.items(8, step=0):
        messages = [dict(message) for message in item["messages"]]
        group = run.post(item["id"], [{"completion": str(messages)}], policy_version=0, wait_s=5)
        print(group["status"], group.get("mean_reward"))
    batch: Batch = run.batch(step=0, min_rollouts=1)
    for rows in batch["groups"]:
        for rollout, verdict in zip(rows["rollouts"], rows["verdicts"]):
            reward: Optional[float] = verdict["reward"]
            print(rollout.get("tokens"), reward, verdict.get("advantage"))
    released: bool = run.ack(0)
    print(released)
    run.batch("0")  # type: ignore[arg-type]
    run.item()  # type: ignore[attr-defined]


def measure(client: Client) -> Eval:
    items: List[Item] = client.make("leg_counting", count=2)
    rewards: List[Optional[float]] = client.rewards([item["id"] for item in items], ["1", "2"])
    verdict = client.score([{"item_id": items[0]["id"], "completion": "1"}])["verdicts"][0]
    print(rewards, verdict["status"], items[0]["answer"])  # type: ignore[typeddict-item]
    state = client.evaluate(lambda conversations: ["" for _ in conversations], "quick")
    print(state["id"], state["status"])
    return state


def rows(trainer: TrainerClient) -> str:
    positions: Positions = trainer.positions
    return positions[3]["id"]
