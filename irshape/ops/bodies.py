"""The bodies of a control-flow layer, as its operation receives them.

Port maps refer to inputs and outputs of the layer by position instead of by id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from ..element_types import DYNAMIC_TYPE, ElementType
from ..model.graph import Body, Layer
from ..shapes import DYNAMIC_SHAPE, PartialShape

T = TypeVar("T")


class PortBinding(NamedTuple):
    """An entry of a port map.

    external: the position of the layer's input or output; None for `external_port_id="-1"`.
    axis: the axis along which the input is sliced or the output is concatenated, if any. Each slice
        has `part_size` elements; slices begin `stride` elements apart, from `start` to `end`.
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

    `run` takes values of the body's Parameters and returns the values of its Results, by layer id.
    A Parameter without a value keeps the type and shape that it declares.
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
        """Pairs of a Result and the Parameter that it feeds in the next iteration, by layer id."""
        self.run = run
        self.observed = True
        """Whether an observer of the evaluation, if any, is called for the layers of the body."""

    @property
    def parameters(self) -> list[Layer]:
        return [layer for layer in self.body.layers if layer.is_parameter]

    @property
    def results(self) -> list[Layer]:
        return [layer for layer in self.body.layers if layer.is_result]

    def feeder(self, result: str) -> Layer | None:
        """Returns the layer that feeds the Result with this id, or None."""
        for edge in self.body.edges:
            if edge.to_layer == result:
                return self.body.by_id.get(edge.from_layer)
        return None

    def declared_type(self, parameter: str) -> ElementType:
        """Returns the element type that a Parameter of the body declares, or dynamic."""
        try:
            return ElementType.of(self.body.by_id[parameter].attribute("element_type") or "")
        except ValueError:
            return DYNAMIC_TYPE

    def declared_shape(self, parameter: str) -> PartialShape:
        """Returns the shape that a Parameter of the body declares, or a dynamic shape."""
        try:
            return PartialShape.parse(self.body.by_id[parameter].attribute("shape") or "")
        except ValueError:
            return DYNAMIC_SHAPE
