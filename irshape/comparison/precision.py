"""Finds the least precise element type among the tensors from which a layer is computed.

A tensor of f16 or bf16 has rounding errors. A device that computes in f32, such as the CPU plugin
(2026.4), may not round the tensor. Then everything that depends on this tensor differs, even if it
has another element type.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model.graph import Layer
from ..model.wiring import OutputRef, Wiring
from ..numbers.tolerance import Hint, coarsest
from ..ops.registry import declaration_of

_NARROW: dict[str, Hint] = {"FP16": "f16", "BF16": "bf16"}


class Rounded:
    """For each layer of a body, the least precise element types among the tensors on which it
    depends.

    Constants, tensors that depend only on constants, and inputs of the model count as exact.
    """

    def __init__(self, layers: Sequence[Layer], wiring: Wiring) -> None:
        self._layers = layers
        self.given: dict[Layer, Hint] = {}
        """Maps each layer to the least precise type of its inputs; f32 if all inputs are exact."""
        self.behind: dict[Layer, Hint] = {}
        """Maps each layer to the least precise type among its outputs and all tensors on which it
        depends."""
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
        """Returns the element type of an output; f32 for an input of the model."""
        layer = self._layers[source[0]]
        return "f32" if layer.is_parameter else _narrow(layer, source[1])

    def _passed_on(self, source: OutputRef) -> Hint:
        """Returns the least precise type on which an output depends. Integer outputs count as
        exact."""
        layer, port = self._layers[source[0]], source[1]
        element_type = layer.outputs[port].element_type if port < len(layer.outputs) else None
        is_real = element_type is None or element_type.is_real
        return self.behind[layer] if is_real else "f32"


def _narrow(layer: Layer, port: int) -> Hint:
    precision = layer.outputs[port].precision if port < len(layer.outputs) else ""
    return _NARROW.get(precision or "", "f32")


def _made_in(layer: Layer) -> list[Hint]:
    """Returns the element types of a layer's outputs and of the tensors inside its bodies."""
    inner = (each for body in (layer.bodies or {}).values() for each in body.walk())
    computing = [layer, *(each for each in inner if not each.is_constant and not each.is_parameter)]
    return [_narrow(each, port) for each in computing for port in range(len(each.outputs))]
