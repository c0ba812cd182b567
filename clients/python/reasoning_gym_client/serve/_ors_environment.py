"""The environment that openreward's own server plays: a session is one rollout, which ends with a scored answer."""

# pyright: reportMissingImports=false
# mypy: disable-error-code="import-not-found,misc,untyped-decorator,no-any-return"
# openreward may be missing where types are checked. Its classes and decorators are then Any.
# Without `annotations` of __future__: openreward reads the types of tools at run time.

import json
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Sequence, Tuple

from openreward.environments import Environment, GroupScore, Server, TextBlock, ToolOutput, terminal, tool
from pydantic import BaseModel, Field

from .._trainer import fill_unscored
from ._rollouts import SPLITS, ItemSource, ServedRollout


class Answer(BaseModel):
    answer: Any = Field(description="The answer alone, without explanations.")


class Reply(BaseModel):
    message: str = Field(description="The model's last message.")


class ReasoningGymEnvironment(Environment):
    """The name of the environment is that of the run. A task is a position of the run, an item of a suite, or a recipe."""

    source: ClassVar[ItemSource]

    def __init__(self, task_spec: Mapping[str, Any] = {}, secrets: Dict[str, str] = {}) -> None:
        super().__init__(task_spec, secrets)
        self._rollout: Optional[ServedRollout] = None
        self._last: Optional[Tuple[str, Any]] = None  # name and input of the last call, with its result
        self._output: Any = None
        self._is_repeated = False

    async def setup(self) -> None:
        names = dict(self.task_spec)
        rollout_id = names.pop("rollout_id", None)  # of a rollout that continues in another session
        item = await self.source.item(names)
        self._rollout = ServedRollout(self.source, item, rollout_id, resumed=rollout_id is not None)

    @property
    def rollout(self) -> ServedRollout:
        if self._rollout is None:
            raise RuntimeError("the session has no item yet")
        return self._rollout

    async def get_prompt(self) -> List[TextBlock]:
        return [TextBlock(text=self.rollout.prompt, detail=self._describe(None))]

    @tool
    async def submit_answer(self, given: Answer) -> ToolOutput:
        """Submit the final answer to the question."""
        text = given.answer if isinstance(given.answer, str) else json.dumps(given.answer, ensure_ascii=False)
        # The prompt asks for tags, and a model may keep them in the tool call.
        return await self._submit({"completion" if "<answer>" in text else "answer": text})

    @terminal
    @tool
    async def submit_message(self, given: Reply) -> ToolOutput:
        """Score the model's last message, from which the server extracts the answer."""
        return await self._submit({"completion": given.message})

    async def _submit(self, sample: Dict[str, str]) -> ToolOutput:
        # Trainers take the last reward of a session: null would leave them the 0 of the try before.
        verdict = await self.rollout.submit(sample, unscored="null" if self.rollout.turn == 0 else "mean")
        if verdict["status"] != "scored" and self.rollout.turn == 0:
            verdict = await self.rollout.submit(sample, is_last=True)
        metadata = self._describe(verdict)
        prompt = verdict.get("retry_prompt")
        if prompt is not None:
            return ToolOutput(blocks=[TextBlock(text=prompt)], metadata=metadata, reward=0.0, finished=False)
        if verdict["status"] != "scored":
            text = f"The answer could not be scored: {verdict.get('code')}"
        else:
            text = "\n".join([f"Reward: {verdict['reward']}", *([verdict["feedback"]["text"]] if "feedback" in verdict else [])])
        return ToolOutput(blocks=[TextBlock(text=text)], metadata=metadata, reward=verdict["reward"], finished=True)

    async def _call_tool(self, name: str, input: Mapping[str, Any]) -> Any:
        """A call that is equal to the one before is that call, sent again after a lost response. A second repeat is another turn."""
        call = (name, dict(input))
        if call == self._last and (self._episode_finished or not self._is_repeated):
            self._is_repeated = True
            return self._output
        output = await super()._call_tool(name, input)
        if output.root.ok:
            self._last, self._output, self._is_repeated = call, output, False
        return output

    async def score_group(self, candidates: Sequence[Any]) -> List[GroupScore]:
        """Scores completions of the item outside the rollout. They are not counted. What cannot be scored gets the mean of the others."""
        texts = [_read_last_message(candidate) for candidate in candidates]
        samples = [{"item_id": self.rollout.item["id"], "completion": text} for text in texts]
        verdicts = await self.source.score(samples)
        rewards = [verdict["reward"] for verdict in verdicts]
        if rewards and all(reward is None for reward in rewards):
            raise RuntimeError("no completion of the group could be scored: send it again")
        described = [self._describe(verdict) for verdict in verdicts]
        return [GroupScore(reward=reward, metadata=about) for reward, about in zip(fill_unscored(rewards), described)]

    def _describe(self, verdict: Any) -> Dict[str, Any]:
        unscored = {} if verdict is None else {"unscored": verdict["status"] != "scored"}
        return {**self.rollout.describe(verdict), "rollout_id": self.rollout.id, **unscored}

    @classmethod
    def list_splits(cls) -> Sequence[str]:
        return SPLITS

    @classmethod
    async def list_tasks(cls, split: str) -> List[Dict[str, Any]]:
        return await cls.get_task_range(split)

    @classmethod
    async def num_tasks(cls, split: str) -> int:
        return await cls.source.count(split)

    @classmethod
    async def get_task(cls, split: str, index: int) -> Dict[str, Any]:
        return await cls.source.task(split, index)

    @classmethod
    async def get_task_range(cls, split: str, start: Optional[int] = None, stop: Optional[int] = None) -> List[Dict[str, Any]]:
        places = range(await cls.source.count(split))[start:stop]
        return [await cls.source.task(split, place) for place in places]

    @classmethod
    def name(cls) -> str:
        return cls.source.name


def _read_last_message(candidate: Any) -> str:
    """The visible text of the model's last message."""
    blocks: Sequence[Any] = next((message.blocks for message in reversed(candidate.messages) if message.role == "assistant"), [])
    return "".join(block.text for block in blocks if block.type == "text")


def build_app(source: ItemSource) -> Any:
    ReasoningGymEnvironment.source = source
    return Server([ReasoningGymEnvironment]).app
