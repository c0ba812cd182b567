"""The list of system calls that a host may make, as a seccomp filter: all others fail with EPERM, as does what a host may
not ask of an allowed one. Written in the instructions of classic BPF, since libseccomp need not be there."""

import ctypes
import errno
import os
import socket
import struct

from sandbox import kernel
from sandbox.syscalls import MAKING, NUMBERS

LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
MASK = 0x54  # BPF_ALU | BPF_AND | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K
ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
FAIL = 0x00050000  # with the errno in its low bits
NUMBER_AT, MACHINE_AT, ARGUMENTS_AT = 0, 4, 16

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column of the table, AUDIT_ARCH
X32 = 0x40000000
SECCOMP_SET_MODE_FILTER = 1
SECCOMP = {"x86_64": 317, "aarch64": 277}

CLONE_PARENT = 0x00008000
CLONE_ANY_NAMESPACE = 0x7E020080  # CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PR_SET_NAME, PR_GET_NAME, PR_SET_VMA = 15, 16, 0x53564D41
F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC = 0, 1, 2, 3, 5, 6, 7, 1030
TCGETS, FIONBIO, FIOCLEX, FIONREAD = 0x5401, 0x5421, 0x5451, 0x541B


def install(kind, may_write):
    """For the calling thread and all it will start; needs no-new-privs or CAP_SYS_ADMIN."""
    if kernel.MACHINE not in MACHINES:
        raise OSError(errno.ENOSYS, f"no list of calls for {kernel.MACHINE}")
    code = program(kind, os.getpid(), kernel.MACHINE, may_write)
    count = len(code) // 8
    whole = struct.pack("HxxxxxxP", count, ctypes.addressof(keep := ctypes.create_string_buffer(code)))
    kernel.syscall(SECCOMP[kernel.MACHINE], SECCOMP_SET_MODE_FILTER, 0, ctypes.create_string_buffer(whole))
    del keep


def program(kind, own_pid, machine, may_write):
    """The filter of a host of `kind`; `may_write`: where another layer keeps it to a folder of its own."""
    column, audit_arch = MACHINES[machine]
    parts = [_step(LOAD_WORD, MACHINE_AT), _step(JUMP_EQUAL, audit_arch, 1, 0), _step(RETURN, KILL_PROCESS)]
    parts += [_step(LOAD_WORD, NUMBER_AT), _step(JUMP_AT_LEAST, X32, 0, 1), _step(RETURN, FAIL | errno.EPERM)]
    rules = _rules(kind, own_pid, may_write)
    for name, numbers in NUMBERS.items():
        if numbers[column] is None or (name in MAKING and kind != "items"):
            continue
        rule = rules.get(name, [_step(RETURN, ALLOW)])
        parts += [_step(JUMP_EQUAL, numbers[column], 0, len(rule)), *rule]
    return b"".join([*parts, _step(RETURN, FAIL | errno.EPERM)])


def _rules(kind, own_pid, may_write):
    """The calls that are allowed in part; each rule ends with a verdict, whatever it finds."""
    refused, unknown = [_step(RETURN, FAIL | errno.EPERM)], [_step(RETURN, FAIL | errno.ENOSYS)]
    own = _if_one_of(0, [own_pid])
    rules = {
        "open": _if_no_bits(1, WRITES),
        "openat": _if_no_bits(2, WRITES),
        "openat2": unknown,  # its flags lie in memory, which a filter cannot read; who asks falls back on openat
        "clone3": unknown,
        "clone": refused,
        "kill": own,
        "tgkill": own,
        "prlimit64": _if_one_of(0, [0, own_pid]),
        "prctl": _if_one_of(0, [PR_SET_NAME, PR_GET_NAME, PR_SET_VMA]),
        "ioctl": _if_one_of(1, [TCGETS, FIONBIO, FIOCLEX, FIONREAD]),
        "fcntl": _if_one_of(1, [F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC]),
        "socketpair": _if_one_of(0, [socket.AF_UNIX]),
    }
    if kind == "items":
        rules["clone"] = _if_no_bits(0, CLONE_ANY_NAMESPACE | CLONE_PARENT)
        if may_write:
            del rules["open"], rules["openat"]
    return rules


def _if_one_of(argument, values):
    """Allows if the low word of an argument is one of `values`."""
    steps = [_step(LOAD_WORD, ARGUMENTS_AT + 8 * argument)]
    for value in values:
        steps += [_step(JUMP_EQUAL, value, 0, 1), _step(RETURN, ALLOW)]
    return [*steps, _step(RETURN, FAIL | errno.EPERM)]


def _if_no_bits(argument, bits):
    masked = [_step(LOAD_WORD, ARGUMENTS_AT + 8 * argument), _step(MASK, bits)]
    return [*masked, _step(JUMP_EQUAL, 0, 0, 1), _step(RETURN, ALLOW), _step(RETURN, FAIL | errno.EPERM)]


def _step(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)
