"""miles' own async_rm and batched_async_rm, from the wheel, with our reward URL; and slime's client, which differs in its session."""

import asyncio
import importlib.abc
import importlib.machinery
import sys
import types
from unittest import mock

import aiohttp
from sample_checks import OUTAGES, Result, prove, prove_group
from trainer_checks import check, control, fixture, meanwhile, run, same, url


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


sys.meta_path.insert(0, Absent())

from miles.rollout.rm_hub import async_rm, batched_async_rm, remote_rm  # noqa: E402
from miles.utils.types import Sample  # noqa: E402


def arguments(rm_url, reward_key=None):
    return types.SimpleNamespace(rm_url=rm_url, rm_type="remote_rm", custom_rm_path=None, reward_key=reward_key, group_rm=False)


def sample(item_id, completion):
    return Sample(prompt=[{"role": "user", "content": "?"}], response=completion, label=item_id)


def scorer(rm_url):
    """By --reward-key, as the trainer reads it."""
    args = arguments(f"{rm_url}?shape=object", "reward")

    async def score(item_id, completion):
        one = sample(item_id, completion)
        one.reward = await async_rm(args, one)
        assert isinstance(one.reward["reward"], float), "integers would be tensors of integers"
        return Result(one.get_reward_value(args), one.reward["unscored"], one.reward["fault"] == "no_answer")

    return score


async def slime_rm(session, rm_url, item_id, completion, tries=10):
    """What slime's remote_rm sends and how it tries again: its wheel is not on PyPI."""
    for attempt in range(tries):
        try:
            payload = {"prompt": "?", "response": completion, "label": item_id}
            async with session.post(rm_url, json=payload) as answer:
                answer.raise_for_status()
                return await answer.json()
        except aiohttp.ClientError:
            if attempt + 1 == tries:
                raise
            await asyncio.sleep(min(2**attempt, 30))


async def main():
    items = fixture["items"]
    rm_url = f"{url}/slime/rm"
    try:
        await remote_rm(arguments(rm_url), sample(None, items[0]["right"]))
        check("no --label-key: an error", False)
    except aiohttp.ClientResponseError as error:
        same("no --label-key: an error", error.status, 400)

    # miles asks once, and a server that is not there cannot hold a call.
    await prove(scorer(rm_url), outages=OUTAGES[1:])
    samples = [sample(item["id"], item["right" if k % 2 else "wrong"]) for k, item in enumerate(items)]
    rewards = await batched_async_rm(arguments(rm_url), samples)
    same("a batch of numbers", rewards, [float(k % 2) for k in range(len(items))])
    check("numbers are floats", all(isinstance(reward, float) for reward in rewards))
    found = await remote_rm(arguments(rm_url), sample("", items[0]["right"]))
    same("unscored: no label in a run that has had some", found, 0.0)

    run_url = f"{url}/slime/{run}/rm"
    await prove_group(scorer(run_url), run)
    control("stop-redis")
    waking = meanwhile(5, "start-redis")
    held = await asyncio.gather(*(remote_rm(arguments(run_url), one) for one in samples[:8]))
    waking.join()
    same("one try: held while Redis is away", held, rewards[:8])

    connector = aiohttp.TCPConnector(limit=64)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=120)) as session:
        control("stop-server")
        waking = meanwhile(1, "start-server")
        found = await asyncio.gather(*(slime_rm(session, rm_url, one["id"], one["right"]) for one in items[:8]))
        waking.join()
        same("slime: server restarted", found, [1.0] * 8)
        calls = [slime_rm(session, rm_url, items[k % 4]["id"], items[k % 4]["right"]) for k in range(1024)]
        same("slime: 1,024 at once over 64 connections", set(await asyncio.gather(*calls)), {1.0})


asyncio.run(main())
