"""Converts quantization, dequantization, and products of quantized tensors."""

from __future__ import annotations

from ...element_types import ElementType
from ...faults import Violation
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_ELEMENT_TYPE, INPUT_SHAPES
from ...spelling import with_noun
from ..nodes import unknown
from .declaration import Node, NodeOutput, Outputs, operator
from .elementwise import SATURATED
from .matrix import _window, biased, convolved
from .tensors import element_type

MAX_BLOCKED = 1 << 20
"""The maximum size of an axis quantized in blocks. A constant with as many elements is added."""
WHOLE = ("u8", "i8", "u16", "i16", "u4", "i4", "u2")
"""The integer types to which QuantizeLinear quantizes."""


def _lying(node: Node, value: NodeOutput | None, x: NodeOutput) -> NodeOutput | None:
    """Returns scales or zero points in f32, reshaped to broadcast to the data. There is one number
    for the whole tensor, one for each index of an axis, or one for each block of an axis."""
    if value is None:
        return None
    value = node.convert(value, "f32")
    block = node["block_size"] or 0
    if not block and (value.rank == 0 or value.shape.static == (1,)):
        return value
    rank = node.rank(x, "with one scale for each index of an axis")
    axis = node.axis("axis", rank, negative_since=10)
    if not block:
        return node.along(value, axis, rank)
    size = x.shape.dims[axis] if x.shape.dims is not None else None
    if size is None or not size.is_static:
        condition = f"the size of axis {axis} is"
        raise unknown(f"{node.kind} with blocks", condition, INPUT_SHAPES, "block_size")
    if block < 0 or size.low > MAX_BLOCKED:
        raise Violation(
            f"irshape cannot read {node.kind} with block_size {block} along "
            f"{with_noun(size, 'element')}",
            rule=ATTRIBUTE_VALUE,
            at="block_size",
            expected=f"at most {MAX_BLOCKED} elements",
        )
    if value.shape.static is not None and value.shape.static[axis] != -(-size.low // block):
        wanted = -(-size.low // block)
        message = (
            f"axis {axis} of size {size} has {wanted} blocks of size {block}, but the scales or "
            f"zero points have shape {value.shape}"
        )
        raise Violation(
            message, rule=INPUT_SHAPES, at="block_size", expected=wanted, actual=value.shape
        )
    return node.gathered(value, [index // block for index in range(size.low)], axis)


@operator("DequantizeLinear")
def dequantize(node: Node) -> Outputs:
    x, scale = node.x, node.need(1)
    kind = element_type(node["output_dtype"]) if node["output_dtype"] else scale.element_type
    real = node.convert(x, "f32")
    zero = _lying(node, node.input(2), x)
    if zero is not None:
        real = node.add("Subtract", real, zero)
    lying = _lying(node, scale, x)
    assert lying is not None
    return node.convert(node.add("Multiply", real, lying), kind)


@operator("QuantizeLinear")
def quantize(node: Node) -> Outputs:
    """Converts QuantizeLinear: rounds halves to even, then clamps to the range of the type."""
    x, scale = node.x, _lying(node, node.need(1), node.x)
    zero = node.input(2)
    given = node["output_dtype"]
    kind = (
        element_type(given)
        if given
        else zero.element_type
        if zero is not None
        else ElementType.of("u8")
    )
    assert scale is not None
    return quantized(
        node, node.add("Divide", node.convert(x, "f32"), scale), _lying(node, zero, x), kind
    )


def quantized(
    node: Node, scaled: NodeOutput, zero: NodeOutput | None, kind: ElementType
) -> NodeOutput:
    if kind.name in WHOLE:
        return node.quantized(scaled, zero, kind.limits, kind)
    greatest = SATURATED.get(kind.name)
    if greatest is None:
        raise Violation(
            f"{node.kind} does not produce {kind}", rule=INPUT_ELEMENT_TYPE, actual=kind
        )
    level = scaled if zero is None else node.add("Add", scaled, zero)
    if node["saturate"] != 0:
        limits = node.numbers(-greatest, "f32"), node.numbers(greatest, "f32")
        level = node.clamped(level, *limits)
    return node.convert(level, kind)


def _real(
    node: Node, value: NodeOutput, scale: NodeOutput, zero: NodeOutput, *, channel: int, rank: int
) -> NodeOutput:
    """Returns dequantized values. There is one scale, or one for each index of axis `channel`."""

    def lying(part: NodeOutput) -> NodeOutput:
        part = node.convert(part, "f32")
        return (
            part
            if part.rank == 0 or part.shape.static == (1,) or part.rank == rank
            else node.along(part, channel, rank)
        )

    return node.add(
        "Multiply", node.add("Subtract", node.convert(value, "f32"), lying(zero)), lying(scale)
    )


def _requantized(
    node: Node, product: NodeOutput, scale: NodeOutput, zero: NodeOutput
) -> NodeOutput:
    scaled = node.add("Divide", product, node.convert(scale, "f32"))
    return quantized(node, scaled, node.convert(zero, "f32"), zero.element_type)


@operator("QLinearMatMul")
def qlinear_matmul(node: Node) -> Outputs:
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = (node.need(index) for index in range(8))
    ranks = node.rank(a, "with its scales"), node.rank(b, "with its scales")
    left = _real(node, a, a_scale, a_zero, channel=max(ranks[0] - 2, 0), rank=ranks[0])
    right = _real(node, b, b_scale, b_zero, channel=ranks[1] - 1, rank=ranks[1])
    product = node.add("MatMul", left, right, transpose_a=False, transpose_b=False)
    return _requantized(node, product, scale, zero)


@operator("QLinearConv")
def qlinear_conv(node: Node) -> Outputs:
    x, x_scale, x_zero, w, w_scale, w_zero, scale, zero = (node.need(index) for index in range(8))
    window = _window(node, x, w)
    rank = len(window["strides"]) + 2
    data = _real(node, x, x_scale, x_zero, channel=1, rank=rank)
    weights = _real(node, w, w_scale, w_zero, channel=0, rank=rank)
    product, bias = convolved(node, data, weights, window), node.input(8)
    if bias is not None:  # of i32, in units of the two scales
        unit = node.add("Multiply", node.convert(x_scale, "f32"), node.convert(w_scale, "f32"))
        real = node.add("Multiply", node.convert(bias, "f32"), unit)
        product = biased(node, product, real, rank)
    return _requantized(node, product, scale, zero)
