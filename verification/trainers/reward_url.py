"""Trainers that post each completion to a reward URL, by their own code from the wheel: OpenRLHF's, and miles' with slime's."""

import asyncio
import importlib.abc
import importlib.machinery
import sys
import types
from unittest import mock

from testbed import *  # noqa: F403
from vllm_engine import Engine, Tokenizer, load_agents

# ---- OpenRLHF: SingleTurnAgentExecutor, which --reward.remote_url runs for each sample

PROMPT = "<|im_start|>user\nAnswer like <answer>7</answer>.<|im_end|>\n<|im_start|>assistant\n"


async def openrlhf():
    load_agents()
    from openrlhf.utils.agent import SingleTurnAgentExecutor

    async def execute(label, completion, urls=f"{url}/openrlhf/get_reward", max_length=100_000):
        params = types.SimpleNamespace(max_tokens=1000, logprobs=None)
        executor = SingleTurnAgentExecutor(urls)
        return await executor.execute(PROMPT, label, params, max_length, Tokenizer(), Engine(completion))

    def scorer(urls):
        async def score(item_id, completion):
            found = await execute(item_id, completion, urls)
            if found["reward"] is None:
                return Result(None)
            ((reward,), (_,), logs) = found["reward"], found["scores"], found["extra_logs"]
            assert set(logs) == {"unscored", "no_answer", "fault"}, logs
            assert isinstance(reward, float), "integers would be tensors of integers"
            return Result(reward, logs["unscored"] == [1.0], logs["no_answer"] == [1.0])

        return score

    item = items[0]
    found = await execute("", item["right"])
    same("no --data.label_key: no reward, which OpenRLHF ends the run for", found["reward"], None)
    # OpenRLHF asks five times within five seconds, less than a server takes to start.
    await prove(scorer(f"{url}/openrlhf/get_reward"), outages=[REDIS_AWAY])
    waking = meanwhile("restart-server")
    results = await asyncio.gather(*(execute(one["id"], one["right"]) for one in items[:8]))
    waking.join()
    rewards = [one["reward"] for one in results]
    check("server restarted", all(reward in ([1.0], None) for reward in rewards), f"{rewards}: right, or none; never 0")
    again = await execute(item["id"], item["right"])
    same("right again after the restart", again["reward"], [1.0])
    again = await execute(None, item["right"])
    same("unscored: no label in a run that has had some", (again["reward"], again["extra_logs"]["unscored"]), ([0.0], [1.0]))
    cut = await execute(item["id"], item["right"], max_length=1000 + len(PROMPT) - 20)
    same("a prompt that was cut at its start", cut["reward"], [1.0])
    run_url = f"{url}/openrlhf/{run}/get_reward"
    both = await execute(item["id"], item["right"], [f"{url}/openrlhf/get_reward", run_url])
    same("several URLs", both["reward"], [1.0])
    await prove_group(scorer(run_url))
    await prove_outage("run: held while Redis is away", scorer(run_url), "stop-redis", 3, "start-redis")


# ---- miles: async_rm and batched_async_rm; and slime's client, which differs in its session


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for what the module of rewards imports and a reward by URL does not use: torch, ray, sympy and the like."""

    roots = ("torch", "ray", "sympy", "pylatexenc", "httpx", "sglang", "sglang_router", "transformers", "megatron", "yaml", "omegaconf")

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.roots:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda attribute: mock.MagicMock(name=f"{spec.name}.{attribute}")
        return module

    def exec_module(self, module):
        pass


async def slime_rm(session, rm_url, item, tries=10):
    """What slime's remote_rm sends and how it tries again: its wheel is not on PyPI."""
    import aiohttp

    for attempt in range(tries):
        try:
            payload = {"prompt": "?", "response": item["right"], "label": item["id"]}
            async with session.post(rm_url, json=payload) as answer:
                answer.raise_for_status()
                return await answer.json()
        except aiohttp.ClientError:
            if attempt + 1 == tries:
                raise
            await asyncio.sleep(min(2**attempt, 30))


async def miles():
    import aiohttp

    sys.meta_path.insert(0, Absent())
    from miles.rollout.rm_hub import async_rm, batched_async_rm, remote_rm
    from miles.utils.types import Sample

    def arguments(rm_url, reward_key=None):
        return types.SimpleNamespace(rm_url=rm_url, rm_type="remote_rm", custom_rm_path=None, reward_key=reward_key, group_rm=False)

    def sample(item_id, completion):
        return Sample(prompt=[{"role": "user", "content": "?"}], response=completion, label=item_id)

    def scorer(rm_url):
        args = arguments(f"{rm_url}?shape=object", "reward")  # by --reward-key, as the trainer reads it

        async def score(item_id, completion):
            one = sample(item_id, completion)
            one.reward = await async_rm(args, one)
            assert isinstance(one.reward["reward"], float), "integers would be tensors of integers"
            return Result(one.get_reward_value(args), one.reward["unscored"], one.reward["fault"] == "no_answer")

        return score

    rm_url, run_url = f"{url}/slime/rm", f"{url}/slime/{run}/rm"
    try:
        await remote_rm(arguments(rm_url), sample(None, items[0]["right"]))
        check("no --label-key: an error", False)
    except aiohttp.ClientResponseError as error:
        same("no --label-key: an error", error.status, 400)
    # miles asks once, and a server that is not there cannot hold a call.
    await prove(scorer(rm_url), outages=[REDIS_AWAY])
    samples = [sample(item["id"], item["right" if k % 2 else "wrong"]) for k, item in enumerate(items)]
    rewards = await batched_async_rm(arguments(rm_url), samples)
    same("a batch of numbers", rewards, [float(k % 2) for k in range(len(items))])
    check("numbers are floats", all(isinstance(reward, float) for reward in rewards))
    found = await remote_rm(arguments(rm_url), sample("", items[0]["right"]))
    same("unscored: no label in a run that has had some", found, 0.0)
    await prove_group(scorer(run_url))
    await prove_outage("one try: held while Redis is away", scorer(run_url), "stop-redis", 5, "start-redis")
    connector = aiohttp.TCPConnector(limit=64)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=120)) as session:
        control("stop-server")
        waking = meanwhile(1, "start-server")
        found = await asyncio.gather(*(slime_rm(session, rm_url, item) for item in items[:8]))
        waking.join()
        same("slime: server restarted", found, [1.0] * 8)
        calls = [slime_rm(session, rm_url, items[k % 4]) for k in range(1024)]
        same("slime: 1,024 at once over 64 connections", set(await asyncio.gather(*calls)), {1.0})


checked({"openrlhf": openrlhf, "miles": miles})
