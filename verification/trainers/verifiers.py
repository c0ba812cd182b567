"""verifiers' own vf-eval with our taskset: items of a run by position, rewards, errors, a restart, resumes."""

import json
import os
import subprocess
import sys
from pathlib import Path

from page import read_program, with_replacements
from testbed import *  # noqa: F403
from toy_model import ToyModel
from vf_eval import evaluate, no_errors, no_key, rewards_of

use_environment()
KINDS = ["<answer>no idea</answer>", "I do not know.", "<answer>no"]


def play(model, name, taskset_run, *flags, rollouts=SIZE):
    return evaluate(model, name, "reasoning-gym-remote", "--env.taskset.run", taskset_run, *flags, rollouts=rollouts)


def rewards(traces):
    return rewards_of(traces, "reasoning_gym", lambda trace: str(trace["task"]["data"]["item_id"]))


model = ToyModel(lambda item, times: [f"<answer>{item['answer']}</answer>", *KINDS][times % SIZE])
before = count_groups()
page = with_replacements(read_program("verifiers", "toml", "Evaluate with vf-eval"), {"RUN": run, "size = 100": "size = 3"})
traces = evaluate(model, "first", config=page)
wanted = [0.0] * (SIZE - 1) + [1.0]
no_errors(traces)
same("right, wrong, malformed", list(rewards(traces).values()), [wanted] * 3)
same("malformed is counted", sum(trace["metrics"]["no_answer"] or 0 for trace in traces), 3.0)
closes_once(before, 3)
positions = [item["id"] for item in admin.run(run).positions(64).take(range(6))]
same("positions", sorted(rewards(traces)), sorted(positions[:3]))

# An infinite taskset, of which a window is taken, as prime-rl's resume does; the server goes away meanwhile.
waking = meanwhile(1, "restart-server")
traces = play(model, "window", run, "--select.include.idx", "3:6")
waking.join()
same("infinite taskset: positions 3 to 5", sorted(rewards(traces)), sorted(positions[3:6]))
same("server restarted", list(rewards(traces).values()), [wanted] * 3)
closes_once(before, 6)

# Unscored: an error of the episode, never a reward of 0; a resume tries again what had an error.
hanging = f"{run}-hanging"
admin.run(hanging).put(preset="clean", tasks=[unscored["item"]["task"]], group_size=2, buffer=False)
stuck = ToyModel(lambda item, times: unscored["completion"] if times % 2 else reference(item["id"]))
traces = play(stuck, "unscored", hanging, "--env.taskset.size", "1", rollouts=2)
same("unscored", list(rewards(traces).values()), [[1.0, None]])
errors = [error for trace in traces for error in trace["errors"]]
check("unscored says why", len(errors) == 1 and unscored["code"] in json.dumps(errors), errors)

# Several tries: the feedback is the next message of the user, and the run counts one rollout with a discounted reward.
trying = f"{run}-tries"
admin.run(trying).put(tasks=["leg_counting"], group_size=1, tries=3, try_discount=0.5, feedback="rule", buffer=False)
learner = ToyModel(lambda item, times: ["<answer>many</answer>", "<answer>-1</answer>", reference(item["id"])][times])
traces = play(learner, "tries", trying, "--env.taskset.size", "1", rollouts=1)
no_errors(traces)
same("tries: discounted reward", list(rewards(traces).values()), [[0.25]])
check("tries: feedback on the form", "An integer alone is needed" in learner.heard[1], learner.heard)
check("tries: feedback on a rule", "a count is not negative" in learner.heard[2], learner.heard)
same("tries: counted", traces[0]["metrics"]["tries"], 3.0)
so_far = until(lambda: progress(trying), lambda found: found["scored_groups"] >= 1)
same("tries: one rollout", (so_far["groups"], so_far["rollouts"]), (1, 1))
# The package of Prime's hub, installed as the hub does it and named by its ID there.
hub = Path(folder, "hub")
package = Path(__file__).parents[2] / "clients" / "python" / "prime_hub"
uv = Path(sys.prefix).parent / "installers" / "bin" / "uv"  # it has filled the environment of this script
install = [uv, "pip", "install", "--quiet", "--no-deps", "--target", hub, package]
if subprocess.run(install, timeout=300).returncode != 0:  # it downloads what builds the package, which may fail
    subprocess.run(install, check=True, timeout=300)
os.environ["PYTHONPATH"] = os.pathsep.join([str(hub), os.environ.get("PYTHONPATH", "")])
shared = f"{run}-hub"
admin.run(shared).put(tasks=["leg_counting"], group_size=SIZE, buffer=False)
flags = ("--env.taskset.run", shared, "--env.taskset.size", "2")
traces = evaluate(model, "hub", "owner/reasoning-gym-runs@0.1.0", *flags)
no_errors(traces)
same("the hub's package", list(rewards(traces).values()), [wanted] * 2)
no_key(url)
