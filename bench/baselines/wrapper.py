"""The baseline: what one would write in an afternoon, and write well. Datasets and entries are kept, scoring is a call.

    POST /items {"task", "seed", "index"} -> {"question"}
    POST /score {"task", "seed", "index", "completions"} -> {"scores"}
"""

import orjson
from entries import dataset_of, entry_of
from fastapi import FastAPI, Request, Response
from reasoning_gym.utils import extract_answer

app = FastAPI()


@app.post("/items")
async def items(request: Request):
    asked = orjson.loads(await request.body())
    entry = entry_of(asked["task"], asked["seed"], asked["index"])
    return Response(orjson.dumps({"question": entry["question"]}), media_type="application/json")


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
