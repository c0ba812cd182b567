"""verifiers' own OpenEnv taskset through vf-eval, with the client of OpenEnv that verifiers pins."""

import asyncio
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Dict, List

from openenv import GenericEnvClient
from sample_checks import admin, count_groups
from toy_model import ToyModel
from trainer_checks import check, fixture, folder, run, same, until, url

SIZE = fixture["group_size"]
POSITIONS = 2
VF_EVAL = str(Path(sys.executable).with_name("vf-eval"))


class Player(ToyModel):
    """Reads the question from what the taskset shows: the observation and the schema of actions, as JSON."""

    def complete(self, messages: Any) -> Dict[str, Any]:
        return super().complete([{"content": json.loads(messages[-1]["content"])["observation"]["question"]}])


def say(item: Dict[str, Any], times: int) -> str:
    tagged = f"<think>So.</think><answer>{item['answer']}</answer>"
    replies = [tagged, json.dumps({"completion": tagged}), json.dumps({"answer": item["answer"]}), "I do not know."]
    return replies[times % SIZE]


def evaluate(model: ToyModel, name: str, base_url: str, resets: List[Dict[str, Any]], rollouts: int) -> List[Dict[str, Any]]:
    """The traces of one vf-eval."""
    config = Path(folder, f"{name}.toml")
    tables = ", ".join("{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in reset.items()) + " }" for reset in resets)
    config.write_text(f'[env.taskset]\nid = "openenv"\nbase_url = {json.dumps(base_url)}\nresets = [{tables}]\n')
    command = [VF_EVAL, "@", str(config), "-m", "toy", "-r", str(rollouts), "--no-push", "--no-rich"]
    command += ["--env.player.harness.id", "null", "--env.player.runtime.type", "subprocess"]
    command += ["--client.base-url", model.url, "--client.api-key-var", "TOY_KEY", "-o", folder, "--run.dir", name]
    done = subprocess.run(command, env={**os.environ, "TOY_KEY": "x"}, capture_output=True, text=True, timeout=200)
    traces = list(Path(folder, name).rglob("traces.jsonl"))
    if not traces:
        print(done.stdout[-3000:], done.stderr[-3000:])
        return []
    records = [json.loads(line) for line in traces[0].read_text().splitlines()]
    return [trace for record in records for trace in record.get("traces", [record])]


def rewards(traces: List[Dict[str, Any]]) -> List[float]:
    return sorted(trace["rewards"]["openenv_reward"]["score"] for trace in traces if trace["rewards"])


async def play() -> None:
    item = fixture["items"][0]
    async with GenericEnvClient(base_url=f"{url}/openenv") as env:
        await env.reset(item_id=item["id"])
        result = await env.step({"completion": item["right"]})
        same(f"openenv {version('openenv')}: async client, key in the URL", (result.reward, result.done), (1.0, True))


asyncio.run(play())
with GenericEnvClient(base_url=f"{url}/openenv").sync() as env:
    env.reset(item_id=fixture["items"][1]["id"])
    same(f"openenv {version('openenv')}: sync client", env.step({"message": fixture["items"][1]["wrong"]}).reward, 0.0)

model = Player(say)
before = count_groups(run)
traces = evaluate(model, "first", f"{url}/openenv/{run}", [{"position": 50 + k} for k in range(POSITIONS)], SIZE)
same("no errors", [error for trace in traces for error in trace["errors"]], [])
same("right as text, as JSON, as a bare answer; malformed", rewards(traces), sorted([1.0, 1.0, 1.0, 0.0] * POSITIONS))
same("group closes once", until(lambda: count_groups(run) - before, lambda groups: groups >= POSITIONS), POSITIONS)
asked = {item["id"] for item in (admin.call("POST", "/items", {"run": run, "position": 50 + k})["items"][0] for k in range(POSITIONS))}
same("positions", set(model.asked), asked)

unscored = fixture["unscored"]
stuck = Player(lambda item, times: unscored["completion"])
traces = evaluate(stuck, "unscored", f"{url}/openenv", [{"item_id": unscored["item"]["id"]}], 1)
errors = json.dumps([error for trace in traces for error in trace["errors"]])
check("unscored: an error of the episode, and no reward", unscored["code"] in errors and rewards(traces) == [], errors[:300])
