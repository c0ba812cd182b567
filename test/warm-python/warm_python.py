"""One Python process for all tests that has imported the library, and a command that forks zygotes from it.

Importing the library takes over 1 s of processor time, forking a process that has imported it about 10 ms.
    python warm_python.py serve SOCKET                     imports the library, prints a line and waits until its stdin ends
    python warm_python.py run SOCKET PYTHON [ARGUMENT...]  like `PYTHON ARGUMENT...`
What is not a start of this checkout's zygote with the usual hash seed runs in PYTHON itself.
"""

import array
import fcntl
import functools
import gc
import os
import signal
import socket
import sys

ENGINE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "src", "engine", "python"))
ZYGOTE = os.path.join(ENGINE, "zygote.py")
FDS = range(4)  # the last is the zygote's control channel
F_SETSIG = 10  # fcntl has no name for it


def run(socket_path, python, *arguments):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        if ZYGOTE not in map(os.path.realpath, arguments) or os.environ.get("PYTHONHASHSEED") != "1":
            raise OSError("this is not a zygote like the warm one")
        connection.connect(socket_path)
        start = "\0".join([os.getcwd(), *arguments[arguments.index(ZYGOTE) :]])
        connection.sendmsg([start.encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", FDS))])
    except OSError:
        os.execv(python, [python, *arguments])
    os.closerange(FDS.start, FDS.stop)
    connection.recv(1)  # returns when the zygote has ended


def serve(socket_path):
    sys.path.insert(0, ENGINE)
    import library
    import worker
    import zygote

    # What each zygote and its first worker would do again, 0.2 s of processor time.
    library.warm_caches()
    library.warm_caches = lambda: None
    worker._describe_task = functools.cache(worker._describe_task)
    for task in library.TASKS:
        worker._describe_task(task)
    for task in "arc_agi", "figlet_font", "group_anagrams", "word_ladder":  # which take 0.1 to 0.4 s in each new worker
        library.get_dataset(task, {}, 0)
    gc.collect()
    gc.freeze()  # zygotes need not look at what they inherit
    signal.signal(signal.SIGCHLD, _reap_zygotes)  # not SIG_IGN, with which the system forgets their processor time
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(socket_path)
    listener.listen(64)
    _end_with(0)
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        start, ancillary, _, _ = connection.recvmsg(1 << 16, socket.CMSG_SPACE(4 * len(FDS)))
        fds = array.array("i")
        for _, _, data in ancillary:
            fds.frombytes(data)
        if start and os.fork() == 0:
            listener.close()
            _become_zygote(zygote, connection, fds, *start.decode().split("\0"))
        connection.close()
        for fd in fds:
            os.close(fd)


def _reap_zygotes(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass  # there is none left


def _become_zygote(zygote, connection, fds, folder, *arguments):
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _end_with(connection.fileno())
        for fd, number in zip(fds, FDS):
            os.dup2(fd, number)
            os.close(fd)
        os.chdir(folder)
        sys.argv = [*arguments]
        zygote.main()
    finally:
        os._exit(0)


def _end_with(fd):
    """The system kills this process when the other end of `fd` is closed."""
    fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(fd, F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)


if __name__ == "__main__":
    {"run": run, "serve": serve}[sys.argv[1]](*sys.argv[2:])
