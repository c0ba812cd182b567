"""A run as a data set of the Tinker cookbook: batch k has the items of step k of the run, and each group is posted whole.

    from reasoning_gym_client.integrations.rg_tinker import ReasoningGymDatasetBuilder

    train.Config(
        dataset_builder=ReasoningGymDatasetBuilder(
            run="my-run", groups_per_batch=64, group_size=8, renderer_name="qwen3", model_name_for_tokenizer="Qwen/Qwen3-8B"
        ), …)

`url`, or REASONING_GYM_URL, is the address of the server. It may contain the key (`http://trainer:KEY@host:8000`); otherwise set
REASONING_GYM_API_KEY. Configure the run once: `Client().run("my-run").put(preset="clean", group_size=8, buffer=False)`.

* `get_batch(index)` requests the items just before they are used, so their difficulty follows the run's curriculum. The same index
  gives the same items, also after a resume. A loop that resumes at a later batch rewinds the run to the batch before it.
* Groups are posted with tokens and logprobs: group penalties apply, and dumps are complete.
* Tinker has no mask. A rollout that could not be scored gets the mean of its group's other rewards, so that its advantage is 0; its
  metric `unscored` is 1. A group that is unscored as a whole gets the mean reward of its task in the run; without one,
  Unscored is raised. In a test, it gets 0. While the server is down, calls are retried for five minutes; then the exception is raised.
* With `tries` above 1 in the run, an episode goes on after a wrong answer: the conversation so far with the run's `retry_prompt` is the
  next observation. The group is posted with all turns, without tokens, because those of several turns are not one sequence.
* `test_suite="original"` adds a frozen suite as the test set. Its completions are scored by the rules of the run (those of
  `easy-*` and `hard-*` by the defaults) and not counted in it.
"""

from __future__ import annotations

import importlib.util
import sys
import uuid
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import chz
import tinker
from tinker_cookbook import renderers
from tinker_cookbook.rl.types import (
    Action,
    ActionExtra,
    Env,
    EnvGroupBuilder,
    Metrics,
    Observation,
    RLDataset,
    RLDatasetBuilder,
    StepResult,
    Trajectory,
)
from tinker_cookbook.tokenizer_utils import get_tokenizer

if importlib.util.find_spec("reasoning_gym_client") is None:  # loaded by path, without the installed package
    sys.path.insert(0, str(Path(__file__).parents[2]))
from reasoning_gym_client import Client, Item, Positions, StepWatch, TrainerClient, Verdict, fill_unscored, in_thread, is_eval_item
from reasoning_gym_client import task_mean

__all__ = ["ReasoningGymDatasetBuilder", "ReasoningGymDataset", "PuzzleGroupBuilder", "PuzzleEnv"]

WAIT_S = 120.0  #: seconds to wait for the verdicts of one group


@lru_cache(maxsize=None)
def _client(url: Optional[str]) -> Client:
    return Client(url)


@lru_cache(maxsize=None)
def _trainer(run: str, url: Optional[str]) -> TrainerClient:
    return TrainerClient("tinker", url=url, run=run)


class PuzzleEnv(Env):
    """One rollout: the prompt of an item and the turns that the model wrote. PuzzleGroupBuilder scores them. `server` says what to
    tell the model after a wrong turn; without one, the first turn is the last."""

    def __init__(self, item: Item, renderer: renderers.Renderer, server: Optional[TrainerClient] = None) -> None:
        self.item = item
        self.renderer = renderer
        self.server = server
        self.messages: List[Any] = list(item["messages"])
        self.turns: List[str] = []

    async def initial_observation(self) -> Tuple[Observation, Any]:
        return self._observe(), self.renderer.get_stop_sequences()

    def _observe(self) -> Observation:
        return self.renderer.build_generation_prompt(self.messages)

    async def step(self, action: Action, *, extra: Optional[ActionExtra] = None) -> StepResult:
        message, _ = self.renderer.parse_response(action)
        self.turns.append(renderers.get_text_content(message))
        prompt = self.server and await in_thread(self.server.retry_prompt, self.item["id"], self.turns)
        if prompt:
            self.messages += [message, {"role": "user", "content": prompt}]
        return StepResult(
            reward=0.0,
            episode_done=not prompt,
            next_observation=self._observe() if prompt else tinker.ModelInput.empty(),
            next_stop_condition=self.renderer.get_stop_sequences(),
        )


@dataclass(frozen=True)
class PuzzleGroupBuilder(EnvGroupBuilder):
    """The rollouts of one item. Those of a test are scored and not counted."""

    item: Item
    renderer: renderers.Renderer
    group_size: int
    run: Optional[str]
    url: Optional[str] = None
    is_test: bool = False

    async def make_envs(self) -> Sequence[Env]:
        server = None if self.run is None or self.is_test else _trainer(self.run, self.url)
        return [PuzzleEnv(self.item, self.renderer, server) for _ in range(self.group_size)]

    async def compute_group_rewards(
        self, trajectory_group: List[Trajectory], env_group: Sequence[Env]
    ) -> List[Tuple[float, Metrics]]:
        rollouts = [_rollout(env, trajectory) for env, trajectory in zip(env_group, trajectory_group)]
        verdicts: Sequence[Verdict] = await in_thread(self._score if self.run is None or self.is_test else self._post, rollouts)
        rewards = [verdict.get("reward") for verdict in verdicts] or [None] * len(rollouts)
        metrics = [_metrics(verdict) for verdict in verdicts or [{}] * len(rollouts)]
        # A test must not end the training, and no model learns from its rewards.
        mean = (lambda: 0.0) if self.run is None or self.is_test else partial(task_mean, _client(self.url).run(self.run), self.item["id"])
        filled = await in_thread(fill_unscored, rewards, mean)
        return list(zip(filled, metrics))

    def _post(self, rollouts: Sequence[Dict[str, Any]]) -> Sequence[Verdict]:
        run = _client(self.url).run(self.run or "")
        posted = run.post(self.item["id"], rollouts, group_id=uuid.uuid4().hex, buffer=False, wait_s=WAIT_S)
        return posted.get("verdicts", [])  # empty: not scored in time

    def _score(self, rollouts: Sequence[Dict[str, Any]]) -> Sequence[Verdict]:
        samples = [{"item_id": self.item["id"], "completion": rollout["completion"]} for rollout in rollouts]
        return _client(self.url).samples(samples, run=self.run, adapter="tinker")["verdicts"]

    def logging_tags(self) -> List[str]:
        return ["reasoning_gym", self.item["category"], self.item["task"]]


def _rollout(env: Any, trajectory: Trajectory) -> Dict[str, Any]:
    if len(env.turns) > 1:
        return {"turns": env.turns, "length_tokens": sum(len(one.ac.tokens) for one in trajectory.transitions)}
    rollout: Dict[str, Any] = {"completion": "".join(env.turns)}
    if trajectory.transitions:
        action = trajectory.transitions[-1].ac
        rollout.update(tokens=list(action.tokens), length_tokens=len(action.tokens), finish_reason=str(action.stop_reason))
        if action.maybe_logprobs is not None:
            rollout["logprobs"] = list(action.maybe_logprobs)
    return rollout


def _metrics(verdict: Verdict) -> Metrics:
    """Metrics of one rollout, with a score only if there is one. A missing verdict counts as unscored."""
    score = verdict.get("score")
    metrics: Metrics = {"unscored": float(score is None), "format_fault": float(verdict.get("fault") is not None)}
    return metrics if score is None else {**metrics, "score": float(score)}


class ReasoningGymDataset(RLDataset):
    """Batches of a run by step."""

    def __init__(
        self,
        positions: Positions,
        renderer: renderers.Renderer,
        group_size: int,
        batches: int,
        url: Optional[str] = None,
    ) -> None:
        self.positions = positions
        self.renderer = renderer
        self.group_size = group_size
        self.batches = batches
        self.url = url
        self.steps = StepWatch(positions.run)

    def get_batch(self, index: int) -> Sequence[EnvGroupBuilder]:
        self.steps.begin(index)
        size = self.positions.per_step
        items = self.positions.take(range(index * size, (index + 1) * size))
        run = self.positions.run.name
        return [PuzzleGroupBuilder(item, self.renderer, self.group_size, run, self.url) for item in items]

    def __len__(self) -> int:
        return self.batches


class SuiteDataset(RLDataset):
    """A frozen suite, one rollout for each item."""

    def __init__(
        self, suite: str, renderer: renderers.Renderer, per_batch: int, url: Optional[str] = None, run: Optional[str] = None
    ) -> None:
        self.ids = [recipe["id"] for recipe in _client(url).call("GET", f"/eval/suites/{suite}")["recipes"]]
        self.renderer = renderer
        self.per_batch = per_batch
        self.url = url
        self.run = run

    def get_batch(self, index: int) -> Sequence[EnvGroupBuilder]:
        ids = self.ids[index * self.per_batch : (index + 1) * self.per_batch]
        client, runs = _client(self.url), {item_id: self.run if is_eval_item(item_id) else None for item_id in ids}
        return [
            PuzzleGroupBuilder(client.item(item_id, run=run), self.renderer, 1, run, self.url, is_test=True)
            for item_id, run in runs.items()
        ]

    def __len__(self) -> int:
        return -(-len(self.ids) // self.per_batch)


@chz.chz
class ReasoningGymDatasetBuilder(RLDatasetBuilder):
    """`batches`: steps of one epoch; the run itself has no end."""

    run: str
    groups_per_batch: int
    group_size: int
    renderer_name: str
    model_name_for_tokenizer: str
    batches: int = 1000
    url: Optional[str] = None
    test_suite: Optional[str] = None

    async def __call__(self) -> Tuple[RLDataset, Optional[RLDataset]]:
        model = self.model_name_for_tokenizer
        renderer = renderers.get_renderer(self.renderer_name, get_tokenizer(model), model_name=model)
        positions = _client(self.url).run(self.run).positions(self.groups_per_batch)
        train = ReasoningGymDataset(positions, renderer, self.group_size, self.batches, self.url)
        if self.test_suite is None:
            return train, None
        return train, SuiteDataset(self.test_suite, renderer, self.groups_per_batch, self.url, self.run)
