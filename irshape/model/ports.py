"""The ports of layers as a file declares them."""

from __future__ import annotations

import re

from ..element_types import ElementType
from .source import Passage


class Port:
    """A port of a layer as the file declares it. `dims` has the written dimensions, -1 for a
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
        """The dimensions; None if one is malformed, or if single layers have `...` instead."""
        self.value: str | None = None

    @property
    def element_type(self) -> ElementType | None:
        """The element type that `precision` names; None if it is missing or names no type."""
        return ElementType.of_precision(self.precision) if self.precision is not None else None

    @property
    def tensor_names(self) -> list[str]:
        r"""The tensor names. In the file, commas separate them, and `\,` is a comma in a name."""
        return names_in(self.names)


class PortElsewhere(Port):
    """A port that was copied from another file. Its `rt_info` is in that file."""

    __slots__ = ("rt_info",)

    def __init__(self, port: Port, rt_info: Passage | None) -> None:
        super().__init__(port.id, port.precision, port.names, -1, port.dims)
        self.rt_info = rt_info


_NAMES = re.compile(r"(?:\\,|[^,])+")


def names_in(text: str | None) -> list[str]:
    """Returns the tensor names in the text of an attribute `names` or `output_names`."""
    return [part.replace("\\,", ",") for part in _NAMES.findall(text)] if text else []
