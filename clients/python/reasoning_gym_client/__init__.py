"""Client for reasoning-gym-server: one file, standard library only, Python 3.9 or newer.

    from reasoning_gym_client import Client

    client = Client("http://127.0.0.1:8000")
    run = client.run("first")
    for item in run.items(8):
        completions = my_model(item["messages"])
        run.post(item["id"], [{"completion": text} for text in completions], policy_version=0)
    batch = run.batch(step=0, min_sequences=1)      # waits until the batch is complete
    for group in batch["groups"]:
        for rollout, verdict in zip(group["rollouts"], group["verdicts"]):
            ...                                      # verdict["reward"], verdict["advantage"]
    run.ack(step=0)

`Client()` without a URL reads the environment variables REASONING_GYM_URL and REASONING_GYM_API_KEY.

What the client does for you:

* Retries. Every call can safely be repeated, so the client retries lost connections, 408, 429, 502, 503, 504, and a 409 with
  Retry-After (another call was changing the same run). Pauses grow exponentially with jitter, and are never shorter than the
  server's Retry-After. `retry_for_s` limits the total time.
* Connections. Each thread keeps one connection open. Threads can share a client. It survives a fork and can be pickled.
* Positions. `Run.positions` returns the same item for the same position in every process.
* Arrays. Wherever the server takes numbers, you can pass numpy arrays or torch tensors on the CPU. They are sent as typed bytes
  and never rounded. Batches return all lists of numbers as numpy arrays, or as `array.array` if numpy is not installed.
* Compression of large bodies with gzip.

Results are plain dicts with the server's field names. The TypedDicts below describe them.
"""

# mypy: disable-error-code="no-any-return"
# Results are parsed JSON. The server guarantees that they match the TypedDicts; the type checker cannot verify it.

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
# Types of requests and results
# ---------------------------------------------------------------------------------------------------------------------

#: A chat message: `role`, `content`, and optional further keys such as tool calls and names.
Message = Dict[str, Any]

#: A list, `array.array`, numpy array or CPU tensor of numbers. Batches always hold arrays, with NaN for each None that was sent.
Numbers = Any


class Item(TypedDict, total=False):
    """A concrete puzzle with its prompt. `id` encodes the recipe. The reference answer stays on the server."""

    id: str
    task: str
    category: str
    difficulty: Optional[float]
    recipe: Dict[str, Any]
    question: str
    messages: List[Message]
    again: bool


class Rollout(TypedDict, total=False):
    """One completion with its tokens, masks and logprobs. `completion` or `messages` is required; all other fields are optional."""

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
    """The rollouts of one item, as an argument of `Run.post_many`. `item_id` and `rollouts` are required."""

    item_id: str
    group_id: str
    policy_version: int
    buffer: bool
    extra: Any
    rollouts: Sequence[Rollout]


class Verdict(TypedDict, total=False):
    """The result for one completion. `status` is `scored` or `unscored`.

    `fault` names an error of the model, such as `no_answer`. `code` names an error of the server. The reward and score of an
    unscored verdict are None.
    """

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
    """The state of a posted group. `status` is `queued`, `scored` or `failed`.

    `rewards` holds the rewards of `verdicts`, in the order of the rollouts, and the server stores it longer. If `conflict` is
    True, the result belongs to other rollouts that were posted first under this ID (see `Run.post`).
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
    """A group in a batch: rollouts and their verdicts in the same order.

    `indices` holds the positions of these rollouts in the posted group. The others belong to another rank or were not scored.
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
    """The groups of one training step, or one rank's share of them. `totals` describes the whole batch."""

    run: str
    step: int
    sequences: int
    totals: Dict[str, int]
    lag: Dict[str, Optional[float]]
    metrics: Dict[str, Any]
    groups: List[BatchGroup]


class Scores(TypedDict, total=False):
    """Rewards in the order of the request. A reward is None if the server could not score the completion."""

    rewards: List[Optional[float]]
    verdicts: List[Verdict]


class SampleFailure(TypedDict):
    """Samples of an eval, a duel or a collection that have no score for the same reason."""

    code: str
    reason: str
    count: int


class Eval(TypedDict, total=False):
    """The evaluation of one model on one suite. `status` is `queued`, `running`, `done`, `failed` or `cancelled`."""

    id: str
    status: str
    progress: Dict[str, int]
    failures: List[SampleFailure]
    detail: Optional[str]
    result: Optional[Dict[str, Any]]


class Collection(TypedDict, total=False):
    """A job in which a model behind an OpenAI-compatible API completes items of a run."""

    id: str
    status: str
    failures: List[SampleFailure]
    detail: Optional[str]


# ---------------------------------------------------------------------------------------------------------------------
# Errors
# ---------------------------------------------------------------------------------------------------------------------


class ReasoningGymError(Exception):
    """Base class of all errors that this module raises."""


class Problem(ReasoningGymError):
    """The server rejected the request.

    Attributes:
        status: HTTP status.
        code: Stable error code to compare with, such as `buffer_full`, `unknown_run` or `group_conflict`.
        detail: What happened and what to do.
        errors: Invalid fields, each as `{"path", "message"}`.
        retry_after: Value of Retry-After in seconds, or None.
        request_id: ID of the request in the server's log.
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
    """The run no longer exists, or a new run has its name, because it was deleted or Redis lost it. The call had no effect.

    To continue, restore a checkpoint or put the settings with a new `Client.run(name)`.
    """


class Unreachable(ReasoningGymError):
    """The server did not answer within the time for retries. `__cause__` is the last error.

    Raised without a retry if something other than this server answers at the URL: no HTTP, no JSON, or an untrusted certificate.
    """


class NotReady(ReasoningGymError):
    """The batch was not complete before the timeout. It lacks `missing` rollouts, and `queued` rollouts wait to be scored."""

    def __init__(self, step: int, missing: Optional[int], queued: Optional[int]) -> None:
        super().__init__(f"the batch of step {step} is not ready: it lacks {missing} rollouts, and {queued} wait to be scored")
        self.step = step
        self.missing = missing
        self.queued = queued


# ---------------------------------------------------------------------------------------------------------------------
# Arrays
# ---------------------------------------------------------------------------------------------------------------------

_TYPED = ("int32", "float32", "uint8", "int16", "float64")
_WIDENED = {"bool": "uint8", "int8": "int16", "uint16": "int32", "float16": "float32"}
_NARROWED = {"int64", "uint64", "uint32"}
_NOT_IN_NUMPY = ("torch.bfloat16", "torch.float8")  # converts to float32 without loss
_BY_TYPECODE = {"B": "uint8", "h": "int16", "i": "int32", "f": "float32", "d": "float64"}
_EXACT_MOST = 2**53 - 1  # the server parses JSON numbers as doubles


def _plain(value: Any) -> Any:
    """Encodes arrays for `json.dumps`: as `{dtype, data}` if that is lossless, and as lists of numbers otherwise."""
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
    """Converts an array to a list. Raises ValueError for integers that JSON numbers would round."""
    edges: Sequence[int] = ()
    if isinstance(values, array.array):
        if values.typecode in "lLqQ" and len(values) > 0:
            edges = min(values), max(values)
    elif values.dtype.kind in "iu" and values.size > 0:
        edges = int(values.min()), int(values.max())
    if any(abs(edge) > _EXACT_MOST for edge in edges):
        raise ValueError("integers above 2**53 - 1 in absolute value would be rounded as JSON numbers: send them as strings")
    return values.tolist()


def _typed(dtype: str, raw: bytes) -> Dict[str, str]:
    return {"dtype": dtype, "data": base64.b64encode(raw).decode("ascii")}


def _numbers(value: Any) -> Any:
    """Decodes `{dtype, data}` to a numpy array, or to `array.array` without numpy. Returns other values unchanged."""
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
# HTTP
# ---------------------------------------------------------------------------------------------------------------------

_AGAIN = (408, 429, 502, 503, 504)
_PAUSE_S, _PAUSE_MOST_S = 0.2, 10.0
_WAIT_MOST_S = 60  # the longest wait that the server accepts
_HELD_S = 30.0  # wait of one request for a batch
_LULL_S = 0.05  # pause between two requests that wait on the server
_QUIET_S = 5.0  # time of retries after which a warning is logged
_OVER_S = 0.1  # the server waits whole seconds; rounding up by this much saves requests


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
            hint = "check that the URL is that of a reasoning-gym-server"
            raise Unreachable(f"{self.call}: the response is not JSON; {hint}") from error


class _Kept:
    """A thread's connection and the process that opened it. Closes the connection when it is released or the thread ends."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.pid = os.getpid()
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class _Wire:
    """Sends requests with one persistent connection per thread, and retries them until the time for retries is over."""

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
        self.url = urllib.parse.urlunsplit(parts._replace(netloc=address))  # without the key, because messages contain the URL
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not the URL of a server: {self.url!r}")
        if at and not parts.password:
            raise ValueError(f"the URL has a user but no key: write {parts.scheme}://{user.rstrip(':')}:KEY@{address}")
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
        self.random = random.SystemRandom()  # independent of the trainer's seeds

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
        """Returns the first response with a 2xx status. Raises Problem for an error response and Unreachable without a response."""
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
            log.info("%s %s: %s; retrying in %.1f s", method, path, failure, pause)
            if not told and time.monotonic() - began > _QUIET_S:
                log.warning("%s; retrying for another %.0f s", failure, until - time.monotonic())
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
            # The server may have closed an idle connection. That is no failure of this request, so it is sent again at once.
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
            pass  # the server may have responded before it read the body
        response = connection.getresponse()
        body = response.read()
        if response.getheader("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if response.will_close:
            self.drop()
        call = f"{method} {self.url}{target[len(self.base) :]}"
        return _Answer(call, response.status, {name.lower(): value for name, value in response.getheaders()}, body)

    def _connection(self, timeout_s: float) -> "tuple[http.client.HTTPConnection, bool]":
        """Returns this thread's connection and whether it was used before. A forked child opens its own connection."""
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
    """Whether this is a conflict with a concurrent call (`run_changed`, `idempotency_in_progress`), which a retry resolves."""
    return problem.status == 409 and problem.retry_after is not None


def _is_something_else(error: Exception) -> bool:
    """Whether the peer does not speak HTTP or trusted TLS, so that a retry does not help."""
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
        told = {"detail": f"{answer.call} redirects to {answer.headers.get('location')}; use the URL of the server itself"}
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
    """Parses Retry-After, a number of seconds or a date, to seconds from now. Returns None if it is absent or invalid."""
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
    """Returns the fields that are not None. The server uses its defaults for the others."""
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
        """Closes the connection of this thread. The client remains usable."""
        self._wire.drop()

    def run(self, name: str = "default", *, incarnation: Optional[str] = None, require_run: bool = True) -> "Run":
        """Returns the run of this name without a request. The server creates the run at its first use.

        After `put` or `restore`, or if you pass `incarnation`, calls apply only to this incarnation of the run. If the server
        has lost it, they raise RunLost instead of creating a new run with default settings.

        Args:
            name: Name of the run.
            incarnation: Expected incarnation, the field of that name in `Run.get()`.
            require_run: False turns the check of the incarnation off.
        """
        return Run(self, name, incarnation=incarnation, require_run=require_run)

    def runs(self, *, archived: bool = False) -> List[Dict[str, Any]]:
        """Returns all runs, and with `archived` also the archived ones."""
        return self._get("/runs", archived="true" if archived else None)["runs"]

    def start_demo(self, *, steps: Optional[int] = None, run: Optional[str] = None) -> Dict[str, Any]:
        """Starts a demo, which trains a simulated model on a new run. Returns its `run`, its `steps` and its page on the `dashboard`."""
        return self._post("/demo", _given(steps=steps, run=run))

    # Tasks and items

    def whoami(self) -> Dict[str, Any]:
        """Returns the `role` of the API key, the `runs` that it is bound to (None for all), and the last characters of the `key`."""
        return self._get("/whoami")

    def tasks(self, *, category: Optional[str] = None, q: Optional[str] = None) -> List[Dict[str, Any]]:
        """Lists the tasks (`name`, `category`, `credit`, `rungs`, …), optionally only those of a category or matching `q`."""
        return self._get("/tasks", category=category, q=q)["tasks"]

    def task(self, name: str) -> Dict[str, Any]:
        """Returns one task with its config schema, difficulty ladder, measurements and an example."""
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
        """Scores completions without storing them.

        Args:
            rollouts: Completions of any number, each with `item_id` or `recipe`, and `completion`, `messages` or `answer`.
            extraction: How to find the answer: `strict` (default), `last_tag`, `tag_or_boxed` or `bare`.
            dual_format: Whether to score the answer both as it stands and in answer tags, and use the higher score (default).
            scoring: `upstream` (default) or `hardened`.
            detail: `verdicts`, or `rewards` to omit the verdicts.

        Returns:
            Rewards and verdicts in the order of `rollouts`.
        """
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
        """Returns one reward per completion, for use as a plain reward function.

        Args:
            item_ids: Item IDs.
            completions: One completion per item ID, as text or as messages.
            **rules: `extraction`, `dual_format` and `scoring`, as in `score`.

        Returns:
            Rewards in the same order. A reward is None if the server could not score the completion.
        """
        if len(item_ids) != len(completions):
            raise ValueError(f"expected one completion per item ID: {len(item_ids)} item IDs, {len(completions)} completions")
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
        """Scores one completion (text or messages), for trainers that score one at a time. See `samples`."""
        sample = _given(
            item_id=item_id, rollout_id=rollout_id, length_tokens=length_tokens, finish_reason=finish_reason
        )
        sample["completion" if isinstance(completion, str) else "messages"] = completion
        return self.samples([sample], run=run, adapter=adapter)["verdicts"][0]

    def samples(
        self, samples: Sequence[Mapping[str, Any]], *, run: Optional[str] = None, adapter: str = "python"
    ) -> Scores:
        """Scores single completions that do not arrive as groups.

        If you have all rollouts of an item, use `Run.post` instead: length penalties and advantages need the whole group.

        Args:
            samples: Each is `{"item_id", "completion" or "messages" or "answer", "rollout_id", "length_tokens",
                "finish_reason"}`. Give each rollout of a run its own `rollout_id`, so that a repeated call counts once.
            run: Run whose settings apply. The server gathers the samples of an item into a group of this run, which moves the
                curriculum. None: the samples are only scored.
            adapter: Name of the trainer, for the usage statistics.

        Returns:
            Rewards and verdicts in the order of `samples`. An invalid sample is `unscored` and raises no error.
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
            **settings: `samples_per_item`, `temperature`, `max_tokens`, `top_p`, `request`, `concurrency`, `extraction`,
                `scoring`, `system_prompt`, `run`, `step` and `labels`.
        """
        return self._post("/eval", {"suite": suite, "model": model, **settings}, headers=_once_key())

    def eval(self, eval_id: str) -> Eval:
        """Returns the current state of an eval."""
        return self._get(_path("eval", eval_id))

    def evals(self, **query: Any) -> List[Eval]:
        """Lists evals, newest first. Filters: `run`, `suite`, `label`, `model` and `q` (words in their names)."""
        return self._get("/eval", **query)["evals"]

    def compare_evals(self, a: str, b: str) -> Dict[str, Any]:
        """Returns the paired comparison of two evals on the same suite, in total and by task."""
        return self._get("/eval/compare", a=a, b=b)

    def flipped_items(
        self, a: str, b: str, *, task: Optional[str] = None, right_in: Optional[str] = None, limit: Optional[int] = None
    ) -> List[Dict[str, Any]]:
        """Lists the items that one of two evals has right and the other wrong, with both answers.

        Args:
            a: ID of the first eval.
            b: ID of the second eval.
            task: Lists only items of this task.
            right_in: `"a"` or `"b"`: lists only items that this eval has right.
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
    ) -> Eval:
        """Waits until the eval ends, whatever its status, and returns it.

        Args:
            eval_id: ID of the eval.
            on_progress: Called with the state of the eval every `every_s` seconds.
            every_s: Interval of the requests in seconds.
            timeout_s: Timeout in seconds. None: no timeout.

        Raises:
            ReasoningGymError: The eval has not ended within `timeout_s`.
        """
        return self._follow(lambda: self.eval(eval_id), on_progress, every_s, timeout_s)

    def cancel_eval(self, eval_id: str) -> None:
        """Cancels an eval. The server keeps its finished samples."""
        self._wire.call("DELETE", _path("eval", eval_id))

    def eval_samples(self, eval_id: str, **query: Any) -> Iterator[Dict[str, Any]]:
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

    def eval_sample(self, eval_id: str, sample_id: str) -> Dict[str, Any]:
        """Returns one sample of an eval, with its expected answer if the key may see it."""
        return self._get(_path("eval", eval_id, "samples", sample_id))

    def eval_items(
        self, eval_id: str, *, rank: Optional[int] = None, ranks: Optional[int] = None
    ) -> List[Dict[str, Any]]:
        """Returns the unfinished samples (`sample_id`, `item_id`, `messages`) of an eval without a model, or a rank's share."""
        items: List[Dict[str, Any]] = []
        while True:  # in pages, because thousands of items take a while to create
            share = {"rank": rank, "ranks": ranks, "from": len(items), "count": 500}
            some = self._get(_path("eval", eval_id, "items"), **share)["items"]
            items += some
            if len(some) < 500:
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
            answer = self._post(_path("eval", eval_id, "completions"), {"completions": list(some)})
        return answer

    def finish_eval(self, eval_id: str) -> Eval:
        """Ends an eval without a model. Samples without a completion count as missing, not as wrong."""
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
        """Evaluates a model that you run yourself.

        Args:
            generate: Takes a list of conversations and returns one completion per conversation, in the same order.
            suite: Name of a suite (see `suites`), or a dict that selects tasks.
            at_once: Maximum number of conversations per call of `generate`.
            timeout_s: Time in seconds to wait for the results after the last completion. None: no timeout.
            **settings: Settings of `start_eval`.
        """
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
        """Returns whether the server is ready. False if it is unreachable. Does not retry."""
        try:
            answer = self._wire._once("GET", self._wire.base + "/readyz", None, self._wire.headers, 5)
        except (OSError, http.client.HTTPException):
            return False
        return answer.status == 200

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
    """A training run, which nodes share by its name. Create it with `Client.run(name)`."""

    def __init__(
        self, client: Client, name: str, *, incarnation: Optional[str] = None, require_run: bool = True
    ) -> None:
        self.client = client
        self.name = name
        self.incarnation = incarnation
        self.require_run = require_run
        self._wire = client._wire

    def _meant(self) -> Dict[str, str]:
        """The header that restricts a call to this incarnation, if it is known."""
        return {"If-Match": f'"{self.incarnation}"'} if self.require_run and self.incarnation is not None else {}

    def _configured(self, run: Dict[str, Any]) -> Dict[str, Any]:
        self.incarnation = run.get("incarnation")
        return run

    # The run itself

    def put(self, *, restart: bool = False, **settings: Any) -> Dict[str, Any]:
        """Creates the run or changes its settings.

        Args:
            restart: Allows changes that restart the item sequence, such as `seed` and `tasks`.
            **settings: Settings to change. Others keep their values. None restores the default.

        Returns:
            The run, with the names of the settings that changed.
        """
        query = {"restart": "true"} if restart else None
        path = _path("runs", self.name)
        return self._configured(self._wire.call("PUT", path, settings, query=query, headers=self._meant()).json())

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

    def delete(self) -> None:
        """Deletes the run and everything that the server holds for it. Does nothing if the run does not exist."""
        try:
            self._wire.call("DELETE", _path("runs", self.name))
        except Problem as problem:
            if problem.code != "unknown_run":
                raise
        self.incarnation = None

    def checkpoint(self) -> Dict[str, Any]:
        """Returns a checkpoint of the run as a JSON document. Save it with the model's weights."""
        return self._wire.call("GET", _path("runs", self.name, "checkpoint"), headers=self._meant()).json()

    def restore(self, document: Mapping[str, Any]) -> Dict[str, Any]:
        """Restores the run from a checkpoint of this or another run. Discards the groups that the run holds now."""
        return self._configured(self._wire.call("PUT", _path("runs", self.name, "checkpoint"), document).json())

    def history(self, *, task: Optional[str] = None) -> List[Dict[str, Any]]:
        """Returns the history of the curriculum, oldest point first."""
        path = _path("runs", self.name, "history")
        return self._wire.call("GET", path, query={"task": task}, headers=self._meant()).json()["points"]

    def metrics(
        self, *, first: Optional[int] = None, last: Optional[int] = None, points: Optional[int] = None
    ) -> List[Dict[str, Any]]:
        """Returns the metrics of each step from `first` to `last`, each as a flat dict that you can pass to a logger.

        With `points`, steps are merged into at most this many rows of the whole run, without the metrics of each task.
        """
        query = {"from": first, "to": last, "points": points}
        answer = self._wire.call("GET", _path("runs", self.name, "metrics"), query=query, headers=self._meant())
        return answer.lines()

    def histograms(self, *, points: Optional[int] = None) -> List[Dict[str, Any]]:
        """Returns the distributions of rewards and completion lengths over training, in at most `points` rows."""
        path = _path("runs", self.name, "histograms")
        return self._wire.call("GET", path, query={"points": points}, headers=self._meant()).lines()

    def task_metrics(self, metric: str = "reward", *, columns: Optional[int] = None) -> Dict[str, Any]:
        """Returns "reward", "score", "accuracy" or "difficulty" of each task in at most `columns` ranges of steps."""
        path = _path("runs", self.name, "task-metrics")
        query = {"metric": metric, "columns": columns}
        return self._wire.call("GET", path, query=query, headers=self._meant()).json()

    def groups(self, **query: Any) -> Iterator[Dict[str, Any]]:
        """Yields the groups that the server keeps, page by page, with shortened texts.

        Args:
            **query: `task`, `step`, `fault`, `destination`, `min_reward`, `q` (text to find), `sort` ("newest" or "worst")
                and `full` (complete texts).
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

    def retained_group(self, group_id: str) -> Dict[str, Any]:
        """Returns a group with its complete texts, and with the expected answer if the key has the role admin."""
        path = _path("runs", self.name, "groups", group_id)
        return self._wire.call("GET", path, headers=self._meant()).json()

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
        """Returns items of the run: its next items, the items of a step, or the items at positions.

        Args:
            count: Number of items. Default: 1, or all items of the step.
            step: Returns the items of this step, which are the same for every caller. The first call for a step sets its
                `count`; another `count` raises Problem `step_conflict`.
            position: Returns the items from this position on, which never change while the run exists. See Positions.
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
    ) -> List[Group]:
        """Posts groups and returns their results in order. Sends up to `at_once` groups (at most 256) per request. See `post`."""
        until = time.monotonic() + wait_s
        done: List[Group] = []
        for some in _chunks(groups, min(at_once, 256)):
            done += self._posted({"run": self.name, "groups": list(some)}, until - time.monotonic(), on_conflict)
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
            first = {"group_id": body["group_id"], "run": self.name, "item_id": body["item_id"], "status": "scored"}
        if first["item_id"] != body["item_id"]:
            raise conflict
        return {**first, "conflict": True}

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
        """Returns the batch of a step, or one rank's share of it. Waits until the batch is complete.

        The server composes the batch once. Every call for the step returns the same batch until it is acknowledged.

        Args:
            step: Training step.
            rank: Returns only the share of this rank.
            ranks: Number of ranks.
            policy_version: Current version of the policy, for the policy lag of the groups.
            min_sequences: Number of rollouts that completes the batch, if it is less than the `batch_size` of the run.
            final: Composes the batch from the available groups, however few, after queued groups are scored. Waits at most
                `timeout_s` (up to 60 s; None: 30 s) and never raises NotReady. If `totals` has no groups, there is nothing to
                train on in this step on any rank; acknowledge the batch anyway.
            balance: What to balance between ranks: `"tokens"` or `"sequences"`.
            timeout_s: Time in seconds to wait for the batch. None: no timeout. 0: a single request.

        Raises:
            NotReady: The batch is not complete within `timeout_s`.
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
    ) -> Collection:
        """Waits until the collection ends, whatever its status, and returns it. See `Client.follow_eval` for the arguments."""
        return self.client._follow(lambda: self.collection(collection_id), on_progress, every_s, timeout_s)

    def cancel_collection(self, collection_id: str) -> None:
        """Cancels a collection. The server keeps its finished groups."""
        self._wire.call("DELETE", _path("runs", self.name, "collect", collection_id))


def _count(text: Optional[str]) -> Optional[int]:
    return int(text) if text is not None and text.isdigit() else None


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


class TrainerClient:
    """The client that the integration of a trainer uses. Arguments that you omit come from environment variables.

    REASONING_GYM_URL       address of the server, which may contain the key
    REASONING_GYM_API_KEY   key, if the address has none
    REASONING_GYM_RUN       run whose settings apply and which counts the completions; without it they are only scored
    REASONING_GYM_PER_STEP  prompts of one training step (64): see Positions

    While the server is down, calls are retried for `deadline_s` seconds and then raise. A completion that the server cannot score
    gets a verdict with status `unscored`. The client opens connections when it needs them, and can be pickled.
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
        timeout_s = min(60.0, deadline_s)  # a shorter timeout would only add load
        self.adapter = adapter
        self.client = Client(url, api_key=api_key, timeout_s=timeout_s, retry_for_s=deadline_s, deadline_s=deadline_s)
        self.run_name = run or os.environ.get("REASONING_GYM_RUN") or None
        self.per_step = per_step or int(os.environ.get("REASONING_GYM_PER_STEP") or 64)
        self.deadline_s = deadline_s
        self._positions: Optional[Positions] = None

    @property
    def run(self) -> Run:
        """The run. Raises ValueError if none is set."""
        if self.run_name is None:
            raise ValueError("items by position need a run: set REASONING_GYM_RUN to its name")
        return self.client.run(self.run_name)

    @property
    def positions(self) -> Positions:
        """The items of the run by position. Raises ValueError if no run is set."""
        if self._positions is None:
            self._positions = self.run.positions(self.per_step, timeout_s=self.deadline_s)
        return self._positions

    def item_id(self, row: Mapping[str, Any]) -> str:
        """Returns the `item_id` of a data row, or the ID of the item at its `position`, or "" if the row has neither."""
        if row.get("item_id"):
            return str(row["item_id"])
        return "" if row.get("position") is None else self.positions[int(row["position"])]["id"]

    def sample(self, item_id: str, completion: Union[str, Sequence[Message]], **details: Any) -> Verdict:
        """Scores one completion, in the run if one is set. Retries count once. `details` are arguments of `Client.sample`."""
        named = {"rollout_id": uuid.uuid4().hex, **details}
        return self.client.sample(item_id, completion, run=self.run_name, adapter=self.adapter, **named)


_SPECIAL_TOKENS = re.compile(
    r"(?:\s*(?:<[|\uff5c][^<>]{1,40}[|\uff5c]>|</s>|<eos>|<bos>|<pad>|<(?:start|end)_of_turn>|\[(?:PAD|EOS|SEP)\]))+\s*\Z"
)


def strip_special_tokens(completion: str) -> str:
    """Removes special tokens such as `<|im_end|>` and `</s>` from the end of a completion, which some trainers leave there."""
    found = _SPECIAL_TOKENS.search(completion[-2000:])
    return completion if found is None else completion[: len(completion) - len(found.group())]


def fill_unscored(rewards: Sequence[Optional[float]]) -> List[float]:
    """Replaces each None in the rewards of one group with the mean of the others, or with 0 if all are None.

    For trainers without a mask. The mean of the group does not change, and the replaced rewards get an advantage of 0. A reward
    of 0 instead would train the model as if the answer were wrong.
    """
    scored = [reward for reward in rewards if reward is not None]
    mean = math.fsum(scored) / len(scored) if scored else 0.0
    return [mean if reward is None else reward for reward in rewards]


_threads: "Optional[tuple[int, ThreadPoolExecutor]]" = None


def in_thread(function: Callable[..., Any], *arguments: Any, **options: Any) -> "Awaitable[Any]":
    """Runs a call of this module without blocking the event loop: `await in_thread(client.rewards, ids, texts)`.

    Up to 64 calls run at once. The default pool of asyncio may have only six threads, too few if calls wait for a server that
    is down.
    """
    global _threads
    if _threads is None or _threads[0] != os.getpid():
        _threads = (os.getpid(), ThreadPoolExecutor(64, thread_name_prefix="reasoning-gym"))
    return asyncio.get_running_loop().run_in_executor(_threads[1], lambda: function(*arguments, **options))
