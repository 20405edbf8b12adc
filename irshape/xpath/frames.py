"""Messages between evaluator and worker: a line of JSON, and perhaps a document after it."""

from __future__ import annotations

import json
from typing import IO, Any


def send(stream: IO[bytes], frame: dict[str, Any], data: bytes = b"") -> None:
    """Sends a message and, if there is one, a document after it."""
    stream.write(json.dumps(frame).encode() + b"\n" + data)
    stream.flush()


def receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """Returns the next message; None if the other process has ended."""
    line = stream.readline()
    return dict(json.loads(line)) if line.endswith(b"\n") else None
