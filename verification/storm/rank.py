"""One rank of the synchronous loop of docs/guides/training-loop.md: the program as it is printed there, but for its numbers, a model that
needs no server, and a barrier of files. It says on stdout what it is about to do, so that it can be killed there.

    python rank.py URL FOLDER RANK RANKS STEPS ITEMS
"""

import json
import random
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "clients" / "python"))

import reasoning_gym_client  # noqa: E402

URL, FOLDER = sys.argv[1], Path(sys.argv[2])
RANK, RANKS, STEPS, ITEMS = map(int, sys.argv[3:])
BARRIER_S = 120


at = {"step": None}


def say(moment):
    print(json.dumps({"moment": moment, **at}), flush=True)


def generate(messages, n):
    """Half of the sums are right. A rank that starts again says something else, as a sampler does."""
    terms = re.findall(r"([+-]?)\s*(\d+)", messages[-1]["content"].split("arithmetic problem:")[-1])
    right = sum(int(sign + digits) for sign, digits in terms)
    return [
        {"completion": f"{random.random()} <answer>{random.choice([right, -1])}</answer>", "length_tokens": 12} for _ in range(n)
    ]


def barrier(step):
    """All ranks have posted; one that is killed behind it and comes again passes at once."""
    (FOLDER / f"posted-{step}-{RANK}").touch()
    say("posted")
    until = time.monotonic() + BARRIER_S
    while not all((FOLDER / f"posted-{step}-{rank}").exists() for rank in range(RANKS)):
        if time.monotonic() > until:
            sys.exit(f"rank {RANK} hangs at the barrier of step {step}")
        time.sleep(0.01)


def save(step, items, batch):
    """The checkpoint, and what the test reads."""
    groups = [{"id": g["group_id"], "item": g["item_id"], "indices": g["indices"]} for g in batch["groups"]]
    said = {"items": [item["id"] for item in items], "totals": batch["totals"], "groups": groups}
    part = FOLDER / f"part-{RANK}"
    part.write_text(json.dumps(said))
    part.rename(FOLDER / f"saved-{step}-{RANK}.json")
    say("saved")


def announced(method, moment):
    """Before the call and once it is answered."""

    def call(self, *args, **more):
        if moment != "post":
            at["step"] = more["step"] if moment == "items" else args[0]
        say(moment)
        answer = method(self, *args, **more)
        say(f"after {moment}")
        return answer

    return call


for name, moment in (("items", "items"), ("post_many", "post"), ("batch", "batch"), ("ack", "ack")):
    setattr(reasoning_gym_client.Run, name, announced(getattr(reasoning_gym_client.Run, name), moment))


def program():
    page = (ROOT / "docs" / "guides" / "training-loop.md").read_text()
    functions, loop = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[:2]
    code = functions.split("\ndef ")[0] + "\n" + loop
    first = next(step for step in range(STEPS + 1) if not (FOLDER / f"saved-{step}-{RANK}.json").exists())
    for printed, here in (
        ("http://127.0.0.1:8000", URL),
        ('tasks=["leg_counting", "chain_sum"]', 'tasks=["chain_sum"], min_trained_tokens=0'),
        ("batch_size=64", f"batch_size={8 * ITEMS}"),
        ("rank, ranks = 0, 1", f"rank, ranks = {RANK}, {RANKS}"),
        ("first = 0", f"first = {first}"),
        ("range(first, 3)", f"range(first, {STEPS})"),
        ("run.items(8,", f"run.items({ITEMS},"),
        ("# with several ranks: torch.distributed.barrier(), so that all have posted", "barrier(step)"),
        ("# save the checkpoint of this step here", "save(step, items, batch)"),
    ):
        assert printed in code, f"docs/guides/training-loop.md no longer has: {printed}"
        code = code.replace(printed, here)
    return code


def train(batch):
    pass


exec(compile(program(), "docs/guides/training-loop.md", "exec"))
