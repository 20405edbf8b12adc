"""Converts element-wise operations of oneDNN."""

from __future__ import annotations

from ..builder import NodeOutput
from .declaration import (
    FORMAT,
    GraphOperation,
    Outputs,
    flag,
    integer,
    kind,
    number,
    word,
)

UNARY = ("Abs", "Exp", "HardSwish", "Log", "Mish", "ReLU", "Round", "Sigmoid", "Sqrt", "Tanh")
"""Operations with one input that OpenVINO also has; all but HardSwish have the same name."""

BINARY = (
    *("Add", "Divide", "GreaterEqual", "Maximum", "Minimum", "Multiply"),
    *("SquaredDifference", "Subtract"),
)
"""Operations with two inputs that OpenVINO also has, under the same name."""


def _unary(node: GraphOperation) -> Outputs:
    type = "HSwish" if node.kind == "HardSwish" else node.kind
    return node.as_declared(node.add(type, node.x))


for _name in UNARY:
    kind(_name, 1)(_unary)


def _binary(node: GraphOperation) -> Outputs:
    a, b = node.inputs
    result = node.add(node.kind, *same_type(node, a, b), auto_broadcast=node["auto_broadcast"])
    return node.as_declared(result)


def same_type(node: GraphOperation, a: NodeOutput, b: NodeOutput) -> tuple[NodeOutput, NodeOutput]:
    """Returns two floating-point values in one type: in f32 if their types differ. oneDNN allows
    different types."""
    if a.element_type is b.element_type or not (a.element_type.is_real and b.element_type.is_real):
        return a, b
    return node.convert(a, "f32"), node.convert(b, "f32")


for _name in BINARY:
    kind(_name, 2, auto_broadcast=word("numpy", "none", "numpy"))(_binary)


@kind("Select", 3, auto_broadcast=word("numpy", "none", "numpy"))
def select(node: GraphOperation) -> Outputs:
    condition, a, b = node.inputs
    return node.as_declared(
        node.add("Select", condition, *same_type(node, a, b), auto_broadcast=node["auto_broadcast"])
    )


@kind("TypeCast", 1)
@kind("Reorder", 1)
def type_cast(node: GraphOperation) -> Outputs:
    """Converts TypeCast and Reorder to a Convert to the output type. A Reorder changes the layout
    in memory, which does not change values."""
    return node.convert(node.x, node.output_type)


@kind("Elu", 1, alpha=number(required=True))
def elu(node: GraphOperation) -> Outputs:
    return node.add("Elu", node.x, alpha=node["alpha"])


@kind("LeakyReLU", 1, alpha=number(required=True))
def leaky_relu(node: GraphOperation) -> Outputs:
    return node.add("PReLU", node.x, node.numbers([node["alpha"]], node.x.element_type.name))


@kind("PReLU", 2, data_format=FORMAT, per_channel_broadcast=flag(1))
def prelu(node: GraphOperation) -> Outputs:
    """Converts PReLU. The slope is along the channels, or broadcasts as in NumPy."""
    x, slope = node.inputs
    rank = node.rank(x)
    if node["per_channel_broadcast"] and slope.rank == 1:
        slope = node.along(slope, node.channel_axis(rank), rank)
    zero = node.like(x, 0)
    x_, slope = same_type(node, x, slope)
    return node.as_declared(
        node.add("Select", node.add("Less", x, zero), node.add("Multiply", x_, slope), x_)
    )


@kind("GELU", 1, mode=word("gelu_erf", "gelu_erf", "gelu_tanh"))
def gelu(node: GraphOperation) -> Outputs:
    return node.add(
        "Gelu",
        node.x,
        version="opset7",
        approximation_mode="ERF" if node["mode"] == "gelu_erf" else "TANH",
    )


@kind("HardSigmoid", 1, alpha=number(required=True), beta=number(required=True))
def hard_sigmoid(node: GraphOperation) -> Outputs:
    x = node.x
    return node.add("HardSigmoid", x, node.like(x, node["alpha"]), node.like(x, node["beta"]))


@kind("Clamp", 1, min=number(required=True), max=number(required=True))
def clamp(node: GraphOperation) -> Outputs:
    x = node.x
    return node.clamped(x, node.like(x, node["min"]), node.like(x, node["max"]))


@kind("Reciprocal", 1)
def reciprocal(node: GraphOperation) -> Outputs:
    return node.add("Divide", node.like(node.x, 1), node.x)


@kind("Square", 1)
def square(node: GraphOperation) -> Outputs:
    return node.add("Multiply", node.x, node.x)


@kind("Pow", 1, beta=number(required=True))
def power(node: GraphOperation) -> Outputs:
    return node.add("Power", node.x, node.like(node.x, node["beta"]))


@kind("SoftPlus", 1, beta=number(1.0))
def soft_plus(node: GraphOperation) -> Outputs:
    beta = node.like(node.x, node["beta"])
    return node.add("Divide", node.add("SoftPlus", node.add("Multiply", node.x, beta)), beta)


@kind("BiasAdd", 2, data_format=FORMAT)
def bias_add(node: GraphOperation) -> Outputs:
    x, bias = node.inputs
    rank = node.rank(x)
    a, b = same_type(node, x, node.along(bias, node.channel_axis(rank), rank))
    return node.as_declared(node.add("Add", a, b))


def reduced(node: GraphOperation, type: str, value: NodeOutput, axis: int) -> NodeOutput:
    """Reduces a value along one axis. The result has size 1 along this axis."""
    return node.add(type, value, node.numbers([axis]), keep_dims=True)


@kind("SoftMax", 1, (1, 2), axis=integer(-1), mode=word("none", "none", "inf_as_zero"))
def softmax(node: GraphOperation) -> Outputs:
    """Converts SoftMax. The optional second output is the logarithm of the sum of exponentials.

    With `inf_as_zero`, rows that are entirely -inf become 0.
    """
    x, axis = node.x, node.axis()
    normalized = node.add("SoftMax", x, version="opset8", axis=axis)
    if node["mode"] == "inf_as_zero":
        lowest = node.add("Equal", reduced(node, "ReduceMax", x, axis), node.like(x, float("-inf")))
        normalized = node.add("Select", lowest, node.like(x, 0), normalized)
    normalized = node.as_declared(normalized)
    if len(node.outputs) < 2:
        return normalized
    wide = node.convert(x, "f32")
    greatest = node.add(
        "Maximum", reduced(node, "ReduceMax", wide, axis), node.numbers(-3.4e38, "f32")
    )
    total = reduced(node, "ReduceSum", node.add("Exp", node.add("Subtract", wide, greatest)), axis)
    return normalized, node.add("Add", node.add("Log", total), greatest)


@kind("LogSoftmax", 1, axis=integer(-1))
def log_softmax(node: GraphOperation) -> Outputs:
    return node.as_declared(node.add("LogSoftmax", node.x, axis=node.axis()))
