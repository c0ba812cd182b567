"""What the client's tests own: the address of a real server, run names of their own, and a lossy way to that server."""

import os
import random
import socket
import sys
import threading
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "clients", "python"))

SERVER = os.environ["SERVER_URL"]


def run_name() -> str:
    return f"client-{uuid.uuid4().hex[:8]}"


def take(run: object, count: int) -> list:
    """The next items of a run: on a busy machine, not all are made within the time of one call."""
    items: list = []
    while len(items) < count:
        items += run.items(count - len(items))
    return items


class LossyWay:
    """A TCP proxy that cuts a connection after the server has had the request and before the client has the answer."""

    def __init__(self, target: str, loss: float, seed: int) -> None:
        host, port = target.split("//")[1].split(":")
        self.target = (host, int(port))
        self.loss = loss
        self.random = random.Random(seed)
        self.lost = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.target)
            threading.Thread(target=self.carry, args=(client, server), daemon=True).start()
            threading.Thread(target=self.carry_back, args=(server, client), daemon=True).start()

    def carry(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        close(sink)

    def carry_back(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                if self.random.random() < self.loss:
                    self.lost += 1
                    break
                sink.sendall(data)
        except OSError:
            pass
        close(sink)
        close(source)

    def close(self) -> None:
        self.listener.close()


def close(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()
