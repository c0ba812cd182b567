"""Rows that a trainer shuffles, against a real server: difficulty, passes over the data, workers and retries; and rows of suites."""

import asyncio
import importlib
import pickle
import random
import sys
import time
import types
import unittest
import unittest.mock
from concurrent.futures import ThreadPoolExecutor

from world import SERVER, LossyWay, run_name

from reasoning_gym_client import Client, StepWatch, TrainerClient, is_eval_item
from reasoning_gym_client.integrations import rg_trl

ROWS, PER_STEP, GROUP_SIZE = 96, 16, 2
SEED = 3  # no item of the first step explores a harder rung, which would give the run in order a head start


class Absent(types.ModuleType):
    """A package of a trainer that is not installed. What is taken from it is a class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda *_, **options: None})


def load(name: str, *absent: str, **given: object) -> types.ModuleType:
    """An integration, loaded without the packages of its trainer; `given` by the last of them."""
    packages = {package: Absent(package) for package in absent}
    vars(packages[absent[-1]]).update(given)
    with unittest.mock.patch.dict(sys.modules, packages):
        return importlib.import_module(f"reasoning_gym_client.integrations.{name}")


class RowsOfSuites(unittest.TestCase):
    def test_a_completion_of_tinkers_test_set_that_cannot_be_scored_does_not_end_the_training(self) -> None:
        cookbook = "tinker_cookbook"
        tinker = load("rg_tinker", "chz", "tinker", cookbook, f"{cookbook}.rl", f"{cookbook}.rl.types", f"{cookbook}.tokenizer_utils")
        builder = tinker.PuzzleGroupBuilder({"id": "of.another.server"}, None, 1, None, SERVER)
        ended, said = types.SimpleNamespace(transitions=[]), types.SimpleNamespace(turns=["?"])
        rewards = asyncio.run(builder.compute_group_rewards([ended], [said]))
        self.assertEqual(rewards, [(0.0, {"unscored": 1.0, "format_fault": 0.0})])
        client = Client(SERVER)
        self.addCleanup(client.close)
        run = client.run(run_name())
        self.addCleanup(run.delete)
        run.put(tasks=["gcd"], group_size=2, buffer=False, extraction="bare")
        for suite, extracts_bare in (("smoke", True), ("hard-3", False)):  # of seeds that a training may have, too
            (builder,) = tinker.SuiteDataset(suite, None, 1, SERVER, run.name).get_batch(0)
            said.turns = [client.item(builder.item["id"], reveal=True)["answer"]]
            ((reward, _),) = asyncio.run(builder.compute_group_rewards([ended], [said]))
            self.assertEqual((reward, run.get()["progress"]["groups"]), (int(extracts_bare), 0))

    def test_whole_groups_of_suites_are_scored_and_do_not_count_in_the_run(self) -> None:
        client = Client(SERVER, retry_for_s=60)
        self.addCleanup(client.close)
        run = client.run(run_name())
        self.addCleanup(run.delete)
        run.put(tasks=["gcd"], group_size=2, buffer=False, extraction="bare")
        self.assertFalse(is_eval_item("gcd.1073741823.0.x") or is_eval_item("gcd.2147483648.0.x") or is_eval_item("gcd"))
        held_out = client.suite(client.suites()[0]["name"])["recipes"][0]["id"]
        ids = [held_out, held_out, *[item["id"] for item in run.items(1) for _ in range(2)]]
        right = [client.item(item_id, reveal=True)["answer"] for item_id in ids]
        completions = ["no", right[1], "no", right[3]]
        with unittest.mock.patch.dict("os.environ", REASONING_GYM_URL=SERVER, REASONING_GYM_RUN=run.name):
            swift = load("rg_swift", "swift", "swift.rewards", orms={})
            reward = swift.ReasoningGymReward(types.SimpleNamespace(num_generations=2))
            self.assertEqual(reward(completions, item_id=ids), [0, 1, 0, 1])
            self.assertEqual(run.get()["progress"]["groups"], 1)
            lost = ["gcd.1073741824.0.another-engine"] * 2
            self.assertEqual(reward(completions[:2], item_id=lost), [0, 0])
            with unittest.mock.patch.object(rg_trl, "_client", lambda: client):
                self.assertEqual(rg_trl.reward([""] * 4, completions, item_id=ids), [0, 1, 0, 1])
                with unittest.mock.patch.object(rg_trl, "_masks_none", lambda columns: False):
                    self.assertEqual(rg_trl.reward([""] * 2, completions[:2], item_id=lost), [0, 0])
            slime = load("rg_slime", "slime")
            for item_id, answers, rewards in ((held_out, completions[:2], [0, 1]), (lost[0], completions[:2], [0, 0])):
                told = [types.SimpleNamespace(label=item_id, response=one, response_length=1, status=None, metadata={}) for one in answers]
                self.assertEqual(asyncio.run(slime.group_reward(None, told)), rewards)
            self.assertEqual(run.get()["progress"]["groups"], 2)


class ShuffledRows(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(SERVER, retry_for_s=60)
        self.addCleanup(self.client.close)

    def put(self) -> str:
        run = self.client.run(run_name())
        run.put(preset="clean", tasks=["spell_backward"], group_size=GROUP_SIZE, buffer=False, seed=SEED)
        self.addCleanup(run.delete)
        return run.name

    def answer(self, server: TrainerClient, item_id: str) -> None:
        right = f"<answer>{self.client.item(item_id, reveal=True)['answer']}</answer>"
        for _ in range(GROUP_SIZE):
            server.sample(item_id, right)

    def group(self, server: TrainerClient, row: int) -> dict:
        """The rollouts of a group begin together, as in the three trainers."""
        with ThreadPoolExecutor(GROUP_SIZE) as pool:
            held = [server.rows.begin(row) for _ in range(GROUP_SIZE)]
            items = list(pool.map(lambda one: one.get(), held))
        self.assertEqual(len({item["id"] for item in items}), 1)
        self.answer(server, items[0]["id"])
        return items[0]

    def in_order(self, server: TrainerClient, row: int) -> dict:
        item = server.positions[row]
        self.answer(server, item["id"])
        return item

    def train(self, run: str, rows: list, group, servers: list) -> "tuple[list, list]":
        """Trains an always right model. Returns the mean difficulty of each step without items that explore, and the items."""
        used, means = [], []
        for first in range(0, len(rows), PER_STEP):
            step = rows[first : first + PER_STEP]
            with ThreadPoolExecutor(8) as pool:
                items = list(pool.map(lambda k: group(servers[k % len(servers)], step[k]), range(len(step))))
            used += items
            levels = [item["difficulty"] for item in items if item["propensity"] > 0.5]
            means.append(sum(levels) / len(levels))
            until = time.monotonic() + 60
            while self.client.run(run).get()["progress"]["scored_groups"] < len(used) and time.monotonic() < until:
                time.sleep(0.05)
        return means, used

    def test_the_difficulty_follows_the_model_as_fast_as_in_order_over_two_passes_two_workers_and_lost_answers(self) -> None:
        ordered, shuffled = self.put(), self.put()
        way = LossyWay(SERVER, 0.05, seed=3)
        self.addCleanup(way.close)
        means, _ = self.train(ordered, list(range(ROWS)), self.in_order, [TrainerClient("trl", url=SERVER, run=ordered, per_step=PER_STEP)])
        rows = [row for _ in range(2) for row in random.sample(range(ROWS), ROWS)]
        workers = [TrainerClient("skyrl", url=url, run=shuffled) for url in (SERVER, way.url)]
        shuffled_means, used = self.train(shuffled, rows, self.group, [pickle.loads(pickle.dumps(worker)) for worker in workers])
        hardest = [next(k for k, mean in enumerate(of) if mean > 0.97) for of in (means, shuffled_means)]
        self.assertLessEqual(hardest[1], hardest[0], (means, shuffled_means))
        self.assertGreater(way.lost, 0)
        progress = self.client.run(shuffled).get()["progress"]
        self.assertEqual(len({item["id"] for item in used}), 2 * ROWS)
        self.assertEqual((progress["groups"], progress["rollouts"]), (2 * ROWS, 2 * ROWS * GROUP_SIZE))
        self.assertLessEqual(progress["items"], 1.3 * len(used))

    def test_a_rewound_run_gives_the_same_items_again_and_counts_them_once(self) -> None:
        name = self.put()
        run, server = self.client.run(name), TrainerClient("areal", url=SERVER, run=name)
        steps, given = StepWatch(run, alone=False), []
        for step in range(4):
            steps.begin(step)
            given.append(self.step(server, name, step, 2 * step + 2))
        StepWatch(run, alone=False).begin(2)  # a trainer that goes on from the weights of step 1
        self.assertEqual(self.step(server, name, 2, 6), given[2])
        self.assertEqual([row["step"] for row in run.metrics()], [0, 1, 2])
        StepWatch(run, alone=False).begin(3)  # a process that begins late
        self.assertEqual(run.get()["progress"]["groups"], 6)
        self.assertEqual(run.get()["progress"]["step"], 2)

    def step(self, server: TrainerClient, name: str, step: int, groups: int) -> list:
        """The items of a step of two rows, all requested before any is answered."""
        ids = [held.get()["id"] for held in [server.rows.begin(row) for row in (step, step + 10)]]
        for item_id in ids:
            self.answer(server, item_id)
        until = time.monotonic() + 60
        while self.client.run(name).get()["progress"]["scored_groups"] != groups and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(self.client.run(name).get()["progress"]["scored_groups"], groups)
        return ids


if __name__ == "__main__":
    unittest.main()
