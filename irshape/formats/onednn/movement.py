"""Converts operations of oneDNN that move elements, and GenIndex."""

from __future__ import annotations

from ...faults import Violation
from ...rule_ids import ATTRIBUTE_VALUE
from ..nodes import refusal
from .declaration import FORMAT, GraphOperation, Outputs, flag, floats, integer, ints, kind, word


@kind("StaticReshape", 1, shape=ints(required=True), special_zero=flag(0))
def static_reshape(node: GraphOperation) -> Outputs:
    return node.reshaped(node.x, node["shape"], zero=bool(node["special_zero"]))


@kind("StaticTranspose", 1, order=ints(required=True))
def static_transpose(node: GraphOperation) -> Outputs:
    rank, order = node.rank(node.x), node["order"]
    if sorted(axis + rank if axis < 0 else axis for axis in order) != list(range(rank)):
        raise refusal("order", tuple(order), f"a permutation of 0 to {rank - 1}")
    return node.transposed(node.x, [axis % rank for axis in order])


@kind("Concat", (1, 1000), axis=integer(required=True))
def concat(node: GraphOperation) -> Outputs:
    return node.add("Concat", *node.inputs, axis=node.axis())


@kind("GenIndex", 1, axis=integer(required=True))
def gen_index(node: GraphOperation) -> Outputs:
    """Converts GenIndex: the index of each element along an axis."""
    x, axis, rank = node.x, node.axis(), node.rank(node.x)
    sizes = node.shape_of(x)
    line = node.counted(node.gathered(sizes, axis), "i32")
    return node.broadcast(node.along(line, axis, rank), sizes)


@kind(
    "Interpolate",
    (1, 2),
    mode=word(None, "nearest", "linear", "bilinear", "trilinear", required=True),
    sizes=ints(),
    scales=floats(),
    coordinate_transformation_mode=word("half_pixel", "half_pixel", "align_corners"),
    data_format=FORMAT,
)
def interpolate(node: GraphOperation) -> Outputs:
    """Converts Interpolate. Either `sizes` or `scales` must be given; the other is empty."""
    sizes, scales = node["sizes"], node["scales"]
    if bool(sizes) == bool(scales) or len(node.inputs) > 1:
        raise Violation(
            "Interpolate needs either the attribute `sizes` or `scales`, and a single input",
            at="sizes",
            rule=ATTRIBUTE_VALUE,
        )
    x = node.channels_second(node.x)
    axes = list(range(2, node.rank(x)))
    given = node.numbers(sizes) if sizes else node.numbers(scales, "f32")
    resized = node.add(
        "Interpolate",
        x,
        given,
        node.numbers(axes),
        version="opset11",
        mode="nearest"
        if node["mode"] == "nearest"
        else "linear_onnx"
        if len(axes) <= 3
        else "linear",
        shape_calculation_mode="sizes" if sizes else "scales",
        coordinate_transformation_mode=node["coordinate_transformation_mode"],
        nearest_mode="round_prefer_floor",
    )
    return node.channels_as_given(resized)
