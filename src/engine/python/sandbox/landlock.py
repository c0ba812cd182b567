"""File access of a worker, restricted by Landlock: it can read the Python installation and what that needs, and write only to
its own folder. On newer kernels the same layer blocks TCP and signals to other processes."""

import ctypes
import os
import struct
import sys

from sandbox import kernel

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every machine
CREATE_RULESET_VERSION = 1
PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
# All rights that a kernel with that ABI version can deny; version 1 had the first 13.
FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
FILE_RIGHTS_NEWEST = (1 << 16) - 1
NET_RIGHTS = 3  # bind and connect, from version 4
SCOPES = 3  # abstract Unix sockets and signals, from version 6
WORKSPACE_RIGHTS = WRITE_FILE | READ_FILE | READ_DIR | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE
FILE_ONLY_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

SYSTEM_PATHS = [
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"),
    *("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/usr/share/locale", "/etc/mime.types"),
    *("/dev/urandom", "/dev/random", "/dev/zero", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu"),
]

# Files and folders with custom tasks.
extra_paths = []


def list_readable_paths():
    """The Python installation, the library, the engine's own files, and what the system libraries open."""
    engine_folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [*{sys.prefix, sys.base_prefix, engine_folder, *filter(None, sys.path), *extra_paths}, *SYSTEM_PATHS]


def restrict(writable, paths=None):
    """Applies to the calling thread and everything it starts; needs no-new-privs. `writable`: the folders that it may write to."""
    version = kernel.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), CREATE_RULESET_VERSION)
    handled = FILE_RIGHTS.get(version, FILE_RIGHTS_NEWEST)
    attributes = struct.pack("QQQ", handled, NET_RIGHTS if version >= 4 else 0, SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = kernel.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    try:
        for path in list_readable_paths() if paths is None else paths:
            _allow_path(ruleset, path, READ_FILE | READ_DIR)
        _allow_path(ruleset, "/dev/null", READ_FILE | WRITE_FILE)
        for folder in writable:
            _allow_path(ruleset, folder, WORKSPACE_RIGHTS & handled)
        kernel.syscall(RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow_path(ruleset, path, rights):
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a path that does not exist needs no rule
    try:
        if not os.path.isdir(path):
            rights &= FILE_ONLY_RIGHTS
        kernel.syscall(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)
