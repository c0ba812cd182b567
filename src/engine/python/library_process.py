"""The process that has imported the library, for all zygotes of a server, and the command that forks a zygote from it.

Importing the library takes over 1 s of processor time and 80 MB; forking a process that has imported it takes 10 ms and shares its memory.
    python library_process.py serve SOCKET                        listens, imports the library and runs until its stdin ends
    python library_process.py fork SOCKET PYTHON [OPTION...] ZYGOTE [ARGUMENT...]   like `PYTHON [OPTION...] ZYGOTE [ARGUMENT...]`
The command runs as long as its zygote; either ends with the other. Without the process it runs PYTHON itself.
"""

import array
import fcntl
import gc
import os
import signal
import socket
import sys
import traceback

FDS = range(4)  # the last is the zygote's control channel
F_SETSIG = 10  # fcntl has no name for it


def fork(socket_path, python, *arguments):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(socket_path)
        zygote = next(at for at, argument in enumerate(arguments) if not argument.startswith("-"))
        start = "\0".join([os.getcwd(), *arguments[zygote:]])
        connection.sendmsg([start.encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", FDS))])
    except OSError:
        os.execv(python, [python, *arguments])
    _wait_for_end(connection.fileno())


def _wait_for_end(fd):
    """Of the zygote, which has the other end. A shell waits with a tenth of the memory of Python, under the name of this command."""
    os.dup2(fd, 0)
    os.closerange(1, FDS.stop)
    os.execv("/bin/sh", ["sh", "-c", "read _; :", *sys.argv])


def serve(socket_path):
    _end_with(0)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(socket_path)
    os.chmod(socket_path, 0o600)
    listener.listen(64)  # requests during the import wait
    import library
    import worker
    import zygote

    signal.signal(signal.SIGCHLD, _reap_zygotes)  # not SIG_IGN, with which the system forgets their processor time
    _warm_up(library, worker)
    while True:
        connection, _ = listener.accept()
        try:
            start, ancillary, _, _ = connection.recvmsg(1 << 16, socket.CMSG_SPACE(4 * len(FDS)))
        except OSError:
            start, ancillary = b"", []
        fds = array.array("i")
        for _, _, data in ancillary:
            fds.frombytes(data)
        if start and os.fork() == 0:
            listener.close()
            _become_zygote(zygote, connection, fds, *start.decode().split("\0"))
        connection.close()
        for fd in fds:
            os.close(fd)


def _warm_up(library, worker):
    """What each zygote and its first worker would do again, with 40 MB of its own."""
    worker.encode_library_tasks()
    library.warm_caches()
    library.warm_caches = lambda: None
    gc.collect()
    gc.freeze()  # zygotes need not look at what they inherit


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
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _end_with(fd):
    """The system kills this process when the other end of `fd` is closed."""
    fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(fd, F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)


if __name__ == "__main__":
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, signal.SIG_IGN)  # they reach the whole process group, and the server finishes its work first
    {"fork": fork, "serve": serve}[sys.argv[1]](*sys.argv[2:])
