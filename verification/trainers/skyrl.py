"""SkyRL's own registry and environment classes with our environment, as SkyRL's generator uses them."""

import asyncio
import os
import threading

from sample_checks import Result, environment, prove, prove_group
from trainer_checks import check, fixture, meanwhile, run, same

os.environ.update(environment(run))

import skyrl_gym

skyrl_gym.register(id="reasoning_gym", entry_point="reasoning_gym_client.integrations.rg_skyrl:ReasoningGymEnv")
PROMPT = [{"role": "user", "content": "the prompt of the row"}]
metrics = []


def make(**extra_info):
    row = {"reward_spec": {"method": "rule", "ground_truth": ""}, "extra_info": extra_info}
    return skyrl_gym.make("reasoning_gym", env_config=None, extras=row)


def episode(item_id, completion):
    env = make(item_id=item_id)
    prompt, _ = env.init(PROMPT)
    assert prompt == PROMPT
    step = env.step(completion + "<|im_end|>")
    assert step["done"] and step["observations"] == []
    metrics.append(env.get_metrics())
    env.close()
    return Result(step["reward"], metrics[-1]["unscored"] == 1.0, metrics[-1]["no_answer"] == 1.0)


async def score(item_id, completion):
    return await asyncio.to_thread(episode, item_id, completion)


asyncio.run(prove(score))
asyncio.run(prove_group(score, run))
shares = make(item_id="x").aggregate_metrics(metrics)
check("metrics aggregate", 0 < shares["unscored"] < 1 and 0 < shares["score"] < 1, shares)


def live(position):
    env = make(position=position)
    prompt, info = env.init(PROMPT)
    return info["item_id"], prompt


found = {}
threads = [threading.Thread(target=lambda k=k: found.__setitem__(k, live(k // 4))) for k in range(32)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ids = [found[k][0] for k in range(32)]
same("positions: all members of a group get one item", [ids[k] == ids[k - k % 4] for k in range(32)], [True] * 32)
same("positions: groups get different items", len(set(ids)), 8)
check("positions: the prompt is the item's", all(prompt != PROMPT for _, prompt in found.values()))

from reasoning_gym_client.integrations import rg_skyrl

rg_skyrl._server = None  # as in another process
waking = meanwhile("restart-server")
same("positions: the same in another process, after a restart", [live(k)[0] for k in range(8)], ids[::4])
waking.join()
env = make(position=0)
env.init(PROMPT)
same("positions: wrong is 0", env.step("<answer>no idea</answer>")["reward"], 0.0)
