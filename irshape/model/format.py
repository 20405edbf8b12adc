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
    layers_as_written: bool = False
    """Whether the file itself contains OpenVINO's layers, with their opsets and bodies. Otherwise
    the reader converts the nodes of another format to layers."""
    ports_as_written: bool = False
    """Whether the file declares ports as elements, with a `precision` and a `<dim>` for each
    dimension."""
    fixable: bool = False
    """Whether irshape can correct the file by editing its text."""
    comments: bool = False
    """Whether comments in the file may disable rules."""
    listed: bool = False
    """Whether the reader replaces the bytes of the file by a readable listing. Findings then have
    lines of the listing."""
    xml: bool = False
    """Whether the file is XML with one `<layer>` for each layer."""
    self_contained: bool = False
    """Whether findings depend only on the file and the .bin beside it, so that a cache may keep
    them."""
    runtimes: tuple[str, ...] = ()
    """The runtimes that can cross-check a model of this format, e.g. onnxruntime, the default
    first. If there are none, OpenVINO cross-checks the model on any of its devices."""
    comparing_runtime: str | None = None
    """The runtime with which `irshape compare` runs models of this format, if it is installed."""
