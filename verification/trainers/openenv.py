"""The wire of OpenEnv: its own clients, 200 sessions at once, its validator and its MCP package; and verifiers' taskset for it."""

import asyncio
import json
import subprocess
import sys
import time
import uuid

from openenv import GenericEnvClient

from testbed import *  # noqa: F403

HEADERS = {"Authorization": f"Bearer {api_key}"}
SESSIONS = 200
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
        by_task = [(await env.reset(task="gcd", difficulty=0.3, seed=5)).metadata for _ in range(2)]
        same("reset by task, difficulty and seed", by_task[0]["item_id"], by_task[1]["item_id"])
        check("reset by nothing", (await env.reset()).metadata["task"])


async def prove_many():
    ready = asyncio.Event()

    async def play(k):
        item = items[k % len(items)]
        async with connect() as env:
            await env.reset(item_id=item["id"])
            await ready.wait()  # all are open at once
            return (await env.step({"completion": item["right" if k % 2 else "wrong"]})).reward

    games = [asyncio.create_task(play(k)) for k in range(SESSIONS)]
    await asyncio.sleep(2)
    ready.set()
    same(f"{SESSIONS} sessions", await asyncio.gather(*games), [float(k % 2) for k in range(SESSIONS)])


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

    before = count_groups()
    for k in range(SIZE - 1):
        await play(f"retry-{k}")
        await play(f"retry-{k}")
    await asyncio.sleep(3)
    same("retries: no group of repeated episodes", count_groups() - before, 0)
    await play("retry-last")
    closes_once(before, 1)


async def prove_restart():
    """An episode goes on by its IDs when the connection is gone, and a step is held while Redis is away."""
    env = connect(f"/openenv/{run}")
    shown = await env.reset(item_id=items[0]["id"])
    await asyncio.to_thread(control, "restart-server")
    try:
        await env.step({"completion": items[0]["right"]})
        check("restart in an episode: told so", False, "a step without an episode had a result")
    except Exception as error:
        check("restart in an episode: told so", True, f"{type(error).__name__}: {error}")
    episode = {name: shown.metadata[name] for name in ("item_id", "episode_id")}
    result = await env.step({"completion": items[0]["right"], **episode})
    same("restart in an episode: goes on by its IDs", (result.reward, result.metadata["episode_id"]), (1.0, episode["episode_id"]))
    await env.close()


async def prove_mcp():
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(f"{plain_url}/mcp", headers=HEADERS) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            same("mcp 1: tools", names, ["list_tasks", "get_item", "score_answer"])
            scored = await session.call_tool("score_answer", {"item_id": items[0]["id"], "answer": items[0]["answer"]})
            same("mcp 1: score", scored.structuredContent["score"], 1)


def prove_sync():
    with GenericEnvClient(base_url=f"{url}/openenv").sync() as env:
        env.reset(item_id=items[1]["id"])
        same("key in the URL, sync client", env.step({"message": items[1]["right"]}).reward, 1.0)


async def openenv():
    for prefix in ("/openenv", f"/openenv/{run}"):
        arguments = [sys.executable, "-m", "openenv.cli", "validate", "--url", url + prefix]
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
        passed = result.returncode == 0 and result.stdout.count("PASS") == 7  # six checks and the verdict
        check(f"openenv validate {prefix}", passed, "" if passed else result.stdout[-400:] + result.stderr[-100:])
    await asyncio.to_thread(prove_sync)
    await prove(scorer("/openenv"), unscored_reward=None)
    for part in (prove_episode, prove_many, prove_run, prove_restart, prove_mcp):
        await part()


async def verifiers():
    """verifiers' openenv taskset through vf-eval, with the client of OpenEnv that verifiers pins."""
    from toy_model import ToyModel
    from vf_eval import evaluate, no_errors

    def play(policy, name, prefix, resets, rollouts):
        # The taskset shows the observation and the schema of actions, as JSON.
        model = ToyModel(policy, read=lambda text: json.loads(text)["observation"]["question"])
        tables = ", ".join("{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in reset.items()) + " }" for reset in resets)
        config = f'[env.taskset]\nid = "openenv"\nbase_url = "{url}{prefix}"\nresets = [{tables}]\n'
        traces = evaluate(model, name, config=config, rollouts=rollouts, actor="player")
        return traces, sorted(trace["rewards"]["openenv_reward"]["score"] for trace in traces if trace["rewards"])

    def say(item, times):
        tagged = f"<think>So.</think><answer>{item['answer']}</answer>"
        replies = [tagged, json.dumps({"completion": tagged}), json.dumps({"answer": item["answer"]}), "I do not know."]
        return replies[times % SIZE]

    await asyncio.to_thread(prove_sync)
    before = count_groups()
    traces, rewards = play(say, "first", f"/openenv/{run}", [{"position": 50}, {"position": 51}], SIZE)
    no_errors(traces)
    same("right as text, as JSON, as a bare answer; malformed", rewards, sorted([1.0, 1.0, 1.0, 0.0] * 2))
    closes_once(before, 2)
    stuck = [{"item_id": unscored["item"]["id"]}]
    traces, rewards = play(lambda item, times: unscored["completion"], "unscored", "/openenv", stuck, 1)
    errors = json.dumps([error for trace in traces for error in trace["errors"]])
    check("unscored: an error of the episode, and no reward", unscored["code"] in errors and rewards == [], errors[:300])


checked({"openenv": openenv, "verifiers-openenv": verifiers})
