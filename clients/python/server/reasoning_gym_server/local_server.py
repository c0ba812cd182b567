"""A server for a notebook or a test: starts with it, and ends with it."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from types import TracebackType
from typing import Any, List, Mapping, Optional, Type

from reasoning_gym_client import Client

from .launcher import build_command, build_environment

_POLL_INTERVAL_S = 0.05
_LOG_LINES_IN_ERRORS = 20
#: The server itself gives up after 15 s.
_SHUTDOWN_TIMEOUT_S = 20.0


class ServerFailed(RuntimeError):
    """The server could not be started. The message ends with its last log lines."""


class LocalServer:
    """A server on this machine, on a free port of the loopback address.

        with LocalServer() as client:
            print(client.make("gcd", seed=1)[0]["question"])

    Args:
        data_dir: Folder for the data of its Redis and the dump files, kept at the end. Default: a temporary folder, deleted at
            the end.
        port: Port to listen on. Default: a free one.
        settings: Environment variables of the server, such as `{"WORKERS": "4"}`; docs/reference/environment.md lists them. By
            default it has one API process and one worker, and logs warnings.
        start_timeout_s: Seconds to wait until it is ready.

    The server ends when the `with` block does, when `stop()` is called, and when this Python process ends, even if it is killed.
    Without `with`, call `start()` and then `client()`.
    """

    def __init__(
        self,
        data_dir: Optional[str] = None,
        *,
        port: Optional[int] = None,
        settings: Optional[Mapping[str, str]] = None,
        start_timeout_s: float = 120.0,
    ) -> None:
        self._data_dir = data_dir
        self._port = port
        self._settings = dict(settings or {})
        self._start_timeout_s = start_timeout_s
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._channel: Optional[socket.socket] = None
        self._folder: Optional[str] = None
        self._clients: List[Client] = []
        #: Address of the server, such as `http://127.0.0.1:41234`. Empty until it has started.
        self.url = ""

    def __repr__(self) -> str:
        return f"<LocalServer {self.url} (process {self._process.pid})>" if self._process else "<LocalServer not running>"

    def __enter__(self) -> Client:
        return self.start().client()

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.stop()

    def start(self) -> "LocalServer":
        """Starts the server, again if it was killed, and waits until it can answer and score. Raises ServerFailed with the log otherwise."""
        if self._process is not None and self._process.poll() is None:
            return self
        self.stop()
        self._folder = tempfile.mkdtemp(prefix="reasoning-gym-server-")
        port = self._port if self._port is not None else _find_free_port()
        defaults = {"API_PROCESSES": "1", "WORKERS": "1", "LOG_LEVEL": "warn"}
        fixed = {"HOST": "127.0.0.1", "PORT": str(port), "DATA_DIR": self._data_path}
        # Node's own channel between parent and child: the server ends when the other side closes, which the kernel does if we die.
        self._channel, theirs = socket.socketpair()
        environment = build_environment({**defaults, **self._settings, **fixed, "NODE_CHANNEL_FD": str(theirs.fileno())})
        try:
            with theirs, open(self._log_path, "wb") as log:
                self._process = subprocess.Popen(
                    build_command(["serve"]),
                    env=environment,
                    cwd=self._folder,  # no .env of the working directory
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # Ctrl-C in a notebook interrupts the cell and not the server
                )
            self.url = f"http://127.0.0.1:{port}"
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def client(self, **options: Any) -> Client:
        """A client of this server, closed when the server stops. The options are those of `Client`."""
        if self._process is None:
            raise ServerFailed("The server is not running: use it in a `with` block, or call start() first")
        client = Client(self.url, **options)
        self._clients.append(client)
        return client

    def log(self) -> str:
        """What the server has logged so far."""
        try:
            return pathlib.Path(self._log_path).read_text(errors="replace")
        except OSError:
            return ""

    def stop(self) -> None:
        """Ends the server and everything that it started. Does nothing if it is not running."""
        for client in self._clients:
            client.close()
        self._clients.clear()
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_SHUTDOWN_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
            _stop_redis(os.path.join(self._data_path, "redis"))
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        self.url = ""

    @property
    def _data_path(self) -> str:
        return self._data_dir or os.path.join(self._folder or "", "data")

    @property
    def _log_path(self) -> str:
        return os.path.join(self._folder or "", "server.log")

    def _wait_until_ready(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + self._start_timeout_s
        while not _is_ready(self.url):
            code = self._process.poll()
            if code is not None:
                raise ServerFailed(f"The server ended while it started (exit code {code}):\n{self._last_log_lines()}")
            if time.monotonic() > deadline:
                raise ServerFailed(f"The server was not ready within {self._start_timeout_s:g} s:\n{self._last_log_lines()}")
            time.sleep(_POLL_INTERVAL_S)

    def _last_log_lines(self) -> str:
        return "\n".join(self.log().splitlines()[-_LOG_LINES_IN_ERRORS:]) or "(it logged nothing)"


def _is_ready(url: str) -> bool:
    """Whether it answers, with an engine and a worker."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/readyz", timeout=2) as response:
            workers = json.load(response).get("workers", {})
            return bool(workers.get("ok"))
    except (OSError, ValueError, urllib.error.URLError):
        return False


def _stop_redis(folder: str) -> None:
    """Stops the Redis that a killed server has left behind. It writes its data before it ends."""
    deadline = time.monotonic() + _SHUTDOWN_TIMEOUT_S
    try:
        pid = int(pathlib.Path(folder, "redis.pid").read_text())
        while _uses_folder(pid, folder) and time.monotonic() < deadline:
            os.kill(pid, signal.SIGTERM)
            time.sleep(_POLL_INTERVAL_S)
    except (OSError, ValueError):
        return  # it has ended


def _uses_folder(pid: int, folder: str) -> bool:
    """Whether the process is the Redis of this folder: the kernel may have given its ID to another one."""
    if os.path.isdir("/proc/self"):
        return os.path.realpath(f"/proc/{pid}/cwd") == os.path.realpath(folder)
    name = subprocess.run(["ps", "-o", "comm=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return "redis" in name or "valkey" in name


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
