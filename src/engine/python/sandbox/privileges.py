"""Who a host is: nobody in particular. A server that root started gives each host a user id of its own; whoever started it,
a host has no capability but, where the library's files are not for everyone, the one to read them."""

import os
import stat
import sys

from sandbox import kernel

# Above any user that a machine has, so that no file and no process belongs to it; a host's pid is added.
FIRST_UID = 0x70000000
NOBODY = 65534
CAP_DAC_READ_SEARCH = 1 << 2


def drop(folders):
    """Returns whether the user id is the host's own, so that processes can be counted by it. `folders` become its own."""
    if os.geteuid() != 0:
        kernel.keep_capabilities(0)
        return False
    reads = 0 if _for_everyone(sys.prefix) and _for_everyone(sys.base_prefix) else CAP_DAC_READ_SEARCH
    os.setgroups([])
    kernel.prctl(kernel.PR_SET_KEEPCAPS, 1)
    own = _become(FIRST_UID + os.getpid(), folders)
    someone = own or _become(NOBODY, folders)
    kernel.keep_capabilities(reads)
    if not someone:
        raise PermissionError("no other user id may be taken")
    return own


def _become(uid, folders):
    try:
        for folder in folders:
            os.chown(folder, uid, uid)
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError:  # a container without that many ids
        return False
    return True


def _for_everyone(path):
    """Whether every user may go to this folder and read it."""
    path = os.path.realpath(path)
    if not os.stat(path).st_mode & stat.S_IROTH:
        return False
    while os.stat(path).st_mode & stat.S_IXOTH:
        if path == "/":
            return True
        path = os.path.dirname(path)
    return False
