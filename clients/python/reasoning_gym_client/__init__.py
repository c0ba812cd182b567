"""Client of reasoning-gym-server, in one file, on the standard library alone (Python 3.9 or newer).

    from reasoning_gym_client import Client

    client = Client("http://127.0.0.1:8000")
    run = client.run("first")
    for item in run.items(8):
        completions = my_model(item["messages"])
        run.post(item["id"], [{"completion": text} for text in completions], policy_version=0)
    batch = run.batch(step=0, min_sequences=1)      # waits until there is enough
    for group in batch["groups"]:
        for rollout, verdict in zip(group["rollouts"], group["verdicts"]):
            ...                                      # verdict["reward"], verdict["advantage"]
    run.ack(step=0)

Without an address, `Client()` takes REASONING_GYM_URL, and REASONING_GYM_API_KEY where no other key is given.

What it takes care of:

* Every call may be repeated without harm, so the client retries lost connections, 408, 429, 502, 503, 504, and a 409 with
  Retry-After (another call was changing the same run). The pause grows, is jittered, and is never shorter than the server's
  Retry-After; `retry_for_s` bounds it.
* One connection for each thread is kept open. A client can be shared by threads, survives a fork, and can be pickled.
* Items can be addressed by position (`Run.positions`): the same item for the same position in every process.
* numpy arrays (and torch tensors on the CPU) may stand wherever the server takes numbers; they travel as typed bytes.
  Nothing is rounded. In batches all lists of numbers come as numpy arrays, or as `array.array` where there is no numpy.
* Large bodies are gzipped.

Answers are plain dicts with the server's own field names; the TypedDicts below say what is in them.
"""

# mypy: disable-error-code="no-any-return"
# Answers are JSON: that they are what the TypedDicts say is the server's promise, not the type checker's to prove.

from __future__ import annotations

import array
import asyncio
import base64
import email.utils
import gzip
import http.client
import json
import logging
import math
import os
import random
import re
import ssl
import threading
import time
import urllib.parse
import uuid
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Awaitable, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, TypedDict, Union

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

__version__ = "0.1.0"
__all__ = [
    "Client",
    "Run",
    "Positions",
    "TrainerClient",
    "in_thread",
    "fill_unscored",
    "strip_special_tokens",
    "ReasoningGymError",
    "Problem",
    "Unreachable",
    "NotReady",
    "RunLost",
    "Item",
    "Message",
    "Rollout",
    "Verdict",
    "Group",
    "PostedGroup",
    "Batch",
    "BatchGroup",
    "Scores",
    "Eval",
    "Collection",
]

log = logging.getLogger("reasoning_gym_client")

# ---------------------------------------------------------------------------------------------------------------------
# What the server speaks of
# ---------------------------------------------------------------------------------------------------------------------

#: A chat message; further keys (tool calls, names) are kept.
Message = Dict[str, Any]

#: Numbers: a list, `array.array`, numpy array or CPU tensor; in batches always arrays, with NaN for what was sent as None.
Numbers = Any


class Item(TypedDict, total=False):
    """A task made real: what to show the model. `id` is its recipe; the answer stays on the server."""

    id: str
    task: str
    category: str
    difficulty: Optional[float]
    recipe: Dict[str, Any]
    question: str
    messages: List[Message]
    again: bool


class Rollout(TypedDict, total=False):
    """One completion for an item. `completion` or `messages` is required, everything else is optional."""

    completion: str
    messages: List[Message]
    tokens: Numbers
    masks: Numbers
    logprobs: Numbers
    policy_version: int
    finish_reason: Optional[str]
    length_tokens: int
    arrays: Dict[str, Any]
    extra: Any


class PostedGroup(TypedDict, total=False):
    """The rollouts of one item, as `Run.post_many` takes them. `item_id` and `rollouts` are required."""

    item_id: str
    group_id: str
    policy_version: int
    buffer: bool
    extra: Any
    rollouts: Sequence[Rollout]


class Verdict(TypedDict, total=False):
    """`status` is `scored` or `unscored`. `fault` is the model's, `code` the server's; unscored: reward and score None."""

    status: str
    reward: Optional[float]
    score: Optional[float]
    answer: Optional[str]
    fault: Optional[str]
    penalty: float
    code: str
    detail: str
    advantage: Optional[float]
    skipped: str
    masked: bool


class Group(TypedDict, total=False):
    """A posted group as it stands: `status` is `queued`, `scored` or `failed`.

    `rewards` are those of `verdicts`, in the order of the rollouts, and are kept longer. `conflict`: True says that the result
    is that of other rollouts, which were posted first under this id (see `Run.post`).
    """

    group_id: str
    run: str
    item_id: str
    task: str
    difficulty: Optional[float]
    status: str
    verdicts: List[Verdict]
    rewards: List[Optional[float]]
    conflict: bool
    mean_score: Optional[float]
    mean_reward: Optional[float]
    std_reward: Optional[float]
    percent_correct: Optional[float]
    voters: int
    lengths: str
    length_penalty: bool
    signal: bool
    destination: Optional[str]
    code: str
    detail: str


class BatchGroup(TypedDict, total=False):
    """A group in a batch: what was posted, and its verdicts in the same order.

    `indices` says which of the posted rollouts these are: some are another rank's, or could not be scored.
    """

    group_id: str
    item_id: str
    task: str
    difficulty: Optional[float]
    indices: List[int]
    rollouts: List[Rollout]
    verdicts: List[Verdict]
    mean_score: Optional[float]
    mean_reward: Optional[float]
    std_reward: Optional[float]
    percent_correct: Optional[float]
    voters: int
    signal: bool
    policy_version: Optional[int]
    extra: Any


class Batch(TypedDict, total=False):
    """The groups of one training step, or one rank's share; `totals` are the whole batch's."""

    run: str
    step: int
    sequences: int
    totals: Dict[str, int]
    lag: Dict[str, Optional[float]]
    metrics: Dict[str, Any]
    groups: List[BatchGroup]


class Scores(TypedDict, total=False):
    """Rewards in the order of what was sent; None where the server could not score."""

    rewards: List[Optional[float]]
    verdicts: List[Verdict]


class Eval(TypedDict, total=False):
    """One model measured on one suite; `status` is `queued`, `running`, `done`, `failed` or `cancelled`."""

    id: str
    status: str
    progress: Dict[str, int]
    result: Optional[Dict[str, Any]]


class Collection(TypedDict, total=False):
    """Items of a run answered by a model behind an OpenAI-like address."""

    id: str
    status: str


# ---------------------------------------------------------------------------------------------------------------------
# Failures
# ---------------------------------------------------------------------------------------------------------------------


class ReasoningGymError(Exception):
    """What this module raises."""


class Problem(ReasoningGymError):
    """The server refused. `code` is stable and made to be compared: `buffer_full`, `unknown_run`, `group_conflict`, …

    `status` is the HTTP status, `detail` says what to do, `errors` names the fields at fault as
    `{"path", "message"}`, `retry_after` is in seconds, `request_id` finds the request in the server's log.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: Sequence[Mapping[str, str]] = (),
        retry_after: Optional[float] = None,
        request_id: Optional[str] = None,
    ) -> None:
        fields = "; ".join(f"{e.get('path')}: {e.get('message')}" for e in errors)
        super().__init__(f"{status} {code}: {detail}" + (f" ({fields})" if len(errors) > 1 else ""))
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = list(errors)
        self.retry_after = retry_after
        self.request_id = request_id


class RunLost(Problem):
    """The run is gone, or another one has its name: it was deleted, or Redis lost it. Nothing was done.

    Restore a checkpoint or put the settings with a new `Client.run(name)`.
    """


class Unreachable(ReasoningGymError):
    """The server did not answer, for as long as the call was tried, or what answers at its address is something else (no
    HTTP, no JSON, a certificate that cannot be trusted: at once); `__cause__` is the last failure."""


class NotReady(ReasoningGymError):
    """The batch was not complete in time: `missing` rollouts are wanted yet, `queued` ones wait for their scores."""

    def __init__(self, step: int, missing: Optional[int], queued: Optional[int]) -> None:
        super().__init__(f"the batch of step {step} is not ready: {missing} rollouts missing, {queued} queued")
        self.step = step
        self.missing = missing
        self.queued = queued


# ---------------------------------------------------------------------------------------------------------------------
# Arrays
# ---------------------------------------------------------------------------------------------------------------------

_TYPED = ("int32", "float32", "uint8", "int16", "float64")
_WIDENED = {"bool": "uint8", "int8": "int16", "uint16": "int32", "float16": "float32"}
_NARROWED = {"int64", "uint64", "uint32"}
_NOT_IN_NUMPY = ("torch.bfloat16", "torch.float8")  # float32 has all their values
_BY_TYPECODE = {"B": "uint8", "h": "int16", "i": "int32", "f": "float32", "d": "float64"}
_EXACT_MOST = 2**53 - 1  # the server reads JSON numbers as doubles


def _plain(value: Any) -> Any:
    """What json does not know: arrays become `{dtype, data}` where that loses nothing, else lists of numbers."""
    if isinstance(value, array.array):
        dtype = _BY_TYPECODE.get(value.typecode)
        return _listed(value) if dtype is None else _typed(dtype, value.tobytes())
    if hasattr(value, "__array__") and numpy is not None:
        if getattr(value, "requires_grad", False):
            value = value.detach()
        if str(getattr(value, "dtype", "")).startswith(_NOT_IN_NUMPY):
            value = value.float()
        given = numpy.asarray(value)
        if given.ndim != 1:
            return _listed(given)
        name = given.dtype.name
        if name in _NARROWED and (given.size == 0 or (given.min() >= -(2**31) and given.max() < 2**31)):
            name = "int32"
        name = _WIDENED.get(name, name)
        if name not in _TYPED:
            return _listed(given)
        return _typed(name, numpy.ascontiguousarray(given, dtype=numpy.dtype(name).newbyteorder("<")).tobytes())
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def _listed(values: Any) -> Any:
    """As JSON numbers. Raises ValueError for integers that would be rounded as such."""
    edges: Sequence[int] = ()
    if isinstance(values, array.array):
        if values.typecode in "lLqQ" and len(values) > 0:
            edges = min(values), max(values)
    elif values.dtype.kind in "iu" and values.size > 0:
        edges = int(values.min()), int(values.max())
    if any(abs(edge) > _EXACT_MOST for edge in edges):
        raise ValueError("integers beyond 2**53 would be rounded as JSON numbers: send them as strings")
    return values.tolist()


def _typed(dtype: str, raw: bytes) -> Dict[str, str]:
    return {"dtype": dtype, "data": base64.b64encode(raw).decode("ascii")}


def _numbers(value: Any) -> Any:
    """Typed data as a numpy array, or as `array.array` where there is no numpy; anything else as it is."""
    if not (isinstance(value, dict) and value.keys() == {"dtype", "data"} and value["dtype"] in _TYPED):
        return value
    raw = base64.b64decode(value["data"])
    if numpy is not None:
        return numpy.frombuffer(raw, dtype=numpy.dtype(value["dtype"]).newbyteorder("<"))
    code = next(code for code, dtype in _BY_TYPECODE.items() if dtype == value["dtype"])
    return array.array(code, raw)


def _with_arrays(batch: Batch) -> Batch:
    for group in batch.get("groups", []):
        for rollout in group.get("rollouts", []):
            fields: Dict[str, Any] = rollout  # type: ignore[assignment]
            for name in ("tokens", "masks", "logprobs"):
                if name in fields:
                    fields[name] = _numbers(fields[name])
            if isinstance(fields.get("arrays"), dict):
                fields["arrays"] = {name: _numbers(value) for name, value in fields["arrays"].items()}
    return batch


# ---------------------------------------------------------------------------------------------------------------------
# The wire
# ---------------------------------------------------------------------------------------------------------------------

_AGAIN = (408, 429, 502, 503, 504)
_PAUSE_S, _PAUSE_MOST_S = 0.2, 10.0
_WAIT_MOST_S = 60  # the server holds an answer no longer
_HELD_S = 30.0  # of a batch that is waited for
_LULL_S = 0.05  # between two asks that are meant to be held, or come in the last second of a wait
_QUIET_S = 5.0  # of failing; then a warning says what is waited for
_OVER_S = 0.1  # the server waits whole seconds; so much too long is better than asking again and again


class _Answer:
    def __init__(self, call: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.call = call
        self.status = status
        self.headers = headers
        self.body = body

    def json(self) -> Any:
        return self._read(self.body) if self.body else None

    def lines(self) -> List[Any]:
        return [self._read(line) for line in self.body.split(b"\n") if line.strip()]

    def _read(self, text: bytes) -> Any:
        try:
            return json.loads(text)
        except ValueError as error:
            raise Unreachable(f"{self.call}: the answer is not JSON: is this a reasoning-gym-server?") from error


class _Kept:
    """A thread's connection and the process that opened it; closed when it is let go, also at the thread's end."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.pid = os.getpid()
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class _Wire:
    """Requests with one kept connection for each thread, tried again until they are answered or time is over."""

    def __init__(
        self,
        url: str,
        api_key: Optional[str],
        timeout_s: float,
        retry_for_s: float,
        deadline_s: Optional[float],
        gzip_above: Optional[int],
        ssl_context: Optional[ssl.SSLContext],
    ) -> None:
        parts = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
        user, at, address = parts.netloc.rpartition("@")
        self.url = urllib.parse.urlunsplit(parts._replace(netloc=address))  # without the key: it stands in messages
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not an address of a server: {self.url!r}")
        if at and not parts.password:
            raise ValueError(f"the address has a user but no key: write {parts.scheme}://{user.rstrip(':')}:KEY@{address}")
        if not api_key:
            api_key = urllib.parse.unquote(parts.password or "") or os.environ.get("REASONING_GYM_API_KEY")
        self.host, self.port, self.secure = parts.hostname, parts.port, parts.scheme == "https"
        self.base = parts.path.rstrip("/")
        self.timeout_s = timeout_s
        self.retry_for_s = retry_for_s
        self.deadline_s = deadline_s
        self.gzip_above = gzip_above
        self.ssl_context = ssl_context
        self.headers = {"Accept": "application/json", "User-Agent": f"reasoning-gym-client/{__version__}"}
        if api_key:
            self.headers["Authorization"] = f"Bearer {api_key}"
        self.local = threading.local()
        self.random = random.SystemRandom()  # neither disturbs nor follows the trainer's seeds

    def __getstate__(self) -> Dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("local", "random")}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state, local=threading.local(), random=random.SystemRandom())

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        wait_s: float = 0,
    ) -> _Answer:
        """The first answer below 300. Raises Problem for a refusal, Unreachable if there is no answer at all."""
        target = self.base + path + _query(query)
        sent = {**self.headers, **(headers or {})}
        wait = min(int(wait_s + _OVER_S), _WAIT_MOST_S)
        if wait > 0:
            sent["Prefer"] = f"wait={wait}"
        payload = None
        if body is not None:
            sent["Content-Type"] = "application/json"
            payload = json.dumps(body, default=_plain, allow_nan=False, separators=(",", ":")).encode("ascii")
            if self.gzip_above is not None and len(payload) > self.gzip_above:
                payload = gzip.compress(payload, 1)
                sent["Content-Encoding"] = "gzip"
        began = time.monotonic()
        longest = math.inf if self.deadline_s is None else self.deadline_s
        until = began + min(self.retry_for_s, longest)
        failures, told = 0, False
        while True:
            failure: ReasoningGymError
            retry_after: Optional[float] = None
            left = max(_LULL_S, began + longest - time.monotonic())
            try:
                answer = self._once(method, target, payload, sent, min(self.timeout_s + wait, left))
                if answer.status < 300:
                    return answer
                problem = _problem(answer)
                if answer.status not in _AGAIN and not _is_passing_conflict(problem):
                    raise problem
                failure, retry_after = problem, problem.retry_after
            except (OSError, http.client.HTTPException) as error:
                failure = Unreachable(f"{method} {self.url}{path}: {type(error).__name__}: {error}")
                failure.__cause__ = error
                if _is_something_else(error):
                    raise failure
            pause = self.random.uniform(0.5, 1) * min(_PAUSE_MOST_S, _PAUSE_S * 2 ** min(failures, 10))
            pause = max(pause, (retry_after or 0) + self.random.uniform(0, _PAUSE_S))
            failures += 1
            if time.monotonic() + pause > until:
                raise failure
            log.info("%s %s: %s; again in %.1f s", method, path, failure, pause)
            if not told and time.monotonic() - began > _QUIET_S:
                log.warning("%s; it is tried again for %.0f s more", failure, until - time.monotonic())
                told = True
            time.sleep(pause)

    def _once(
        self, method: str, target: str, payload: Optional[bytes], headers: Mapping[str, str], timeout_s: float
    ) -> _Answer:
        connection, used = self._connection(timeout_s)
        try:
            return self._exchange(connection, method, target, payload, headers)
        except (OSError, http.client.HTTPException) as error:
            self.drop()
            # The server closes a connection that was idle for long: that says nothing about the server.
            if not used or isinstance(error, TimeoutError):
                raise
        connection, _ = self._connection(timeout_s)
        try:
            return self._exchange(connection, method, target, payload, headers)
        except (OSError, http.client.HTTPException):
            self.drop()
            raise

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        payload: Optional[bytes],
        headers: Mapping[str, str],
    ) -> _Answer:
        try:
            connection.request(method, target, payload, dict(headers))
        except BrokenPipeError:
            pass  # a refusal can come before the body is read: it may be there already
        response = connection.getresponse()
        body = response.read()
        if response.getheader("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if response.will_close:
            self.drop()
        call = f"{method} {self.url}{target[len(self.base) :]}"
        return _Answer(call, response.status, {name.lower(): value for name, value in response.getheaders()}, body)

    def _connection(self, timeout_s: float) -> "tuple[http.client.HTTPConnection, bool]":
        """This thread's connection, and whether it was used before; a forked child opens its own."""
        kept: Optional[_Kept] = getattr(self.local, "kept", None)
        if kept is not None and kept.pid == os.getpid():
            connection = kept.connection
            connection.timeout = timeout_s
            if connection.sock is not None:
                connection.sock.settimeout(timeout_s)
            return connection, connection.sock is not None
        connection = self.open(timeout_s)
        self.local.kept = _Kept(connection)
        return connection, False

    def open(self, timeout_s: float) -> http.client.HTTPConnection:
        if self.secure:
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout_s, context=self.ssl_context)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout_s)

    def drop(self) -> None:
        self.local.kept = None


def _is_passing_conflict(problem: Problem) -> bool:
    """Whether another call stood in the way (`run_changed`, `idempotency_in_progress`): a retry resolves it."""
    return problem.status == 409 and problem.retry_after is not None


def _is_something_else(error: Exception) -> bool:
    """Whether no HTTP, or no TLS that can be trusted, is spoken there: to ask again does not help."""
    if isinstance(error, ssl.SSLError):
        return not isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError))
    if isinstance(error, http.client.BadStatusLine):
        return not isinstance(error, http.client.RemoteDisconnected)
    return isinstance(error, (http.client.UnknownProtocol, http.client.LineTooLong))


def _problem(answer: _Answer) -> Problem:
    try:
        told = json.loads(answer.body)
    except ValueError:
        told = None
    if answer.status < 400:
        told = {"detail": f"{answer.call} redirects to {answer.headers.get('location')}: name the server's own address"}
    if not isinstance(told, dict):
        told = {"detail": " ".join(answer.body[:500].decode("utf-8", "replace").split())}
    kind = RunLost if told.get("code") == "run_recreated" else Problem
    return kind(
        status=answer.status,
        code=str(told.get("code", f"http_{answer.status}")),
        detail=str(told.get("detail", "")),
        errors=told.get("errors") or (),
        retry_after=_seconds(answer.headers.get("retry-after")),
        request_id=answer.headers.get("x-request-id"),
    )


def _seconds(retry_after: Optional[str]) -> Optional[float]:
    """Retry-After is a number of seconds, or a date."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _query(query: Optional[Mapping[str, Any]]) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return f"?{urllib.parse.urlencode(given)}" if given else ""


def _given(**fields: Any) -> Dict[str, Any]:
    """The fields that were named: None means that the server decides."""
    return {name: value for name, value in fields.items() if value is not None}


def _once_key() -> Dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def _path(*parts: Union[str, int]) -> str:
    return "/" + "/".join(urllib.parse.quote(str(part), safe="") for part in parts)


def _chunks(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


# ---------------------------------------------------------------------------------------------------------------------
# The client
# ---------------------------------------------------------------------------------------------------------------------


class Client:
    """A server, and how to reach it. Threads may share it.

    `url`          where the server is, `https` and a path in front included; the key may stand in it
                   (`http://trainer:KEY@host:8000`). None: REASONING_GYM_URL, else http://127.0.0.1:8000
    `api_key`      sent as `Authorization: Bearer …`. None: the one in the address, else REASONING_GYM_API_KEY
    `timeout_s`    how long one answer may take, beyond what it was asked to wait
    `retry_for_s`  for how long a call is tried again when the server is away, busy or full; 0: not at all
    `deadline_s`   how long a call may take in all, its retries and waits included; None: no further limit
    `gzip_above`   bytes from which on a body is compressed; None: never
    `ssl_context`  for certificates of your own
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
    ) -> None:
        url = url or os.environ.get("REASONING_GYM_URL") or "http://127.0.0.1:8000"
        self._wire = _Wire(url, api_key, timeout_s, retry_for_s, deadline_s, gzip_above, ssl_context)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes this thread's connection; the client can be used again."""
        self._wire.drop()

    def run(self, name: str = "default", *, incarnation: Optional[str] = None, require_run: bool = True) -> "Run":
        """The run of that name. Nothing is sent: the server makes the run at its first use.

        Once `put` or `restore` have configured it, or where its `incarnation` is given (a field of `Run.get()`), calls are
        meant for that run alone: if the server has lost it, they raise RunLost instead of beginning it anew with the default
        settings. `require_run=False`: they do not.
        """
        return Run(self, name, incarnation=incarnation, require_run=require_run)

    def runs(self) -> List[Dict[str, Any]]:
        """All runs."""
        return self._get("/runs")["runs"]

    # Tasks and items

    def tasks(self, *, category: Optional[str] = None, q: Optional[str] = None) -> List[Dict[str, Any]]:
        """What there is to be asked of a model: `name`, `category`, `credit`, `rungs`, …"""
        return self._get("/tasks", category=category, q=q)["tasks"]

    def task(self, name: str) -> Dict[str, Any]:
        """One task with its config schema, difficulty ladder and an example."""
        return self._get(_path("tasks", name))

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
        """Items of a recipe: `count` of them from `index` on, or one for each of `seeds`.

        An item that the library cannot make at its seed is left out; each item's `recipe` has its seed and index.
        """
        body = _given(
            task=task, config=config, difficulty=difficulty, seed=seed, index=index, count=count, seeds=seeds
        )
        return self._post("/items", body)["items"]

    def item(self, item_id: str, *, run: Optional[str] = None, reveal: bool = False) -> Item:
        """An item again from its id, with a run's prompt; `reveal` (admin) adds `answer` and `metadata`."""
        return self._get(_path("items", item_id), run=run, reveal="true" if reveal else None)

    # Rewards

    def score(
        self,
        rollouts: Sequence[Mapping[str, Any]],
        *,
        extraction: Optional[str] = None,
        dual_format: Optional[bool] = None,
        scoring: Optional[str] = None,
        detail: str = "verdicts",
    ) -> Scores:
        """Scores and keeps nothing. A rollout names `item_id` or `recipe`, and `completion`, `messages` or `answer`."""
        rules = _given(extraction=extraction, dual_format=dual_format, scoring=scoring, detail=detail)
        total: Scores = {"rewards": []} if detail == "rewards" else {"rewards": [], "verdicts": []}
        for some in _chunks(rollouts, 4096):
            scores = self._post("/score", {"rollouts": list(some), **rules})
            total["rewards"] += scores["rewards"]
            if "verdicts" in total:
                total["verdicts"] += scores["verdicts"]
        return total

    def rewards(
        self, item_ids: Sequence[str], completions: Sequence[Union[str, Sequence[Message]]], **rules: Any
    ) -> List[Optional[float]]:
        """The plain reward function: one completion (text or messages) for each item id; None: could not be scored."""
        if len(item_ids) != len(completions):
            raise ValueError(f"{len(item_ids)} item ids for {len(completions)} completions")
        rollouts = [
            {"item_id": item_id, "completion" if isinstance(text, str) else "messages": text}
            for item_id, text in zip(item_ids, completions)
        ]
        return self.score(rollouts, detail="rewards", **rules)["rewards"]

    def sample(
        self,
        item_id: str,
        completion: Union[str, Sequence[Message]],
        *,
        run: Optional[str] = None,
        rollout_id: Optional[str] = None,
        length_tokens: Optional[int] = None,
        finish_reason: Optional[str] = None,
        adapter: str = "python",
    ) -> Verdict:
        """Scores one completion (text or messages), for trainers that score one at a time: see `samples`."""
        sample = _given(
            item_id=item_id, rollout_id=rollout_id, length_tokens=length_tokens, finish_reason=finish_reason
        )
        sample["completion" if isinstance(completion, str) else "messages"] = completion
        return self.samples([sample], run=run, adapter=adapter)["verdicts"][0]

    def samples(
        self, samples: Sequence[Mapping[str, Any]], *, run: Optional[str] = None, adapter: str = "python"
    ) -> Scores:
        """Scores single completions. A sample that is invalid is `unscored`; it raises nothing.

        A sample is `{"item_id", "completion" or "messages" or "answer", "rollout_id", "length_tokens", "finish_reason"}`. With
        `run`, its settings apply, and the server gathers the samples of one item into a group of the run, which moves the
        curriculum. Give each rollout of a run a `rollout_id` of its own, so that a repeated call counts once. If you have the whole
        group, post it instead (`Run.post`): length penalties and advantages need that.
        """
        path = "/samples" if run is None else _path("runs", run, "samples")
        total: Scores = {"rewards": [], "verdicts": []}
        for some in _chunks(samples, 1024):
            scores = self._post(path, {"adapter": adapter, "samples": list(some)})
            total["rewards"] += scores["rewards"]
            total["verdicts"] += scores["verdicts"]
        return total

    # Evals

    def suites(self) -> List[Dict[str, Any]]:
        """The frozen lists of items that evals are made of."""
        return self._get("/eval/suites")["suites"]

    def start_eval(
        self, suite: Union[str, Mapping[str, Any]], model: Optional[Mapping[str, Any]] = None, **settings: Any
    ) -> Eval:
        """Starts an eval. `model` is `{"name", "base_url", "api_key"}`; None: you bring the completions yourself.

        `suite` is a name (`suites` lists them) or tasks of your own. Settings: `samples_per_item`, `temperature`, `max_tokens`, `top_p`, `request`, `concurrency`, `extraction`,
        `scoring`, `system_prompt`, `run`, `step`, `labels`.
        """
        return self._post("/eval", {"suite": suite, "model": model, **settings}, headers=_once_key())

    def eval(self, eval_id: str) -> Eval:
        """An eval as it stands."""
        return self._get(_path("eval", eval_id))

    def evals(self, **query: Any) -> List[Eval]:
        """Past evals; `run`, `suite` and `label` choose."""
        return self._get("/eval", **query)["evals"]

    def follow_eval(
        self,
        eval_id: str,
        on_progress: Optional[Callable[[Eval], None]] = None,
        *,
        every_s: float = 1.0,
        timeout_s: Optional[float] = None,
    ) -> Eval:
        """Waits until the eval has ended, however it did; what it stands at is told every `every_s` seconds."""
        return self._follow(lambda: self.eval(eval_id), on_progress, every_s, timeout_s)

    def cancel_eval(self, eval_id: str) -> None:
        """Ends an eval."""
        self._wire.call("DELETE", _path("eval", eval_id))

    def eval_items(
        self, eval_id: str, *, rank: Optional[int] = None, ranks: Optional[int] = None
    ) -> List[Dict[str, Any]]:
        """What is still to be answered in an eval without a model: `{"sample_id", "item_id", "messages"}`."""
        items: List[Dict[str, Any]] = []
        while True:  # in portions: thousands of items take a while to make
            share = {"rank": rank, "ranks": ranks, "from": len(items), "count": 500}
            some = self._get(_path("eval", eval_id, "items"), **share)["items"]
            items += some
            if len(some) < 500:
                return items

    def complete_eval(self, eval_id: str, completions: Sequence[Mapping[str, Any]], *, at_once: int = 512) -> Any:
        """Brings completions: `{"sample_id", "completion" or "messages", "finish_reason", "length_tokens"}`.

        The same sample counts once.
        """
        answer = None
        for some in _chunks(completions, at_once):
            answer = self._post(_path("eval", eval_id, "completions"), {"completions": list(some)})
        return answer

    def finish_eval(self, eval_id: str) -> Eval:
        """Says that no more completions come; what is not there counts as missing, never as wrong."""
        return self._post(_path("eval", eval_id, "finish"), None)

    def evaluate(
        self,
        generate: Callable[[List[List[Message]]], Sequence[str]],
        suite: Union[str, Mapping[str, Any]],
        *,
        at_once: int = 64,
        timeout_s: Optional[float] = 3600,
        **settings: Any,
    ) -> Eval:
        """Measures a model that you run yourself: `generate` takes conversations and gives as many completions."""
        eval_id = self.start_eval(suite, None, **settings)["id"]
        for some in _chunks(self.eval_items(eval_id), at_once):
            texts = generate([item["messages"] for item in some])
            self.complete_eval(
                eval_id,
                [{"sample_id": item["sample_id"], "completion": text} for item, text in zip(some, texts)],
            )
        self.finish_eval(eval_id)
        return self.follow_eval(eval_id, timeout_s=timeout_s)

    # For operators

    def ready(self) -> bool:
        """Whether the server is ready to work; False also where it cannot be reached. Asked once, not again."""
        try:
            answer = self._wire._once("GET", self._wire.base + "/readyz", None, self._wire.headers, 5)
        except (OSError, http.client.HTTPException):
            return False
        return answer.status == 200

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Any call of the server, with the same retries: for what has no method here."""
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
    ) -> Any:
        until = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            state = look()
            if on_progress is not None:
                on_progress(state)
            if state["status"] not in ("queued", "running"):
                return state
            if until is not None and time.monotonic() >= until:
                raise ReasoningGymError(f"{state['id']} is still {state['status']} after {timeout_s} s")
            time.sleep(every_s)


class Run:
    """A training run that nodes share by its name: made with `Client.run(name)`."""

    def __init__(
        self, client: Client, name: str, *, incarnation: Optional[str] = None, require_run: bool = True
    ) -> None:
        self.client = client
        self.name = name
        self.incarnation = incarnation
        self.require_run = require_run
        self._wire = client._wire

    def _meant(self) -> Dict[str, str]:
        """For this incarnation alone, once it is known."""
        return {"If-Match": f'"{self.incarnation}"'} if self.require_run and self.incarnation is not None else {}

    def _configured(self, run: Dict[str, Any]) -> Dict[str, Any]:
        self.incarnation = run.get("incarnation")
        return run

    # The run itself

    def put(self, *, restart: bool = False, **settings: Any) -> Dict[str, Any]:
        """Sets what is named, keeps the rest; None restores a default. `restart` allows the sequence to begin anew."""
        query = {"restart": "true"} if restart else None
        path = _path("runs", self.name)
        return self._configured(self._wire.call("PUT", path, settings, query=query, headers=self._meant()).json())

    def get(self) -> Dict[str, Any]:
        """Settings, state, progress, and figures of each task."""
        return self.client._get(_path("runs", self.name))

    def delete(self) -> None:
        """Forgets the run and what it holds. One that is not there is as good as deleted."""
        try:
            self._wire.call("DELETE", _path("runs", self.name))
        except Problem as problem:
            if problem.code != "unknown_run":
                raise
        self.incarnation = None

    def checkpoint(self) -> Dict[str, Any]:
        """The run as one JSON document; save it beside the weights."""
        return self._wire.call("GET", _path("runs", self.name, "checkpoint"), headers=self._meant()).json()

    def restore(self, document: Mapping[str, Any]) -> Dict[str, Any]:
        """Goes back to a checkpoint, of this run or of another: what was buffered since is forgotten."""
        return self._configured(self._wire.call("PUT", _path("runs", self.name, "checkpoint"), document).json())

    def history(self, *, task: Optional[str] = None) -> List[Dict[str, Any]]:
        """What moved the curriculum, oldest first."""
        path = _path("runs", self.name, "history")
        return self._wire.call("GET", path, query={"task": task}, headers=self._meant()).json()["points"]

    def metrics(self, *, first: Optional[int] = None, last: Optional[int] = None) -> List[Dict[str, Any]]:
        """One flat dict a step, ready for a logger."""
        query = {"from": first, "to": last}
        answer = self._wire.call("GET", _path("runs", self.name, "metrics"), query=query, headers=self._meant())
        return answer.lines()

    # Items

    def items(
        self,
        count: Optional[int] = None,
        *,
        step: Optional[int] = None,
        position: Optional[int] = None,
        rank: Optional[int] = None,
        ranks: Optional[int] = None,
        timeout_s: float = 0,
    ) -> List[Item]:
        """The next items of the run; with `step` those of that step, the same whoever asks, or one rank's share.

        `count` is 1 if it is not given, or as many as the step has. Another number than the step has is `step_conflict`.
        With `position` those of the positions from there on, each the same for as long as the run exists: see Positions.
        Of the next items fewer than `count` may come, and none while the run waits for its trainer (`max_groups_ahead`): then it is
        asked again until `timeout_s` have passed.
        """
        body = _given(run=self.name, count=count, step=step, position=position, rank=rank, ranks=ranks)
        until = time.monotonic() + timeout_s
        named = step is not None or position is not None  # those are waited for until all are made
        wait_s = min(timeout_s, _HELD_S) if named else 0
        while True:
            answer = self._wire.call("POST", "/items", body, headers={**_once_key(), **self._meant()}, wait_s=wait_s)
            items: List[Item] = answer.json()["items"]
            pause = _seconds(answer.headers.get("retry-after")) or 0.2
            left = until - time.monotonic()
            if items or left <= 0:
                return items
            time.sleep(min(pause, left))

    def positions(self, per_step: int = 64, *, timeout_s: float = 300.0) -> "Positions":
        """The run's items by position, for trainers that know a row number: see Positions."""
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
        """Posts one group. With `wait_s` the answer has the verdicts, if they are there in that time.

        Without `group_id` the id comes from the content: the same rollouts for the same item, posted twice, count once. A
        process that starts again samples other rollouts, so let it name its groups (`step-rank-k`). `on_conflict="keep"` then
        takes a group of this id and item that was posted before with other rollouts for done: its result comes back, with
        `conflict`: True, and nothing counts twice. `"raise"` is the server's refusal, `group_conflict`.
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
    ) -> List[Group]:
        """Posts groups, answered in order; `at_once` of them (up to 256) in one request. `on_conflict`: see `post`."""
        until = time.monotonic() + wait_s
        done: List[Group] = []
        for some in _chunks(groups, min(at_once, 256)):
            done += self._posted({"run": self.name, "groups": list(some)}, until - time.monotonic(), on_conflict)
        return done

    def _posted(self, body: Dict[str, Any], wait_s: float, on_conflict: str) -> List[Group]:
        if on_conflict not in ("raise", "keep"):
            raise ValueError(f'on_conflict is "raise" or "keep", not {on_conflict!r}')
        until = time.monotonic() + wait_s
        try:
            return self._post_once(body, wait_s)
        except Problem as problem:
            if problem.code != "group_conflict" or on_conflict == "raise":
                raise
            if "groups" not in body:
                return [self._first_of_its_id(body, problem, until - time.monotonic())]
        # The refusal names one group, and there may be others; those without a conflict are accepted by now.
        return [
            self._posted({"run": self.name, **group}, until - time.monotonic(), on_conflict)[0] for group in body["groups"]
        ]

    def _first_of_its_id(self, body: Mapping[str, Any], conflict: Problem, wait_s: float) -> Group:
        """The group that was posted under this id before; raises the conflict if it is another item's."""
        try:
            first = self.group(body["group_id"], wait_s=wait_s)
        except Problem as problem:
            if problem.code != "unknown_group":
                raise
            # Scored so long ago that the server remembers no more than its id.
            first = {"group_id": body["group_id"], "run": self.name, "item_id": body["item_id"], "status": "scored"}
        if first["item_id"] != body["item_id"]:
            raise conflict
        return {**first, "conflict": True}

    def _post_once(self, body: Dict[str, Any], wait_s: float) -> List[Group]:
        until = time.monotonic() + wait_s
        # The run stands in the address too: a full buffer then refuses before it has read a large body.
        query = {"run": self.name}
        answer = self._wire.call("POST", "/rollouts", body, query=query, headers=self._meant(), wait_s=wait_s).json()
        groups: List[Group] = answer["groups"] if "groups" in body else [answer]
        return [
            group if group["status"] != "queued" else self.group(group["group_id"], wait_s=until - time.monotonic())
            for group in groups
        ] if wait_s > 0 else groups

    def group(self, group_id: str, *, wait_s: float = 0) -> Group:
        """A group as it stands, or as it is once scored, if that is within `wait_s`."""
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
            time.sleep(min(_LULL_S, left))

    # Batches

    def batch(
        self,
        step: int,
        *,
        rank: Optional[int] = None,
        ranks: Optional[int] = None,
        policy_version: Optional[int] = None,
        min_sequences: Optional[int] = None,
        final: Optional[bool] = None,
        balance: Optional[str] = None,
        timeout_s: Optional[float] = None,
    ) -> Batch:
        """The batch of a step, whole or one rank's share; waits until there is enough.

        The same for whoever asks and whenever, until it is acknowledged. `timeout_s` None waits for ever, 0 asks once;
        when time is over: NotReady. `min_sequences` is satisfied with fewer rollouts.

        `final` takes what there is, for all ranks the same: it waits for the groups that are queued, as long as `timeout_s`
        says (60 s at most; None: 30 s), and is never NotReady. Where `totals` has no groups, there is nothing to learn from in
        this step, on any rank; acknowledge it all the same. `balance`: `"tokens"` or, for many ranks, `"sequences"`.
        """
        body = _given(
            step=step,
            rank=rank,
            ranks=ranks,
            policy_version=policy_version,
            min_sequences=min_sequences,
            final=final,
            balance=balance,
        )
        until = None if timeout_s is None else time.monotonic() + timeout_s
        left = _HELD_S if timeout_s is None else timeout_s
        while True:
            answer = self._wire.call(
                "POST",
                _path("runs", self.name, "batches"),
                body,
                query={"arrays": "base64"},
                headers=self._meant(),
                wait_s=max(0, min(_WAIT_MOST_S if final and until is not None else _HELD_S, left)),
            )
            if answer.status == 200:
                return _with_arrays(answer.json())
            if until is not None:
                left = until - time.monotonic()
            if left <= 0:
                raise NotReady(
                    step, _count(answer.headers.get("x-batch-missing")), _count(answer.headers.get("x-batch-queued"))
                )
            time.sleep(min(_LULL_S, left))

    def read_batch(self, step: int, *, rank: Optional[int] = None, ranks: Optional[int] = None) -> Batch:
        """A batch that is composed; Problem `unknown_batch` if it is not."""
        path = _path("runs", self.name, "batches", step)
        query = {"rank": rank, "ranks": ranks, "arrays": "base64"}
        return _with_arrays(self._wire.call("GET", path, query=query, headers=self._meant()).json())

    def ack(self, step: int, *, rank: Optional[int] = None, ranks: Optional[int] = None) -> bool:
        """The step's batch is trained on and may be forgotten; with ranks, once each has said so. True: it is.

        May be repeated.
        """
        path = _path("runs", self.name, "batches", step, "ack")
        return bool(self.client._post(path, _given(rank=rank, ranks=ranks), headers=self._meant())["acknowledged"])

    # Collection

    def collect(self, model: Mapping[str, Any], groups: int, **settings: Any) -> Collection:
        """Has the run's items answered by a model behind an OpenAI-like address, and scored like posted groups."""
        path = _path("runs", self.name, "collect")
        headers = {**_once_key(), **self._meant()}
        return self.client._post(path, {"model": model, "groups": groups, **settings}, headers=headers)

    def collection(self, collection_id: str) -> Collection:
        """A collection as it stands."""
        return self.client._get(_path("runs", self.name, "collect", collection_id))

    def follow_collection(
        self,
        collection_id: str,
        on_progress: Optional[Callable[[Collection], None]] = None,
        *,
        every_s: float = 1.0,
        timeout_s: Optional[float] = None,
    ) -> Collection:
        """Waits until the collection has ended, however it did."""
        return self.client._follow(lambda: self.collection(collection_id), on_progress, every_s, timeout_s)

    def cancel_collection(self, collection_id: str) -> None:
        """Ends a collection."""
        self._wire.call("DELETE", _path("runs", self.name, "collect", collection_id))


def _count(text: Optional[str]) -> Optional[int]:
    return int(text) if text is not None and text.isdigit() else None


class Positions:
    """The items of a run by position, for trainers that only know the number of a row.

        positions = client.run("first").positions(per_step=64)
        positions[0]["messages"]                                 # requests the items 0 to 63 in one call
        positions.take([64, 65, 64])                             # items in the order of the argument

    Positions count from 0. A position has the same item in every process, on every node, and after a resume, for as long as the
    run exists; checkpoints keep it. `per_step` is the number of prompts in one training step (1 to 1,024). Items are requested in
    blocks of this size, and the difficulty of a block is decided at its first request. The last 8 blocks are cached, so that the
    members of a group cause one request.

    Threads may share it; it can be pickled and survives a fork. If the server does not return a position within `timeout_s` seconds,
    this raises: Problem if the server refuses (`make_failed`: no task of the run has an item there), Unreachable if it is down. It
    never returns another item instead.
    """

    BLOCKS = 8  #: blocks in the cache

    def __init__(self, run: Run, per_step: int = 64, *, timeout_s: float = 300.0) -> None:
        if not 1 <= per_step <= 1024:
            raise ValueError(f"per_step is 1 to 1024, not {per_step}")
        self.run = run
        self.per_step = per_step
        self.timeout_s = timeout_s
        self._blocks: "OrderedDict[int, List[Optional[Item]]]" = OrderedDict()
        self._unlocked()

    def _unlocked(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()

    def __getstate__(self) -> Dict[str, Any]:
        return {"run": self.run, "per_step": self.per_step, "timeout_s": self.timeout_s, "_blocks": OrderedDict()}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._unlocked()

    def __getitem__(self, position: int) -> Item:
        """The item at this position."""
        if position < 0:
            raise IndexError(f"positions begin at 0: {position}")
        block, within = divmod(int(position), self.per_step)
        item = self._block(block)[within]
        return self._items(int(position), 1)[0] if item is None else item

    def take(self, positions: Iterable[int]) -> List[Item]:
        """The items at these positions, in their order; one call for each block of `per_step` that is not cached."""
        return [self[position] for position in positions]

    def _block(self, block: int) -> List[Optional[Item]]:
        if self._pid != os.getpid():
            self._unlocked()  # another thread of the parent may have held the lock at the fork
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
        # One of them has no item: the others must not suffer. That one is asked for again when it is wanted, and raises.
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


class TrainerClient:
    """A client for the file of one trainer. What is not given as an argument comes from the environment of the process.

    REASONING_GYM_URL       address of the server, which may contain the key
    REASONING_GYM_API_KEY   key, if the address has none
    REASONING_GYM_RUN       run whose settings apply and which counts the completions; without it they are only scored
    REASONING_GYM_PER_STEP  prompts of one training step (64): see Positions

    While the server is down, calls are retried for `deadline_s` seconds, and then raise. A completion that could not be scored
    is a verdict with the `status` `unscored`. Connections are opened when needed, and the client can be pickled.
    """

    def __init__(
        self,
        adapter: str,
        *,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
        run: Optional[str] = None,
        per_step: Optional[int] = None,
        deadline_s: float = 600.0,
    ) -> None:
        timeout_s = min(60.0, deadline_s)  # a try that is given up early would only add to the load
        self.adapter = adapter
        self.client = Client(url, api_key=api_key, timeout_s=timeout_s, retry_for_s=deadline_s, deadline_s=deadline_s)
        self.run_name = run or os.environ.get("REASONING_GYM_RUN") or None
        self.per_step = per_step or int(os.environ.get("REASONING_GYM_PER_STEP") or 64)
        self.deadline_s = deadline_s
        self._positions: Optional[Positions] = None

    @property
    def run(self) -> Run:
        """The run; ValueError without one."""
        if self.run_name is None:
            raise ValueError("items by position belong to a run: set REASONING_GYM_RUN to its name")
        return self.client.run(self.run_name)

    @property
    def positions(self) -> Positions:
        """The items of the run by position; ValueError without a run."""
        if self._positions is None:
            self._positions = self.run.positions(self.per_step, timeout_s=self.deadline_s)
        return self._positions

    def item_id(self, row: Mapping[str, Any]) -> str:
        """The item ID of a row of the trainer's data: its `item_id`, or that of the item at its `position`; "" if it has neither."""
        if row.get("item_id"):
            return str(row["item_id"])
        return "" if row.get("position") is None else self.positions[int(row["position"])]["id"]

    def sample(self, item_id: str, completion: Union[str, Sequence[Message]], **details: Any) -> Verdict:
        """Scores one completion in the run, if there is one. `details`: see Client.sample. Retries of this call count once."""
        named = {"rollout_id": uuid.uuid4().hex, **details}
        return self.client.sample(item_id, completion, run=self.run_name, adapter=self.adapter, **named)


_SPECIAL_TOKENS = re.compile(
    r"(?:\s*(?:<[|\uff5c][^<>]{1,40}[|\uff5c]>|</s>|<eos>|<bos>|<pad>|<(?:start|end)_of_turn>|\[(?:PAD|EOS|SEP)\]))+\s*\Z"
)


def strip_special_tokens(completion: str) -> str:
    """The completion without special tokens at its end (`<|im_end|>`, `</s>`, …), which some trainers leave there."""
    found = _SPECIAL_TOKENS.search(completion[-2000:])
    return completion if found is None else completion[: len(completion) - len(found.group())]


def fill_unscored(rewards: Sequence[Optional[float]]) -> List[float]:
    """The rewards of one group, with None replaced by the mean of the others; all 0 if none could be scored.

    For trainers without a mask: the mean of the group does not change, and the advantage of the replaced reward is 0. A reward of 0
    would be trained on as a wrong answer.
    """
    scored = [reward for reward in rewards if reward is not None]
    mean = math.fsum(scored) / len(scored) if scored else 0.0
    return [mean if reward is None else reward for reward in rewards]


_threads: "Optional[tuple[int, ThreadPoolExecutor]]" = None


def in_thread(function: Callable[..., Any], *arguments: Any, **options: Any) -> "Awaitable[Any]":
    """Runs a call of this module without blocking the event loop: `await in_thread(client.rewards, ids, texts)`.

    Up to 64 calls run at once. asyncio's own pool has as few as six threads on a small machine, too few if calls wait for a server
    that is down.
    """
    global _threads
    if _threads is None or _threads[0] != os.getpid():
        _threads = (os.getpid(), ThreadPoolExecutor(64, thread_name_prefix="reasoning-gym"))
    return asyncio.get_running_loop().run_in_executor(_threads[1], lambda: function(*arguments, **options))
