"""The environment that OpenEnv's own server plays: a reset gives an item, and a step scores one turn of the model."""

# pyright: reportMissingImports=false
# mypy: disable-error-code="import-not-found,misc,untyped-decorator,no-any-return"
# OpenEnv may be missing where types are checked. Its classes are then Any.

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from openenv.core.env_server import Action, ConcurrencyConfig, Environment, Observation, State, create_app
from openenv.core.env_server.types import EnvironmentMetadata
from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from ._rollouts import SPLITS, ItemSource, ServedRollout

#: Fields of an action, of which a client sends one. All but the last hold a whole reply.
REPLIES = ("completion", "message", "text", "content", "messages", "answer")
#: How many tasks of a split are listed. `num_tasks` has the number of all.
MAX_LISTED = 1000


class Turn(Action):
    """One turn of the model: its reply under any of the names, or the answer alone."""

    model_config = ConfigDict(extra="ignore")
    completion: Any = Field(None, description="The model's reply. The server extracts the answer by the rules of the run.")
    message: Any = Field(None, description="The same as `completion`.")
    text: Any = Field(None, description="The same as `completion`.")
    content: Any = Field(None, description="The same as `completion`.")
    messages: Optional[List[Dict[str, Any]]] = Field(None, description="The reply as chat messages.")
    answer: Any = Field(None, description="The answer alone.")
    completion_tokens: Optional[int] = Field(None, description="Length of the reply in tokens, for length penalties.")
    finish_reason: Optional[str] = Field(None, description="Why the generation ended.")
    item_id: Optional[str] = Field(None, description="Item of an episode that continues on a new connection.")
    episode_id: Optional[str] = Field(None, description="ID of that episode.")

    @model_validator(mode="after")
    def _require_reply(self) -> "Turn":
        if not self.model_fields_set.intersection(REPLIES):
            raise PydanticCustomError("missing_reply", "send the reply of the model as completion, or an answer")
        return self

    def sample(self) -> Dict[str, Any]:
        """The fields of a sample. Clients may send numbers and lists, because some read the reply as JSON. None is an empty reply."""
        name = next(name for name in REPLIES if name in self.model_fields_set)
        value = getattr(self, name)
        sample: Dict[str, Any] = {"finish_reason": self.finish_reason}
        if self.completion_tokens is not None:
            sample["length_tokens"] = self.completion_tokens
        if name == "messages" and value:
            return {**sample, "messages": value}
        text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
        return {**sample, "answer" if name == "answer" and value is not None else "completion": text}


class Question(Observation):
    question: str = Field(description="The instructions and the question, or after a wrong turn, the message to the model.")


class ReasoningGymEnvironment(Environment[Turn, Question, State]):
    """The episodes of one session. An episode is a rollout, whose ID is that of the episode."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, source: ItemSource) -> None:
        super().__init__()
        self._source = source
        self._rollout: Optional[ServedRollout] = None
        self._steps = 0
        self._last: Optional[Dict[str, Any]] = None  # the sample that ended the episode
        self._result: Optional[Question] = None

    async def reset_async(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **names: Any) -> Question:
        item = await self._source.item(await self._name_item(seed, names))
        rollout = self._begin(ServedRollout(self._source, item, episode_id))
        metadata = {**self._describe(rollout), "messages": item["messages"]}
        return Question(question=rollout.prompt, metadata=metadata)

    async def step_async(self, action: Turn, timeout_s: Optional[float] = None, **_: Any) -> Question:
        rollout = await self._continue(action)
        sample = action.sample()
        if self._result is not None:
            if sample == self._last:
                return self._result
            raise RuntimeError("the episode is done: call reset to begin another")
        verdict = await rollout.submit(sample)
        self._steps += 1
        if verdict["reward"] is None:
            raise RuntimeError(f"the completion could not be scored ({verdict.get('code')}): {verdict.get('detail')}. The episode is still open.")
        prompt = verdict.get("retry_prompt")
        metadata = self._describe(rollout, verdict)
        if prompt is not None:
            return Question(question=prompt, reward=0.0, done=False, metadata=metadata)
        self._last = sample
        self._result = Question(question=rollout.prompt, reward=float(verdict["reward"]), done=True, metadata=metadata)
        return self._result

    async def _continue(self, action: Turn) -> ServedRollout:
        """Returns the open episode, or that of the IDs in the action: a client continues with them after a lost connection."""
        rollout = self._rollout
        if rollout is not None and action.item_id in (None, rollout.item["id"]) and action.episode_id in (None, rollout.id):
            return rollout
        if action.item_id is None:
            raise RuntimeError("no episode is open on this connection: call reset, or send item_id and episode_id with the action")
        item = await self._source.item({"item_id": action.item_id})
        return self._begin(ServedRollout(self._source, item, action.episode_id, resumed=True))

    def _begin(self, rollout: ServedRollout) -> ServedRollout:
        self._rollout, self._steps, self._last, self._result = rollout, 0, None, None
        return rollout

    async def _name_item(self, seed: Optional[int], names: Dict[str, Any]) -> Dict[str, Any]:
        """Reads which item a reset asks for: by ID, position, split and index, recipe or seed; none of them is the next item."""
        given = {name: value for name, value in names.items() if value is not None}
        task = given.get("task", given.get("dataset_name"))  # dataset_…: the names of OpenEnv's own environment for the library
        if sum(name in given for name in ("item_id", "position", "split")) + (task is not None) > 1:
            raise ValueError("give only one of item_id, position, split and task: each names an item")
        if "split" in given:
            return await self._source.task(given["split"], given.get("index", -1))
        if task is not None:
            rest = {"config": given.get("config", given.get("dataset_config")), "difficulty": given.get("difficulty")}
            recipe = {"task": task, "seed": seed or 0, "index": given.get("index", 0), **rest}
            return {name: value for name, value in recipe.items() if value is not None}
        if "item_id" in given or "position" in given:
            return given
        return {} if seed is None else await self._source.task("train", seed)

    def _describe(self, rollout: ServedRollout, verdict: Any = None) -> Dict[str, Any]:
        run = {} if self._source.run is None else {"run": self._source.run}
        return {**rollout.describe(verdict), "episode_id": rollout.id, **run}

    @property
    def state(self) -> State:
        rollout = self._rollout
        if rollout is None:
            return State(episode_id=None, step_count=0)
        return State(episode_id=rollout.id, step_count=self._steps, item_id=rollout.item["id"], done=self._result is not None)

    def get_metadata(self) -> EnvironmentMetadata:
        description = "Verifiable reasoning tasks of reasoning-gym: an episode is one question, and a program computes the reward."
        return EnvironmentMetadata(name=self._source.name, description=description, version="0.1.0")

    def list_splits(self) -> List[str]:
        return list(SPLITS)

    async def num_tasks(self, split: str) -> int:
        return await self._source.count(split)

    async def get_task(self, split: str, index: int) -> Dict[str, Any]:
        return await self._source.task(split, index)

    async def list_tasks(self, split: str) -> List[Dict[str, Any]]:
        return await self.get_task_range(split, 0, MAX_LISTED)

    async def get_task_range(self, split: str, start: Optional[int] = None, stop: Optional[int] = None) -> List[Dict[str, Any]]:
        places = range(await self._source.count(split))[start:stop]
        return [await self._source.task(split, place) for place in places]

    def reset(self, *_: Any, **__: Any) -> Question:
        raise NotImplementedError("use reset_async")

    def step(self, *_: Any, **__: Any) -> Question:
        raise NotImplementedError("use step_async")


def build_app(source: ItemSource, *, sessions: int, idle_s: float) -> Any:
    limits = ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle_s)

    def create_environment() -> ReasoningGymEnvironment:
        return ReasoningGymEnvironment(source)

    return create_app(create_environment, Turn, Question, env_name=source.name, concurrency_config=limits)
