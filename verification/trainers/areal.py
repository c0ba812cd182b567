"""AReaL's own AsyncRewardWrapper, which runs our reward function in its pool of processes."""

import asyncio
import importlib.metadata
import os
import sys
import time
import types
from pathlib import Path

from sample_checks import Result, environment, prove, prove_group
from trainer_checks import check, control, fixture, meanwhile, run, same

os.environ.update(environment(run))

# The package's __init__ needs torch; its modules of rewards and logging do not.
wheel = Path(str(importlib.metadata.distribution("areal").locate_file("areal")))
for name in ("areal", "areal.api", "areal.utils"):
    package = types.ModuleType(name)
    package.__path__ = [str(wheel.joinpath(*name.split(".")[1:]))]
    sys.modules[name] = package

from areal.api.reward_api import AsyncRewardWrapper
from reasoning_gym_client.integrations.rg_areal import live_prompt, reward


async def main():
    wrapper = AsyncRewardWrapper(reward, max_workers=4)

    async def score(item_id, completion):
        text = completion + "<|im_end|>"
        return Result(await wrapper("prompt", text, [1, 2], list(range(len(text))), item_id=item_id, task="x"))

    await prove(score, has_flags=False)
    await prove_group(score, run)

    # Longer than one try of the wrapper (15 s): the next ones find the server again, and nothing becomes 0.
    control("stop-server")
    waking = meanwhile(17, "start-server")
    items = fixture["items"][:4]
    found = await asyncio.gather(*(score(item["id"], item["right"]) for item in items))
    waking.join()
    same("outage longer than one try", [one.reward for one in found], [1.0] * 4)

    control("stop-server")
    once = AsyncRewardWrapper(reward, max_workers=4, max_retries=0)
    began = time.monotonic()
    try:
        result = await once("prompt", items[0]["right"], [1], [1], item_id=items[0]["id"])
        check("an outage that lasts raises", False, f"reward {result}")
    except Exception as error:  # noqa: BLE001  whatever comes is looked at
        check("an outage that lasts raises", "Unreachable" in type(error).__name__, repr(error))
    check("within AReaL's 15 s", time.monotonic() - began < 15, f"{time.monotonic() - began:.1f} s")
    control("start-server")

    prompts = [live_prompt({"position": k}) for k in range(4)]
    same("positions: prompts differ", len({str(prompt) for prompt in prompts}), 4)
    text = "<answer>no idea</answer>"
    same("positions: rewarded in another process", await wrapper("p", text, [1], [1], position=2), 0.0)
    static = [{"role": "user", "content": "q"}]
    same("positions: rows with an item keep their prompt", live_prompt({"item_id": "x", "messages": static}), static)


if __name__ == "__main__":  # the pool's processes import this file
    asyncio.run(main())
