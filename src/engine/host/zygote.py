"""The warm parent of all hosts: imports the library once, then forks a host whenever it is asked, in milliseconds.

Control frames on file descriptor 3. In: {"fork": kind}, {"kill": pid}. Out: {"ready": version}, {"exited": pid, "signal"}.
When the control channel ends, so does the zygote, and every host with it.
"""

import gc
import os
import select
import signal
import sys

CONTROL = 3


def main():
    socket_path = sys.argv[1]
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
    hosts = set()
    while True:
        readable, _, _ = select.select([control, wake], [], [])
        if wake in readable:
            os.read(wake, 4096)
            for pid, status in _ended():
                hosts.discard(pid)
                say({"exited": pid, "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0})
        if control in readable:
            message = frames.read(control)
            if message is None:
                break
            if "fork" in message:
                hosts.add(_fork(socket_path, message["fork"]))
            elif message["kill"] in hosts:
                os.kill(message["kill"], signal.SIGKILL)
    for pid in hosts:
        os.kill(pid, signal.SIGKILL)


def _fork(socket_path, kind):
    pid = os.fork()
    if pid:
        return pid
    import host
    import limits

    code = 0
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        limits.die_with_parent()
        os.close(CONTROL)
        host.run(socket_path, kind)
    except (ConnectionError, BrokenPipeError):
        pass  # the server has gone
    except BaseException as error:
        print(f"host: {type(error).__name__}: {error}", file=sys.stderr)
        code = 1
    finally:
        os._exit(code)


def _ended():
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        yield pid, status


if __name__ == "__main__":
    main()
