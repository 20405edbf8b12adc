"""The edges of a body as the file declares them: as single objects, or as columns of texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Edge:
    """An edge from the output port of one layer to the input port of another. Layers and ports are
    given by id."""

    __slots__ = ("from_layer", "from_port", "offset", "to_layer", "to_port")

    def __init__(
        self, from_layer: str, from_port: str, to_layer: str, to_port: str, offset: int
    ) -> None:
        self.from_layer = from_layer
        self.from_port = from_port
        self.to_layer = to_layer
        self.to_port = to_port
        self.offset = offset


class EdgeTexts(NamedTuple):
    """The edges of a body as a reader stores them: column by column, without an `Edge` for each.

    Checking most models needs no `Edge` objects.
    """

    from_layers: list[str]
    from_ports: list[str]
    to_layers: list[str]
    to_ports: list[str]
    data: bytes = b""
    """The bytes that contain the edges."""
    start: int = 0
    end: int = 0

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Yields the ends of each edge: a layer and its output port, a layer and its input port."""
        return zip(*self[:4], strict=True)

    def edges(self) -> list[Edge]:
        """Returns an object for each edge."""
        places = _EDGE.finditer(self.data, self.start, self.end)
        return [Edge(*row, place.start()) for row, place in zip(self.rows(), places, strict=True)]


_EDGE = re.compile(b"<edge ")
