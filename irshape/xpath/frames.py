"""Messages between evaluator and worker: the length (8 bytes), JSON, and perhaps a document."""

from __future__ import annotations

import json
from typing import IO, Any


def send(stream: IO[bytes], frame: dict[str, Any], data: bytes = b"") -> None:
    """Sends a message and, if there is one, a document after it."""
    body = json.dumps(frame).encode()
    stream.write(len(body).to_bytes(8, "little") + body)
    if data:
        stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """Returns the next message; None if the other process has ended."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    size = int.from_bytes(head, "little")
    body = stream.read(size)
    return dict(json.loads(body)) if len(body) == size else None
