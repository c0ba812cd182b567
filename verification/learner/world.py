"""The tasks that the learner can read, items of them, and verdicts on answers.

Items are made by the library in this process. Verdicts come from the server, by the library's own rules or hardened ones: the
library's scorers can stand still on an answer of a learner, and the server ends such a call.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("clients/python", "src/engine/python", "scripts")]

import library  # noqa: E402  as the server has it
from ladders import rung  # noqa: E402
from reasoning_gym_client import Client  # noqa: E402
from text import FIRST_TASK, SEPARATORS  # noqa: E402

SURVEYED = 10  # questions of each rung
MOST_TASKS = 64  # that have a token
MOST_SEEDS = 2**30
DATA = ROOT / "src" / "features" / "tasks"
PART = 2048  # verdicts of one call
LADDERS = json.loads((DATA / "ladders.json").read_text())
library.MAX_CACHED_DATASETS = 10_000


def list_candidates():
    """The tasks of the preset `clean` that have a ladder."""
    about = json.loads((DATA / "tasks.json").read_text())
    return [name for name, ladder in LADDERS.items() if ladder["rungs"] >= 5 and "shortcut" not in about[name] and name != "codeio"]


def draw(name, k, seed):
    """The item of a rung (None: of the library's defaults) and a seed: (recipe, question, the library's answer)."""
    config = {} if k is None else rung(LADDERS[name], k)
    entry = library.get_dataset(name, config, seed)[0]
    return {"task": name, "config": config, "seed": seed}, entry["question"], str(entry["answer"])


def survey(window, names):
    """The tasks that fit the window, by name."""
    tasks = {}
    for name in names:
        samples = []
        for k in range(LADDERS[name]["rungs"]):
            samples.append([draw(name, k, seed)[1:] for seed in range(SURVEYED)])
            if min(len(question) for question, _ in samples[-1]) > 1_000:
                break
        if found := window.survey(samples, [draw(name, None, seed)[1:] for seed in range(SURVEYED)], SEPARATORS.get(name)):
            tasks[name] = {**found, "token": FIRST_TASK + len(tasks)}
    return tasks


class Judge:
    """Verdicts of a server."""

    def __init__(self, url):
        self.client = Client(url)

    def score(self, recipes, answers, scoring):
        """The scores of answers, one for each recipe; None where one could not be scored."""
        rollouts = [{"recipe": recipe, "answer": answer} for recipe, answer in zip(recipes, answers)]
        return [verdict.get("score") for verdict in self.judge(rollouts, scoring=scoring)]

    def judge(self, rollouts, **options):
        """The verdicts on rollouts, with options of POST /score."""
        parts = [rollouts[start : start + PART] for start in range(0, len(rollouts), PART)]
        return [verdict for part in parts for verdict in self.client.score(part, dual_format=False, **options)["verdicts"]]
