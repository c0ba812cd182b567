"""slime: its own contract suite for plugins with rg_slime, and its own reward functions and normalization around it."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import types
from pathlib import Path

from page import prove_resume, read_commands, read_program, wait_for_kill
from testbed import *  # noqa: F403

SLIME = Path(sources["slime"])
sys.path[:0] = [str(SLIME), str(SLIME / "tests")]
use_environment(run)
SUITE = "tests/plugin_contracts/test_plugin_path_loading_contracts.py"
FILE = "reasoning_gym_client.integrations.rg_slime"
KILLED = f"{run}-killed"

from plugin_contracts._shared import install_stubs

install_stubs(with_sglang_router=True)  # slime's own stand-ins for ray and the router, which need GPUs

from slime.rollout.rm_hub import async_rm, batched_async_rm
from slime.rollout.sample_hooks import set_current_rollout_id
from slime.utils.misc import load_function
from slime.utils.types import Sample


def contract_suite():
    """slime's pytest suite, which loads the data source by its path. Its samples for reward functions name no item: an error here."""
    command = [sys.executable, SUITE, "-q", "-p", "no:cacheprovider", "--data-source-path", f"{FILE}.LiveItems"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ["PYTHONPATH"], str(SLIME), str(SLIME / "tests")])}
    done = subprocess.run(command, cwd=SLIME, env=env, capture_output=True, text=True, timeout=200)
    last = done.stdout.strip().splitlines()[-1:] or [done.stderr[-500:]]
    check("contract suite", done.returncode == 0 and "passed" in last[0], last[0] if done.returncode == 0 else done.stdout[-500:])


def arguments(**more):
    settings = {
        "rm_type": None,
        "reward_key": None,
        "group_rm": False,
        "custom_rm_path": f"{FILE}.reward",
        "n_samples_per_prompt": SIZE,
        "rollout_batch_size": 4,
        "rollout_global_dataset": True,
        "save": folder,
        "load": folder,
    }
    return types.SimpleNamespace(**{**settings, **more})


def sample(item_id, response):
    fields = {"prompt": items[0]["messages"], "label": item_id, "response": response, "response_length": len(response)}
    return Sample(**fields, status=Sample.Status.COMPLETED)


async def kinds():
    """The reward URL by slime's own client, and the file, without a run."""
    del os.environ["REASONING_GYM_RUN"]

    def scorer(args, *, removes):
        async def score(item_id, completion):
            one = sample(item_id, completion)
            reward = await async_rm(args, one)
            return Result(reward, removes and one.remove_sample)

        return score

    by_url = scorer(arguments(custom_rm_path=None, rm_type="remote_rm", rm_url=f"{url}/slime/rm"), removes=False)
    same("URL: right and wrong", [(await by_url(items[0]["id"], items[0][kind])).reward for kind in ("right", "wrong")], [1, 0])
    score = scorer(arguments(), removes=True)
    await prove(score, has_no_answer=False)
    os.environ["REASONING_GYM_RUN"] = f"{run}-means"
    admin.run(f"{run}-means").put(group_size=SIZE, buffer=False)
    await prove_means(score, f"{run}-means")
    os.environ["REASONING_GYM_RUN"] = run


async def groups():
    """Whole groups of live items."""
    args = arguments(group_rm=True, custom_rm_path=f"{FILE}.group_reward")
    source = load_function(f"{FILE}.LiveItems")(args)
    taken = source.get_samples(4)
    same("live items: the items of the run", [group[0].label for group in taken], by_position(0, 4))
    same("live items: one item for each group", {len({one.label for one in group}) for group in taken}, {1})
    set_current_rollout_id(8)
    source.save(7)
    later = [group[0].label for group in source.get_samples(2)]
    same("live items: resume after a crash", load_source(args, 7), later)
    set_current_rollout_id(None)
    same("the rollout ID is the step of the run", progress()["step"], 7)
    rewards = [await batched_async_rm(args, [answered(one, k) for k, one in enumerate(group)]) for group in taken]
    same("rewards of whole groups", {len(group) for group in rewards}, {SIZE})
    so_far = until(progress, lambda run: run["groups"] >= 4)
    same("group: each counts once", (so_far["groups"], so_far["rollouts"]), (4, 4 * SIZE))


def load_source(args, rollout_id):
    """The items that a source gives next which was loaded from a saved rollout."""
    resumed = load_function(f"{FILE}.LiveItems")(args)
    resumed.load(rollout_id)
    return [group[0].label for group in resumed.get_samples(2)]


async def unscored_in_a_group():
    """The mean of the siblings: slime normalizes over all, and the sample itself is out of the loss."""
    name = f"{run}-unscored"
    admin.run(name).put(preset="clean", tasks=["simple_integration"], group_size=4, buffer=False)
    os.environ["REASONING_GYM_RUN"] = name
    item_id = unscored["item"]["id"]
    texts = (reference(item_id), "<answer>x</answer>", unscored["completion"], "I do not know.")
    samples = [sample(item_id, text) for text in texts]
    rewards = await batched_async_rm(arguments(group_rm=True, custom_rm_path=f"{FILE}.group_reward"), samples)
    same("unscored in a group: the mean of the others", [round(value, 6) for value in rewards], [1, 0, 0.333333, 0])
    same("unscored in a group: out of the loss", [one.remove_sample for one in samples], [False, False, True, False])
    same("unscored in a group: counted by the run", progress(name)["unscored"], 1)
    samples = [sample(item_id, text) for text in (texts[0], texts[0], texts[1], "")]
    samples[3].remove_sample = True
    rewards = await batched_async_rm(arguments(group_rm=True, custom_rm_path=f"{FILE}.group_reward"), samples)
    same("a sample that comes removed: the mean of the others", [round(value, 6) for value in rewards], [1, 1, 0, 0.666667])
    same("a sample that comes removed: counted as unscored", progress(name)["unscored"], 2)
    samples = [sample(item_id, unscored["completion"]) for _ in range(4)]
    rewards = await batched_async_rm(arguments(group_rm=True, custom_rm_path=f"{FILE}.group_reward"), samples)
    mean = admin.run(name).get()["tasks"]["simple_integration"]["mean_reward"]
    same("all hang: the mean of the task", [mean > 0, *(round(value - mean, 6) for value in rewards)], [True, 0, 0, 0, 0])
    same("all hang: out of the loss", {one.remove_sample for one in samples}, {True})
    os.environ["REASONING_GYM_RUN"] = run


def page_options():
    """The options of the page by slime's own parser, without those of Megatron and SGLang."""
    names = ("sglang_parse_args", "validate_args")
    stand_in("slime.backends.sglang_utils.arguments", **dict.fromkeys(names))
    stand_in("slime.backends.sglang_utils.external", apply_external_engine_info_to_args=None)
    stand_in("slime.observability.logging_utils", configure_logger=None)
    from slime.utils.arguments import get_slime_extra_args_provider

    _, command = read_commands(read_program("slime", "sh"))
    parser = get_slime_extra_args_provider()(argparse.ArgumentParser(allow_abbrev=False))
    args = parser.parse_args([word for word in command[2:] if "MODEL_ARGS" not in word])
    source = load_function(args.data_source_path)(args)
    same("page: items are requested by slime's batch", source.positions.per_step, args.rollout_batch_size)
    check("page: the reward function loads", args.group_rm and callable(load_function(args.custom_rm_path)))
    same("page: groups", args.rollout_batch_size * args.n_samples_per_prompt, args.global_batch_size)


async def train_until_killed():
    """Six rollouts of slime's loop around our parts: it saves the data source after every third one."""
    os.environ["REASONING_GYM_RUN"] = KILLED
    args = arguments(group_rm=True, custom_rm_path=f"{FILE}.group_reward")
    source, saved = load_function(f"{FILE}.LiveItems")(args), Path("saved")
    first = int(saved.read_text()) + 1 if saved.exists() else 0
    if first > 0:
        source.load(first - 1)
    for rollout_id in range(first, 6):
        set_current_rollout_id(rollout_id)
        taken = source.get_samples(4)
        print(json.dumps([rollout_id, [group[0].label for group in taken]]), flush=True)
        for group in taken:
            await batched_async_rm(args, [answered(one, k) for k, one in enumerate(group)])
            if rollout_id == 4:
                wait_for_kill()
        if rollout_id % 3 == 2:
            source.save(rollout_id)
            saved.write_text(str(rollout_id))


def killed_and_resumed():
    admin.run(KILLED).put(preset="clean", tasks=RUN_TASKS, group_size=SIZE, buffer=False)
    prove_resume(KILLED, [__file__, "train"], lost=[3, 4], groups=24)


def answered(one, k):
    one.response, one.response_length, one.status = f"<answer>{k}</answer>", 9, Sample.Status.COMPLETED
    return one


def by_position(first, count):
    return [item["id"] for item in admin.run(run).positions(4).take(range(first, first + count))]


async def main():
    await kinds()
    await groups()
    await unscored_in_a_group()


if __name__ == "__main__":
    if sys.argv[1:] == ["train"]:
        asyncio.run(train_until_killed())
        sys.exit()
    asyncio.run(main())
    contract_suite()
    page_options()
    killed_and_resumed()
