"""The warm parent of all hosts: imports the library once, then forks a host whenever it is asked, in milliseconds.

Control frames on file descriptor 3. In: {"fork": kind}, {"kill": pid}. Out: {"ready": version}, {"exited": pid, "kind"}.
When the control channel ends, so does the zygote, and every host with it. It alone keeps the rights of the server's user, to
make hosts and to end them; no answer and no bundled program reaches it.
"""

import gc
import os
import select
import shutil
import signal
import sys

from sandbox import layers as walls
from sandbox.workspace import EmptyFolder, OwnFolders

CONTROL = 3
# The first hosts are forked at once; when nobody has asked for more, there is time to warm up.
IDLE_S = 0.1


def main():
    socket_path = sys.argv[1]
    folders = Folders(os.path.dirname(socket_path))
    network = walls.around_zygote()
    walls.adopt_orphans()
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)  # the library prints
    import frames
    import library  # the warm part: 0.6 s

    gc.collect()
    gc.freeze()
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    control = os.fdopen(CONTROL, "r+b", buffering=0)
    say = lambda message: control.write(frames.encode(message))  # noqa: E731
    say({"ready": library.VERSION})
    hosts, warm = {}, False  # pid to kind
    while True:
        readable, _, _ = select.select([control, wake], [], [], None if warm or not hosts else IDLE_S)
        if not readable:
            _warm(library)
            warm = True
        if wake in readable:
            os.read(wake, 4096)
            for pid in _ended():
                if pid not in hosts:
                    continue
                kind = hosts.pop(pid)
                folders.remove(pid)
                _end_orphans(hosts)
                say({"exited": pid, "kind": kind})
        if control in readable:
            message = frames.read(control)
            if message is None:
                break
            if "fork" in message:
                kind = message["fork"]
                hosts[_fork(socket_path, kind, folders, network)] = kind
            elif message["kill"] in hosts:
                os.kill(message["kill"], signal.SIGKILL)
    for pid in hosts:
        os.kill(pid, signal.SIGKILL)


def _warm(library):
    try:
        library.warm()
    except Exception as error:
        print(f"zygote: not warm, {type(error).__name__}: {error}", file=sys.stderr)
    gc.collect()
    gc.freeze()


def _fork(socket_path, kind, folders, network):
    pid = os.fork()
    if pid:
        return pid
    import worker

    code = 0
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        walls.die_with_parent()
        os.closerange(CONTROL, 256)
        worker.run(socket_path, kind, folders.of(kind), network)
    except (ConnectionError, BrokenPipeError):
        pass  # the server has gone
    except BaseException as error:
        print(f"host: {type(error).__name__}: {error}", file=sys.stderr)
        code = 1
    finally:
        os._exit(code)


class Folders:
    """Where hosts work: all that score in one empty folder that nobody can write to, each that makes items in its own."""

    def __init__(self, parent):
        self.parent, self.empty = parent, os.path.join(parent, "empty")
        os.chmod(parent, 0o711)  # hosts of another user pass through
        os.makedirs(self.empty, exist_ok=True)
        os.chmod(self.empty, 0o555)

    def of(self, kind):
        if kind == "score":
            return EmptyFolder(self.empty)
        self.remove(os.getpid())
        return OwnFolders(self._own(os.getpid()))

    def remove(self, pid):
        shutil.rmtree(self._own(pid), ignore_errors=True)

    def _own(self, pid):
        return os.path.join(self.parent, f"items-{pid}")


def _end_orphans(hosts):
    """What a bundled program has forked becomes ours when its host ends."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            for pid in set(map(int, children.read().split())) - hosts.keys():
                os.kill(pid, signal.SIGKILL)
    except OSError:
        pass  # not Linux, or it has ended


def _ended():
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
