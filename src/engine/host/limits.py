"""What a host may use of the machine. It dies with its parent, whatever happens to that."""

import ctypes
import os
import resource
import signal
import tempfile

PR_SET_PDEATHSIG = 1
MEGABYTE = 1 << 20
# On top of what the library itself takes.
MEMORY = {"items": 1024 * MEGABYTE, "score": 512 * MEGABYTE}


def apply(kind):
    """Limits of a host that makes items (it runs the library's own programs) or scores answers."""
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MEMORY[kind],) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    if kind == "score":
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    os.chdir(tempfile.gettempdir() if kind == "items" else "/")


def die_with_parent():
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (AttributeError, OSError):  # not Linux: the socket's end still ends an idle host
        pass


def pid():
    return os.getpid()


def _address_space():
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 2048 * MEGABYTE
