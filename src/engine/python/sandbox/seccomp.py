"""The system calls that a worker may make, as a seccomp filter: all others fail with EPERM, and so do forbidden arguments of an
allowed call. Assembled here in classic BPF, because libseccomp is not installed everywhere."""

import ctypes
import errno
import os
import socket
import struct

from sandbox import kernel
from sandbox.syscalls import ITEM_WORKER_ONLY, SYSCALL_NUMBERS

LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
MASK = 0x54  # BPF_ALU | BPF_AND | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K
ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
RETURN_ERRNO = 0x00050000  # with the errno in its low bits
SYSCALL_NUMBER_OFFSET, ARCH_OFFSET, ARGUMENTS_OFFSET = 0, 4, 16

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column of SYSCALL_NUMBERS, AUDIT_ARCH
X32 = 0x40000000
SECCOMP_SET_MODE_FILTER = 1
SECCOMP = {"x86_64": 317, "aarch64": 277}

CLONE_PARENT = 0x00008000
CLONE_ANY_NAMESPACE = 0x7E020080  # CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}
WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PR_SET_NAME, PR_GET_NAME, PR_SET_VMA = 15, 16, 0x53564D41
F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC = 0, 1, 2, 3, 5, 6, 7, 1030
TCGETS, FIONBIO, FIOCLEX, FIONREAD = 0x5401, 0x5421, 0x5451, 0x541B


def install_filter(kind, may_write):
    """Applies to the calling thread and everything it starts; needs no-new-privs or CAP_SYS_ADMIN."""
    if kernel.MACHINE not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no system call list for {kernel.MACHINE}")
    code = build_filter(kind, os.getpid(), kernel.MACHINE, may_write)
    count = len(code) // 8
    whole = struct.pack("HxxxxxxP", count, ctypes.addressof(keep := ctypes.create_string_buffer(code)))
    kernel.syscall(SECCOMP[kernel.MACHINE], SECCOMP_SET_MODE_FILTER, 0, ctypes.create_string_buffer(whole))
    del keep


def build_filter(kind, own_pid, machine, may_write):
    """The filter for a worker of `kind`. `may_write`: another layer restricts its writes to its own_process folder."""
    column, audit_arch = ARCHITECTURES[machine]
    instructions = [_instruction(LOAD_WORD, ARCH_OFFSET), _instruction(JUMP_EQUAL, audit_arch, 1, 0), _instruction(RETURN, KILL_PROCESS)]
    instructions += [_instruction(LOAD_WORD, SYSCALL_NUMBER_OFFSET), _instruction(JUMP_AT_LEAST, X32, 0, 1), _instruction(RETURN, RETURN_ERRNO | errno.EPERM)]
    rules = _argument_rules(kind, own_pid, may_write)
    for name, numbers in SYSCALL_NUMBERS.items():
        if numbers[column] is None or (name in ITEM_WORKER_ONLY and kind != "items"):
            continue
        rule = rules.get(name, [_instruction(RETURN, ALLOW)])
        instructions += [_instruction(JUMP_EQUAL, numbers[column], 0, len(rule)), *rule]
    return b"".join([*instructions, _instruction(RETURN, RETURN_ERRNO | errno.EPERM)])


def _argument_rules(kind, own_pid, may_write):
    """Calls that are allowed for some arguments only; every rule ends with a verdict."""
    not_permitted, not_implemented = [_instruction(RETURN, RETURN_ERRNO | errno.EPERM)], [_instruction(RETURN, RETURN_ERRNO | errno.ENOSYS)]
    own_process = _allow_if_equals(0, [own_pid])
    rules = {
        "open": _allow_if_bits_clear(1, WRITE_FLAGS),
        "openat": _allow_if_bits_clear(2, WRITE_FLAGS),
        "openat2": not_implemented,  # its flags are in memory, which a filter cannot read; callers fall back to openat
        "clone3": not_implemented,
        "clone": not_permitted,
        "kill": own_process,
        "tgkill": own_process,
        "prlimit64": _allow_if_equals(0, [0, own_pid]),
        "prctl": _allow_if_equals(0, [PR_SET_NAME, PR_GET_NAME, PR_SET_VMA]),
        "ioctl": _allow_if_equals(1, [TCGETS, FIONBIO, FIOCLEX, FIONREAD]),
        "fcntl": _allow_if_equals(1, [F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC]),
        "socketpair": _allow_if_equals(0, [socket.AF_UNIX]),
    }
    if kind == "items":
        rules["clone"] = _allow_if_bits_clear(0, CLONE_ANY_NAMESPACE | CLONE_PARENT)
        if may_write:
            del rules["open"], rules["openat"]
    return rules


def _allow_if_equals(argument, values):
    """Allows the call if the low word of the argument is one of `values`."""
    instructions = [_instruction(LOAD_WORD, ARGUMENTS_OFFSET + 8 * argument)]
    for value in values:
        instructions += [_instruction(JUMP_EQUAL, value, 0, 1), _instruction(RETURN, ALLOW)]
    return [*instructions, _instruction(RETURN, RETURN_ERRNO | errno.EPERM)]


def _allow_if_bits_clear(argument, bits):
    masked = [_instruction(LOAD_WORD, ARGUMENTS_OFFSET + 8 * argument), _instruction(MASK, bits)]
    return [*masked, _instruction(JUMP_EQUAL, 0, 0, 1), _instruction(RETURN, ALLOW), _instruction(RETURN, RETURN_ERRNO | errno.EPERM)]


def _instruction(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)
