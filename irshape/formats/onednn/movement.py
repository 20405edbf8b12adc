"""Kinds that move elements or number them."""

from __future__ import annotations

from ...element_types import ElementType
from ...faults import Violation
from ...rule_ids import ATTRIBUTE_VALUE
from ..nodes import refusal
from .declaration import FORMAT, GraphOperation, Outputs, flag, floats, integer, ints, kind, word


@kind("StaticReshape", 1, shape=ints(required=True), special_zero=flag(0))
def static_reshape(operation: GraphOperation) -> Outputs:
    shape = operation["shape"]
    return operation.add(
        "Reshape",
        operation.x,
        operation.numbers(shape, shape=(len(shape),)),
        special_zero=bool(operation["special_zero"]),
    )


@kind("StaticTranspose", 1, order=ints(required=True))
def static_transpose(operation: GraphOperation) -> Outputs:
    rank, order = operation.rank(operation.x), operation["order"]
    if sorted(axis + rank if axis < 0 else axis for axis in order) != list(range(rank)):
        raise refusal("order", tuple(order), f"a permutation of {rank} axes")
    return operation.transposed(operation.x, [axis % rank for axis in order])


@kind("Concat", (1, 1000), axis=integer(required=True))
def concat(operation: GraphOperation) -> Outputs:
    return operation.add("Concat", *operation.inputs, axis=operation.axis())


@kind("GenIndex", 1, axis=integer(required=True))
def gen_index(operation: GraphOperation) -> Outputs:
    """Gives each element its position along an axis."""
    x, axis, rank = operation.x, operation.axis(), operation.rank(operation.x)
    i32 = ElementType.of("i32")
    sizes = operation.add("ShapeOf", x, version="opset3", output_type=ElementType.of("i64"))
    size = operation.add(
        "Gather", sizes, operation.numbers(axis), operation.numbers(0), version="opset8"
    )
    line = operation.add(
        "Range", operation.numbers(0), size, operation.numbers(1), version="opset4", output_type=i32
    )
    return operation.add(
        "Broadcast",
        operation.reshaped(line, [-1 if index == axis else 1 for index in range(rank)]),
        sizes,
        version="opset3",
        mode="numpy",
    )


@kind(
    "Interpolate",
    (1, 2),
    mode=word(None, "nearest", "linear", "bilinear", "trilinear", required=True),
    sizes=ints(),
    scales=floats(),
    coordinate_transformation_mode=word("half_pixel", "half_pixel", "align_corners"),
    data_format=FORMAT,
)
def interpolate(operation: GraphOperation) -> Outputs:
    """Requires exactly one of sizes and scales. The other may be present but empty."""
    sizes, scales = operation["sizes"], operation["scales"]
    if bool(sizes) == bool(scales) or len(operation.inputs) > 1:
        raise Violation(
            "exactly one of `sizes` and `scales` is given", at="sizes", rule=ATTRIBUTE_VALUE
        )
    x = operation.channels_second(operation.x)
    axes = list(range(2, operation.rank(x)))
    given = operation.numbers(sizes) if sizes else operation.numbers(scales, "f32")
    resized = operation.add(
        "Interpolate",
        x,
        given,
        operation.numbers(axes),
        version="opset11",
        mode="nearest"
        if operation["mode"] == "nearest"
        else "linear_onnx"
        if len(axes) <= 3
        else "linear",
        shape_calculation_mode="sizes" if sizes else "scales",
        coordinate_transformation_mode=operation["coordinate_transformation_mode"],
        nearest_mode="round_prefer_floor",
    )
    return operation.channels_as_given(resized)
