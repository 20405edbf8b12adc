"""The layers of a model, bodies included, each with what was inferred of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..faults import Violation
from ..model.graph import Layer
from ..ops.declaration import Operation
from ..ops.registry import declaration_of
from ..ops.tensors import Tensor
from ..shapes import UNBOUNDED, Dimension, PartialShape
from .bodies import bind
from .result import BodyResult, Inference


class Site(NamedTuple):
    """A layer with what was inferred of it."""

    layer: Layer
    operation: type[Operation] | None
    """The declaration of its operation; None where no opset holds it."""
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor, ...]
    outermost: bool
    """Whether the layer stands in the net, not in a body."""
    unused: tuple[int, ...]
    """The outputs that feed no layer."""
    feeds: tuple[Layer, ...]
    """The layers that an output feeds."""
    constant: tuple[bool, ...]
    """Of each input, whether it is the same in every run."""
    fed_by: tuple[Layer | None, ...]
    """What feeds each input."""
    measured: tuple[bool, ...]
    """Of each input, whether it has sizes of tensors as they are, which nothing computes with."""
    stored: tuple[bool, ...]
    """Of each input, whether it has elements of a variable as they are."""
    open_product: tuple[bool, ...]
    """Of each input, whether it has products of ReduceProd without upper bounds as they are."""
    computed_by: tuple[frozenset[str], ...] = ()
    """Of each input, which of `BOUNDED_LATER` compute its elements, which only execution knows."""
    inner: Mapping[str, BodyResult] = MappingProxyType({})
    """The results of its bodies, by tag."""

    @property
    def version(self) -> str:
        """`AvgPool-14`."""
        assert self.operation is not None
        return f"{self.operation.type_name()}-{self.operation.since}"

    def entering(self) -> Iterator[tuple[Tensor, Tensor, bool]]:
        """What is given to a body as it is, what the body takes it for, and whether it is a state.

        A port map that cannot be read gives nothing: it is told at the layer.
        """
        for tag, inner in self.inner.items():
            try:
                view = bind(self.layer, tag, _never)
            except Violation:
                continue
            states = {parameter for _, parameter in view.back_edges}
            positions = {layer.id: position for position, layer in enumerate(inner.body.layers)}
            for binding in view.inputs:
                external = len(self.inputs) if binding.external is None else binding.external
                given = self.inputs[external] if external < len(self.inputs) else None
                taken = inner.outputs[positions[binding.internal]]
                if given is not None and taken and binding.axis is None:
                    yield given, taken[0], binding.internal in states

    def shape(self, index: int) -> PartialShape | None:
        """The shape of an input; None where the layer lacks the input."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        return None if tensor is None else tensor.shape

    def rank(self, index: int) -> int | None:
        """The rank of an input; None where it is dynamic, or the layer lacks the input."""
        shape = self.shape(index)
        return None if shape is None else shape.rank

    def value(self, index: int) -> tuple[int | float, ...] | None:
        """The elements of an input; None where they are not all known."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        return None if tensor is None or tensor.value is None else tensor.value.exact

    def type_name(self, index: int = 0) -> str:
        """The element type of an input; empty where the layer lacks the input."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        return "" if tensor is None else tensor.element_type.name

    def attribute(self, name: str) -> str:
        """The text of an attribute in small letters; empty where the layer lacks it."""
        return (self.layer.attribute(name) or "").lower()


def dimensions(shape: PartialShape | None) -> tuple[Dimension, ...]:
    """Those of a shape; none of a dynamic rank."""
    return () if shape is None or shape.rank is None else tuple(shape)


def _never(parameters: dict[str, Any]) -> dict[str, Any]:
    raise AssertionError


def sites(inference: Inference) -> Iterator[Site]:
    """Every layer in file order, those of bodies after the layer that contains them."""
    yield from _sites(inference.result, outermost=True)


def _sites(result: BodyResult, *, outermost: bool) -> Iterator[Site]:
    layers, sources = result.body.layers, result.wiring.sources
    taken = {source for row in sources for source in row}
    feeds: list[list[Layer]] = [[] for _ in layers]
    for layer, row in zip(layers, sources, strict=True):
        for source in row:
            if source is not None:
                feeds[source[0]].append(layer)
    constant = _constant(result)
    measured, stored = _passed_on(result, "ShapeOf"), _passed_on(result, "ReadValue")
    products = _passed_on(result, "ReduceProd", without_bounds=True)
    computed = _computed_by(result, constant)
    for position, layer in enumerate(layers):
        ports = range(len(layer.outputs))
        feeding, inner = sources[position], result.inner.get(position, {})
        yield Site(
            layer,
            declaration_of(layer),
            result.inputs.get(position, ()),
            result.outputs[position],
            outermost,
            unused=tuple(port for port in ports if (position, port) not in taken),
            feeds=tuple(feeds[position]),
            constant=tuple(source is not None and source[0] in constant for source in feeding),
            fed_by=tuple(None if source is None else layers[source[0]] for source in feeding),
            measured=tuple(source is not None and source[0] in measured for source in feeding),
            stored=tuple(source is not None and source[0] in stored for source in feeding),
            open_product=tuple(source is not None and source[0] in products for source in feeding),
            computed_by=tuple(
                frozenset() if source is None else computed.get(source[0], frozenset())
                for source in feeding
            ),
            inner=inner,
        )
        for body in inner.values():
            yield from _sites(body, outermost=False)


_MOVING = {
    "Broadcast",
    "Concat",
    "Convert",
    "Gather",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "StridedSlice",
    "Transpose",
    "Unsqueeze",
    "VariadicSplit",
}
"""Operations that leave the elements of their first input as they are, Concat of all inputs."""


def _passed_on(result: BodyResult, type_name: str, *, without_bounds: bool = False) -> set[int]:
    """The positions of the layers whose outputs have elements of layers of a type as they are.

    without_bounds: of those of them that give integers without upper bounds.
    """
    passing: set[int] = set()
    layers, sources = result.body.layers, result.wiring.sources
    for position in result.wiring.order:
        layer = layers[position]
        moved = sources[position] if layer.type == "Concat" else sources[position][:1]
        begins = layer.type == type_name and (
            not without_bounds or _is_open(result.outputs[position])
        )
        if begins or (
            layer.type in _MOVING
            and any(source is not None and source[0] in passing for source in moved)
        ):
            passing.add(position)
    return passing


BOUNDED_LATER = frozenset(("Abs", "ReduceMax"))
"""Operations of whose results the oldest releases knew nothing before they ran."""


def _computed_by(result: BodyResult, constant: set[int]) -> dict[int, frozenset[str]]:
    """By the positions of layers, which of `BOUNDED_LATER` compute their elements, of which
    something is known. The sizes of a tensor do not depend on its elements.
    """
    layers, sources = result.body.layers, result.wiring.sources
    computed: dict[int, frozenset[str]] = {}
    for position in result.wiring.order:
        type_name, outputs = layers[position].type, result.outputs[position]
        value = outputs[0].value if outputs else None
        if value is None or position in constant or type_name == "ShapeOf":
            continue
        feeding = [source[0] for source in sources[position] if source is not None]
        through = frozenset[str]().union(*(computed.get(each, ()) for each in feeding))
        if value.exact is None:  # what is known exactly is folded
            through |= BOUNDED_LATER & {type_name}
        if through:
            computed[position] = through
    return computed


def _is_open(outputs: tuple[Tensor, ...]) -> bool:
    value = outputs[0].value if outputs else None
    return value is not None and any(high >= UNBOUNDED for high in value.upper)


def _constant(result: BodyResult) -> set[int]:
    """The positions of the layers that give the same in every run."""
    constant: set[int] = set()
    layers, sources = result.body.layers, result.wiring.sources
    for position in result.wiring.order:
        feeding = sources[position]
        if layers[position].is_constant or (
            feeding and all(source is not None and source[0] in constant for source in feeding)
        ):
            constant.add(position)
    return constant
