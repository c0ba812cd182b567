"""The user that a worker runs as. If root started the server, each worker gets a user ID of its own; in any case, a worker
keeps no capability except the one to read the library's files where they are not world-readable."""

import os
import stat
import sys

from sandbox import kernel, landlock

# Above the user IDs of any machine, so that no file and no process belongs to it; the worker's pid is added.
WORKER_UID_BASE = 0x70000000
NOBODY = 65534
CAP_DAC_READ_SEARCH = 1 << 2


def drop_privileges(folders):
    """Returns whether the worker has a user ID of its own, so that its processes can be limited. `folders` are given to that user."""
    if os.geteuid() != 0:
        kernel.keep_capabilities(0)
        return False
    is_readable = all(map(_is_world_readable, [sys.prefix, sys.base_prefix, *landlock.extra_paths]))
    os.setgroups([])
    kernel.prctl(kernel.PR_SET_KEEPCAPS, 1)
    has_own_uid = _set_uid(WORKER_UID_BASE + os.getpid(), folders)
    dropped = has_own_uid or _set_uid(NOBODY, folders)
    kernel.keep_capabilities(0 if is_readable else CAP_DAC_READ_SEARCH)
    if not dropped:
        raise PermissionError("cannot change to another user ID")
    return has_own_uid


def _set_uid(uid, folders):
    try:
        for folder in folders:
            os.chown(folder, uid, uid)
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError:  # a container that maps fewer IDs
        return False
    return True


def _is_world_readable(path):
    """Whether every user may reach this file or folder and read it."""
    path = os.path.realpath(path)
    if not os.stat(path).st_mode & stat.S_IROTH:
        return False
    if os.path.isfile(path):
        path = os.path.dirname(path)
    while os.stat(path).st_mode & stat.S_IXOTH:
        if path == "/":
            return True
        path = os.path.dirname(path)
    return False
