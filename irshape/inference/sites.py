"""Lists the layers of a model and of its bodies, each with its inferred inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..faults import Violation
from ..model.graph import Layer
from ..ops.bodies import BodyView
from ..ops.differences import Kind, Site, Surroundings
from ..ops.registry import declaration_of
from ..ops.tensors import Tensor
from ..releases import Detail
from .bodies import bind
from .result import BodyResult, Inference


def details(site: Site, kind: Kind) -> Iterator[Detail]:
    """Yields the differences between releases that concern a layer. kind: e.g. `not run`."""
    if site.operation is not None:
        for difference in site.operation.differs:
            if difference.kind == kind and difference.when(site):
                yield difference.detail


def sites(inference: Inference) -> Iterator[Site]:
    """Yields every layer in file order. The layers of a body follow the layer that contains it."""
    yield from _sites(inference.result, outermost=True)


def _sites(result: BodyResult, *, outermost: bool) -> Iterator[Site]:
    layers = result.body.layers
    around = Surroundings(layers, result.wiring)
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
            tuple(_entering(layer, inputs, inner)) if inner else (),
        )
        for body in inner.values():
            yield from _sites(body, outermost=False)


def _entering(
    layer: Layer, inputs: tuple[Tensor | None, ...], bodies: Mapping[str, BodyResult]
) -> Iterator[tuple[Tensor, Tensor, bool]]:
    """Yields for each body input that is not sliced: the outer tensor, the inner tensor, and
    whether a back edge updates the Parameter. Skips faulty port maps, which a rule reports.
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
