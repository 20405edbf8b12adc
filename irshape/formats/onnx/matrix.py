"""Converts matrix products and convolutions."""

from __future__ import annotations

from typing import Any

from ...faults import Violation
from ...ops.conditions import at_least
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_RANK, INPUT_SHAPES
from ..nodes import END, check_length, refusal, unknown
from .declaration import Node, NodeOutput, Outputs, operator


@operator("MatMul")
def matmul(node: Node) -> Outputs:
    return node.add("MatMul", node.need(0), node.need(1), transpose_a=False, transpose_b=False)


@operator("Gemm")
def gemm(node: Node) -> Outputs:
    """Converts Gemm: alpha * A * B + beta * C."""
    product = node.add(
        "MatMul",
        node.of_rank(2, 0),
        node.of_rank(2, 1),
        transpose_a=bool(node["transA"]),
        transpose_b=bool(node["transB"]),
    )
    if node["alpha"] != 1:
        product = _scaled(node, product, node["alpha"])
    c = node.input(2)
    if c is None:
        return product
    if node["beta"] != 1:
        c = _scaled(node, c, node["beta"])
    return node.add("Add", product, c)


def _scaled(node: Node, value: NodeOutput, factor: float) -> NodeOutput:
    kind = value.element_type
    if kind.is_dynamic or kind.is_real:
        return node.add("Multiply", value, node.like(value, factor))
    return node.convert(
        node.add("Multiply", node.convert(value, "f64"), node.numbers(factor, "f64")), kind
    )


@operator("Einsum")
def einsum(node: Node) -> Outputs:
    return node.add("Einsum", *node.every_input, equation=node["equation"].replace(" ", ""))


@operator("MatMulInteger")
def matmul_integer(node: Node) -> Outputs:
    a, b = (
        _without_zero_point(node, node.need(index), node.input(index + 2), row=index == 0)
        for index in (0, 1)
    )
    return node.add("MatMul", a, b, transpose_a=False, transpose_b=False)


def _without_zero_point(
    node: Node, value: NodeOutput, zero: NodeOutput | None, *, row: bool
) -> NodeOutput:
    """Converts a matrix to i32, and subtracts the zero points.

    `zero` has one zero point for the matrix, or one for each column or, with `row`, for each row.
    """
    centred = node.convert(value, "i32")
    if zero is None:
        return centred
    zero = node.convert(zero, "i32")
    if row and zero.rank == 1 and zero.shape.static != (1,):
        zero = node.add("Unsqueeze", zero, node.numbers([1]))
    return node.add("Subtract", centred, zero)


# convolutions

AUTO_PAD = {
    "NOTSET": "explicit",
    "VALID": "valid",
    "SAME_UPPER": "same_upper",
    "SAME_LOWER": "same_lower",
}


def spatial(node: Node, rank: int) -> dict[str, Any]:
    """Returns strides, pads and dilations for `rank` spatial axes.

    Raises `Violation` if a list has another length.
    """
    attributes: dict[str, Any] = {"auto_pad": node.choice("auto_pad", AUTO_PAD, "NOTSET")}
    for name in ("strides", "dilations"):
        listed = node[name] or [1] * rank
        check_length(name, listed, rank)
        at_least(listed, 1, at=name, rule=ATTRIBUTE_VALUE)
        attributes[name] = listed
    pads = node["pads"] or [0] * (2 * rank)
    check_length("pads", pads, 2 * rank)
    attributes["pads_begin"], attributes["pads_end"] = pads[:rank], pads[rank:]
    return attributes


def _window(node: Node, x: NodeOutput, w: NodeOutput) -> dict[str, Any]:
    rank = w.rank if w.rank is not None else node.rank(x, "with its window")
    if rank < 3 or x.rank not in (rank, None):
        raise Violation(
            f"a convolution of data {x.shape} with the filter {w.shape} is not possible",
            rule=INPUT_RANK,
            expected="equal ranks from 3 up",
            actual=x.shape,
        )
    kernel = node["kernel_shape"]
    if (
        kernel is not None
        and w.shape.dims is not None
        and not all(dim.contains(size) for dim, size in zip(w.shape.dims[2:], kernel, strict=False))
    ):
        raise refusal("kernel_shape", tuple(kernel), f"the size of the filter {w.shape}")
    return spatial(node, rank - 2)


def convolved(node: Node, x: NodeOutput, w: NodeOutput, window: dict[str, Any]) -> NodeOutput:
    """Returns the convolution of data with a filter, in as many groups as the node has."""
    groups = node["group"]
    if groups < 1:
        raise refusal("group", groups, "1 or more")
    if groups == 1:
        return node.add("Convolution", x, w, **window)
    return node.add("GroupConvolution", x, grouped(node, w, groups), **window)


def grouped(node: Node, w: NodeOutput, groups: int) -> NodeOutput:
    """Reshapes a filter so that the groups are its first axis."""
    first = w.shape.dims[0] if w.shape.dims is not None else None
    if first is not None and first.is_static and first.low % groups:
        raise refusal("group", groups, f"a divisor of {first}, the channels of the filter")
    static = w.shape.static
    if static is not None:
        return node.reshaped(w, [groups, static[0] // groups, *static[1:]])
    tail = node.sliced(node.shape_of(w), 1, END)
    return node.reshaped(w, node.add("Concat", node.numbers([groups, -1]), tail, axis=0))


def biased(node: Node, value: NodeOutput, bias: NodeOutput | None, rank: int) -> NodeOutput:
    """Adds the bias: one number for each channel."""
    if bias is None:
        return value
    return node.add("Add", value, node.along(bias, 1, rank))


@operator("Conv")
def conv(node: Node) -> Outputs:
    x, w = node.need(0), node.need(1)
    window = _window(node, x, w)
    product = convolved(node, x, w, window)
    return biased(node, product, node.input(2), len(window["strides"]) + 2)


@operator("ConvInteger")
def conv_integer(node: Node) -> Outputs:
    """Converts ConvInteger. Computes in f32, which represents sums up to 16,777,216 exactly."""
    x, w = node.need(0), node.need(1)
    window = _window(node, x, w)
    x = node.convert(_without_zero_point(node, x, node.input(2), row=False), "f32")
    zero = node.input(3)
    if zero is not None and zero.rank == 1:
        zero = node.reshaped(zero, [-1, *([1] * (len(window["strides"]) + 1))])
    w = node.convert(_without_zero_point(node, w, zero, row=False), "f32")
    return node.convert(convolved(node, x, w, window), "i32")


def _sized(node: Node, window: dict[str, Any], x: NodeOutput, w: NodeOutput, rank: int) -> None:
    """Changes the pads in `window`, and if needed the output padding, for the requested output
    size: `output_shape` or, if absent, the input size times the strides."""
    sizes, kernel = (
        value.shape.dims[2:] if value.shape.dims is not None else () for value in (x, w)
    )
    if not sizes or not all(dim.is_static for dim in (*sizes, *kernel)):
        condition = "the spatial sizes of its input and filter are"
        form = "ConvTranspose with output_shape or auto_pad"
        raise unknown(form, condition, INPUT_SHAPES, "auto_pad")
    wanted = (
        node["output_shape"][-rank:]
        if node["output_shape"]
        else [dim.low * stride for dim, stride in zip(sizes, window["strides"], strict=True)]
    )
    upper = window["auto_pad"] == "same_upper"
    window["auto_pad"], window["pads_begin"], window["pads_end"] = (
        "explicit",
        [0] * rank,
        [0] * rank,
    )
    for i in range(rank):
        full = (
            window["strides"][i] * (sizes[i].low - 1)
            + window["output_padding"][i]
            + (kernel[i].low - 1) * window["dilations"][i]
            + 1
        )
        total = full - wanted[i]
        if total < 0:
            window["output_padding"][i] -= total
            total = 0
        window["pads_begin"][i] = total // 2 if upper else total - total // 2
        window["pads_end"][i] = total - window["pads_begin"][i]


@operator("ConvTranspose")
def conv_transpose(node: Node) -> Outputs:
    x, w = node.need(0), node.need(1)
    window = _window(node, x, w)
    rank = len(window["strides"])
    window["output_padding"] = node["output_padding"] or [0] * rank
    groups = node["group"]
    inputs = [x, w if groups == 1 else grouped(node, w, groups)]
    if node["output_shape"] or str(window["auto_pad"]).startswith("same"):
        _sized(node, window, x, w, rank)
    type = "ConvolutionBackpropData" if groups == 1 else "GroupConvolutionBackpropData"
    return biased(node, node.add(type, *inputs, **window), node.input(2), rank + 2)
