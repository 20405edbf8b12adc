"""Converts element-wise operators: arithmetic, comparison, logic, activations, type conversion."""

from __future__ import annotations

from ...element_types import ElementType
from ...faults import Violation
from ...rule_ids import (
    INPUT_ELEMENT_TYPE,
    INPUT_RANK,
    INPUT_SHAPES,
    OPERATION_CONSTRAINT,
)
from ..nodes import refusal
from .declaration import Node, NodeOutput, Outputs, operator
from .package import NAMES

SAME = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Cos", "Cosh"),
    *("Erf", "Exp", "Floor", "IsNaN", "Log", "Mish", "Round", "Sigmoid", "Sign", "Sin", "Sinh"),
    *("Sqrt", "Tan", "Tanh"),
)
OTHER_NAMES = {
    "Ceil": "Ceiling",
    "HardSwish": "HSwish",
    "Neg": "Negative",
    "Not": "LogicalNot",
    "Relu": "ReLU",
    "Softplus": "SoftPlus",
    "Softsign": "SoftSign",
    "Where": "Select",
}
"""Maps the operators that OpenVINO has under another name to this name."""

BINARY = {
    "Add": "Add",
    "Sub": "Subtract",
    "Mul": "Multiply",
    "And": "LogicalAnd",
    "Or": "LogicalOr",
    "Xor": "LogicalXor",
    "BitwiseAnd": "BitwiseAnd",
    "BitwiseOr": "BitwiseOr",
    "BitwiseXor": "BitwiseXor",
    "Equal": "Equal",
    "Greater": "Greater",
    "GreaterOrEqual": "GreaterEqual",
    "Less": "Less",
    "LessOrEqual": "LessEqual",
}
"""Maps operators with two broadcast inputs to the names of OpenVINO's operations."""


@operator("Identity")
def identity(node: Node) -> Outputs:
    return node.x


@operator(*SAME, *OTHER_NAMES)
def _plain(node: Node) -> Outputs:
    return node.add(OTHER_NAMES.get(node.kind, node.kind), *node.every_input)


def operands(node: Node) -> tuple[NodeOutput, NodeOutput]:
    """Returns the two inputs in shapes that broadcast as in NumPy.

    Before version 7, `axis` says to which axis of input 0 the first axis of input 1 belongs. Input
    1 then gets axes of size 1 at its end.
    """
    a, b = node.need(0), node.need(1)
    if node.version >= 7:
        return a, b
    if not node["broadcast"]:
        if not a.shape.compatible(b.shape):
            raise Violation(
                f"{node.kind} of version {node.version} takes inputs of equal shapes "
                f"unless `broadcast` is 1, got {a.shape} and {b.shape}",
                rule=INPUT_SHAPES,
                expected=a.shape,
                actual=b.shape,
            )
        return a, b
    if node["axis"] is None:
        return a, b
    rank, own = node.rank(a, "with its axis"), node.rank(b, "with its axis")
    axis = node.axis("axis", rank, negative_since=1)
    after = rank - axis - own
    if after < 0:
        raise Violation(
            f"input 1 of rank {own} has more axes than input 0 of rank {rank} from axis {axis} on",
            rule=INPUT_RANK,
            at="axis",
            actual=own,
        )
    return a, (
        node.add("Unsqueeze", b, node.numbers([own + index for index in range(after)]))
        if after
        else b
    )


@operator(*BINARY)
def _binary(node: Node) -> Outputs:
    return node.add(BINARY[node.kind], *operands(node))


@operator("Div")
def div(node: Node) -> Outputs:
    """Converts Div. ONNX rounds quotients of integers towards zero."""
    a, b = operands(node)
    if a.element_type.kind == "integer":
        return node.add("Divide", a, b, m_pythondiv=False)
    return node.add("Divide", a, b)


@operator("Pow")
def power(node: Node) -> Outputs:
    """Converts Pow. The result has the element type of the base."""
    a, b = operands(node)
    if a.element_type is b.element_type:
        return node.add("Power", a, b)
    if a.element_type.is_real or not b.element_type.is_real:
        return node.add("Power", a, node.convert(b, a.element_type))
    return node.convert(node.add("Power", node.convert(a, b.element_type), b), a.element_type)


@operator("Mod")
def mod(node: Node) -> Outputs:
    """Converts Mod. With `fmod`, the result has the sign of the dividend, otherwise the sign of the
    divisor."""
    a, b = node.need(0), node.need(1)
    if not node.flag("fmod"):
        if a.element_type.is_real and node.version < 28:
            raise refusal("fmod", 0, "1 for floating-point numbers")
        return node.add("FloorMod", a, b)
    return node.add("Mod", a, b)


@operator("BitShift")
def bit_shift(node: Node) -> Outputs:
    types = {"LEFT": "BitwiseLeftShift", "RIGHT": "BitwiseRightShift"}
    return node.add(node.choice("direction", types, ""), node.need(0), node.need(1))


@operator("IsInf")
def is_inf(node: Node) -> Outputs:
    return node.add(
        "IsInf",
        node.x,
        detect_negative=bool(node["detect_negative"]),
        detect_positive=bool(node["detect_positive"]),
    )


@operator("Reciprocal")
def reciprocal(node: Node) -> Outputs:
    return node.add("Divide", node.like(node.x, 1), node.x)


# types


@operator("Cast")
def cast(node: Node) -> Outputs:
    from .tensors import element_type

    to = node["to"]
    if isinstance(to, str):  # version 1 names the type
        named = NAMES.get(to.lower())
        return converted(node, ElementType.of(named) if named else element_type(0))
    return converted(node, element_type(to))


@operator("CastLike")
def cast_like(node: Node) -> Outputs:
    kind = node.need(1).element_type
    return (
        node.add("ConvertLike", node.x, node.need(1)) if kind.is_dynamic else converted(node, kind)
    )


def converted(node: Node, kind: ElementType) -> NodeOutput:
    x = node.x
    if "string" in (x.element_type.name, kind.name) and x.element_type is not kind:
        raise Violation(
            "OpenVINO cannot convert from or to strings",
            rule=INPUT_ELEMENT_TYPE,
            actual=f"{x.element_type} to {kind}",
        )
    greatest = SATURATED.get(kind.name)
    if (
        greatest is not None
        and node["saturate"] != 0
        and x.element_type.is_real
        and x.element_type.bits > kind.bits
    ):
        x = node.clamped(x, node.like(x, -greatest), node.like(x, greatest))
    return node.add("Convert", x, destination_type=kind)


SATURATED = {"f8e4m3": 448.0, "f8e5m2": 57344.0, "f4e2m1": 6.0}
"""The greatest finite number of each narrow type, to which ONNX by default limits values."""


# activations


@operator("LeakyRelu")
def leaky_relu(node: Node) -> Outputs:
    kind = node.x.element_type
    slope = node.numbers([node["alpha"]], "f32" if kind.is_dynamic else kind.name)
    return node.add("PReLU", node.x, slope)


@operator("PRelu")
def prelu(node: Node) -> Outputs:
    """Converts PRelu, whose slope broadcasts to the data as in NumPy.

    OpenVINO's PReLU puts a slope of rank 1 along the channels, so most slopes need several layers.
    """
    x, slope = node.need(0), node.need(1)
    if node.version < 7 or (slope.rank == 1 and slope.shape.static == (1,)):
        return node.add("PReLU", x, slope)
    zero = node.like(x, 0)
    return node.add("Select", node.add("Less", x, zero), node.add("Multiply", x, slope), x)


@operator("Elu")
def elu(node: Node) -> Outputs:
    return node.add("Elu", node.x, alpha=node["alpha"])


@operator("Selu")
def selu(node: Node) -> Outputs:
    return node.add("Selu", node.x, _one(node, node["alpha"]), _one(node, node["gamma"]))


def _one(node: Node, number: float) -> NodeOutput:
    """Returns a number as a tensor of one element, with the element type of the first input."""
    return (
        node.add("Unsqueeze", node.like(node.x, number), node.numbers([0]))
        if node.x.element_type.is_dynamic
        else node.numbers([number], node.x.element_type.name)
    )


@operator("HardSigmoid")
def hard_sigmoid(node: Node) -> Outputs:
    return node.add(
        "HardSigmoid", node.x, node.like(node.x, node["alpha"]), node.like(node.x, node["beta"])
    )


@operator("Gelu")
def gelu(node: Node) -> Outputs:
    mode = node.choice("approximate", {"none": "ERF", "tanh": "TANH"}, "none")
    return node.add("Gelu", node.x, version="opset7", approximation_mode=mode)


@operator("Swish")
def swish(node: Node) -> Outputs:
    return node.add("Swish", node.x, node.like(node.x, node["alpha"]))


@operator("Clip")
def clip(node: Node) -> Outputs:
    """Converts Clip. If the upper bound is less than the lower bound, the upper bound wins."""
    clipped = node.x
    if node.version < 11:
        kind = clipped.element_type
        least, most = _least(kind), -_least(kind)
        # version 1 has no defaults
        low = least if node["min"] is None else max(node["min"], least)
        high = most if node["max"] is None else min(node["max"], most)
        return node.clamped(clipped, node.numbers(low, kind.name), node.numbers(high, kind.name))
    lower, upper = node.input(1), node.input(2)
    if lower is not None:
        clipped = node.add("Maximum", clipped, lower)
    if upper is not None:
        clipped = node.add("Minimum", clipped, upper)
    return clipped


def _least(kind: ElementType) -> float:
    return {"f16": -65504.0, "f64": -1.7976931348623157e308}.get(kind.name, -3.4028234663852886e38)


@operator("Dropout")
def dropout(node: Node) -> Outputs:
    """Replaces Dropout by its input, since OpenVINO only runs inference. The mask is all ones."""
    training, ratio = node.input(2), node.input(1)
    trains = node.version >= 12 and training is not None and training.known != (0,)
    if trains and (ratio is None or ratio.tensor.value is None or any(ratio.tensor.value.upper)):
        raise Violation(
            "Dropout in training draws at random; OpenVINO runs inference only",
            rule=OPERATION_CONSTRAINT,
        )
    if not node.wants(1):
        return node.x
    kind = "boolean" if node.version >= 10 else node.x.element_type.name
    return node.x, node.broadcast(node.numbers(1, kind), node.shape_of(node.x))
