"""Runs programs of codeio inside the sandbox of the Python workers, each in a process of its own, in several worlds.

They differ in what a program cannot know: the order of sets, the state of random numbers and the time.

    run(source, inputs, world)    {"text": JSON of the output, "shown": its str}, {"raised": why} or {"lost": how}

The inputs are the text of a Python literal, such as a question shows.
"""

import datetime
import functools
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ENGINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "src", "engine", "python")
DEADLINE_S = 5
DAY_S = 86_400


def run(source, inputs, world=0, deadline_s=DEADLINE_S):
    process = _start(world)
    request = {"source": source, "inputs": inputs, "world": world, "deadline_s": deadline_s}
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


@functools.cache
def _start(world):
    env = {"PYTHONHASHSEED": str(world + 1), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-s", "-B", os.path.abspath(__file__)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True)


def serve():
    sys.path.append(ENGINE)
    import library  # noqa: F401  what a program may import, as in the Python workers
    from sandbox import layers

    network = layers.isolate_network()
    replies = os.fdopen(os.dup(1), "w")
    for stream in 1, 2:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)  # programs print
    for line in sys.stdin:
        with tempfile.TemporaryDirectory() as parent:
            os.chmod(parent, 0o711)
            replies.write(json.dumps(_run_in_child(json.loads(line), parent, network)) + "\n")
            replies.flush()


def _run_in_child(request, parent, network):
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(readable)
            os.write(writable, json.dumps(_run(request, parent, network)).encode())
        finally:
            os._exit(0)
    os.close(writable)
    said, ends = b"", time.monotonic() + request["deadline_s"]
    while select.select([readable], [], [], max(0, ends - time.monotonic()))[0]:
        if not (part := os.read(readable, 1 << 16)):
            break
        said += part
    os.close(readable)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    try:
        return json.loads(said)
    except ValueError:
        return {"lost": "timeout" if time.monotonic() >= ends else "crashed"}


def _run(request, parent, network):
    import numpy
    from sandbox import layers
    from sandbox.workspace import PrivateWorkspace

    report = layers.enter_sandbox("items", PrivateWorkspace(os.path.join(parent, "run")), network)
    if any(report.values()):
        return {"lost": f"no program is run without every layer of the sandbox: {report}"}
    _change_world(request["world"])
    namespace = {"Random": random.Random}
    try:
        exec(request["source"], namespace)
        inputs = eval(request["inputs"], {"nan": float("nan"), "inf": float("inf"), "np": numpy})
        output = namespace["main_solution"](**inputs)
        return {"text": json.dumps(output), "shown": str(output)}
    except BaseException as error:
        return {"raised": f"{type(error).__name__}: {error}"[:300]}


def _change_world(world):
    import numpy

    random.seed(world)
    numpy.random.seed(world)
    shift = world * 1000.6 * DAY_S
    for name in "time", "monotonic", "perf_counter", "process_time":
        setattr(time, name, functools.partial(lambda clock: clock() + shift, getattr(time, name)))

    class Later(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return super().now(tz) + datetime.timedelta(seconds=shift)

        utcnow = today = now

    class LaterDate(datetime.date):
        @classmethod
        def today(cls):
            return super().today() + datetime.timedelta(seconds=shift)

    datetime.datetime, datetime.date = Later, LaterDate


if __name__ == "__main__":
    serve()
