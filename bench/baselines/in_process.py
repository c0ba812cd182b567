"""The library by itself, with no server around it: completions a second. `python in_process.py TEXTS SECONDS`"""

import json
import sys
import time

import reasoning_gym
from reasoning_gym.utils import extract_answer

out, sys.stdout = sys.stdout, sys.stderr  # some scorers print
with open(sys.argv[1]) as lines:
    asks = [json.loads(line) for line in lines]
datasets = {ask["task"]: reasoning_gym.create_dataset(ask["task"], seed=1, size=500) for ask in asks}
entries = [datasets[ask["task"]][ask["index"]] for ask in asks]
done, start = 0, time.perf_counter()
while (passed := time.perf_counter() - start) < float(sys.argv[2]):
    k = done // 8 % len(asks)
    for completion in asks[k]["completions"]:
        try:
            datasets[asks[k]["task"]].score_answer(extract_answer(completion), entries[k])
        except Exception:
            pass
        done += 1
print(done / passed, file=out)
