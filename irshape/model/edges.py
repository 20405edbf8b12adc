"""The edges of a body as the file declares them: as single objects, or as columns of texts."""

from __future__ import annotations

import re
from collections.abc import Iterator


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


class EdgeTexts:
    """The edges of a body as a reader stores them: column by column, without an `Edge` for each.

    Checking most models needs no `Edge` objects.
    """

    __slots__ = (
        "_made",
        "_offsets",
        "data",
        "end",
        "from_layers",
        "from_ports",
        "start",
        "to_layers",
        "to_ports",
    )

    def __init__(
        self,
        from_layers: list[str],
        from_ports: list[str],
        to_layers: list[str],
        to_ports: list[str],
        data: bytes = b"",
        start: int = 0,
        end: int = 0,
    ) -> None:
        """data, start, end: the bytes that contain the edges, and the start and end of the edges in
        them."""
        self.from_layers = from_layers
        self.from_ports = from_ports
        self.to_layers = to_layers
        self.to_ports = to_ports
        self.data = data
        self.start = start
        self.end = end
        self._offsets: list[int] | None = None
        self._made: dict[int, Edge] = {}

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Yields the ends of each edge: a layer and its output port, a layer and its input port."""
        return zip(self.from_layers, self.from_ports, self.to_layers, self.to_ports, strict=True)

    @property
    def offsets(self) -> list[int]:
        """The byte offset of each edge."""
        if self._offsets is None:
            matches = _EDGE.finditer(self.data, self.start, self.end)
            self._offsets = [match.start() for match in matches]
        return self._offsets

    def edge(self, index: int) -> Edge:
        """Returns one of the edges: the same object each time."""
        edge = self._made.get(index)
        if edge is None:
            edge = self._made[index] = Edge(
                self.from_layers[index],
                self.from_ports[index],
                self.to_layers[index],
                self.to_ports[index],
                self.offsets[index],
            )
        return edge

    def edges(self) -> list[Edge]:
        edges = list(
            map(
                Edge,
                self.from_layers,
                self.from_ports,
                self.to_layers,
                self.to_ports,
                self.offsets,
            )
        )
        for index, edge in self._made.items():
            edges[index] = edge
        return edges


_EDGE = re.compile(b"<edge ")
