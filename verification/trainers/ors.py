"""The client of openreward, and TRL's OpenRewardSpec over it: discovery, sessions, prompts, tools and groups on ORS_PORT."""

import asyncio
import importlib.util
import os
import sys
import types
from pathlib import Path

from sample_checks import OUTAGES, Result, prove, prove_group
from trainer_checks import admin_key, api_key, check, control, fixture, meanwhile, ors_url, run, same, server

os.environ.update(OPENREWARD_API_URL=ors_url, OPENREWARD_SESSION_URL=ors_url)

import aiohttp
import openreward
from openreward.api.environments.types import Message, Task, TextBlock
from openreward.api.errors import ToolCallError

# TRL's package needs torch; its adapter of ORS does not. So the packages above it are empty here.
wheel = Path(importlib.util.find_spec("trl").submodule_search_locations[0])  # type: ignore[union-attr, index]
for name, folder in (("trl", wheel), ("trl.experimental", wheel / "experimental")):
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package

from trl.experimental.openreward import OpenRewardSpec  # noqa: E402

STATELESS = "reasoning-gym"


def scorer(client, environment, by_message=True):
    """An episode for each completion, as a harness runs it."""

    async def score(item_id, completion):
        env = client.environments.get(environment)
        task = Task(server_name=environment, environment_name=environment, task_spec={"item_id": item_id}, namespace=None)
        try:
            async with env.session(task=task) as session:
                assert (await session.get_prompt())[0].text
                if by_message:
                    assert await session.is_assistant_message_final()
                    output = await session.call_terminal_tool(completion)
                else:
                    output = await session.call_tool("submit_answer", {"answer": completion})
        except aiohttp.ClientResponseError as error:
            if error.status != 400:
                raise
            return Result(None, True)  # an ID that cannot be read: the session does not begin
        assert output.finished
        metadata = output.metadata
        return Result(output.reward, metadata["unscored"], metadata["fault"] == "no_answer")

    return score


def prove_discovery():
    client = openreward.OpenReward(api_key=api_key, base_url=ors_url)
    env = client.environments.get(run)
    same("splits", env.list_splits(), ["train", "test"])
    same("tools", [tool.name for tool in env.list_tools()], ["submit_answer"])
    same("terminal tool", env.terminal_tool().name, "submit_message")
    suite = [one["id"] for one in server("GET", "/eval/suites/original")["recipes"]]
    same("test is a frozen suite", [task.task_spec["item_id"] for task in env.list_tasks("test")], suite)
    same("range of tasks", [task.task_spec for task in env.get_task_range("train", 5, 7)], [{"position": 5}, {"position": 6}])
    found = []
    for key in (None, "wrong"):
        try:
            openreward.OpenReward(api_key=key or "none", base_url=ors_url).environments.get(STATELESS).list_splits()
        except Exception as error:  # noqa: BLE001
            found.append("Authentication" in str(error))
    same("a wrong key is told", found, [True, True])
    client.close() if hasattr(client, "close") else None


async def prove_sessions(client):
    item = fixture["items"][0]
    env = client.environments.get(STATELESS)
    task = Task(server_name=STATELESS, environment_name=STATELESS, task_spec={"item_id": item["id"]}, namespace=None)
    async with env.session(task=task) as session:
        (message,) = await session.get_messages("openai")
        check("instructions in the user's message", message["role"] == "user" and item["question"] in message["content"])
        for name, arguments, reason in (("nothing", {}, "not_found"), ("submit_answer", {}, "input_validation")):
            try:
                await session.call_tool(name, arguments)
                check(f"malformed call: {reason}", False)
            except ToolCallError as error:
                same(f"malformed call: {reason}", error.reason, reason)
        control("restart-server")
        first = await session.call_tool("submit_answer", {"answer": item["answer"]})
        again = await session.call_tool("submit_answer", {"answer": item["answer"]})
        same("server restarted: the session goes on", first.reward, 1.0)
        same("retries", again.reward, 1.0)
        try:
            await session.call_tool("submit_answer", {"answer": "other"})
            check("an episode ends", False)
        except ToolCallError as error:
            same("an episode ends", error.reason, "episode_finished")
    unscored = fixture["unscored"]
    items = [Message("assistant", [TextBlock(text)]) for text in (item["right"], item["wrong"], item["malformed"])]
    async with env.session(task=task) as session:
        scores = await session.score_group([[message] for message in items])
        same("score_group", [one.reward for one in scores], [1.0, 0.0, 0.0])
    hanging = Task(STATELESS, STATELESS, {"item_id": unscored["item"]["id"]}, None)
    async with env.session(task=hanging) as session:
        texts = (unscored["completion"], "<answer>x</answer>", unscored["item"]["right"])
        scores = await session.score_group([[Message("assistant", [TextBlock(text)])] for text in texts])
        same("score_group: the mean for what is unscored", [one.reward for one in scores], [0.5, 0.0, 1.0])


async def prove_positions(client):
    env = client.environments.get(run)

    async def question(index):
        async with env.session(split="train", index=index) as session:
            return (await session.get_prompt())[0].text

    texts = await asyncio.gather(*(question(k // 4) for k in range(16)))
    same("positions: all members of a group get one item", [texts[k] == texts[k - k % 4] for k in range(16)], [True] * 16)
    same("positions: groups get different items", len(set(texts)), 4)


def prove_trl():
    spec = OpenRewardSpec(ors_url, env_name=run, api_key=api_key, indices=[20, 21])
    same("TRL: dataset", spec.train_dataset["position"][:], [20, 21])
    make = spec.environment_factory
    one, other, skipped = make(), make(), make()
    prompts = {env.reset(task_index=20) for env in (one, other, skipped)}
    same("TRL: members of a group get one question", len(prompts), 1)
    item = server("POST", "/items", {"run": run, "position": 20})["items"][0]
    answer = server("GET", f"/items/{item['id']}?reveal=true", key=admin_key)["answer"]
    one.submit_answer(answer=answer)
    other.submit_answer(answer="no idea")
    same("TRL: rewards; none for who submits none", spec.reward_funcs([one, other, skipped]), [1.0, 0.0, None])
    same("TRL: the metadata names the item", one.metadata[-1]["item_id"], item["id"])
    for env in (one, other, skipped):
        env._close()


async def main():
    client = openreward.AsyncOpenReward(api_key=api_key, base_url=ors_url)
    # The client tries four times in four seconds to begin a session, less than a server takes to start.
    await prove(scorer(client, STATELESS), unscored_reward=None, outages=OUTAGES[1:])
    answers = [await scorer(client, STATELESS, False)(one["id"], one["answer"]) for one in fixture["items"][:8]]
    same("right by the tool", [one.reward for one in answers], [1.0] * 8)
    await prove_sessions(client)
    await prove_group(scorer(client, run), run)
    await prove_positions(client)
    waking = meanwhile("stop-redis", 3, "start-redis")
    held = await scorer(client, run)(fixture["items"][0]["id"], fixture["items"][0]["right"])
    waking.join()
    same("run: asked again while Redis is away", held.reward, 1.0)
    await client.aclose() if hasattr(client, "aclose") else None


prove_discovery()
asyncio.run(main())
prove_trl()
