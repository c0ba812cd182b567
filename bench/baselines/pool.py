"""The library in a pool of worker processes inside the trainer: each step scores its groups and waits for all of them.

    python pool.py STEPS -> the seconds of each step. STEPS has a step a line, and the first one fills the caches.

As careful as such pools are: an alarm ends an answer after five seconds, and if nothing has come back for ten, a worker must be in code that
no alarm ends, or has died. Then the pool is replaced, and the groups that are missing are scored once more, those that were begun excepted.
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
    place = ask["task"], ask["seed"]
    scores = []
    for completion in ask["completions"]:
        signal.alarm(ANSWER_LIMIT_S)
        try:
            scores.append(float(dataset_of(*place).score_answer(extract_answer(completion), entry_of(*place, ask["index"]))))
        except Exception:
            scores.append(0.0)
        finally:
            signal.alarm(0)
    return number, scores


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
    pool = ScoringPool(max(map(len, steps)))
    seconds = []
    for asks in steps:
        began = time.perf_counter()
        pool.score_step(asks)
        seconds.append(time.perf_counter() - began)
    pool.pool.terminate()
    print(json.dumps(seconds))
