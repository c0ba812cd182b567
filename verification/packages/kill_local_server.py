"""Kills each part of a LocalServer while a Python client posts groups to it, and fails if anything accepted is lost or left behind."""

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
#: The Node to run the checkout with; without it, the installed wheel is used.
NODE = os.environ.get("NODE")
if NODE:
    sys.path[:0] = [os.path.join(ROOT, "clients", "python"), os.path.join(ROOT, "clients", "python", "server")]

from reasoning_gym_client import ReasoningGymError  # noqa: E402
from reasoning_gym_server import LocalServer, local_server  # noqa: E402

PARTS = {"worker": "main/worker.", "api": "main/api.", "redis": "redis-server"}  # .ts in the checkout, .js in the wheel


def use_checkout() -> None:
    """Stands for the wheel, which brings the same JavaScript and a Node of its own."""
    cli = os.path.join(ROOT, "bin", "reasoning-gym-server.js")
    local_server.build_command = lambda arguments: [NODE, cli, *arguments]
    local_server.build_environment = lambda changes: {**os.environ, "ENGINE_PYTHON": sys.executable, **changes}


def list_processes(folder):
    """The command lines of all processes that use the folder as their data folder or are started with it, by process ID."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/environ", "rb") as environ, open(f"/proc/{pid}/cmdline", "rb") as cmdline:
                command = cmdline.read().replace(b"\0", b" ").decode(errors="replace")
                if int(pid) != os.getpid() and (folder.encode() in environ.read() or folder in command):
                    found[int(pid)] = command
    return found


def wait_for(what, condition, timeout_s=60):
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"{what}: not within {timeout_s} s")
        time.sleep(0.05)


class Trainer(threading.Thread):
    """Posts groups until it is told to stop. It retries nothing itself: the client does."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.run_of_server = client.run("kills")
        self.accepted = []
        self.error = None
        self.is_over = threading.Event()

    def run(self):
        try:
            while not self.is_over.is_set():
                for item in self.run_of_server.items(2):
                    group = self.run_of_server.post(item["id"], [{"completion": "<answer>1</answer>"}, {"completion": "?"}])
                    self.accepted.append(group["group_id"])
        except ReasoningGymError as error:
            self.error = error


def kill_part(folder, name, trainer):
    before = [pid for pid, command in list_processes(folder).items() if PARTS[name] in command]
    assert before, f"no process of {name}: {list_processes(folder)}"
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    accepted = len(trainer.accepted)
    wait_for(f"groups are accepted after the {name} was killed", lambda: trainer.error or len(trainer.accepted) >= accepted + 4)
    assert trainer.error is None, f"{name}: {trainer.error}"
    print(f"killed: {name}; the client noticed nothing but a delay")


def check_groups(client, accepted):
    run = client.run("kills")
    for group in accepted:
        verdicts = run.group(group, wait_s=30)["verdicts"]
        assert len(verdicts) == 2, (group, verdicts)
    assert len(set(accepted)) == len(accepted)
    return run.get()["progress"]["groups"]


def kill_everything():
    if NODE:
        use_checkout()
    with tempfile.TemporaryDirectory(prefix="rgs-kills-") as folder:
        server = LocalServer(data_dir=folder)
        client = server.start().client()
        client.run("kills").put(tasks=["gcd"], group_size=2, buffer_max_groups=100_000)
        trainer = Trainer(client)
        trainer.start()
        wait_for("groups are accepted", lambda: trainer.error or len(trainer.accepted) >= 4)
        for name in PARTS:
            kill_part(folder, name, trainer)
        trainer.is_over.set()
        trainer.join()
        assert trainer.error is None, trainer.error
        assert check_groups(client, trainer.accepted) == len(trainer.accepted)

        serve = [pid for pid, command in list_processes(folder).items() if " serve" in command]
        assert len(serve) == 1, list_processes(folder)
        os.kill(serve[0], signal.SIGKILL)
        others = lambda: [command for command in list_processes(folder).values() if PARTS["redis"] not in command]  # noqa: E731
        wait_for("API, worker and engines end after serve was killed", lambda: not others())
        impatient = server.client(connect_for_s=0, retry_for_s=0)
        try:
            impatient.run("kills").get()
        except ReasoningGymError as error:
            print(f"killed: serve; the client says: {error}")
        else:
            raise SystemExit("a server that was killed has answered")

        client = server.start().client()  # on the same data
        assert check_groups(client, trainer.accepted) == len(trainer.accepted)
        os.kill(next(pid for pid, command in list_processes(folder).items() if " serve" in command), signal.SIGKILL)
        server.stop()
        wait_for("no process is left after a server that was killed", lambda: not list_processes(folder))
        print(f"{len(trainer.accepted)} groups were accepted, and all of them are scored")


if __name__ == "__main__":
    kill_everything()
