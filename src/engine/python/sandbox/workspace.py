"""Where a host works. One that scores: in an empty folder that it cannot write to. One that makes items: in folders of its own
that it takes for /tmp and /dev/shm, emptied before each item, so that no item depends on the host or on those before it."""

import json
import os
import shutil
import tempfile

from sandbox import kernel
from sandbox import landlock

TMP, SHM = "/tmp", "/dev/shm"


class EmptyFolder:
    """All hosts that score share it."""

    writable = ()

    def __init__(self, path):
        self.path = path

    def enter(self):
        os.umask(0o077)
        os.chdir(self.path)

    def empty(self):
        pass

    def unnamed_in(self, made):
        return made


class OwnFolders:
    def __init__(self, path):
        self.tmp, self.shm = os.path.join(path, "tmp"), os.path.join(path, "shm")
        self.kept = set()
        for folder in path, self.tmp, self.shm:
            os.mkdir(folder)
            os.chmod(folder, 0o711 if folder == path else 0o700)

    @property
    def writable(self):
        return self.tmp, self.shm

    def enter(self):
        """Raises OSError where they cannot be mounted over /tmp and /dev/shm; then they are used under the names they have."""
        os.umask(0o077)
        os.chdir(self.tmp)
        tempfile.tempdir = self.tmp
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.mount("none", "/", kernel.MS_REC | kernel.MS_PRIVATE)
        for root in map(os.path.realpath, landlock.readable()):
            if root.startswith(TMP + "/") and os.path.isdir(root):  # a server that is installed there
                self._keep(root)
        if os.path.isdir(SHM):
            kernel.mount(self.shm, SHM, kernel.MS_BIND)
            self.shm = SHM
        kernel.mount(self.tmp, TMP, kernel.MS_BIND | kernel.MS_REC)
        os.chdir(TMP)
        self.tmp = tempfile.tempdir = TMP
        self.kept = set(os.listdir(TMP))

    def _keep(self, root):
        place = os.path.join(self.tmp, os.path.relpath(root, TMP))
        os.makedirs(place, exist_ok=True)
        kernel.mount(root, place, kernel.MS_BIND | kernel.MS_REC)
        flags = os.statvfs(place).f_flag & kernel.MS_OF_STATVFS
        kernel.mount("none", place, kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY | flags)

    def empty(self):
        for folder in self.writable:
            for name in set(os.listdir(folder)) - self.kept:
                _remove(os.path.join(folder, name))
        os.chdir(self.tmp)

    def unnamed_in(self, made):
        """What a program has made, with /tmp for where it was made."""
        if self.tmp == TMP or self.tmp not in (text := json.dumps(made)):
            return made
        return json.loads(text.replace(self.tmp, TMP))


def _remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        os.unlink(path)
