"""Describes how a file of an input format is recognised and read."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from ..model.format import Format
from ..model.graph import Model
from ..model.source import Source

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
