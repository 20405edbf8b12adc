"""Summarizes a model: inputs, outputs, variables, layers, constants, costs, releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from ..execution.memory import least_bytes, most_bytes, peak_memory
from ..inference.result import BodyResult, Inference
from ..model import rt_info
from ..model.graph import Layer, Model
from ..model.ports import names_in
from ..model.weights import Constant
from ..ops.tensors import Tensor
from ..shapes import UNBOUNDED, Dimension
from .costs import LayerCost, constant_of, costs_of, total
from .requirements import Requirements


class Port(NamedTuple):
    """An input or an output of a model."""

    layer: Layer
    """The Parameter or the Result."""
    names: tuple[str, ...]
    """The names of the tensor."""
    tensor: Tensor

    @property
    def name(self) -> str:
        """The name that a user knows: a name of the tensor or, if it has none, the name of the
        layer."""
        return self.names[0] if self.names else self.layer.name


class State(NamedTuple):
    """A variable, with the layers that read and assign it."""

    name: str
    tensor: Tensor
    read: tuple[Layer, ...]
    assigned: tuple[Layer, ...]


class ConstantsOfType(NamedTuple):
    """The number of constants of one element type, and their elements and bytes in total."""

    element_type: str
    constants: int
    elements: int
    bytes: int


class Inspection:
    """The contents of a model and their costs, derived without running it.

    `to_dict` is what `irshape inspect --format json` prints.
    """

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.model: Model = inference.model

    @property
    def inputs(self) -> list[Port]:
        """The inputs, in the order of the Parameters."""
        return [
            Port(layer, tuple(layer.outputs[0].tensor_names if layer.outputs else ()), tensors[0])
            for layer, tensors in self._net()
            if layer.is_parameter and tensors
        ]

    @property
    def outputs(self) -> list[Port]:
        """The outputs, in the order of the Results."""
        result = self.inference.result
        layers = result.body.layers
        ports = []
        for position, (layer, tensors) in enumerate(self._net()):
            if not layer.is_result or not tensors:
                continue
            source = next(iter(result.wiring.sources[position]), None)
            names = names_in(layer.output_names)
            if not names and source is not None and source[1] < len(layers[source[0]].outputs):
                names = layers[source[0]].outputs[source[1]].tensor_names
            ports.append(Port(layer, tuple(names), tensors[0]))
        return ports

    @property
    def states(self) -> list[State]:
        """The variables, in the order in which the file reads or assigns them."""
        read: dict[str, list[Layer]] = {}
        assigned: dict[str, list[Layer]] = {}
        tensors: dict[str, Tensor] = {}
        for result in self.inference.result.walk():
            for position, layer in enumerate(result.body.layers):
                kind = layer.folded_type
                if kind not in ("readvalue", "assign"):
                    continue
                name = layer.attribute("variable_id") or ""
                (read if kind == "readvalue" else assigned).setdefault(name, []).append(layer)
                given = result.outputs[position] or result.inputs.get(position, ())
                if given and given[0] is not None and (kind == "readvalue" or name not in tensors):
                    tensors[name] = given[0]
        return [
            State(name, tensor, tuple(read.get(name, ())), tuple(assigned.get(name, ())))
            for name, tensor in tensors.items()
        ]

    @cached_property
    def types(self) -> list[tuple[str, str, int]]:
        """The types of layers with their opsets, and how many layers have each, most frequent
        first. Layers in bodies count, too."""
        counts = Counter((layer.type, layer.version) for layer in self.model.walk())
        rows = [(type, version, count) for (type, version), count in counts.items()]
        return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))

    @cached_property
    def constants(self) -> list[ConstantsOfType]:
        """The constants by element type, bodies included, the most bytes first."""
        rows: dict[str, list[int]] = {}
        for constant in self._constants():
            row = rows.setdefault(constant.element_type.name, [0, 0, 0])
            row[0] += 1
            row[1] += constant.elements
            row[2] += constant.size
        return sorted(
            (ConstantsOfType(name, *row) for name, row in rows.items()),
            key=lambda row: (-row.bytes, row.element_type),
        )

    @property
    def bin_bytes(self) -> int | None:
        """The size of the .bin; None if there is no .bin, or if the format stores constants
        elsewhere."""
        weights = self.model.weights
        if weights is None or weights.data is None or not self.model.format.is_ir:
            return None
        return len(weights.data)

    @property
    def used_bytes(self) -> int:
        """How many bytes the constants occupy. Bytes shared by several constants count once."""
        used = end = 0
        for start, stop in sorted(
            (constant.offset, constant.offset + constant.size) for constant in self._constants()
        ):
            used += max(0, stop - max(start, end))
            end = max(end, stop)
        return used

    @cached_property
    def costs(self) -> list[LayerCost]:
        """The costs of the layers that a device computes, in file order."""
        return costs_of(self.inference)

    @property
    def multiply_adds(self) -> Dimension:
        """The multiply-adds of one inference request."""
        return total(self.costs, "multiply_adds")

    @cached_property
    def peak(self) -> tuple[Dimension, Layer | None]:
        """The largest number of bytes of tensors in memory at the same time, and the layer that
        runs then. For dynamic shapes, the number is an interval; without an upper bound, the layer
        is that of the lower bound. Leaves out constants, unless they are packed."""
        (low, first), (high, last) = (
            peak_memory(self.inference.result, bytes_of) for bytes_of in (least_bytes, most_bytes)
        )
        peak = Dimension(min(low, UNBOUNDED), min(high, UNBOUNDED))
        return peak, first if peak.high == UNBOUNDED else last

    @cached_property
    def requirements(self) -> Requirements | None:
        """What the model requires of OpenVINO; None for a model that is not an IR."""
        return Requirements(self.inference) if self.model.format.is_ir else None

    @property
    def is_static(self) -> bool:
        """Whether all shapes are known, so that every number of the inspection is exact."""
        return all(
            tensor.shape.is_static
            for result in self.inference.result.walk()
            for tensors in result.outputs
            for tensor in tensors
        )

    def to_dict(self) -> dict[str, Any]:
        """The document that `irshape inspect --format json` prints."""
        model, needs = self.model, self.requirements
        peak, at = self.peak
        return {
            "version": 1,
            "model": model.path,
            "name": model.name,
            "format": model.format.name,
            "ir_version": model.version if model.format.is_ir else None,
            "requires": None if needs is None else needs.release,
            **({"libraries": [], "unknown": []} if needs is None else needs.outside()),
            "static": self.is_static,
            "inputs": [_port(port) for port in self.inputs],
            "outputs": [_port(port) for port in self.outputs],
            "states": [_state(state) for state in self.states],
            "layers": {
                "count": sum(count for _, _, count in self.types),
                "in_bodies": sum(1 for layer in model.walk() if layer.path),
                "by_type": [
                    {"type": type, "opset": version, "count": count}
                    for type, version, count in self.types
                ],
            },
            "constants": {
                "count": sum(row.constants for row in self.constants),
                "elements": sum(row.elements for row in self.constants),
                "bytes": sum(row.bytes for row in self.constants),
                "used_bytes": self.used_bytes,
                "bin_bytes": self.bin_bytes,
                "by_element_type": [_of_type(row) for row in self.constants],
            },
            "multiply_adds": span(self.multiply_adds),
            "activations": {
                "elements": span(total(self.costs, "elements")),
                "bytes": span(total(self.costs, "bytes")),
            },
            "peak_memory": {
                "bytes": peak.low,
                "max": span(peak)["max"],
                "layer": None if at is None else at.reference,
            },
            "costs": [_cost(cost) for cost in self.costs],
            "rt_info": self.rt_info,
        }

    @property
    def rt_info(self) -> dict[str, object]:
        """The rt_info of the model as nested dictionaries; empty if it cannot be read."""
        try:
            return rt_info.parse(self.model.source, self.model.rt_info_span)
        except ValueError:
            return {}

    def __repr__(self) -> str:
        return f"<Inspection of {self.model.path}>"

    def _net(self) -> Iterator[tuple[Layer, tuple[Tensor, ...]]]:
        result: BodyResult = self.inference.result
        return zip(result.body.layers, result.outputs, strict=True)

    def _constants(self) -> Iterator[Constant]:
        for layer in self.model.walk():
            constant = constant_of(layer) if layer.is_constant else None
            if constant is not None:
                yield constant


def span(size: Dimension) -> dict[str, int | None]:
    """Returns an interval for JSON as `min` and `max`; `max` is null if there is no upper bound."""
    return {"min": size.low, "max": None if size.high == UNBOUNDED else size.high}


def _of_type(row: ConstantsOfType) -> dict[str, Any]:
    return {
        "element_type": row.element_type,
        "count": row.constants,
        "elements": row.elements,
        "bytes": row.bytes,
    }


def _tensor(tensor: Tensor) -> dict[str, str]:
    return {"element_type": str(tensor.element_type), "shape": str(tensor.shape)}


def _port(port: Port) -> dict[str, Any]:
    return {
        "name": port.name,
        "names": list(port.names),
        "layer": port.layer.reference,
        **_tensor(port.tensor),
    }


def _state(state: State) -> dict[str, Any]:
    return {
        "variable": state.name,
        **_tensor(state.tensor),
        "read": [layer.reference for layer in state.read],
        "assigned": [layer.reference for layer in state.assigned],
    }


def _cost(cost: LayerCost) -> dict[str, Any]:
    return {
        **cost.layer.reference,
        "outputs": [_tensor(tensor) for tensor in cost.outputs],
        "runs": span(cost.runs),
        "multiply_adds": span(cost.multiply_adds),
        "activations": {"elements": span(cost.elements), "bytes": span(cost.bytes)},
        "parameters": {"elements": cost.parameters, "bytes": cost.parameter_bytes},
    }
