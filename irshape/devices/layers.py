"""The layers that a device gets to see: those that remain when constants are folded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..inference.result import BodyResult
from ..model.graph import Layer
from ..ops.declaration import Operation
from ..ops.elementwise import Broadcasting
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
    def operation(self) -> type[Operation] | None:
        """Its operation; None where no opset holds it."""
        return declaration_of(self.layer)

    @property
    def family(self) -> str:
        """The name under which facts about its operation stand."""
        return family_of(self.operation) if self.operation else self.layer.type

    @property
    def tensors(self) -> list[Tensor]:
        """The inputs that are there."""
        return [tensor for tensor in self.inputs if tensor is not None]

    def value(self, key: str) -> str:
        """What a layer has under a key of a condition; empty for what it lacks.

        `operation`, `opset` (that brought the version), `inputs` (how many), `mixed` (whether
        element types of inputs differ), `shapes` (whether their shapes do: `same`, `ranks`, `sizes`
        or `?`), `dims` (as below, the least known of all inputs), `body` (whether it stands in
        one), `@axis` (an attribute as it is written, in small letters), `@axis.least` (the least of
        its numbers: `negative`, `0`, `1` or `many`), and of an input or output
        such as `in0` or `out1`: `.type`, `.kind`, `.rank`, `.dims` (`static`, `bounded`,
        `unbounded`, or `rank` for a dynamic one), `.elements` (`0`, `1`, `many`, `?`), and alike
        `.dim2`, `.dim-1`; of an input also `.const`.
        """
        if key[0] == "@":
            return self._of_attribute(*key[1:].split(".least"))
        port, dot, name = key.partition(".")
        if dot:
            return self._of_port(port, name)
        return _OF_ALL[key](self)

    def _of_attribute(self, name: str, *least: str) -> str:
        text = (self.layer.attribute(name) or "").replace(" ", "").lower()
        if not least:
            return text
        try:
            return _counted(Dimension.of(min(map(int, text.split(",")))))
        except ValueError:
            return "negative" if "-" in text else ""

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


def _shapes(layer: DeviceLayer) -> str:
    shapes = [tensor.shape for tensor in layer.tensors]
    if len({shape.rank for shape in shapes}) > 1:
        return "ranks"
    if not all(shape.is_static for shape in shapes):
        return "?"
    return "sizes" if len({shape.static for shape in shapes}) > 1 else "same"


_DIMS = ("", "static", "bounded", "unbounded", "rank")

_OF_ALL: dict[str, Callable[[DeviceLayer], str]] = {
    "operation": lambda layer: layer.operation.type_name() if layer.operation else layer.layer.type,
    "opset": lambda layer: str(layer.operation.since) if layer.operation else "",
    "inputs": lambda layer: str(len(layer.inputs)),
    "mixed": lambda layer: (
        "yes" if len({tensor.element_type for tensor in layer.tensors}) > 1 else "no"
    ),
    "shapes": _shapes,
    "dims": lambda layer: max(
        (tensor_value(tensor, "dims") for tensor in layer.tensors), key=_DIMS.index, default=""
    ),
    "body": lambda layer: "yes" if layer.layer.path else "no",
}


def family_of(operation: type[Operation]) -> str:
    """The name under which facts about an operation stand: that of the widest class of operations
    that it belongs to, such as `Reduction`, or its own."""
    bases = [each for each in operation.__mro__ if issubclass(each, Operation)]
    return [each for each in bases if each not in (Operation, Broadcasting)][-1].type_name()


def tensor_value(tensor: Tensor, name: str) -> str:
    """What a tensor has under a name of a condition; see `DeviceLayer.value`."""
    if name == "type":
        return tensor.element_type.name
    if name == "kind":
        return tensor.element_type.kind
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
