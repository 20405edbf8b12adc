"""Finds inputs and outputs of a model by name, and chooses one name for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from ..spelling import known_ends, suggestion
from .graph import Layer, Model
from .ids import is_number
from .ports import names_in
from .wiring import OutputRef, wire

V = TypeVar("V")


class Names(NamedTuple):
    """The names of one input or output of a model.

    result: the `output_names` of a Result.
    tensor: the names of the port that produces the tensor.
    layers: the names of the layer that computes the tensor, and of the Parameter or Result.
    """

    end: Layer
    result: Sequence[str]
    tensor: Sequence[str]
    layers: Sequence[str]


class Ends:
    """The inputs of a model, or its outputs, in the order of the Parameters or Results.

    A name is looked up among tensor names, then layer names, then positions. `id:3` means the layer
    with the id 3. The tensor names of a Result are its `output_names`, as in OpenVINO, followed by
    the names of the port that feeds it.
    """

    def __init__(self, kind: Literal["input", "output"], rows: Sequence[Names]) -> None:
        self.kind = kind
        self._known: dict[object, Layer] = {}
        for level in (
            [row.result or row.tensor for row in rows],
            [row.tensor for row in rows],
            [row.layers for row in rows],
            [(at, str(at), f"id:{row.end.id}", row.end) for at, row in enumerate(rows)],
        ):
            for row, names in zip(rows, level, strict=True):
                for name in names:
                    self._known.setdefault(name, row.end)
        self.names = [
            next(
                (
                    name
                    for name in (*(row.result or row.tensor), *row.layers, f"id:{row.end.id}")
                    if self._known[name] is row.end
                ),
                str(position),
            )
            for position, row in enumerate(rows)
        ]
        """For each input or output, the first of its names by which `find` returns it."""

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def find(self, name: object) -> Layer:
        """Returns the input or output for a name, a position, `id:ID` or the layer itself. Raises
        `ValueError`."""
        meant = self._known.get(name)
        if meant is not None:
            return meant
        by_id = f"; for the id {name}, write 'id:{name}'" if f"id:{name}" in self._known else ""
        known = ", ".join(self.names) or "none"
        raise ValueError(
            f"the model has no {self.kind} '{name}' (its {self.kind}s: {known})"
            f"{by_id or suggestion(str(name), self.names)}"
        )

    def given(self, values: Mapping[Any, V]) -> dict[Layer, V]:
        """Replaces the keys of `values`, which are names, by the Parameters or Results that have
        these names. Raises `ValueError`."""
        by_end: dict[Layer, V] = {}
        for name, value in values.items():
            end = self.find(name)
            if end in by_end:
                raise ValueError(f"the {self.kind} '{name}' is given twice, under two names")
            by_end[end] = value
        return by_end


def inputs_of(model: Model) -> Ends:
    """Returns the Parameters of a model as `Ends`, which finds them by name."""
    rows = []
    for layer in model.parameters:
        tensor = [name for port in layer.outputs for name in port.tensor_names]
        rows.append(Names(layer, (), tensor, (layer.name,)))
    return Ends("input", rows)


def outputs_of(model: Model) -> Ends:
    """Returns the Results of a model as `Ends`, which finds them by name."""
    layers, sources = model.net.layers, wire(model.net).sources
    rows = []
    for position, layer in enumerate(layers):
        if not layer.is_result:
            continue
        tensor: Sequence[str] = ()
        named = [layer.name]
        source = next(iter(sources[position]), None)
        if source is not None:
            producer, port = layers[source[0]], source[1]
            tensor = producer.outputs[port].tensor_names
            named.insert(0, port_name(producer, port))
        rows.append(Names(layer, names_in(layer.output_names), tensor, named))
    return Ends("output", rows)


def end_names(
    layers: Sequence[Layer], sources: Sequence[Sequence[OutputRef | None]], position: int
) -> list[str]:
    """Returns the tensor names of the input or output that the layer at `position` is.

    The names in `output_names` come first, or else the layer's own name. sources: for each layer,
    the outputs that feed the layer.
    """
    layer = layers[position]
    producer, index = next(iter(sources[position]), None) or (position, 0)
    names = [name for port in layers[producer].outputs[index:][:1] for name in port.tensor_names]
    own = names_in(layer.output_names) or [name for name in names if name == layer.name]
    return list(dict.fromkeys([*own, *names]))


def ends_of(layers: Sequence[Layer], sources: Sequence[Sequence[OutputRef | None]]) -> str:
    """Returns a text for messages, with one name for each input and output of a model."""
    inputs, outputs = (
        [next(iter(end_names(layers, sources, at)), layers[at].name) for at in positions]
        for positions in (
            [at for at, layer in enumerate(layers) if layer.is_parameter],
            [at for at, layer in enumerate(layers) if layer.is_result],
        )
    )
    return known_ends(inputs, outputs)


def port_name(layer: Layer, index: int) -> str:
    """Returns the name for an output without a tensor name: the name of the layer, or `LAYER:INDEX`
    if the layer has several outputs."""
    return layer.name if len(layer.outputs) <= 1 else f"{layer.name}:{index}"


def layer_and_index(name: str) -> tuple[str, int] | None:
    """Splits a name of the form `LAYER:INDEX`. Returns None for another name."""
    layer, colon, index = name.rpartition(":")
    return (layer, int(index)) if colon and is_number(index) else None
