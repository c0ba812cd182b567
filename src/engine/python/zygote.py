"""The warm parent of all Python workers: imports the library once and forks a worker within milliseconds when asked.

Control frames travel over file descriptor 3. In: {"fork": kind}, {"kill": pid}. Out: {"ready": version}, {"exited": pid, "kind"}.
When the control channel closes, the zygote exits and every worker with it. Only the zygote keeps the rights of the server's user,
so that it can create and kill workers; no answer and no program bundled with the library ever reaches it.
"""

import gc
import os
import select
import shutil
import signal
import socket
import sys

from frames import encode_frame, read_frame
from sandbox import landlock, layers
from sandbox.workspace import PrivateWorkspace, SharedEmptyWorkspace

CONTROL_FD = 3
# The first workers are forked at once; once no request has come for this long, there is time to warm up.
WARM_UP_DELAY_S = 0.1


def main():
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, signal.SIG_IGN)  # they reach the whole process group, and the server finishes its work first
    socket_path = sys.argv[1]
    workspaces = WorkspaceManager(os.path.dirname(socket_path))
    network = layers.isolate_network()
    layers.become_subreaper()
    null_device = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_device, 0)
    os.dup2(null_device, 1)  # the library prints
    import library  # the warm part: 0.6 s

    _find_custom_tasks(library, sys.argv[2:])

    gc.collect()
    gc.freeze()
    wakeup_read, wakeup_write = os.pipe()
    os.set_blocking(wakeup_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
    control = os.fdopen(CONTROL_FD, "r+b", buffering=0)
    workers = {}  # pid to kind
    try:
        _serve(control, wakeup_read, workers, lambda kind: _fork(socket_path, kind, workspaces, network), workspaces, library)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the server was killed, and workers have noticed that first
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    _remove_if_abandoned(workspaces.parent, socket_path)


def _remove_if_abandoned(folder, socket_path):
    """A server that was killed could not remove its folder. One that lives has another zygote, which needs it."""
    try:
        socket.socket(socket.AF_UNIX).connect(socket_path)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)


def _serve(control, wakeup_read, workers, fork, workspaces, library):
    """Forks and kills workers until the control channel closes."""
    send = lambda message: control.write(encode_frame(message))  # noqa: E731
    send({"ready": library.VERSION})
    is_warm = False
    while True:
        timeout = None if is_warm or not workers else WARM_UP_DELAY_S
        readable, _, _ = select.select([control, wakeup_read], [], [], timeout)
        if not readable:
            _warm_up(library.warm_caches)
            is_warm = True
        if wakeup_read in readable:
            os.read(wakeup_read, 4096)
            for pid in _reap_children():
                _kill_orphans(workers)  # also those of an orphan
                if pid in workers:
                    workspaces.remove(pid)
                    send({"exited": pid, "kind": workers.pop(pid)})
        if control in readable:
            message = read_frame(control)
            if message is None:
                break
            if "fork" in message:
                kind = message["fork"]
                try:
                    workers[fork(kind)] = kind
                except OSError as error:  # too many processes, or no memory
                    print(f"zygote: no worker could be forked, {error}", file=sys.stderr, flush=True)
                    send({"exited": 0, "kind": kind})
            elif message["kill"] in workers:
                os.kill(message["kill"], signal.SIGKILL)


def _find_custom_tasks(library, places):
    """Their code runs in the workers only, which may read it."""
    import custom_tasks

    library.custom_sources, library.custom_problems = custom_tasks.find_sources(places)
    landlock.extra_paths.extend(path for source in library.custom_sources for path in source.readable)


def _warm_up(work):
    """Workers forked from now on inherit what `work` caches."""
    try:
        work()
    except Exception as error:
        print(f"zygote: warm-up failed, {type(error).__name__}: {error}", file=sys.stderr)
    gc.collect()
    gc.freeze()


def _fork(socket_path, kind, workspaces, network):
    zygote = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    import worker

    code = 0
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        layers.die_with_parent()
        os.closerange(CONTROL_FD, 256)
        worker.serve(socket_path, kind, workspaces.create(worker.SANDBOX_KINDS.get(kind, kind)), network, zygote)
    except (ConnectionError, BrokenPipeError):
        pass  # the server is gone
    except BaseException as error:
        print(f"worker: {type(error).__name__}: {error}", file=sys.stderr)
        code = 1
    finally:
        os._exit(code)


class WorkspaceManager:
    """Scoring workers share one empty folder that they cannot write to; each worker that makes items has a folder of its own."""

    def __init__(self, parent):
        self.parent, self.empty = parent, os.path.join(parent, "empty")
        os.chmod(parent, 0o711)  # workers run as other users and must pass through
        os.makedirs(self.empty, exist_ok=True)
        os.chmod(self.empty, 0o555)

    def create(self, kind):
        if kind == "score":
            return SharedEmptyWorkspace(self.empty)
        self.remove(os.getpid())
        return PrivateWorkspace(self._path_of_worker(os.getpid()))

    def remove(self, pid):
        shutil.rmtree(self._path_of_worker(pid), ignore_errors=True)

    def _path_of_worker(self, pid):
        return os.path.join(self.parent, f"items-{pid}")


def _kill_orphans(workers):
    """The zygote is the subreaper: what a bundled program forked becomes its child when the worker exits."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            for pid in set(map(int, children.read().split())) - workers.keys():
                os.kill(pid, signal.SIGKILL)
    except OSError:
        pass  # not Linux, or the process has exited


def _reap_children():
    while True:
        try:
            pid, _status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        yield pid


if __name__ == "__main__":
    main()
