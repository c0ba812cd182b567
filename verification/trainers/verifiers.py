"""verifiers' own vf-eval with our taskset: items of a run by position, rewards, errors, a restart, resumes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

from sample_checks import admin, count_groups, environment
from toy_model import ToyModel
from trainer_checks import check, fixture, folder, meanwhile, run, same, until, url

os.environ.update(environment())
SIZE = fixture["group_size"]
VF_EVAL = str(Path(sys.executable).with_name("vf-eval"))


def evaluate(model: ToyModel, name: str, *flags: str, rollouts: int = SIZE) -> List[Dict[str, Any]]:
    """The traces of one vf-eval."""
    command = [VF_EVAL, "reasoning-gym-remote", "-m", "toy", "-r", str(rollouts), "--no-push", "--no-rich"]
    command += ["--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess"]
    command += ["--client.base-url", model.url, "--client.api-key-var", "TOY_KEY", "-o", folder, "--run.dir", name, *flags]
    done = subprocess.run(command, env={**os.environ, "TOY_KEY": "x"}, capture_output=True, text=True, timeout=200)
    traces = list(Path(folder, name).rglob("traces.jsonl"))
    if not traces:
        print(done.stdout[-3000:], done.stderr[-3000:])
        return []
    return [trace for line in traces[0].read_text().splitlines() for trace in traces_of(json.loads(line))]


def traces_of(record: Dict[str, Any]) -> List[Dict[str, Any]]:
    return record["traces"] if "traces" in record else [record]


def item_of(trace: Dict[str, Any]) -> str:
    return str(trace["task"]["data"]["item_id"])


def rewards(traces: List[Dict[str, Any]]) -> Dict[str, List[Any]]:
    """By item; None: no reward."""
    found: Dict[str, List[Any]] = {}
    for trace in traces:
        reward = (trace["rewards"] or {}).get("reasoning_gym")
        found.setdefault(item_of(trace), []).append(None if reward is None else reward["score"])
    return {item: sorted(values, key=lambda value: (value is None, value)) for item, values in found.items()}


def say(item: Dict[str, Any], times: int) -> str:
    kinds = [f"<answer>{item['answer']}</answer>", "<answer>no idea</answer>", "I do not know.", "<answer>no"]
    return kinds[times % SIZE]


model = ToyModel(say)
before = count_groups(run)
taskset = ["--env.taskset.run", run]
traces = evaluate(model, "first", *taskset, "--env.taskset.size", "3")
wanted = sorted([1.0] + [0.0] * (SIZE - 1))
same("no errors", [trace["errors"] for trace in traces if trace["errors"]], [])
same("right, wrong, malformed", list(rewards(traces).values()), [wanted] * 3)
same("malformed is counted", sum(trace["metrics"]["no_answer"] or 0 for trace in traces), 3.0)
same("group closes once", until(lambda: count_groups(run) - before, lambda groups: groups >= 3), 3)
positions = [item["id"] for item in admin.run(run).positions(64).take(range(6))]
same("positions", sorted(rewards(traces)), sorted(positions[:3]))

# An infinite taskset, of which a window is taken, as prime-rl's resume does; the server goes away meanwhile.
waking = meanwhile(1, "restart-server")
traces = evaluate(model, "window", *taskset, "--select.include.idx", "3:6")
waking.join()
same("infinite taskset: positions 3 to 5", sorted(rewards(traces)), sorted(positions[3:6]))
same("server restarted", list(rewards(traces).values()), [wanted] * 3)
wanted_groups = 6 if until(lambda: count_groups(run) - before, lambda groups: groups >= 6) else 0
same("group closes once, restarted", count_groups(run) - before, wanted_groups)

# Unscored: an error of the episode, never a reward of 0; a resume tries again what had an error.
hanging = f"{run}-hanging"
admin.run(hanging).put(preset="clean", tasks=[fixture["unscored"]["item"]["task"]], group_size=2, buffer=False)
stuck = ToyModel(lambda item, times: fixture["unscored"]["completion"] if times % 2 else f"<answer>{item['answer']}</answer>")
traces = evaluate(stuck, "unscored", "--env.taskset.run", hanging, "--env.taskset.size", "1", rollouts=2)
same("unscored", list(rewards(traces).values()), [[1.0, None]])
errors = [error for trace in traces for error in trace["errors"]]
check("unscored says why", len(errors) == 1 and fixture["unscored"]["code"] in json.dumps(errors), errors)

written = "".join(path.read_text() for path in Path(folder).rglob("*.json*"))
check("the key is not written down", url.split("@")[0].rsplit(":", 1)[1] not in written)
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder, exist_ok=True)
