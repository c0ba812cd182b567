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
    """The ID of this resume that all ranks know. None if the launcher gives none, as torchrun does not on several machines."""
    env = os.environ
    size = env.get("WORLD_SIZE", "1")
    if size == "1":
        return uuid.uuid4().hex
    by_torchrun = "TORCHELASTIC_RUN_ID" in env
    on_one_machine = by_torchrun and env.get("LOCAL_WORLD_SIZE") == size
    launcher = _start_of_launcher(os.getppid()) if on_one_machine else "none"  # it differs where the same job launches it again
    # a step of Slurm begins the ranks or their torchruns; DeepSpeed and Ray begin theirs many times in one
    by_slurm = "SLURM_STEP_ID" in env if by_torchrun else (env.get("SLURM_NTASKS"), env.get("SLURM_PROCID")) == (size, env.get("RANK"))
    if launcher == "none" and not by_slurm:
        return None
    names = ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "TORCHELASTIC_RESTART_COUNT", "SLURM_STEP_ID", "SLURM_RESTART_COUNT")
    return uuid.uuid5(uuid.NAMESPACE_OID, "/".join([launcher, *(env.get(name, "") for name in names)])).hex


def _start_of_launcher(pid: int) -> str:
    """When torchrun began, in ticks since boot: the nearest process from `pid` up without what it sets for ranks; `none` outside Linux."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat, open(f"/proc/{pid}/environ", "rb") as environ:
            fields = stat.read().rpartition(")")[2].split()
            is_of_rank = b"\0TORCHELASTIC_RUN_ID=" in b"\0" + environ.read()
    except OSError:
        return "none"
    return _start_of_launcher(int(fields[1])) if is_of_rank else fields[19]


class StepWatch:
    """Follows the steps of a trainer that reads a data set in order, for a process that only sees which step is read.

    The run ends each step when the next one begins. If the first step that is read is not `first`, or (without `leaves_out`) steps
    are left out, the trainer has resumed, and the run is rewound. With `alone=False`, for one of several processes, of which some
    may begin later, the trainer has resumed only if the run has ended that step before.
    """

    def __init__(self, run: Run, first: int = 0, *, alone: bool = True, leaves_out: bool = False) -> None:
        self.run = run
        self.alone = alone
        self.leaves_out = leaves_out
        self.last = first - 1
        self._is_new = True

    def begin(self, step: int) -> None:
        """Call it before the items of a step are requested. After a failure, the next call tries again."""
        if step <= self.last:
            return
        if self.alone:
            has_resumed = step > self.last + 1 and (self._is_new or not self.leaves_out)
        else:
            has_resumed = self._is_new and 0 < step <= (self.run.get()["progress"]["step"] or 0)
        if has_resumed:
            resume_run(self.run, step - 1)
        elif step > 0:
            self.run.end_step(step - 1)
        self.last, self._is_new = step, False
