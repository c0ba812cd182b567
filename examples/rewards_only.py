"""Rewards only, for trainers that keep their own buffers (TRL, OpenRLHF, your own): the server scores, nothing waits in it.

    npm start                                # in another terminal
    python examples/rewards_only.py [URL]

`reward_func` has the shape that TRL's GRPOTrainer wants; the data set's column `item_id` names the items. Groups posted with
`buffer=False` never wait for a trainer, but count for the curriculum, the statistics and the dumps of the run.
"""

import sys
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "clients" / "python"))

from reasoning_gym_client import Client, ReasoningGymError

client = Client(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000")
run = client.run("rewards-only")


def reward_func(prompts, completions, item_id, **columns):
    """One reward for each completion (text or chat messages); None where it could not be scored: TRL leaves those out."""
    groups = [[k for k, _ in some] for _, some in groupby(enumerate(item_id), key=lambda pair: pair[1])]
    name = {True: "completion", False: "messages"}
    posted = run.post_many(
        [
            {
                "item_id": item_id[group[0]],
                "buffer": False,
                "rollouts": [{name[isinstance(completions[k], str)]: completions[k]} for k in group],
            }
            for group in groups
        ],
        wait_s=120,
    )
    rewards = [None] * len(completions)  # a group that could not be scored, or not in time, has no verdicts
    for group, answer in zip(groups, posted):
        for k, verdict in zip(group, answer.get("verdicts", [])):
            rewards[k] = verdict["reward"]
    return rewards


def main():
    run.put(tasks=["leg_counting", "chain_sum"], min_trained_tokens=0)
    items = run.items(2)
    dataset = [{"prompt": item["messages"], "item_id": item["id"]} for item in items]  # what the trainer is given

    # Here the trainer's model would answer each prompt several times.
    rows = [row for row in dataset for _ in range(3)]
    completions = ["<answer>1</answer>", "I do not know", [{"role": "assistant", "content": "<answer>38</answer>"}]] * 2
    print(reward_func([row["prompt"] for row in rows], completions, [row["item_id"] for row in rows]))
    print(f"groups that the run has seen: {run.get()['progress']['groups']}, none of them waits for a trainer")


if __name__ == "__main__":
    try:
        main()
    except ReasoningGymError as error:
        sys.exit(str(error))
