"""The sandbox layers of a Python worker, in the order in which they must be installed.

A layer that the platform rejects is reported and the others are installed without it. Everything that an answer or a program
bundled with the library can cause happens inside these layers."""

import os
import signal

from sandbox import kernel, landlock, privileges, rlimits, seccomp

# What a worker's environment may contain (Python itself adds LC_CTYPE): no setting of the server and no secret.
ALLOWED_ENVIRONMENT = {"PYTHONHASHSEED", "PATH", "LANG", "LC_CTYPE", "OPENBLAS_NUM_THREADS"}


def isolate_network():
    """Moves the zygote, and so all workers, into a network without any device. Returns why that failed, or None."""
    return _try_layer(_unshare_network)


def enter_sandbox(kind, workspace, network):
    """Installs all layers for a worker of `kind`. Returns {layer: None, or why it is not active}; `network` comes from isolate_network."""
    has_own_uid = False

    def change_user():
        nonlocal has_own_uid
        has_own_uid = privileges.drop_privileges(workspace.writable)

    report = {
        "environment": _try_layer(_check_environment),
        "network": network,
        "limits": _try_layer(rlimits.apply_limits, kind),
        "folder": _try_layer(workspace.enter),
        "user": _try_layer(change_user),
        "no_new_privileges": _try_layer(kernel.prctl, kernel.PR_SET_NO_NEW_PRIVS, 1),
        "landlock": _try_layer(lambda: landlock.restrict(workspace.writable)),
    }
    report["limits"] = report["limits"] or _try_layer(rlimits.limit_processes, kind, has_own_uid)
    _try_layer(kernel.prctl, kernel.PR_SET_DUMPABLE, 0)  # no process may trace it, not even one of the same user
    die_with_parent()  # again: changing the user cleared it
    may_write = kind == "items" and report["landlock"] is None
    report["seccomp"] = _try_layer(seccomp.install_filter, kind, may_write)
    return report


def become_subreaper():
    _try_layer(kernel.prctl, kernel.PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent():
    # Where this is not available, an idle worker exits when its socket closes.
    _try_layer(kernel.prctl, kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _try_layer(install, *arguments):
    try:
        install(*arguments)
    except (OSError, AttributeError, KeyError, ValueError) as error:  # the last three where this is not Linux
        return f"{type(error).__name__}: {error}"[:200]
    return None


def _check_environment():
    extra = set(os.environ) - ALLOWED_ENVIRONMENT
    if extra:
        raise ValueError(f"also contains {', '.join(sorted(extra))}")


def _unshare_network():
    if os.geteuid() == 0:
        kernel.unshare(kernel.CLONE_NEWNET)
        return
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNET)
    for name, line in ("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1"):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(line)
