"""The folder that a worker works in. A scoring worker has an empty folder that it cannot write to. A worker that makes items has
folders of its own that it sees as /tmp and /dev/shm, cleared before each item, so that no item depends on the worker or on the
items before it."""

import json
import os
import shutil
import tempfile

from sandbox import kernel, landlock

TMP, SHM = "/tmp", "/dev/shm"
MAX_WORKSPACE_BYTES = 64 << 20


class SharedEmptyWorkspace:
    """Shared by all scoring workers."""

    writable = ()

    def __init__(self, path):
        self.path = path

    def enter(self):
        os.umask(0o077)
        os.chdir(self.path)

    def clear(self):
        pass

    def normalize_paths(self, item):
        return item


class PrivateWorkspace:
    def __init__(self, path):
        self.tmp, self.shm = os.path.join(path, "tmp"), os.path.join(path, "shm")
        self.preexisting = set()
        for folder in path, self.tmp, self.shm:
            os.mkdir(folder)
            os.chmod(folder, 0o711 if folder == path else 0o700)

    @property
    def writable(self):
        return self.tmp, self.shm

    def enter(self):
        """Raises OSError where the folders cannot be mounted over /tmp and /dev/shm; they are then used under their own names."""
        os.umask(0o077)
        os.chdir(self.tmp)
        tempfile.tempdir = self.tmp
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.mount("none", "/", kernel.MS_REC | kernel.MS_PRIVATE)
        for folder in self.tmp, self.shm:
            _limit_size(folder)
        for root in sorted(map(os.path.realpath, landlock.list_readable_paths())):  # a folder before what is in it
            if root.startswith(TMP + "/") and os.path.exists(root):  # a server that is installed below /tmp, or custom tasks
                self._remount_read_only(root)
        if os.path.isdir(SHM):
            kernel.mount(self.shm, SHM, kernel.MS_BIND)
            self.shm = SHM
        kernel.mount(self.tmp, TMP, kernel.MS_BIND | kernel.MS_REC)
        os.chdir(TMP)
        self.tmp = tempfile.tempdir = TMP
        self.preexisting = set(os.listdir(TMP))

    def _remount_read_only(self, root):
        path = os.path.join(self.tmp, os.path.relpath(root, TMP))
        if os.path.exists(path):
            return  # in a folder that is already mounted
        os.makedirs(path if os.path.isdir(root) else os.path.dirname(path), exist_ok=True)
        if os.path.isfile(root):
            open(path, "w").close()
        kernel.mount(root, path, kernel.MS_BIND | kernel.MS_REC)
        flags = os.statvfs(path).f_flag & kernel.LOCKED_MOUNT_FLAGS
        kernel.mount("none", path, kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY | flags)

    def clear(self):
        for folder in self.writable:
            for name in set(os.listdir(folder)) - self.preexisting:
                _remove(os.path.join(folder, name))
        os.chdir(self.tmp)

    def normalize_paths(self, item):
        """Replaces this folder's own path by /tmp in what a program produced."""
        if self.tmp == TMP or self.tmp not in (text := json.dumps(item)):
            return item
        return json.loads(text.replace(self.tmp, TMP))


def _limit_size(folder):
    """Puts a small file system in its place, so that a program cannot fill the disk."""
    try:
        kernel.mount("none", folder, 0, "tmpfs", f"size={MAX_WORKSPACE_BYTES},mode=0700,nr_inodes=10000")
    except OSError:
        pass  # the limit on the size of each file stands


def _remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        os.unlink(path)
