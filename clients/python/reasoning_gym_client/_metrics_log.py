"""Sends the metrics of a run to the logger of the trainer while the trainer trains."""

from __future__ import annotations

import contextlib
import contextvars
import importlib
import logging
import os
import threading
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, Dict, Union

from ._errors import ReasoningGymError

if TYPE_CHECKING:
    from ._client import Run

#: Takes the metrics of a step, and the step. Returns False if it cannot take them yet.
Sink = Callable[[Dict[str, float], int], Any]

log = logging.getLogger("reasoning_gym_client")
_EXIT_S, _RETRY_S, _MAX_WAITING = 60.0, 2.0, 64
#: By what a row begins at. The numbers of groups are no steps, and steps may follow them in the same run.
_PREFIXES = {"step": "reasoning_gym", "first_group": "reasoning_gym_groups"}


class MetricsLog:
    """Sends each later step of a run to a sink once, from a thread. Use it in a `with` statement, around the training.

    Steps to which the run goes back are sent again. Errors of the server and of the sink are logged and the step is sent again:
    they never end a training.
    """

    def __init__(self, run: "Run", sink: Union[str, ModuleType, Sink], every_s: float) -> None:
        self._run = run
        self._sink = sink
        self._every_s = every_s
        self._kind, self._next = "step", 0
        self._ending = threading.Event()
        self._thread = threading.Thread()

    def __enter__(self) -> "MetricsLog":
        if os.environ.get("RANK", "0") != "0":
            return self
        self._send = _find_sink(self._sink, self._ending)
        with contextlib.suppress(ReasoningGymError):  # such as without a run yet: all its steps are sent
            self._next = self._find_next()
            rows = self._run.metrics(first=self._next)
            if rows and "first_group" in rows[0]:
                self._kind, self._next = "first_group", int(rows[-1]["first_group"])
        context = contextvars.copy_context()  # loggers keep the current run in it
        self._thread = threading.Thread(target=context.run, args=(self._follow,), name="reasoning-gym-metrics", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Sends the last steps."""
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join(_EXIT_S)
        if self._thread.is_alive():
            log.warning("the last metrics of the run %s were not sent within %.0f s", self._run.name, _EXIT_S)

    def _follow(self) -> None:
        is_last, wait_s = False, self._every_s
        while not is_last:
            is_last = self._ending.wait(wait_s)
            try:
                wait_s = self._every_s if self._send_rows(is_last) else min(_RETRY_S, self._every_s)
            except Exception as error:  # whatever a sink raises
                log.warning("metrics of the run %s were not sent: %s: %s", self._run.name, type(error).__name__, error)

    def _find_next(self) -> int:
        return int(self._run.get()["progress"]["step"] or 0)  # it may not have ended

    def _send_rows(self, is_last: bool) -> bool:
        """False if the sink can take no more rows now."""
        rows = self._run.metrics(first=self._next)
        if not rows and self._kind == "step" and self._next > (back := self._find_next()):  # the run was rewound
            self._next = back
            return self._send_rows(is_last)
        kind = "first_group" if rows and "first_group" in rows[0] else "step"  # rows begin at a group until the run has steps
        if kind != self._kind:
            self._kind, self._next = kind, 0
            return self._send_rows(is_last)
        complete = rows if is_last else rows[:-1]  # groups of the newest step are still being scored
        for row in complete:
            numbers = {**row, "step": row[kind]}
            values = {f"{_PREFIXES[kind]}/{name}": float(value) for name, value in numbers.items() if isinstance(value, (int, float))}
            if self._send(values, int(row[kind])) is False:
                if len(complete) > _MAX_WAITING:
                    self._next = int(complete[-1][kind])  # a sink that takes fewer rows than come must not fall behind
                return False
            self._next = int(row[kind]) + 1
        return True


def _find_sink(sink: Union[str, ModuleType, Sink], ending: threading.Event) -> Sink:
    name = sink.__name__ if isinstance(sink, ModuleType) else sink
    if not isinstance(name, str):
        return name
    if name not in ("wandb", "mlflow", "trackio"):
        raise ValueError(f"sink must be wandb, mlflow, trackio or a callable that takes the metrics and the step, not {name!r}")
    module: Any = importlib.import_module(name)
    if name == "wandb":
        return _wandb_sink(module, ending)
    if name == "mlflow":
        active = module.active_run() or module.start_run()  # of this thread
        return lambda metrics, step: module.log_metrics(metrics, step=step, run_id=active.info.run_id)
    return lambda metrics, step: module.log(metrics)


def _wandb_sink(wandb: Any, ending: threading.Event) -> Sink:
    """Rides along with the rows that the trainer logs: a row or a step of our own would make wandb drop the trainer's rows."""
    if wandb.run is None:
        raise RuntimeError("call wandb.init() before run.log_to(wandb)")
    run = wandb.run
    for prefix in _PREFIXES.values():
        run.define_metric(f"{prefix}/step", hidden=True)
        run.define_metric(f"{prefix}/*", step_metric=f"{prefix}/step")
    taken = -1

    def send(metrics: Dict[str, float], step: int) -> bool:
        nonlocal taken
        is_over = ending.is_set()
        if run.step == taken and not is_over:
            return False
        taken = run.step
        run.log(metrics, commit=is_over)
        return True

    return send
