"""Frames on a stream: four bytes of length, big-endian, then one JSON document."""

import json
import struct

LENGTH = struct.Struct(">I")


def encode(message):
    body = json.dumps(message, separators=(",", ":")).encode()
    return LENGTH.pack(len(body)) + body


def read(stream):
    """The next message of a buffered binary stream, or None at its end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return json.loads(stream.read(LENGTH.unpack(head)[0]))
