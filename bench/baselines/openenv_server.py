"""The baseline of W10: OpenEnv's own server around the library, one dataset for each session, as its documentation shows."""

from uuid import uuid4

import reasoning_gym
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app


class Answer(Action):
    answer: str


class Question(Observation):
    question: str | None = None


class ReasoningGym(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self.dataset = None
        self.entry = None
        self.progress = State(episode_id=str(uuid4()))

    def reset(self, dataset_name, seed=0, size=1, episode_id=None):
        self.dataset = reasoning_gym.create_dataset(dataset_name, seed=seed, size=size)
        self.entry = self.dataset[0]
        self.progress = State(episode_id=episode_id or str(uuid4()))
        return Question(question=self.entry["question"])

    def step(self, action):
        self.progress.step_count += 1
        reward = float(self.dataset.score_answer(action.answer, self.entry))
        return Question(done=True, reward=reward)

    @property
    def state(self):
        return self.progress


app = create_fastapi_app(ReasoningGym, Answer, Question, max_concurrent_envs=100_000)
