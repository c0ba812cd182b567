"""`python -m reasoning_gym_client.serve FRAMEWORK` as a process of its own, which a script may restart."""

import atexit
import os
import socket
import subprocess
import sys
import time

from testbed import url


def get_free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Served:
    """The module of one framework in front of the testbed's server. `url`: where it listens."""

    def __init__(self, framework, *flags):
        port = get_free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._command = [sys.executable, "-m", "reasoning_gym_client.serve", framework, "--url", url, "--port", str(port), *flags]
        self._address = ("127.0.0.1", port)
        self.start()
        atexit.register(lambda: self._process.kill())  # or the harness would wait for its output

    def start(self):
        self._process = subprocess.Popen(self._command, env={**os.environ, "REASONING_GYM_URL": ""})
        end = time.monotonic() + 60
        while True:
            try:
                return socket.create_connection(self._address, timeout=1).close()
            except OSError:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def restart(self):
        self._process.kill()
        self._process.wait()
        self.start()
