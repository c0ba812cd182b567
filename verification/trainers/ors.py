"""`reasoning_gym_client.serve ors`: the client of openreward, and TRL's OpenRewardSpec over it."""

import asyncio
import os

from served import LossyProxy, Served
from testbed import *  # noqa: F403

TRIES = "trainers-ors-tries"
admin.run(TRIES).put(tasks=["gcd"], tries=4, try_discount=0.5, feedback="rule", group_size=1)
library, trained, tried = Served("ors", path="/health"), Served("ors", "--run", run, path="/health"), Served("ors", "--run", TRIES, path="/health")
proxy = LossyProxy(tried.port)
os.environ.update(OPENREWARD_API_URL=library.url, OPENREWARD_SESSION_URL=library.url)

import openreward  # noqa: E402
from openreward.api.environments.types import Message, Task, TextBlock  # noqa: E402
from openreward.api.errors import ToolCallError  # noqa: E402

hollow("trl", "trl.experimental")  # TRL's adapter of ORS needs no torch
from trl.experimental.openreward import OpenRewardSpec  # noqa: E402

STATELESS = "reasoning-gym"


def task_of(environment, **spec):
    return Task(server_name=environment, environment_name=environment, task_spec=spec, namespace=None)


def connect(url):
    os.environ.update(OPENREWARD_API_URL=url, OPENREWARD_SESSION_URL=url)
    return openreward.AsyncOpenReward(api_key="none", base_url=url)


def scorer(client, environment):
    """An episode for each completion, as a harness runs it. A session that fails is begun again: no reward came of it."""

    async def score(item_id, completion):
        for attempt in range(10):
            try:
                async with client.environments.get(environment).session(task=task_of(environment, item_id=item_id)) as session:
                    assert (await session.get_prompt())[0].text
                    assert await session.is_assistant_message_final()
                    output = await session.call_terminal_tool(completion)
                assert output.finished
                return Result(output.reward, output.metadata["unscored"], output.metadata["fault"] == "no_answer" if "fault" in output.metadata else False)
            except Exception as error:  # noqa: BLE001
                if attempt == 9 or item_id in dict(faulty_ids()).values():
                    return Result(None, True)
                await asyncio.sleep(1)

    return score


def prove_discovery():
    client = openreward.OpenReward(api_key="none", base_url=trained.url)
    env = client.environments.get(run)
    same("splits", env.list_splits(), ["train", "test"])
    same("tools", [tool.name for tool in env.list_tools()], ["submit_answer"])
    same("terminal tool", env.terminal_tool().name, "submit_message")
    suite = [one["id"] for one in admin.call("GET", "/eval/suites/original")["recipes"]]
    same("test is a frozen suite", [task.task_spec["item_id"] for task in env.list_tasks("test")], suite)


async def expect_tool_error(name, call, reason):
    try:
        check(name, False, await call)
    except ToolCallError as error:
        same(name, error.reason, reason)


async def expect_failure(name, call):
    try:
        check(name, False, await call)
    except Exception as error:  # noqa: BLE001
        check(name, True, f"{type(error).__name__}: {error}")


async def prove_sessions(client):
    item = items[0]
    env = client.environments.get(STATELESS)
    async with env.session(task=task_of(STATELESS, item_id=item["id"])) as session:
        (message,) = await session.get_messages("openai")
        check("instructions in the user's message", message["role"] == "user" and item["question"] in message["content"])
        await expect_tool_error("malformed call: not_found", session.call_tool("nothing", {}), "not_found")
        await expect_tool_error("malformed call: input_validation", session.call_tool("submit_answer", {}), "input_validation")
        control("restart-server")
        for name in ("server restarted: the session goes on", "retries"):
            same(name, (await session.call_tool("submit_answer", {"answer": item["answer"]})).reward, 1.0)
        await expect_tool_error("an episode ends", session.call_tool("submit_answer", {"answer": "other"}), "episode_finished")
    async with env.session(task=task_of(STATELESS, item_id=item["id"])) as session:
        await session.get_prompt()
        control("stop-server")
        await expect_failure("server away: an error and no reward", session.call_tool("submit_answer", {"answer": item["answer"]}))
        control("start-server")
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
        async with env.session(task=task_of(STATELESS, item_id=item_id)) as session:
            scores = await session.score_group([[Message("assistant", [TextBlock(text)])] for text in texts])
            same(name, [one.reward for one in scores], wanted)


async def prove_tries():
    """A session goes on after a wrong answer, over lost responses and a restart of the server, and in another session by its ID."""
    (item,) = admin.make("gcd", seed=7)
    right = reference(item["id"])[8:-9]
    env = connect(proxy.url).environments.get(TRIES)
    spec = {"item_id": item["id"], "rollout_id": "mine"}
    async with env.session(task=task_of(TRIES, **spec)) as session:
        proxy.losing = b"new answer"
        first = await session.call_tool("submit_answer", {"answer": "29"})
        same("tries: a wrong one, whose response was lost", (first.reward, first.finished, proxy.lost), (0.0, False, 1))
        check("tries: the text of the tool asks again", "new answer" in first.blocks[0].text, first.blocks[0].text)
        control("restart-server")
        again = await session.call_tool("submit_answer", {"answer": "30"})
        same("tries: another after a restart of the server", (again.reward, again.finished), (0.0, False))
        await asyncio.to_thread(tried.restart)
        await expect_failure("ORS server restarted: the session is gone", session.call_tool("submit_answer", {"answer": "31"}))
    async with env.session(task=task_of(TRIES, **spec)) as session:
        await session.call_tool("submit_answer", {"answer": "30"})  # sent again: counts once
        await session.call_tool("submit_answer", {"answer": "31"})
        proxy.losing = b"Reward"
        last = await session.call_tool("submit_answer", {"answer": right})
        same("tries: the fourth is right, whose response was lost", (last.reward, last.finished, proxy.lost), (0.125, True, 2))
    closes_once(0, 1, TRIES)
    (group,) = until(lambda: list(admin.run(TRIES).groups()), bool)
    same("tries: turns of the rollout", [turn["answer"] for turn in group["verdicts"][0]["turns"]], ["29", "30", "31", right])
    same("tries: one rollout", progress(TRIES)["rollouts"], 1)
    stuck = unscored["item"]["id"]
    admin.run(TRIES).post(stuck, [{"completion": text} for text in (reference(stuck), "x")], buffer=False, wait_s=60)
    async with env.session(task=task_of(TRIES, item_id=stuck)) as session:
        outputs = [await session.call_tool("submit_answer", {"answer": text}) for text in ("x", unscored["answer"])]
    same("tries: unscored after a wrong one: the mean of the task", [one.reward for one in outputs], [0.0, 0.5])
    same("tries: unscored after a wrong one: says so", outputs[1].metadata["unscored"], True)


def prove_trl():
    os.environ.update(OPENREWARD_API_URL=trained.url, OPENREWARD_SESSION_URL=trained.url)
    spec = OpenRewardSpec(trained.url, env_name=run, api_key="none", indices=[20, 21])
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
    await prove_tries()
    client = connect(library.url)
    await prove(scorer(client, STATELESS), unscored_reward=None, damaged_reward=None)
    await prove_sessions(client)
    await prove_group(scorer(connect(trained.url), run))


prove_discovery()
asyncio.run(main())
prove_trl()
