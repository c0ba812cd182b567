"""`reasoning_gym_client.serve openenv`: OpenEnv's own clients and its validator."""

import asyncio
import subprocess
import sys
import time
import uuid
from pathlib import Path

from openenv import GenericEnvClient
from openenv.cli.commands.push import _validate_openenv_directory

from served import LossyProxy, Served
from testbed import *  # noqa: F403

RETRY_S = 60
TRIES = "trainers-openenv-tries"


def connect(served):
    return GenericEnvClient(base_url=served.url)


def scorer(served):
    """One episode for each completion. A connection that is lost is opened again, and the episode keeps its ID: it counts once."""

    async def score(item_id, completion):
        episode_id = str(uuid.uuid4())
        deadline = time.monotonic() + RETRY_S
        while True:
            try:
                async with connect(served) as env:
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


async def expect_lost(name, call):
    try:
        check(name, False, await call)
    except Exception as error:
        check(name, True, f"{type(error).__name__}: {error}")


async def prove_episode(library):
    async with connect(library) as env:
        shown = await env.reset(item_id=items[0]["id"], episode_id="mine")
        same("reset: a question and no reward", ("question" in shown.observation, shown.reward, shown.done), (True, None, False))
        state = await env.state()
        same("state", (state["episode_id"], state["step_count"]), ("mine", 0))
        first = await env.step({"answer": items[0]["answer"]})
        same("a bare answer", (first.reward, first.done), (1.0, True))
        same("the same step again: the same result", await env.step({"answer": items[0]["answer"]}), first)
        await expect_error("another step after the last", env.step({"answer": "x"}), "call reset")
        await expect_error("no known field", env.step({"reply": "x"}), "VALIDATION_ERROR")
        await env.reset(item_id=unscored["item"]["id"])
        await expect_error("unscored: an error", env.step({"completion": unscored["completion"]}), unscored["code"])
        await expect_error("two items", env.reset(item_id="x", position=1), "only one")
        await expect_error("a position without a run", env.reset(position=1), "run")
        one, other = [(await env.reset(seed=seed)).metadata["item_id"] for seed in (7, 7)]
        same("a seed names an item", one, other)
        made = await env.reset(dataset_name="leg_counting", dataset_config={"max_animals": 4}, seed=5)
        check("a recipe in OpenEnv's names", made.metadata["item_id"].startswith("leg_counting.5.0"), made.metadata["item_id"])


async def prove_run(trained):
    """Items of a run by position; an episode that is played twice is one rollout."""
    await prove_group(scorer(trained))
    (item,) = admin.call("POST", "/items", {"run": run, "position": 40})["items"]

    async def play(episode_id):
        async with connect(trained) as env:
            shown = await env.reset(position=40, episode_id=episode_id)
            same("positions: one item for the group", shown.metadata["item_id"], item["id"])
            await env.step({"completion": "<answer>1</answer>"})

    before = count_groups()
    for k in range(SIZE):
        await play(f"retry-{k}")
        await play(f"retry-{k}")
    closes_once(before, 1)


async def prove_tasks(trained):
    """OpenEnv's task API, whose client is any HTTP client, and a reset to one of its tasks. The split test counts nothing."""

    def ask(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(trained.url + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    same("task API: environments", ask("/list_environments"), [run])
    same("task API: splits", [split["name"] for split in ask(f"/{run}/splits")], ["train", "test"])
    total = ask(f"/{run}/num_tasks", {"split": "train"})["num_tasks"]
    listed = ask(f"/{run}/task_range", {"split": "train", "start": total - 2})["tasks"]
    same("task API: a range", listed, [{"position": total - 2}, {"position": total - 1}])
    for split in ("train", "test"):
        task = ask(f"/{run}/task", {"split": split, "index": 2})["task"]
        async with connect(trained) as env:
            by_place, by_task = await env.reset(split=split, index=2), await env.reset(**task)
            same(f"task API: reset to {split}", by_place.metadata["item_id"], by_task.metadata["item_id"])
            before = progress()["open_groups"]
            await env.step({"completion": "<answer>1</answer>"})
            same(f"rollouts of {split} that count", until(lambda: progress()["open_groups"] - before, bool, 5), int(split == "train"))


async def prove_tries(served):
    """An episode goes on after a wrong step, over lost responses and restarts of both servers, and is one rollout."""
    proxy = LossyProxy(served.port)
    (item,) = admin.make("gcd", seed=7)
    right = reference(item["id"])
    env = GenericEnvClient(base_url=proxy.url)
    shown = await env.reset(item_id=item["id"])
    ids = {name: shown.metadata[name] for name in ("item_id", "episode_id")}
    first = await env.step({"completion": "<answer>29</answer>"})
    same("tries: a wrong one", (first.reward, first.done), (0.0, False))
    check("tries: feedback is the next observation", "new answer" in first.observation["question"], first.observation["question"])
    proxy.losing = b""  # any: messages are compressed
    await expect_lost("tries: a lost response", env.step({"completion": "<answer>30</answer>"}))
    again = await env.step({"completion": "<answer>30</answer>", **ids})
    same("tries: sent again, it goes on", (again.reward, again.done, proxy.lost), (0.0, False, 1))
    other = await GenericEnvClient(base_url=served.url).connect()
    await other.reset(item_id=item["id"])
    moved = await other.step({"completion": "<answer>30</answer>", **ids})
    same("tries: a connection goes on with the episode that an action names", moved.metadata["episode_id"], ids["episode_id"])
    await other.close()
    await asyncio.to_thread(served.restart)
    await expect_lost("tries: OpenEnv server restarted", env.step({"completion": "<answer>31</answer>"}))
    await env.step({"completion": "<answer>31</answer>", **ids})
    await asyncio.to_thread(control, "restart-server")
    proxy.losing = b""
    await expect_lost("tries: the last response lost", env.step({"completion": right}))
    last = await env.step({"completion": right, **ids})
    same("tries: the fourth is right", (last.reward, last.done, proxy.lost), (0.125, True, 2))
    closes_once(0, 1, TRIES)
    (group,) = until(lambda: list(admin.run(TRIES).groups()), bool)
    same("tries: turns of the rollout", [turn["answer"] for turn in group["verdicts"][0]["turns"]], ["29", "30", "31", right[8:-9]])
    same("tries: one rollout", progress(TRIES)["rollouts"], 1)
    await env.reset(item_id=admin.make("gcd", seed=8)[0]["id"])
    ends = [(await env.step({"completion": "none"})).done for _ in range(4)]
    same("tries: equal wrong ones are tries of their own", ends, [False, False, False, True])
    await env.close()


async def prove_lease(served):
    """The item of an episode that is given up is given again."""

    async def next_item():
        async with connect(served) as env:
            return (await env.reset()).metadata["item_id"]

    given = await next_item()
    await asyncio.sleep(2)
    found = [await next_item() for _ in range(20)]
    check("an abandoned item is given again", given in found, found[:3])


async def prove_restart(trained):
    """A connection outlives a restart of the server behind it, and a server that stays away is an error."""
    env = connect(trained)
    await env.reset(item_id=items[0]["id"])
    await asyncio.to_thread(control, "restart-server")
    same("server restarted in an episode", (await env.step({"completion": items[0]["right"]})).reward, 1.0)
    await env.reset(item_id=items[1]["id"])
    await asyncio.to_thread(control, "stop-server")
    await expect_error("server away: an error and no reward", env.step({"completion": items[1]["right"]}), "EXECUTION_ERROR")
    await asyncio.to_thread(control, "start-server")
    same("server back: the episode goes on", (await env.step({"completion": items[1]["right"]})).reward, 1.0)
    await env.close()


def prove_sync(library):
    with connect(library).sync() as env:
        env.reset(item_id=items[1]["id"])
        same("sync client", env.step({"message": items[1]["right"]}).reward, 1.0)


def prove_space(library):
    """The folder of a Hugging Face Space, as `openenv push` takes it."""
    space = Path(__file__).parents[2] / "deploy" / "huggingface-space"
    arguments = [sys.executable, "-m", "openenv.cli", "validate", str(space), "--level", "static", "--skip-build"]
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    check("openenv validate of the Space", result.returncode == 0, result.stdout[-400:])
    _, manifest = _validate_openenv_directory(space)
    counts = manifest["validation"]["capabilities"]["declared_task_count"]
    found = {}
    for split in counts:
        body = json.dumps({"split": split}).encode()
        request = urllib.request.Request(f"{library.url}/reasoning-gym/num_tasks", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            found[split] = json.load(answer)["num_tasks"]
    same("the Space: counts", found, counts)


async def openenv():
    wrong = [sys.executable, "-m", "reasoning_gym_client.serve", "openenv", "--url", url, "--run", f"{run}s"]
    result = subprocess.run(wrong, capture_output=True, text=True, timeout=300)
    check("a wrong run ends it", result.returncode == 1 and "There is no run" in result.stderr, result.stderr[-300:])
    admin.run(TRIES).put(tasks=["gcd"], tries=4, try_discount=0.5, feedback="rule", group_size=1, item_lease_s=1)
    library, trained, tried = Served("openenv", path="/health"), Served("openenv", "--run", run, path="/health"), Served("openenv", "--run", TRIES, path="/health")
    await asyncio.to_thread(prove_sync, library)
    await prove_episode(library)
    await prove_tries(tried)
    await prove_lease(tried)
    await prove_run(trained)
    await prove_tasks(trained)
    await prove(scorer(library), unscored_reward=None, damaged_reward=None)
    await prove_restart(trained)
    await asyncio.to_thread(prove_space, library)
    for served in (library, trained):
        arguments = [sys.executable, "-m", "openenv.cli", "validate", "--url", served.url]
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
        passed = result.returncode == 0 and result.stdout.count("PASS") == 7  # six checks and the verdict
        check("openenv validate", passed, "" if passed else result.stdout[-400:] + result.stderr[-100:])
    for served in (library, trained, tried):
        served.stop()


asyncio.run(openenv())
