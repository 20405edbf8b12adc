"""Writes paths and other arguments for the commands in messages, quoted for a shell."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote


def model_argument(path: str) -> str:
    """Returns a model's path, quoted for a shell; `-` if the path is `<stdin>`."""
    return "-" if path == "<stdin>" else quote(path)


def assignments(shapes: Mapping[str, str]) -> list[str]:
    """Returns an argument for the shape of each input: `'x=[1,3]'`."""
    return [quote(f"{name}={shape}") for name, shape in shapes.items()]
