"""Items and rewards for trainers that keep their own buffers (TRL's GRPOTrainer, your own): the server scores, nothing waits in it.

    npm start                                # in another terminal
    python examples/rewards_only.py [URL]    # shows both at work, without a trainer; trl_grpo.py trains

`fetch` gives the rows of a data set by position, when the trainer gets there, so that the run's curriculum reaches it:

    Dataset.from_dict({"position": range(10**6)}).with_transform(fetch)

`reward_func` has the shape that GRPOTrainer wants; the column `item_id` names the items. Groups posted with `buffer=False` never
wait for a trainer, but count for the curriculum, the statistics and the dumps of the run.

* None is a completion that could not be scored. TRL masks it since version 1.6.0; earlier ones take it for a reward of 0.
* Each call names its groups anew: the same completions, sampled again for the same item, are another group, not a repeated one.
* A group counts as one where the completions of an item come in one call: with several processes, let `num_generations` divide
  `per_device_train_batch_size`.
* A position is the same item on every process and after a resume, for the last 256 blocks of `ITEMS_AT_ONCE`. Each training needs a
  run of its own, since positions begin at 0.
"""

import os
import sys
import uuid
from functools import lru_cache
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "clients" / "python"))

from reasoning_gym_client import Client, ReasoningGymError

URL = next((word for word in sys.argv[1:] if "://" in word), os.environ.get("REASONING_GYM_URL", "http://127.0.0.1:8000"))
ITEMS_AT_ONCE = 8  # prompts of one training step: the curriculum is asked again after so many
STOP_TOKENS = set()  # what ends a completion: {tokenizer.eos_token_id, …}; without them nothing is known to be cut

client = Client(URL)
run = client.run(os.environ.get("REASONING_GYM_RUN", "rewards-only"))


@lru_cache(maxsize=4)
def items_of_step(step):
    return run.items(ITEMS_AT_ONCE, step=step, timeout_s=120)


def fetch(rows):
    """For `with_transform`: prompts and item IDs in place of positions."""
    items = [items_of_step(position // ITEMS_AT_ONCE)[position % ITEMS_AT_ONCE] for position in rows["position"]]
    return {"prompt": [item["messages"] for item in items], "item_id": [item["id"] for item in items]}


def reward_func(prompts, completions, item_id, completion_ids=None, **columns):
    """One reward for each completion (text or chat messages); None where it could not be scored."""
    groups = [[k for k, _ in some] for _, some in groupby(enumerate(item_id), key=lambda pair: pair[1])]
    call = uuid.uuid4().hex
    posted = run.post_many(
        [
            {
                "item_id": item_id[group[0]],
                "group_id": f"{call}-{group[0]}",
                "buffer": False,
                "rollouts": [rollout(completions[k], completion_ids[k] if completion_ids else None) for k in group],
            }
            for group in groups
        ],
        wait_s=120,
    )
    rewards = [None] * len(completions)
    for group, answer in zip(groups, posted):
        for k, reward in zip(group, answer.get("rewards", [])):  # none yet: not scored in time
            rewards[k] = reward
    return rewards


def rollout(completion, tokens):
    """A completion with its length, and whether the token limit cut it."""
    sent = {"completion" if isinstance(completion, str) else "messages": completion}
    if tokens is not None:
        sent["length_tokens"] = len(tokens)
        if STOP_TOKENS:
            sent["finish_reason"] = "stop" if len(tokens) > 0 and int(tokens[-1]) in STOP_TOKENS else "length"
    return sent


def configure():
    """A run of the preset `clean`, whose items get harder as the model learns. Each process may say it: equal settings change nothing."""
    run.put(preset="clean", tasks=["leg_counting", "chain_sum"], buffer=False)


def main():
    configure()
    dataset = fetch({"position": [0, 1]})  # what the trainer is given

    # Here the trainer's model would answer each prompt several times.
    item_id = [item for item in dataset["item_id"] for _ in range(3)]
    prompts = [prompt for prompt in dataset["prompt"] for _ in range(3)]
    completions = ["<answer>1</answer>", "I do not know", [{"role": "assistant", "content": "<answer>38</answer>"}]] * 2
    print(reward_func(prompts, completions, item_id, completion_ids=[[5, 7, 2]] * 6))
    print(f"groups that the run has seen: {run.get()['progress']['groups']}, none of them waits for a trainer")


if __name__ == "__main__":
    try:
        main()
    except ReasoningGymError as error:
        sys.exit(str(error))
