"""The wire of OpenEnv: its own clients and its validator."""

import asyncio
import subprocess
import sys
import time
import uuid
from pathlib import Path

from openenv import GenericEnvClient
from openenv.cli.commands.push import _validate_openenv_directory

from testbed import *  # noqa: F403

HEADERS = {"Authorization": f"Bearer {api_key}"}
RETRY_S = 60


def connect(prefix="/openenv"):
    return GenericEnvClient(base_url=plain_url + prefix, headers=HEADERS)


def scorer(prefix):
    """One episode for each completion. A connection that is lost is opened again, and the episode keeps its ID: it counts once."""

    async def score(item_id, completion):
        episode_id = str(uuid.uuid4())
        deadline = time.monotonic() + RETRY_S
        while True:
            try:
                async with connect(prefix) as env:
                    await env.reset(item_id=item_id, episode_id=episode_id)
                    result = await env.step({"completion": completion})
                assert isinstance(result.reward, float) and result.done, result
                return Result(result.reward, False, result.metadata["fault"] == "no_answer")
            except RuntimeError as error:  # an error frame: the item or the completion, and never a reward
                assert "EXECUTION_ERROR" in str(error), error
                return Result(None, True)
            except OSError:
                if time.monotonic() > deadline:
                    raise
            except Exception as error:  # the connection was closed in the middle of an exchange
                if "ConnectionClosed" not in type(error).__name__ or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(0.5)

    return score


async def expect_error(name, call, text):
    try:
        check(name, False, await call)
    except RuntimeError as error:
        check(name, text in str(error), error)


async def prove_episode():
    async with connect() as env:
        shown = await env.reset(item_id=items[0]["id"], episode_id="mine")
        same("reset: the question and no reward", (list(shown.observation), shown.reward, shown.done), (["question"], None, False))
        state = await env.state()
        same("state", (state["episode_id"], state["step_count"]), ("mine", 0))
        first = await env.step({"answer": items[0]["answer"]})
        same("a bare answer", (first.reward, first.done), (1.0, True))
        same("the same step again: the same result", await env.step({"answer": items[0]["answer"]}), first)
        await expect_error("another step after the last", env.step({"answer": "x"}), "call reset")
        await expect_error("no known field", env.step({"reply": "x"}), "VALIDATION_ERROR")
        await env.reset(item_id=unscored["item"]["id"])
        await expect_error("unscored: an error", env.step({"completion": unscored["completion"]}), unscored["code"])


async def prove_run():
    """Items of a run by position; an episode that is played twice is one rollout."""
    prefix = f"/openenv/{run}"
    await prove_group(scorer(prefix))
    (item,) = admin.call("POST", "/items", {"run": run, "position": 40})["items"]

    async def play(episode_id):
        async with connect(prefix) as env:
            shown = await env.reset(position=40, episode_id=episode_id)
            same("positions: one item for the group", shown.metadata["item_id"], item["id"])
            await env.step({"completion": "<answer>1</answer>"})

    async with connect(f"/openenv/{run}s") as env:
        await expect_error("wrong run: the right one is named", env.reset(), f'Did you mean "{run}"?')

    before = count_groups()
    for k in range(SIZE):
        await play(f"retry-{k}")
        await play(f"retry-{k}")
    closes_once(before, 1)


async def prove_tasks():
    """OpenEnv's task API, whose client is any HTTP client, and a reset to one of its tasks."""
    base = f"/openenv/{run}"
    same("task API: environments", admin.call("GET", f"{base}/list_environments"), [run])
    same("task API: splits", [split["name"] for split in admin.call("GET", f"{base}/{run}/splits")], ["train", "test"])
    total = admin.call("POST", f"{base}/{run}/num_tasks", {"split": "train"})["num_tasks"]
    listed = admin.call("POST", f"{base}/{run}/task_range", {"split": "train", "start": total - 2})["tasks"]
    same("task API: a range", listed, [{"position": total - 2}, {"position": total - 1}])
    for split in ("train", "test"):
        task = admin.call("POST", f"{base}/{run}/task", {"split": split, "index": 2})["task"]
        async with connect(base) as env:
            by_place, by_task = await env.reset(split=split, index=2), await env.reset(**task)
        same(f"task API: reset to {split}", by_place.metadata["item_id"], by_task.metadata["item_id"])


async def prove_restart():
    """An episode goes on by its IDs when the connection is gone, and a step is held while Redis is away."""
    env = connect(f"/openenv/{run}")
    shown = await env.reset(item_id=items[0]["id"])
    await asyncio.to_thread(control, "restart-server")
    try:
        check("restart in an episode: told so", False, await env.step({"completion": items[0]["right"]}))
    except Exception as error:
        check("restart in an episode: told so", True, f"{type(error).__name__}: {error}")
    episode = {name: shown.metadata[name] for name in ("item_id", "episode_id")}
    result = await env.step({"completion": items[0]["right"], **episode})
    same("restart in an episode: goes on by its IDs", (result.reward, result.metadata["episode_id"]), (1.0, episode["episode_id"]))
    await env.close()


def prove_sync():
    with GenericEnvClient(base_url=f"{url}/openenv").sync() as env:
        env.reset(item_id=items[1]["id"])
        same("key in the URL, sync client", env.step({"message": items[1]["right"]}).reward, 1.0)


def prove_space():
    """The folder of a Hugging Face Space, as `openenv push` takes it."""
    space = Path(__file__).parents[2] / "deploy" / "huggingface-space"
    arguments = [sys.executable, "-m", "openenv.cli", "validate", str(space), "--level", "static", "--skip-build"]
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    check("openenv validate of the Space", result.returncode == 0, result.stdout[-400:])
    name, manifest = _validate_openenv_directory(space)
    counts = manifest["validation"]["capabilities"]["declared_task_count"]
    env = "/openenv/reasoning-gym"
    same("the Space: counts", {split: admin.call("POST", f"{env}/num_tasks", {"split": split})["num_tasks"] for split in counts}, counts)


async def openenv():
    await asyncio.to_thread(prove_space)
    for prefix in ("/openenv", f"/openenv/{run}"):
        arguments = [sys.executable, "-m", "openenv.cli", "validate", "--url", url + prefix]
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
        passed = result.returncode == 0 and result.stdout.count("PASS") == 7  # six checks and the verdict
        check(f"openenv validate {prefix}", passed, "" if passed else result.stdout[-400:] + result.stderr[-100:])
    await asyncio.to_thread(prove_sync)
    await prove(scorer("/openenv"), unscored_reward=None)
    for part in (prove_episode, prove_run, prove_tasks, prove_restart):
        await part()


asyncio.run(openenv())
