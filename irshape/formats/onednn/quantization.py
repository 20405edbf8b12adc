"""Converts quantization of oneDNN, with scales and zero points as attributes or as inputs."""

from __future__ import annotations

from ...faults import Violation
from ...rule_ids import INPUT_SHAPES
from ..builder import NodeOutput
from ..nodes import check_length, refusal
from .declaration import FLOATS, GraphOperation, Outputs, floats, integer, ints, kind, word

PER = word("per_tensor", "per_tensor", "per_channel", "per_group")


def _lying(node: GraphOperation, values: list[float] | list[int], name: str) -> NodeOutput:
    """Returns scales or zero points as a constant that broadcasts to the data."""
    x = node.x
    if node["qtype"] == "per_tensor":
        check_length(name, values, 1)
        return node.numbers(values[0], "f32")
    axis, rank = node.axis(), node.rank(node.x)
    dim = x.shape.dims[axis] if x.shape.dims is not None else None
    sizes = x.shape.static
    if (
        axis == 1
        and sizes is not None
        and len(values) != sizes[1]
        and 0 < sizes[1] <= len(values)
        and sizes[0] < 1 << 20
        and len(values) % sizes[1] == 0
        and not sizes[0] % (len(values) // sizes[1])
    ):
        # weights of a grouped ConvTranspose, in IOX: one number for each output of each group
        inputs = sizes[0] * sizes[1] // len(values)
        spread = [
            values[row // inputs * sizes[1] + column]
            for row in range(sizes[0])
            for column in range(sizes[1])
        ]
        return node.numbers(spread, "f32", shape=(*sizes[:2], *([1] * (rank - 2))))
    if dim is not None and not dim.contains(len(values)):
        raise refusal(name, f"{len(values)} numbers", f"{dim}, the size of axis {axis}")
    return node.along(node.numbers(values, "f32"), axis, rank)


def _quantized(node: GraphOperation, scaled: NodeOutput, zero: NodeOutput | None) -> NodeOutput:
    """Quantizes to the type of the output. For types of more than 8 bits, clamps to the least and
    the greatest f32 number that i32 can hold."""
    kind = node.output_type
    limits = kind.limits if kind.name in ("u8", "i8", "u4", "i4") else (-(2**31), 2**31 - 128)
    return node.quantized(scaled, zero, limits, kind)


@kind(
    "Quantize",
    1,
    types=FLOATS,
    qtype=PER,
    axis=integer(1),
    scales=floats(required=True),
    zps=ints(),
)
def quantize(node: GraphOperation) -> Outputs:
    scale = _lying(node, node["scales"], "scales")
    zero = _lying(node, node["zps"], "zps") if node["zps"] else None
    return _quantized(node, node.add("Divide", node.convert(node.x, "f32"), scale), zero)


@kind("Dequantize", 1, qtype=PER, axis=integer(1), scales=floats(required=True), zps=ints())
def dequantize(node: GraphOperation) -> Outputs:
    real = node.convert(node.x, "f32")
    if node["zps"]:
        real = node.add("Subtract", real, _lying(node, node["zps"], "zps"))
    return node.as_declared(node.add("Multiply", real, _lying(node, node["scales"], "scales")))


def _given(node: GraphOperation, index: int) -> NodeOutput | None:
    """Returns an input with scales or zero points in f32, reshaped to broadcast to the data.

    The input has one element for all data, one for each index of an axis, or one for each group.
    """
    if index >= len(node.inputs):
        return None
    value = node.convert(node.inputs[index], "f32")
    if node["qtype"] == "per_channel":
        return node.along(value, node.axis(), node.rank(node.x))
    if node["qtype"] == "per_tensor":
        return node.reshaped(value, [])
    groups, sizes = node["group_shape"], value.shape.static
    rank = node.rank(node.x)
    if not groups or len(groups) != rank or sizes is None or len(sizes) != rank:
        raise refusal("group_shape", groups, f"a size for each axis of {node.x.shape}")
    whole = node.x.shape.static
    if whole is not None and any(
        count * size != extent
        for count, size, extent in zip(sizes, groups, whole, strict=True)
        if size != extent or count != 1
    ):
        raise Violation(
            f"groups of {groups} do not divide data of shape {node.x.shape} into {value.shape}",
            rule=INPUT_SHAPES,
            at="group_shape",
            expected=whole,
            actual=sizes,
        )
    for axis, group in enumerate(groups):
        if group > 1 and sizes[axis] > 1:
            inner = [1] * (rank + 1)
            inner[axis + 1] = group
            wide = node.add(
                "Tile", node.add("Unsqueeze", value, node.numbers([axis + 1])), node.numbers(inner)
            )
            sizes = (*sizes[:axis], sizes[axis] * group, *sizes[axis + 1 :])
            value = node.reshaped(wide, sizes)
    return value


@kind("DynamicDequantize", (2, 3), qtype=PER, axis=integer(1), group_shape=ints())
def dynamic_dequantize(node: GraphOperation) -> Outputs:
    real, scale, zero = (node.convert(node.x, "f32"), _given(node, 1), _given(node, 2))
    assert scale is not None
    real = real if zero is None else node.add("Subtract", real, zero)
    return node.as_declared(node.add("Multiply", real, scale))


@kind(
    "DynamicQuantize",
    (2, 3),
    types=FLOATS,
    qtype=PER,
    axis=integer(1),
    group_shape=ints(),
)
def dynamic_quantize(node: GraphOperation) -> Outputs:
    scale = _given(node, 1)
    assert scale is not None
    return _quantized(node, node.add("Divide", node.convert(node.x, "f32"), scale), _given(node, 2))
