"""What a model requires of an OpenVINO release, and which layers force it; `releases` has the facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..model.graph import Layer, Model
from ..releases import ELEMENT_TYPES, IR_VERSIONS, OPSETS, Release
from ..types import ElementType
from .registry import UnknownOperation, find


class Requirement(NamedTuple):
    """A part of a model that a release must know: `opset11`, `element type nf4`, `IR version 11`. Without a layer: the file as a whole."""

    release: Release
    kind: str
    """`opset`, `element type` or `IR version`."""
    name: str
    layer: Layer | None

    @property
    def what(self) -> str:
        return self.name if self.kind == "opset" else f"{self.kind} {self.name}"


def requirements(model: Model) -> Iterator[Requirement]:
    """What a model needs of a release, in file order. Of layers whose operation no opset holds, only the element types."""
    if model.kind == "net" and model.version in IR_VERSIONS:
        yield Requirement(IR_VERSIONS[model.version], "IR version", str(model.version), None)
    for layer in model.walk():
        try:
            find(layer.type, layer.version)
        except UnknownOperation:
            pass
        else:
            # under other names (`extension`) the readers know some operations of opset6
            match = re.fullmatch(r"opset([1-9][0-9]?)", layer.version)
            opset = int(match[1]) if match else 6
            if opset in OPSETS:
                yield Requirement(OPSETS[opset], "opset", f"opset{opset}", layer)
        for name in sorted(element_types(layer) & ELEMENT_TYPES.keys()):
            yield Requirement(ELEMENT_TYPES[name], "element type", name, layer)


def element_types(layer: Layer) -> set[str]:
    """The element types that a layer names: those of its outputs, and of its attributes that hold one (`element_type`, `destination_type` …)."""
    found = {port.element_type.name for port in layer.outputs if port.element_type is not None}
    items = layer.items
    for at in range(0, len(items), 2):
        if items[at].endswith("type"):
            element_type = ElementType.of_precision(items[at + 1])
            if element_type is not None:
                found.add(element_type.name)
    return found
