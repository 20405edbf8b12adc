"""The layers that a device gets to see: those that remain when constants are folded."""

from __future__ import annotations

from collections.abc import Iterator

from ..inference.result import BodyResult
from ..model.graph import Layer
from ..ops.registry import declaration_of
from ..ops.tensors import Tensor
from ..shapes import Dimension

STATEFUL = frozenset(("ReadValue", "Assign", "RandomUniform", "Multinomial", "Parameter"))
"""Types whose layers are never folded, whatever feeds them."""


class DeviceLayer:
    """A layer that a device has to compute, with what conditions of facts ask about it."""

    __slots__ = ("constant", "index", "inputs", "layer", "outputs", "result")

    def __init__(
        self,
        layer: Layer,
        result: BodyResult,
        index: int,
        constant: tuple[bool, ...],
    ) -> None:
        self.layer = layer
        self.result = result
        self.index = index
        self.inputs: tuple[Tensor | None, ...] = result.inputs.get(index, ())
        self.outputs = result.outputs[index]
        self.constant = constant
        """Of each input, whether it is a constant once constants are folded."""

    @property
    def type(self) -> str:
        """The name of its operation; the type as it is written where no opset holds it."""
        operation = declaration_of(self.layer)
        return self.layer.type if operation is None else operation.type_name()

    def value(self, key: str) -> str:
        """What a layer has under a key of a condition; empty for what it lacks.

        `opset` (that brought the version), `inputs` (how many), `mixed` (whether element types of
        inputs differ), `body` (whether it stands in one), `@axis` (an attribute as it is written,
        in small letters), and of an input or output such as `in0` or `out1`: `.type`, `.rank`,
        `.dims` (`static`, `bounded`, `unbounded`, or `rank` for a dynamic one), `.elements` (`0`,
        `1`, `many`, `?`), and alike `.dim2`, `.dim-1`; of an input also `.const`.
        """
        if key[0] == "@":
            return (self.layer.attribute(key[1:]) or "").replace(" ", "").lower()
        port, dot, name = key.partition(".")
        if dot:
            return self._of_port(port, name)
        if key == "opset":
            operation = declaration_of(self.layer)
            return "" if operation is None else str(operation.since)
        if key == "inputs":
            return str(len(self.inputs))
        if key == "mixed":
            types = {each.element_type.name for each in self.inputs if each is not None}
            return "yes" if len(types) > 1 else "no"
        assert key == "body", key
        return "yes" if self.layer.path else "no"

    def _of_port(self, port: str, name: str) -> str:
        is_input = port.startswith("in")
        at = int(port[2 if is_input else 3 :])
        tensors = self.inputs if is_input else self.outputs
        tensor = tensors[at] if at < len(tensors) else None
        if tensor is None:
            return ""
        if name == "const":
            return "yes" if self.constant[at] else "no"
        return tensor_value(tensor, name)


def tensor_value(tensor: Tensor, name: str) -> str:
    """What a tensor has under a name of a condition; see `DeviceLayer.value`."""
    if name == "type":
        return tensor.element_type.name
    dims = tensor.shape.dims
    if name == "rank":
        return "?" if dims is None else str(len(dims))
    if dims is None:
        return "rank" if name == "dims" else "?"
    if name == "dims":
        if tensor.shape.is_static:
            return "static"
        return "unbounded" if any(dim.is_unbounded for dim in dims) else "bounded"
    if name == "elements":
        return _counted(tensor.shape.size)
    assert name.startswith("dim"), name
    at = int(name[3:])
    return _counted(dims[at]) if -len(dims) <= at < len(dims) else ""


def _counted(size: Dimension) -> str:
    if not size.is_static:
        return "?"
    return str(size.low) if size.low < 2 else "many"


def device_layers(result: BodyResult) -> Iterator[DeviceLayer]:
    """The layers of a body and of those inside it that are not folded, producers first."""
    layers, sources = result.body.layers, result.wiring.sources
    folded = folded_layers(result)
    for index in result.wiring.order:
        if index not in folded:
            constant = tuple(
                source is not None and source[0] in folded for source in sources[index]
            )
            yield DeviceLayer(layers[index], result, index, constant)
        for inner in result.inner.get(index, {}).values():
            yield from device_layers(inner)


def folded_layers(result: BodyResult) -> set[int]:
    """The positions of the layers that OpenVINO replaces by constants before a device sees them.

    These are constants, what is computed from them alone, shapes that are static, and values that
    follow from the bounds of shapes. Decompressed weights are among them.
    """
    folded: set[int] = set()
    layers, sources, outputs = result.body.layers, result.wiring.sources, result.outputs
    for index in result.wiring.order:
        layer, row = layers[index], sources[index]
        if not row:
            if layer.is_constant:
                folded.add(index)
            continue
        if layer.type in STATEFUL or layer.is_result or not outputs[index]:
            continue
        if (
            all(source is not None and source[0] in folded for source in row)
            or (layer.type == "ShapeOf" and _is_static(result, index))
            or all(
                tensor.value is not None and tensor.value.exact is not None
                for tensor in outputs[index]
            )
        ):
            folded.add(index)
    return folded


def _is_static(result: BodyResult, index: int) -> bool:
    measured = result.inputs.get(index, (None,))[0]
    return measured is not None and measured.shape.is_static
