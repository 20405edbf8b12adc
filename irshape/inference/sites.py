"""The layers of a model, bodies included, each with its inference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..faults import Violation
from ..model.graph import Layer
from ..ops.bodies import BodyView
from ..ops.differences import BOUNDED_LATER, Kind, Site, Surroundings
from ..ops.registry import declaration_of
from ..ops.tensors import Tensor
from ..releases import Detail
from ..shapes import UNBOUNDED
from .bodies import bind
from .result import BodyResult, Inference


def details(site: Site, kind: Kind) -> Iterator[Detail]:
    """Yields what older releases refuse, ignore, do not run, or infer otherwise in a layer."""
    if site.operation is not None:
        for difference in site.operation.differs:
            if difference.kind == kind and difference.when(site):
                yield difference.detail


def sites(inference: Inference) -> Iterator[Site]:
    """Yields every layer in file order; the layers of bodies follow the layer that contains
    them."""
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
    around = Surroundings(
        layers,
        sources,
        taken,
        feeds,
        constant,
        measured=_passed_on(result, "ShapeOf"),
        stored=_passed_on(result, "ReadValue"),
        products=_passed_on(result, "ReduceProd", without_bounds=True),
        computed=_computed_by(result, constant),
    )
    for position, layer in enumerate(layers):
        inner = result.inner.get(position, {})
        inputs = result.inputs.get(position, ())
        yield Site(
            layer,
            declaration_of(layer),
            inputs,
            result.outputs[position],
            outermost,
            position,
            around,
            inner,
            tuple(_entering(layer, inputs, inner)) if inner else (),
        )
        for body in inner.values():
            yield from _sites(body, outermost=False)


def _entering(
    layer: Layer, inputs: tuple[Tensor | None, ...], bodies: Mapping[str, BodyResult]
) -> Iterator[tuple[Tensor, Tensor, bool]]:
    """Yields each tensor that enters a body unchanged, the tensor that the body infers for it, and
    whether it is a state.

    A faulty port map gives nothing: another rule reports it.
    """
    for tag, inner in bodies.items():
        try:
            view: BodyView[Tensor] = bind(layer, tag)
        except Violation:
            continue
        states = {parameter for _, parameter in view.back_edges}
        positions = {layer.id: position for position, layer in enumerate(inner.body.layers)}
        for binding in view.inputs:
            external = len(inputs) if binding.external is None else binding.external
            given = inputs[external] if external < len(inputs) else None
            taken = inner.outputs[positions[binding.internal]]
            if given is not None and taken and binding.axis is None:
                yield given, taken[0], binding.internal in states


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
"""Operations that leave the elements of their first input unchanged; Concat leaves those of all
inputs unchanged."""


def _passed_on(result: BodyResult, type_name: str, *, without_bounds: bool = False) -> set[int]:
    """Returns the positions of layers whose outputs contain unchanged elements of layers of a type.

    without_bounds: only of layers of this type that give integers without upper bounds.
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


def _computed_by(result: BodyResult, constant: set[int]) -> dict[int, frozenset[str]]:
    """Maps positions of layers to the types in `BOUNDED_LATER` that compute their elements, if
    values are known.

    The sizes of a tensor do not depend on its elements.
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
    """Returns the positions of the layers whose outputs are the same in every run."""
    constant: set[int] = set()
    layers, sources = result.body.layers, result.wiring.sources
    for position in result.wiring.order:
        feeding = sources[position]
        if layers[position].is_constant or (
            feeding and all(source is not None and source[0] in constant for source in feeding)
        ):
            constant.add(position)
    return constant
