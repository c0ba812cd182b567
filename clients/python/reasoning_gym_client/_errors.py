"""Errors that the client raises."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence


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
