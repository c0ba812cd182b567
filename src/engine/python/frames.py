"""Frames on a stream: four bytes of length, big-endian, followed by one JSON document."""

import json
import struct

LENGTH_PREFIX = struct.Struct(">I")


def encode_frame(message):
    body = json.dumps(message, separators=(",", ":")).encode()
    return LENGTH_PREFIX.pack(len(body)) + body


def read_frame(stream):
    """Reads the next message from a buffered binary stream; None at its end."""
    head = stream.read(LENGTH_PREFIX.size)
    if len(head) < LENGTH_PREFIX.size:
        return None
    return json.loads(stream.read(LENGTH_PREFIX.unpack(head)[0]))
