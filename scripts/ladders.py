#!/usr/bin/env python3
"""Proves src/features/tasks/ladders.json: every rung is valid, makes items in time, scores its oracle 1.0 and is no easier than the last.

A ladder lists a task's library configs from easiest to hardest, by field: a plain value holds on every rung, an array
has one value per rung, {"const": […]} is one list for all rungs. Difficulty d means rung floor(d × (rungs − 1) + 0.5).
"""

import argparse
import copy
import dataclasses
import decimal
import enum
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from pathlib import Path

PATH = Path(__file__).resolve().parent.parent / "src/features/tasks/ladders.json"
MAKE_P95_S, MAKE_MAX_S, SCORE_MAX_S = 2.0, 10.0, 2.0
QUESTION_MAX_CHARS, ANSWER_MAX_CHARS = 20_000, 8_000
# A question shows a whole program of the library's, and no field bounds its length (20,726 seen).
ANY_LENGTH = {"codeio"}
# Numbers rise from rung to rung, but for these, where less is harder: lower bounds below zero widen, rarer zeros lie
# further away, fewer examples or terms say less, closer candidates differ less, inversions need one premise only.
FALLING = {
    "advanced_geometry.min_coord", "arc_1d.num_train", "arc_agi.use_train", "binary_matrix.p_zero",
    "complex_arithmetic.min_imag", "complex_arithmetic.min_real", "figlet_font.space_letters", "kakurasu.p_ones",
    "number_filtering.min_value", "number_format.max_delta", "number_sequence.max_terms", "number_sequence.min_terms",
    "number_sorting.min_value", "power_function.min_base", "rotten_oranges.p_rotten", "syllogism.inversion_probability",
}  # fmt: skip
# Fields that restart with each step of another field, which decides: a few large dice are easier than one more die.
RESTARTING = {"dice.max_dice_size": "num_dice"}
# Choices that are words, easiest first.
ORDER = {"word_sorting.transformation": ["lowercase", "original", "randomcase"]}


def rung(ladder, k):
    """The library config of rung k, in plain JSON."""

    def at(value):
        return value["const"] if isinstance(value, dict) else value[k] if isinstance(value, list) else value

    return {name: at(value) for name, value in ladder["fields"].items()}


def coerce(default, value):
    """JSON's lists, words and objects as the tuple, enum or dataclass that the field's default shows."""
    if isinstance(default, enum.Enum):
        return type(default)(value)
    if dataclasses.is_dataclass(default):
        return dataclasses.replace(default, **{n: coerce(getattr(default, n), v) for n, v in value.items()})
    if isinstance(value, list):
        return type(default or [])(coerce(default[0] if default else None, v) for v in value)
    return value


def library_config(task, config):
    from reasoning_gym.factory import DATASETS

    defaults = DATASETS[task][1]()
    return {name: coerce(getattr(defaults, name), value) for name, value in config.items()}


def easier(field, low, high):
    """Whether a field's value `high`, one rung above `low`, is easier."""
    if isinstance(low, str):
        return ORDER[field].index(high) < ORDER[field].index(low)
    if isinstance(low, list) and isinstance(low[0], str):
        return not set(low) <= set(high)  # choices only come in addition
    if isinstance(low, list):  # weights, easiest kind first: what the first n kinds weigh together never rises
        return any(sum(high[:n]) > sum(low[:n]) + 1e-5 for n in range(len(low)))
    return high > low if field in FALLING else high < low


def faults_of_shape(task, ladder):
    """What is wrong with a ladder before any item is made."""
    from reasoning_gym.factory import DATASETS

    if ladder["rungs"] == 1 and not ladder.get("why"):
        yield "one rung, and no why"
    if any(isinstance(v, list) and len(v) != ladder["rungs"] for v in ladder["fields"].values()):
        yield "not one value per rung"
        return
    configs = [rung(ladder, k) for k in range(ladder["rungs"])]
    for k, config in enumerate(configs):
        try:
            made = DATASETS[task][1](**library_config(task, config))
            getattr(made, "validate", lambda: None)()  # two configs have none
        except Exception as error:
            yield f"rung {k} is not valid: {error!r}"
    for k, (low, high) in enumerate(zip(configs, configs[1:])):
        if low == high:
            yield f"rungs {k} and {k + 1} are equal"
        for name in (n for n in low if easier(f"{task}.{n}", low[n], high[n])):
            if easier_by := RESTARTING.get(f"{task}.{name}"):
                if high[easier_by] > low[easier_by]:
                    continue
            yield f"{name} gets easier from rung {k} to {k + 1}: {low[name]} → {high[name]}"


def make_items(task, jobs, pipe):
    """The child: for each (rung, config, seed) tells when the item is made, then the score of its oracle answer."""
    import numpy
    from reasoning_gym.factory import create_dataset

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the library prints
    for _, config, seed in jobs:
        random.seed(seed)
        numpy.random.seed(seed % 2**32)
        decimal.setcontext(decimal.Context())  # decimal_arithmetic leaves its precision behind
        began = time.perf_counter()
        try:
            # An instance of its own each time: codeio's items come from whichever was made last.
            dataset = create_dataset(task, seed=seed, **library_config(task, config))
            item = dataset[0]
            pipe.send(("made", time.perf_counter() - began, len(item["question"]), len(item["answer"] or "")))
            none = item["answer"] is None
            pipe.send(("scored", 1.0 if none else dataset.score_answer(item["answer"], copy.deepcopy(item))))
        except Exception as error:
            pipe.send(("raised", repr(error)[:200]))


def run(task, jobs):
    """Yields each job with what its child reported; a child that is late is killed, and another goes on behind it."""
    while jobs:
        ours, theirs = multiprocessing.Pipe()
        child = multiprocessing.get_context("fork").Process(target=make_items, args=(task, jobs, theirs), daemon=True)
        child.start()
        theirs.close()
        try:
            while jobs:
                reports = []
                for deed, limit in (("making", MAKE_MAX_S), ("scoring", SCORE_MAX_S)):
                    if not ours.poll(limit):
                        raise EOFError
                    reports.append(ours.recv())
                    if reports[-1][0] == "raised":
                        break
                yield jobs[0], reports
                jobs = jobs[1:]
        except EOFError:
            yield jobs[0], [*reports, ("raised", f"{deed} was ended after {limit:.0f} s")]
            jobs = jobs[1:]
        finally:
            child.kill()
            child.join()


def verify(task, ladder, rungs, items, seed):
    """(faults, [(rung, p95, max)]): what is wrong, and the seconds that a rung's items took."""
    faults, times = list(faults_of_shape(task, ladder)), {k: [] for k in rungs}
    draw = random.Random(f"{seed} {task}")
    jobs = [(k, rung(ladder, k), draw.randrange(2**32)) for k in rungs for _ in range(items)]
    for (k, _, item_seed), reports in run(task, [] if faults else jobs):
        where = f"rung {k}, seed {item_seed}"
        for kind, value, *lengths in reports:
            if kind == "raised":
                faults.append(f"{where}: {value}")
            elif kind == "scored" and value != 1.0:
                faults.append(f"{where}: the oracle scores {value}")
            elif kind == "made":
                times[k].append(value)
                if task not in ANY_LENGTH and (lengths[0] > QUESTION_MAX_CHARS or lengths[1] > ANSWER_MAX_CHARS):
                    faults.append(f"{where}: {lengths[0]} characters of question, {lengths[1]} of answer")
    rows = [(k, sorted(t)[-(-len(t) * 95 // 100) - 1], max(t)) for k, t in times.items() if t]
    return faults + [f"rung {k}: 95 % are made in {p95:.1f} s" for k, p95, _ in rows if p95 > MAKE_P95_S], rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verify", action="store_true", required=True, help="make items and check them; exits 1 and names what failed")
    parser.add_argument("--task", action="append", help="only this task (may be repeated)")
    parser.add_argument("--items", type=int, default=20, help="items per difficulty (20)")
    parser.add_argument("--difficulties", type=int, default=11, help="this many, from 0 to 1 (11); 0: each rung once")
    parser.add_argument("--seed", type=int, default=1, help="draws the items' seeds, below 2^32 (1)")
    asked = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "1":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "1"})
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src" / "engine" / "python"))
    os.chdir(tempfile.gettempdir())  # codeio's programs write files
    import library  # noqa: F401  the library as the hosts have it, with the stand-ins for what is not installed
    from reasoning_gym.factory import DATASETS

    ladders = json.loads(PATH.read_text(encoding="utf-8"))
    failures = [f"{task}: has no ladder" for task in sorted(set(DATASETS) - {"composite"} - set(ladders))]
    names, rows = asked.task or sorted(ladders), []
    for done, task in enumerate(names, 1):
        top, began = ladders[task]["rungs"] - 1, time.monotonic()
        steps = asked.difficulties - 1
        rungs = [int(d / steps * top + 0.5) for d in range(steps + 1)] if steps > 0 else range(top + 1)
        faults, slowness = verify(task, ladders[task], rungs, asked.items, asked.seed)
        failures += [f"{task}: {fault}" for fault in faults]
        rows += [(longest, p95, f"{task}, rung {k}") for k, p95, longest in slowness]
        print(f"{done:>3}/{len(names)} {task:<26}{top + 1:>3} rungs   p95 {max((r[1] for r in slowness), default=0):6.3f} s   max "
              f"{max((r[2] for r in slowness), default=0):6.3f} s   {time.monotonic() - began:4.0f} s   "
              f"{f'{len(faults)} FAULTS' if faults else 'ok'}", flush=True)  # fmt: skip
    print("slowest:", *(f"{name}: p95 {p95:.2f} s, max {longest:.2f} s" for longest, p95, name in sorted(rows)[-5:][::-1]), sep="\n  ")
    print(*failures or ["all well"], sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
