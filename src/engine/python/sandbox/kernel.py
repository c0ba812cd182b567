"""Linux system calls that Python's `os` module lacks: prctl, unshare, mount, capabilities and calls by number."""

import ctypes
import os
import platform

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
# Nosuid, nodev, noexec, noatime, nodiratime, relatime: the same bits in both; a remount must not clear them.
LOCKED_MOUNT_FLAGS = 2 | 4 | 8 | 1024 | 2048
CAPABILITY_VERSION_3 = 0x20080522
CAPSET_SYSCALL = {"x86_64": 126, "aarch64": 91}

MACHINE = platform.machine()
_libc = ctypes.CDLL(None, use_errno=True)


def _check_result(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def prctl(option, *arguments):
    padded = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    return _check_result(_libc.prctl(option, *padded))


def unshare(flags):
    return _check_result(_libc.unshare(flags))


def mount(source, target, flags, filesystem=None, options=None):
    kind, data = (text and text.encode() for text in (filesystem, options))
    return _check_result(_libc.mount(source.encode(), target.encode(), kind, ctypes.c_ulong(flags), data))


def syscall(number, *arguments):
    return _check_result(_libc.syscall(ctypes.c_long(number), *arguments))


def keep_capabilities(mask):
    """Drops every capability except those in `mask` (of the first 32)."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(mask, mask, 0, 0, 0, 0)  # effective, permitted, inheritable; then those above 31
    syscall(CAPSET_SYSCALL[MACHINE], ctypes.byref(header), ctypes.byref(sets))
