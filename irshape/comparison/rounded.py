"""From how coarse tensors each layer of a model computes.

A tensor of f16 or bf16 has rounding errors. A device that computes in f32 may leave that
rounding out, so what follows departs by as much, whatever its own element type: the CPU plugin
does (2026.4).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model.graph import Layer
from ..model.wiring import OutputRef, Wiring
from ..numbers.tolerance import Hint, coarsest
from ..ops.registry import declaration_of

_NARROW: dict[str, Hint] = {"FP16": "f16", "BF16": "bf16"}


class Rounded:
    """The coarsest element types of the tensors that lead to the layers of a body.

    Constants, what is computed from constants alone, and the inputs of the model are as they are.
    """

    def __init__(self, layers: Sequence[Layer], wiring: Wiring) -> None:
        self._layers = layers
        self.given: dict[Layer, Hint] = {}
        """Of the tensors that a layer itself is given; f32 where none is rounded."""
        self.behind: dict[Layer, Hint] = {}
        """Of all that a layer is computed from, and of its own outputs."""
        exact: set[int] = set()
        for position in wiring.order:
            layer = layers[position]
            sources = [source for source in wiring.sources[position] if source is not None]
            self.given[layer] = self.behind[layer] = "f32"
            if layer.is_parameter:
                continue
            if layer.is_constant or (sources and exact.issuperset(at for at, _ in sources)):
                exact.add(position)
                continue
            rounded = [source for source in sources if source[0] not in exact]
            self.given[layer] = coarsest(map(self._own, rounded))
            declared = declaration_of(layer)
            passed_on = () if declared is not None and declared.value_of_shape else rounded
            self.behind[layer] = coarsest((*map(self._passed_on, passed_on), *_made_in(layer)))

    def _own(self, source: OutputRef) -> Hint:
        """The element type of an output, if a layer computes it."""
        layer = self._layers[source[0]]
        return "f32" if layer.is_parameter else _narrow(layer, source[1])

    def _passed_on(self, source: OutputRef) -> Hint:
        """What an output is computed from; whole numbers have no rounding errors."""
        layer, port = self._layers[source[0]], source[1]
        element_type = layer.outputs[port].element_type if port < len(layer.outputs) else None
        is_real = element_type is None or element_type.is_real
        return self.behind[layer] if is_real else "f32"


def _narrow(layer: Layer, port: int) -> Hint:
    precision = layer.outputs[port].precision if port < len(layer.outputs) else ""
    return _NARROW.get(precision or "", "f32")


def _made_in(layer: Layer) -> list[Hint]:
    """The element types of a layer's outputs, and of what the layers of its bodies compute."""
    inner = (each for body in (layer.bodies or {}).values() for each in body.walk())
    computing = [layer, *(each for each in inner if not each.is_constant and not each.is_parameter)]
    return [_narrow(each, port) for each in computing for port in range(len(each.outputs))]
