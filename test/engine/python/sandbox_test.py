"""Each sandbox layer on its own: what it prevents, in a child process that has only that layer."""

import errno
import json
import os
import pathlib
import resource
import signal
import socket
import struct
import sys
import tempfile
import threading
import unittest
from unittest import mock

from sandbox import kernel, landlock, layers, privileges, rlimits, seccomp
from sandbox.syscalls import SYSCALL_NUMBERS
from sandbox.workspace import PrivateWorkspace, SharedEmptyWorkspace

IS_LINUX = sys.platform == "linux"


def inside(put_on, *deeds):
    """What the deeds came to in a child behind what `put_on` put on: values, or names of errors; a signal's number if it died."""
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            put_on()
            os.write(writable, json.dumps([_result(deed) for deed in deeds]).encode())
        except OSError as error:
            os.write(writable, json.dumps(f"refused: {error}").encode())
        finally:
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as stream:
        told = stream.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status)
    results = json.loads(told)
    if isinstance(results, str):
        raise unittest.SkipTest(results)  # what this platform refuses is told by /readyz
    return results


def _result(deed):
    try:
        value = deed()
    except OSError as error:
        return errno.errorcode[error.errno]
    except (MemoryError, RuntimeError) as error:
        return type(error).__name__
    return value if isinstance(value, (int, str, list)) else None


def write(path):
    with open(path, "w") as file:
        file.write("x")


def start_thread():
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    return "ran"


def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "forked"


def status(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(name + ":"))


@unittest.skipUnless(IS_LINUX, "Linux")
class Layers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def behind_filter(self, kind, *deeds, may_write=False):
        def put_on():
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
            seccomp.install_filter(kind, may_write)

        return inside(put_on, *deeds)

    def test_no_new_privileges(self):
        self.assertEqual(inside(lambda: kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1), lambda: status("NoNewPrivs")), ["1"])

    def test_seccomp_lets_a_scoring_host_read_and_compute_only(self):
        attempts = {
            "socket": lambda: socket.socket(),
            "socketpair": lambda: socket.socketpair(),
            "fork": fork,
            "thread": start_thread,
            "exec": lambda: os.execv("/bin/true", ["true"]),
            "write": lambda: write(f"{self.folder}/pwned"),
            "append": lambda: os.open(__file__, os.O_RDONLY | os.O_APPEND),
            "truncate": lambda: os.truncate(__file__, 0),
            "remove": lambda: os.unlink(__file__),
            "mkdir": lambda: os.mkdir(f"{self.folder}/pwned"),
            "rename": lambda: os.rename(__file__, f"{self.folder}/pwned"),
            "link": lambda: os.symlink("/etc", f"{self.folder}/pwned"),
            "kill": lambda: os.kill(os.getppid(), 0),
            "chmod": lambda: os.chmod(__file__, 0),
            "setuid": lambda: os.setuid(12345),
            "memfd": lambda: os.memfd_create("pwned"),
            "ptrace": lambda: kernel.syscall(101 if kernel.MACHINE == "x86_64" else 117, 16, os.getppid(), 0, 0),
            "mount": lambda: kernel.mount("none", "/mnt", kernel.MS_BIND),
            "unshare": lambda: kernel.unshare(kernel.CLONE_NEWUSER),
            "prctl": lambda: kernel.prctl(kernel.PR_SET_DUMPABLE, 1),
            "others' limits": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CORE),
        }
        results = dict(zip(attempts, self.behind_filter("score", *attempts.values()), strict=True))
        self.assertEqual(results | {"thread": "EPERM"}, dict.fromkeys(attempts, "EPERM"))
        self.assertEqual(results["thread"], "RuntimeError")  # can't start new thread
        self.assertEqual(os.listdir(self.folder), [])
        fine = self.behind_filter("score", lambda: len(pathlib.Path(__file__).read_text()) > 0, lambda: sum(range(99)))
        self.assertEqual(fine, [True, 4851])

    def test_seccomp_lets_a_host_that_makes_items_have_threads_and_children_but_no_network_and_no_exec(self):
        deeds = [start_thread, fork, socket.socket, lambda: os.execv("/bin/true", ["true"]), lambda: write(f"{self.folder}/x")]
        self.assertEqual(self.behind_filter("items", *deeds), ["ran", "forked", "EPERM", "EPERM", "EPERM"])
        self.assertEqual(self.behind_filter("items", *deeds, may_write=True), ["ran", "forked", "EPERM", "EPERM", None])

    def test_the_filter_of_every_machine_by_the_rules_of_bpf(self):
        for machine, (column, audit_arch) in seccomp.ARCHITECTURES.items():
            with self.subTest(machine):
                score = seccomp.build_filter("score", 4711, machine, False)
                items = seccomp.build_filter("items", 4711, machine, True)

                def ask(program, name, *arguments, arch=audit_arch):
                    number = SYSCALL_NUMBERS[name][column] if isinstance(name, str) else name
                    return run_bpf(program, number, arch, arguments)

                refused = seccomp.RETURN_ERRNO | errno.EPERM
                self.assertEqual(ask(score, "read"), seccomp.ALLOW)
                self.assertEqual(ask(score, "openat", 0, 0, os.O_RDONLY | os.O_CLOEXEC), seccomp.ALLOW)
                for flags in os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC:
                    self.assertEqual(ask(score, "openat", 0, 0, flags), refused)
                self.assertEqual(ask(items, "openat", 0, 0, os.O_RDWR | os.O_CREAT), seccomp.ALLOW)
                self.assertEqual(ask(score, "tgkill", 4711, 4711, 6), seccomp.ALLOW)
                self.assertEqual(ask(score, "tgkill", 1, 1, 9), refused)
                self.assertEqual(ask(score, "clone", 0x50F00), refused)
                self.assertEqual(ask(items, "clone", 0x50F00), seccomp.ALLOW)
                self.assertEqual(ask(items, "clone", kernel.CLONE_NEWUSER), refused)
                self.assertEqual(ask(items, "clone3"), seccomp.RETURN_ERRNO | errno.ENOSYS)
                self.assertEqual(ask(score, "linkat"), refused)
                self.assertEqual(ask(score, 9999), refused)
                self.assertEqual(ask(score, seccomp.X32 | 0), refused)
                self.assertEqual(ask(score, "read", arch=0x40000003), seccomp.KILL_PROCESS)

    def test_landlock_shows_the_library_and_nothing_else(self):
        def put_on():
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
            landlock.restrict([self.folder])

        outside = tempfile.mkdtemp()
        self.addCleanup(os.rmdir, outside)
        deeds = [
            lambda: open("/etc/passwd").close(),
            lambda: write(f"{outside}/pwned"),
            lambda: os.mkdir(f"{outside}/pwned"),
            lambda: os.listdir("/home"),
            lambda: os.execv("/bin/true", ["true"]),
            lambda: write(f"{self.folder}/own"),
            lambda: len(pathlib.Path(os.__file__).read_text()) > 0,
        ]
        self.assertEqual(inside(put_on, *deeds), ["EACCES"] * 5 + [None, True])
        self.assertEqual(os.listdir(outside), [])

    def test_limits(self):
        def hoard():
            return len(bytearray(2 * rlimits.MEMORY_BYTES["score"]))

        def open_many():
            return len([os.open("/dev/null", os.O_RDONLY) for _ in range(rlimits.MAX_OPEN_FILES)])

        deeds = [hoard, lambda: write(f"{self.folder}/pwned"), open_many, lambda: resource.getrlimit(resource.RLIMIT_CORE)[1]]
        self.assertEqual(inside(lambda: rlimits.apply_limits("score"), *deeds), ["MemoryError", "EFBIG", "EMFILE", 0])

    def test_limits_on_processes_count_for_a_user_of_its_own(self):
        def put_on():
            privileges.drop_privileges([])
            rlimits.limit_processes("score", False)

        self.assertEqual(inside(put_on, fork, start_thread), ["EAGAIN", "RuntimeError"])

    def test_limit_on_the_processor_ends_what_the_server_does_not(self):
        def work():
            while True:
                pass

        with mock.patch.object(rlimits, "KILL_GRACE_S", 1):
            self.assertEqual(inside(lambda: rlimits.limit_cpu_time(0), work), signal.SIGXCPU)

    @unittest.skipUnless(IS_LINUX and os.geteuid() == 0, "started as root")
    def test_a_host_of_root_is_nobody(self):
        own = os.path.join(self.folder, "own")
        write(own)
        os.chmod(self.folder, 0o711)
        deeds = [os.getuid, lambda: write(own), lambda: os.kill(os.getppid(), 0), lambda: os.setuid(0), lambda: status("CapEff")]
        uid, *refused, capabilities = inside(lambda: privileges.drop_privileges([]), *deeds)
        self.assertNotEqual(uid, 0)
        self.assertEqual(refused, ["EACCES", "EPERM", "EPERM"])
        self.assertEqual(int(capabilities, 16) & ~privileges.CAP_DAC_READ_SEARCH, 0)

    def test_no_network(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            connect = lambda: socket.create_connection(server.getsockname(), timeout=5)  # noqa: E731

            def put_on():
                refusal = layers.isolate_network()
                if refusal:
                    raise OSError(errno.EPERM, refusal)

            self.assertEqual(inside(put_on, connect, lambda: [name for _, name in socket.if_nameindex()]), ["ENETUNREACH", ["lo"]])

    def test_an_environment_with_other_variables_is_reported(self):
        with mock.patch.dict(os.environ, {"PATH": "/bin", "API_KEYS": "admin:secret"}, clear=True):
            self.assertEqual(layers._try_layer(layers._check_environment), "ValueError: also contains API_KEYS")
        with mock.patch.dict(os.environ, {"PATH": "/bin"}, clear=True):
            self.assertIsNone(layers._try_layer(layers._check_environment))

    def test_a_folder_taken_for_tmp_that_no_item_leaves_anything_in(self):
        mark = os.path.join("/tmp", f"sandbox-test-{os.getpid()}")

        def put_on():
            self.own = PrivateWorkspace(os.path.join(self.folder, "items"))
            self.own.enter()

        def leave():
            write(mark)
            os.mkdir("made")
            write("/dev/shm/sandbox-test")
            return sorted(set(os.listdir("/tmp")) - self.own.preexisting)

        def empty():
            self.own.clear()
            return sorted(set(os.listdir("/tmp")) - self.own.preexisting) + os.listdir("/dev/shm")

        self.assertEqual(inside(put_on, os.getcwd, leave, empty), ["/tmp", ["made", os.path.basename(mark)], []])
        self.assertFalse(os.path.exists(mark))

    def test_the_folder_of_an_item_is_small(self):
        own = PrivateWorkspace(os.path.join(self.folder, "items"))

        def fill():
            for k in range(20):
                with open(f"/tmp/fill-{k}", "wb") as file:
                    file.write(bytes(8 << 20))

        self.assertEqual(inside(own.enter, fill), ["ENOSPC"])

    def test_where_nothing_may_be_mounted_an_item_still_says_tmp(self):
        own = PrivateWorkspace(os.path.join(self.folder, "items"))
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)
        self.addCleanup(os.umask, os.umask(0o077))
        with mock.patch.object(kernel, "unshare", side_effect=PermissionError(errno.EPERM, "no")):
            self.assertIn("PermissionError", layers._try_layer(own.enter))
        made = {"question": f"files in {os.getcwd()}/x", "entry": {"$tuple": [1, f"{tempfile.gettempdir()}/y"]}}
        self.assertEqual(own.normalize_paths(made), {"question": "files in /tmp/x", "entry": {"$tuple": [1, "/tmp/y"]}})

    def test_a_layer_that_is_refused_is_told_and_the_others_stand(self):
        reports = []

        def put_on():
            with mock.patch.object(landlock, "restrict", side_effect=PermissionError(errno.EPERM, "not here")):
                reports.append(layers.enter_sandbox("items", PrivateWorkspace(os.path.join(self.folder, "items")), None))

        said, written = inside(put_on, lambda: json.dumps(reports), lambda: write("/tmp/x"))
        self.assertIn("not here", json.loads(said)[0]["landlock"])
        self.assertIsNone(json.loads(said)[0]["seccomp"])
        self.assertEqual(written, "EPERM")  # without Landlock nothing may be written at all

    def test_a_scoring_host_works_in_an_empty_folder(self):
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty, 0o555)
        deeds = [os.getcwd, os.listdir, lambda: write("x")]
        cwd, listing, written = inside(lambda: layers.enter_sandbox("score", SharedEmptyWorkspace(empty), None), *deeds)
        self.assertEqual((cwd, written), (empty, "EPERM"))
        self.assertIn(listing, ([], "EACCES"))


def run_bpf(program, number, arch, arguments):
    """The verdict of a filter on one call."""
    words = struct.pack("<IIQ6Q", number, arch, 0, *(list(arguments) + [0] * 6)[:6])
    steps = list(struct.iter_unpack("HBBI", program))
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        if code == seccomp.LOAD_WORD:
            (accumulator,) = struct.unpack_from("<I", words, value)
        elif code == seccomp.MASK:
            accumulator &= value
        elif code == seccomp.JUMP_EQUAL:
            at += if_true if accumulator == value else if_false
        elif code == seccomp.JUMP_AT_LEAST:
            at += if_true if accumulator >= value else if_false
        else:
            return value


if __name__ == "__main__":
    unittest.main()
