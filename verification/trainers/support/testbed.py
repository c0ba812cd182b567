"""What the scripts of the trainers share: the fixture, the server's address and key, checks that the harness reads, and the proof
that all trainers have in common.

    asyncio.run(prove(score))       # score(item_id, completion) -> Result, a coroutine function over the trainer's own code
    same("tools", found, wanted)    # one fact more

A script prints one line for each check and ends with 0; one that raises has failed as a whole.
"""

import asyncio
import base64
import dataclasses
import importlib.util
import json
import os
import sys
import threading
import time
import types
import urllib.request
from pathlib import Path
from typing import Any, Dict

from reasoning_gym_client import Client

family = os.environ["RGS_FAMILY"]
url = os.environ["RGS_URL"]  # the key is its password
plain_url = os.environ["RGS_PLAIN_URL"]
api_key = os.environ["RGS_API_KEY"]
folder = os.environ["RGS_FOLDER"]  # empty but for the fixture, and deleted afterwards
sources = json.loads(os.environ["RGS_SOURCES"])  # git sources by name
run = f"trainers-{family}"  # a run of this family alone; `clean`, groups of SIZE
SIZE = 4
#: Tasks of the run, and of the items that are scored one by one: a group of these may close late, after an outage.
RUN_TASKS = ["chain_sum", "leg_counting"]
TASKS = ["base_conversion", "caesar_cipher", "count_bits", "gcd"]
TERMS = [f"(sin({v})+cos({v})+tan({v})+{v}**2)**9/(exp({v})+log({v})+{v}**7)**9" for v in "xXyYzZaAbBcCdDeEfFgGhH"]
#: sympy's simplify does not come to an end with it: the scorer's deadline passes, and the verdict is unscored. asinh is a
#: name that the scorer without sympy leaves to sympy.
HANGING = "+".join([*TERMS, "asinh(x)"])
#: With the client's retries: right after a restart, one of the server's processes may not be ready yet.
admin = Client(plain_url, api_key=os.environ["RGS_ADMIN_KEY"])


def make_items(task, count=1):
    """With a completion that scores 1, one that scores 0, and one without an answer that can be read."""
    made = [admin.item(item["id"], reveal=True) for item in admin.make(task, seed=7000, count=count)]
    texts = {"wrong": "<answer>no idea</answer>", "malformed": "I do not know."}
    return [{**item, "right": f"<answer>{item['answer']}</answer>", **texts} for item in made]


def load_fixture():
    """Made once: a trainer's pool of processes imports this file too, perhaps while the server is away."""
    path = Path(folder, "fixture.json")
    if not path.exists():
        admin.run(run).put(preset="clean", tasks=RUN_TASKS, group_size=SIZE, batch_size=32, buffer=False)
        (sudoku,), (integral,) = make_items("mini_sudoku"), make_items("simple_integration")
        spoiled = f"<answer>{sudoku['answer']}x</answer>"  # cells that are right count, and one is not
        score = admin.score([{"item_id": sudoku["id"], "completion": spoiled}])["rewards"][0]
        partial = {"item": sudoku, "completion": spoiled, "score": score}
        hanging = {"completion": f"<answer>{HANGING}</answer>", "answer": HANGING, "code": "scorer_timeout"}
        found = {"items": [item for task in TASKS for item in make_items(task, 4)], "partial": partial}
        path.write_text(json.dumps({**found, "unscored": {"item": integral, **hanging}}))
    return json.loads(path.read_text())


fixture = load_fixture()
items, partial, unscored = fixture["items"], fixture["partial"], fixture["unscored"]


def check(name, ok, detail=""):
    """One fact that was looked at."""
    print(json.dumps({"check": name, "ok": bool(ok), "detail": str(detail)[:500]}), flush=True)
    return bool(ok)


def same(name, found, wanted):
    """The check that two values are equal."""
    return check(name, found == wanted, "" if found == wanted else f"{found!r}, not {wanted!r}")


def control(action):
    """`stop-server`, `start-server`, `restart-server`, `kill-api`, `stop-redis`, `start-redis`: answers when it is done, and ready."""
    request = urllib.request.Request(f"{os.environ['RGS_CONTROL']}/{action}", method="POST")
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def meanwhile(*actions):
    """Does these in the background, while the caller talks to the server; a number is a pause in seconds."""

    def act():
        for action in actions:
            time.sleep(action) if isinstance(action, (int, float)) else control(action)

    thread = threading.Thread(target=act)
    thread.start()
    return thread


def download(path):
    """The bytes of a GET with the trainer's key."""
    request = urllib.request.Request(plain_url + path, headers={"Authorization": f"Bearer {api_key}"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return answer.read()


def progress(name=run):
    """How far a run is: `groups`, `rollouts`, `scored_groups`, …"""
    return admin.run(name).get()["progress"]


def count_groups(name=run, task=None):
    """The groups that have been scored in this run, of all tasks or of one."""
    return progress(name)["groups"] if task is None else read_task(name, task).get("groups", 0)


def read_task(name, task):
    """The figures of a task in a run; none before its first group."""
    return admin.run(name).get()["tasks"].get(task) or {}


def reference(item_id):
    """The right completion for an item."""
    return f"<answer>{admin.item(item_id, reveal=True)['answer']}</answer>"


def until(ask, right, timeout_s=180):
    """Asks until the answer is right; the last answer if it never is."""
    end = time.monotonic() + timeout_s
    while True:
        answer = ask()
        if right(answer) or time.monotonic() > end:
            return answer
        time.sleep(0.1)


def use_environment(name=""):
    """Sets what the files of the Python client read."""
    os.environ.update(REASONING_GYM_URL=url, **({"REASONING_GYM_RUN": name} if name else {}))


def hollow(*packages):
    """Empty packages in place of those whose __init__ needs torch; the modules in them are found as before."""
    root = Path(importlib.util.find_spec(packages[0]).submodule_search_locations[0])
    for name in packages:
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package


def stand_in(name, **attributes):
    """A module with these attributes alone."""
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(attributes)


@dataclasses.dataclass
class Result:
    reward: Any
    unscored: bool = False
    no_answer: bool = False


RESTART = ("server restarted", "stop-server", "start-server")
API_KILLED = ("all API processes killed", "kill-api", "start-server")
REDIS_AWAY = ("redis away", "stop-redis", "start-redis")


def faulty_ids():
    """Item IDs that no server can score, such as those in a file from before an upgrade of the library."""
    _, seed, index, rest = items[0]["id"].split(".")
    recipe = json.loads(base64.urlsafe_b64decode(rest + "=" * (-len(rest) % 4)))
    before = base64.urlsafe_b64encode(json.dumps(["0.1.24", *recipe[1:]]).encode()).decode().rstrip("=")
    yield "that cannot be read", "no such item"
    yield "of another version of the library", f"{items[0]['task']}.{seed}.{index}.{before}"
    yield "of an unknown task", f"no_such_task.{seed}.{index}.{rest}"


#: What a trainer gets in place of a score that is an error: without a run, no mean can stand in.
RAISES = object()


async def prove_no_reward(name, call, wanted, has_flags):
    if wanted is RAISES:
        error = None
        try:
            found = await call
        except Exception as raised:  # noqa: BLE001  whatever comes is looked at
            error, found = raised, None
        # a trainer that swallows the error has no number
        check(f"{name}: no number", error is not None or found.reward is None, found)
    else:
        result = await call
        same(name, (result.reward, result.unscored), (wanted, has_flags))


async def prove(
    score, *, unscored_reward=RAISES, damaged_reward=RAISES, has_flags=True, has_no_answer=True, is_lenient=True, outages=(RESTART, REDIS_AWAY)
):
    """Every kind of completion, many calls at once, and outages. `unscored_reward`: what the trainer gets in place of a score;
    `has_flags`: whether it is told why; `has_no_answer`: whether it is told that there was no answer; `is_lenient`: whether it
    takes an item ID that cannot be read; `outages`: those that the trainer's own code lives through."""
    for kind, wanted in (("right", 1.0), ("wrong", 0.0), ("malformed", 0.0)):
        found = [await score(item["id"], item[kind]) for item in items[:3]]
        same(kind, [one.reward for one in found], [wanted] * 3)
        if kind == "malformed" and has_flags and has_no_answer:
            same("malformed is counted", [one.no_answer for one in found], [True] * 3)
    result = await score(partial["item"]["id"], partial["completion"])
    check("partial", abs(result.reward - partial["score"]) < 1e-6, f"{result.reward}; expected {partial['score']}")
    await prove_no_reward("unscored", score(unscored["item"]["id"], unscored["completion"]), unscored_reward, has_flags)
    if is_lenient:
        for kind, item_id in faulty_ids():
            await prove_no_reward(f"unscored: item ID {kind}", score(item_id, "<answer>1</answer>"), damaged_reward, has_flags)

    wanted = [float(k % 2) for k in range(64)]
    calls = [score(items[k % len(items)]["id"], items[k % len(items)]["right" if k % 2 else "wrong"]) for k in range(64)]
    same("concurrent", [one.reward for one in await asyncio.gather(*calls)], wanted)

    for name, down, up in outages:
        await prove_outage(name, score, down, 2, up)


async def prove_outage(name, score, *actions):
    """Rewards of calls that begin when the first action is done and the others are under way."""
    control(actions[0])
    waking = meanwhile(*actions[1:])
    results = await asyncio.gather(*(score(item["id"], item["right"]) for item in items[:8]))
    waking.join()
    same(name, [one.reward for one in results], [1.0] * 8)


async def prove_group(score, name=run):
    """Exactly SIZE rollouts of one item make one group of the run, whose scores are theirs."""
    (item,) = admin.run(name).items(timeout_s=60)
    right = reference(item["id"])
    before = count_groups(name, item["task"])
    texts = [right if k % 2 else "<answer>no idea</answer>" for k in range(SIZE)]
    same("run rewards", [(await score(item["id"], text)).reward for text in texts], [float(k % 2) for k in range(SIZE)])
    closes_once(before, 1, name, item["task"])


async def prove_means(score, name=run):
    """For trainers that need a number: what stands in for a score where the first, the last and all samples of a group hang."""
    task = unscored["item"]["task"]
    (item,) = admin.make(task, seed=7001)  # of no open group
    stuck = item["id"]
    right, wrong, hangs = reference(stuck), "<answer>no idea</answer>", unscored["completion"]
    before = count_groups(name, task)
    first = asyncio.create_task(score(stuck, hangs))
    await asyncio.sleep(4)  # longer than the scorer's deadline
    others = [await score(stuck, text) for text in (wrong, *[right] * (SIZE - 2))]
    same("hangs first: the others", [one.reward for one in others], [0.0, *[1.0] * (SIZE - 2)])
    closes_once(before, 1, name, task)
    for text in (*[right] * (SIZE - 2), wrong):
        await score(stuck, text)
    last = await score(stuck, hangs)
    mean = (SIZE - 2) / (SIZE - 1)
    results = [await first, last]
    check("hangs first and last: the mean of the group", all(one.unscored and abs(one.reward - mean) < 1e-6 for one in results), results)
    closes_once(before, 2, name, task)
    results = await asyncio.gather(*(score(stuck, hangs) for _ in range(SIZE)))
    mean = read_task(name, task)["mean_reward"]
    check("all hang: the mean of the task", mean > 0 and all(one.unscored and abs(one.reward - mean) < 1e-6 for one in results), results)


def closes_once(before, wanted, name=run, task=None):
    """So many groups more than before have closed."""
    same("group closes once", until(lambda: count_groups(name, task) - before, lambda groups: groups >= wanted), wanted)


seen = set()


def same_items(ids):
    """`ids`: what the members of four groups got, each group for a row of its own. Another call is another pass over the rows."""
    same("rows: one item for each group", [len(set(ids[k : k + SIZE])) for k in range(0, 4 * SIZE, SIZE)], [1] * 4)
    same("rows: groups get different items, in each pass others", len({*ids} - seen), 4)
    seen.update(ids)


def command(program):
    """The path of a program of the trainer's environment."""
    return str(Path(sys.executable).with_name(program))


def checked(names: Dict[str, Any]):
    """Runs the entry of this family."""
    asyncio.run(names[family]())
