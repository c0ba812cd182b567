"""The client: a server, and its runs."""

# mypy: disable-error-code="no-any-return"
# Results are parsed JSON. The server guarantees that they match the TypedDicts; the type checker cannot verify it.

from __future__ import annotations

import json
import os
import ssl
import threading
import time
from collections import OrderedDict
from types import ModuleType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    Mapping,
    Optional,
    Sequence,
    Union,
    cast,
)

from ._codec import _chunks, _given, _once_key, _path, _with_arrays, _with_completion
from ._env import environment_url
from ._errors import NotReady, Problem, ReasoningGymError, RunLost
from ._frames import mean_and_error, to_dataset, to_frame
from ._metrics_log import MetricsLog, Sink
from ._models import Batch, Collection, Eval, Group, Item, Message, PostedGroup, Rollout, Scores, Verdict
from ._progress import Progress
from ._retry import _BATCH_WAIT_S, _POLL_PAUSE_S, _WAIT_MOST_S, _count, _seconds
from ._wire import _Wire

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import (
        CallerInfo, CurriculumPoint, DumpFile, EvalComparison, EvalItem, EvalSample, FailedJob, FlippedItem, Flow,
        Overview, RetainedGroup, Rescore, RescoreSettings, RetriedJob, RunMark, RunMix, RunSummary, SettingsChange,
        StartedDemo, Suite, SuiteSummary, TaskDetail, TaskMetrics, TaskSelection, TaskSummary, TaskValidation,
        UpdatedRun,
    )


class Client:
    """A connection to one server. Threads can share it.

    Args:
        url: URL of the server, with `https` and a path prefix if it has one. It may contain the API key
            (`http://trainer:KEY@host:8000`). Default: REASONING_GYM_URL, or else http://127.0.0.1:8000.
        api_key: Key to send as `Authorization: Bearer …`. Default: the key in the URL, or else REASONING_GYM_API_KEY.
        timeout_s: Timeout of one request in seconds, in addition to the time that the call waits on the server.
        retry_for_s: Time in seconds for retries while the server is unreachable, busy or full. 0 turns retries off.
        deadline_s: Time limit of a call in seconds, including retries and waits. None: no limit.
        gzip_above: Size in bytes above which a request body is compressed. None: never.
        ssl_context: SSL context, for example for your own certificates.
        connect_for_s: Time in seconds in which the first request must get a response, if that is less than `retry_for_s`. A wrong
            address then fails soon, and a server that restarts later does not end a training.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        api_key: Optional[str] = None,
        timeout_s: float = 60.0,
        retry_for_s: float = 300.0,
        deadline_s: Optional[float] = None,
        gzip_above: Optional[int] = 256 * 1024,
        ssl_context: Optional[ssl.SSLContext] = None,
        connect_for_s: float = 10.0,
    ) -> None:
        self._wire = _Wire(
            url or environment_url(), api_key, timeout_s, retry_for_s, deadline_s, gzip_above, ssl_context, connect_for_s
        )

    def __repr__(self) -> str:
        return f"Client({self._wire.url!r})"

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection of this thread. The client remains usable."""
        self._wire.close()

    def run(self, name: str = "default", *, incarnation: Optional[str] = None, require_run: bool = True) -> "Run":
        """Returns the run of this name without a request. `put` creates it, or for `default`, the first call.

        After `put` or `restore`, or if you pass `incarnation`, calls apply only to this incarnation of the run. If the server
        has lost it, they raise RunLost instead of creating a new run with default settings.

        Args:
            name: Name of the run.
            incarnation: Expected incarnation, the field of that name in `Run.get()`.
            require_run: False turns the check of the incarnation off.
        """
        return Run(self, name, incarnation=incarnation, require_run=require_run)

    def fork(
        self,
        run: str,
        name: str,
        *,
        step: Optional[int] = None,
        settings: Optional[Mapping[str, Any]] = None,
    ) -> "Run":
        """Creates a run from the state of another one, now or after a step, and returns it. A repeated call finds the fork.

        Args:
            run: Name of the run to fork.
            name: Name of the new run.
            step: Step after which the fork begins, one of the last 1,000. Default: the present state.
            settings: Settings that differ from those of the run. Other tasks take effect from the next item on.
        """
        body = _given(name=name, step=step, settings=settings)
        fork = self.run(name)
        fork._configured(self._post(_path("runs", run, "fork"), body))
        return fork

    def runs(
        self,
        *,
        q: Optional[str] = None,
        state: Optional[str] = None,
        has_warnings: Optional[bool] = None,
        archived: bool = False,
        sort: str = "name",
    ) -> Iterator[RunSummary]:
        """Yields a summary of each run, page by page. `Run.get()` has everything about one.

        Args:
            q: Only runs with each of these words in the name or the settings, such as tags, notes and tasks.
            state: Only runs in this state, such as "idle".
            has_warnings: Only runs with warnings, or if False only those without.
            archived: Also yields the archived runs.
            sort: "name", or "activity" for the most recently used first.
        """
        cursor = None
        while True:
            query = {"q": q, "state": state, "has_warnings": has_warnings, "archived": archived, "sort": sort}
            page = self._get("/runs", **query, limit=200, cursor=cursor)
            yield from page["runs"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def start_demo(self, *, steps: Optional[int] = None, tasks: Optional[Sequence[str]] = None, run: Optional[str] = None) -> StartedDemo:
        """Starts a demo, which trains a simulated model on a new run. Returns its `run`, its `steps` and its page on the `dashboard`.

        Args:
            tasks: Tasks to train on, such as a custom task.
        """
        return self._post("/demo", _given(steps=steps, tasks=None if tasks is None else list(tasks), run=run))

    # Tasks and items

    def whoami(self) -> CallerInfo:
        """Returns the `role` of the API key, the `runs` that it is bound to (None for all), and the last characters of the `key`."""
        return self._get("/whoami")

    def tasks(self, *, category: Optional[str] = None, q: Optional[str] = None) -> List[TaskSummary]:
        """Lists the tasks (`name`, `category`, `credit`, `rungs`, …), optionally only those of a category or matching `q`."""
        return self._get("/tasks", category=category, q=q)["tasks"]

    def task(self, name: str) -> TaskDetail:
        """Returns one task with its config schema, difficulty ladder, measurements and an example."""
        return self._get(_path("tasks", name))

    def task_validation(self, name: str, *, scoring: Optional[str] = None) -> TaskValidation:
        """Returns how often the verifier of a task is right, and the checks of OpenEnv's RFC 008 (of hardened scoring by default)."""
        return self._get(_path("tasks", name, "validation"), scoring=scoring)

    def make(
        self,
        task: str,
        *,
        config: Optional[Mapping[str, Any]] = None,
        difficulty: Optional[float] = None,
        seed: Optional[int] = None,
        index: Optional[int] = None,
        count: Optional[int] = None,
        seeds: Optional[Sequence[int]] = None,
    ) -> List[Item]:
        """Creates items from a recipe.

        Args:
            task: Name of the task.
            config: Config fields that differ from the library's defaults. Mutually exclusive with `difficulty`.
            difficulty: Difficulty from 0 to 1.
            seed: Seed of the items.
            index: Index of the first item.
            count: Number of consecutive items.
            seeds: Seeds of the items, one item each, in place of `seed` and `count`.

        Returns:
            The items. The server omits an item that the library cannot create at its seed. The `recipe` of each item holds its
            seed and index.
        """
        body = _given(
            task=task, config=config, difficulty=difficulty, seed=seed, index=index, count=count, seeds=seeds
        )
        return self._post("/items", body)["items"]

    def item(self, item_id: str, *, run: Optional[str] = None, reveal: bool = False) -> Item:
        """Returns the item with this ID, with the prompt of `run`. `reveal` adds `answer` and `metadata` (role admin)."""
        return self._get(_path("items", item_id), run=run, reveal="true" if reveal else None)

    def find_item(self, text: str) -> Item:
        """Returns the item whose question is in `text`, of those handed out in the last two hours, with its answer. Needs the role admin."""
        return self._post("/items/find", {"text": text})

    def dataset_rows(self, suite: Optional[str] = None, **query: Any) -> Iterator[Dict[str, Any]]:
        """Yields rows with prompts and item IDs, without answers. The same arguments always give the same rows.

        Args:
            suite: Yields the items of this frozen suite, in place of new ones.
            **query: `tasks` (a list of names, or one text with commas), `count` (1,000), `seed`, `difficulty`, `run` (its settings apply), `from`
                (first row) and `format` (`hf`, `trl`, `verl` and others).
        """
        path = "/dataset.jsonl" if suite is None else _path("eval", "suites", suite, "dataset.jsonl")
        tasks = query.get("tasks")
        if isinstance(tasks, (list, tuple)):
            query["tasks"] = ",".join(tasks)
        return _objects(self._wire.stream(path, query=query))

    def dataset(self, suite: Optional[str] = None, *, format: str = "trl", **query: Any) -> Any:
        """Returns a `datasets.Dataset` with the columns `prompt`, `item_id`, `task`, `category` and `difficulty`, for example.

        The columns depend on `format`. See `dataset_rows` for the arguments. Requires the package datasets.
        """
        rows = list(self.dataset_rows(suite, **{"format": format, **query}))
        return to_dataset(rows)

    # Rewards

    def score(
        self,
        rollouts: Sequence[Mapping[str, Any]],
        *,
        extraction: Optional[str] = None,
        dual_format: Optional[bool] = None,
        scoring: Optional[str] = None,
        stop: Optional[str] = None,
        opens_thinking: Optional[bool] = None,
        feedback: Optional[str] = None,
        try_discount: Optional[float] = None,
        detail: str = "verdicts",
    ) -> Scores:
        """Scores completions without storing them.

        Args:
            rollouts: Completions of any number, each with `item_id` or `recipe`, and `completion`, `messages`, `answer` or
                `turns`.
            extraction: How to find the answer: `strict` (default), `last_tag`, `tag_or_boxed` or `bare`.
            dual_format: Whether to score the answer both as it stands and in answer tags, and use the higher score (default).
            scoring: `upstream` (default) or `hardened`.
            stop: `</answer>` if the sampler cuts this stop string off.
            opens_thinking: Whether the prompt ends in `<think>`.
            feedback: `none` (default), `format` or `rule`: what verdicts say about wrong answers.
            try_discount: Factor on the reward for each turn before the one that decides.
            detail: `verdicts`, or `rewards` to omit the verdicts.

        Returns:
            Rewards and verdicts in the order of `rollouts`.
        """
        rules = _given(
            extraction=extraction,
            dual_format=dual_format,
            scoring=scoring,
            stop=stop,
            opens_thinking=opens_thinking,
            feedback=feedback,
            try_discount=try_discount,
            detail=detail,
        )
        total: Scores = cast("Scores", {"rewards": []}) if detail == "rewards" else {"rewards": [], "verdicts": []}
        for some in _chunks(rollouts, 4096):
            scores = self._post("/score", {"rollouts": list(some), **rules})
            total["rewards"] += scores["rewards"]
            if "verdicts" in total:
                total["verdicts"] += scores["verdicts"]
        return total

    def rewards(
        self, item_ids: Sequence[str], completions: Sequence[Union[str, Sequence[Message], None]], **rules: Any
    ) -> List[Optional[float]]:
        """Returns one reward per completion, for use as a plain reward function.

        Args:
            item_ids: Item IDs.
            completions: One completion per item ID, as text or as messages; None where the generation failed.
            **rules: `extraction`, `dual_format`, `scoring`, `stop` and `opens_thinking`, as in `score`.

        Returns:
            Rewards in the same order. A reward is None if the server could not score the completion.
        """
        if len(item_ids) != len(completions):
            raise ValueError(f"expected one completion per item ID: {len(item_ids)} item IDs, {len(completions)} completions")
        rollouts = [
            {"item_id": item_id, "completion" if isinstance(text, str) else "messages": text}
            for item_id, text in zip(item_ids, completions)
            if text is not None
        ]
        rewards = iter(self.score(rollouts, detail="rewards", **rules)["rewards"])
        return [None if text is None else next(rewards) for text in completions]

    def sample(
        self,
        item_id: str,
        completion: Union[str, Sequence[Message], None],
        *,
        run: Optional[str] = None,
        rollout_id: Optional[str] = None,
        length_tokens: Optional[int] = None,
        finish_reason: Optional[str] = None,
        turns: Optional[Sequence[str]] = None,
        adapter: str = "python",
        unscored: str = "null",
    ) -> Verdict:
        """Scores one completion (text or messages), for trainers that score one at a time. See `samples`. `turns`: the texts of
        several tries, of which `completion` is the last."""
        sample = _given(
            item_id=item_id, rollout_id=rollout_id, length_tokens=length_tokens, finish_reason=finish_reason, turns=turns
        )
        if turns is None:
            sample["completion" if isinstance(completion, str) else "messages"] = completion
        return self.samples([sample], run=run, adapter=adapter, unscored=unscored)["verdicts"][0]

    def samples(
        self, samples: Sequence[Mapping[str, Any]], *, run: Optional[str] = None,
        adapter: str = "python", feedback: Optional[str] = None, unscored: str = "null",
    ) -> Scores:
        """Scores single completions that do not arrive as groups.

        If you have all rollouts of an item, use `Run.post` instead: length penalties and advantages need the whole group.

        Args:
            samples: Each is `{"item_id", "completion" or "messages" or "answer" or "turns", "rollout_id", "length_tokens",
                "finish_reason"}`. Give each rollout of a run its own `rollout_id`, so that a repeated call counts once.
            run: Run whose settings apply. The server gathers the samples of an item into a group of this run, which moves the
                curriculum. None: the samples are only scored.
            adapter: Name of the trainer, for the usage statistics.
            feedback: `none`, `format` or `rule`: what verdicts say about wrong answers. None: as the run says.
            unscored: Reward of a sample that could not be scored: "null" (None), or "mean", the mean reward of its
                complete group, for which the call waits up to 30 s, else of its task in the run (503 while there is none); 0 for an item of
                a suite, except `easy-*` and `hard-*`.

        Returns:
            Rewards and verdicts in the order of `samples`. A sample is `unscored`, and raises no error, if its item ID cannot be read or
            its completion is None, for a generation that failed. Any other invalid sample raises Problem for the whole call.
        """
        path = "/samples" if run is None else _path("runs", run, "samples")
        total: Scores = {"rewards": [], "verdicts": []}
        for some in _chunks(samples, 1024):
            body = {"adapter": adapter, "unscored": unscored, "samples": [_with_completion(one) for one in some]}
            scores = self._post(path, {**body, **_given(feedback=feedback)})
            total["rewards"] += scores["rewards"]
            total["verdicts"] += scores["verdicts"]
        return total

    # Evals

    def suites(self) -> List[SuiteSummary]:
        """Lists the frozen suites."""
        return self._get("/eval/suites")["suites"]

    def start_eval(
        self, suite: Union[str, Mapping[str, Any]], model: Optional[Mapping[str, Any]] = None, **settings: Any
    ) -> Eval:
        """Starts an eval.

        Args:
            suite: Name of a suite (see `suites`), or a dict that selects tasks.
            model: `{"name", "base_url", "api_key"}` of a model behind an OpenAI-compatible API. None: you submit the
                completions yourself with `complete_eval`.
            **settings: `twin`, `samples_per_item`, `temperature`, `max_tokens`, `top_p`, `request`, `concurrency`, `extraction`,
                `scoring`, `system_prompt`, `run`, `step` and `labels`.
        """
        return self._post("/eval", {"suite": suite, "model": model, **settings}, headers=_once_key())

    def eval(self, eval_id: str) -> Eval:
        """Returns the current state of an eval."""
        return self._get(_path("eval", eval_id))

    def evals(self, **query: Any) -> List[Eval]:
        """Lists evals, newest first. Filters: `run`, `suite`, `label`, `model` and `q` (words in their names)."""
        return self._get("/eval", **query)["evals"]

    def compare_evals(self, a: str, b: str) -> EvalComparison:
        """Returns the paired comparison of two evals on the same suite, in total and by task."""
        return self._get("/eval/compare", a=a, b=b)

    def flipped_items(
        self, a: str, b: str, *, task: Optional[str] = None, right_in: Optional[str] = None, limit: Optional[int] = None
    ) -> List[FlippedItem]:
        """Lists the items that one of two evals answers correctly and the other does not, with both answers.

        Args:
            a: ID of the first eval.
            b: ID of the second eval.
            task: Lists only items of this task.
            right_in: `"a"` or `"b"`: lists only items that this eval answers correctly.
            limit: Maximum number of items.
        """
        query = {"a": a, "b": b, "task": task, "right_in": right_in, "limit": limit}
        return self._wire.call("GET", "/eval/compare/items", query=query).lines()

    def follow_eval(
        self,
        eval_id: str,
        on_progress: Optional[Callable[[Eval], None]] = None,
        *,
        every_s: float = 1.0,
        timeout_s: Optional[float] = None,
        progress: Optional[bool] = None,
    ) -> Eval:
        """Waits until the eval ends, whatever its status, and returns it.

        Args:
            eval_id: ID of the eval.
            on_progress: Called with the state of the eval every `every_s` seconds.
            every_s: Interval of the requests in seconds.
            timeout_s: Timeout in seconds. None: no timeout.
            progress: Whether to show a progress bar, which needs tqdm. None: in a terminal or a notebook.

        Raises:
            ReasoningGymError: The eval has not ended within `timeout_s`.
        """
        return self._follow(lambda: self.eval(eval_id), on_progress, every_s, timeout_s, progress)

    def cancel_eval(self, eval_id: str) -> None:
        """Cancels an eval. The server keeps its finished samples."""
        self._wire.call("DELETE", _path("eval", eval_id))

    def delete_eval(self, eval_id: str) -> None:
        """Deletes an eval that has ended, with everything that the server stores of it. Does nothing if there is none."""
        try:
            self._wire.call("DELETE", _path("eval", eval_id), query={"ended": "true"})
        except Problem as problem:
            if problem.code != "unknown_eval":
                raise

    def eval_samples(self, eval_id: str, **query: Any) -> Iterator[EvalSample]:
        """Yields the samples of an eval, page by page.

        Args:
            eval_id: ID of the eval.
            **query: `task`, `show` ("wrong", "right", "faults", "truncated" or "unscored"), `q` (text to find), `sort`
                ("suite" or "worst") and `expected` (adds the expected answers, once the eval has ended).
        """
        cursor = None
        while True:
            page = self._get(_path("eval", eval_id, "samples"), **{"limit": 200, **query, "cursor": cursor})
            yield from page["samples"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def average_runs(
        self, runs: Sequence[str], metric: str = "reward/mean", *, task: Optional[str] = None
    ) -> List[Dict[str, Any]]:
        """Returns the mean of a metric over several runs, such as the seeds of an experiment: a row for each step.

        A row has `step`, `mean`, its standard error `stderr` (None for a single run), and the number of `runs` with the step.

        Args:
            runs: Names of the runs.
            metric: Name of the metric, as in `Run.metrics`.
            task: Takes the metric of this task.
        """
        values: Dict[int, List[float]] = {}
        for name in runs:
            query = {"by": "task" if task else None}
            for row in self._wire.call("GET", _path("runs", name, "metrics"), query=query).lines():
                if row.get("task") == task and metric in row and "step" in row:
                    values.setdefault(row["step"], []).append(row[metric])
        return [{"step": step, **mean_and_error(at)} for step, at in sorted(values.items())]

    def eval_frame(self, eval_id: str, **query: Any) -> Any:
        """Returns the samples of an eval as a pandas.DataFrame, one row per sample. See `eval_samples` for the filters."""
        rows = list(self.eval_samples(eval_id, **query))
        return to_frame(rows, "sample_id")

    def eval_sample(self, eval_id: str, sample_id: str) -> EvalSample:
        """Returns one sample of an eval, with its expected answer if the key may see it."""
        return self._get(_path("eval", eval_id, "samples", sample_id))

    def eval_items(self, eval_id: str, *, rank: Optional[int] = None, ranks: Optional[int] = None) -> List[EvalItem]:
        """Returns the samples (`sample_id`, `item_id`, `messages`) of an eval without a model, or a rank's share."""
        total = self.eval(eval_id)["progress"]["total"]
        items: List[EvalItem] = []
        for start in range(0, len(range(rank or 0, total, ranks or 1)), 500):  # thousands of items take a while to create
            share = {"rank": rank, "ranks": ranks, "from": start, "count": 500}
            items += self._get(_path("eval", eval_id, "items"), **share)["items"]  # fewer where an item cannot be made
        return items

    def complete_eval(self, eval_id: str, completions: Sequence[Mapping[str, Any]], *, at_once: int = 512) -> Any:
        """Submits completions to an eval without a model. A sample counts once, even if you submit it again.

        Args:
            eval_id: ID of the eval.
            completions: Each is `{"sample_id", "completion" or "messages", "finish_reason", "length_tokens"}`.
            at_once: Maximum number of completions per request.
        """
        answer = None
        for some in _chunks(completions, at_once):
            answer = self._post(_path("eval", eval_id, "completions"), {"completions": [_with_completion(one) for one in some]})
        return answer

    def finish_eval(self, eval_id: str) -> Eval:
        """Ends an eval without a model. Samples without a completion count as missing, not as wrong."""
        return self._post(_path("eval", eval_id, "finish"), None)

    def evaluate(
        self,
        generate: Callable[[List[List[Message]]], Sequence[Optional[str]]],
        suite: Union[str, Mapping[str, Any]],
        *,
        at_once: int = 64,
        timeout_s: Optional[float] = 3600,
        progress: Optional[bool] = None,
        **settings: Any,
    ) -> Eval:
        """Evaluates a model that you run yourself.

        Args:
            generate: Takes a list of conversations and returns one completion per conversation, in the same order; None if it failed.
            suite: Name of a suite (see `suites`), or a dict that selects tasks.
            at_once: Maximum number of conversations per call of `generate`.
            timeout_s: Time in seconds to wait for the results after the last completion. None: no timeout.
            progress: Whether to show a progress bar, which needs tqdm. None: in a terminal or a notebook.
            **settings: Settings of `start_eval`.
        """
        eval_id = self.start_eval(suite, None, **settings)["id"]
        items = self.eval_items(eval_id)
        bar, done = Progress("evaluate", len(items), progress), 0
        try:
            for some in _chunks(items, at_once):
                texts = generate([item["messages"] for item in some])
                if len(texts) != len(some):
                    raise ValueError(f"expected one completion per conversation: {len(some)} conversations, {len(texts)} completions")
                self.complete_eval(eval_id, [{"sample_id": one["sample_id"], "completion": text} for one, text in zip(some, texts)])
                done += len(some)
                bar.show(done)
        finally:
            bar.close()
        self.finish_eval(eval_id)
        return self.follow_eval(eval_id, timeout_s=timeout_s, progress=False)

    def resume_eval(self, eval_id: str, *, api_key: Optional[str] = None) -> Eval:
        """Continues an eval that failed or was cancelled. `api_key` is the key of the model's API."""
        return self._post(_path("eval", eval_id, "resume"), _given(api_key=api_key))

    def eval_events(self, eval_id: str) -> Iterator[Dict[str, Any]]:
        """Yields the states of an eval as they change, until it ends."""
        return _events(self._wire.stream(_path("eval", eval_id, "events")))

    def eval_report(self, eval_id: str) -> str:
        """Returns the report on an eval as Markdown."""
        return self._report(_path("eval", eval_id, "report"))

    def eval_hub_results(self, eval_id: str, dataset: str, *, task_id: Optional[str] = None) -> str:
        """Returns the result of an eval as YAML for the folder `.eval_results/` of the model's repository on the Hugging Face hub.

        `dataset` is the ID of the benchmark on the hub, and `task_id` the task in its `eval.yaml` (default: the name of the suite).
        """
        return self._report(_path("eval", eval_id, "hub-results"), dataset=dataset, task_id=task_id)

    def suite(self, name: str) -> Suite:
        """Returns one frozen suite."""
        return self._get(_path("eval", "suites", name))

    def _report(self, path: str, **query: Any) -> str:
        return self._wire.call("GET", path, query=query).body.decode()

    # Dumps and data sets

    def dumps(self, *, run: Optional[str] = None) -> List[DumpFile]:
        """Lists the dumps of all runs, or of one."""
        return self._get("/dumps", run=run)["files"]

    def dump(self, name: str) -> Iterator[Dict[str, Any]]:
        """Yields the groups of a dump."""
        return _objects(self._wire.stream(_path("dumps", name)))

    def delete_dump(self, name: str) -> None:
        """Deletes a dump."""
        self._wire.call("DELETE", _path("dumps", name))

    # For operators

    def failed_jobs(self, *, limit: Optional[int] = None) -> List[FailedJob]:
        """Lists the failed jobs of the server."""
        return self._get("/jobs/failed", limit=limit)["jobs"]

    def retry_job(self, job_id: str) -> RetriedJob:
        """Runs a failed job again."""
        return self._post(_path("jobs", "failed", job_id, "retry"), None)

    def overview_events(self) -> Iterator[Dict[str, Any]]:
        """Yields the state of the server and its runs as it changes. It never ends by itself."""
        return _events(self._wire.stream("/events"))

    def server_metrics(self) -> str:
        """Returns the metrics of the server in the text format of Prometheus."""
        return self._wire.call("GET", "/metrics", headers={"Accept": "text/plain"}).body.decode()

    def overview(self) -> Overview:
        """Returns the state of the server and its runs, as the dashboard shows it."""
        return self._get("/overview")

    def ready(self) -> bool:
        """Returns whether the server is ready. False if it is unreachable. Does not retry."""
        return self._wire.is_ready()

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Calls any endpoint with the same retries, for endpoints without a method here, and returns the parsed JSON."""
        return self._wire.call(method, path, body, query=query).json()

    def _get(self, path: str, **query: Any) -> Any:
        return self._wire.call("GET", path, query=query).json()

    def _post(self, path: str, body: Any, **options: Any) -> Any:
        return self._wire.call("POST", path, body, **options).json()

    def _follow(
        self,
        look: Callable[[], Any],
        on_progress: Optional[Callable[[Any], None]],
        every_s: float,
        timeout_s: Optional[float],
        progress: Optional[bool],
        label: str = "samples",
    ) -> Any:
        until = None if timeout_s is None else time.monotonic() + timeout_s
        bar = Progress(label, None, progress)
        try:
            while True:
                state = look()
                if on_progress is not None:
                    on_progress(state)
                bar.show(state["progress"]["done"], state["progress"]["total"])
                if state["status"] not in ("queued", "running"):
                    return state
                if until is not None and time.monotonic() >= until:
                    raise ReasoningGymError(f"{state['id']} is still {state['status']} after {timeout_s} s")
                time.sleep(every_s)
        finally:
            bar.close()


def _objects(lines: Iterator[bytes]) -> Iterator[Dict[str, Any]]:
    return (json.loads(line) for line in lines if line.strip())


def _events(lines: Iterator[bytes]) -> Iterator[Dict[str, Any]]:
    """The data of server-sent events. The server writes each on one line."""
    return (json.loads(line[5:]) for line in lines if line.startswith(b"data:"))


class Run:
    """A training run, which nodes share by its name. Create it with `Client.run(name)`."""

    def __init__(
        self, client: Client, name: str, *, incarnation: Optional[str] = None, require_run: bool = True
    ) -> None:
        self.client = client
        self.name = name
        self.incarnation = incarnation
        self.require_run = require_run
        self._wire = client._wire

    def __repr__(self) -> str:
        return f"Run({self.name!r} on {self._wire.url!r})"

    def _meant(self) -> Dict[str, str]:
        """The header that restricts a call to this incarnation, if it is known."""
        return {"If-Match": f'"{self.incarnation}"'} if self.require_run and self.incarnation is not None else {}

    def _configured(self, answer: Dict[str, Any]) -> Dict[str, Any]:
        self.incarnation = answer.get("incarnation")
        return answer

    # The run itself

    def put(self, *, restart: bool = False, **settings: Unpack[SettingsChange]) -> UpdatedRun:
        """Creates the run or changes its settings.

        Args:
            restart: Restarts the item sequence if `seed`, `tasks` or `exclude` change. Without it, the server rejects
                another `seed`, and other tasks begin with the next item.
            **settings: Settings to change. Others keep their values. None restores the default.

        Returns:
            The run, with the names of the settings that changed.
        """
        query = {"restart": "true"} if restart else None
        path = _path("runs", self.name)
        answer = self._wire.call("PUT", path, settings, query=query, headers=self._meant()).json()
        return cast("UpdatedRun", self._configured(answer))

    def get(self) -> Dict[str, Any]:
        """Returns the settings, state and progress of the run, and the statistics of each task."""
        return self.client._get(_path("runs", self.name))

    def finish(self) -> Dict[str, Any]:
        """Marks the run as finished, so that it never counts as stalled. It is active again when rollouts arrive."""
        return self._change_lifecycle("finished")

    def archive(self) -> Dict[str, Any]:
        """Marks the run as archived, which also hides it from the list of runs. Deletes nothing."""
        return self._change_lifecycle("archived")

    def reopen(self) -> Dict[str, Any]:
        """Makes the run active again."""
        return self._change_lifecycle("active")

    def _change_lifecycle(self, lifecycle: str) -> Dict[str, Any]:
        body = {"lifecycle": lifecycle}
        return self._wire.call("PATCH", _path("runs", self.name), body, headers=self._meant()).json()

    def set_mix(self, tasks: TaskSelection) -> Dict[str, Any]:
        """Changes the tasks of the run from the next item on. Items that were handed out stay as they are.

        Args:
            tasks: All tasks that the run draws from now on, as in the setting `tasks`: names, and dicts with `task`,
                `weight` and `difficulty`.
        """
        headers = {**_once_key(), **self._meant()}
        body = {"mix": {"tasks": tasks}}
        return self._wire.call("PATCH", _path("runs", self.name), body, headers=headers).json()

    def mixes(self, *, limit: Optional[int] = None) -> List[RunMix]:
        """Returns the last `limit` mixes of tasks that the run has used, oldest first, each with its first `position`."""
        path = _path("runs", self.name, "mixes")
        return self._wire.call("GET", path, query={"limit": limit}, headers=self._meant()).json()["mixes"]

    def marks(self) -> List[RunMark]:
        """Returns what charts of the run mark, oldest first: changes of settings, rewinds, and the first steps of warnings."""
        return self._wire.call("GET", _path("runs", self.name, "marks"), headers=self._meant()).json()["marks"]

    def reset_curriculum(self) -> Dict[str, Any]:
        """Starts the difficulty of all tasks again, because the policy has changed. The item sequence goes on."""
        return self._wire.call("POST", _path("runs", self.name, "curriculum-reset"), headers=self._meant()).json()

    def delete(self) -> None:
        """Deletes the run and everything that the server holds for it. Does nothing if it does not exist or a new run has its name."""
        try:
            self._wire.call("DELETE", _path("runs", self.name), headers=self._meant())
        except Problem as problem:
            if problem.code != "unknown_run" and not isinstance(problem, RunLost):
                raise
        self.incarnation = None

    def checkpoint(self) -> Dict[str, Any]:
        """Returns a checkpoint of the run as a JSON document. Save it with the model's weights."""
        return self._wire.call("GET", _path("runs", self.name, "checkpoint"), headers=self._meant()).json()

    def restore(self, document: Mapping[str, Any]) -> Dict[str, Any]:
        """Restores the run from a checkpoint of this or another run. Discards the groups that the run holds now."""
        return self._configured(self._wire.call("PUT", _path("runs", self.name, "checkpoint"), document).json())

    def end_step(self, step: int) -> None:
        """Records the state of the run as that after a step, so that `rewind` can return to it.

        Composing a batch does this by itself. Every rank may call, and calls may be repeated.
        """
        self._wire.call("POST", _path("runs", self.name, "steps"), {"step": step}, headers=self._meant())

    def rewind(self, step: int, *, resume_id: Optional[str] = None) -> Dict[str, Any]:
        """Makes the run what it was after a step, one of the last 1,000. Returns what no longer counts, in `voided`.

        Call it on every rank, before anything else, when the trainer resumes from its weights of that step.

        Args:
            step: Latest step of the weights.
            resume_id: ID of this resume, the same on all ranks, such as the ID of the job and the number of its restart. Of the
                calls with an ID, the first one rewinds the run. Without it, calls do nothing until the next step has ended.
        """
        body = _given(step=step, resume_id=resume_id)
        return self.client._post(_path("runs", self.name, "rewind"), body, headers=self._meant())

    def history(self, *, task: Optional[str] = None) -> List[CurriculumPoint]:
        """Returns the history of the curriculum, oldest point first."""
        path = _path("runs", self.name, "history")
        return self._wire.call("GET", path, query={"task": task}, headers=self._meant()).json()["points"]

    def metrics(
        self, *, first: Optional[int] = None, last: Optional[int] = None, points: Optional[int] = None, by: Optional[str] = None
    ) -> List[Dict[str, Any]]:
        """Returns the metrics of each step from `first` to `last`, each as a flat dict that you can pass to a logger.

        With `points`, steps are merged into at most this many rows of the whole run, without the metrics of each task. With
        `by="task"`, each row is of one `task`, with the number of groups and the 95% interval of the mean reward.
        """
        query = {"from": first, "to": last, "points": points, "by": by}
        answer = self._wire.call("GET", _path("runs", self.name, "metrics"), query=query, headers=self._meant())
        return answer.lines()

    def log_to(self, sink: Union[str, ModuleType, Sink], *, every_s: float = 10.0) -> MetricsLog:
        """Sends the metrics of each new step to your logger while the `with` block runs: `with run.log_to(wandb): trainer.train()`.

        A thread asks for new steps every `every_s` seconds, and the end of the block sends the rest. Names begin with `reasoning_gym/`.
        Earlier steps of the run are left out. wandb gets a step with each row of the trainer; of over 64 that wait, only the newest.
        While a run has no steps, its metrics by group begin with `reasoning_gym_groups/`. Only rank 0 sends any.

        Args:
            sink: The module wandb, mlflow or trackio (or its name), in which a run is active (call `wandb.init()` first); or a callable
                that takes the metrics of a step, as a dict of numbers, and the step.
            every_s: Seconds between two calls to the server.
        """
        return MetricsLog(self, sink, every_s)

    def metrics_frame(
        self, *, first: Optional[int] = None, last: Optional[int] = None, points: Optional[int] = None, by: Optional[str] = None
    ) -> Any:
        """Returns the metrics as a pandas.DataFrame, one row per step, one column per metric. See `metrics` for the arguments."""
        rows = self.metrics(first=first, last=last, points=points, by=by)
        return to_frame(rows, "step")

    def flow(self) -> Flow:
        """Returns how groups flow from the generators to the trainer, which side waits, and advice in `advice["text"]`."""
        return self._wire.call("GET", _path("runs", self.name, "flow"), headers=self._meant()).json()

    def histograms(self, *, points: Optional[int] = None) -> List[Dict[str, Any]]:
        """Returns the distributions of rewards and completion lengths over training, in at most `points` rows."""
        path = _path("runs", self.name, "histograms")
        return self._wire.call("GET", path, query={"points": points}, headers=self._meant()).lines()

    def task_metrics(self, metric: str = "reward", *, columns: Optional[int] = None) -> TaskMetrics:
        """Returns "reward", "score", "accuracy" or "difficulty" of each task in at most `columns` ranges of steps."""
        path = _path("runs", self.name, "task-metrics")
        query = {"metric": metric, "columns": columns}
        return self._wire.call("GET", path, query=query, headers=self._meant()).json()

    def groups(self, **query: Any) -> Iterator[Dict[str, Any]]:
        """Yields the groups that the server keeps, page by page, with shortened texts.

        Args:
            **query: `task`, `step`, `last_step`, `fault`, `destination`, `min_reward`, `q` (text to find), `sort` ("newest",
                "worst" or "best"), `full` (complete texts), `hardened` (adds `hardened_scores`) and `paid_not_right` (see
                `GET /runs/{run}/groups`).
        """
        cursor = None
        while True:
            params = {**query, "cursor": cursor}
            answer = self._wire.call("GET", _path("runs", self.name, "groups"), query=params, headers=self._meant())
            page = answer.json()
            yield from page["groups"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def export(self, **query: Any) -> Iterator[Dict[str, Any]]:
        """Yields the rows of the run's export. See `GET /runs/{run}/export` for `format`, `min_reward` and the other filters."""
        return _objects(self._wire.stream(_path("runs", self.name, "export"), query=query, headers=self._meant()))

    def collections(self) -> List[Collection]:
        """Lists the collections of the run."""
        return self.client._get(_path("runs", self.name, "collect"))["collections"]

    def retained_group(self, group_id: str) -> RetainedGroup:
        """Returns a group with its complete texts, and with the expected answer if the key has the role admin."""
        path = _path("runs", self.name, "groups", group_id)
        return self._wire.call("GET", path, headers=self._meant()).json()

    # Items

    def items(
        self,
        count: Optional[int] = None,
        *,
        step: Optional[int] = None,
        position: Union[int, Literal["next"], None] = None,
        rank: Optional[int] = None,
        ranks: Optional[int] = None,
        timeout_s: float = 0,
    ) -> List[Item]:
        """Returns items of the run: its next items, the items of a step, or the items at positions.

        Args:
            count: Number of items. Default: 1, or all items of the step.
            step: Returns the items of this step, which are the same for every caller. The first call for a step sets its
                `count`; another `count` raises Problem `step_conflict`.
            position: Returns the items from this position on, which never change while the run exists. See Positions. "next": from
                the first position after all that are in use, for one caller.
            rank: Returns only the share of this rank, with `step`.
            ranks: Number of ranks.
            timeout_s: Time in seconds to wait for items.

        Returns:
            The items. Without `step` and `position`, there may be fewer than `count`, and none if the run is `max_groups_ahead`
            groups ahead of its trainer for all of `timeout_s`.
        """
        body = _given(run=self.name, count=count, step=step, position=position, rank=rank, ranks=ranks)
        until = time.monotonic() + timeout_s
        named = step is not None or position is not None  # the server waits until all of these are created
        wait_s = min(timeout_s, _BATCH_WAIT_S) if named else 0
        while True:
            answer = self._wire.call("POST", "/items", body, headers={**_once_key(), **self._meant()}, wait_s=wait_s)
            items: List[Item] = answer.json()["items"]
            pause = _seconds(answer.headers.get("retry-after")) or 0.2
            left = until - time.monotonic()
            if items or left <= 0:
                return items
            time.sleep(min(pause, left))

    def positions(self, per_step: int = 64, *, timeout_s: float = 300.0) -> "Positions":
        """Returns the run's items by position, for trainers that only know a row number. See Positions."""
        return Positions(self, per_step, timeout_s=timeout_s)

    # Rollouts

    def post(
        self,
        item_id: str,
        rollouts: Sequence[Union[Rollout, Mapping[str, Any]]],
        *,
        group_id: Optional[str] = None,
        policy_version: Optional[int] = None,
        buffer: Optional[bool] = None,
        extra: Any = None,
        wait_s: float = 0,
        on_conflict: str = "raise",
    ) -> Group:
        """Posts the rollouts of one item as a group.

        Args:
            item_id: ID of the item.
            rollouts: All rollouts of the group.
            group_id: ID of the group. Default: a hash of the content, so that identical rollouts of an item count once. A
                process that may restart and sample again needs its own IDs, such as `step-rank-k`.
            policy_version: Version of the policy that generated the rollouts.
            buffer: Whether the group goes into the buffer for batches. Default: the setting of the run.
            extra: Any JSON value. Batches return it unchanged.
            wait_s: Time in seconds to wait for the verdicts. The result has status `queued` if they take longer.
            on_conflict: What to do if a group with this ID and item exists with other rollouts. `"raise"` raises Problem
                `group_conflict`. `"keep"` returns the result of the existing group with `conflict` set to True.
        """
        body = _given(
            run=self.name,
            item_id=item_id,
            group_id=group_id,
            policy_version=policy_version,
            buffer=buffer,
            extra=extra,
            rollouts=list(rollouts),
        )
        return self._posted(body, wait_s, on_conflict)[0]

    def post_many(
        self,
        groups: Sequence[Union[PostedGroup, Mapping[str, Any]]],
        *,
        wait_s: float = 0,
        at_once: int = 256,
        on_conflict: str = "raise",
        progress: Optional[bool] = False,
    ) -> List[Group]:
        """Posts groups and returns their results in order. Sends up to `at_once` groups (at most 256) per request. See `post`.

        `progress` shows a progress bar where tqdm is installed.
        """
        until = time.monotonic() + wait_s
        done: List[Group] = []
        bar = Progress("groups", len(groups), progress)
        try:
            for some in _chunks(groups, min(at_once, 256)):
                done += self._posted({"run": self.name, "groups": list(some)}, until - time.monotonic(), on_conflict)
                bar.show(len(done))
        finally:
            bar.close()
        return done

    def _posted(self, body: Dict[str, Any], wait_s: float, on_conflict: str) -> List[Group]:
        if on_conflict not in ("raise", "keep"):
            raise ValueError(f'on_conflict must be "raise" or "keep", not {on_conflict!r}')
        until = time.monotonic() + wait_s
        try:
            return self._post_once(body, wait_s)
        except Problem as problem:
            if problem.code != "group_conflict" or on_conflict == "raise":
                raise
            if "groups" not in body:
                return [self._first_of_its_id(body, problem, until - time.monotonic())]
        # The error names one group, but others may conflict too. The server has accepted the groups without a conflict.
        return [
            self._posted({"run": self.name, **group}, until - time.monotonic(), on_conflict)[0] for group in body["groups"]
        ]

    def _first_of_its_id(self, body: Mapping[str, Any], conflict: Problem, wait_s: float) -> Group:
        """Returns the group that was posted first under this ID. Raises the conflict if that group is of another item."""
        try:
            first = self.group(body["group_id"], wait_s=wait_s)
        except Problem as problem:
            if problem.code != "unknown_group":
                raise
            # The server no longer stores the group, only its ID.
            first = cast(
                "Group",
                {"group_id": body["group_id"], "run": self.name, "item_id": body["item_id"], "status": "scored"},
            )
        if first["item_id"] != body["item_id"]:
            raise conflict
        first["conflict"] = True
        return first

    def _post_once(self, body: Dict[str, Any], wait_s: float) -> List[Group]:
        until = time.monotonic() + wait_s
        # The query names the run too, so that a server with a full buffer rejects the request before it reads the body.
        query = {"run": self.name}
        answer = self._wire.call("POST", "/rollouts", body, query=query, headers=self._meant(), wait_s=wait_s).json()
        groups: List[Group] = answer["groups"] if "groups" in body else [answer]
        return [
            group if group["status"] != "queued" else self.group(group["group_id"], wait_s=until - time.monotonic())
            for group in groups
        ] if wait_s > 0 else groups

    def group(self, group_id: str, *, wait_s: float = 0) -> Group:
        """Returns the state of a group. Waits up to `wait_s` seconds until it is scored."""
        until = time.monotonic() + wait_s
        left = wait_s
        while True:
            path = _path("rollouts", group_id)
            answer = self._wire.call(
                "GET", path, query={"run": self.name}, headers=self._meant(), wait_s=max(0, left)
            )
            group: Group = answer.json()
            left = until - time.monotonic()
            if group["status"] != "queued" or left <= 0:
                return group
            time.sleep(min(_POLL_PAUSE_S, left))

    # Batches

    def batch(
        self,
        step: int,
        *,
        rank: Optional[int] = None,
        ranks: Optional[int] = None,
        policy_version: Optional[int] = None,
        min_rollouts: Optional[int] = None,
        final: Optional[bool] = None,
        balance: Optional[str] = None,
        timeout_s: Optional[float] = None,
    ) -> Batch:
        """Returns the batch of a step, or one rank's share of it. Waits until the batch is complete.

        The server composes the batch once. Every call for the step returns the same batch until it is acknowledged.

        Args:
            step: Training step.
            rank: Returns only the share of this rank.
            ranks: Number of ranks.
            policy_version: Current version of the policy, for the policy lag of the groups.
            min_rollouts: Number of rollouts that completes the batch, if it is less than the `batch_size` of the run.
            final: Composes the batch from the available groups, however few, after queued groups are scored. Waits at most
                `timeout_s` (up to 60 s; None: 30 s) and never raises NotReady. If `totals` has no groups, there is nothing to
                train on in this step on any rank; acknowledge the batch anyway.
            balance: What to balance between ranks: `"tokens"` or `"rollouts"`.
            timeout_s: Time in seconds to wait for the batch. None: no timeout. 0: a single request.

        Raises:
            NotReady: The batch is not complete within `timeout_s`.
        """
        body = _given(
            step=step,
            rank=rank,
            ranks=ranks,
            policy_version=policy_version,
            min_rollouts=min_rollouts,
            final=final,
            balance=balance,
        )
        until = None if timeout_s is None else time.monotonic() + timeout_s
        left = _BATCH_WAIT_S if timeout_s is None else timeout_s
        while True:
            answer = self._wire.call(
                "POST",
                _path("runs", self.name, "batches"),
                body,
                query={"arrays": "base64"},
                headers=self._meant(),
                wait_s=max(0, min(_WAIT_MOST_S if final and until is not None else _BATCH_WAIT_S, left)),
            )
            if answer.status == 200:
                return _with_arrays(answer.json())
            if until is not None:
                left = until - time.monotonic()
            if left <= 0:
                raise NotReady(
                    step, _count(answer.headers.get("x-batch-missing")), _count(answer.headers.get("x-batch-queued"))
                )
            time.sleep(min(_POLL_PAUSE_S, left))

    def read_batch(self, step: int, *, rank: Optional[int] = None, ranks: Optional[int] = None) -> Batch:
        """Returns a batch that has been composed. Raises Problem `unknown_batch` if it has not."""
        path = _path("runs", self.name, "batches", step)
        query = {"rank": rank, "ranks": ranks, "arrays": "base64"}
        return _with_arrays(self._wire.call("GET", path, query=query, headers=self._meant()).json())

    def ack(self, step: int, *, rank: Optional[int] = None, ranks: Optional[int] = None) -> bool:
        """Acknowledges the batch of a step, so that the server releases it. Can safely be repeated.

        Returns:
            Whether the batch is released. With `ranks`, this needs the acknowledgments of all ranks.
        """
        path = _path("runs", self.name, "batches", step, "ack")
        return bool(self.client._post(path, _given(rank=rank, ranks=ranks), headers=self._meant())["acknowledged"])

    # Other rules

    def rescore(
        self,
        settings: Optional[RescoreSettings] = None,
        *,
        tasks: Optional[Sequence[str]] = None,
        sample: Optional[float] = None,
        timeout_s: Optional[float] = None,
        progress: Optional[bool] = None,
    ) -> Rescore:
        """Scores the kept groups again under other settings, waits, and returns what would differ. Changes nothing in the run.

        Args:
            settings: Scoring settings to try, such as `{"scoring": "hardened"}`. Others are those of the run.
            tasks: Only groups of these tasks and categories (`category:NAME`).
            sample: Up to 1: share of the kept groups. Above 1: number of most recent groups.
            timeout_s: Time limit in seconds; None: no limit. The rescore goes on after it.
            progress: Whether to show a progress bar. None: in a terminal or a notebook.

        Returns:
            The rescore. Its `status` is `done` or `failed`, and its `result` has the counts, in all and by task.
        """
        body = {"settings": settings or {}, **_given(tasks=tasks, sample=sample)}
        headers = {**_once_key(), **self._meant()}
        rescore_id = self.client._post(_path("runs", self.name, "rescore"), body, headers=headers)["id"]
        path = _path("runs", self.name, "rescore", rescore_id)
        return self.client._follow(lambda: self.client._get(path), None, 0.5, timeout_s, progress, "groups")

    def rescores(self) -> List[Rescore]:
        """Returns the last 20 rescores of the run, newest first."""
        return self.client._get(_path("runs", self.name, "rescore"))["rescores"]

    # Collection

    def collect(self, model: Mapping[str, Any], groups: int, **settings: Any) -> Collection:
        """Starts a collection: a model completes items of the run, and the server scores the groups like posted ones.

        Args:
            model: `{"name", "base_url", "api_key"}` of a model behind an OpenAI-compatible API.
            groups: Number of groups to collect.
            **settings: `temperature`, `max_tokens`, `top_p`, `request`, `concurrency` and `buffer`.
        """
        path = _path("runs", self.name, "collect")
        headers = {**_once_key(), **self._meant()}
        return self.client._post(path, {"model": model, "groups": groups, **settings}, headers=headers)

    def collection(self, collection_id: str) -> Collection:
        """Returns the current state of a collection."""
        return self.client._get(_path("runs", self.name, "collect", collection_id))

    def follow_collection(
        self,
        collection_id: str,
        on_progress: Optional[Callable[[Collection], None]] = None,
        *,
        every_s: float = 1.0,
        timeout_s: Optional[float] = None,
        progress: Optional[bool] = None,
    ) -> Collection:
        """Waits until the collection ends, whatever its status, and returns it. See `Client.follow_eval` for the arguments."""
        return self.client._follow(lambda: self.collection(collection_id), on_progress, every_s, timeout_s, progress)

    def resume_collection(self, collection_id: str, *, api_key: Optional[str] = None) -> Collection:
        """Continues a collection that failed or was cancelled. `api_key` is the key of the model's API."""
        return self.client._post(_path("runs", self.name, "collect", collection_id, "resume"), _given(api_key=api_key))

    def collection_events(self, collection_id: str) -> Iterator[Dict[str, Any]]:
        """Yields the states of a collection as they change, until it ends."""
        return _events(self._wire.stream(_path("runs", self.name, "collect", collection_id, "events")))

    def cancel_collection(self, collection_id: str) -> None:
        """Cancels a collection. The server keeps its finished groups."""
        self._wire.call("DELETE", _path("runs", self.name, "collect", collection_id))

    def delete_collection(self, collection_id: str) -> None:
        """Deletes a collection that has ended, with everything that the server stores of it. Its groups stay in the run."""
        try:
            self._wire.call("DELETE", _path("runs", self.name, "collect", collection_id), query={"ended": "true"})
        except Problem as problem:
            if problem.code != "unknown_collection":
                raise


class Positions:
    """The items of a run by position, for trainers that only know the number of a row.

        positions = client.run("first").positions(per_step=64)
        positions[0]["messages"]                                 # requests items 0 to 63 in one call
        positions.take([64, 65, 64])                             # items in the order of the argument

    Positions start at 0. A position has the same item in every process, on every node, and after a resume, for as long as the
    run exists; checkpoints keep it. `per_step` is the number of prompts in one training step (1 to 1,024). Items are requested in
    blocks of this size, and the difficulty of a block is decided at its first request. The last 8 blocks are cached, so that the
    members of a group cause one request.

    Threads can share it. It can be pickled and survives a fork. If the server does not return a position within `timeout_s`
    seconds, access raises Problem (for example `make_failed`: no task of the run has an item there) or Unreachable. It never
    returns another item instead.
    """

    BLOCKS = 8  #: blocks in the cache

    def __init__(self, run: Run, per_step: int = 64, *, timeout_s: float = 300.0) -> None:
        if not 1 <= per_step <= 1024:
            raise ValueError(f"per_step must be between 1 and 1024, not {per_step}")
        self.run = run
        self.per_step = per_step
        self.timeout_s = timeout_s
        self._blocks: "OrderedDict[int, List[Optional[Item]]]" = OrderedDict()
        self._unlocked()

    def __repr__(self) -> str:
        return f"Positions({self.run!r}, per_step={self.per_step})"

    def _unlocked(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()

    def __getstate__(self) -> Dict[str, Any]:
        return {"run": self.run, "per_step": self.per_step, "timeout_s": self.timeout_s, "_blocks": OrderedDict()}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._unlocked()

    def __getitem__(self, position: int) -> Item:
        """Returns the item at this position."""
        if position < 0:
            raise IndexError(f"positions start at 0, got {position}")
        block, within = divmod(int(position), self.per_step)
        item = self._block(block)[within]
        return self._items(int(position), 1)[0] if item is None else item

    def take(self, positions: Iterable[int]) -> List[Item]:
        """Returns the items at these positions in this order. Sends one request per block of `per_step` that is not cached."""
        return [self[position] for position in positions]

    def _block(self, block: int) -> List[Optional[Item]]:
        if self._pid != os.getpid():
            self._unlocked()  # another thread of the parent may have held the lock during the fork
        with self._lock:
            items = self._blocks.get(block)
            if items is None:
                items = self._blocks[block] = self._ask(block)
            self._blocks.move_to_end(block)
            while len(self._blocks) > self.BLOCKS:
                self._blocks.popitem(last=False)
            return items

    def _ask(self, block: int) -> List[Optional[Item]]:
        first = block * self.per_step
        try:
            return list(self._items(first, self.per_step))
        except Problem as problem:
            if problem.code != "make_failed":
                raise
        # One position has no item. Request the others one by one. Access to that position requests it again and raises.
        items: List[Optional[Item]] = []
        for position in range(first, first + self.per_step):
            try:
                items += self._items(position, 1)
            except Problem as problem:
                if problem.code != "make_failed":
                    raise
                items.append(None)
        return items

    def _items(self, position: int, count: int) -> List[Item]:
        return self.run.items(count, position=position, timeout_s=self.timeout_s)
