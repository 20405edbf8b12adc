"""What the rest of the program may ask of the format that a model was read from."""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """What holds for the models of an input format.

    Each format is declared in its own folder of `formats/`. Everybody else asks for a property
    by its meaning, never for the name.
    """

    name: str
    """As messages write it: `ONNX`."""
    layers_as_written: bool = False
    """The author wrote OpenVINO's layers: their opsets, and the bodies in them.

    False: the reader makes the layers, from the nodes of another format.
    """
    ports_as_written: bool = False
    """Ports are elements of the file, each with a `precision` and a `<dim>` for each dimension."""
    fixable: bool = False
    """Edits of the text can correct the file."""
    comments: bool = False
    """The text may hold comments that switch rules off."""
    xml: bool = False
    """The file is XML, with one `<layer>` for each layer."""
    self_contained: bool = False
    """Findings depend on the file and the .bin beside it alone, so they may be cached."""
    runtimes: tuple[str, ...] = ()
    """The format's own runtimes that can cross-check a model, the usual one first.

    Without any, OpenVINO cross-checks it, on each of its devices.
    """
    comparing_runtime: str | None = None
    """The runtime that `irshape compare` runs models of the format with, where it is installed."""
