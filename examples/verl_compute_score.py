"""verl's reward function and a live data set, for verl 0.9 (`data.train_files` is the name of the run; the files are not read):

    python -m verl.trainer.main_ppo \\
        reward.custom_reward_function.path=examples/verl_compute_score.py reward.custom_reward_function.name=compute_score \\
        data.custom_cls.path=examples/verl_compute_score.py data.custom_cls.name=LivePrompts \\
        data.train_files=my-training data.val_files=held-out data.dataloader_num_workers=0 data.shuffle=False …

    REASONING_GYM_RUN=my-training     # in the environment of every worker, and REASONING_GYM_URL
    python examples/verl_compute_score.py [URL]      # shows both at work

Rows carry the item's ID in `extra_info["item_id"]`; `ground_truth` stays empty: the answer is on the server. verl scores one response
at a time, so each counts as a group of one in the run: the curriculum follows, but penalties of a whole group do not apply, and
verl says neither how long a response was nor whether it was cut.
"""

import os
import sys
import uuid
from functools import lru_cache
from pathlib import Path

try:
    from torch.utils.data import Dataset  # verl takes no other class
except ImportError:
    Dataset = object

sys.path.insert(0, str(Path(__file__).parents[1] / "clients" / "python"))

from reasoning_gym_client import Client, ReasoningGymError

URL = next((word for word in sys.argv[1:] if "://" in word), os.environ.get("REASONING_GYM_URL", "http://127.0.0.1:8000"))
RUN = os.environ.get("REASONING_GYM_RUN", "verl")
HELD_OUT = "held-out"  # of `data.val_files`: the frozen suite `original`, which no training item is from
ITEMS_AT_ONCE = 64  # at most `data.train_batch_size`: the curriculum is asked again after so many
CLEAN = {"scoring": "hardened", "dual_format": False, "extraction": "last_tag"}  # how the preset `clean` scores
POSITIONS = 1_000_000  # more than a training gets to: `trainer.total_training_steps` ends it

client = Client(URL)
run = client.run(RUN)


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **more):
    """The reward of one response, from many processes and threads at once; each keeps a connection of its own.

    verl has no mask, and an exception ends the training. So what could not be scored is 0 with `unscored` 1, by which the metrics
    tell it from a wrong answer. The keys are the same each time: verl averages them.
    """
    item_id = extra_info["item_id"]
    if extra_info.get("held_out"):
        (verdict,) = client.score([{"item_id": item_id, "completion": solution_str}], **CLEAN)["verdicts"]
    else:
        rollouts = [{"completion": solution_str}]
        group = run.post(item_id, rollouts, group_id=uuid.uuid4().hex, buffer=False, wait_s=120)
        (verdict,) = group.get("verdicts") or [{"reward": None}]  # not scored in time
    unscored = verdict["reward"] is None
    return {
        "score": 0.0 if unscored else verdict["reward"],
        "unscored": float(unscored),
        "format_fault": float(verdict.get("fault") is not None),
    }


class LivePrompts(Dataset):
    """Prompts of the run by position, asked for when verl gets there, so that its curriculum reaches the trainer."""

    def __init__(self, data_files, tokenizer=None, config=None, processor=None, max_samples=-1):
        name = data_files if isinstance(data_files, str) else data_files[0]
        self.suite = held_out_ids()[: max_samples if max_samples > 0 else None] if name == HELD_OUT else None
        run.put(preset="clean", buffer=False)  # each process may say it: equal settings change nothing

    def __len__(self):
        return POSITIONS if self.suite is None else len(self.suite)

    def __getitem__(self, position):
        if self.suite is not None:
            return row(client.item(self.suite[position], run=RUN), position, held_out=True)
        return row(items_of_step(position // ITEMS_AT_ONCE)[position % ITEMS_AT_ONCE], position)


@lru_cache(maxsize=4)
def items_of_step(step):
    return run.items(ITEMS_AT_ONCE, step=step, timeout_s=120)


def held_out_ids():
    return [recipe["id"] for recipe in client.call("GET", "/eval/suites/original")["recipes"]]


def row(item, position, held_out=False):
    """What verl's own data set gives for a row."""
    tensor = {} if Dataset is object else {"dummy_tensor": empty_tensor()}
    return {
        "data_source": f"reasoning_gym/{item['task']}",
        "raw_prompt": item["messages"],
        "ability": item["category"],
        "reward_model": {"style": "rule", "ground_truth": ""},
        "extra_info": {"item_id": item["id"], "index": position, "held_out": held_out},
        "index": position,
        "tools_kwargs": {},
        "interaction_kwargs": {},
        **tensor,
    }


def empty_tensor():
    import torch

    return torch.tensor([0], dtype=torch.uint8)


if __name__ == "__main__":
    ITEMS_AT_ONCE = 2
    try:
        dataset = LivePrompts(RUN)
        for position in (0, 1):
            prompt = dataset[position]
            print(prompt["data_source"], prompt["raw_prompt"][-1]["content"][:60].split("\n")[0])
            print(compute_score(prompt["data_source"], "<answer>4</answer>", "", prompt["extra_info"]))
        held_out = LivePrompts(HELD_OUT, max_samples=1)[0]
        print("held out:", compute_score(held_out["data_source"], "I do not know", "", held_out["extra_info"]))
    except ReasoningGymError as error:
        sys.exit(str(error))
