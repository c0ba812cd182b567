"""An Ethernet switch in user space, with latency, loss and cuts between its ports.

    python switch.py NAME:NAMESPACE...        NAMESPACE may be empty: the port then stays in the caller's namespace

Each port is a TAP device `NAME` that is moved to its network namespace. The kernel's own emulation (netem) is missing on many
machines, and cannot cut one direction between two hosts. Commands come as lines of JSON on standard input:

    {"port": NAME, "delay_ms": 1, "jitter_ms": 1, "loss": 0.01}
    {"cut": [FROM, TO]}
    {"heal": true}                            undoes all cuts

The first line of the output is `ready`. The switch ends with its standard input.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import random
import struct
import subprocess
import sys

TUNSETIFF = 0x400454CA
IFF_TAP = 0x0002
IFF_NO_PI = 0x1000
MAX_FRAME = 65_536
BROADCAST_BIT = 1


class Port:
    def __init__(self, name: str, namespace: str) -> None:
        self.name = name
        self.delay_ms = 0.0
        self.jitter_ms = 0.0
        self.loss = 0.0
        self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
        if namespace:
            subprocess.run(["ip", "link", "set", name, "netns", namespace], check=True)


class Switch:
    def __init__(self, ports: list[Port]) -> None:
        self.ports = {port.name: port for port in ports}
        self.port_of_address: dict[bytes, Port] = {}
        self.cuts: set[tuple[str, str]] = set()
        self.last_arrival: dict[tuple[str, str], float] = {}
        self.loop = asyncio.get_running_loop()
        for port in ports:
            self.loop.add_reader(port.fd, self.receive, port)

    def receive(self, source: Port) -> None:
        for _ in range(64):
            try:
                frame = os.read(source.fd, MAX_FRAME)
            except OSError:  # there is none, or the port is down
                return
            target, sender = frame[:6], frame[6:12]
            self.port_of_address[sender] = source
            known = None if target[0] & BROADCAST_BIT else self.port_of_address.get(target)
            for port in [known] if known else self.ports.values():
                if port is not source:
                    self.forward(source, port, frame)

    def forward(self, source: Port, target: Port, frame: bytes) -> None:
        link = (source.name, target.name)
        if link in self.cuts or random.random() < source.loss + target.loss:
            return
        delay_ms = source.delay_ms + target.delay_ms + random.random() * (source.jitter_ms + target.jitter_ms)
        # Frames of a link keep their order.
        at = max(self.loop.time() + delay_ms / 1000, self.last_arrival.get(link, 0.0))
        self.last_arrival[link] = at
        self.loop.call_at(at, self.send, target, frame)

    def send(self, target: Port, frame: bytes) -> None:
        with contextlib.suppress(OSError):  # a full queue or a port that is down loses the frame
            os.write(target.fd, frame)

    def obey(self, command: dict) -> None:
        if "port" in command:
            port = self.ports[command["port"]]
            for name in ("delay_ms", "jitter_ms", "loss"):
                setattr(port, name, float(command.get(name, getattr(port, name))))
        elif "cut" in command:
            self.cuts.add(tuple(command["cut"]))
        else:
            self.cuts.clear()


async def main(arguments: list[str]) -> None:
    switch = Switch([Port(*argument.split(":", 1)) for argument in arguments])
    print("ready", flush=True)
    commands = asyncio.StreamReader()
    await switch.loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    async for line in commands:
        switch.obey(json.loads(line))


asyncio.run(main(sys.argv[1:]))
