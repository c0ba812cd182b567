"""verl's reward function: put this file's path into `custom_reward_function.path` and `compute_score` into its `name`.

The parquet rows carry the item's id in `extra_info["item_id"]` (see `rows` below for how to make them); `ground_truth` is not
needed: the answer stays on the server. Called from many processes and threads; each keeps a connection of its own.

    python examples/verl_compute_score.py [URL]      # shows it at work
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "clients" / "python"))

from reasoning_gym_client import Client, ReasoningGymError

client = Client(os.environ.get("REASONING_GYM_URL", "http://127.0.0.1:8000"))


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """The reward of one response. What the server could not score is raised, never taken for a 0."""
    scores = client.score([{"item_id": extra_info["item_id"], "completion": solution_str}])
    (verdict,) = scores["verdicts"]
    if verdict["status"] == "unscored":
        raise RuntimeError(f"could not be scored: {verdict['code']}: {verdict['detail']}")
    return {"score": verdict["reward"], "fault": verdict["fault"] or ""}


def rows(task, count, difficulty=None):
    """Rows of a training set, in the columns that verl reads."""
    for item in client.make(task, difficulty=difficulty, count=count):
        yield {
            "data_source": f"reasoning_gym/{task}",
            "prompt": item["messages"],
            "ability": item["category"],
            "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": {"item_id": item["id"]},
        }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        client = Client(sys.argv[1])
    try:
        for row in rows("leg_counting", 2):
            print(row["prompt"][-1]["content"])
            print(compute_score(row["data_source"], "<answer>4</answer>", "", row["extra_info"]))
    except ReasoningGymError as error:
        sys.exit(str(error))
