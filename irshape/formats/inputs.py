"""Describes how a file of an input format is recognised and read, or why it cannot be read."""

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
    """An input format. Each is declared in its own folder, and listed in `loading.formats`."""

    format: Format
    """The properties of all models of this format."""
    recognises: Callable[[bytes], bool]
    """Returns whether the bytes of a file are in this format."""
    read: Callable[[Source, WeightsPath], Model]
    """Reads a file into a model of OpenVINO's operations. Raises `NotReadable`."""
    opens_text: Callable[[str, bytes], Source] | None = None
    """Decodes the bytes of the file at a path. Raises `NotReadable` if they are not text.

    None if the reader uses the bytes directly.
    """


def unreadable(
    source: Source,
    rule: RuleId,
    message: str,
    offset: int = 0,
    *,
    begun: Model | None = None,
    **facts: Unpack[Stated],
) -> NotReadable:
    """Returns the error for a file that cannot be read. begun: the part that was read."""
    return NotReadable(Finding(Fault(rule, message, **facts), offset), source, begun)
