"""Trains with examples/trl_grpo.py. On their way to the server, completions of each group are made right, unscorable and wrong, since
a random model is always wrong; then it looks at what TRL makes of the rewards. Prints JSON as its last line.

    python train.py --url URL --run NAME --steps N
"""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import trl_grpo  # first: it says which server and run
import rewards_only

run, client = rewards_only.run, rewards_only.client
post_many, difficulties, sizes = run.post_many, [], []


def post_rewritten(groups, **more):
    for group in groups:
        item = client.item(group["item_id"], reveal=True)
        difficulties.append(item["difficulty"])
        sizes.append(len(group["rollouts"]))
        for k, rollout in enumerate(group["rollouts"]):
            rollout.pop("messages", None)
            rollout["completion"] = f"<answer>{item['answer'] if k < 2 else 'no idea'}</answer>"
        group["rollouts"][1]["finish_reason"] = "error"  # as if no completion had come
    return post_many(groups, **more)


run.post_many = post_rewritten
trainer = trl_grpo.make_trainer()
before = {name: weights.detach().clone() for name, weights in trainer.model.named_parameters()}
score, advantages = trainer._generate_and_score_completions, []


def score_seen(inputs):
    outputs = score(inputs)
    advantages.extend(outputs["advantages"].tolist())
    return outputs


trainer._generate_and_score_completions = score_seen
trainer.train()
groups = [advantages[k : k + trl_grpo.GROUP_SIZE] for k in range(0, len(advantages), trl_grpo.GROUP_SIZE)]
losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
print(
    json.dumps(
        {
            "steps": trainer.state.global_step,
            "group_sizes": sorted(set(sizes)),
            "groups": len(groups),
            "right_above_0": all(group[0] > 0 for group in groups),
            "unscored_at_0": all(group[1] == 0 for group in groups),
            "wrong_below_0": all(advantage < 0 for group in groups for advantage in group[2:]),
            "losses_finite": all(math.isfinite(loss) for loss in losses) and len(losses) > 0,
            "weights_moved": any((weights.detach() != before[name]).any().item() for name, weights in trainer.model.named_parameters()),
            "difficulties": difficulties,
        }
    )
)
