"""Rules of retries: which failures pass, and how long to wait. Pure functions of a response or an error."""

from __future__ import annotations

import email.utils
import http.client
import json
import ssl
import time
from random import Random
from typing import Any, List, Mapping, Optional

from ._errors import Problem, RunLost, Unreachable


_AGAIN = (408, 429, 502, 503, 504)
_PAUSE_S, _PAUSE_MOST_S = 0.2, 10.0
_WAIT_MOST_S = 60  # the longest wait that the server accepts
_BATCH_WAIT_S = 30.0  # wait of one request for a batch
_POLL_PAUSE_S = 0.05  # pause between two requests that wait on the server
_WARN_AFTER_S = 5.0  # time of retries after which a warning is logged
_ROUND_UP_S = 0.1  # the server waits whole seconds; rounding up by this much saves requests


def _pause_s(failures: int, retry_after: Optional[float], random: Random) -> float:
    """Seconds until the next attempt: twice as long after each failure, and never before the time that the server names."""
    pause: float = random.uniform(0.5, 1) * min(_PAUSE_MOST_S, _PAUSE_S * 2 ** min(failures, 10))
    return max(pause, (retry_after or 0) + random.uniform(0, _PAUSE_S))


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
    document: Any
    try:
        document = json.loads(answer.body)
    except ValueError:
        document = None
    if answer.status < 400:
        document = {"detail": f"{answer.call} redirects to {answer.headers.get('location')}; use the URL of the server itself"}
    if not isinstance(document, dict):
        document = {"detail": " ".join(answer.body[:500].decode("utf-8", "replace").split())}
    kind = RunLost if document.get("code") == "run_recreated" else Problem
    return kind(
        status=answer.status,
        code=str(document.get("code", f"http_{answer.status}")),
        detail=str(document.get("detail", "")),
        errors=document.get("errors") or (),
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


def _count(text: Optional[str]) -> Optional[int]:
    return int(text) if text is not None and text.isdigit() else None
