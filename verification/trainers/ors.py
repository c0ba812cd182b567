"""The client of openreward, and TRL's OpenRewardSpec over it: discovery, sessions, prompts, tools and groups on ORS_PORT."""

import asyncio
import os

from testbed import *  # noqa: F403

os.environ.update(OPENREWARD_API_URL=ors_url, OPENREWARD_SESSION_URL=ors_url)

import aiohttp  # noqa: E402
import openreward  # noqa: E402
from openreward.api.environments.types import Message, Task, TextBlock  # noqa: E402
from openreward.api.errors import ToolCallError  # noqa: E402

hollow("trl", "trl.experimental")  # TRL's adapter of ORS needs no torch
from trl.experimental.openreward import OpenRewardSpec  # noqa: E402

STATELESS = "reasoning-gym"


def task_of(environment, item_id):
    return Task(server_name=environment, environment_name=environment, task_spec={"item_id": item_id}, namespace=None)


def scorer(client, environment):
    """An episode for each completion, as a harness runs it."""

    async def score(item_id, completion):
        try:
            async with client.environments.get(environment).session(task=task_of(environment, item_id)) as session:
                assert (await session.get_prompt())[0].text
                assert await session.is_assistant_message_final()
                output = await session.call_terminal_tool(completion)
        except aiohttp.ClientResponseError as error:
            if error.status != 400:
                raise
            return Result(None, True)  # an ID that cannot be read: the session does not begin
        assert output.finished
        return Result(output.reward, output.metadata["unscored"], output.metadata["fault"] == "no_answer")

    return score


def prove_discovery():
    client = openreward.OpenReward(api_key=api_key, base_url=ors_url)
    env = client.environments.get(run)
    same("splits", env.list_splits(), ["train", "test"])
    same("tools", [tool.name for tool in env.list_tools()], ["submit_answer"])
    same("terminal tool", env.terminal_tool().name, "submit_message")
    suite = [one["id"] for one in admin.call("GET", "/eval/suites/original")["recipes"]]
    same("test is a frozen suite", [task.task_spec["item_id"] for task in env.list_tasks("test")], suite)
    try:
        openreward.OpenReward(api_key="wrong", base_url=ors_url).environments.get(STATELESS).list_splits()
        check("a wrong key is told", False)
    except Exception as error:  # noqa: BLE001
        check("a wrong key is told", "Authentication" in str(error), error)


async def expect_tool_error(name, call, reason):
    try:
        check(name, False, await call)
    except ToolCallError as error:
        same(name, error.reason, reason)


async def prove_sessions(client):
    item = items[0]
    env = client.environments.get(STATELESS)
    async with env.session(task=task_of(STATELESS, item["id"])) as session:
        (message,) = await session.get_messages("openai")
        check("instructions in the user's message", message["role"] == "user" and item["question"] in message["content"])
        await expect_tool_error("malformed call: not_found", session.call_tool("nothing", {}), "not_found")
        await expect_tool_error("malformed call: input_validation", session.call_tool("submit_answer", {}), "input_validation")
        control("restart-server")
        for name in ("server restarted: the session goes on", "retries"):
            same(name, (await session.call_tool("submit_answer", {"answer": item["answer"]})).reward, 1.0)
        await expect_tool_error("an episode ends", session.call_tool("submit_answer", {"answer": "other"}), "episode_finished")
    stuck = unscored["item"]
    groups = {
        "score_group": (item["id"], [item["right"], item["wrong"], item["malformed"]], [1.0, 0.0, 0.0]),
        "score_group: the mean for what is unscored": (
            stuck["id"],
            [unscored["completion"], "<answer>x</answer>", stuck["right"]],
            [0.5, 0.0, 1.0],
        ),
    }
    for name, (item_id, texts, wanted) in groups.items():
        async with env.session(task=task_of(STATELESS, item_id)) as session:
            scores = await session.score_group([[Message("assistant", [TextBlock(text)])] for text in texts])
            same(name, [one.reward for one in scores], wanted)


def prove_trl():
    spec = OpenRewardSpec(ors_url, env_name=run, api_key=api_key, indices=[20, 21])
    same("TRL: dataset", spec.train_dataset["position"][:], [20, 21])
    one, other, skipped = (spec.environment_factory() for _ in range(3))
    same("TRL: members of a group get one question", len({env.reset(task_index=20) for env in (one, other, skipped)}), 1)
    (item,) = admin.call("POST", "/items", {"run": run, "position": 20})["items"]
    one.submit_answer(answer=admin.item(item["id"], reveal=True)["answer"])
    other.submit_answer(answer="no idea")
    same("TRL: rewards; none for who submits none", spec.reward_funcs([one, other, skipped]), [1.0, 0.0, None])
    same("TRL: the metadata names the item", one.metadata[-1]["item_id"], item["id"])
    for env in (one, other, skipped):
        env._close()


async def main():
    client = openreward.AsyncOpenReward(api_key=api_key, base_url=ors_url)
    # The client tries four times in four seconds to begin a session, less than a server takes to start.
    await prove(scorer(client, STATELESS), unscored_reward=None, outages=[REDIS_AWAY])
    await prove_sessions(client)
    await prove_group(scorer(client, run))


prove_discovery()
asyncio.run(main())
prove_trl()
