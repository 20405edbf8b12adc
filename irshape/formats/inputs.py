"""Defines how an input format is recognized and read, and the error for an unreadable file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple, Unpack

from ..faults import Fault, Stated
from ..model.format import Format
from ..model.graph import Finding, Model, NotReadable
from ..model.source import Source
from ..rule_ids import RuleId

WeightsPath = str | os.PathLike[str] | None
"""The path of a .bin, or None to read the model without one."""


class InputFormat(NamedTuple):
    """The functions that recognize and read a format. `loading.formats` lists all formats."""

    format: Format
    """The facts that all models of this format share, such as the name of the format."""
    recognises: Callable[[bytes], bool]
    """Returns whether the bytes of a file are in this format."""
    read: Callable[[Source, WeightsPath], Model]
    """Reads a file as a model with OpenVINO's operations. Raises `NotReadable`."""
    opens_text: Callable[[str, bytes], Source] | None = None
    """Decodes the bytes of a file to text; the arguments are the path and the bytes. Raises
    `NotReadable` if the bytes are not text. None if the reader does not need text."""


def unreadable(
    source: Source,
    rule: RuleId,
    message: str,
    offset: int = 0,
    *,
    begun: Model | None = None,
    **facts: Unpack[Stated],
) -> NotReadable:
    """Returns the error for an unreadable file. `begun`: the part of the model that was read."""
    return NotReadable(Finding(Fault(rule, message, **facts), offset), source, begun)
