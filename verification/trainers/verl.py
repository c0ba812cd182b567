"""verl: its reward managers load and call rg_verl, and its data loader reads LivePrompts."""

import asyncio
import json
import sys
from pathlib import Path

from page import prove_resume, read_commands, read_program, wait_for_kill, with_replacements
from testbed import *  # noqa: F403

use_environment()

import numpy
import torch
import verl
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from verl import DataProto
from verl.trainer.ppo.core_algos import compute_gdpo_outcome_advantage
from verl.trainer.ppo.reward import load_reward_manager
from torchdata.stateful_dataloader import StatefulDataLoader
from verl.utils.dataset.rl_dataset import collate_fn, get_dataset_class

from reasoning_gym_client import REWARD_COMPONENTS

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


async def rewards(manager, responses, raises=True):
    manager.loop = asyncio.get_running_loop()
    calls = (manager.run_single(response(info, text)) for info, text in responses)
    return await asyncio.gather(*calls, return_exceptions=not raises)


async def of_items():
    """Without a run, and every kind of completion."""
    loaded, extras = manager("naive"), []

    async def score(item_id, completion):
        (result,) = await rewards(loaded, [({"item_id": item_id}, completion)])
        extras.append(result["reward_extra_info"])
        return Result(result["reward_score"], no_answer=extras[-1]["no_answer"] == 1.0)

    await prove(score, unscored_reward=RAISES)
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
    same("group: every response has its reward", len(got), len(responses))
    counted = until(progress, lambda so_far: so_far["scored_groups"] >= len(infos))
    same("group: one for each prompt", counted["groups"], len(infos))
    same("group: each response once", counted["rollouts"], len(responses))
    lost = [dataset[k]["extra_info"]["item_id"] for k in (8, 16)]
    same("the step of the run is the last one that verl has ended", progress()["step"], 2)
    resumed = dataset_class(data_files=[run], tokenizer=Bytes(), config=config)
    same("resume from step 1: the same items", [resumed[k]["extra_info"]["item_id"] for k in (8, 16)], lost)
    same("resume from step 1: its groups count once", progress()["groups"], len(infos))


def page_command():
    """The options of the page, composed with verl's configuration; its parts load our file."""
    _, command = read_commands(with_replacements(read_program("verl", "sh"), {"FILE=": f"FILE={FILE}  # ", "$FILE": str(FILE), "=RUN": f"={run}"}))
    same("page: verl's program", command[:3], ["python", "-m", "verl.trainer.main_ppo"])
    with initialize_config_dir(str(Path(verl.__file__).parent / "trainer/config"), version_base=None):
        config = compose("ppo_trainer", overrides=command[3:])
    dataset = get_dataset_class(config.data)(data_files=config.data.train_files, tokenizer=Bytes(), config=config.data)
    same("page: items are requested by verl's batch", dataset.positions.per_step, config.data.train_batch_size)
    load_reward_manager(config, Bytes())
    check("page: the reward manager loads", True)


def train_until_killed():
    """Reads and scores batches of the run as verl's trainer does, and saves the state of its loader after every third step."""
    name, state = f"{run}-killed", Path("loader.pt")
    config = OmegaConf.create({"custom_cls": {"path": str(FILE), "name": "LivePrompts"}, "train_batch_size": 4})
    dataset = get_dataset_class(config)(data_files=[name], tokenizer=Bytes(), config=config)
    loader = StatefulDataLoader(dataset, batch_size=4, collate_fn=collate_fn, num_workers=0)
    first = 0
    if state.exists():
        first, saved = torch.load(state)
        loader.load_state_dict(saved)
    for step, batch in zip(range(first + 1, 8), loader):
        infos = list(batch["extra_info"])
        print(json.dumps([step, [info["item_id"] for info in infos]]), flush=True)
        asyncio.run(rewards(manager("naive"), [(info, f"<answer>{k}</answer>") for info in infos for k in range(SIZE)]))
        until(lambda: progress(name)["groups"], lambda groups: groups >= 4 * step)  # as they are once verl has updated the model
        if step == 5:
            wait_for_kill()
        if step % 3 == 0:
            torch.save((step, loader.state_dict()), state)


def killed_and_resumed():
    name = f"{run}-killed"
    admin.run(name).put(preset="clean", tasks=RUN_TASKS, group_size=SIZE, buffer=False)
    prove_resume(name, [__file__, "train"], lost=[4, 5], groups=28)


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
    """A full group with one response that cannot be scored: verl's mask is an exception."""
    stuck = unscored["item"]["id"]
    texts = [unscored["completion"], reference(stuck), reference(stuck), "<answer>no idea</answer>"]
    found = asyncio.run(rewards(manager("naive", run=run), [({"item_id": stuck}, text) for text in texts], raises=False))
    check("unscored in a group: raises", "Unscored" in type(found[0]).__name__, found[0])
    same("unscored in a group: others", [result["reward_score"] for result in found[1:]], [1.0, 1.0, 0.0])


def components():
    """GDPO: verl's own arithmetic on the components of a group, and the reward as their sum."""
    texts = [items[0]["right"], "<answer>no idea</answer>", "I do not know."]
    found = asyncio.run(rewards(manager("naive"), [({"item_id": items[0]["id"]}, text) for text in texts]))
    extras = [result["reward_extra_info"] for result in found]
    same("components: correct", [extra["correct"] for extra in extras], [1.0, 0.0, 0.0])
    same("components: format", [extra["format"] for extra in extras], [1.0, 1.0, 0.0])
    sums = [sum(weight * extra[name] for name, weight in REWARD_COMPONENTS.items()) for extra in extras]
    same("components: their sum is the reward", sums, [result["reward_score"] for result in found])
    keys = ["correct", "format"]
    mask = torch.ones(len(texts), 1)
    advantages, _ = compute_gdpo_outcome_advantage(
        torch.zeros_like(mask),
        mask,
        numpy.array(["group"] * len(texts)),
        config=OmegaConf.create({"gdpo_reward_keys": keys, "gdpo_reward_weights": [1.0, 0.5]}),
        non_tensor_batch={name: numpy.array([extra[name] for extra in extras]) for name in keys},
        batch={"prompts": torch.zeros(len(texts), 1), "attention_mask": torch.ones(len(texts), 2, dtype=torch.long)},
    )
    # Deviations of (1, 0, 0) and (1, 1, 0) by their standard deviation of 0.577, the second one halved; then whitened.
    raw = torch.tensor([2 / 3 + 1 / 6, -1 / 3 + 1 / 6, -1 / 3 - 1 / 3])
    check("components: advantages", torch.allclose(advantages[:, 0], raw / raw.std(), atol=1e-3), advantages)


def wrong_run():
    """A run that nobody has put is an error of the training, not a new run."""
    error = None
    try:
        asyncio.run(rewards(manager("naive", run=f"{run}s"), [({"item_id": items[0]["id"]}, items[0]["right"])]))
    except Exception as raised:  # noqa: BLE001  whatever comes is looked at
        error = raised
    check("wrong run: raises and names the right one", "unknown_run" in repr(error) and repr(run) in repr(error).replace('"', "'"), repr(error))


if __name__ == "__main__":
    if sys.argv[1:] == ["train"]:
        train_until_killed()
        sys.exit()
    asyncio.run(of_items())
    live_prompts()
    held_out()
    unscored_member()
    components()
    wrong_run()
    page_command()
    killed_and_resumed()
