#!/usr/bin/env python3
"""Proves src/engine/ladders.json: that every rung is valid, makes items in time, scores its oracle 1.0, and never gets easier.

A ladder lists a task's library configs from easiest to hardest, by field: a plain value holds on every rung, an array
has one value per rung, {"const": […]} is one list for all rungs. Difficulty d means rung floor(d × (rungs − 1) + 0.5).
"""

import argparse
import copy
import dataclasses
import enum
import json
import multiprocessing
import os
import random
import sys
import time
from pathlib import Path

PATH = Path(__file__).parent.parent / "src/engine/ladders.json"
MAKE_P95_S, MAKE_MAX_S, SCORE_MAX_S = 2.0, 10.0, 2.0
QUESTION_MAX_CHARS, ANSWER_MAX_CHARS = 20_000, 8_000
# The set of real ARC puzzles cannot be cut by size; a big board is its question.
LONG_QUESTIONS = {"arc_agi": 40_000, "rearc": 40_000}

# Every number rises from rung to rung, but for these, where less is harder: rarer zeros lie further away, more
# negative bounds are wider, fewer examples or closer candidates say less.
FALLING = {
    "*": {"min_real", "min_imag", "min_coord"},
    "arc_1d": {"num_train"},
    "arc_agi": {"use_train"},
    "binary_matrix": {"p_zero"},
    "figlet_font": {"space_letters"},
    "kakurasu": {"p_ones"},
    "number_filtering": {"min_value"},
    "number_format": {"max_delta"},
    "number_sequence": {"min_terms", "max_terms"},
    "number_sorting": {"min_value"},
    "power_function": {"min_base"},
    "rotten_oranges": {"p_rotten"},
    "syllogism": {"inversion_probability"},
}
# Choices that are words, easiest first.
ORDER = {"word_sorting": {"transformation": ["lowercase", "original", "randomcase"]}}


def rung(ladder, k):
    """The library config of rung k, in plain JSON."""

    def at(value):
        if isinstance(value, dict):
            return value["const"] if "const" in value else {n: at(v) for n, v in value.items()}
        return value[k] if isinstance(value, list) else value

    return {name: at(value) for name, value in ladder["fields"].items()}


def rung_of(difficulty, rungs):
    return int(difficulty * (rungs - 1) + 0.5)


def coerce(default, value):
    """JSON's lists, words and objects as the tuple, enum and dataclass that the field's default shows."""
    if isinstance(default, enum.Enum):
        return type(default)(value)
    if dataclasses.is_dataclass(default):
        return dataclasses.replace(default, **{n: coerce(getattr(default, n), v) for n, v in value.items()})
    if isinstance(value, list):
        first = default[0] if isinstance(default, (list, tuple)) and default else None
        return type(default or [])(coerce(first, v) for v in value)
    return value


def library_config(task, config):
    from reasoning_gym.factory import DATASETS

    defaults = DATASETS[task][1]()
    return {name: coerce(getattr(defaults, name), value) for name, value in config.items()}


def easier(task, name, low, high):
    """Whether a field's value `high`, one rung above `low`, is easier; ValueError if nobody said which is harder."""
    if isinstance(low, dict):
        return any(easier(task, n, low[n], high[n]) for n in low)
    if isinstance(low, str):
        order = ORDER[task][name]
        return order.index(high) < order.index(low)
    if isinstance(low, list) and all(isinstance(v, str) for v in low):
        return not set(low) <= set(high)  # choices only come in addition
    if isinstance(low, list):  # weights, easiest kind first: what the first n kinds weigh together never rises
        return any(sum(high[:n]) > sum(low[:n]) + 1e-9 for n in range(len(low)))
    if isinstance(low, (int, float)):
        return high > low if name in FALLING["*"] | FALLING.get(task, set()) else high < low
    raise ValueError(f"{name}: which of {low!r} and {high!r} is harder?")


def faults_of_shape(task, ladder):
    """What is wrong with a ladder before any item is made."""
    from reasoning_gym.factory import DATASETS

    configs = [rung(ladder, k) for k in range(ladder["rungs"])]
    for k, config in enumerate(configs):
        try:
            DATASETS[task][1](**library_config(task, config)).validate()
        except Exception as error:
            yield f"rung {k} is not valid: {error!r}"
    for k, (low, high) in enumerate(zip(configs, configs[1:])):
        if low == high:
            yield f"rungs {k} and {k + 1} are equal"
        for name in low:
            if easier(task, name, low[name], high[name]):
                yield f"{name} gets easier from rung {k} to {k + 1}: {low[name]} → {high[name]}"
    if ladder["rungs"] == 1 and not ladder.get("why"):
        yield "one rung, and no why"


def make_items(task, jobs, pipe):
    """The child: for each (config, seed) says when the item is made, then when its oracle answer is scored."""
    import decimal

    import numpy
    import reasoning_gym  # noqa: F401
    from reasoning_gym.factory import create_dataset

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the library prints
    for config, seed in jobs:
        random.seed(seed)
        numpy.random.seed(seed % 2**32)
        decimal.setcontext(decimal.Context())  # decimal_arithmetic leaves its precision behind
        began = time.perf_counter()
        try:
            dataset = create_dataset(task, seed=seed, **library_config(task, config))
            item = dataset[0]
            pipe.send(("made", time.perf_counter() - began, len(item["question"]), len(item["answer"] or "")))
            score = None if item["answer"] is None else dataset.score_answer(item["answer"], copy.deepcopy(item))
            pipe.send(("scored", score))
        except Exception as error:
            pipe.send(("raised", repr(error)[:200]))


def run(task, jobs):
    """Yields per job what the child reported, or that it was late; a late child is killed and another one goes on."""
    context = multiprocessing.get_context("fork")
    while jobs:
        ours, theirs = context.Pipe()
        child = context.Process(target=make_items, args=(task, jobs, theirs), daemon=True)
        child.start()
        theirs.close()
        try:
            while jobs:
                reports = []
                for limit in (MAKE_MAX_S, SCORE_MAX_S):
                    if not ours.poll(limit):
                        raise EOFError
                    reports.append(ours.recv())
                    if reports[-1][0] == "raised":
                        break
                yield jobs.pop(0), reports
        except EOFError:
            yield jobs.pop(0), [*reports, ("late", f"{'scoring' if reports else 'making'} ended by the deadline")]
        finally:
            child.kill()
            child.join()


def verify(task, ladder, rungs, items, seed):
    """(faults, rows): a row is (rung, p95, max) of the seconds that its items took."""
    faults, rows, times = list(faults_of_shape(task, ladder)), [], {k: [] for k in rungs}
    if faults:
        return faults, rows
    draw = random.Random(f"{seed} {task}")
    jobs = [(rung(ladder, k), draw.randrange(2**32), k) for k in rungs for _ in range(items)]
    plan = list(jobs)
    for n, (_, reports) in enumerate(run(task, [job[:2] for job in jobs])):
        _, item_seed, k = plan[n]
        where = f"rung {k}, seed {item_seed}"
        for report in reports:
            if report[0] in ("raised", "late"):
                faults.append(f"{where}: {report[1]}")
            elif report[0] == "scored" and report[1] not in (None, 1.0):
                faults.append(f"{where}: the oracle scores {report[1]}")
            elif report[0] == "made":
                times[k].append(report[1])
                if report[2] > LONG_QUESTIONS.get(task, QUESTION_MAX_CHARS) or report[3] > ANSWER_MAX_CHARS:
                    faults.append(f"{where}: question {report[2]}, answer {report[3]} characters")
    for k, seconds in times.items():
        seconds.sort()
        if seconds:
            rows.append((k, seconds[max(0, -(-len(seconds) * 95 // 100) - 1)], seconds[-1]))
            if rows[-1][1] > MAKE_P95_S:
                faults.append(f"rung {k}: 95 % are made in {rows[-1][1]:.1f} s")
    return faults, rows


def formatted(ladders):
    """The file's text: tasks sorted, one line per field."""

    def block(ladder):
        lines = [f'    "rungs": {ladder["rungs"]}', *([f'    "why": {json.dumps(ladder["why"])}'] if "why" in ladder else [])]
        fields = [f"      {json.dumps(n)}: {json.dumps(v, ensure_ascii=False)}" for n, v in ladder["fields"].items()]
        return "{\n" + ",\n".join([*lines, '    "fields": {' + ("\n" + ",\n".join(fields) + "\n    }" if fields else "}")]) + "\n  }"

    return "{\n" + ",\n".join(f"  {json.dumps(t)}: {block(ladders[t])}" for t in sorted(ladders)) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verify", action="store_true", help="make items and check them; exits 1 and names the failures")
    parser.add_argument("--format", action="store_true", help="write the file anew, one line per field")
    parser.add_argument("--task", action="append", help="only this task (may be repeated)")
    parser.add_argument("--items", type=int, default=20, help="items per difficulty (20)")
    parser.add_argument("--difficulties", type=int, default=11, help="this many, from 0 to 1 (11); 0: every rung")
    parser.add_argument("--seed", type=int, default=1, help="of the items' seeds (1)")
    asked = parser.parse_args()
    ladders = json.loads(PATH.read_text(encoding="utf-8"))
    if asked.format:
        PATH.write_text(formatted(ladders), encoding="utf-8")
    if not asked.verify:
        return 0 if asked.format else parser.print_help()
    if os.environ.get("PYTHONHASHSEED") != "1":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "1"})
    import reasoning_gym  # noqa: F401
    from reasoning_gym.factory import DATASETS

    failures = [f"{t}: no ladder" for t in sorted(set(DATASETS) - {"composite"} - set(ladders))]
    names, worst = asked.task or sorted(ladders), []
    for done, task in enumerate(names, 1):
        rungs, began = ladders[task]["rungs"], time.monotonic()
        chosen = range(rungs) if asked.difficulties < 2 else [rung_of(d / (asked.difficulties - 1), rungs) for d in range(asked.difficulties)]
        items = asked.items if asked.difficulties < 2 else asked.items * asked.difficulties // len(set(chosen))
        faults, rows = verify(task, ladders[task], sorted(set(chosen)), items, asked.seed)
        failures += [f"{task}: {fault}" for fault in faults]
        worst += [(longest, p95, f"{task} rung {k}") for k, p95, longest in rows]
        p95, longest = max((r[1] for r in rows), default=0), max((r[2] for r in rows), default=0)
        print(f"{done:>3}/{len(names)} {task:<26} {rungs:>3} rungs  p95 {p95:6.3f} s  max {longest:6.3f} s  "
              f"{time.monotonic() - began:5.0f} s  {'ok' if not faults else f'{len(faults)} FAULTS'}", flush=True)
    print("slowest:", *(f"{name} p95 {p95:.2f} max {longest:.2f} s" for longest, p95, name in sorted(worst)[-5:][::-1]), sep="\n  ")
    print(*failures or ["all well"], sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
