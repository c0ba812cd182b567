"""Readers of /dataset.jsonl: Hugging Face `datasets`, whole and streamed, pandas, polars, duckdb, and files that curl wrote."""

import json
import os
import subprocess
import sys

import duckdb
import pandas
import polars
from datasets import Value, load_dataset

from testbed import *  # noqa: F403

FORMATS = ["hf", "trl", "verl", "openrlhf", "slime", "skyrl", "nemo-gym", "swift"]
QUERY = "tasks=chain_sum,leg_counting,base_conversion,caesar_cipher"


def address(query, base=url, file="dataset.jsonl"):
    return f"{base}/{file}?{query}"


def load(query, base=url, **options):
    return load_dataset("json", data_files=address(query, base), split="train", cache_dir=folder, **options)


def raw(query):
    return download(f"/dataset.jsonl?{query}")


def item_id(row):
    return row.get("item_id") or row["extra_info"]["item_id"]


# Every format, whole and streamed: the same rows as the bytes, one schema from the first row to the last.
for name in FORMATS:
    query = f"format={name}&count=300&difficulty=0,1&{QUERY}"
    lines = [json.loads(line) for line in raw(query).splitlines()]
    whole = load(query)
    same(f"{name}: whole", [item_id(row) for row in whole], [item_id(row) for row in lines])
    streamed = list(load(query, streaming=True))
    same(f"{name}: streamed", [item_id(row) for row in streamed], [item_id(row) for row in lines])
    nulls = [column for column in whole.column_names if any(value is None for value in whole[column])]
    same(f"{name}: no nulls", nulls, [])

rows = load(f"count=200&difficulty=0,1&{QUERY}")
same("difficulty is a column of fractions", rows.features["difficulty"], Value("float64"))
prompt = rows[0]["prompt"]
check("prompt is a conversation", [message["role"] for message in prompt] == ["system", "user"], prompt)

# Keys.
bearer = {"headers": {"Authorization": f"Bearer {api_key}"}}
same("key in a header", len(load(f"count=20&seed=2&{QUERY}", plain_url, storage_options=bearer)), 20)
try:
    load(f"count=20&seed=3&{QUERY}", plain_url)
    check("without a key nothing is loaded", False)
except Exception as error:  # its type is theirs to choose
    check("without a key nothing is loaded", api_key not in str(error), type(error).__name__)

many = load_dataset(
    "json",
    data_files=address("count=200000&tasks=chain_sum&difficulty=0.5&seed=4&name=rows.jsonl.gz", file="dataset.jsonl.gz"),
    split="train",
    streaming=True,
    chunksize=1 << 18,
)  # a stream of more than 1,024 rows is read compressed
first = [row["item_id"] for row in many.take(10)]
same("a stream that is broken off, and begun again", [row["item_id"] for row in many.take(10)], first)

# A file that curl wrote, plain and compressed, in every reader; `datasets` also offline.
for file in ("rows.jsonl", "rows.jsonl.gz"):
    path = f"{folder}/{file}"
    source = address(f"count=2000&{QUERY}", file=file.replace("rows", "dataset"))
    subprocess.run(["curl", "-sSf", "-o", path, source], check=True)
    offline = f"from datasets import load_dataset; print(*load_dataset('json', data_files={path!r}, split='train')['item_id'])"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": f"{folder}/hf"}
    result = subprocess.run([sys.executable, "-c", offline], env=environment, capture_output=True, text=True)
    readers = {
        "pandas": lambda: list(pandas.read_json(path, lines=True)["item_id"]),
        "polars": lambda: polars.read_ndjson(path)["item_id"].to_list(),
        "duckdb": lambda: [row[0] for row in duckdb.sql(f"SELECT item_id FROM '{path}'").fetchall()],
        "datasets, offline": lambda: result.stdout.split(),
    }
    wanted = [json.loads(line)["item_id"] for line in raw(f"count=2000&{QUERY}").splitlines()]
    for name, read in readers.items():
        check(f"{name}: {file}", read() == wanted, result.stderr[-300:])
header = {"Authorization": f"Bearer {api_key}"}
frame = pandas.read_json(address("count=20", plain_url), lines=True, storage_options=header)
same("pandas: key in a header", len(frame), 20)

# The rows are worth what they say.
row = load(f"count=1&seed=8&{QUERY}")[0]
rollout = {"item_id": row["item_id"], "completion": reference(row["item_id"])}
same("scored", admin.call("POST", "/score", {"rollouts": [rollout]})["rewards"], [1])

# Nothing to train on stands in a suite.
suite = load_dataset("json", data_files=f"{url}/eval/suites/smoke/dataset.jsonl?format=trl", split="train", cache_dir=folder)
known = {recipe["id"] for recipe in admin.call("GET", "/eval/suites/smoke")["recipes"]}
same("suite", set(suite["item_id"]), known)
