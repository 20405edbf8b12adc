"""Lists the inputs and outputs of a model, each with the port that declares its tensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .graph import Body, Layer
from .ports import Port
from .wiring import OutputRef, Wiring


class End(NamedTuple):
    """An input or output of a model: its Parameter or Result (`layer`), and the output port of
    `producer` that declares its type and shape. `ref` gives the position of this port."""

    layer: Layer
    producer: Layer
    port: Port
    ref: OutputRef

    @property
    def what(self) -> str:
        """A name for messages, for example `the input 'x'`."""
        return f"the {'input' if self.layer.is_parameter else 'output'} '{self.layer.name}'"

    @property
    def name_of_layer(self) -> str:
        """OpenVINO's name for the tensor in an IR of version 10: `LAYER` or `LAYER.INDEX`."""
        name = self.producer.name
        return name if len(self.producer.outputs) == 1 else f"{name}.{self.ref[1]}"


def ends(net: Body, wiring: Wiring, positions: Iterable[int]) -> Iterator[End]:
    """Yields the inputs and outputs of a net among the layers at `positions`.

    Skips a Result without a producer, and a Parameter without an output port.
    """
    for position in positions:
        layer = net.layers[position]
        ref: OutputRef | None = None
        if layer.is_parameter:
            ref = position, 0
        elif layer.is_result:
            ref = next(iter(wiring.sources[position]), None)
        if ref is not None and ref[1] < len(net.layers[ref[0]].outputs):
            producer = net.layers[ref[0]]
            yield End(layer, producer, producer.outputs[ref[1]], ref)
