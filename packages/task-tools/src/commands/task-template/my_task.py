"""A custom task: sort a few numbers."""

from dataclasses import dataclass
from random import Random
from typing import Any, Optional

from reasoning_gym.coaching import BaseCurriculum, ScalarAttributeDefinition
from reasoning_gym.factory import ProceduralDataset, register_dataset


@dataclass
class MyTaskConfig:
    """The fields that a run or a request may set."""

    numbers: int = 5
    seed: Optional[int] = None
    size: int = 500

    def validate(self) -> None:
        assert 2 <= self.numbers <= 100, "numbers must be from 2 to 100"


class MyTaskDataset(ProceduralDataset):
    """Sort numbers from smallest to largest."""

    def __init__(self, config: MyTaskConfig):
        super().__init__(config=config, seed=config.seed, size=config.size)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """The item at an index. It depends on the seed, the index and the config alone."""
        rng = Random(self.seed + index)
        numbers = [rng.randint(0, 999) for _ in range(self.config.numbers)]
        return {
            "question": f"Sort these numbers from smallest to largest, separated by spaces: {' '.join(map(str, numbers))}",
            "answer": " ".join(map(str, sorted(numbers))),
            "metadata": {"numbers": numbers},
        }

    def score_answer(self, answer: Optional[str], entry: dict[str, Any]) -> float:
        """From 0.0 to 1.0, for any text that a model may write, in another process than `__getitem__`."""
        try:
            given = [int(word) for word in (answer or "").replace(",", " ").split()]
        except ValueError:
            return 0.0
        return 1.0 if given == sorted(entry["metadata"]["numbers"]) else 0.0

    @staticmethod
    def explain_answer(question: str, answer: str) -> Optional[str]:
        """What the question alone shows to be wrong with an answer, in a sentence; None if it shows nothing. Optional."""
        asked = question.rsplit(": ", 1)[1].split()
        given = answer.replace(",", " ").split()
        if sorted(given) != sorted(asked):
            return "The answer must have each number of the question as often as the question has it, and no other."
        for left, right in zip(given, given[1:]):
            if int(left) > int(right):
                return f"{right} comes after {left}, but is smaller."
        return None


class MyTaskCurriculum(BaseCurriculum):
    """The levels of difficulty, from easiest to hardest."""

    def __init__(self) -> None:
        super().__init__(MyTaskCurriculum.__name__, MyTaskConfig)
        self._define_attributes(
            ScalarAttributeDefinition(
                name="numbers", field_name="numbers", levels=[3, 5, 10, 20, 40], description="How many numbers are sorted"
            )
        )


register_dataset("my_task", MyTaskDataset, MyTaskConfig, MyTaskCurriculum)
