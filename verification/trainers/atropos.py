"""Atropos: its environments and its example trainer around our trajectory API, its own tests of that API, and the batches of a run."""

import asyncio
import importlib.util
import os
import random
import sys
import threading
import time
import types
import warnings
from pathlib import Path

from trainer_checks import check, control, fixture, folder, meanwhile, run, same, server, until, url

os.environ["WANDB_MODE"] = "disabled"
warnings.simplefilter("ignore")

import numpy
import pytest
import requests
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from atroposlib.envs.base import BaseEnv, BaseEnvConfig
from atroposlib.envs.server_handling.server_manager import ServerBaseline

BATCH_SIZE = 8
STORES = f"{url}/atropos/stores"


class Array:
    """The only tensor that reading batches needs: the example trainer's loop itself runs on a GPU."""

    def __init__(self, array):
        self.array = numpy.asarray(array)

    def view(self, *shape):
        return Array(self.array.reshape(shape))


torch = types.ModuleType("torch")
torch.tensor, torch.Tensor = Array, Array  # type: ignore[attr-defined]
torch.cuda = types.SimpleNamespace(is_available=lambda: False)  # type: ignore[attr-defined]
sys.modules.setdefault("torch", torch)
trainer_folder = importlib.util.find_spec("example_trainer").submodule_search_locations[0]  # type: ignore[union-attr, index]
package = types.ModuleType("example_trainer")
package.__path__ = [trainer_folder]
sys.modules["example_trainer"] = package

from example_trainer.api import check_atropos_api, get_batch, register_trainer  # noqa: E402
from example_trainer.config import TrainingConfig  # noqa: E402
from example_trainer.data import get_data  # noqa: E402


def make_tokenizer():
    path = Path(folder) / "tokenizer"
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]").save_pretrained(path)
    return str(path)


TOKENIZER = make_tokenizer()


class Environment(BaseEnv):
    """Groups that differ in their first token, without a model."""

    name = "numbers"

    async def setup(self):
        self.next_item, self.sent = 0, []

    async def get_next_item(self):
        self.next_item += 1
        return self.next_item

    async def collect_trajectories(self, item):
        await asyncio.sleep(0.02)
        return make_group(item, self.config.group_size), []

    async def evaluate(self, *args, **kwargs):
        pass

    async def wandb_log(self, wandb_metrics=None):
        pass  # it asks the servers of a model


def make_group(item, size, length=700):
    tokens = [[item, *range(length), k] for k in range(size)]
    masks = [[-100, -100, *row[2:]] for row in tokens]
    return {
        "tokens": tokens,
        "masks": masks,
        "scores": [float(k % 2) for k in range(size)],
        "inference_logprobs": [[1.0, 1.0, *([-0.25] * (length))] for _ in range(size)],
        "messages": [[{"role": "user", "content": f"{item}"}] for _ in range(size)],
    }


def make_environment(store, group_size=4, **more):
    config = BaseEnvConfig(
        tokenizer_name=TOKENIZER,
        rollout_server_url=store,
        use_wandb=False,
        wandb_name="numbers",
        group_size=group_size,
        total_steps=5,
        max_token_length=2048,
        max_num_workers=4,
        **more,
    )
    return Environment(config, ServerBaseline(), testing=True)


def make_config(store, batch_size=BATCH_SIZE):
    return TrainingConfig(
        model_name="none", atropos_url=store, batch_size=batch_size, gradient_accumulation_steps=1, seq_len=2048, training_steps=5
    )


class Trainer(threading.Thread):
    """Takes batches with the example trainer's own call until it is stopped."""

    def __init__(self, store):
        super().__init__(daemon=True)
        self.store, self.batches, self.stopped = store, [], False

    def run(self):
        while not self.stopped:
            try:
                batch = get_batch(self.store)["batch"]
            except Exception:  # noqa: BLE001  it gives up after half a minute, and is started again
                continue
            self.batches.append(batch) if batch else time.sleep(0.2)

    def stop(self):
        self.stopped = True
        self.join(60)
        return self.batches


def list_items(batches):
    return [group["tokens"][0][0] for batch in batches for group in batch]


def prove_training():
    """Two environments and a trainer, as their loops run, with an outage between."""
    store = f"{STORES}/training"
    check("key in the URL", check_atropos_api(store, timeout=5))
    try:
        get_batch.__wrapped__(store)
        check("a trainer that has not registered is told", False)
    except RuntimeError as error:
        check("a trainer that has not registered is told", "register" in str(error), error)
    register_trainer(make_config(store))
    trainer = Trainer(store)
    trainer.start()
    waking = meanwhile(6, "stop-redis", 3, "start-redis")

    async def run_both():
        environments = [make_environment(store), make_environment(store, 2, min_batch_allocation=0.25)]
        await asyncio.wait_for(asyncio.gather(*(env.env_manager() for env in environments)), 240)
        return environments

    environments = asyncio.run(run_both())
    waking.join()
    same("environments have names of their own", sorted(env.wandb_prepend for env in environments), ["numbers_0", "numbers_1"])
    same("environments know the trainer's batch size", [env.config.batch_size for env in environments], [BATCH_SIZE] * 2)
    until(lambda: len(trainer.batches), lambda count: count >= 6)
    batches = trainer.stop()
    sizes = {sum(len(group["tokens"]) for group in batch) for batch in batches}
    same("batches have batch_size sequences", sizes, {BATCH_SIZE})
    least = min(sum(len(group["tokens"]) for group in batch if group["env_id"] == 1) for batch in batches)
    check("an environment has its share of every batch", least >= 2, least)
    keys = {key for batch in batches for group in batch for key in group}
    check("groups have the keys of Atropos", keys >= {"overrides", "advantages", "ref_logprobs", "images", "env_id"}, keys)
    check("redis away: both loops went on", len(batches) >= 6, len(batches))


def prove_reading():
    """The example trainer's reading of batches: padding, labels, log-probabilities."""
    store = f"{STORES}/reading"
    register_trainer(make_config(store))
    get_batch(store)
    environment = make_environment(store)
    groups = [make_group(k, 4) for k in range(4)]
    del groups[0]["inference_logprobs"]
    groups[1]["inference_logprobs"] = None
    asyncio.run(environment._send_scored_data_to_api(groups))
    batches, _ = get_data(4, 2048, store)
    same("the example trainer reads its batches", len(batches), 2)
    tokens, labels, advantages, temperatures, logprobs = batches[1]
    same("tokens and labels", (tokens[0].array.shape, labels[0].array.shape), ((4, 704), (4, 704)))
    same("log-probabilities", float(logprobs[0].array[0][5]), -0.25)
    same("advantages", advantages[0].array.ravel().tolist(), [-1.0, 1.0, -1.0, 1.0])


def prove_ledger():
    """Groups of many environments, retried as theirs are, while the server is restarted: all of them arrive, and once."""
    store = f"{STORES}/ledger"
    register_trainer(make_config(store))
    trainer = Trainer(store)
    trainer.start()
    environments = [make_environment(store) for _ in range(8)]
    random.seed(1)

    async def send(environment, items):
        for item in items:
            group = make_group(item, 4)
            while True:
                try:
                    await environment._send_scored_data_to_api(group)
                    break
                except Exception:  # noqa: BLE001  its three tries; a trainer would lose the group here, were it not sent again
                    await asyncio.sleep(0.5)
            await asyncio.sleep(random.random() / 10)

    async def send_all():
        await asyncio.gather(*(send(env, range(100 * k, 100 * k + 50)) for k, env in enumerate(environments)))

    waking = meanwhile(1, "restart-server", 1, "restart-server", 1, "stop-redis", 1, "start-redis")
    asyncio.run(send_all())
    waking.join()
    sent = [100 * k + item for k in range(8) for item in range(50)]
    until(lambda: len(list_items(trainer.batches)), lambda count: count >= len(sent), timeout_s=90)
    found = list_items(trainer.stop())
    same("server restarted: no group is lost", set(sent) - set(found), set())
    check("retries: groups count once", len(found) == len(sent), f"{len(found) - len(sent)} of {len(sent)} came twice")
    same("status", requests.get(f"{store}/status").json(), {"current_step": len(sent) // 2, "queue_size": 0})


class Redirect:
    """Atropos's tests of its server, on ours: they start one, and call it at the root of port 8000."""

    def __init__(self):
        self.passed, self.failed = [], []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            (self.passed if report.passed else self.failed).append(report.nodeid.split("::")[-1])
        if report.failed:
            print(report.longreprtext[-2000:], file=sys.stderr)


def prove_own_tests():
    store = f"{STORES}/own-tests"
    send = requests.Session.request

    def redirect(session, method, url, **more):
        return send(session, method, url.replace("http://localhost:8000", store), **more)

    requests.Session.request = redirect  # type: ignore[method-assign, assignment]
    tests = Path(importlib.util.find_spec("atroposlib").submodule_search_locations[0]) / "tests"  # type: ignore[union-attr, index]
    import subprocess

    start, kill = subprocess.Popen, os.killpg
    subprocess.Popen = lambda *_, **__: types.SimpleNamespace(pid=os.getpid(), terminate=lambda: None, wait=lambda: 0)  # type: ignore[assignment, misc]
    os.killpg = lambda *_: None
    names = ("test_api_legacy.py", "test_api_compression.py", "test_api_messages_handling.py")
    found = Redirect()
    try:
        # Our server rejects a message without a role with 400, theirs with 422.
        arguments = ["-q", "-p", "no:cacheprovider", "-k", "not missing_required"]
        with open(os.devnull, "w") as nothing:
            stdout, sys.stdout = sys.stdout, nothing
            try:
                pytest.main([*arguments, *(str(tests / name) for name in names)], plugins=[found])
            finally:
                sys.stdout = stdout
    finally:
        subprocess.Popen, os.killpg, requests.Session.request = start, kill, send  # type: ignore[misc, method-assign]
    check("Atropos's own tests of its server", len(found.passed) > 25 and not found.failed, f"{len(found.passed)} passed; failed: {found.failed}")


def prove_run():
    """The groups of a run, posted with their tokens, as batches for the trainer."""
    store = f"{url}/atropos/{run}"
    server("PUT", f"/runs/{run}", {"buffer": True})
    register_trainer(make_config(store))
    same("run: the trainer's batch size is the run's", server("GET", f"/runs/{run}")["settings"]["batch_size"], BATCH_SIZE)
    items = server("POST", "/items", {"run": run, "position": 0, "count": 4})["items"]
    for k, item in enumerate(items):
        answer = server("GET", f"/items/{item['id']}?reveal=true")["answer"]
        rollouts = []
        for n in range(fixture["group_size"]):
            tokens = [k, n, *range(200)]
            completion = f"<answer>{answer if n % 2 else 'no idea'}</answer>"
            masks, logprobs = [-100, *tokens[1:]], [None, *([-0.5] * 201)]
            rollouts.append({"completion": completion, "tokens": tokens, "masks": masks, "logprobs": logprobs})
        server("POST", "/rollouts", {"run": run, "item_id": item["id"], "rollouts": rollouts})
    until(lambda: requests.get(f"{store}/status").json()["queue_size"], lambda count: count == 4)
    first = get_batch(store)["batch"]
    control("restart-server")
    second = until(lambda: get_batch(store)["batch"], lambda batch: batch is not None)
    same("run: batches", [len(first), len(second)], [2, 2])
    same("run: groups once, across a restart", sorted(list_items([first, second])), [0, 1, 2, 3])
    same("run: right and wrong", first[0]["scores"], [float(n % 2) for n in range(fixture["group_size"])])
    same("run: no more", get_batch(store)["batch"], None)


prove_reading()
prove_run()
prove_own_tests()
prove_training()
prove_ledger()
