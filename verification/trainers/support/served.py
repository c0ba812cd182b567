"""A server of another framework in front of the testbed's server, started as users start it, and a proxy that loses responses."""

import atexit
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from testbed import url


def get_free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Served:
    """`python -m reasoning_gym_client.serve FRAMEWORK …`. Servers start side by side, and the first use of `url` waits until the
    server listens or, with a `path`, answers it with 200."""

    def __init__(self, framework, *arguments, path=None):
        self.port = get_free_port()
        self.path = path
        self.is_ready = False
        self.command = [sys.executable, "-m", "reasoning_gym_client.serve", framework, "--url", url, "--port", str(self.port), *arguments]
        self.process = None
        self.start()
        atexit.register(self.stop)  # it would keep the output open

    def start(self):
        self.is_ready = False
        self.process = subprocess.Popen(self.command, env={**os.environ, "GRADIO_ANALYTICS_ENABLED": "False"})

    @property
    def url(self):
        address = f"http://127.0.0.1:{self.port}"
        end = time.monotonic() + 180
        while not self.is_ready:
            try:
                if self.path is None:
                    socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                else:
                    urllib.request.urlopen(address + self.path, timeout=5).close()
                self.is_ready = True
            except (OSError, urllib.error.URLError):
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.2)
        return address

    def stop(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.stop()
        self.start()
        return self.url


class LossyProxy:
    """A connection to `port`, whose next response that contains `losing` is read and thrown away, and the connection closed."""

    def __init__(self, port):
        self.target, self.losing, self.lost = port, None, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:  # it restarts
                client.close()
                continue
            threading.Thread(target=self._pump, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pump, args=(server, client, True), daemon=True).start()

    def _pump(self, source, sink, is_response):
        try:
            while data := source.recv(65536):
                if is_response and self.losing is not None and self.losing in data:
                    self.losing, self.lost = None, self.lost + 1
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
