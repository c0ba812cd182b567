"""The baseline: what one would write in an afternoon, and write well. Datasets and entries are kept, scoring is a call.

    POST /score {"task", "seed", "index", "completions"} -> {"scores"}
"""

from functools import lru_cache

import orjson
import reasoning_gym
from fastapi import FastAPI, Request, Response
from reasoning_gym.utils import extract_answer

SIZE = 500
app = FastAPI()


@lru_cache(maxsize=1000)
def dataset_of(task, seed):
    return reasoning_gym.create_dataset(task, seed=seed, size=SIZE)


@lru_cache(maxsize=10_000)
def entry_of(task, seed, index):
    return dataset_of(task, seed)[index]


@app.post("/score")
async def score(request: Request):
    asked = orjson.loads(await request.body())
    place = asked["task"], asked["seed"]
    entry = entry_of(*place, asked["index"])
    scorer = dataset_of(*place).score_answer
    scores = []
    for completion in asked["completions"]:
        try:
            scores.append(float(scorer(extract_answer(completion), entry)))
        except Exception:
            scores.append(0.0)
    return Response(orjson.dumps({"scores": scores}), media_type="application/json")


@app.get("/health")
async def health():
    return {"ok": True}
