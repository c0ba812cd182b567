"""Rewinds a run whose trainer has resumed from older weights."""

from __future__ import annotations

import hashlib
import os
import uuid
import warnings
from typing import Optional

from ._client import Run
from ._errors import Problem


def resume_run(run: Run, step: int) -> None:
    """Rewinds a run whose trainer resumes from its weights of a step. A run that cannot go back to it stays as it is, with a warning."""
    try:
        run.rewind(step, resume_id=_resume_id())
    except Problem as problem:
        if problem.code not in ("step_unavailable", "unknown_run"):
            raise
        warnings.warn(f"the run was not rewound: {problem.detail}", stacklevel=2)


def _resume_id() -> Optional[str]:
    """The ID of this resume that all ranks know, or None if the launcher gives none."""
    if os.environ.get("WORLD_SIZE", "1") == "1":
        return uuid.uuid4().hex
    known = [os.environ.get(name, "none") for name in ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID")]
    if os.environ.get("LOCAL_WORLD_SIZE") == os.environ["WORLD_SIZE"]:
        known.append(_describe_launcher())  # of all ranks: it differs where the same job launches the trainer again
    if set(known) == {"none"}:
        return None
    counts = [os.environ.get(name, "") for name in ("TORCHELASTIC_RESTART_COUNT", "SLURM_STEP_ID", "SLURM_RESTART_COUNT")]
    return hashlib.sha256("/".join([*known, *counts]).encode()).hexdigest()[:32]


def _describe_launcher() -> str:
    """The process that has started this one, by its ID and its time in ticks; `none` outside Linux."""
    parent = os.getppid()
    try:
        with open(f"/proc/{parent}/stat", encoding="utf-8", errors="replace") as stat:
            return f"{parent}.{stat.read().rpartition(')')[2].split()[19]}"
    except OSError:
        return "none"


class StepWatch:
    """Follows the steps of a trainer that reads a data set in order, for a process that only sees which step is read.

    The run ends each step when the next one begins. If the first step that is read is not `first`, or steps are left out, the
    trainer has resumed, and the run is rewound. With `leaves_out=True`, the trainer leaves out steps without having resumed. With
    `alone=False`, for one of several processes, of which some may begin later, the trainer has resumed only if the run has ended
    that step before.
    """

    def __init__(self, run: Run, first: int = 0, *, alone: bool = True, leaves_out: bool = False) -> None:
        self.run = run
        self.alone = alone
        self.leaves_out = leaves_out
        self.last = first - 1
        self._is_new = True

    def begin(self, step: int) -> None:
        """Call it before the items of a step are requested."""
        if step <= self.last:
            return
        if self._has_resumed(step):
            resume_run(self.run, step - 1)
        elif step > 0:
            self.run.end_step(step - 1)
        self.last, self._is_new = step, False  # after a failure, the next call tries again

    def _has_resumed(self, step: int) -> bool:
        if self.alone:
            return step > self.last + 1 and (self._is_new or not self.leaves_out)
        return self._is_new and 0 < step <= (self.run.get()["progress"]["step"] or 0)
