"""Trainers that load a file of our Python client: their own loaders, wrappers and registries around it."""

import asyncio
import dataclasses
import importlib.util
import math
import subprocess
import sys
import types
from pathlib import Path

import reasoning_gym_client
from page import read_commands, read_program
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
    for _ in range(2):  # passes over the rows
        episodes = [make(position=k // SIZE) for k in range(4 * SIZE)]
        same_items([episode.init(QUESTION)[1]["item_id"] for episode in episodes])
        for episode in episodes:
            episode.step("<answer>no idea</answer>")


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
    parse_page_command()
    for _ in range(2):  # passes over the rows
        found = await asyncio.gather(*(execute(str(k // SIZE), "<answer>?</answer>") for k in range(4 * SIZE)))
        same_items([one["label"] for one in found])


def parse_page_command():
    """The command of the page by OpenRLHF's own parser and checks, up to the training."""
    _, write_rows, command = read_commands(read_program("openrlhf", "sh"))
    same("page: the agent file writes the rows", write_rows[:1] + write_rows[2:], ["python", "100000", ">", "rows.jsonl"])
    rows = subprocess.run([sys.executable, INTEGRATIONS / "rg_openrlhf.py", "2"], capture_output=True, text=True, check=True).stdout
    source = Path(sys.modules["openrlhf"].__path__[0], "cli/train_ppo_ray.py").read_text()
    imports, main = "import argparse\nfrom datetime import datetime\n", source.split('if __name__ == "__main__":\n')[1]
    found = []
    sys.argv = command[2:]
    exec(f"{imports}if True:\n{main}", {"train": found.append})
    (args,) = found
    keys = {args.data.input_key, args.data.label_key}
    same("page: the keys of the rows", [json.loads(row).keys() & keys for row in rows.splitlines()], [keys] * 2)
    same("page: one step for each batch", args.rollout.batch_size * args.rollout.n_samples_per_prompt, args.train.batch_size)


async def swift():
    """ms-swift's loader of plugins, registry, samples and reward computation. It asks for the rewards of a whole batch."""
    import torch
    from swift.rewards import orms
    from swift.rl_core.advantage import compute_advantages
    from swift.rl_core.data import GRPOSample
    from swift.rl_core.grpo_algorithm import compute_rewards_per_func
    from swift.utils.utils import import_external_file

    import_external_file(str(INTEGRATIONS / "rg_swift.py"))
    function = orms["reasoning_gym"](args=types.SimpleNamespace(num_generations=SIZE))

    def rewards(*pairs, state=None):
        found = compute_rewards_per_func(to_samples(pairs), [function], [None], torch.device("cpu"), state)
        return [float(value) for value in found[:, 0]]

    def to_samples(pairs):
        samples = []
        for item_id, completion in pairs:
            messages = [*QUESTION, {"role": "assistant", "content": completion + "<|im_end|>"}]
            row = {"messages": messages, "item_id": item_id, "prompt_id": item_id, "finish_reason": "stop"}
            samples.append(GRPOSample.from_row({**row, "response_token_ids": [[1, 2, 3]]}))
        return samples

    async def score(item_id, completion):
        return Result((await asyncio.to_thread(rewards, (item_id, completion)))[0])

    await prove(score, unscored_reward=give_task_a_mean(), has_flags=False)
    await prove_group(score)
    stuck = unscored["item"]["id"]
    found = rewards((stuck, reference(stuck)), (stuck, "<answer>no idea</answer>"), (stuck, unscored["completion"]))
    check("unscored is its siblings' mean", math.isclose(found[2], 0.5, abs_tol=1e-6) and found[0] == 1.0, found)
    found = rewards(*[(stuck, unscored["completion"])] * SIZE)
    mean = admin.run(run).get()["tasks"][unscored["item"]["task"]]["mean_reward"]
    names = ["correct", "format", "length_penalty", "try_discount"]
    functions = [orms[f"reasoning_gym_{name}"](args=types.SimpleNamespace(num_generations=SIZE)) for name in names]
    texts = [reference(stuck), "<answer>no idea</answer>", "I do not know.", unscored["completion"]]
    samples = to_samples([(stuck, text) for text in texts])
    components = compute_rewards_per_func(samples, functions, [None] * 4, torch.device("cpu"))
    wanted = torch.tensor([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [1 / 3, 2 / 3, 0, 0]])
    check("components, and their means where one hangs", torch.allclose(components, wanted, atol=1e-6), components)
    advantages, _ = compute_advantages(components, torch.tensor([1.0, 0.5, 1.0, 1.0]), SIZE, "grpo", "gdpo")
    check("components: swift's GDPO gives the unscored one an advantage of 0", abs(advantages[3]) < 1e-6 < advantages[0], advantages)
    check("all hang: the mean of the task", mean > 0 and all(abs(value - mean) < 1e-6 for value in found), found)
    from swift.arguments import RLHFArguments

    _, command = read_commands(read_program("swift", "sh"))
    options = {word[2:] for word in command if word.startswith("--")}
    same("page: ms-swift knows all options", options - {field.name for field in dataclasses.fields(RLHFArguments)}, set())
    for step, resumes in ((0, False), (1, False), (2, False), (1, True)):
        if resumes:  # from the checkpoint of step 1
            function = orms["reasoning_gym"](args=types.SimpleNamespace(num_generations=SIZE))
        rewards(*[(stuck, "<answer>x</answer>")] * SIZE, state=types.SimpleNamespace(global_step=step))
        same("the step of ms-swift is the step of the run", progress()["step"], step)


use_environment(run)
checked({"skyrl": skyrl, "openrlhf-agent": openrlhf_agent, "swift": swift})
