"""OpenRLHF's own MultiTurnAgentExecutor, from the wheel, with our agent file, loaded as OpenRLHF loads it."""

import asyncio
import importlib.metadata
import importlib.util
import logging
import os
import sys
import types
from pathlib import Path

import reasoning_gym_client
from sample_checks import Result, environment, prove, prove_group
from trainer_checks import check, control, fixture, meanwhile, run, same

os.environ.update(environment(run))

# The package's __init__ needs torch and vLLM; its module of agents does not. So the packages above it are empty here.
wheel = Path(str(importlib.metadata.distribution("openrlhf").locate_file("openrlhf")))
for name, folder in (("openrlhf", wheel), ("openrlhf.utils", wheel / "utils")):
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
logs = types.ModuleType("openrlhf.utils.logging_utils")
logs.init_logger = logging.getLogger  # type: ignore[attr-defined]
sys.modules["openrlhf.utils.logging_utils"] = logs

PATH = Path(reasoning_gym_client.__file__).parent / "integrations" / "rg_openrlhf.py"


class Tensor(list):
    def tolist(self):
        return list(self)


class Tokenizer:
    """One token a character."""

    def __call__(self, text, add_special_tokens, return_tensors):
        return {"input_ids": [Tensor(ord(c) for c in text)]}

    def decode(self, tokens, skip_special_tokens):
        return "".join(chr(t) for t in tokens)

    def apply_chat_template(self, messages, tokenize, add_generation_prompt):
        assert not tokenize and add_generation_prompt
        return "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages) + "<|im_start|>assistant\n"


class Engine:
    """vLLM that says what it is told to."""

    def __init__(self, completion):
        self.completion = completion
        self.prompts = []

    async def generate(self, tokens, params, multi_modal_data=None):
        self.prompts.append("".join(chr(t) for t in tokens))
        text = self.completion + "<|im_end|>"
        one = types.SimpleNamespace(text=text, token_ids=[ord(c) for c in text], finish_reason="stop", logprobs=None)
        return types.SimpleNamespace(outputs=[one])


def load_executor():
    """As openrlhf/trainer/ray/vllm_engine.py does."""
    spec = importlib.util.spec_from_file_location("agent_module", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from openrlhf.utils.agent import AgentExecutorBase

    check("loads as an agent file", issubclass(module.AgentExecutor, AgentExecutorBase))
    return module.AgentExecutor(), module


async def main():
    executor, module = load_executor()
    from openrlhf.utils.agent import MultiTurnAgentExecutor

    check("runs OpenRLHF's executor", isinstance(executor, MultiTurnAgentExecutor))

    async def execute(label, completion, prompt="<|im_start|>user\nQuestion<|im_end|>\n<|im_start|>assistant\n"):
        engine = Engine(completion)
        params = types.SimpleNamespace(max_tokens=None, logprobs=None)
        return await executor.execute(prompt, label, params, 100_000, Tokenizer(), engine), engine

    async def score(item_id, completion):
        found, _ = await execute(item_id, completion)
        logs = found["extra_logs"]
        assert set(logs) == {"unscored", "no_answer", "fault"}
        return Result(found["reward"], logs["unscored"] == 1.0, logs["no_answer"] == 1.0)

    await prove(score)
    await prove_group(score, run)

    # Live items: a label that is a position.
    results = await asyncio.gather(*(execute(str(k // 4), "<answer>?</answer>") for k in range(32)))
    ids = [found["label"] for found, _ in results]
    same("positions: all members of a group get one item", [ids[k] == ids[k - k % 4] for k in range(32)], [True] * 32)
    same("positions: groups get different items", len(set(ids)), 8)
    questions = [module.server.client.item(i)["question"] in e.prompts[0] for i, (_, e) in zip(ids, results)]
    check("positions: the prompt is the item's", all(questions))
    waking = meanwhile("restart-server")
    again = [(await execute(k, "x"))[0]["label"] for k in range(8)]
    waking.join()
    same("positions: the same after a restart", again, ids[::4])
    fresh, _ = load_executor()
    executor = fresh
    same("positions: the same in another process", [(await execute(k, "x"))[0]["label"] for k in range(8)], ids[::4])


asyncio.run(main())
