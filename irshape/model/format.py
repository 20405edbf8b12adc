"""The properties of an input format, for code that does not belong to the format's reader."""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """The properties of an input format.

    Each format is declared in its own folder of `formats/`. Other modules check a property, never
    the name.
    """

    name: str
    """The name in messages, for example `ONNX`."""
    is_ir: bool = False
    """Whether the file is an IR or contains single layers.

    Such a file is XML. It declares OpenVINO's layers itself, with their opsets, ports and bodies.
    irshape can correct its text, and comments in it may disable rules. The readers of other formats
    convert nodes to layers.
    """
    listed: bool = False
    """Whether the reader replaces the bytes of the file by a readable listing. Findings then have
    lines of the listing."""
    runtimes: tuple[str, ...] = ()
    """The runtimes that can cross-check a model of this format, e.g. onnxruntime, the default
    first. If there are none, OpenVINO cross-checks the model on any of its devices."""
    comparing_runtime: str | None = None
    """The runtime with which `irshape compare` runs models of this format, if it is installed."""
