"""The Python client against a real server."""

import array
import asyncio
import pickle
import sys
import threading
import time
import types
import unittest
import unittest.mock

from world import SERVER, LossyWay, run_name, take

from reasoning_gym_client import Client, NotReady, Problem, RunLost, StepWatch, TrainerClient, Unreachable, Unscored
from reasoning_gym_client import fill_unscored, in_thread, resume_run, strip_special_tokens
from reasoning_gym_client.integrations import rg_trl

RIGHT, WRONG = "<answer>{}</answer>", "<answer>no idea</answer>"


class Asking(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(SERVER, retry_for_s=60)
        self.addCleanup(self.client.close)

    def answers(self, items: list) -> list:
        return [self.client.item(item["id"], reveal=True)["answer"] for item in items]

    def test_lists_tasks_and_describes_one(self) -> None:
        self.assertEqual(len(self.client.tasks()), 105)
        self.assertEqual([t["name"] for t in self.client.tasks(q="leg_counting")], ["leg_counting"])
        self.assertIn("ladder", self.client.task("leg_counting"))
        self.assertTrue(any(self.client.ready() for _ in range(5)))  # each waits 5 s at most
        self.assertFalse(Client("http://127.0.0.1:9").ready())

    def test_starts_a_demo(self) -> None:
        name = run_name()
        demo = self.client.start_demo(steps=1, run=name)
        self.assertEqual(demo, {"run": name, "steps": 1, "dashboard": f"/#/runs/{name}"})

    def test_streams_lists_and_reports(self) -> None:
        run = self.client.run(run_name())
        self.addCleanup(run.delete)
        run.put(tasks=["chain_sum"], min_trained_tokens=0)
        for item in take(run, 2):
            run.post(item["id"], [{"completion": WRONG}, {"completion": "no"}], wait_s=30)
        self.assertEqual(len(list(run.groups())), 2)
        self.assertGreaterEqual(len(list(run.export(format="sft", source="kept", min_reward=0))), 2)
        self.assertEqual(run.collections(), [])
        for dump in self.client.dumps(run=run.name):
            self.assertTrue(all(isinstance(group, dict) for group in self.client.dump(dump["name"])))
        self.assertIsInstance(self.client.failed_jobs(), list)
        self.assertTrue(self.client.overview())
        self.assertEqual(self.client.suite("original")["name"], "original")
        eval_id = self.client.evaluate(lambda prompts: [WRONG for _ in prompts], {"tasks": ["gcd"], "n": 2})["id"]
        self.assertEqual(list(self.client.eval_events(eval_id))[-1]["status"], "done")
        self.assertIn("gcd", self.client.eval_report(eval_id))
        self.assertIn('task_id: "gcd-2"', self.client.eval_hub_results(eval_id, "my-org/bench", task_id="gcd-2"))
        for _ in range(2):  # a repeated call finds nothing to delete
            self.client.delete_eval(eval_id)
        with self.assertRaises(Problem) as raised:
            self.client.eval(eval_id)
        self.assertEqual(raised.exception.code, "unknown_eval")
        with self.assertRaises(Problem) as caught:
            next(self.client.dump("none-such"))
        self.assertEqual(caught.exception.status, 404)
        self.assertIn(run.name, repr(run))

    def test_rows_of_data_sets_are_the_same_each_time(self) -> None:
        rows = list(self.client.dataset_rows(tasks=["gcd", "chain_sum"], count=5, seed=3, format="trl"))
        self.assertEqual([*rows[0]], ["prompt", "item_id", "task", "category", "difficulty"])
        self.assertEqual(rows[2:], list(self.client.dataset_rows(**{"tasks": "gcd,chain_sum", "count": 5, "seed": 3, "format": "trl", "from": 2})))
        self.assertEqual(len(list(self.client.dataset_rows("smoke"))), 20)
        with self.assertRaisesRegex(ImportError, r"pip install 'reasoning-gym-client\[datasets\]'"):
            self.client.dataset(count=1)

    def test_finds_items_and_reads_what_operators_read(self) -> None:
        item = self.client.make("leg_counting", seed=42)[0]
        self.assertEqual(self.client.make("leg_counting", seed=42)[0]["id"], item["id"])
        self.assertIn("rgs_", self.client.server_metrics())
        self.assertIn("totals", next(iter(self.client.overview_events())))

    def test_reads_groups_and_samples(self) -> None:
        run = self.client.run(run_name())
        run.put(tasks=["gcd"], min_trained_tokens=0)
        item = run.items(1)[0]
        run.post(item["id"], [{"completion": text} for text in ("a heron <answer>-1</answer>", WRONG)], group_id="seen", wait_s=30)
        self.assertEqual([g["matches"] for g in run.groups(q="HERON", sort="worst")], [[0]])
        self.assertIn("expected", run.retained_group("seen"))
        eval_id = self.client.evaluate(lambda prompts: [WRONG for _ in prompts], {"tasks": ["gcd"], "n": 3})["id"]
        wrong = list(self.client.eval_samples(eval_id, show="wrong", limit=2))
        self.assertEqual(len(wrong), 3)
        self.assertIn("expected", self.client.eval_sample(eval_id, wrong[0]["sample_id"]))

    def test_a_recipe_makes_the_same_item_again(self) -> None:
        first, second = self.client.make("chain_sum", seeds=[1, 2])
        self.assertEqual(self.client.make("chain_sum", seed=2)[0], second)
        self.assertEqual(self.client.item(first["id"])["question"], first["question"])
        self.assertEqual(len(self.client.make("chain_sum", difficulty=0, seed=3, count=3)), 3)

    def test_scores_right_and_wrong_answers_in_order(self) -> None:
        items = self.client.make("chain_sum", count=3)
        right = [RIGHT.format(answer) for answer in self.answers(items)]
        ids = [item["id"] for item in items]
        self.assertEqual(self.client.rewards(ids, right), [1, 1, 1])
        self.assertEqual(self.client.rewards(ids, [right[0], None, "I do not know"]), [1, None, 0])
        self.assertEqual(self.client.rewards(ids[:1], [right[0].replace("</answer>", "")], stop="</answer>"), [1])
        said = [{"role": "assistant", "content": right[0]}]
        scores = self.client.score([{"item_id": ids[0], "messages": said}, {"item_id": ids[0], "completion": "?"}])
        self.assertEqual([v["fault"] for v in scores["verdicts"]], [None, "no_answer"])

    def test_a_sample_that_cannot_be_scored_is_unscored(self) -> None:
        (item,) = self.client.make("chain_sum")
        (right,) = (RIGHT.format(answer) for answer in self.answers([item]))
        self.assertEqual(self.client.sample(item["id"], right, rollout_id="r")["reward"], 1)
        said = [{"role": "assistant", "content": right}]
        sent = [{"item_id": item["id"], "messages": said}, {"item_id": "?", "answer": "1"}, {"item_id": item["id"], "answer": "?"}]
        self.assertEqual(self.client.samples(sent)["rewards"], [1, None, 0])

    def test_a_generation_that_failed_is_unscored_and_costs_no_other_sample(self) -> None:
        (item,) = self.client.make("chain_sum")
        failed = [{"item_id": item["id"], name: None} for name in ("completion", "messages", "answer", "turns")]
        verdicts = self.client.samples([*failed, {"item_id": item["id"], "completion": WRONG, "turns": None}])["verdicts"]
        self.assertEqual([verdict["reward"] for verdict in verdicts], [None, None, None, None, 0])
        self.assertEqual(verdicts[0]["code"], self.client.sample(item["id"], None, finish_reason="abort")["code"])
        with self.assertRaisesRegex(Problem, "give exactly one of completion"):
            self.client.samples([{"item_id": item["id"]}])

    def test_an_eval_takes_one_completion_for_each_conversation(self) -> None:
        with self.assertRaisesRegex(ValueError, "2 conversations, 1 completions"):
            self.client.evaluate(lambda _: [WRONG], {"tasks": ["gcd"], "n": 2})
        result = self.client.evaluate(lambda _: [WRONG, None], {"tasks": ["gcd"], "n": 2})["result"]
        self.assertEqual([result["scored"], result["unscored"]], [1, 1])

    def test_a_turn_that_the_stop_string_ended_is_right(self) -> None:
        run = self.client.run(run_name())
        self.addCleanup(run.delete)
        run.put(tasks=["gcd"], tries=2, stop="</answer>")
        (item,) = self.client.make("gcd")
        (answer,) = self.answers([item])
        trainer = TrainerClient("python", url=SERVER, run=run.name)
        self.assertIsNone(trainer.retry_prompt(item["id"], [f"<answer>{answer}"]))
        self.assertIsNotNone(trainer.retry_prompt(item["id"], ["<answer>no idea"]))

    def test_more_completions_than_one_call_takes(self) -> None:
        (item,) = self.client.make("chain_sum")
        rewards = self.client.rewards([item["id"]] * 5000, [WRONG] * 5000)
        self.assertEqual(len(rewards), 5000)

    def test_a_refusal_carries_the_code_and_the_fields(self) -> None:
        with self.assertRaises(Problem) as caught:
            self.client.make("no_such_task")
        self.assertEqual((caught.exception.status, caught.exception.code), (404, "unknown_task"))
        with self.assertRaises(Problem) as caught:
            self.client.run(run_name()).put(group_sise=3)
        self.assertEqual(caught.exception.code, "invalid_request")
        self.assertEqual([e["path"] for e in caught.exception.errors], ["group_sise"])
        self.assertIsNotNone(caught.exception.request_id)

    def test_a_pickled_client_and_an_event_loop_can_use_it(self) -> None:
        (item,) = self.client.make("chain_sum")
        again = pickle.loads(pickle.dumps(self.client))

        async def ask() -> list:
            return await asyncio.gather(*(in_thread(again.rewards, [item["id"]], ["x"]) for _ in range(8)))

        self.assertEqual(asyncio.run(ask()), [[0]] * 8)

    def test_the_mean_of_the_scored_stands_in_for_the_unscored(self) -> None:
        self.assertEqual(fill_unscored([1.0, None, 0.0, 0.5]), [1.0, 0.5, 0.0, 0.5])
        self.assertEqual(fill_unscored([None, None], lambda: 0.25), [0.25, 0.25])
        with self.assertRaises(Unscored):
            fill_unscored([None, None])

    def test_special_tokens_are_removed_however_many_there_are(self) -> None:
        self.assertEqual(strip_special_tokens("<pad> 4 <|im_end|>\n" + "<pad>" * 5000 + "\n"), "<pad> 4")

    def test_threads_share_a_client(self) -> None:
        (item,) = self.client.make("chain_sum")
        rewards: list = []
        asking = [threading.Thread(target=lambda: rewards.append(self.client.rewards([item["id"]], ["x"]))) for _ in range(16)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        self.assertEqual(rewards, [[0]] * 16)


class Runs(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(SERVER, retry_for_s=60)
        self.addCleanup(self.client.close)
        self.run_ = self.client.run(run_name())
        self.addCleanup(self.run_.delete)
        self.run_.put(tasks=["chain_sum"], min_trained_tokens=0, batch_size=8)

    def mixed(self, item: dict, n: int = 4) -> list:
        """Completions of which half are right, so that the group has signal."""
        answer = self.client.item(item["id"], reveal=True)["answer"]
        return [{"completion": RIGHT.format(answer) if k % 2 else WRONG} for k in range(n)]

    def test_settings_are_kept_and_null_restores_the_default(self) -> None:
        self.run_.put(group_size=4)
        self.assertEqual(self.run_.get()["settings"]["group_size"], 4)
        self.run_.put(group_size=None)
        self.assertEqual(self.run_.get()["settings"]["group_size"], 16)
        self.assertIn(self.run_.name, [run["run"] for run in self.client.runs(q=self.run_.name, has_warnings=False)])
        self.assertEqual([], list(self.client.runs(q=self.run_.name, has_warnings=True)))
        self.run_.delete()
        self.run_.delete()

    def test_seeds_are_averaged_by_step(self) -> None:
        for seed, run in enumerate(runs := [self.client.run(run_name()) for _ in range(3)]):
            run.put(tasks=["chain_sum"], min_trained_tokens=0, seed=seed)
            self.addCleanup(run.delete)
            (item,) = run.items(step=0)
            run.post(item["id"], self.mixed(item)[: 2 + seed], wait_s=60)
        (row,), again = (self.client.average_runs([run.name for run in runs], "score/frac_correct", task=task) for task in ("chain_sum", None))
        self.assertEqual(again, [row])
        self.assertEqual((row["step"], row["runs"], round(row["mean"], 9)), (0, 3, round(4 / 9, 9)))
        self.assertAlmostEqual(row["stderr"], 1 / 18)  # of 1/2, 1/3 and 1/2

    def test_a_run_that_was_configured_and_is_gone_is_not_begun_anew(self) -> None:
        (item,) = self.run_.items()
        document = self.run_.checkpoint()
        generator = self.client.run(self.run_.name, incarnation=self.run_.incarnation)
        self.client.run(self.run_.name).delete()
        calls = (
            lambda run: run.items(),
            lambda run: run.post(item["id"], self.mixed(item)),
            lambda run: run.batch(step=0, timeout_s=0),
            lambda run: run.ack(step=0),
            lambda run: run.checkpoint(),
            lambda run: run.put(batch_size=4),
        )
        for call in calls:
            for run in (self.run_, generator):
                with self.assertRaises(RunLost):
                    call(run)
        self.assertNotIn(self.run_.name, [run["run"] for run in self.client.runs()])
        other = self.client.run(self.run_.name)
        other.put(tasks=["gcd"])
        self.client.run(self.run_.name, incarnation=generator.incarnation).delete()
        self.assertEqual(other.get()["settings"]["tasks"], ["gcd"])
        other.delete()
        self.run_.restore(document)
        self.assertEqual(len(self.run_.items()), 1)
        self.client.run(self.run_.name).delete()
        careless = self.client.run(self.run_.name, incarnation=self.run_.incarnation, require_run=False)
        with self.assertRaises(Problem) as caught:
            careless.items()
        self.assertEqual(caught.exception.code, "unknown_run")
        self.client.run(self.run_.name).put(tasks=["leg_counting"])
        self.assertEqual(len(careless.items()), 1)

    def test_a_trainer_that_resumes_rewinds_its_run_and_a_fork_goes_on_from_a_step(self) -> None:
        run = self.client.run(run_name())
        run.put(tasks=["leg_counting"], group_size=2, buffer=False)
        positions = run.positions(2)
        first = StepWatch(run)  # the process that crashes
        for step in range(4):
            first.begin(step)
            for item in positions.take([2 * step, 2 * step + 1]):
                run.post(item["id"], [{"completion": "a"}, {"completion": "b"}], group_id=f"{step}-{item['recipe']['seed']}", wait_s=60)
        self.assertEqual(run.get()["progress"]["groups"], 8)
        later = positions.take([6, 7])
        StepWatch(run).begin(2)  # the one that resumes: its weights are those of step 1
        self.assertEqual(run.get()["progress"]["groups"], 4)
        self.assertIsNone(run.rewind(1)["voided"])
        self.assertEqual(run.positions(2).take([6, 7]), later)
        fork = self.client.fork(run.name, run_name(), step=0, settings={"group_size": 4})
        self.addCleanup(fork.delete)
        view = fork.get()
        self.assertEqual((view["progress"]["groups"], view["settings"]["group_size"]), (2, 4))
        self.assertEqual(view["forked_from"], {"run": run.name, "step": 0})
        with self.assertWarnsRegex(UserWarning, "its latest step is 0"):
            resume_run(fork, 9)

    def test_the_callback_of_trl_ends_steps_and_rewinds(self) -> None:
        run = self.client.run(run_name())
        run.put(tasks=["leg_counting"], group_size=2, buffer=False)
        trainer = types.SimpleNamespace(TrainerCallback=object)
        with unittest.mock.patch.dict(sys.modules, transformers=trainer), unittest.mock.patch.object(
            rg_trl, "_client", lambda: self.client
        ):
            callback = rg_trl.rewind_callback(run.name)
            state = types.SimpleNamespace(global_step=0, is_world_process_zero=True)
            args = types.SimpleNamespace(generation_batch_size=16, num_generations=2)
            callback.on_train_begin(args, state, None)
            items = rg_trl._take(run.name, [0, 1, 2, 3])
            self.assertEqual(run.get()["progress"]["items"], 8)  # as many prompts as TRL samples at once
            for step in (1, 2, 3):
                item = items[step]
                run.post(item["id"], [{"completion": "a"}], group_id=str(step), wait_s=60)
                state.global_step = step
                callback.on_step_end(None, state, None)
            self.assertEqual([row["step"] for row in run.metrics()], [1, 2, 3])
            self.assertEqual(run.get()["progress"]["step"], 3)
            state.global_step = 1
            callback.on_train_begin(args, state, None)
        self.assertEqual(run.get()["progress"]["groups"], 1)
        self.assertEqual(run.get()["progress"]["step"], 1)

    def test_a_position_has_one_item_in_every_process(self) -> None:
        positions = self.run_.positions(per_step=4)
        first = positions.take(range(10))
        self.assertEqual(len({item["id"] for item in first}), 10)
        with unittest.mock.patch.object(self.client._wire, "call", side_effect=AssertionError("asked again")):
            self.assertEqual([positions[9], positions[0]], [first[9], first[0]])
        other = pickle.loads(pickle.dumps(positions))
        self.assertEqual([item["id"] for item in other.take([9, 3])], [first[9]["id"], first[3]["id"]])
        blocks_of_three = self.run_.positions(per_step=3).take([9, 3])
        self.assertEqual([item["id"] for item in blocks_of_three], [first[9]["id"], first[3]["id"]])
        self.assertNotIn(self.run_.items()[0]["id"], {item["id"] for item in first})
        self.assertRaises(IndexError, positions.__getitem__, -1)

    def test_a_sample_whose_answer_was_lost_counts_once(self) -> None:
        self.run_.put(group_size=4, buffer=False)
        way = LossyWay(SERVER, 0.3, seed=3)
        self.addCleanup(way.close)
        lossy = Client(way.url, retry_for_s=60)
        for item in take(self.run_, 6):
            for k in range(4):
                sent = {"run": self.run_.name, "rollout_id": f"{item['id'][-40:]}-{k}"}
                lossy.sample(item["id"], WRONG, **sent)
        self.assertGreater(way.lost, 0)
        until = time.monotonic() + 60
        while self.run_.get()["progress"]["groups"] < 6 and time.monotonic() < until:
            time.sleep(0.1)
        progress = self.run_.get()["progress"]
        self.assertEqual((progress["groups"], progress["rollouts"]), (6, 24))

    def test_threads_that_want_one_block_ask_once(self) -> None:
        positions, seen = self.run_.positions(per_step=8), []
        with unittest.mock.patch.object(self.run_, "items", wraps=self.run_.items) as asked:
            threads = [threading.Thread(target=lambda k=k: seen.append((k, positions[k]["id"]))) for k in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(asked.call_count, 1)
        self.assertEqual(len({item_id for _, item_id in seen}), 8)

    def test_a_group_is_scored_and_found_again(self) -> None:
        (item,) = self.run_.items()
        group = self.run_.post(item["id"], self.mixed(item), group_id="g", policy_version=3, wait_s=30)
        self.assertEqual(group["status"], "scored")
        self.assertEqual([v["reward"] for v in group["verdicts"]], [0, 1, 0, 1])
        self.assertEqual(self.run_.group("g"), group)
        with self.assertRaises(Problem) as caught:
            self.run_.post(item["id"], [{"completion": "other"}], group_id="g")
        self.assertEqual(caught.exception.code, "group_conflict")

    def test_a_named_group_that_was_posted_before_is_done_however_other_the_rollouts_are(self) -> None:
        items = take(self.run_, 3)
        first = [self.mixed(item) for item in items[:2]]
        for k in (0, 1):
            self.run_.post(items[k]["id"], first[k], group_id=f"g{k}")
        again = [{"item_id": item["id"], "group_id": f"g{k}", "rollouts": self.mixed(item, 2)} for k, item in enumerate(items)]
        with self.assertRaises(Problem):
            self.run_.post_many(again)
        done = self.run_.post_many(again, wait_s=30, on_conflict="keep")
        self.assertEqual([g["group_id"] for g in done], ["g0", "g1", "g2"])
        self.assertEqual([g["rewards"] for g in done], [[0, 1, 0, 1], [0, 1, 0, 1], [0, 1]])
        self.assertEqual([g.get("conflict", False) for g in done], [True, True, False])
        self.assertEqual(self.run_.get()["progress"]["groups"], 3)
        other = {**again[0], "item_id": items[2]["id"]}
        with self.assertRaises(Problem) as caught:  # another item's: the name is at fault
            self.run_.post_many([other], on_conflict="keep")
        self.assertEqual(caught.exception.code, "group_conflict")
        with self.assertRaises(ValueError):
            self.run_.post_many(again, on_conflict="ignore")

    def test_kept_groups_are_scored_again_under_other_rules(self) -> None:
        (item,) = self.run_.items()
        self.run_.post(item["id"], [{"completion": "no tags"}, *self.mixed(item)], wait_s=30)
        self.assertEqual(self.run_.rescore()["result"]["rewards_changed"], 0)
        rescore = self.run_.rescore({"extraction": "bare", "dual_format": False}, tasks=[item["task"]], sample=1)
        self.assertEqual((rescore["status"], rescore["result"]["groups"]), ("done", 1))
        self.assertGreater(rescore["result"]["rewards_changed"], 0)
        self.assertEqual(self.run_.rescores()[0], rescore)

    def test_a_group_that_is_no_longer_kept_has_its_rewards(self) -> None:
        self.run_.put(keep_groups=1, buffer=False)
        items = take(self.run_, 3)
        sent = [self.mixed(item) for item in items]
        for k, item in enumerate(items):
            self.run_.post(item["id"], sent[k], group_id=f"g{k}", wait_s=30)
        again = self.run_.post(items[0]["id"], sent[0], group_id="g0", wait_s=30)
        self.assertEqual((again["status"], again["rewards"], "verdicts" in again), ("scored", [0, 1, 0, 1], False))
        done = self.run_.post(items[0]["id"], [{"completion": "other"}], group_id="g0", on_conflict="keep")
        self.assertEqual((done["status"], done["conflict"]), ("scored", True))

    def test_a_final_batch_is_one_answer_for_all_ranks(self) -> None:
        first = self.run_.batch(0, rank=0, ranks=2, final=True, timeout_s=0)
        self.assertEqual((first["totals"]["groups"], first["groups"]), (0, []))
        self.fill(1)
        self.assertEqual(self.run_.batch(0, rank=1, ranks=2, final=True), first)
        self.run_.ack(0)
        self.assertEqual(self.run_.batch(1, final=True)["totals"]["groups"], 1)

    def test_many_groups_are_answered_in_order(self) -> None:
        items = take(self.run_, 5)
        groups = [{"item_id": item["id"], "group_id": f"g{k}", "rollouts": self.mixed(item)} for k, item in enumerate(items)]
        done = self.run_.post_many(groups, wait_s=30, at_once=2)
        self.assertEqual([g["group_id"] for g in done], [f"g{k}" for k in range(5)])
        self.assertEqual({g["status"] for g in done}, {"scored"})

    def test_what_a_trainer_buffers_itself_is_scored_and_not_buffered(self) -> None:
        (item,) = self.run_.items()
        group = self.run_.post(item["id"], self.mixed(item), buffer=False, wait_s=30)
        self.assertEqual(group["destination"], "not_buffered")
        self.assertEqual([v["advantage"] for v in group["verdicts"]], [-0.5, 0.5, -0.5, 0.5])

    def fill(self, groups: int = 2, **more: object) -> None:
        for k, item in enumerate(take(self.run_, groups)):
            self.run_.post(item["id"], [{**rollout, **more} for rollout in self.mixed(item)], group_id=f"g{k}", wait_s=30)

    def test_a_batch_is_the_same_for_all_ranks_until_each_has_acknowledged(self) -> None:
        with self.assertRaises(NotReady) as caught:
            self.run_.batch(0, timeout_s=0)
        self.assertEqual((caught.exception.missing, caught.exception.queued), (8, 0))
        self.fill(2)
        shares = [self.run_.batch(0, rank=rank, ranks=2, policy_version=0) for rank in (0, 1)]
        ids = [group["group_id"] for share in shares for group in share["groups"]]
        self.assertEqual((sorted(ids), shares[0]["totals"]["rollouts"]), (["g0", "g1"], 8))
        self.assertEqual(self.run_.read_batch(0, rank=1, ranks=2), shares[1])
        self.assertEqual([self.run_.ack(0, rank=rank, ranks=2) for rank in (0, 0, 1, 1)], [False, False, True, True])
        for call, code in ((self.run_.read_batch, "unknown_batch"), (self.run_.batch, "batch_acknowledged")):
            with self.assertRaises(Problem) as caught:
                call(0)
            self.assertEqual(caught.exception.code, code)

    def test_a_batch_that_is_waited_for_comes_when_the_last_group_does(self) -> None:
        taken: list = []
        waiting = threading.Thread(target=lambda: taken.append(self.run_.batch(0, timeout_s=60)))
        waiting.start()
        self.fill(2)
        waiting.join()
        self.assertEqual(taken[0]["rollouts"], 8)

    def test_arrays_come_back_bit_for_bit(self) -> None:
        self.fill(1, tokens=array.array("i", [1, 2**31 - 1]), masks=[-100, 7], logprobs=array.array("f", [1.0, -0.3]), arrays={"mine": array.array("B", [0, 255])})
        (group,) = self.run_.batch(0, min_rollouts=1)["groups"]
        rollout = group["rollouts"][0]
        self.assertEqual(list(rollout["tokens"]), [1, 2**31 - 1])
        self.assertEqual(list(rollout["masks"]), [-100, 7])
        self.assertEqual(rollout["logprobs"].tobytes(), array.array("f", [1.0, -0.3]).tobytes())
        self.assertEqual(list(rollout["arrays"]["mine"]), [0, 255])

    def test_items_and_groups_count_once_over_a_way_that_loses_answers(self) -> None:
        way = LossyWay(SERVER, loss=0.4, seed=7)
        self.addCleanup(way.close)
        run = Client(way.url, retry_for_s=60).run(self.run_.name)
        items = take(self.run_, 10)
        for k, item in enumerate(items):
            run.post(item["id"], self.mixed(item), group_id=f"g{k}")
        self.assertGreater(way.lost, 0)
        for k in range(10):
            self.run_.group(f"g{k}", wait_s=30)
        progress = self.run_.get()["progress"]
        self.assertEqual((progress["groups"], progress["rollouts"], progress["scored_groups"]), (10, 40, 10))

    def test_lone_surrogates_and_arrays_without_numpy_travel(self) -> None:
        (item,) = self.run_.items()
        rollouts = [{"completion": "\ud800 <answer>1</answer>", "tokens": array.array("i", [1, 2]), "masks": [-100, 2]}]
        self.assertEqual(self.run_.post(item["id"], rollouts, wait_s=30)["status"], "scored")

    def test_a_server_that_is_not_there_is_said_so_after_the_time_for_retries(self) -> None:
        with self.assertRaises(Unreachable):
            Client("http://127.0.0.1:9", retry_for_s=0.5).tasks()


if __name__ == "__main__":
    unittest.main()
