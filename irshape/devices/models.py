"""Checks a whole model for a device: ranks, sizes, element types, buffers, variables, weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

from ..byte_sizes import written_size
from ..inference.result import Inference
from ..model.graph import Layer
from ..model.wiring import OutputRef, Sources
from ..ops.tensors import Tensor
from .cures import Cure, Cures

Shown = Iterator[tuple[Layer, str, Cure]]
"""Layers at which to show an obstacle, each with a text to append to the reason, and advice."""


def _inputs(inference: Inference) -> Iterator[tuple[Layer, Tensor]]:
    for layer in inference.model.parameters:
        if outputs := inference.outputs(layer):
            yield layer, outputs[0]


def _dynamic_rank(inference: Inference, cures: Cures, _: int | None) -> Shown:
    """Yields inputs of dynamic rank."""
    for layer, tensor in _inputs(inference):
        if tensor.rank is None:
            yield layer, "", cures.sizes("give the input a rank")


def _untyped_input(inference: Inference, cures: Cures, _: int | None) -> Shown:
    """Yields inputs of static shape whose element type is dynamic."""
    for layer, tensor in _inputs(inference):
        if tensor.element_type.name == "dynamic" and tensor.shape.is_static:
            yield layer, "", Cure("give the input an element type")


def _inner_rank(inference: Inference, cures: Cures, _: int | None) -> Shown:
    """Yields layers that compute a tensor of dynamic rank from tensors of static rank."""
    cure = Cure("turn the values that determine the rank, such as axes, into constants")
    for body in inference.result.walk():
        for position, outputs in enumerate(body.outputs):
            if not any(tensor.rank is None for tensor in outputs):
                continue
            layer, given = body.body.layers[position], body.inputs.get(position, ())
            if not layer.is_parameter and all(
                tensor is None or tensor.rank is not None for tensor in given
            ):
                yield layer, "", cure


def _unbounded(inference: Inference, cures: Cures, _: int | None) -> Shown:
    """Yields inputs with a dimension that has no upper bound."""
    for layer, tensor in _inputs(inference):
        if tensor.shape.dims and any(dim.is_unbounded for dim in tensor.shape.dims):
            cure = cures.sizes("fix every dimension of the input, or give it an upper bound")
            yield layer, f": {tensor.shape}", cure


def _large_buffers(inference: Inference, _: Cures, limit: int | None) -> Shown:
    """Yields tensors, constants included, that are larger than the device's largest buffer."""
    smaller = Cure("make the tensor smaller, or cut it into parts; --max-alloc sets the limit")
    if limit is None:
        return
    for size, layer in largest_tensors(inference):
        if size > limit and not layer.is_result:
            most = written_size(limit)
            yield layer, f": {written_size(size)} in one buffer, at most {most}", smaller


def largest_tensors(inference: Inference) -> Iterator[tuple[int, Layer]]:
    """Yields each layer with the bytes of its largest output of static shape, constants
    included."""
    for body in inference.result.walk():
        for layer, outputs in zip(body.body.layers, body.outputs, strict=True):
            yield max(map(tensor_size, outputs), default=0), layer


def tensor_size(tensor: Tensor) -> int:
    """Returns the number of bytes of a tensor of static shape; 0 for any other."""
    shape = tensor.shape.static
    return 0 if shape is None else tensor.element_type.byte_size(prod(shape))


def _unpaired_variables(inference: Inference, cures: Cures, _: int | None) -> Shown:
    """Yields variables that are read but never assigned, or assigned but never read."""
    layers: dict[tuple[bool, str], Layer] = {}
    for layer in inference.model.walk():
        if layer.is_read_value or layer.folded_type == "assign":
            variable = layer.attribute("variable_id") or ""
            layers.setdefault((layer.is_read_value, variable), layer)
    for (reads, name), layer in layers.items():
        missing = "Assign" if reads else "ReadValue"
        if (not reads, name) not in layers:
            cure = Cure(f"add the {missing}, or replace the variable by an input and an output")
            yield layer, f": no {missing} of '{name}'", cure


def _element_types(inference: Inference, cures: Cures, _: int | None) -> Shown:
    """Yields layers that compute with an element type that the device does not import.

    Leaves out constants, since compressed weights may have any element type.
    """
    cure = Cure("convert the model to f16, f32 or a smaller integer type")
    for body in inference.result.walk():
        for layer, outputs in zip(body.body.layers, body.outputs, strict=True):
            name = outputs[0].element_type.name if outputs else "f32"
            if name not in _IMPORTED and not (layer.is_constant or layer.is_result):
                yield layer, f": {name}", cure


_FLOATING = {"f64", "f32", "f16", "bf16"}
_WHOLE = {"i64", "u64", "i32", "u32", "i16", "u16", "i8", "u8", "i4", "u4"}
_IMPORTED = _FLOATING | _WHOLE | {"boolean", "dynamic"}
"""The element types that NPU imports. Source: npu_compiler 150e2025, IE.cpp:373."""


def _asymmetric_int4(inference: Inference, cures: Cures, _: int | None) -> Shown:
    for layer, element_type, asymmetric in compressed_weights(inference):
        if element_type == "u4" and asymmetric:
            yield layer, "", Cure(_RECIPE)


def _int8_weights(inference: Inference, cures: Cures, _: int | None) -> Shown:
    weights = list(compressed_weights(inference))
    if weights and {element_type for _, element_type, _ in weights} <= {"u8", "i8"}:
        yield weights[0][0], "", Cure(_RECIPE)


_RECIPE = "compress the weights with NNCF: INT4_SYM, ratio 1.0, group size 128 or -1"


def compressed_weights(inference: Inference) -> Iterator[tuple[Layer, str, bool]]:
    """Yields the compressed constants that are decompressed for a MatMul, each with its element
    type and whether a zero point is subtracted."""
    for body in inference.result.walk():
        layers, sources = body.body.layers, body.wiring.sources
        for position, layer in enumerate(layers):
            if layer.folded_type == "matmul" and len(sources[position]) > 1:
                chain = list(_decompression(layers, sources, sources[position][1]))
                if chain and chain[-1].is_constant and len(chain) > 2:
                    element_type = (chain[-1].attribute("element_type") or "").lower()
                    yield (
                        chain[-1],
                        element_type,
                        any(each.folded_type == "subtract" for each in chain),
                    )


def _decompression(
    layers: Sequence[Layer], sources: Sources, source: OutputRef | None
) -> Iterator[Layer]:
    """Yields the layers from a tensor back to the constant from which it is computed."""
    while source is not None and layers[source[0]].folded_type in _DECOMPRESSING:
        yield layers[source[0]]
        row = sources[source[0]]
        source = row[0] if row else None


_DECOMPRESSING = ("const", "convert", "subtract", "multiply", "reshape", "transpose")

CHECKS: dict[str, Callable[[Inference, Cures, int | None], Shown]] = {
    "dynamic-rank": _dynamic_rank,
    "untyped-input": _untyped_input,
    "inner-rank": _inner_rank,
    "unbounded": _unbounded,
    "large-buffer": _large_buffers,
    "unpaired-variable": _unpaired_variables,
    "element-types": _element_types,
    "asymmetric-int4": _asymmetric_int4,
    "int8-weights": _int8_weights,
}
"""The checks of models as a whole, by their names in the tables. Each is called with the inferred
types and shapes, the `Cures`, and the size of the largest buffer."""
