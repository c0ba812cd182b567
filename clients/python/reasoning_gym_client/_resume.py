"""Rewinds a run whose trainer has resumed from older weights."""

from __future__ import annotations

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
    for job, restarts in (("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"), ("SLURM_JOB_ID", "SLURM_RESTART_COUNT")):
        if os.environ.get(job, "none") != "none":
            return f"{os.environ[job][:100]}-{os.environ.get(restarts, '0')}"
    return None


class StepWatch:
    """Follows the steps of a trainer that reads a data set in order, for a process that only sees which step is read.

    The run ends each step when the next one begins. If the first step that is read is not `first`, or steps are left out, the
    trainer has resumed, and the run is rewound. With `alone=False`, for one of several processes, of which some may begin later,
    the trainer has resumed only if the run has ended that step before.
    """

    def __init__(self, run: Run, first: int = 0, *, alone: bool = True) -> None:
        self.run = run
        self.alone = alone
        self.last = first - 1
        self._is_new = True

    def begin(self, step: int) -> None:
        """Call it before the items of a step are requested."""
        if step <= self.last:
            return
        left_out, is_new = step > self.last + 1, self._is_new
        self.last, self._is_new = step, False
        if left_out if self.alone else is_new and 0 < step <= (self.run.get()["progress"]["step"] or 0):
            resume_run(self.run, step - 1)
        elif step > 0:
            self.run.end_step(step - 1)
