"""Atropos: its example trainer, whose own calls take the batches of a run."""

import os
import types
import warnings

from testbed import *  # noqa: F403

os.environ["WANDB_MODE"] = "disabled"
warnings.simplefilter("ignore")

import numpy  # noqa: E402
import requests  # noqa: E402

BATCH_SIZE = 8
GROUPS = 8
TOKENS = 200
STORE = f"{url}/atropos/{run}"


class Array:
    """The only tensor that reading batches needs: the example trainer's loop itself runs on a GPU."""

    def __init__(self, array):
        self.array = numpy.asarray(array)

    def view(self, *shape):
        return Array(self.array.reshape(shape))


stand_in("torch", tensor=Array, Tensor=Array, cuda=types.SimpleNamespace(is_available=lambda: False))
hollow("example_trainer")

from example_trainer.api import check_atropos_api, get_batch, register_trainer  # noqa: E402
from example_trainer.config import TrainingConfig  # noqa: E402
from example_trainer.data import get_data  # noqa: E402


def post_group(k, item):
    """A group as a trainer posts it, whose tokens begin with the number of the group."""
    right, rollouts = reference(item["id"]), []
    for n in range(SIZE):
        tokens = [k, n, *range(TOKENS)]
        masks, logprobs = [-100, *tokens[1:]], [None, *([-0.5] * (TOKENS + 1))]
        completion = right if n % 2 else "<answer>no idea</answer>"
        rollouts.append({"completion": completion, "tokens": tokens, "masks": masks, "logprobs": logprobs})
    admin.call("POST", "/rollouts", {"run": run, "item_id": item["id"], "rollouts": rollouts})


def queue_size():
    return requests.get(f"{STORE}/status").json()["queue_size"]


check("key in the URL", check_atropos_api(STORE, timeout=5))
admin.run(run).put(buffer=True)
config = TrainingConfig(
    model_name="none", atropos_url=STORE, batch_size=BATCH_SIZE, gradient_accumulation_steps=1, seq_len=2048, training_steps=5
)
register_trainer(config)
same("the trainer's batch size is the run's", admin.run(run).get()["settings"]["batch_size"], BATCH_SIZE)
for k, item in enumerate(admin.call("POST", "/items", {"run": run, "position": 0, "count": GROUPS})["items"]):
    post_group(k, item)
until(queue_size, lambda count: count == GROUPS)

first = get_batch(STORE)["batch"]
control("restart-server")
second = until(lambda: get_batch(STORE)["batch"], lambda batch: batch is not None)
control("stop-redis")
waking = meanwhile(3, "start-redis")
third = until(lambda: get_batch(STORE)["batch"], lambda batch: batch is not None)
waking.join()
batches = [first, second, third]
same("batches have batch_size sequences", [sum(len(group["tokens"]) for group in batch) for batch in batches], [BATCH_SIZE] * 3)
same("right and wrong", first[0]["scores"], [float(n % 2) for n in range(SIZE)])
keys = {key for batch in batches for group in batch for key in group}
check("groups have the keys of Atropos", keys >= {"overrides", "advantages", "ref_logprobs", "images"}, keys)

read, _ = get_data(SIZE, 2048, STORE)
found = [group["tokens"][0][0] for batch in batches for group in batch]
found += [int(part.array[0][0]) for tokens, *_ in read for part in tokens]
same("groups once, across a restart and an outage", sorted(found), list(range(GROUPS)))
tokens, labels, advantages, _temperatures, logprobs = read[0]
same("the example trainer reads tokens and labels", tokens[0].array.shape, labels[0].array.shape)
same("log-probabilities", float(logprobs[0].array[0][5]), -0.5)
same("advantages", advantages[0].array.ravel().tolist(), [-1.0, 1.0, -1.0, 1.0])
same("no more", get_batch(STORE)["batch"], None)
