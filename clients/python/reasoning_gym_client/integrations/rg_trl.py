"""Live items and rewards of a run for TRL's GRPOTrainer, and for trainers that take its functions (Unsloth, Axolotl).

    from reasoning_gym_client.integrations.rg_trl import lazy_items, reward, rewind_callback

    GRPOTrainer(
        model=…,
        train_dataset=lazy_items("my-run"),
        reward_funcs=reward,
        callbacks=[rewind_callback("my-run")],
        args=GRPOConfig(num_generations=8, shuffle_dataset=False, dataloader_num_workers=0, …),
    )

REASONING_GYM_URL is the address of the server, which may contain the key (`http://trainer:KEY@host:8000`). Configure the run once,
with `group_size` equal to `num_generations`: `Client().run("my-run").put(preset="clean", group_size=8, buffer=False)`.

* Items are requested just before they are used, so their difficulty follows the run's curriculum. A position has the same item in
  every process and after a resume. `shuffle_dataset=False` keeps the order.
* `rewind_callback` tells the run when a step of TRL ends, and how many prompts TRL samples at once: that many items are requested
  together (`generation_batch_size / num_generations`, 8 if a GRPOConfig has 8 generations, a batch of 8 and 8 accumulation steps). Without the callback, each item is requested alone. If the trainer resumes from a checkpoint, it rewinds the run to that step, so
  that curriculum and statistics forget what came later.
* `reward` needs the column `item_id`. It takes the run from the column `run`, else from REASONING_GYM_RUN; without either,
  completions are scored and not counted. In Axolotl, set `trl.reward_funcs: [reasoning_gym_client.integrations.rg_trl.reward]`;
  its rows come from a file (`GET /dataset.jsonl?format=trl`).
* A group that one process has whole is posted whole, and counts for curriculum, statistics, dumps and group penalties. If
  `num_generations` does not divide the batch of a process, groups are split between processes. The server then gathers the parts,
  and only penalties of a single rollout apply. Items of a suite, as in an eval data set, are sent one by one, and the
  run does not count them.
* A completion that could not be scored is None, which GRPOTrainer masks since TRL 1.6.0. Earlier versions and SDPOTrainer turn None
  into 0, so there it gets the mean of its group's other rewards, or of its task in the run if none was scored. While the server is down, calls are retried for five minutes; then
  the exception is raised.
* For GDPO, which normalizes each component of the reward alone, set `reward_funcs=component_rewards()` and
  `GRPOConfig(multi_objective_aggregation="normalize_then_sum")`. With `reward_weights=list(REWARD_COMPONENTS.values())`, their sum
  is the reward.
* With `feedback="rule"` in the run, `reward.feedback` says what is wrong with each completion of this process's last call: a list of
  texts, with None for right completions. Callbacks can read it, and so can reward functions after this one in `reward_funcs`.
* SDPOTrainer takes the same data set, reward and callback. Its feedback comes from the column `privileged_context`, which is
  written before there are completions. `use_feedback(trainer)` gives it the texts of `reward.feedback` instead.
* To get items from an environment instead, set `environment_factory=environment("my-run")`,
  `train_dataset=positions()` and `reward_funcs=reward`. The chat template must support tools, although this environment has none.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import sys
import uuid
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence, Tuple, Union

if importlib.util.find_spec("reasoning_gym_client") is None:  # loaded by path, without the installed package
    sys.path.insert(0, str(Path(__file__).parents[2]))
from reasoning_gym_client import (
    REWARD_COMPONENTS,
    Client,
    Item,
    Positions,
    Verdict,
    fill_unscored,
    group_components,
    is_eval_item,
    resume_run,
    task_mean,
)

__all__ = ["lazy_items", "positions", "environment", "reward", "make_reward", "component_rewards", "rewind_callback", "use_feedback"]

POSITIONS = 1_000_000  #: rows of the endless data set; `max_steps` ends the training
WAIT_S = 120.0  #: seconds to wait for the verdicts of one call
MASKS_NONE_SINCE = (1, 6)  #: the version of TRL that leaves a reward of None out of its group

Completion = Union[str, Sequence[Mapping[str, Any]]]


class RewardFunction(Protocol):
    feedback: List[Optional[str]]  #: what is wrong with each completion of the last call, where the run gives feedback
    components: List[Optional[Dict[str, float]]]  #: of each reward of the last call; None for a reward of None

    def __call__(self, *args: Any, **columns: Any) -> List[Optional[float]]: ...


@lru_cache(maxsize=None)
def _client() -> Client:
    return Client()


_positions: Dict[str, Positions] = {}


def _take(run: str, rows: Sequence[int]) -> List[Item]:
    """The items of the run at these positions. `rewind_callback` says how many to request at once."""
    if run not in _positions:
        _positions[run] = _client().run(run).positions(1)
    return _positions[run].take(rows)


@lru_cache(maxsize=None)
def _group_size(run: str) -> int:
    return int(_client().run(run).get()["settings"]["group_size"])


# Items


def lazy_items(run: str, count: int = POSITIONS) -> Any:
    """A `datasets.Dataset` of the run's items by position: `prompt`, `item_id`, `task`, `run`. Items are requested when read."""

    def fetch(rows: Mapping[str, Sequence[int]]) -> Dict[str, List[Any]]:
        items = _take(run, rows["position"])
        return {
            "prompt": [item["messages"] for item in items],
            "item_id": [item["id"] for item in items],
            "task": [item["task"] for item in items],
            "run": [run for _ in items],
        }

    return _dataset(count).with_transform(fetch)


def positions(count: int = POSITIONS) -> Any:
    """A `datasets.Dataset` with `position` and an empty user message, which the environment fills in."""

    def fetch(rows: Mapping[str, Sequence[int]]) -> Dict[str, List[Any]]:
        return {
            "prompt": [[{"role": "user", "content": ""}] for _ in rows["position"]],
            "position": list(rows["position"]),
        }

    return _dataset(count).with_transform(fetch)


def _dataset(count: int) -> Any:
    return importlib.import_module("datasets").Dataset.from_dict({"position": range(count)})


def environment(run: str) -> Callable[[], Any]:
    """For `environment_factory`: each rollout gets the item at its row's `position`, so members of a group get the same item."""

    class Puzzle:
        """One rollout. It has no tools and no reward of its own: the model answers, and `reward` scores its group."""

        def reset(self, position: int, **row: Any) -> str:
            (self.item,) = _take(run, [position])
            self.run = run
            return "\n\n".join(str(message["content"]) for message in self.item["messages"])

    return Puzzle


# Resume


def rewind_callback(run: str) -> Any:
    """A `TrainerCallback` that ends the steps of the run, and rewinds the run if the trainer resumes from a checkpoint. `lazy_items`
    and `environment` then request the items together that TRL samples at once."""
    base: Any = importlib.import_module("transformers").TrainerCallback

    class Rewind(base):  # type: ignore[misc]
        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            samples = getattr(args, "generation_batch_size", None)  # of some experimental trainers, the number is not known
            if samples is not None:
                _positions[run] = _client().run(run).positions(min(samples // args.num_generations, 1024))
            if state.global_step > 0:
                resume_run(_client().run(run), int(state.global_step))
            elif state.is_world_process_zero:
                _client().run(run).end_step(0)  # the groups that follow belong to step 1, as TRL counts

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if state.is_world_process_zero:
                _client().run(run).end_step(int(state.global_step))

    return Rewind()


# Rewards


def make_reward(run: Optional[str] = None, stop_tokens: Sequence[int] = (), wait_s: float = WAIT_S) -> RewardFunction:
    """A reward function for GRPOTrainer; `reward` is `make_reward()`.

    `run`: counts the rollouts in this run instead of the one of their rows. `stop_tokens`: IDs of the tokens that end a completion,
    such as `[tokenizer.eos_token_id]`; they show which completions the token limit has cut. `wait_s`: seconds to wait for verdicts.
    """

    def reasoning_gym(
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        completion_ids: Optional[Sequence[Sequence[int]]] = None,
        **columns: Any,
    ) -> List[Optional[float]]:
        rows = _rows(len(completions), columns, run)
        rollouts = [
            _rollout(completion, None if completion_ids is None else completion_ids[k], stop_tokens)
            for k, completion in enumerate(completions)
        ]
        groups = [list(members) for _, members in groupby(range(len(rows)), key=lambda k: rows[k])]
        masks = _masks_none(columns)
        verdicts = _score(rows, rollouts, groups, wait_s, "null" if masks else "mean")
        _log(verdicts, columns.get("log_metric"))
        reasoning_gym.feedback = [verdict.get("feedback", {}).get("text") for verdict in verdicts]
        rewards = [verdict.get("reward") for verdict in verdicts]
        reasoning_gym.components = [verdict.get("components") for verdict in verdicts]
        if not masks:
            for group in groups:
                item_id, name = rows[group[0]]
                counted = None if name is None else _client().run(name)
                mean = partial(task_mean, counted, item_id)
                numbers = fill_unscored([rewards[k] for k in group], mean)
                for k, filled, parts in zip(group, numbers, group_components([verdicts[k] for k in group], numbers)):
                    rewards[k], reasoning_gym.components[k] = filled, parts
        return rewards

    reasoning_gym.feedback, reasoning_gym.components = [], []
    return reasoning_gym


reward = make_reward()


def component_rewards(source: RewardFunction = reward) -> List[Callable[..., List[Optional[float]]]]:
    """One reward function for each of REWARD_COMPONENTS. Keep their order: the first one scores the completions."""

    def build(name: str, is_first: bool) -> Callable[..., List[Optional[float]]]:
        def component(*args: Any, **columns: Any) -> List[Optional[float]]:
            if is_first:
                source(*args, **columns)
            return [None if parts is None else parts[name] for parts in source.components]

        component.__name__ = name  # TRL's metrics have this name
        return component

    return [build(name, k == 0) for k, name in enumerate(REWARD_COMPONENTS)]


def use_feedback(trainer: Any, source: RewardFunction = reward) -> None:
    """Has an SDPOTrainer show its teacher the server's feedback on each completion. `source`: the trainer's reward function.

    A completion has feedback where the run has `feedback="format"` or `"rule"` and its score is below 1.
    """
    builder = trainer.teacher_context_builder
    build = builder.build

    def build_with_feedback(output: Any, prompts: Any, rewards: Any, feedbacks: Any = None) -> Any:
        return build(output, prompts, rewards, feedbacks=source.feedback)

    builder.build = build_with_feedback
    trainer.args.include_environment_feedback = True


Row = Tuple[str, Optional[str]]  # the item's ID and the run


def _rows(count: int, columns: Mapping[str, Any], run: Optional[str]) -> List[Row]:
    puzzles = columns.get("environments")
    if "item_id" in columns:
        item_ids = list(columns["item_id"])
        runs = list(columns.get("run") or [os.environ.get("REASONING_GYM_RUN")] * count)
    elif puzzles is not None:
        item_ids, runs = [puzzle.item["id"] for puzzle in puzzles], [puzzle.run for puzzle in puzzles]
    else:
        raise KeyError("the data set has no column item_id; remove_unused_columns=False keeps it")
    return list(zip(item_ids, runs if run is None else [run] * count))


def _rollout(completion: Completion, tokens: Optional[Sequence[int]], stop_tokens: Sequence[int]) -> Dict[str, Any]:
    rollout: Dict[str, Any] = {"completion" if isinstance(completion, str) else "messages": completion}
    if tokens is not None:
        rollout["length_tokens"] = len(tokens)
        if stop_tokens:
            rollout["finish_reason"] = "stop" if len(tokens) > 0 and int(tokens[-1]) in stop_tokens else "length"
    return rollout


def _score(
    rows: Sequence[Row], rollouts: Sequence[Dict[str, Any]], groups: Sequence[List[int]], wait_s: float, unscored: str
) -> List[Verdict]:
    """The verdict of each rollout: whole groups are posted to their run, the others are scored one by one. `unscored`: as in
    `Client.samples`, because only the server knows the rest of a group that is not whole."""
    verdicts: List[Verdict] = [{"status": "unscored", "reward": None} for _ in rows]
    kinds = [(run, run is not None and not is_eval_item(item_id)) for item_id, run in rows]
    for run, counts in set(kinds):
        ours = [group for group in groups if kinds[group[0]] == (run, counts)]
        whole = [group for group in ours if counts and _is_whole(run or "", group)]
        parts = [k for group in ours if group not in whole for k in group]
        if run is not None and whole:
            _post(run, whole, rows, rollouts, wait_s, verdicts)
        if parts:
            samples = [{"item_id": rows[k][0], "rollout_id": uuid.uuid4().hex, **rollouts[k]} for k in parts]
            mode = unscored if counts else "null"
            for k, verdict in zip(parts, _client().samples(samples, run=run, adapter="trl", unscored=mode)["verdicts"]):
                verdicts[k] = verdict
    return verdicts


def _is_whole(run: str, group: Sequence[int]) -> bool:
    return os.environ.get("WORLD_SIZE", "1") == "1" or len(group) == _group_size(run)


def _post(
    run: str, groups: Sequence[List[int]], rows: Sequence[Row],
    rollouts: Sequence[Dict[str, Any]], wait_s: float, verdicts: List[Verdict],
) -> None:
    """Fills in the verdicts of the groups. A group that is not scored in time keeps what it has: unscored."""
    call = uuid.uuid4().hex  # identical completions that are sampled again later form another group
    posted = _client().run(run).post_many(
        [
            {
                "item_id": rows[group[0]][0],
                "group_id": f"{call}-{group[0]}",
                "buffer": False,
                "rollouts": [rollouts[k] for k in group],
            }
            for group in groups
        ],
        wait_s=wait_s,
    )
    for group, answer in zip(groups, posted):
        for k, verdict in zip(group, answer.get("verdicts", [])):
            verdicts[k] = verdict


def _log(verdicts: Sequence[Verdict], log_metric: Optional[Callable[[str, float], None]]) -> None:
    """Logs shares of this batch beside TRL's own metrics."""
    if log_metric is None or not verdicts:
        return
    scored = [verdict for verdict in verdicts if verdict["status"] == "scored"]
    log_metric("reasoning_gym/unscored", 1 - len(scored) / len(verdicts))
    for fault in ("no_answer", "invalid_answer"):
        log_metric(f"reasoning_gym/{fault}", sum(v.get("fault") == fault for v in scored) / len(verdicts))
    if scored:
        log_metric("reasoning_gym/score", sum(v.get("score") or 0.0 for v in scored) / len(scored))


def _masks_none(columns: Mapping[str, Any]) -> bool:
    """Whether the caller masks None. SDPOTrainer does not, and gives its state but no `log_metric`."""
    return _trl_masks_none() and ("trainer_state" not in columns or "log_metric" in columns)


@lru_cache(maxsize=None)
def _trl_masks_none() -> bool:
    """Whether the installed TRL masks None. If TRL is not installed, the caller is another program and gets None."""
    try:
        version = importlib.metadata.version("trl")
    except importlib.metadata.PackageNotFoundError:
        return True
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) >= MASKS_NONE_SINCE
