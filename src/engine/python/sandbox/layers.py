"""The layers around a host, in the order in which they can be put on. One that the platform refuses is told, and the others
stand without it. Whatever an answer or a bundled program brings about happens inside."""

import os
import signal

from sandbox import kernel
from sandbox import landlock
from sandbox import rlimits as limits
from sandbox import seccomp
from sandbox import privileges as user

# What a host's environment may hold (Python itself adds LC_CTYPE): no setting of the server, no secret.
ENVIRONMENT = {"PYTHONHASHSEED", "PATH", "LANG", "LC_CTYPE", "OPENBLAS_NUM_THREADS"}


def around_zygote():
    """What can be had once for all hosts: a network without any device. Returns what refused it, or None."""
    return _refusal(_leave_network)


def around_host(kind, folder, network):
    """Puts this process behind the walls of its kind: {layer: None, or what refused it}. `network` is what around_zygote said."""
    own_user = False

    def change_user():
        nonlocal own_user
        own_user = user.drop(folder.writable)

    report = {
        "environment": _refusal(_check_environment),
        "network": network,
        "limits": _refusal(limits.apply, kind),
        "folder": _refusal(folder.enter),
        "user": _refusal(change_user),
        "no_new_privileges": _refusal(kernel.prctl, kernel.PR_SET_NO_NEW_PRIVS, 1),
        "landlock": _refusal(lambda: landlock.install(folder.writable)),
    }
    report["limits"] = report["limits"] or _refusal(limits.processes, kind, own_user)
    _refusal(kernel.prctl, kernel.PR_SET_DUMPABLE, 0)  # nobody traces it, not even one of the same user
    die_with_parent()  # again: a change of user has ended it
    may_write = kind == "items" and report["landlock"] is None
    report["seccomp"] = _refusal(seccomp.install, kind, may_write)
    return report


def adopt_orphans():
    _refusal(kernel.prctl, kernel.PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent():
    _refusal(kernel.prctl, kernel.PR_SET_PDEATHSIG, signal.SIGKILL)  # where it cannot be had, the socket's end ends an idle host


def _refusal(put_on, *arguments):
    try:
        put_on(*arguments)
    except (OSError, AttributeError, KeyError, ValueError) as error:  # the latter where this is not Linux
        return f"{type(error).__name__}: {error}"[:200]
    return None


def _check_environment():
    more = set(os.environ) - ENVIRONMENT
    if more:
        raise ValueError(f"also holds {', '.join(sorted(more))}")


def _leave_network():
    if os.geteuid() == 0:
        kernel.unshare(kernel.CLONE_NEWNET)
        return
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNET)
    for name, line in ("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1"):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(line)
