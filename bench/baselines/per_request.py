"""The baseline that builds the library's scorer for every request, of one completion each, as some environments do.

    POST /score {"task", "seed", "index", "completion"} -> {"scores"}
"""

from functools import lru_cache

import orjson
import reasoning_gym
from fastapi import FastAPI, Request, Response
from reasoning_gym import get_score_answer_fn
from reasoning_gym.utils import extract_answer

app = FastAPI()


@lru_cache(maxsize=10_000)
def entry_of(task, seed, index):
    return reasoning_gym.create_dataset(task, seed=seed, size=500)[index]


@app.post("/score")
async def score(request: Request):
    asked = orjson.loads(await request.body())
    task = asked["task"]
    entry = entry_of(task, asked["seed"], asked["index"])
    try:
        scored = float(get_score_answer_fn(task)(extract_answer(asked["completion"]), entry))
    except Exception:
        scored = 0.0
    return Response(orjson.dumps({"scores": [scored]}), media_type="application/json")


@app.get("/health")
async def health():
    return {"ok": True}
