"""AReaL: its own RLVRWorkflow and GroupedRolloutWorkflow around our workflow, with an engine that says known completions."""

import ast
import asyncio
import logging
import os
import types
from pathlib import Path

from page import read_program
from testbed import *  # noqa: F403

use_environment(run)

import areal
import torch
from areal.api import cli_args
from areal.api.cli_args import GenerationHyperparameters
from areal.api.io_struct import ModelResponse
from areal.infra.remote_inf_engine import GroupedRolloutWorkflow, RemoteInfEngine

WORKFLOW = "reasoning_gym_client.integrations.rg_areal.ReasoningGymWorkflow"


class Bytes:
    """As much of a tokenizer as the workflow asks for: a token is a byte."""

    pad_token_id, eos_token_id = 0, 0

    def decode(self, ids):
        return bytes(ids).decode()

    def apply_chat_template(self, messages, **more):
        return {"input_ids": list("".join(message["content"] for message in messages).encode())}


class Engine:
    """Says the given completions, one after the other; `prompts` is what it was asked."""

    def __init__(self, *completions):
        self.completions, self.prompts, self.version = list(completions), [], 0

    def get_version(self):
        return self.version

    async def agenerate(self, request):
        self.prompts.append(bytes(request.input_ids).decode())
        tokens = list(f"{self.completions.pop(0)}<|im_end|>".encode())
        rest = {"output_logprobs": [0.0] * len(tokens), "output_versions": [0] * len(tokens)}
        return ModelResponse(input_tokens=request.input_ids, output_tokens=tokens, **rest)


def make_workflow(group_size=1):
    """As RolloutController makes it from the name in `trainer.train(workflow=…)`."""
    config = {"gconfig": GenerationHyperparameters(), "tokenizer": Bytes()}
    engine = types.SimpleNamespace(logger=logging.getLogger("areal"))
    return RemoteInfEngine._resolve_workflow(engine, WORKFLOW, config, group_size)


async def play(item_id, *completions):
    """The rewards of one group; None if AReaL rejects all of it."""
    workflow = make_workflow(len(completions))
    row = {"item_id": item_id, "messages": [{"role": "user", "content": "the prompt of the row"}]}
    found = await workflow.arun_episode(Engine(*completions), row)
    return None if found is None else found["rewards"].tolist()


async def score(item_id, completion):
    rewards = await play(item_id, completion)
    return Result(None if rewards is None else rewards[0])


async def outage(down_s):
    """64 right answers at once while the server is away for so long."""
    control("stop-server")
    waking = meanwhile(down_s, "start-server")
    calls = [play(items[k % len(items)]["id"], items[k % len(items)]["right"]) for k in range(64)]
    found = await asyncio.gather(*calls, return_exceptions=True)
    waking.join()
    same(f"away for {down_s} s: no 0", [one for one in found if one != [1.0] and not isinstance(one, Exception)], [])
    same(f"away for {down_s} s: right rewards", sum(one == [1.0] for one in found), 64)


def page_program():
    """The page's program, with a trainer in place of AReaL's that notes its calls: AReaL's needs a GPU."""
    calls = []

    class Trainer:
        def __init__(self, config, **more):
            calls.append(more)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def train(self, **more):
            calls.append(more)

    areal.PPOTrainer = Trainer
    config = types.SimpleNamespace(gconfig=GenerationHyperparameters(), tokenizer_path=Bytes())
    cli_args.load_expr_config = lambda argv, config_class: (config, None)
    exec(read_program("areal"), {})
    source = Path(areal.__file__).parent / "trainer/rl_trainer.py"
    (real,) = [node for node in ast.parse(source.read_text()).body if getattr(node, "name", None) == "PPOTrainer"]
    methods = {node.name: {arg.arg for arg in node.args.args} for node in real.body if isinstance(node, ast.FunctionDef)}
    created, trained = calls
    check("page: AReaL's trainer takes these", created.keys() <= methods["__init__"] and trained.keys() <= methods["train"], calls)
    check("page: a row has its position", created["train_dataset"][17] == {"position": 17} and "__enter__" in methods)
    same("page: the workflow", trained["workflow"], WORKFLOW)


async def prove_workflow():
    check("groups are AReaL's", isinstance(make_workflow(2), GroupedRolloutWorkflow))
    await prove(score, unscored_reward=None, damaged_reward=None, has_flags=False)
    await prove_group(score)
    stuck = unscored["item"]["id"]
    right = reference(stuck)
    same("unscored in a group: left out", await play(stuck, right, unscored["completion"], "x", right), [1.0, 0.0, 1.0])
    for down_s in (20, 45, 80):
        await outage(down_s)
    engine = Engine(*["<answer>no idea</answer>"] * 8 * SIZE)
    before = count_groups()
    for engine.version in (0, 1):  # passes over the rows
        rollouts = await asyncio.gather(*(make_workflow(SIZE).arun_episode(engine, {"position": k}) for k in range(4)))
        until(count_groups, lambda groups: groups >= before + 4 * (engine.version + 1))
    same("rows: rewarded", [rollout["rewards"].tolist() for rollout in rollouts], [[0.0] * SIZE] * 4)
    same("rows: one item for each group, in each pass others", sorted(map(engine.prompts.count, {*engine.prompts})), [SIZE] * 8)
    check("a rollout has AReaL's tensors", isinstance(rollouts[0]["loss_mask"], torch.Tensor))
    same("the version of the weights is the step of the run", [row["step"] for row in admin.run(run).metrics()][-1], 1)

    from reasoning_gym_client.integrations import rg_areal

    os.environ.update(REASONING_GYM_RUN=f"{run}s")
    rg_areal._server = None
    try:
        check("wrong run: raises", False, await score(items[0]["id"], items[0]["right"]))
    except Exception as error:  # noqa: BLE001  whatever comes is looked at
        check("wrong run: raises and names the right one", "unknown_run" in repr(error) and run in str(error), repr(error))
    os.environ.update(REASONING_GYM_RUN=run, REASONING_GYM_DEADLINE_S="5")
    rg_areal._server = None
    control("stop-server")
    try:
        check("an outage beyond the deadline raises", False, await score(items[0]["id"], items[0]["right"]))
    except Exception as error:  # noqa: BLE001  whatever comes is looked at
        check("an outage beyond the deadline raises", "Unreachable" in type(error).__name__, repr(error))


asyncio.run(prove_workflow())
page_program()
