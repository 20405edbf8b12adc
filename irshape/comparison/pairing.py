"""Matches the inputs, outputs and layers of two models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

from ..differences.content import sides_of
from ..differences.matching import GENERATED_NAME, matched
from ..model.graph import Layer, Model
from ..model.names import end_names
from ..model.wiring import OutputRef, wire
from ..shapes import PartialShape
from ..spelling import counted, first_of

Means = Literal["tensor name", "layer name", "position", "structure"]
"""How two tensors were matched, for example by tensor name."""

K = TypeVar("K")
V = TypeVar("V")


class Match(NamedTuple):
    """The tensor of the first model that corresponds to a given tensor of the second model.

    source: the position of the tensor's layer in the first model, and the output port.
    """

    name: str
    source: OutputRef
    means: Means
    is_output: bool = False


class _End(NamedTuple):
    """An input or output of a model: the names of its tensor and of its layer."""

    tensor_names: tuple[str, ...]
    layer_name: str
    source: OutputRef

    @property
    def name(self) -> str:
        return self.tensor_names[0] if self.tensor_names else self.layer_name


def paired_inputs(first: Model, second: Model) -> list[tuple[Layer, Layer, Means]]:
    """Returns pairs of the inputs of two models, matched by name or else by order. Raises
    `ValueError` if one model has more inputs than the other."""
    ours, theirs = _ends(first, results=False), _ends(second, results=False)
    if len(ours) != len(theirs):
        raise ValueError(
            f"{first.path} has {counted(len(ours), 'input')}, {second.path} has {len(theirs)}"
        )
    return [
        (first.net.layers[a.source[0]], second.net.layers[b.source[0]], means)
        for a, b, means in _in_pairs(ours, theirs)
    ]


def common_shapes(first: Model, second: Model) -> dict[Layer, PartialShape]:
    """Returns for each input of the first model the shape that both models allow. Leaves out inputs
    whose shapes contradict each other. Raises the errors of `paired_inputs`."""
    shapes = {}
    for layer, other, _ in paired_inputs(first, second):
        own, its = (PartialShape.of(each.attribute("shape") or "") for each in (layer, other))
        common = own.merge(its)
        if common is not None:
            shapes[layer] = common
    return shapes


def reordered(what: str, positions: Sequence[int], names: Sequence[str]) -> list[str]:
    """Returns a note if the second model has its inputs or outputs in another order than the first.

    positions: for each input or output of the first model, its position in the second model. names:
    the names in the second model.
    """
    if list(positions) == sorted(positions):
        return []
    return [f"the {what} of B are in another order: {first_of(names, 5)}"]


class Pairing:
    """Finds the tensors of the first model that correspond to tensors of the second."""

    def __init__(self, first: Model, second: Model) -> None:
        self._layers = first.net.layers
        self._tensors = _first_of_each(
            (name, (position, index))
            for position, layer in enumerate(self._layers)
            for index, port in enumerate(layer.outputs)
            for name in port.tensor_names
        )
        self._named = _first_of_each(
            (layer.name, position) for position, layer in enumerate(self._layers)
        )
        ours, theirs = _ends(first, results=True), _ends(second, results=True)
        pairs = list(_in_pairs(ours, theirs))
        self._outputs = {b.source: (a.source, b.name, means) for a, b, means in pairs}
        taken_a, taken_b = {id(a) for a, _, _ in pairs}, {id(b) for _, b, _ in pairs}
        self.unpaired_outputs = (
            [end.name for end in ours if id(end) not in taken_a],
            [end.name for end in theirs if id(end) not in taken_b],
        )
        """Outputs of each model without a partner, by name."""
        at = [theirs.index(b) for a in ours for one, b, _ in pairs if one is a]
        paired = [
            f"'{a.name}' of A with '{b.name}' of B"
            for a, b, means in pairs
            if means == "position" and a.name != b.name
        ]
        self.notes = [f"outputs paired by order: {first_of(paired, 5)}"] if paired else []
        self.notes += reordered("outputs", at, [end.name for end in theirs])
        partners = matched(*sides_of(first, second))
        self._structure = {b: a for a, b in partners.items()}
        self._partnered = set(self._structure.values())

    def of(self, layer: Layer, position: int, port: int) -> Match | None:
        """Returns the counterpart of an output of the second model; None if it has none.

        Outputs of the model are matched first, then tensors by name, by structure, and by layer
        name.
        """
        output = self._outputs.get((position, port))
        if output is not None:
            source, name, means = output
            return Match(name, source, means, is_output=True)
        names = layer.outputs[port].tensor_names if port < len(layer.outputs) else ()
        for name in names:
            if name in self._tensors:
                return Match(name, self._tensors[name], "tensor name")
        partner = self._structure.get(position)
        if partner is None:
            partner = self._named.get(layer.name)
            if (
                partner is None
                or partner in self._partnered
                or GENERATED_NAME.fullmatch(layer.name)
            ):
                return None
        named = self._layers[partner].name == layer.name
        return Match(
            layer.name if named or not names else names[0],
            (partner, port),
            "layer name" if named else "structure",
        )


def _first_of_each(items: Iterable[tuple[K, V]]) -> dict[K, V]:
    kept: dict[K, V] = {}
    for key, value in items:
        kept.setdefault(key, value)
    return kept


def _ends(model: Model, *, results: bool) -> list[_End]:
    """Returns the outputs of a model if `results` is true, otherwise its inputs."""
    layers, sources = model.net.layers, wire(model.net).sources
    ends = []
    for at, layer in enumerate(layers):
        source = next(iter(sources[at]), None) if results else (at, 0)
        if source is not None and (layer.is_result if results else layer.is_parameter):
            ends.append(_End(tuple(end_names(layers, sources, at)), layer.name, source))
    return ends


def _in_pairs(ours: Sequence[_End], theirs: Sequence[_End]) -> Iterator[tuple[_End, _End, Means]]:
    """Yields pairs of inputs or outputs, matched by tensor name, else layer name, else order."""
    left, right = list(ours), list(theirs)
    keys: dict[Means, Callable[[_End], Sequence[str]]] = {
        "tensor name": lambda end: end.tensor_names,
        "layer name": lambda end: [end.layer_name][: not GENERATED_NAME.fullmatch(end.layer_name)],
    }
    for means, names in keys.items():
        named = _first_of_each((name, end) for end in right for name in names(end))
        for a in tuple(left):
            b = next((named[name] for name in names(a) if named.get(name) in right), None)
            if b is not None:
                left.remove(a)
                right.remove(b)
                yield a, b, means
    yield from ((a, b, "position") for a, b in zip(left, right, strict=False))
