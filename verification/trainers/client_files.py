"""Trainers that load a file of our Python client: their own loaders, wrappers and registries around it."""

import asyncio
import importlib.util
import math
import types
from pathlib import Path

import reasoning_gym_client
from testbed import *  # noqa: F403

INTEGRATIONS = Path(reasoning_gym_client.__file__).parent / "integrations"
QUESTION = [{"role": "user", "content": "the prompt of the row"}]


async def skyrl():
    """The registry and the environment classes, as the generator uses them."""
    import skyrl_gym

    skyrl_gym.register(id="reasoning_gym", entry_point="reasoning_gym_client.integrations.rg_skyrl:ReasoningGymEnv")

    def make(**extra_info):
        row = {"reward_spec": {"method": "rule", "ground_truth": ""}, "extra_info": extra_info}
        return skyrl_gym.make("reasoning_gym", env_config=None, extras=row)

    def play(item_id, completion):
        env = make(item_id=item_id)
        assert env.init(QUESTION)[0] == QUESTION
        step = env.step(completion + "<|im_end|>")
        assert step["done"] and step["observations"] == []
        metrics = env.get_metrics()
        env.close()
        return Result(step["reward"], metrics["unscored"] == 1.0, metrics["no_answer"] == 1.0)

    async def score(item_id, completion):
        return await asyncio.to_thread(play, item_id, completion)

    await prove(score, unscored_reward=give_task_a_mean())
    await prove_group(score)
    await prove_means(score)
    same_items([make(position=k // SIZE).init(QUESTION)[1]["item_id"] for k in range(4 * SIZE)])


def give_task_a_mean():
    """Posts a group, so that the task of the item that cannot be scored has a mean reward in the run, and returns it."""
    stuck = unscored["item"]["id"]
    rollouts = [{"completion": text} for text in (reference(stuck), "x", "x", "x")]
    admin.run(run).post(stuck, rollouts, buffer=False, wait_s=60)
    return 0.25


async def openrlhf_agent():
    """MultiTurnAgentExecutor with our agent file, loaded as openrlhf/trainer/ray/vllm_engine.py does."""
    from vllm_engine import Engine, Tokenizer, load_agents

    load_agents()
    from openrlhf.utils.agent import MultiTurnAgentExecutor

    spec = importlib.util.spec_from_file_location("agent_module", INTEGRATIONS / "rg_openrlhf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    executor = module.AgentExecutor()
    check("runs OpenRLHF's executor", isinstance(executor, MultiTurnAgentExecutor))

    async def execute(label, completion):
        params = types.SimpleNamespace(max_tokens=None, logprobs=None)
        prompt = "<|im_start|>user\nQuestion<|im_end|>\n<|im_start|>assistant\n"
        return await executor.execute(prompt, label, params, 100_000, Tokenizer(), Engine(completion))

    async def score(item_id, completion):
        found = await execute(item_id, completion)
        logs = found["extra_logs"]
        return Result(found["reward"], logs["unscored"] == 1.0, logs["no_answer"] == 1.0)

    await prove(score, unscored_reward=give_task_a_mean())
    await prove_group(score)
    await prove_means(score)
    same_items([(await execute(str(k // SIZE), "<answer>?</answer>"))["label"] for k in range(4 * SIZE)])


async def swift():
    """ms-swift's loader of plugins, registry, samples and reward computation. It asks for the rewards of a whole batch."""
    import torch
    from swift.rewards import orms
    from swift.rl_core.data import GRPOSample
    from swift.rl_core.grpo_algorithm import compute_rewards_per_func
    from swift.utils.utils import import_external_file

    import_external_file(str(INTEGRATIONS / "rg_swift.py"))
    function = orms["reasoning_gym"](args=types.SimpleNamespace(num_generations=SIZE))

    def rewards(*pairs):
        samples = []
        for item_id, completion in pairs:
            messages = [*QUESTION, {"role": "assistant", "content": completion + "<|im_end|>"}]
            row = {"messages": messages, "item_id": item_id, "prompt_id": item_id, "finish_reason": "stop"}
            samples.append(GRPOSample.from_row({**row, "response_token_ids": [[1, 2, 3]]}))
        return [float(value) for value in compute_rewards_per_func(samples, [function], [None], torch.device("cpu"))[:, 0]]

    async def score(item_id, completion):
        return Result((await asyncio.to_thread(rewards, (item_id, completion)))[0])

    await prove(score, unscored_reward=give_task_a_mean(), has_flags=False)
    await prove_group(score)
    stuck = unscored["item"]["id"]
    found = rewards((stuck, reference(stuck)), (stuck, "<answer>no idea</answer>"), (stuck, unscored["completion"]))
    check("unscored is its siblings' mean", math.isclose(found[2], 0.5, abs_tol=1e-6) and found[0] == 1.0, found)
    found = rewards(*[(stuck, unscored["completion"])] * SIZE)
    mean = admin.run(run).get()["tasks"][unscored["item"]["task"]]["mean_reward"]
    check("all hang: the mean of the task", mean > 0 and all(abs(value - mean) < 1e-6 for value in found), found)


use_environment(run)
checked({"skyrl": skyrl, "openrlhf-agent": openrlhf_agent, "swift": swift})
