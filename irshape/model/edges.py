"""An edge of a body, as the file declares it."""

from __future__ import annotations

from typing import NamedTuple


class Edge(NamedTuple):
    """An edge from the output port of one layer to the input port of another. Layers and ports are
    given by id."""

    from_layer: str
    from_port: str
    to_layer: str
    to_port: str
    offset: int = -1
    """The byte offset of the `<edge>` in the file; -1 if it is in no file."""

    @property
    def ends(self) -> tuple[str, str, str, str]:
        """The ids of the producer, its output port, the consumer and its input port."""
        return self[:4]
