"""The checks of all trainers that bring one rollout a call, over a function that scores through the trainer's own code.

    await prove(score)      # score(item_id, completion) -> Result, a coroutine function
"""

import asyncio
import dataclasses
from typing import Any, Awaitable, Callable, Dict

from reasoning_gym_client import Client
from trainer_checks import admin_key, check, control, fixture, meanwhile, plain_url, same, until, url


#: With the client's retries: right after a restart, one of the server's processes may not be ready yet.
admin = Client(plain_url, api_key=admin_key)


@dataclasses.dataclass
class Result:
    reward: Any
    unscored: bool = False
    no_answer: bool = False


Score = Callable[[str, str], Awaitable[Result]]


OUTAGES = (("server restarted", "stop-server", "start-server"), ("redis away", "stop-redis", "start-redis"))


async def prove(score: Score, *, unscored_reward: float = 0.0, has_flags: bool = True, outages=OUTAGES) -> None:
    """`unscored_reward`: what the trainer gets in place of a score; `has_flags`: whether it is told why; `outages`: those that the
    trainer's own code lives through."""
    items = fixture["items"]
    for kind, wanted in (("right", 1.0), ("wrong", 0.0), ("malformed", 0.0)):
        found = [await score(item["id"], item[kind]) for item in items[:3]]
        same(kind, [one.reward for one in found], [wanted] * 3)
        if kind == "malformed" and has_flags:
            same("malformed is counted", [one.no_answer for one in found], [True] * 3)
    partial = fixture["partial"]
    result = await score(partial["item"]["id"], partial["completion"])
    check("partial", abs(result.reward - partial["score"]) < 1e-6, f"{result.reward}; expected {partial['score']}")
    unscored = fixture["unscored"]
    result = await score(unscored["item"]["id"], unscored["completion"])
    same("unscored", (result.reward, result.unscored), (unscored_reward, has_flags))
    result = await score("no such item", "<answer>1</answer>")
    same("unscored: item ID that cannot be read", (result.reward, result.unscored), (unscored_reward, has_flags))

    wanted = [float(k % 2) for k in range(64)]
    calls = [score(items[k % len(items)]["id"], items[k % len(items)]["right" if k % 2 else "wrong"]) for k in range(64)]
    same("concurrent", [one.reward for one in await asyncio.gather(*calls)], wanted)

    for name, down, up in outages:
        control(down)
        waking = meanwhile(2, up)
        results = await asyncio.gather(*(score(item["id"], item["right"]) for item in items[:8]))
        waking.join()
        same(name, [one.reward for one in results], [1.0] * 8)


async def prove_group(score: Score, run: str) -> None:
    """That exactly `group_size` rollouts of one item make one group of the run, whose scores are theirs."""
    (item,) = admin.run(run).items(timeout_s=60)
    answer = admin.item(item["id"], reveal=True)["answer"]
    before = count_groups(run)
    size = fixture["group_size"]
    texts = [f"<answer>{answer if k % 2 else 'no idea'}</answer>" for k in range(size)]
    same("run rewards", [(await score(item["id"], text)).reward for text in texts], [float(k % 2) for k in range(size)])
    after = until(lambda: count_groups(run), lambda groups: groups > before)
    same("group closes once", after - before, 1)


def count_groups(run: str) -> int:
    """The groups that have been scored in this run."""
    groups: int = admin.run(run).get()["progress"]["groups"]
    return groups


def environment(run: str = "") -> Dict[str, str]:
    """What the files of the Python client read."""
    return {"REASONING_GYM_URL": url, **({"REASONING_GYM_RUN": run} if run else {})}
