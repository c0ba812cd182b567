"""Inspect's own command line with our task: scores, faults, unscored samples, a restart, and a frozen suite."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import reasoning_gym_client
from sample_checks import environment
from toy_model import ToyModel
from trainer_checks import check, fixture, folder, meanwhile, same, url

os.environ.update(environment())
FILE = str(Path(reasoning_gym_client.__file__).parent / "integrations" / "rg_inspect.py")
INSPECT = str(Path(sys.executable).with_name("inspect"))
HANGING = fixture["unscored"]["item"]["task"]
order: List[str] = []


def evaluate(name: str, *flags: str) -> Dict[str, Any]:
    """The log of one `inspect eval`."""
    logs = Path(folder, name)
    command = [INSPECT, "eval", f"{FILE}@reasoning_gym", "--model", "openai/toy", "--model-base-url", model.url, "-M", "responses_api=false"]
    command += ["--log-dir", str(logs), "--log-format", "json", "--display", "none", *flags]
    done = subprocess.run(command, env={**os.environ, "OPENAI_API_KEY": "x"}, capture_output=True, text=True, timeout=240)
    found = sorted(logs.glob("*.json"))
    if not found:
        print(done.stdout[-3000:], done.stderr[-3000:])
        return {"status": "none", "samples": [], "results": {"scores": []}}
    log: Dict[str, Any] = json.loads(found[-1].read_text())
    return log


def say(item: Dict[str, Any], times: int) -> str:
    if item["task"] == HANGING:
        return str(fixture["unscored"]["completion"])
    if item["id"] not in order:
        order.append(item["id"])
    kinds = [f"<answer>{item['answer']}</answer>", "<answer>no idea</answer>", "I do not know."]
    return kinds[order.index(item["id"]) % 3]


def values(log: Dict[str, Any]) -> Dict[str, Any]:
    return {sample["id"]: sample["scores"]["verdict_of_server"] for sample in log["samples"]}


model = ToyModel(say)
log = evaluate("first", "-T", f"tasks=leg_counting,{HANGING}", "-T", "n=3", "-T", "seed=7")
same("status", log["status"], "success")
scores = values(log)
same("right, wrong, malformed", [scores[item]["value"] for item in order], [1.0, 0.0, 0.0])
same("malformed says so", scores[order[2]]["metadata"], {"fault": "no_answer"})
unscored = [score for item, score in scores.items() if item not in order]
check("unscored is NaN", len(unscored) == 3 and all(math.isnan(float(score["value"])) for score in unscored), unscored)
same("unscored says why", [score["metadata"]["code"] for score in unscored], [fixture["unscored"]["code"]] * 3)
metrics = {name: metric["value"] for name, metric in log["results"]["scores"][0]["metrics"].items()}
check("unscored is not in the mean", abs(metrics["mean"] - 1 / 3) < 1e-9, metrics)

order.clear()
model.policy = lambda item, times: f"<answer>{item['answer']}</answer>"
waking = meanwhile(4, "restart-server")
log = evaluate("restarted", "-T", "tasks=leg_counting", "-T", "n=6", "-T", "seed=20", "--max-connections", "1")
waking.join()
same("server restarted", [score["value"] for score in values(log).values()], [1.0] * 6)

log = evaluate("suite", "-T", "suite=smoke", "-T", "scoring=hardened", "-T", "extraction=last_tag")
# A few of its tasks have no reference answer that the model could repeat: those are wrong, and scored.
found = [score["value"] for score in values(log).values()]
check("frozen suite", len(found) == 20 and sum(found) >= 15, found)

written = "".join(path.read_text() for path in Path(folder).rglob("*.json"))
check("the key is not written down", url.split("@")[0].rsplit(":", 1)[1] not in written)
