"""An Inspect task whose samples and scores come from the server.

    export REASONING_GYM_URL=http://evaluator:KEY@host:8000
    FILE=$(python -c "import reasoning_gym_client as c; print(c.__path__[0])")/integrations/rg_inspect.py
    inspect eval $FILE@reasoning_gym -T suite=original --model openai/…
    inspect eval $FILE@reasoning_gym -T tasks=leg_counting,chain_sum -T n=20 -T difficulty=0.5 --model openai/…

Omit `@reasoning_gym` only if the path is relative to the current directory. A suite is a frozen list of items (`GET
/eval/suites`), which any key may read. Items of your own recipe (`-T tasks=…`) need a key with the trainer role. `-T extraction=…`
and `-T scoring=…` set the options of `POST /score`.

A completion that could not be scored is unscored in Inspect too (`Score.unscored`, or NaN in releases without it), so the mean
excludes it. `answer` is the answer extracted from the completion. The standard error is clustered by task.
"""

# mypy: disable-error-code="import-not-found,untyped-decorator,no-any-return"
# The trainer's package may be missing where types are checked. Its classes and decorators are then Any.

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from reasoning_gym_client import Item, TrainerClient, Verdict, in_thread

ITEMS_AT_ONCE = 16

_ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


@task
def reasoning_gym(
    suite: str = "original",
    tasks: Optional[Union[str, Sequence[str]]] = None,
    n: int = 10,
    difficulty: Optional[float] = None,
    seed: int = 0,
    extraction: Optional[str] = None,
    scoring: Optional[str] = None,
    url: Optional[str] = None,
) -> Task:
    """The items of a suite or, with `tasks`, `n` items of each task at one difficulty (0 to 1; None: the library's defaults)."""
    server = TrainerClient("inspect", url=url)
    items = _suite(server, suite) if tasks is None else _recipes(server, tasks, n, difficulty, seed)
    rules = {name: rule for name, rule in (("extraction", extraction), ("scoring", scoring)) if rule is not None}
    return Task(
        dataset=MemoryDataset([_sample(item) for item in items], name=suite if tasks is None else "reasoning-gym"),
        solver=generate(),
        scorer=verdict_of_server(url, rules),
    )


def _suite(server: TrainerClient, suite: str) -> List[Item]:
    recipes = server.client.call("GET", f"/eval/suites/{suite}")["recipes"]
    with ThreadPoolExecutor(ITEMS_AT_ONCE) as threads:
        return list(threads.map(lambda recipe: server.client.item(recipe["id"]), recipes))


def _recipes(
    server: TrainerClient, tasks: Union[str, Sequence[str]], n: int, difficulty: Optional[float], seed: int
) -> List[Item]:
    names = tasks.split(",") if isinstance(tasks, str) else tasks
    return [item for name in names for item in server.client.make(name, difficulty=difficulty, seed=seed, count=n)]


def _sample(item: Item) -> Sample:
    return Sample(
        id=item["id"],
        input=[_message(message) for message in item["messages"]],
        metadata={"task": item["task"], "category": item["category"], "difficulty": item.get("difficulty")},
    )


def _message(message: Mapping[str, Any]) -> ChatMessage:
    return _ROLES[message["role"]](content=message["content"])


@scorer(metrics=[mean(), stderr(cluster="task")])
def verdict_of_server(url: Optional[str] = None, rules: Optional[Dict[str, str]] = None) -> Scorer:
    """The server's score in [0, 1]. Raises if the server is down for 10 minutes, so that the sample is an error and not a 0."""
    server = TrainerClient("inspect", url=url)

    def ask(item_id: str, completion: str) -> Verdict:
        if not rules:
            return server.client.sample(item_id, completion, adapter="inspect")
        rollouts = [{"item_id": item_id, "completion": completion}]
        return server.client.score(rollouts, extraction=rules.get("extraction"), scoring=rules.get("scoring"))["verdicts"][0]

    async def score(state: TaskState, target: Target) -> Score:
        verdict: Verdict = await in_thread(ask, str(state.sample_id), state.output.completion)
        metadata = {name: verdict[name] for name in ("fault", "code") if verdict.get(name)}
        if verdict["status"] != "scored":
            return _unscored(verdict["detail"], metadata)
        return Score(value=float(verdict["score"] or 0.0), answer=verdict["answer"], metadata=metadata)

    return score


def _unscored(explanation: str, metadata: Dict[str, Any]) -> Score:
    if hasattr(Score, "unscored"):
        return Score.unscored(explanation=explanation, metadata=metadata)
    return Score(value=float("nan"), explanation=explanation, metadata=metadata)
