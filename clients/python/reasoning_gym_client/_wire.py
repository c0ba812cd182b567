"""Calls over HTTP, with retries. Each thread keeps one connection."""

from __future__ import annotations

import gzip
import http.client
import importlib
import json
import logging
import math
import os
import random
import ssl
import sys
import threading
import time
import urllib.parse
from typing import Any, Dict, Iterator, Mapping, Optional

from . import _retry
from ._codec import _plain, _query
from ._env import VERSION, environment_key
from ._errors import ReasoningGymError, Unreachable
from ._retry import _AGAIN, _POLL_PAUSE_S, _ROUND_UP_S, _WAIT_MOST_S, _Answer
from ._retry import _is_passing_conflict, _is_something_else, _pause_s, _problem


log = logging.getLogger("reasoning_gym_client")


class _Kept:
    """A thread's connection and the process that opened it. Closes the connection when it is released or the thread ends."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.pid = os.getpid()
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class _WireSettings:
    """Where the server is, and how requests are written and retried. Shared by the clients with threads and with asyncio."""

    def __init__(
        self,
        url: str,
        api_key: Optional[str],
        timeout_s: float,
        retry_for_s: float,
        deadline_s: Optional[float],
        gzip_above: Optional[int],
        ssl_context: Optional[ssl.SSLContext],
        connect_for_s: Optional[float] = None,
    ) -> None:
        parts = _split_url(url)
        address = parts.netloc.rpartition("@")[2]
        self.url = urllib.parse.urlunsplit(parts._replace(netloc=address))  # without the key, because messages contain the URL
        if not api_key:
            api_key = urllib.parse.unquote(parts.password or "") or environment_key()
        self.host, self.port, self.secure = parts.hostname or "", parts.port, parts.scheme == "https"
        self.base = parts.path.rstrip("/")
        self.timeout_s = timeout_s
        self.retry_for_s = retry_for_s
        self.deadline_s = deadline_s
        self.gzip_above = gzip_above
        self.ssl_context = ssl_context
        self.connect_for_s = retry_for_s if connect_for_s is None else min(connect_for_s, retry_for_s)
        self.answered = False  # whether the server has ever responded
        self.headers = {"Accept": "application/json", "User-Agent": f"reasoning-gym-client/{VERSION}"}
        if api_key:
            self.headers["Authorization"] = f"Bearer {api_key}"
        self.random = random.SystemRandom()  # independent of the trainer's seeds

    def write(
        self,
        method: str,
        path: str,
        body: Any,
        query: Optional[Mapping[str, Any]],
        headers: Optional[Mapping[str, str]],
        wait_s: float,
    ) -> "_Request":
        sent = {**self.headers, **_trace_headers(), **(headers or {})}
        wait = min(int(wait_s + _ROUND_UP_S), _WAIT_MOST_S)
        if wait > 0:
            sent["Prefer"] = f"wait={wait}"
        payload = None
        if body is not None:
            sent["Content-Type"] = "application/json"
            payload = json.dumps(body, default=_plain, allow_nan=False, separators=(",", ":")).encode("ascii")
            if self.gzip_above is not None and len(payload) > self.gzip_above:
                payload = gzip.compress(payload, 1)
                sent["Content-Encoding"] = "gzip"
        return _Request(method, path, self.base + path + _query(query), payload, sent, wait)


def _split_url(url: str) -> urllib.parse.SplitResult:
    """Raises ValueError, which names no part of the URL: any may be the key."""
    try:
        parts = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
        is_read = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port >= 0)
        if is_read and "@" not in parts.path + parts.query + parts.fragment and ("@" not in parts.netloc or parts.password):
            return parts
    except ValueError:
        pass
    raise ValueError("the URL of the server cannot be read: write http://host:8000, or http://trainer:KEY@host:8000 with %2F for / and %40 for @")


def _trace_headers() -> Dict[str, str]:
    """The current span, so that the server continues its trace, in a program that has loaded OpenTelemetry's SDK."""
    carrier: Dict[str, str] = {}
    if "opentelemetry.sdk.trace" in sys.modules:
        importlib.import_module("opentelemetry.propagate").inject(carrier)
    return carrier


class _Request:
    def __init__(
        self, method: str, path: str, target: str, payload: Optional[bytes], headers: Dict[str, str], wait: int
    ) -> None:
        self.method = method
        self.path = path
        self.target = target
        self.payload = payload
        self.headers = headers
        self.wait = wait  # seconds that the server may take


class _Attempts:
    """The attempts of one request: after each, whether to return, to raise, or to pause and try again."""

    def __init__(self, wire: _WireSettings, request: _Request) -> None:
        self.wire = wire
        self.request = request
        self.began = time.monotonic()
        self.longest = math.inf if wire.deadline_s is None else wire.deadline_s
        self.failures = 0
        self.warned = False

    def timeout_s(self) -> float:
        left = max(_POLL_PAUSE_S, self.began + self.longest - time.monotonic())
        return min(self.wire.timeout_s + self.request.wait, left)

    def decide(self, answer: _Answer) -> Optional[float]:
        """Returns None if this is the response to return, or the seconds until the next attempt. Raises Problem otherwise."""
        self.wire.answered = True
        if answer.status < 300:
            return None
        problem = _problem(answer)
        if answer.status not in _AGAIN and not _is_passing_conflict(problem):
            raise problem
        return self._pause(problem, problem.retry_after)

    def decide_error(self, error: Exception) -> float:
        """Returns the seconds until the next attempt. Raises Unreachable if none is left."""
        text = f"{self.request.method} {self.wire.url}{self.request.path}: {type(error).__name__}: {error}"
        if not self.wire.answered:
            text += f". Is {self.wire.url} the address of the server, and is it running?"
        failure = Unreachable(text)
        failure.__cause__ = error
        if _is_something_else(error):
            raise failure
        return self._pause(failure, None)

    def _pause(self, failure: ReasoningGymError, retry_after: Optional[float]) -> float:
        wire = self.wire
        until = self.began + min(wire.retry_for_s if wire.answered else wire.connect_for_s, self.longest)
        pause = _pause_s(self.failures, retry_after, wire.random)
        self.failures += 1
        if time.monotonic() + pause > until:
            raise failure
        log.info("%s %s: %s; retrying in %.1f s", self.request.method, self.request.path, failure, pause)
        if not self.warned and time.monotonic() - self.began > _retry._WARN_AFTER_S:
            log.warning("%s; retrying for another %.0f s", failure, until - time.monotonic())
            self.warned = True
        return pause


class _Wire(_WireSettings):
    """Sends requests with one persistent connection per thread, and retries them until the time for retries is over."""

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self.local = threading.local()

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
        request = self.write(method, path, body, query, headers, wait_s)
        attempts = _Attempts(self, request)
        while True:
            try:
                answer = self._once(method, request.target, request.payload, request.headers, attempts.timeout_s())
                pause = attempts.decide(answer)
            except (OSError, http.client.HTTPException) as error:
                pause = attempts.decide_error(error)
            if pause is None:
                return answer
            time.sleep(pause)

    def stream(
        self, path: str, *, query: Optional[Mapping[str, Any]] = None, headers: Optional[Mapping[str, str]] = None
    ) -> Iterator[bytes]:
        """Yields the lines of a response as they arrive, over a connection of its own. Raises Unreachable if it is cut."""
        call = f"GET {self.url}{path}"
        connection = self.open(self.timeout_s)
        try:
            sent = {**self.headers, "Accept": "*/*", **(headers or {})}
            connection.request("GET", self.base + path + _query(query), None, sent)
            response = connection.getresponse()
            if response.status >= 300:
                received = {name.lower(): value for name, value in response.getheaders()}
                raise _problem(_Answer(call, response.status, received, response.read()))
            rest = b""
            while True:
                some = response.read1(65536)  # not readline, which takes a cut for the end
                if not some:
                    break
                *lines, rest = (rest + some).split(b"\n")
                yield from lines
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
            if rest:
                yield rest
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{call}: {type(error).__name__}: {error}") from error
        finally:
            connection.close()

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

    def close(self) -> None:
        """Closes the connection of this thread."""
        self.drop()

    def is_ready(self) -> bool:
        try:
            return self._once("GET", self.base + "/readyz", None, self.headers, 5).status == 200
        except (OSError, http.client.HTTPException):
            return False
