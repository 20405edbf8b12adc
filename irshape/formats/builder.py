"""Builds a `Model` from a graph in another format, such as ONNX.

Each layer is inferred when it is added, so that conversions can depend on types and ranks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Unpack

from ..element_types import DYNAMIC_TYPE, ElementType
from ..faults import Fault, Stated, Violation
from ..inference.body_engine import BodyEngine
from ..inference.ports import declared
from ..inference.result import BodyResult
from ..model.format import Format
from ..model.graph import PORT_MAPS, BackEdge, Body, Edge, Finding, Layer, Model, PortMap
from ..model.joined_buffers import Pieces
from ..model.ports import Port
from ..model.source import Source
from ..model.weights import Weights, number_bytes
from ..ops import registry
from ..ops.declaration import Attribute
from ..ops.tensors import UNKNOWN, Tensor
from ..rule_ids import INPUT_ELEMENT_TYPE, RuleId
from ..shapes import PartialShape


@dataclass(slots=True, eq=False)
class NodeOutput:
    """An output of a layer in the model that is being built, with its inferred tensor."""

    layer: Layer
    port: int
    tensor: Tensor

    @property
    def element_type(self) -> ElementType:
        return self.tensor.element_type

    @property
    def shape(self) -> PartialShape:
        return self.tensor.shape

    @property
    def rank(self) -> int | None:
        return self.tensor.rank

    @property
    def known(self) -> tuple[int, ...] | None:
        """The tensor's elements as integers; None if an element is not known."""
        return self.tensor.known


class Builder:
    """Builds a model. `offset` and `name` are those of the node that is being converted."""

    def __init__(self, source: Source, name: str, format: Format) -> None:
        self.model = Model(source, name, format=format)
        self.bytes = Pieces()
        self.model.weights = Weights(None, self.bytes, "ready")
        self.engine = BodyEngine(self.model)
        self.body = self.model.net
        self.offset = 0
        self.name = ""
        self._outputs: set[Port] = set()
        """The ports that are outputs of the model."""
        self._constants: dict[tuple[str, tuple[int, ...], bytes], NodeOutput] = {}

    def inner(self) -> Builder:
        """Returns a builder for a body. It has layers, edges and constants of its own, and shares
        everything else with this builder."""
        builder = copy(self)
        builder.body = Body((), self.offset)
        builder._constants = {}
        return builder

    # layers

    def layer(
        self,
        type: str,
        version: str,
        inputs: Sequence[NodeOutput],
        items: Iterable[str] = (),
        *,
        name: str = "",
    ) -> Layer:
        """Adds a layer without output ports, and the edges that feed it."""
        layers = self.body.layers
        layer = Layer(
            str(len(layers)), name or f"{self.name}/{type}", type, version, self.offset, ()
        )
        layer.items = tuple(items)
        layer.data_offset = self.offset
        layer.inputs, layer.outputs = [], []
        for index, value in enumerate(inputs):
            fed = value.layer.outputs[value.port]
            port = Port(str(index), fed.precision, None, self.offset)
            port.dims = fed.dims
            layer.inputs.append(port)
            self.body.edges.append(Edge(value.layer.id, fed.id, layer.id, port.id, self.offset))
        layers.append(layer)
        return layer

    def output(self, layer: Layer, tensor: Tensor) -> NodeOutput:
        """Adds the next output port to a layer."""
        port = Port(str(len(layer.inputs) + len(layer.outputs)), None, None, self.offset)
        declare(port, tensor)
        layer.outputs.append(port)
        return NodeOutput(layer, len(layer.outputs) - 1, tensor)

    def all(
        self,
        type: str,
        *inputs: NodeOutput,
        version: str | None = None,
        **attributes: Any,
    ) -> tuple[NodeOutput, ...]:
        """Adds a layer and returns its outputs. attributes: by their names in the class in `ops/`.

        version: the opset; by default the first with this operation. Raises `Violation` if the
        layer cannot be inferred.
        """
        outputs = self._added(type, inputs, version, attributes)
        if isinstance(outputs, Fault):  # nobody knows how many outputs there are
            raise Violation.of(outputs._replace(says=outputs.message, at=""))
        return outputs

    def add(
        self,
        type: str,
        *inputs: NodeOutput,
        version: str | None = None,
        **attributes: Any,
    ) -> NodeOutput:
        """Adds a layer and returns its first output.

        A layer that cannot be inferred is reported later, when the whole model is inferred.
        """
        outputs = self._added(type, inputs, version, attributes)
        return (
            self.output(self.body.layers[-1], UNKNOWN) if isinstance(outputs, Fault) else outputs[0]
        )

    def _added(
        self,
        type: str,
        inputs: Sequence[NodeOutput],
        version: str | None,
        attributes: dict[str, Any],
    ) -> tuple[NodeOutput, ...] | Fault:
        operation = registry.find(type, version) if version else registry.versions(type)[0]
        items: list[str] = []
        for attribute, value in attributes.items():
            declared = operation.attributes[attribute]
            items += (declared.name, written(declared, value))
        layer = self.layer(
            operation.type_name(), version or operation.version_name(), inputs, items
        )
        outputs = self.engine.infer_layer(layer, tuple(value.tensor for value in inputs)).outputs
        if isinstance(outputs, Fault):
            return outputs
        return tuple(self.output(layer, tensor) for tensor in outputs)

    def opaque(
        self,
        type: str,
        version: str,
        inputs: Sequence[NodeOutput],
        outputs: Sequence[Tensor],
        *,
        name: str = "",
    ) -> tuple[Layer, tuple[NodeOutput, ...]]:
        """Adds a layer that is not inferred. Its outputs are the given tensors."""
        layer = self.layer(type, version, inputs, name=name)
        return layer, tuple(self.output(layer, tensor) for tensor in outputs)

    def parameter(self, name: str, tensor: Tensor) -> NodeOutput:
        items = ("shape", tensor.shape.text, "element_type", str(tensor.element_type))
        return self.output(self.layer("Parameter", "opset1", (), items, name=name), tensor)

    def result(self, name: str, value: NodeOutput) -> Layer:
        return self.layer("Result", "opset1", (value,), name=name)

    def with_bodies(
        self,
        type: str,
        inputs: Sequence[NodeOutput],
        bodies: dict[str, Body],
        port_maps: dict[str, list[PortMap]],
        outputs: int,
    ) -> tuple[NodeOutput, ...]:
        """Adds an If, Loop or TensorIterator with its bodies, and infers it."""
        layer = self.layer(type, registry.versions(type)[0].version_name(), inputs)
        layer.bodies, layer.port_maps = bodies, port_maps
        values = tuple(self.output(layer, UNKNOWN) for _ in range(outputs))
        result = self.engine.infer_layer(layer, tuple(value.tensor for value in inputs))
        # a fault is reported when the model is inferred as a whole
        if not isinstance(result.outputs, Fault):
            for value, port, tensor in zip(values, layer.outputs, result.outputs, strict=False):
                value.tensor = tensor
                declare(port, tensor)
        for inner in result.inner.values():
            _declare_all(inner)
        return values

    def bound(
        self, value: NodeOutput, name: str, said: Tensor, *, is_output: bool, first: bool
    ) -> NodeOutput:
        """Gives an output of the current node its tensor name, and its declared type and shape.

        A port that has tensor names already gets another one; the name of a model output goes
        first. If the port's declaration contradicts `said`, or if an input, a constant or another
        model output would become a model output, an Identity gets the name. Elsewhere Identity is
        avoided: OpenVINO before 2025.0 does not know it. first: also name the layer after the node.
        """
        full, name = completed(said, value.tensor), name.replace(",", "\\,")
        layer, port = value.layer, value.layer.outputs[value.port]
        if port.names:
            own, given = declared(port), layer.is_parameter or layer.is_constant
            shape = own.shape.merge(full.shape)
            kind = full.element_type if own.element_type.is_dynamic else own.element_type
            alike = full.element_type in (kind, DYNAMIC_TYPE)
            taken = is_output and (given or port in self._outputs)
            if shape is not None and alike and not taken:
                if not given:
                    declare(port, Tensor(kind, shape))
                port.names = f"{name},{port.names}" if is_output else f"{port.names},{name}"
                self._outputs |= {port} if is_output else set()
                return value
            value = self.add("Identity", value)
            layer, port = value.layer, value.layer.outputs[0]
        port.names = name
        declare(port, full)
        self._outputs |= {port} if is_output else set()
        if first:
            layer.name = self.name
        if value.tensor == UNKNOWN:
            value.tensor = full
        return value

    def finish(self) -> None:
        """Removes unused layers, which conversions may leave behind.

        Keeps inputs, outputs, layers with a finding and, except constants, layers with tensor
        names.
        """
        _tidy(self.model.net, (), {id(problem.layer) for problem in self.model.findings})

    # constants

    def constant(
        self,
        element_type: ElementType,
        shape: tuple[int, ...],
        data: bytes | memoryview,
        *,
        name: str = "",
    ) -> NodeOutput:
        """Adds a Const layer with these bytes."""
        return self.constant_at(element_type, shape, self.bytes.add(data), len(data), name=name)

    def constant_at(
        self,
        element_type: ElementType,
        shape: tuple[int, ...],
        offset: int,
        size: int,
        *,
        name: str = "",
    ) -> NodeOutput:
        """Adds a Const layer for `size` bytes that are already in the .bin, at `offset`."""
        items = (
            *("element_type", str(element_type), "shape", ", ".join(map(str, shape))),
            *("offset", str(offset), "size", str(size)),
        )
        layer = self.layer("Const", "opset1", (), items, name=name)
        tensor = Tensor(element_type, PartialShape(shape))
        return self.output(layer, self.engine.constant(layer, tensor))

    def numbers(
        self, values: Any, element_type: str = "i64", *, shape: tuple[int, ...] | None = None
    ) -> NodeOutput:
        """Returns the output of a Const with these numbers; equal constants share one Const.

        shape: replaces the shape of `values`. Raises `Violation` for a dynamic type.
        """
        kind = ElementType.of(element_type)
        if kind.is_dynamic:
            message = "irshape can read this node only if the element type of its input is known"
            raise Violation(message, rule=INPUT_ELEMENT_TYPE, expected="a known type")
        key = (element_type, *shape_and_bytes(values, kind, shape))
        known = self._constants.get(key)
        if known is None:
            known = self._constants[key] = self.constant(kind, key[1], key[2])
        return known

    # what is wrong

    def report(
        self,
        rule: RuleId,
        message: str,
        layer: Layer | None = None,
        **facts: Unpack[Stated],
    ) -> None:
        """Records a finding about the node that is being converted."""
        self.place(Fault(rule, message, **facts), layer)

    def place(self, fault: Fault, layer: Layer | None = None) -> None:
        """Records a fault as a finding, at the attribute `fault.at` or, if empty, at the node."""
        source = self.model.source
        offset = source.attribute(self.offset, fault.at) if fault.at else self.offset
        self.model.findings.append(Finding(fault, offset, layer))


def written(declared: Attribute, value: Any) -> str:
    """Returns the text of an attribute of `<data>` with this value."""
    return value if isinstance(value, str) else declared.kind.write(value)


def declare(port: Port, tensor: Tensor) -> None:
    """Sets the type and shape that a port declares."""
    port.precision = tensor.element_type.precision
    port.dims = tensor.shape.declared


def completed(declared: Tensor, inferred: Tensor) -> Tensor:
    """Returns the declared type and shape; the inferred one replaces a dynamic type or rank."""
    return Tensor(
        inferred.element_type if declared.element_type.is_dynamic else declared.element_type,
        inferred.shape if declared.shape.dims is None else declared.shape,
    )


def _declare_all(result: BodyResult) -> None:
    """Makes the output ports in a body and its inner bodies declare what was inferred."""
    for position, layer in enumerate(result.body.layers):
        for port, tensor in zip(layer.outputs, result.outputs[position], strict=False):
            declare(port, tensor)
        for inner in result.inner.get(position, {}).values():
            _declare_all(inner)


def _tidy(body: Body, path: tuple[str, ...], noted: set[int]) -> dict[str, str]:
    """Removes unused layers from a body and its inner bodies. Returns the new layer ids by old ids.

    Makes each input port declare the type and shape of the output that feeds the port.
    path: as `Body.path`. noted: the `id()` of each layer with a finding, which is kept.
    """
    feeding: dict[str, list[str]] = {}
    for edge in body.edges:
        feeding.setdefault(edge.to_layer, []).append(edge.from_layer)
    kept = {
        layer.id
        for layer in body.layers
        if layer.type in ("Result", "Parameter")
        or id(layer) in noted
        or (layer.type != "Const" and any(port.names for port in layer.outputs))
    }
    waiting = list(kept)
    while waiting:
        for producer in feeding.get(waiting.pop(), ()):
            if producer not in kept:
                kept.add(producer)
                waiting.append(producer)
    body.edges = [edge for edge in body.edges if edge.to_layer in kept]
    body.layers = [layer for layer in body.layers if layer.id in kept]
    layers = {layer.id: layer for layer in body.layers}
    numbers = {id: str(number) for number, id in enumerate(layers)}
    _name_apart(body.layers)
    body.path, body._by_id = path, None
    for layer in body.layers:
        layer.id, layer.path = numbers[layer.id], path
        for tag, held in (layer.bodies or {}).items():
            inside = _tidy(held, (*path, layer.id, tag), noted)
            held.back_edges = [
                BackEdge(inside[edge.from_layer], inside[edge.to_layer], edge.offset)
                for edge in held.back_edges
            ]
            for entry in (layer.port_maps or {}).get(PORT_MAPS[tag], ()):
                entry.attributes["internal_layer_id"] = inside[
                    entry.attributes["internal_layer_id"]
                ]
    for edge in body.edges:
        start, end = layers[edge.from_layer], layers[edge.to_layer]
        source, target = start.outputs[int(edge.from_port) - len(start.inputs)], end.inputs
        target[int(edge.to_port)].precision = source.precision
        target[int(edge.to_port)].dims = source.dims
    body.edges = [
        edge._replace(from_layer=numbers[edge.from_layer], to_layer=numbers[edge.to_layer])
        for edge in body.edges
    ]
    return numbers


def _name_apart(layers: list[Layer]) -> None:
    """Appends numbers to repeated names of layers, which OpenVINO before 2024.1 refuses.

    If layers share a name, one with tensor names keeps it. The names of Results never change.
    """
    numbers: dict[str, int] = {}
    for layer in sorted(layers, key=lambda each: not any(port.names for port in each.outputs)):
        if not layer.is_result:
            name = layer.name
            while layer.name in numbers:
                numbers[name] += 1
                layer.name = f"{name}_{numbers[name]}"
            numbers[layer.name] = 0


def shape_and_bytes(
    values: Any, kind: ElementType, shape: tuple[int, ...] | None = None
) -> tuple[tuple[int, ...], bytes]:
    """Returns the shape and bytes of a constant. shape: the shape to use, not that of `values`."""
    plain = number_bytes(values, kind)
    if plain is not None and (shape is None or math.prod(shape) == math.prod(plain[0])):
        return (plain[0] if shape is None else shape), plain[1]
    import numpy as np

    from ..numpy_types import dtype_of, pack

    try:
        array = (
            np.asarray(values, dtype=dtype_of(kind))
            if np.size(values)
            else np.zeros(np.shape(values), dtype_of(kind))
        )
    except OverflowError:
        raise Violation(
            f"irshape cannot read this node: it needs the number {values}, which {kind} cannot "
            "hold",
            rule=INPUT_ELEMENT_TYPE,
            expected="an element type that can hold the number",
        ) from None
    array = array.reshape(shape) if shape is not None else array
    return array.shape, pack(array, kind)
