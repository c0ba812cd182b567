"""verl: its reward managers load and call rg_verl, and its data loader reads LivePrompts."""

import asyncio
import os
from pathlib import Path
from unittest import mock

from testbed import *  # noqa: F403

use_environment()

import hydra
import numpy
import torch
from omegaconf import OmegaConf
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import AgentLoopMetrics, AgentLoopOutput
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop
from verl.trainer.ppo.core_algos import agg_loss, compute_grpo_outcome_advantage
from verl.trainer.ppo.reward import load_reward_manager
from verl.utils.dataset.rl_dataset import collate_fn, get_dataset_class

FILE = Path(__file__).parents[2] / "clients/python/reasoning_gym_client/integrations/rg_verl.py"


class Bytes:
    """As much of a tokenizer as these parts of verl ask for: a token is a byte."""

    pad_token_id, eos_token_id = 0, 0

    def decode(self, ids, skip_special_tokens=True):
        return bytes(int(token) for token in ids if int(token) > 0).decode()

    def apply_chat_template(self, messages, **more):
        return [byte for message in messages for byte in message["content"].encode()]


def manager(name, **reward_kwargs):
    custom = {"path": str(FILE), "name": "compute_score", "reward_kwargs": reward_kwargs}
    settings = {"custom_reward_function": custom, "reward_manager": {"source": "register", "name": name, "module": None}}
    config = OmegaConf.create({"reward": {**settings, "max_concurrent": 64, "timeout": 60}})
    return load_reward_manager(config, Bytes())


def response(extra_info, text):
    tokens = list(text.encode())
    data = {"responses": torch.tensor([tokens]), "attention_mask": torch.ones(1, len(tokens), dtype=torch.long)}
    columns = {"data_source": "reasoning_gym", "reward_model": {"ground_truth": ""}, "extra_info": dict(extra_info)}
    return DataProto.from_single_dict({**data, **{name: one(value) for name, value in columns.items()}})


def one(value):
    column = numpy.empty(1, dtype=object)
    column[0] = value
    return column


async def rewards(manager, responses):
    manager.loop = asyncio.get_running_loop()
    return await asyncio.gather(*(manager.run_single(response(info, text)) for info, text in responses))


async def of_items():
    """Without a run, and every kind of completion, by both reward managers."""
    for name in ("naive", "rate_limited"):
        loaded, extras = manager(name), []

        async def score(item_id, completion):
            (result,) = await rewards(loaded, [({"item_id": item_id}, completion)])
            extras.append(result["reward_extra_info"])
            return Result(result["reward_score"], extras[-1]["unscored"] == 1.0, extras[-1]["no_answer"] == 1.0)

        await prove(score)
        check("the extra values are numbers", all(isinstance(value, float) for extra in extras for value in extra.values()))


def live_prompts():
    """LivePrompts by verl's own loader; the group of each prompt counts once."""
    custom = {"path": str(FILE), "name": "LivePrompts"}
    config = OmegaConf.create({"custom_cls": custom, "train_batch_size": 8})
    dataset_class = get_dataset_class(config)
    dataset = dataset_class(data_files=[run], tokenizer=Bytes(), config=config)
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, collate_fn=collate_fn, num_workers=0)
    batch = DataProto.from_single_dict(next(iter(loader)))
    infos = list(batch.non_tensor_batch["extra_info"])
    same("live prompts: the items of the run", [info["item_id"] for info in infos], ids_by_position(8))
    again = dataset_class(data_files=[run], tokenizer=Bytes(), config=config)
    same("live prompts: the same after a resume", [again[k]["extra_info"]["item_id"] for k in range(8)], ids_by_position(8))
    responses = [(info, f"<answer>{k}</answer>") for info in infos for k in range(SIZE)]
    got = asyncio.run(rewards(manager("naive"), responses))
    same("group: every response has its reward", sum(result["reward_extra_info"]["unscored"] for result in got), 0.0)
    counted = until(progress, lambda so_far: so_far["groups"] >= len(infos))
    same("group: one for each prompt", counted["groups"], len(infos))
    same("group: each response once", counted["rollouts"], len(responses))


def ids_by_position(count):
    return [item["id"] for item in admin.run(run).positions(8).take(range(count))]


def held_out():
    config = OmegaConf.create({"custom_cls": {"path": str(FILE), "name": "LivePrompts"}})
    dataset = get_dataset_class(config)(data_files=["held-out"], tokenizer=Bytes(), config=config, max_samples=2)
    before = progress()["rollouts"]
    results = asyncio.run(rewards(manager("naive", run=run), [(dataset[k]["extra_info"], "I do not know.") for k in range(2)]))
    same("held out: scored", [result["reward_score"] for result in results], [0.0, 0.0])
    same("held out: not counted", progress()["rollouts"], before)


def unscored_member():
    """A full group with one response that cannot be scored, through verl's own advantages; the first one waits for the others."""
    stuck = unscored["item"]["id"]
    texts = [unscored["completion"], reference(stuck), reference(stuck), "<answer>no idea</answer>"]
    found = asyncio.run(rewards(manager("naive", run=run), [({"item_id": stuck}, text) for text in texts]))
    scores = [result["reward_score"] for result in found]
    same("unscored in a group: flagged", [result["reward_extra_info"]["unscored"] for result in found], [1.0, 0.0, 0.0, 0.0])
    same("unscored in a group: others", scores[1:], [1.0, 1.0, 0.0])
    advantages = grpo(scores, torch.ones(SIZE, 1))
    check("unscored in a group: not the worst", advantages[0] >= 0, advantages)

    os.environ["REASONING_GYM_RUN"] = f"{run}-masked"
    admin.run(f"{run}-masked").put(preset="clean", tasks=TASKS[:2], group_size=SIZE, buffer=False)
    outputs = asyncio.run(run_agent_loop(stuck, texts))
    masks = torch.tensor([output.response_mask[:1] for output in outputs], dtype=torch.float32)
    same("agent loop: unscored is masked", masks[:, 0].tolist(), [0.0, 1.0, 1.0, 1.0])
    same("agent loop: rewards", [output.reward_score for output in outputs][1:], [1.0, 1.0, 0.0])
    of_all, of_scored = torch.tensor([[9.0], [1.0], [2.0], [3.0]]), torch.tensor([[1.0], [2.0], [3.0]])
    for mode in ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean"):
        losses = [float(agg_loss(loss, mask, mode)) for loss, mask in ((of_all, masks), (of_scored, masks[1:]))]
        check(f"agent loop: out of the loss by {mode}", abs(losses[0] - losses[1]) < 1e-6, losses)


def grpo(scores, mask):
    rewards = torch.tensor(scores).unsqueeze(-1)
    return compute_grpo_outcome_advantage(rewards, mask, numpy.array(["item"] * len(scores)))[0][:, 0].tolist()


async def run_agent_loop(item_id, texts):
    """Our agent loop, found by its name, around verl's own; the engine says `texts`."""
    loop_class = hydra.utils.get_class("reasoning_gym_client.integrations.rg_verl_agent.MaskedAgentLoop")

    async def generate(self, sampling_params, **row):
        tokens = list(self.text.encode())
        return AgentLoopOutput(prompt_ids=[1], response_ids=tokens, response_mask=[1] * len(tokens), metrics=AgentLoopMetrics())

    def run_one(text):
        loop = loop_class.__new__(loop_class)
        vars(loop).update(tokenizer=Bytes(), text=text)
        return loop.run({}, raw_prompt=[], extra_info={"item_id": item_id})

    with mock.patch.object(SingleTurnAgentLoop, "run", generate):
        return await asyncio.gather(*(run_one(text) for text in texts))


def wrong_run():
    """A run that nobody has put is an error of the training, not a new run."""
    error = None
    try:
        asyncio.run(rewards(manager("naive", run=f"{run}s"), [({"item_id": items[0]["id"]}, items[0]["right"])]))
    except Exception as raised:  # noqa: BLE001  whatever comes is looked at
        error = raised
    check("wrong run: raises and names the right one", "unknown_run" in repr(error) and repr(run) in repr(error).replace('"', "'"), repr(error))


if __name__ == "__main__":
    asyncio.run(of_items())
    live_prompts()
    held_out()
    unscored_member()
    wrong_run()
