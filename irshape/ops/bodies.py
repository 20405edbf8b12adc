"""The body of a control-flow layer as its operation sees it: what to feed and what comes out, by
position instead of id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from ..element_types import DYNAMIC_TYPE, ElementType
from ..model.graph import Body, Layer
from ..shapes import DYNAMIC_SHAPE, PartialShape

T = TypeVar("T")


class PortBinding(NamedTuple):
    """A line of a port map.

    external: position among the inputs or outputs of the layer, None for `external_port_id="-1"`.
    axis: where it is not None, the input is sliced along it, or the output concatenated, in parts
        of `part_size` from `start` to `end`, `stride` apart.
    """

    external: int | None
    internal: str
    axis: int | None
    start: int
    end: int
    stride: int
    part_size: int
    purpose: str


class BodyView(Generic[T]):
    """A body with its port map.

    `run` takes a value for each Parameter by layer id and gives one for each Result by layer id.

    A Parameter that `run` is not given keeps the type and shape that it declares.
    """

    def __init__(
        self,
        tag: str,
        body: Body,
        inputs: list[PortBinding],
        outputs: list[PortBinding],
        back_edges: list[tuple[str, str]],
        run: Callable[[dict[str, T]], dict[str, T]],
    ) -> None:
        self.tag = tag
        self.body = body
        self.inputs = inputs
        self.outputs = outputs
        self.back_edges = back_edges
        """From the Result of an iteration to the Parameter of the next, by layer id."""
        self.run = run

    @property
    def parameters(self) -> list[Layer]:
        return [layer for layer in self.body.layers if layer.is_parameter]

    @property
    def results(self) -> list[Layer]:
        return [layer for layer in self.body.layers if layer.is_result]

    def feeder(self, result: str) -> Layer | None:
        """The layer that feeds a Result."""
        ends = self.body.ends
        if result not in ends.to_layers:
            return None
        return self.body.by_id.get(ends.from_layers[ends.to_layers.index(result)])

    def declared_type(self, parameter: str) -> ElementType:
        """The element type that a Parameter declares; dynamic where it declares none."""
        try:
            return ElementType.of(self.body.by_id[parameter].attribute("element_type") or "")
        except ValueError:
            return DYNAMIC_TYPE

    def declared_shape(self, parameter: str) -> PartialShape:
        """The shape that a Parameter declares."""
        try:
            return PartialShape.parse(self.body.by_id[parameter].attribute("shape") or "")
        except ValueError:
            return DYNAMIC_SHAPE
