"""Finds the layers that a device gets: all layers that remain after constants are folded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from ..element_types import ElementType
from ..inference.result import BodyResult
from ..model.graph import Layer
from ..model.wiring import OutputRef
from ..ops.declaration import Operation
from ..ops.registry import declaration_of
from ..ops.tensors import Tensor
from .facts import Key, unfolded

_SIZES = {-1: "?", 0: "0", 1: "1"}
"""The sizes that conditions distinguish; any other size is `many`."""


class Traits(NamedTuple):
    """The properties of a tensor that the conditions of facts test. Tensors with equal properties
    share an object."""

    element_type: ElementType
    dims: str
    """`static`, `bounded`, `unbounded`, or `rank` for a dynamic rank."""
    sizes: tuple[str, ...]
    """For each dimension, `0`, `1`, `many` or `?`; empty for a dynamic rank."""


@lru_cache(1 << 10)
def traits_of(tensor: Tensor) -> Traits:
    """Returns the properties of a tensor that the conditions of facts test."""
    shape = tensor.shape
    if shape.is_static:
        dims = "static"
    elif shape.dims is None:
        dims = "rank"
    else:
        dims = "unbounded" if any(dim.is_unbounded for dim in shape.dims) else "bounded"
    sizes = tuple([_SIZES.get(size, "many") for size in shape.declared])
    return Traits(tensor.element_type, dims, sizes)


class DeviceLayer:
    """A layer that the device has to compute, with the properties that the conditions of facts
    test."""

    __slots__ = ("alike", "constant", "inputs", "kept", "layer", "outputs", "used")

    def __init__(
        self,
        layer: Layer,
        result: BodyResult,
        index: int,
        constant: tuple[bool, ...],
        taken: set[OutputRef],
    ) -> None:
        inputs, outputs = result.inputs.get(index, ()), result.outputs[index]
        self.layer = layer
        self.inputs = tuple([None if each is None else traits_of(each) for each in inputs])
        self.outputs = tuple(map(traits_of, outputs))
        sizes = [None if each is None else each.shape.declared for each in (*inputs, *outputs[:1])]
        self.alike = len({*sizes[: len(inputs)]} - {None}) < 2
        """Whether all inputs of static shape have the same sizes."""
        self.kept = sizes[0] == sizes[-1] if inputs else False
        """Whether output 0 has the sizes of input 0, if both shapes are static."""
        self.used = tuple([(index, port) in taken for port in range(len(outputs))])
        """For each output, whether a layer uses it."""
        self.constant = constant
        """For each input, whether it is a constant after constants are folded."""

    @property
    def key(self) -> object:
        """A key for the layer. Every condition gives the same answer for layers with equal keys."""
        own = self.layer
        return (
            own.type,
            own.version,
            own.items,
            self.inputs,
            self.outputs,
            self.alike,
            self.kept,
            self.constant,
            self.used,
            bool(own.path),
        )

    @property
    def operation(self) -> type[Operation] | None:
        """The operation of the layer; None if no opset contains it."""
        return declaration_of(self.layer)

    @property
    def tensors(self) -> list[Traits]:
        """The tensors of the connected inputs."""
        return [tensor for tensor in self.inputs if tensor is not None]

    def value(self, key: Key) -> str:
        """Returns the value of a layer for the key of a condition; empty if it has none.

        Keys of a layer: `operation`, `opset` (that introduced the version), `inputs` (their
        number), `types` (the `.as` of all inputs; the same type in succession counts once), `mixed`
        (whether element types of inputs differ), `shapes` (whether their shapes differ: `same`,
        `ranks`, `sizes` or `?`), `kept` (whether output 0 has the shape of input 0; `open` if only
        output 0 is dynamic), `dims` (as below, of the input whose shape is least known), `body`
        (whether the layer is inside a body), `@axis` (an attribute as written, in small letters),
        `@axis.least` (the least of its numbers: `0`, `1`, `many`, `?` for -1, `negative` for less).
        Keys of an input or output, such as `in0` or `out1`: `.type`, `.as` (the type with which
        plugins compute), `.kind`, `.rank`, `.dims` (`static`, `bounded`, `unbounded`, or `rank` for
        a dynamic one), `.elements` (`0`, `1`, `many`, `?`), and in the same way `.dim2` or `.dim-1`
        for one dimension. Inputs also have `.const`, outputs `.used`.
        """
        if key.where == "layer":
            return _OF_LAYER[key.name](self)
        if key.where == "attribute":
            return (_least if key.least else _attribute)(key.name, self)
        return _of_port(key, self)


def _attribute(name: str, layer: DeviceLayer) -> str:
    return (layer.layer.attribute(name) or "").replace(" ", "").lower()


def _least(name: str, layer: DeviceLayer) -> str:
    text = _attribute(name, layer)
    try:
        least = min(map(int, text.split(",")))
    except ValueError:
        return "negative" if "-" in text else ""
    return "negative" if least < -1 else _SIZES.get(least, "many")


def _of_port(key: Key, layer: DeviceLayer) -> str:
    tensors: tuple[Traits | None, ...]
    if key.where == "input":
        tensors, flags = layer.inputs, layer.constant
    else:
        tensors, flags = layer.outputs, layer.used
    tensor = tensors[key.at] if key.at < len(tensors) else None
    if tensor is None:
        return ""
    if key.name in ("const", "used"):
        return "yes" if flags[key.at] else "no"
    return tensor_value(tensor, key.name, key.axis)


def _kept(layer: DeviceLayer) -> str:
    ends = [*layer.inputs[:1], *layer.outputs[:1]]
    if len(ends) == 2 and all(each is not None and each.dims == "static" for each in ends):
        return "yes" if layer.kept else "no"
    return "open" if layer.outputs and _dims(layer) == "static" else "?"


def _dims(layer: DeviceLayer) -> str:
    return max((tensor.dims for tensor in layer.tensors), key=_DIMS.index, default="")


def _shapes(layer: DeviceLayer) -> str:
    if len({tensor_value(tensor, "rank") for tensor in layer.tensors}) > 1:
        return "ranks"
    if not all(tensor.dims == "static" for tensor in layer.tensors):
        return "?"
    return "same" if layer.alike else "sizes"


_DIMS = ("", "static", "bounded", "unbounded", "rank")

_OF_LAYER: dict[str, Callable[[DeviceLayer], str]] = {
    "operation": lambda layer: layer.operation.type_name() if layer.operation else layer.layer.type,
    "opset": lambda layer: str(layer.operation.since) if layer.operation else "",
    "inputs": lambda layer: str(len(layer.inputs)),
    "types": lambda layer: ",".join(
        text for text, _ in groupby(tensor_value(each, "as") for each in layer.tensors)
    ),
    "mixed": lambda layer: (
        "yes" if len({tensor.element_type for tensor in layer.tensors}) > 1 else "no"
    ),
    "shapes": _shapes,
    "dims": _dims,
    "kept": _kept,
    "body": lambda layer: "yes" if layer.layer.path else "no",
}


_COMPUTED = dict.fromkeys(("f64", "f16", "bf16"), "f32")
_COMPUTED |= dict.fromkeys(("i64", "u64", "u32", "i16", "u16"), "i32")
_COMPUTED |= {"boolean": "u8", "u4": "u8", "i4": "i8"}
"""Maps element types to the types in which plugins compute them instead."""


def tensor_value(tensor: Traits, name: str, axis: int = 0) -> str:
    """Returns the value of a tensor for the name of a key, such as `rank`; see `DeviceLayer.value`.

    axis: for `dim`, the axis of the size.
    """
    if name == "type":
        return tensor.element_type.name
    if name == "as":
        return _COMPUTED.get(tensor.element_type.name, tensor.element_type.name)
    if name == "kind":
        return tensor.element_type.kind
    if name == "dims":
        return tensor.dims
    sizes = tensor.sizes
    if tensor.dims == "rank":
        return "?"
    if name == "rank":
        return str(len(sizes))
    if name == "elements":
        return next((size for size in ("0", "?", "many") if size in sizes), "1")
    return sizes[axis] if -len(sizes) <= axis < len(sizes) else ""


def device_layers(result: BodyResult) -> Iterator[DeviceLayer]:
    """Yields the layers of a body, and of the bodies inside it, that are not folded. Producers come
    first."""
    layers, sources = result.body.layers, result.wiring.sources
    folded = folded_layers(result)
    taken = {source for row in sources for source in row if source is not None}
    for index in result.wiring.order:
        if index not in folded:
            constant = tuple([each is not None and each[0] in folded for each in sources[index]])
            yield DeviceLayer(layers[index], result, index, constant, taken)
        if index in result.inner:
            for inner in result.inner[index].values():
                yield from device_layers(inner)


def folded_layers(result: BodyResult) -> set[int]:
    """Returns the positions of the layers that OpenVINO folds for a device: constants, layers that
    depend only on constants (e.g. the decompression of weights), and layers whose results shape
    inference computes. Leaves out the types in `unfolded`."""
    folded: set[int] = set()
    layers, sources, outputs = result.body.layers, result.wiring.sources, result.outputs
    for index in result.wiring.order:
        layer, row = layers[index], sources[index]
        if not row:
            if layer.is_constant:
                folded.add(index)
        elif outputs[index] and layer.folded_type not in unfolded():
            of_constants = all(source is not None and source[0] in folded for source in row)
            if of_constants or all(map(_is_exact, outputs[index])) or _is_size(result, index):
                folded.add(index)
    return folded


def _is_exact(tensor: Tensor) -> bool:
    return tensor.value is not None and tensor.value.exact is not None


def _is_size(result: BodyResult, index: int) -> bool:
    """Returns whether a layer is a ShapeOf of a tensor of static shape. The shape may have too many
    dimensions for shape inference to compute its value."""
    measured = result.inputs.get(index, (None,))[0]
    is_shape_of = result.body.layers[index].folded_type == "shapeof"
    return is_shape_of and measured is not None and measured.shape.is_static
