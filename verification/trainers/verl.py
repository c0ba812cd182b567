"""verl: its reward managers load and call rg_verl, and its own data set reads the rows of the server."""

import asyncio
import json
import os
import time
from pathlib import Path

from trainer_checks import api_key, check, control, fixture, folder, meanwhile, plain_url, progress, run, same, server, until, url

os.environ["REASONING_GYM_URL"] = url

import torch
from omegaconf import OmegaConf
from verl import DataProto
from verl.trainer.ppo.reward import load_reward_manager
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn, get_dataset_class

from reasoning_gym_client import Client

FILE = Path(__file__).parents[2] / "clients/python/reasoning_gym_client/integrations/rg_verl.py"
client = Client(plain_url, api_key=api_key)


class Bytes:
    """As much of a tokenizer as these parts of verl ask for: a token is a byte."""

    pad_token_id, eos_token_id = 0, 0

    def decode(self, ids, skip_special_tokens=True):
        return bytes(int(token) for token in ids if int(token) > 0).decode()

    def apply_chat_template(self, messages, **more):
        return [byte for message in messages for byte in message["content"].encode()]


def manager(name, **reward_kwargs):
    custom = {"path": str(FILE), "name": "compute_score", "reward_kwargs": reward_kwargs}
    settings = {"custom_reward_function": custom, "reward_manager": {"source": "register", "name": name, "module": None}}
    config = OmegaConf.create({"reward": {**settings, "max_concurrent": 64, "timeout": 60}})
    return load_reward_manager(config, Bytes())


def response(extra_info, text):
    tokens = list(text.encode())
    data = {"responses": torch.tensor([tokens]), "attention_mask": torch.ones(1, len(tokens), dtype=torch.long)}
    columns = {"data_source": "reasoning_gym", "reward_model": {"ground_truth": ""}, "extra_info": dict(extra_info)}
    return DataProto.from_single_dict({**data, **{name: one(value) for name, value in columns.items()}})


def one(value):
    import numpy

    column = numpy.empty(1, dtype=object)
    column[0] = value
    return column


async def rewards(manager, responses):
    manager.loop = asyncio.get_running_loop()
    return await asyncio.gather(*(manager.run_single(response(info, text)) for info, text in responses))


def of_items():
    """Without a run, and every kind of completion."""
    for name in ("naive", "rate_limited"):
        got = asyncio.run(kinds(name))
        items = len(fixture["items"])
        prefix = "" if name == "naive" else f"{name}: "
        same(f"{prefix}right", [result["reward_score"] for result in got[:items]], [1.0] * items)
        same(f"{prefix}wrong", [result["reward_score"] for result in got[items : 2 * items]], [0.0] * items)
        same(f"{prefix}malformed", [result["reward_score"] for result in got[2 * items : 3 * items]], [0.0] * items)
        same(f"{prefix}malformed is told", {result["reward_extra_info"]["no_answer"] for result in got[2 * items : 3 * items]}, {1.0})
        same(f"{prefix}partial", got[-3]["reward_score"], fixture["partial"]["score"])
        unscored = [(result["reward_score"], result["reward_extra_info"]["unscored"]) for result in got[-2:]]
        same(f"{prefix}unscored: 0 with a metric, and no exception", unscored, [(0.0, 1.0)] * 2)
        if name == "naive":
            same("the same keys each time", len({tuple(result["reward_extra_info"]) for result in got}), 1)
            numbers = all(isinstance(value, float) for result in got for value in result["reward_extra_info"].values())
            check("the extra values are numbers", numbers)


async def kinds(name):
    responses = [({"item_id": item["id"]}, item[kind]) for kind in ("right", "wrong", "malformed") for item in fixture["items"]]
    for kind in ("partial", "unscored"):
        responses.append(({"item_id": fixture[kind]["item"]["id"]}, fixture[kind]["completion"]))
    responses.append(({"item_id": "no-such-item"}, "<answer>1</answer>"))
    return await rewards(manager(name), responses)


def live_prompts():
    """LivePrompts by verl's own loader; the group of each prompt counts once, though the server is restarted in the middle."""
    custom = {"path": str(FILE), "name": "LivePrompts"}
    config = OmegaConf.create({"custom_cls": custom, "train_batch_size": 8})
    dataset_class = get_dataset_class(config)
    dataset = dataset_class(data_files=[run], tokenizer=Bytes(), config=config)
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, collate_fn=collate_fn, num_workers=0)
    batch = DataProto.from_single_dict(next(iter(loader)))
    infos = list(batch.non_tensor_batch["extra_info"])
    same("live prompts: the items of the run", [info["item_id"] for info in infos], ids_by_position(8))
    again = dataset_class(data_files=[run], tokenizer=Bytes(), config=config)
    same("live prompts: the same after a resume", [again[k]["extra_info"]["item_id"] for k in range(8)], ids_by_position(8))
    size = fixture["group_size"]
    responses = [(info, f"<answer>{k}</answer>") for info in infos for k in range(size)]
    away = meanwhile(0.05, "restart-server")
    got = asyncio.run(slowly(manager("naive"), responses))
    away.join()
    same("server restarted: every response has its reward", sum(result["reward_extra_info"]["unscored"] for result in got), 0.0)
    counted = until(progress, lambda so_far: so_far["groups"] >= len(infos))
    same("group: one for each prompt", counted["groups"], len(infos))
    same("group: each response once", counted["rollouts"], len(responses))
    info = {"item_id": ids_by_position(9)[8]}
    by_config = manager("naive", run=run)
    asyncio.run(rewards(by_config, [(info, "<answer>1</answer>")] * size))
    counted = until(progress, lambda so_far: so_far["groups"] > len(infos))
    same("group: the run by reward_kwargs", counted["groups"], len(infos) + 1)


async def slowly(manager, responses):
    """Some at a time, so that a restart meets calls before, in and after it."""
    got = []
    for start in range(0, len(responses), 4):
        got += await rewards(manager, responses[start : start + 4])
    return got


def ids_by_position(count):
    return [item["id"] for item in client.run(run).positions(8).take(range(count))]


def held_out():
    config = OmegaConf.create({"custom_cls": {"path": str(FILE), "name": "LivePrompts"}})
    dataset = get_dataset_class(config)(data_files=["held-out"], tokenizer=Bytes(), config=config, max_samples=2)
    before = progress()["rollouts"]
    results = asyncio.run(rewards(manager("naive", run=run), [(dataset[k]["extra_info"], "I do not know.") for k in range(2)]))
    same("held out: scored", [result["reward_score"] for result in results], [0.0, 0.0])
    same("held out: not counted", progress()["rollouts"], before)


def dataset_file():
    """The export as verl's own data set reads it."""
    path = Path(folder) / "rows.jsonl"
    path.write_text(download("/dataset.jsonl?format=verl&tasks=chain_sum&count=8&seed=3"))
    config = OmegaConf.create({"prompt_key": "prompt", "max_prompt_length": 4096, "filter_overlong_prompts": True})
    dataset = RLHFDataset(data_files=[str(path)], tokenizer=Bytes(), config=config)
    same("dataset.jsonl: rows", len(dataset), 8)
    info = dataset[0]["extra_info"]
    answer = server("GET", f"/items/{info['item_id']}?reveal=true")["answer"]
    (result,) = asyncio.run(rewards(manager("naive"), [(info, f"<answer>{answer}</answer>")]))
    same("dataset.jsonl: a right answer", result["reward_score"], 1.0)


def download(path):
    import urllib.request

    request = urllib.request.Request(plain_url + path, headers={"Authorization": f"Bearer {api_key}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def redis_away():
    """An outage is waited for: no reward of 0, and no exception."""
    control("stop-redis")
    away = meanwhile(3, "start-redis")
    item = fixture["items"][0]
    (result,) = asyncio.run(rewards(manager("naive", run=f"{run}-redis"), [({"item_id": item["id"]}, item["right"])]))
    away.join()
    same("redis away", result["reward_score"], 1.0)


def concurrent():
    """256 responses at once, in any order."""
    items = fixture["items"]
    pairs = [(items[k % len(items)], k % 3) for k in range(256)]
    responses = [({"item_id": item["id"]}, item[("right", "wrong", "malformed")[kind]]) for item, kind in pairs]
    results = asyncio.run(rewards(manager("naive"), responses))
    same("concurrent", [result["reward_score"] for result in results], [float(kind == 0) for _, kind in pairs])


if __name__ == "__main__":
    of_items()
    live_prompts()
    held_out()
    redis_away()
    concurrent()
    dataset_file()
