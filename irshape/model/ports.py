"""The ports of layers as a file declares them: as single objects, or together for a layer."""

from __future__ import annotations

import re
from functools import lru_cache

from ..element_types import ElementType
from .source import Passage


class Port:
    """A port of a layer as the file declares it. `dims` are the written dimensions, -1 for a
    dynamic one.

    `value` is set only in files that describe single layers instead of a model.
    """

    __slots__ = ("dims", "id", "names", "offset", "precision", "value")

    def __init__(
        self,
        id: str,
        precision: str | None,
        names: str | None,
        offset: int,
        dims: tuple[int, ...] | None = (),
    ) -> None:
        self.id = id
        self.precision = precision
        self.names = names
        self.offset = offset
        self.dims = dims
        """None if a dimension is malformed, which the reader has reported."""
        self.value: str | None = None

    @property
    def element_type(self) -> ElementType | None:
        """The element type that `precision` names; None without a precision, or if it names no
        type."""
        return ElementType.of_precision(self.precision) if self.precision is not None else None

    @property
    def tensor_names(self) -> list[str]:
        """The tensor names, with `\\,` inside a name unescaped."""
        return names_in(self.names)


class PortElsewhere(Port):
    """A port from another file, with its `rt_info` in that file."""

    __slots__ = ("rt_info",)

    def __init__(self, port: Port, rt_info: Passage | None) -> None:
        super().__init__(port.id, port.precision, port.names, -1, port.dims)
        self.rt_info = rt_info


_NAMES = re.compile(r"(?:\\,|[^,])+")


def names_in(text: str | None) -> list[str]:
    """Returns the tensor names in an attribute `names` or `output_names`."""
    return [part.replace("\\,", ",") for part in _NAMES.findall(text)] if text else []


class PortHeads:
    """The ids, precisions and places of the ports of a layer, inputs before outputs.

    A reader stores ports in this form, without a `Port` for each. Checking most models needs no
    `Port` objects, and most layers share their heads with others.
    """

    __slots__ = (
        "input_ids",
        "input_positions",
        "input_precisions",
        "inputs",
        "named",
        "only_output",
        "output_ids",
        "output_precisions",
        "places",
    )

    def __init__(
        self,
        input_ids: tuple[str, ...],
        input_precisions: tuple[str | None, ...],
        output_ids: tuple[str, ...],
        output_precisions: tuple[str | None, ...],
        places: tuple[int, ...] = (),
        named: tuple[bool, ...] = (),
    ) -> None:
        self.input_ids = input_ids
        self.input_precisions = input_precisions
        self.output_ids = output_ids
        self.output_precisions = output_precisions
        self.places = places
        """The places of the ports, counted from the `begin` of `Layer.leave_ports`, as if ports had
        no tensor names."""
        self.named = named
        """The ports that have tensor names."""
        self.inputs = len(input_ids)
        self.only_output = output_ids[0] if len(output_ids) == 1 else None
        """The id of the only output of a layer; None if the layer has none or several."""
        positions = range(self.inputs - 1, -1, -1)
        self.input_positions = dict(zip(reversed(input_ids), positions, strict=True))
        """The inputs by id. If several inputs share an id, the first counts."""


@lru_cache(maxsize=1024)
def heads_like(
    input_ids: tuple[str, ...],
    input_precisions: tuple[str | None, ...],
    output_ids: tuple[str, ...],
    output_precisions: tuple[str | None, ...],
) -> PortHeads:
    """Returns the heads of ports that exist as objects. Layers with equal heads share them."""
    return PortHeads(input_ids, input_precisions, output_ids, output_precisions)


PortDims = tuple[tuple[int, ...] | None, ...]
"""The dimensions of the ports of a layer, inputs before outputs."""
