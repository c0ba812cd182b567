"""Which files a host may see, by Landlock: it reads the Python installation and what that needs, and writes nowhere but in
its own folder. On newer kernels the same layer keeps it from TCP and from signalling others."""

import ctypes
import os
import struct
import sys

from sandbox import kernel

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every machine
VERSION = 1
PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
# All rights that a kernel of that version can withhold; the first 13 came at once.
FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
FILE_RIGHTS_NEWEST = (1 << 16) - 1
NET_RIGHTS = 3  # bind and connect, from version 4
SCOPES = 3  # abstract Unix sockets and signals, from version 6
OWN_FOLDER = WRITE_FILE | READ_FILE | READ_DIR | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

SYSTEM = [
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"),
    *("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/usr/share/locale", "/etc/mime.types"),
    *("/dev/urandom", "/dev/random", "/dev/zero", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu"),
]


def readable():
    """The Python installation, the library, these files, and what the system's own libraries open."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [*{sys.prefix, sys.base_prefix, here, *filter(None, sys.path)}, *SYSTEM]


def install(writable, paths=None):
    """For the calling thread and all it will start; needs no-new-privs. `writable`: the folders in which it may write."""
    version = kernel.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION)
    handled = FILE_RIGHTS.get(version, FILE_RIGHTS_NEWEST)
    attributes = struct.pack("QQQ", handled, NET_RIGHTS if version >= 4 else 0, SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = kernel.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    try:
        for path in readable() if paths is None else paths:
            _allow(ruleset, path, READ_FILE | READ_DIR)
        _allow(ruleset, "/dev/null", READ_FILE | WRITE_FILE)
        for folder in writable:
            _allow(ruleset, folder, OWN_FOLDER & handled)
        kernel.syscall(RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset, path, rights):
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there need not be allowed
    try:
        if not os.path.isdir(path):
            rights &= OF_A_FILE
        kernel.syscall(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)
