"""`log_to`: metrics of a run for the logger of its trainer."""

import threading
import time
import unittest
import unittest.mock
from typing import Callable

from world import SERVER, run_name

from reasoning_gym_client import Client, Run
from reasoning_gym_client._metrics_log import MetricsLog

WRONG = "<answer>no idea</answer>"


class Logs(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(SERVER, retry_for_s=60)
        self.addCleanup(self.client.close)

    def test_sends_each_step_to_a_logger_once(self) -> None:
        run = self.client.run(run_name())
        self.addCleanup(run.delete)
        run.put(tasks=["gcd"], min_trained_tokens=0, batch_size=1)
        sent = []
        refused = threading.Event()

        def sink(metrics: dict, step: int) -> None:
            if not sent and not refused.is_set():
                refused.set()
                raise RuntimeError("a logger that is not ready")
            sent.append((step, metrics))

        with self.assertLogs("reasoning_gym_client", "WARNING"), run.log_to(sink, every_s=0.05):
            for step in range(3):
                (item,) = run.items(1, step=step)
                run.post(item["id"], [{"completion": WRONG}, {"completion": "no"}], wait_s=30)
                run.batch(step, final=True)
            self.assertTrue(refused.wait(30))
        self.assertEqual([step for step, _ in sent], [0, 1, 2])
        self.assertEqual(sent[0][1]["reasoning_gym/reward/mean"], 0)
        self.assertTrue(all(isinstance(value, (int, float)) for _, metrics in sent for value in metrics.values()))
        with self.assertRaisesRegex(ValueError, "sink must be wandb, mlflow, trackio or a callable"):
            run.log_to("tensorboard").__enter__()

    def test_a_trainer_that_resumes_gets_the_steps_that_follow(self) -> None:
        run = self.client.run(run_name())
        self.addCleanup(run.delete)
        run.put(tasks=["gcd"], group_size=2, buffer=False)

        def train(*steps: int) -> None:
            for step in steps:
                self.score_groups(run, 1)
                run.end_step(step)

        train(0, 1, 2)
        sent = []
        with run.log_to(lambda metrics, step: sent.append(step), every_s=0.05) as log:
            train(3, 4)
            self.wait_until(lambda: len(sent) > 1)
            run.rewind(1)
            self.wait_until(lambda: log._next == 1)
            train(2, 3)
        self.assertEqual(sent, [2, 3, 1, 2, 3])

    def test_a_logger_that_takes_fewer_rows_than_come_does_not_fall_behind(self) -> None:
        run, sent = unittest.mock.Mock(), []
        log = MetricsLog(run, lambda metrics, step: sent.append(step) if len(sent) < room else False, 1)
        log._send = log._sink
        for poll in range(1, 4):
            run.metrics = lambda first: [{"step": step} for step in range(first, 100 * poll)]
            room = poll
            log._send_rows(False)
        self.assertEqual(sent, [0, 98, 198])
        run.metrics = lambda first: [{"step": step} for step in range(first, 320)]
        for room in range(4, 7):
            self.assertFalse(log._send_rows(False))
        self.assertEqual(sent[3:], [298, 299, 300])
        room = 1000
        self.assertTrue(log._send_rows(True))
        self.assertEqual(sent[3:], list(range(298, 320)))

    def test_sends_rows_of_a_run_of_single_samples_that_has_no_steps(self) -> None:
        run = self.client.run(run_name())
        self.addCleanup(run.delete)
        run.put(tasks=["gcd"], group_size=2, buffer=False)
        self.score_groups(run, 4)
        sent = []
        with run.log_to(lambda metrics, step: sent.append((step, metrics)), every_s=0.05):
            pass
        self.assertEqual(sum(metrics["reasoning_gym_groups/groups"] for _, metrics in sent), 4)
        self.score_groups(run, 12)  # another block
        sent.clear()
        with run.log_to(lambda metrics, step: sent.append(step), every_s=0.05):
            pass
        with unittest.mock.patch.dict("os.environ", RANK="1"), run.log_to(lambda metrics, step: sent.append(step)):
            pass
        self.assertEqual(sent, [9])

    def test_sends_each_step_of_a_run_of_single_samples_whose_steps_begin_late(self) -> None:
        run = self.client.run(run_name())
        self.addCleanup(run.delete)
        run.put(tasks=["gcd"], group_size=2, buffer=False)
        sent = []
        with run.log_to(lambda metrics, step: sent.append((step, metrics)), every_s=0.05):
            self.score_groups(run, 9)  # more than a block
            self.wait_until(lambda: len(sent) > 0)
            for step in range(3):
                run.end_step(step)
                self.score_groups(run, 1)
        self.assertIn("reasoning_gym_groups/first_group", sent[0][1])
        self.assertEqual([step for step, metrics in sent if "reasoning_gym/step" in metrics], [0, 1, 2, 3])

    def score_groups(self, run: Run, count: int) -> None:
        scored = run.get()["progress"]["scored_groups"]
        for item in self.client.make("gcd", count=count):
            self.client.samples([{"item_id": item["id"], "completion": WRONG}, {"item_id": item["id"], "completion": "no"}], run=run.name)
        self.wait_until(lambda: run.get()["progress"]["scored_groups"] == scored + count)

    def wait_until(self, is_true: Callable[[], bool]) -> None:
        until = time.monotonic() + 60
        while not is_true() and time.monotonic() < until:
            time.sleep(0.05)
