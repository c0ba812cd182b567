"""Trainers that post each completion to a reward URL, by their own code from the wheel: OpenRLHF's and miles', which is slime's too."""

import asyncio
import importlib.abc
import importlib.machinery
import sys
import types
from unittest import mock

from testbed import *  # noqa: F403
from vllm_engine import Engine, Tokenizer, load_agents

PROMPT = "<|im_start|>user\nAnswer like <answer>7</answer>.<|im_end|>\n<|im_start|>assistant\n"


async def openrlhf():
    """SingleTurnAgentExecutor, which --reward.remote_url runs for each sample."""
    load_agents()
    from openrlhf.utils.agent import SingleTurnAgentExecutor

    async def execute(reward_url, label, completion, max_length=100_000):
        params = types.SimpleNamespace(max_tokens=1000, logprobs=None)
        executor = SingleTurnAgentExecutor(reward_url)
        return await executor.execute(PROMPT, label, params, max_length, Tokenizer(), Engine(completion))

    def scorer(reward_url):
        async def score(item_id, completion):
            found = await execute(reward_url, item_id, completion)
            if found["reward"] is None:
                return Result(None)
            ((reward,), logs) = found["reward"], found["extra_logs"]
            assert isinstance(reward, float), "integers would be tensors of integers"
            return Result(reward, logs["unscored"] == [1.0], logs["no_answer"] == [1.0])

        return score

    without_run, item = f"{url}/openrlhf/get_reward", items[0]
    found = await execute(without_run, "", item["right"])
    same("no --data.label_key: no reward, which OpenRLHF ends the run for", found["reward"], None)
    # OpenRLHF asks five times within five seconds, less than a whole server takes to start.
    await prove(scorer(without_run), outages=[API_KILLED, REDIS_AWAY])
    cut = await execute(without_run, item["id"], item["right"], max_length=1000 + len(PROMPT) - 20)
    same("a prompt that was cut at its start", cut["reward"], [1.0])
    await prove_group(scorer(f"{url}/openrlhf/{run}/get_reward"))
    found = await execute(f"{url}/openrlhf/{run}s/get_reward", item["id"], item["right"])
    same("wrong run: no reward, which OpenRLHF ends the run for", found["reward"], None)
    await prove_means(scorer(f"{url}/openrlhf/{run}/get_reward"))


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


async def miles():
    """async_rm and batched_async_rm."""
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

    rm_url = f"{url}/slime/rm"
    try:
        await remote_rm(arguments(rm_url), sample(None, items[0]["right"]))
        check("no --label-key: an error", False)
    except aiohttp.ClientResponseError as error:
        same("no --label-key: an error", error.status, 400)
    # miles asks once, so the port must stay open.
    await prove(scorer(rm_url), outages=[API_KILLED, REDIS_AWAY])
    samples = [sample(item["id"], item["right" if k % 2 else "wrong"]) for k, item in enumerate(items)]
    rewards = await batched_async_rm(arguments(rm_url), samples)
    same("a batch of numbers", rewards, [float(k % 2) for k in range(len(items))])
    check("numbers are floats", all(isinstance(reward, float) for reward in rewards))
    await prove_group(scorer(f"{url}/slime/{run}/rm"))
    try:
        await remote_rm(arguments(f"{url}/slime/{run}s/rm"), sample(items[0]["id"], items[0]["right"]))
        check("wrong run: an error", False)
    except aiohttp.ClientResponseError as error:
        same("wrong run: an error", error.status, 404)
    await prove_means(scorer(f"{url}/slime/{run}/rm"))


checked({"openrlhf": openrlhf, "miles": miles})
