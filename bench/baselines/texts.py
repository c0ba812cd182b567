"""Asks for the score benchmarks, one JSON document a line: an item, eight completions of 2 KB, and the library's scores of them.

    python texts.py chain_sum|mix ITEMS

Half of the answers are right, half belong to the next item. `mix` leaves out the five tasks whose items take longest to make.
"""

import json
import random
import sys

import reasoning_gym
from reasoning_gym.factory import DATASETS
from reasoning_gym.utils import extract_answer

SLOW_TO_MAKE = {"knight_swap", "sokoban", "futoshiki", "zebra_puzzles", "puzzle24"}
DEPEND_ON_SIZE = {"acre", "word_ladder"}
SIZE = 500
COMPLETIONS = 8
BYTES = 2000
WORDS = """let us see whether both sides agree when the third value is moved over then divide what remains count how
often it occurs keep the smaller one and go back to line two because that step was wrong after all try again slowly""".split()


def thinking(chance):
    lines, size = [], 0
    while size < BYTES:
        words = [chance.choice(WORDS) for _ in range(chance.randint(5, 14))]
        line = f"{' '.join(words)} = {chance.randint(0, 9999)}.\n"
        lines.append(line)
        size += len(line)
    return "".join(lines)


def score(dataset, completion, entry):
    try:
        return min(1.0, max(0.0, float(dataset.score_answer(extract_answer(completion), entry))))
    except Exception:
        return 0.0


def ask(chance, task, index):
    dataset = datasets[task]
    entry, other = dataset[index], dataset[index + 1]
    answers = [one["answer"] if one["answer"] is not None else "none" for one in (entry, other)]
    completions = [f"{thinking(chance)}<answer>{answers[k % 2]}</answer>" for k in range(COMPLETIONS)]
    scores = [score(dataset, completion, entry) for completion in completions]
    config = {"size": SIZE} if task in DEPEND_ON_SIZE else {}
    return {"task": task, "seed": 1, "index": index, "config": config, "completions": completions, "scores": scores}


which, count = sys.argv[1], int(sys.argv[2])
out, sys.stdout = sys.stdout, sys.stderr  # some scorers print
tasks = sorted(set(DATASETS) - SLOW_TO_MAKE - {"composite"}) if which == "mix" else [which]
datasets = {task: reasoning_gym.create_dataset(task, seed=1, size=SIZE) for task in tasks}
chance = random.Random(11)
asks = [ask(chance, tasks[k % len(tasks)], k // len(tasks)) for k in range(count)]
chance.shuffle(asks)
for one in asks:
    print(json.dumps(one, separators=(",", ":")), file=out)
