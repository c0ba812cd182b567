"""OpenRLHF's own SingleTurnAgentExecutor, from the wheel, with our reward URL: what --reward.remote_url runs for each sample."""

import asyncio
import importlib.util
import logging
import sys
import types
from pathlib import Path

from sample_checks import OUTAGES, Result, prove, prove_group
from trainer_checks import check, control, fixture, meanwhile, run, same, server, url

# The package's __init__ needs torch and vLLM; its module of agents does not. So the packages above it are empty here.
wheel = Path(importlib.util.find_spec("openrlhf").submodule_search_locations[0])  # type: ignore[union-attr, index]
for name, folder in (("openrlhf", wheel), ("openrlhf.utils", wheel / "utils")):
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
logs = types.ModuleType("openrlhf.utils.logging_utils")
logs.init_logger = logging.getLogger  # type: ignore[attr-defined]
sys.modules["openrlhf.utils.logging_utils"] = logs

from openrlhf.utils.agent import SingleTurnAgentExecutor  # noqa: E402

PROMPT = "<|im_start|>user\nAnswer like <answer>7</answer>.<|im_end|>\n<|im_start|>assistant\n"


class Tensor(list):
    def tolist(self):
        return list(self)


class Tokenizer:
    """One token a character."""

    def __call__(self, text, add_special_tokens, return_tensors):
        return {"input_ids": [Tensor(ord(c) for c in text)]}

    def decode(self, tokens, skip_special_tokens):
        return "".join(chr(t) for t in tokens)


class Engine:
    """vLLM that says what it is told to."""

    def __init__(self, completion):
        self.completion = completion

    async def generate(self, tokens, params, multi_modal_data=None):
        text = self.completion + "<|im_end|>"
        one = types.SimpleNamespace(text=text, token_ids=[ord(c) for c in text], finish_reason="stop", logprobs=None)
        return types.SimpleNamespace(outputs=[one])


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


async def main():
    item = fixture["items"][0]
    found = await execute("", item["right"])
    same("no --data.label_key: no reward, which OpenRLHF ends the run for", found["reward"], None)

    # OpenRLHF asks five times within five seconds, less than a server takes to start.
    await prove(scorer(f"{url}/openrlhf/get_reward"), outages=OUTAGES[1:])
    waking = meanwhile("restart-server")
    results = await asyncio.gather(*(execute(one["id"], one["right"]) for one in fixture["items"][:8]))
    waking.join()
    rewards = [one["reward"] for one in results]
    check("server restarted", all(reward in ([1.0], None) for reward in rewards), f"{rewards}: right, or none; never 0")
    again = await execute(item["id"], item["right"])
    same("right again after the restart", again["reward"], [1.0])

    again = await execute(None, item["right"])
    same("unscored: no label in a run that has had some", (again["reward"], again["extra_logs"]["unscored"]), ([0.0], [1.0]))
    cut = await execute(item["id"], item["right"], max_length=1000 + len(PROMPT) - 20)
    same("a prompt that was cut at its start", cut["reward"], [1.0])
    both = await execute(item["id"], item["right"], [f"{url}/openrlhf/get_reward", f"{url}/openrlhf/{run}/get_reward"])
    same("several URLs", both["reward"], [1.0])

    url_of_run = f"{url}/openrlhf/{run}/get_reward"
    await prove_group(scorer(url_of_run), run)
    control("stop-redis")
    waking = meanwhile(3, "start-redis")
    held = await execute(item["id"], item["right"], url_of_run)
    waking.join()
    same("run: held while Redis is away", held["reward"], [1.0])
    same("run: rewards are those of its settings", server("GET", f"/runs/{run}")["settings"]["extraction"], "last_tag")


asyncio.run(main())
