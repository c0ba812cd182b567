"""The library inside a trainer: each step scores its groups and waits for all of them.

    python trainer.py STEPS process|pool -> for each step, the seconds, and the completions without the score that they should have

`process`: a reward function in the trainer's own process, as TRL calls one. `pool`: worker processes. As careful as such pools are: an
alarm ends an answer after five seconds, and if nothing has come back for ten, a worker must be in code that no alarm ends, or has
died. Then the pool is replaced, and the groups that are missing are scored once more, those that were begun excepted.
"""

import json
import multiprocessing
import os
import signal
import sys
import time

from entries import dataset_of, entry_of
from reasoning_gym.utils import extract_answer

ANSWER_LIMIT_S = 5
STALL_LIMIT_S = 10


def raise_timeout(*_):
    raise TimeoutError


def begin(running):
    signal.signal(signal.SIGALRM, raise_timeout)
    global RUNNING
    RUNNING = running
    sys.stdout = open(os.devnull, "w")  # some scorers print


def score(numbered):
    number, ask = numbered
    RUNNING[number] = 1
    return number, score_group(ask, signal.alarm)


def score_group(ask, set_alarm):
    place = ask["task"], ask["seed"]
    scores = []
    for completion in ask["completions"]:
        set_alarm(ANSWER_LIMIT_S)
        try:
            scores.append(float(dataset_of(*place).score_answer(extract_answer(completion), entry_of(*place, ask["index"]))))
        except Exception:
            scores.append(0.0)
        finally:
            set_alarm(0)
    return scores


def score_step(asks):
    return {number: score_group(ask, lambda _: None) for number, ask in enumerate(asks)}


def count_lost(asks, results):
    """Completions of which nobody expects a score have None."""
    lost = 0
    for number, ask in enumerate(asks):
        scores = results[number] or [None] * len(ask["scores"])
        for score, right in zip(scores, ask["scores"]):
            lost += right is not None and (score is None or abs(min(1, max(0, score)) - right) > 1e-9)
    return lost


class ScoringPool:
    def __init__(self, groups):
        self.running = multiprocessing.Array("b", groups, lock=False)
        self.start()

    def start(self):
        self.pool = multiprocessing.Pool(os.cpu_count(), begin, [self.running])

    def score_step(self, asks):
        self.running[:] = bytes(len(self.running))
        results = {}
        missing = range(len(asks))
        while missing:
            came = self.pool.imap_unordered(score, [(number, asks[number]) for number in missing])
            try:
                for _ in missing:
                    number, scores = came.next(timeout=STALL_LIMIT_S)
                    results[number] = scores
            except multiprocessing.TimeoutError:
                self.pool.terminate()
                self.start()
                results |= {number: None for number in missing if number not in results and self.running[number]}
            missing = [number for number in missing if number not in results]
        return results


if __name__ == "__main__":
    with open(sys.argv[1]) as lines:
        steps = [json.loads(line) for line in lines]
    out, sys.stdout = sys.stdout, open(os.devnull, "w")
    pool = ScoringPool(max(map(len, steps))) if sys.argv[2] == "pool" else None
    for asks in steps:
        began = time.perf_counter()
        results = pool.score_step(asks) if pool else score_step(asks)
        seconds = time.perf_counter() - began
        print(json.dumps({"seconds": seconds, "lost": count_lost(asks, results)}), file=out, flush=True)
    if pool:
        pool.pool.terminate()
