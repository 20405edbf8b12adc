"""Converts MatMul, convolutions and pooling of oneDNN."""

from __future__ import annotations

from typing import Any

from ...faults import Violation
from ...ops.conditions import at_least
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_SHAPES
from ..builder import NodeOutput
from ..nodes import END, check_length
from .declaration import (
    FORMAT,
    GraphOperation,
    Outputs,
    flag,
    integer,
    ints,
    kind,
    word,
)
from .elementwise import same_type

AUTO_PAD = {
    "None": "explicit",
    "NONE": "explicit",
    "VALID": "valid",
    "SAME_UPPER": "same_upper",
    "SAME_LOWER": "same_lower",
}


@kind(
    "MatMul",
    (2, 3),
    transpose_a=flag(0),
    transpose_b=flag(0),
    accumulation_mode=word("strict", "strict", "relaxed", "any", "f32", "s32", "f16"),
)
def matmul(node: GraphOperation) -> Outputs:
    """Converts MatMul. It runs in f32 if the inputs have different floating-point types, such as f8
    weights and f16 data."""
    a, b = same_type(node, node.inputs[0], node.inputs[1])
    product = node.add(
        "MatMul", a, b, transpose_a=bool(node["transpose_a"]), transpose_b=bool(node["transpose_b"])
    )
    if len(node.inputs) == 3:
        product = node.add("Add", *same_type(node, product, node.inputs[2]))
    return node.as_declared(product)


def window(node: GraphOperation, rank: int) -> dict[str, Any]:
    """Returns strides, pads and dilations for `rank` spatial axes.

    Raises `Violation` if a list has another length.
    """
    attributes: dict[str, Any] = {"auto_pad": AUTO_PAD[node["auto_pad"]]}
    for name in ("strides", "pads_begin", "pads_end", "dilations"):
        listed = node[name]
        if listed is None:
            listed = [1] * rank
        check_length(name, listed, rank)
        if name in ("strides", "dilations"):
            at_least(listed, 1, at=name, rule=ATTRIBUTE_VALUE)
        attributes[name] = listed
    return attributes


PLACES: dict[str, Any] = {
    "strides": ints(required=True),
    "pads_begin": ints(required=True),
    "pads_end": ints(required=True),
    "auto_pad": word("None", *AUTO_PAD),
    "data_format": FORMAT,
}
"""The attributes that determine the positions of the windows of a convolution or pooling."""

WINDOW: dict[str, Any] = {**PLACES, "dilations": ints(required=True), "groups": integer(1)}


def filters(node: GraphOperation, weights: NodeOutput, *, order: str) -> NodeOutput:
    """Transposes weights from `weights_format` to `order`, OIX or IOX. With several groups, the
    groups become a new first axis."""
    rank, groups = node.rank(weights), node["groups"]
    given = node["weights_format"]
    ordered = weights
    if given in ("XIO", "XOI"):
        # where I and O stand
        second, first = (rank - 2, rank - 1) if given == "XIO" else (rank - 1, rank - 2)
        ordered = node.transposed(ordered, [first, second, *range(rank - 2)])  # OIX
        given = "OIX"
    if groups == 1:
        return ordered if given == order else node.transposed(ordered, [1, 0, *range(2, rank)])
    sizes = ordered.shape.static
    if sizes is None or sizes[0] % groups:
        raise Violation(
            f"weights of shape {weights.shape} cannot be divided into {groups} groups",
            rule=INPUT_SHAPES,
            at="groups",
            actual=weights.shape,
        )
    ordered = node.reshaped(ordered, [groups, sizes[0] // groups, *sizes[1:]])
    return ordered if given == order else node.transposed(ordered, [0, 2, 1, *range(3, rank + 1)])


def biased(node: GraphOperation, value: NodeOutput) -> NodeOutput:
    if len(node.inputs) > 2:
        rank = node.rank(value)
        value = node.add("Add", *same_type(node, value, node.along(node.inputs[2], 1, rank)))
    return node.as_declared(node.channels_as_given(value))


@kind("Convolution", (2, 3), **WINDOW, weights_format=word("XIO", "XIO", "OIX"))
def convolution(node: GraphOperation) -> Outputs:
    x, weights = same_type(node, node.channels_second(node.x), node.inputs[1])
    attributes = window(node, node.rank(x) - 2)
    type = "Convolution" if node["groups"] == 1 else "GroupConvolution"
    return biased(node, node.add(type, x, filters(node, weights, order="OIX"), **attributes))


@kind(
    "ConvTranspose",
    (2, 3),
    **WINDOW,
    output_padding=ints(),
    weights_format=word("XOI", "XOI", "IOX"),
)
def conv_transpose(node: GraphOperation) -> Outputs:
    x, weights = same_type(node, node.channels_second(node.x), node.inputs[1])
    rank = node.rank(x) - 2
    attributes = window(node, rank)
    attributes["output_padding"] = (node["output_padding"] or [0] * rank)[:rank]
    type = "ConvolutionBackpropData" if node["groups"] == 1 else "GroupConvolutionBackpropData"
    return biased(node, node.add(type, x, filters(node, weights, order="IOX"), **attributes))


POOL: dict[str, Any] = {
    **PLACES,
    "kernel": ints(required=True),
    "rounding_type": word("floor", "floor", "ceil"),
}


def _pool(node: GraphOperation, rank: int) -> dict[str, Any]:
    kernel = node["kernel"]
    check_length("kernel", kernel, rank)
    return {**window(node, rank), "kernel": kernel, "rounding_type": node["rounding_type"]}


def _cropped(node: GraphOperation, x: NodeOutput, attributes: dict[str, Any]) -> NodeOutput:
    """Crops the data where a pad is negative, and sets this pad to 0: OpenVINO's pads are not
    negative."""
    for name in ("pads_begin", "pads_end"):
        for place, pad in enumerate(attributes[name]):
            if pad < 0:
                start, stop = (-pad, END) if name == "pads_begin" else (0, pad)
                x = node.sliced(x, start, stop, place + 2)
        attributes[name] = [max(pad, 0) for pad in attributes[name]]
    return x


@kind("MaxPool", 1, **POOL, dilations=ints())
def max_pool(node: GraphOperation) -> Outputs:
    x = node.channels_second(node.x)
    attributes = _pool(node, node.rank(x) - 2)
    return node.channels_as_given(
        node.add("MaxPool", _cropped(node, x, attributes), version="opset8", **attributes)
    )


@kind("AvgPool", 1, **POOL, exclude_pad=flag(), dilations=ints())
def avg_pool(node: GraphOperation) -> Outputs:
    x = node.channels_second(node.x)
    attributes = _pool(node, node.rank(x) - 2)
    attributes.pop("dilations")
    x = _cropped(node, x, attributes)
    return node.channels_as_given(
        node.add(
            "AvgPool", x, version="opset1", exclude_pad=bool(node["exclude_pad"]), **attributes
        )
    )
