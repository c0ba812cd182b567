"""ms-swift's own loader of plugins, registry, samples and reward computation, with our reward class."""

import math
import os
import types
from pathlib import Path
from typing import Any, List, Optional

import reasoning_gym_client
from sample_checks import admin, count_groups, environment
from trainer_checks import check, fixture, meanwhile, run, same, until

os.environ.update(environment(run))

import torch
from swift.rewards import orms
from swift.rl_core.data import GRPOSample
from swift.rl_core.grpo_algorithm import compute_rewards_per_func
from swift.utils.utils import import_external_file

import_external_file(str(Path(reasoning_gym_client.__file__).parent / "integrations" / "rg_swift.py"))
check("is registered", "reasoning_gym" in orms)
SIZE = fixture["group_size"]
function = orms["reasoning_gym"](args=types.SimpleNamespace(num_generations=SIZE))


def rewards(pairs: List[Any], prompt_id: Optional[str] = None) -> List[float]:
    """As GRPOTrainer asks for them; pairs of item ID and completion."""
    samples = []
    for item_id, completion in pairs:
        messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": completion + "<|im_end|>"}]
        row = {"messages": messages, "item_id": item_id, "prompt_id": prompt_id or item_id, "finish_reason": "stop"}
        samples.append(GRPOSample.from_row({**row, "response_token_ids": [[1, 2, 3]]}))
    column = compute_rewards_per_func(samples, [function], [None], torch.device("cpu"))
    return [float(value) for value in column[:, 0]]


items = fixture["items"]
for kind, wanted in (("right", 1.0), ("wrong", 0.0), ("malformed", 0.0)):
    same(kind, rewards([(item["id"], item[kind]) for item in items[:3]]), [wanted] * 3)
partial = fixture["partial"]
(found,) = rewards([(partial["item"]["id"], partial["completion"])])
check("partial", math.isclose(found, partial["score"], abs_tol=1e-6), found)

# Whole groups go to the run as such.
before = count_groups(run)
first, second = admin.run(run).positions(2).take([0, 1])
answers = [admin.item(item["id"], reveal=True)["answer"] for item in (first, second)]
batch = [(first["id"], f"<answer>{answers[0]}</answer>")] * 2 + [(first["id"], "<answer>no</answer>")] * (SIZE - 2)
batch += [(second["id"], f"<answer>{answers[1]}</answer>")] + [(second["id"], "?")] * (SIZE - 1)
wanted = [1.0, 1.0] + [0.0] * (SIZE - 2) + [1.0] + [0.0] * (SIZE - 1)
same("groups", rewards(batch), wanted)
same("groups count once each", until(lambda: count_groups(run) - before, lambda groups: groups >= 2), 2)

# Unscored: the mean of the scored siblings, whether the group comes whole or in parts.
stuck = fixture["unscored"]["item"]
kinds = [f"<answer>{stuck['answer']}</answer>", "<answer>no idea</answer>", "<answer>no idea</answer>"]
group = [(stuck["id"], text) for text in [*kinds, fixture["unscored"]["completion"]]]
found = rewards(group)
scored = found[:3]
check("unscored is its siblings' mean", math.isclose(found[3], sum(scored) / 3, abs_tol=1e-6) and scored[0] == 1.0, found)
found = rewards(group[1:] + group[:1] + group[:1])
check("unscored, in parts", math.isclose(found[2], (sum(found) - found[2]) / 4, abs_tol=1e-6), found)
same("unscored alone", rewards([("no such item", "x")]), [0.0])

# Parts of a group, as two processes have them.
before = count_groups(run)
(third,) = admin.run(run).positions(1).take([5])
answer = admin.item(third["id"], reveal=True)["answer"]
half = [(third["id"], f"<answer>{answer}</answer>"), (third["id"], "<answer>no</answer>")]
same("parts", rewards(half) + rewards(half), [1.0, 0.0, 1.0, 0.0])
same("group closes once", until(lambda: count_groups(run) - before, lambda groups: groups >= 1), 1)

waking = meanwhile("restart-server")
same("server restarted", [rewards([(item["id"], item["right"]) for item in items[:4]]) for _ in range(10)], [[1.0] * 4] * 10)
waking.join()
try:
    function(["x"], solution=["1"])
    check("a missing column is loud", False)
except ValueError as error:
    check("a missing column is loud", "item_id" in str(error), error)
