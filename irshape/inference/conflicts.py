"""Which sizes contradict each other: names them, and the layers that need them, in messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..faults import Fault
from ..model.graph import Layer, Model
from ..shapes import PartialShape
from ..symbols.expressions import Expression, Symbol
from .named_sizes import NamedSizes, contradiction, placed, tensor_name
from .result import BodyResult, Inference
from .symbolic import infer_symbolic

MAX_LAYERS = 5000
"""Larger models are not inferred once more for a message."""

Sizes = Sequence["int | None"]
"""The sizes of an input; None for one that is not known."""


class SizeConflicts:
    """Sizes that contradict each other."""

    def __init__(self) -> None:
        self.of_inputs: list[str] = []
        """Those of inputs: `seq is 128 by input_ids, 64 by attention_mask`."""
        self.of_layers: list[tuple[tuple[Layer, ...], str]] = []
        """Those that layers need, whatever the sizes of the inputs, with the layers:
        `Concat 'second' (line 8) needs n == 4, but Concat 'first' (line 7) needs n == 8`."""

    def of(self, layer: Layer) -> list[str]:
        """Those that a layer takes part in."""
        return [text for layers, text in self.of_layers if layer in layers]


def sizes_of_inputs(inference: Inference) -> dict[str, Sizes]:
    """The sizes of the inputs of known rank, by layer id."""
    shapes: dict[str, Sizes] = {}
    for layer in inference.model.parameters if inference.model.kind == "net" else ():
        tensors = inference.outputs(layer)
        dims = tensors[0].shape.dims if tensors else None
        if dims is not None:
            shapes[layer.id] = [dim.low if dim.is_static else None for dim in dims]
    return shapes


def size_conflicts(model: Model, shapes: Mapping[str, Sizes]) -> SizeConflicts:
    """Where sizes of inputs contradict each other, or what the layers need.

    shapes: of the inputs, by layer id. Sizes of 1 are left out, since they may be broadcast.
    """
    conflicts = SizeConflicts()
    if model.kind != "net" or len(model.net.layers) > MAX_LAYERS:
        return conflicts
    wide = {id: PartialShape.of_rank(len(shape)) for id, shape in shapes.items()}
    result, sizes = infer_symbolic(model, wide, {})
    if any(size not in (None, 1) for shape in shapes.values() for size in shape):
        conflicts.of_inputs = list(_of_inputs(model, result, sizes, shapes))
    conflicts.of_layers = list(contradictions(model, result, sizes))
    return conflicts


def contradictions(
    model: Model, result: BodyResult, sizes: NamedSizes
) -> Iterator[tuple[tuple[Layer, ...], str]]:
    """What layers need that others exclude, each with the layers that take part."""
    for part in result.walk():
        for layer, subject in part.observations:
            conflict = sizes.facts.conflicts.get(layer)
            if isinstance(subject, Fault) and conflict is not None and conflict.earlier:
                sources = (each.source for each in conflict.earlier)
                yield (
                    (layer, *(source for source in sources if isinstance(source, Layer))),
                    f"{placed(model, layer)} needs {contradiction(model, conflict)}",
                )


def _of_inputs(
    model: Model, result: BodyResult, sizes: NamedSizes, shapes: Mapping[str, Sizes]
) -> Iterator[str]:
    by_symbol: dict[Symbol, dict[int, str]] = {}
    others: list[tuple[str, int, Expression]] = []
    assert result.expressions is not None
    for position, layer in enumerate(result.body.layers):
        given = shapes.get(layer.id) if layer.is_parameter else None
        known = result.expressions[position][0] if result.expressions[position] else None
        for axis, (size, expression) in enumerate(zip(given or (), known or (), strict=False)):
            if expression is None or size is None or size == 1:
                continue
            atom = expression.atom
            if isinstance(atom, Symbol):
                by_symbol.setdefault(atom, {}).setdefault(size, tensor_name(layer))
            else:
                others.append((f"{tensor_name(layer)}[{axis}]", size, expression))
    agreed: dict[str, int] = {}
    for symbol, places in by_symbol.items():
        if len(places) > 1:
            said = ", ".join(f"{size} by {tensor}" for size, tensor in places.items())
            yield f"{symbol.name} is {said}"
        else:
            agreed[symbol.name] = next(iter(places))
    for place, size, expression in others:
        wanted = _value(expression, agreed)
        if wanted not in (None, size):
            formula = "" if expression.constant is not None else f"{expression} = "
            yield f"{place} is {size}, not {formula}{wanted}"
    for each in (*sizes.facts.constraints.values(), *sizes.facts.one_or.values()):
        left, right = _value(each.left, agreed), _value(each.right, agreed)
        if left is None or right is None or not isinstance(each.source, Layer) or each.assumed:
            continue
        holds = {"==": left == right, ">=": left >= right}.get(each.relation, left in (1, right))
        if not holds:
            symbols = sorted({s.name for s in (*each.left.symbols, *each.right.symbols)})
            said = " and ".join(f"{name} is {agreed[name]}" for name in symbols)
            yield f"{placed(model, each.source)} needs {each}, and {said}"


def _value(expression: Expression, sizes: Mapping[str, int]) -> int | None:
    """What an expression is for these sizes; None where some are not known."""
    try:
        return expression.evaluate(sizes)
    except (KeyError, ZeroDivisionError):
        return None
