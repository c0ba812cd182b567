"""What a worker may use of the machine, as resource limits of the kernel."""

import os
import resource
import time

MEGABYTE = 1 << 20
# On top of what the library itself maps. Each thread maps some for its stack, so this limits threads as well.
MEMORY_BYTES = {"items": 1024 * MEGABYTE, "score": 512 * MEGABYTE}
MAX_FILE_BYTES = {"items": 16 * MEGABYTE, "score": 0}
MAX_OPEN_FILES = 64
# The processes that serve requests come first, then item workers, then scoring workers: an answer that takes seconds must not
# take half of a busy processor from everything else. The server allows a worker that got no processor time eight times its deadline.
NICENESS = {"items": 1, "score": 10}
MAX_THREADS = 64
# After the deadline, at which the server kills the worker from outside: for the case that the server itself is stuck.
KILL_GRACE_S = 3


def apply_limits(kind):
    os.nice(NICENESS[kind])
    _set_limit(resource.RLIMIT_AS, get_mapped_bytes() + MEMORY_BYTES[kind])
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)
    _set_limit(resource.RLIMIT_FSIZE, MAX_FILE_BYTES[kind])
    _set_limit(resource.RLIMIT_MEMLOCK, 0)
    _set_limit(resource.RLIMIT_MSGQUEUE, 0)


def limit_processes(kind, has_own_uid):
    """The kernel counts processes and threads per user, so a number above 0 makes sense only if the worker has a user ID of its
    own. A scoring worker may create none."""
    if kind == "score":
        _set_limit(resource.RLIMIT_NPROC, 0)
    elif has_own_uid:
        _set_limit(resource.RLIMIT_NPROC, MAX_THREADS)


def limit_cpu_time(deadline_s):
    """Allows this much processor time from now on, plus a grace period; the kernel kills the process after that."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + deadline_s) + KILL_GRACE_S, hard))


def get_mapped_bytes():
    """The size of the process's address space."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 2048 * MEGABYTE


def _set_limit(resource_id, maximum):
    _, hard = resource.getrlimit(resource_id)
    if hard != resource.RLIM_INFINITY:
        maximum = min(maximum, hard)
    resource.setrlimit(resource_id, (maximum, maximum))
