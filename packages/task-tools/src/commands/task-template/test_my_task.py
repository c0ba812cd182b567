"""Tests of my_task. `reasoning-gym-server task check` runs them, and so does `python -m unittest` where reasoning-gym is installed."""

import unittest

from my_task import MyTaskConfig, MyTaskCurriculum, MyTaskDataset


class MyTaskTest(unittest.TestCase):
    def setUp(self) -> None:
        self.dataset = MyTaskDataset(MyTaskConfig(seed=1))

    def test_the_right_answer_scores_one(self) -> None:
        for index in range(20):
            item = self.dataset[index]
            self.assertEqual(self.dataset.score_answer(item["answer"], item), 1.0)

    def test_wrong_answers_score_zero(self) -> None:
        item = self.dataset[0]
        for answer in ["", "1 2", "one two", item["answer"] + " 7", None]:
            self.assertEqual(self.dataset.score_answer(answer, item), 0.0)

    def test_commas_are_fine(self) -> None:
        item = self.dataset[0]
        self.assertEqual(self.dataset.score_answer(item["answer"].replace(" ", ", "), item), 1.0)

    def test_wrong_answers_are_explained(self) -> None:
        question, answer = self.dataset[0]["question"], self.dataset[0]["answer"]
        self.assertIsNone(MyTaskDataset.explain_answer(question, answer))
        self.assertIn("no other", MyTaskDataset.explain_answer(question, "one two") or "")
        self.assertIn("smaller", MyTaskDataset.explain_answer(question, " ".join(answer.split()[::-1])) or "")

    def test_every_level_makes_items(self) -> None:
        curriculum = MyTaskCurriculum()
        for level in range(5):
            curriculum.set_global_level(level)
            item = MyTaskDataset(curriculum.generate_configuration({"seed": 1}))[0]
            self.assertGreater(len(item["question"]), 0)


if __name__ == "__main__":
    unittest.main()
