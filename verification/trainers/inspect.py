"""Inspect's own command line with our task: scores, faults, unscored samples, a restart, and a frozen suite."""

import json
import math
import os
import subprocess
from pathlib import Path

import reasoning_gym_client
from testbed import check, command, folder, meanwhile, same, unscored, url, use_environment
from toy_model import ToyModel
from vf_eval import no_key

use_environment()
FILE = str(Path(reasoning_gym_client.__file__).parent / "integrations" / "rg_inspect.py")
HANGING = unscored["item"]["task"]
order = []


def evaluate(name, *settings):
    """The log of one `inspect eval`."""
    logs = Path(folder, name)
    arguments = [command("inspect"), "eval", f"{FILE}@reasoning_gym", "--model", "openai/toy", "--model-base-url", model.url]
    arguments += ["-M", "responses_api=false", "--log-dir", str(logs), "--log-format", "json", "--display", "none"]
    arguments += [word for setting in settings for word in ("-T", setting)]
    done = subprocess.run(arguments, env={**os.environ, "OPENAI_API_KEY": "x"}, capture_output=True, text=True, timeout=240)
    found = sorted(logs.glob("*.json"))
    if not found:
        raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
    return json.loads(found[-1].read_text())


def say(item, times):
    if item["task"] == HANGING:
        return unscored["completion"]
    if item["id"] not in order:
        order.append(item["id"])
    kinds = [f"<answer>{item['answer']}</answer>", "<answer>no idea</answer>", "I do not know."]
    return kinds[order.index(item["id"]) % 3]


def scores_of(log):
    return {sample["id"]: sample["scores"]["verdict_of_server"] for sample in log["samples"]}


model = ToyModel(say)
log = evaluate("first", f"tasks=leg_counting,{HANGING}", "n=3", "seed=7")
same("status", log["status"], "success")
scores = scores_of(log)
same("right, wrong, malformed", [scores[item]["value"] for item in order], [1.0, 0.0, 0.0])
same("malformed says so", scores[order[2]]["metadata"], {"fault": "no_answer"})
stuck = [score for item, score in scores.items() if item not in order]
check("unscored is NaN", len(stuck) == 3 and all(math.isnan(float(score["value"])) for score in stuck), stuck)
same("unscored says why", [score["metadata"]["code"] for score in stuck], [unscored["code"]] * 3)
metrics = {name: metric["value"] for name, metric in log["results"]["scores"][0]["metrics"].items()}
check("unscored is not in the mean", abs(metrics["mean"] - 1 / 3) < 1e-9, metrics)

model.policy = lambda item, times: f"<answer>{item['answer']}</answer>"
waking = meanwhile(4, "restart-server")
log = evaluate("restarted", "tasks=leg_counting", "n=12", "seed=20")
waking.join()
same("server restarted", [score["value"] for score in scores_of(log).values()], [1.0] * 12)

log = evaluate("suite", "suite=smoke-2", "scoring=hardened", "extraction=last_tag")
# A few of its tasks have no reference answer that the model could repeat: those are wrong, and scored.
found = [score["value"] for score in scores_of(log).values()]
check("frozen suite", len(found) == 20 and sum(found) >= 15, found)
no_key(url)
