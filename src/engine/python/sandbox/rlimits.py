"""What a host may use of the machine, by the kernel's resource limits."""

import os
import resource
import time

MEGABYTE = 1 << 20
# On top of what the library itself takes. Each thread takes some of it for its stack, so it bounds them too.
MEMORY = {"items": 1024 * MEGABYTE, "score": 512 * MEGABYTE}
FILE_SIZE = {"items": 16 * MEGABYTE, "score": 0}
OPEN_FILES = 64
# Who serves requests goes before who makes items and who scores: an answer that takes seconds must not take half of a
# busy processor from all others. The server gives a host that is kept from the processor eight times its deadline.
NICE = {"items": 1, "score": 10}
THREADS = 64
# Beyond the deadline, after which the server kills a host from outside: for when the server itself is stuck.
PATIENCE_S = 3


def apply(kind):
    os.nice(NICE[kind])
    _limit(resource.RLIMIT_AS, address_space() + MEMORY[kind])
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_FSIZE, FILE_SIZE[kind])
    _limit(resource.RLIMIT_MEMLOCK, 0)
    _limit(resource.RLIMIT_MSGQUEUE, 0)


def processes(kind, own_user):
    """The kernel counts processes and threads by user: a number above 0 has a meaning only if the host has a user id of
    its own. None of them may be made by a host that scores."""
    if kind == "score":
        _limit(resource.RLIMIT_NPROC, 0)
    elif own_user:
        _limit(resource.RLIMIT_NPROC, THREADS)


def processor(deadline_s):
    """From now on the host may use so much of the processor, and a little; the kernel ends it then."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + deadline_s) + PATIENCE_S, hard))


def address_space():
    """What the process has mapped, in bytes."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 2048 * MEGABYTE


def _limit(which, most):
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(which, (most, most))
