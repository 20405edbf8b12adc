"""Finds contradicting sizes, and writes sentences about the sizes and the layers that need them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..faults import Fault
from ..model.graph import Layer, Model
from ..shapes import PartialShape
from ..symbols.expressions import Atom, Expression, Symbol
from .named_sizes import NamedSizes, contradiction, located, tensor_name
from .result import BodyResult, Inference
from .symbolic import infer_symbolic

MAX_LAYERS = 5000
"""The maximum number of layers of a model that is inferred again to find contradicting sizes."""

Sizes = Sequence["int | None"]
"""The sizes of an input, one for each axis; None for a dynamic dimension."""


class SizeConflicts(NamedTuple):
    """Contradictions between sizes, each with a sentence for a message."""

    of_inputs: Sequence[tuple[frozenset[int], str]] = ()
    """Contradicting sizes of inputs, each with a sentence such as `seq is 128 in input_ids, 64 in
    attention_mask`."""
    of_layers: Sequence[tuple[tuple[Layer, ...], str]] = ()
    """Contradictions between layers that hold for all sizes of the inputs, e.g. `Concat 'second'
    (line 8) needs n == 4, but Concat 'first' (line 7) needs n == 8`."""

    def of(self, layer: Layer) -> list[str]:
        """Returns the sentences about contradictions in which a layer takes part."""
        return [text for layers, text in self.of_layers if layer in layers]


def sizes_of_inputs(inference: Inference) -> dict[str, Sizes]:
    """Returns the sizes of each input of known rank, by layer id."""
    shapes: dict[str, Sizes] = {}
    for layer in inference.model.parameters if inference.model.kind == "net" else ():
        tensors = inference.outputs(layer)
        dims = tensors[0].shape.dims if tensors else None
        if dims is not None:
            shapes[layer.id] = [dim.low if dim.is_static else None for dim in dims]
    return shapes


def size_conflicts(model: Model, shapes: Mapping[str, Sizes]) -> SizeConflicts:
    """Finds sizes of inputs that contradict each other or the conditions of layers.

    shapes: the sizes of the inputs, by layer id. Sizes of 1 are ignored, since they may broadcast.
    """
    if model.kind != "net" or len(model.net.layers) > MAX_LAYERS:
        return SizeConflicts()
    wide = {id: PartialShape.of_rank(len(shape)) for id, shape in shapes.items()}
    result, sizes = infer_symbolic(model, wide, {})
    broadcast = {expression.atom: number for expression, number in sizes.facts.one_or}
    of_layers = list(conflicts_of_layers(model, result, sizes))
    return SizeConflicts(_of_inputs(result, shapes, broadcast), of_layers)


def conflicts_of_layers(
    model: Model, result: BodyResult, sizes: NamedSizes
) -> Iterator[tuple[tuple[Layer, ...], str]]:
    """Yields each contradiction between conditions of layers: the layers and a sentence."""
    for part in result.walk():
        for layer, subject in part.observations:
            conflict = sizes.facts.conflicts.get(layer)
            if isinstance(subject, Fault) and conflict is not None and conflict.earlier:
                sources = (each.source for each in conflict.earlier)
                yield (
                    (layer, *(source for source in sources if isinstance(source, Layer))),
                    f"{located(model, layer)} needs {contradiction(model, conflict)}",
                )


def _of_inputs(
    result: BodyResult, shapes: Mapping[str, Sizes], broadcast: Mapping[Atom | None, int]
) -> list[tuple[frozenset[int], str]]:
    """Returns contradicting sizes of inputs, each with a sentence. `broadcast`: the symbols whose
    size must be 1 or N to broadcast, each with this N."""
    by_symbol: dict[Symbol, dict[int, str]] = {}
    others: list[tuple[str, int, Expression]] = []
    assert result.expressions is not None
    for position, layer in enumerate(result.body.layers):
        sizes = shapes.get(layer.id) if layer.is_parameter else None
        known = result.expressions[position][0] if result.expressions[position] else None
        if sizes is None or known is None:
            continue
        for axis, (size, expression) in enumerate(zip(sizes, known, strict=False)):
            if expression is None or size is None or size == 1:
                continue
            atom = expression.atom
            if isinstance(atom, Symbol):
                by_symbol.setdefault(atom, {}).setdefault(size, tensor_name(layer))
            else:
                others.append((f"{tensor_name(layer)}[{axis}]", size, expression))
    conflicts: list[tuple[frozenset[int], str]] = []
    for symbol, places in by_symbol.items():
        number = broadcast.get(symbol)
        if number is not None and len(places) == 1 and number not in places:
            ((size, tensor),) = places.items()
            text = f"{symbol.name} is {size} in {tensor}, not {number}"
            conflicts.append((frozenset((size, number)), text))
        if len(places) > 1:
            said = ", ".join(f"{size} in {tensor}" for size, tensor in places.items())
            conflicts.append((frozenset(places), f"{symbol.name} is {said}"))
    agreed = {
        symbol.name: next(iter(places)) for symbol, places in by_symbol.items() if len(places) == 1
    }
    for place, size, expression in others:
        if all(symbol.name in agreed for symbol in expression.symbols):
            try:
                wanted = expression.evaluate(agreed)
            except ZeroDivisionError:
                continue
            if wanted != size:
                formula = "" if expression.constant is not None else f"{expression} = "
                text = f"{place} is {size}, not {formula}{wanted}"
                conflicts.append((frozenset((size, int(wanted))), text))
    return conflicts
