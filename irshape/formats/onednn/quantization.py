"""Converts quantization and its inverse, with scales and zero points as attributes or inputs."""

from __future__ import annotations

from ...faults import Violation
from ...rule_ids import INPUT_SHAPES
from ..nodes import check_length, refusal
from .declaration import GraphOperation, NodeOutput, Outputs, floats, integer, ints, kind, word

_RANGE = {"u8": (0, 255), "i8": (-128, 127), "u4": (0, 15), "i4": (-8, 7)}
PER = word("per_tensor", "per_tensor", "per_channel", "per_group")


def _lying(
    operation: GraphOperation, values: list[float] | list[int], element_type: str, name: str
) -> NodeOutput:
    """Returns scales or zero points as a constant that broadcasts to the data."""
    x = operation.x
    if operation["qtype"] == "per_tensor":
        check_length(name, values, 1)
        return operation.numbers(values[0], element_type)
    axis, rank = operation.axis(), operation.rank(operation.x)
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
        inputs = (
            sizes[0] * sizes[1] // len(values)
        )  # weights of a grouped ConvTranspose, in IOX: one number for each output of each group
        spread = [
            values[row // inputs * sizes[1] + column]
            for row in range(sizes[0])
            for column in range(sizes[1])
        ]
        return operation.numbers(spread, element_type, shape=(*sizes[:2], *([1] * (rank - 2))))
    if dim is not None and not dim.contains(len(values)):
        raise refusal(name, f"{len(values)} numbers", f"{dim}, the size of axis {axis}")
    return operation.numbers(
        values,
        element_type,
        shape=tuple(len(values) if index == axis else 1 for index in range(rank)),
    )


def _quantized(
    operation: GraphOperation, scaled: NodeOutput, zero: NodeOutput | None
) -> NodeOutput:
    """Rounds to even, adds the zero point, and clamps to the range of the output's type."""
    low, high = _RANGE.get(operation.output_type.name, (-(2**31), 2**31 - 128))
    level = operation.add("Round", scaled, mode="half_to_even")
    level = level if zero is None else operation.add("Add", level, zero)
    level = operation.add(
        "Minimum",
        operation.add("Maximum", level, operation.numbers(low, "f32")),
        operation.numbers(high, "f32"),
    )
    return operation.convert(level, operation.output_type)


@kind(
    "Quantize",
    1,
    types=("f32", "bf16", "f16"),
    qtype=PER,
    axis=integer(1),
    scales=floats(required=True),
    zps=ints(),
)
def quantize(operation: GraphOperation) -> Outputs:
    scale = _lying(operation, operation["scales"], "f32", "scales")
    zero = _lying(operation, operation["zps"], "f32", "zps") if operation["zps"] else None
    return _quantized(
        operation, operation.add("Divide", operation.convert(operation.x, "f32"), scale), zero
    )


@kind("Dequantize", 1, qtype=PER, axis=integer(1), scales=floats(required=True), zps=ints())
def dequantize(operation: GraphOperation) -> Outputs:
    real = operation.convert(operation.x, "f32")
    if operation["zps"]:
        real = operation.add("Subtract", real, _lying(operation, operation["zps"], "f32", "zps"))
    return operation.as_declared(
        operation.add("Multiply", real, _lying(operation, operation["scales"], "f32", "scales"))
    )


def _given(operation: GraphOperation, index: int) -> NodeOutput | None:
    """Converts an input with scales or zero points to f32, in a shape that broadcasts to the data.

    There is one number for all, for each place of an axis, or for each group of elements.
    """
    if index >= len(operation.inputs):
        return None
    value = operation.convert(operation.inputs[index], "f32")
    if operation["qtype"] == "per_channel":
        rank, axis = operation.rank(operation.x), operation.axis()
        return operation.reshaped(value, [-1 if place == axis else 1 for place in range(rank)])
    if operation["qtype"] == "per_tensor":
        return operation.reshaped(value, [])
    groups, sizes = operation["group_shape"], value.shape.static
    rank = operation.rank(operation.x)
    if not groups or len(groups) != rank or sizes is None or len(sizes) != rank:
        raise refusal("group_shape", groups, f"a size for each axis of {operation.x.shape}")
    whole = operation.x.shape.static
    if whole is not None and any(
        count * size != extent
        for count, size, extent in zip(sizes, groups, whole, strict=True)
        if size != extent or count != 1
    ):
        raise Violation(
            f"groups of {groups} do not divide {operation.x.shape} into {value.shape}",
            rule=INPUT_SHAPES,
            at="group_shape",
            expected=whole,
            actual=sizes,
        )
    for axis, group in enumerate(groups):
        if group > 1 and sizes[axis] > 1:
            inner = [1] * (rank + 1)
            inner[axis + 1] = group
            wide = operation.add(
                "Tile",
                operation.add("Unsqueeze", value, operation.numbers([axis + 1])),
                operation.numbers(inner),
            )
            sizes = (*sizes[:axis], sizes[axis] * group, *sizes[axis + 1 :])
            value = operation.reshaped(wide, sizes)
    return value


@kind("DynamicDequantize", (2, 3), qtype=PER, axis=integer(1), group_shape=ints())
def dynamic_dequantize(operation: GraphOperation) -> Outputs:
    real, scale, zero = (
        operation.convert(operation.x, "f32"),
        _given(operation, 1),
        _given(operation, 2),
    )
    assert scale is not None
    real = real if zero is None else operation.add("Subtract", real, zero)
    return operation.as_declared(operation.add("Multiply", real, scale))


@kind(
    "DynamicQuantize",
    (2, 3),
    types=("f32", "bf16", "f16"),
    qtype=PER,
    axis=integer(1),
    group_shape=ints(),
)
def dynamic_quantize(operation: GraphOperation) -> Outputs:
    scale = _given(operation, 1)
    assert scale is not None
    return _quantized(
        operation,
        operation.add("Divide", operation.convert(operation.x, "f32"), scale),
        _given(operation, 2),
    )
