"""Kinds that work element by element."""

from __future__ import annotations

from .declaration import (
    FORMAT,
    GraphOperation,
    NodeOutput,
    Outputs,
    flag,
    integer,
    kind,
    number,
    word,
)

UNARY = {
    "Abs": "Abs",
    "Exp": "Exp",
    "HardSwish": "HSwish",
    "Log": "Log",
    "Mish": "Mish",
    "ReLU": "ReLU",
    "Round": "Round",
    "Sigmoid": "Sigmoid",
    "Sqrt": "Sqrt",
    "Tanh": "Tanh",
}
"""Kinds with one input that OpenVINO has too."""

BINARY = {
    "Add": "Add",
    "Divide": "Divide",
    "GreaterEqual": "GreaterEqual",
    "Maximum": "Maximum",
    "Minimum": "Minimum",
    "Multiply": "Multiply",
    "SquaredDifference": "SquaredDifference",
    "Subtract": "Subtract",
}
"""Kinds with two inputs that OpenVINO has too."""


def _unary(operation: GraphOperation) -> Outputs:
    return operation.as_declared(operation.add(UNARY[operation.kind], operation.x))


for _name in UNARY:
    kind(_name, 1)(_unary)


def _binary(operation: GraphOperation) -> Outputs:
    a, b = operation.inputs
    result = operation.add(
        BINARY[operation.kind],
        *same_type(operation, a, b),
        auto_broadcast=operation["auto_broadcast"],
    )
    return operation.as_declared(result)


def same_type(
    operation: GraphOperation, a: NodeOutput, b: NodeOutput
) -> tuple[NodeOutput, NodeOutput]:
    """Converts two real values to one type: f32 if their types differ. oneDNN accepts mixed
    types."""
    if a.element_type is b.element_type or not (a.element_type.is_real and b.element_type.is_real):
        return a, b
    return operation.convert(a, "f32"), operation.convert(b, "f32")


for _name in BINARY:
    kind(_name, 2, auto_broadcast=word("numpy", "none", "numpy"))(_binary)


@kind("Select", 3, auto_broadcast=word("numpy", "none", "numpy"))
def select(operation: GraphOperation) -> Outputs:
    condition, a, b = operation.inputs
    return operation.as_declared(
        operation.add(
            "Select",
            condition,
            *same_type(operation, a, b),
            auto_broadcast=operation["auto_broadcast"],
        )
    )


@kind("TypeCast", 1)
@kind("Reorder", 1)
def type_cast(operation: GraphOperation) -> Outputs:
    """Converts to the declared type of the output.

    A reorder changes the layout too, on which no value depends.
    """
    converted = operation.convert(operation.x, operation.output_type)
    return converted if converted is not operation.x else operation.add("Identity", converted)


@kind("Elu", 1, alpha=number(required=True))
def elu(operation: GraphOperation) -> Outputs:
    return operation.add("Elu", operation.x, alpha=operation["alpha"])


@kind("LeakyReLU", 1, alpha=number(required=True))
def leaky_relu(operation: GraphOperation) -> Outputs:
    return operation.add(
        "PReLU", operation.x, operation.numbers([operation["alpha"]], operation.x.element_type.name)
    )


@kind("PReLU", 2, data_format=FORMAT, per_channel_broadcast=flag(1))
def prelu(operation: GraphOperation) -> Outputs:
    """Converts PReLU, whose slope lies along the channels or broadcasts as in NumPy."""
    x, slope = operation.inputs
    rank = operation.rank(x)
    if operation["per_channel_broadcast"] and slope.rank == 1:
        channel = rank - 1 if operation["data_format"] == "NXC" else 1
        slope = operation.reshaped(slope, [-1 if axis == channel else 1 for axis in range(rank)])
    zero = operation.like(x, 0)
    x_, slope = same_type(operation, x, slope)
    return operation.as_declared(
        operation.add(
            "Select", operation.add("Less", x, zero), operation.add("Multiply", x_, slope), x_
        )
    )


@kind("GELU", 1, mode=word("gelu_erf", "gelu_erf", "gelu_tanh"))
def gelu(operation: GraphOperation) -> Outputs:
    return operation.add(
        "Gelu",
        operation.x,
        version="opset7",
        approximation_mode="ERF" if operation["mode"] == "gelu_erf" else "TANH",
    )


@kind("HardSigmoid", 1, alpha=number(required=True), beta=number(required=True))
def hard_sigmoid(operation: GraphOperation) -> Outputs:
    x = operation.x
    return operation.add(
        "HardSigmoid",
        x,
        operation.like(x, operation["alpha"]),
        operation.like(x, operation["beta"]),
    )


@kind("Clamp", 1, min=number(required=True), max=number(required=True))
def clamp(operation: GraphOperation) -> Outputs:
    x = operation.x
    return operation.add(
        "Minimum",
        operation.add("Maximum", x, operation.like(x, operation["min"])),
        operation.like(x, operation["max"]),
    )


@kind("Reciprocal", 1)
def reciprocal(operation: GraphOperation) -> Outputs:
    return operation.add("Divide", operation.like(operation.x, 1), operation.x)


@kind("Square", 1)
def square(operation: GraphOperation) -> Outputs:
    return operation.add("Multiply", operation.x, operation.x)


@kind("Pow", 1, beta=number(required=True))
def power(operation: GraphOperation) -> Outputs:
    return operation.add("Power", operation.x, operation.like(operation.x, operation["beta"]))


@kind("SoftPlus", 1, beta=number(1.0))
def soft_plus(operation: GraphOperation) -> Outputs:
    beta = operation.like(operation.x, operation["beta"])
    return operation.add(
        "Divide", operation.add("SoftPlus", operation.add("Multiply", operation.x, beta)), beta
    )


@kind("BiasAdd", 2, data_format=FORMAT)
def bias_add(operation: GraphOperation) -> Outputs:
    x, bias = operation.inputs
    rank = operation.rank(x)
    channel = rank - 1 if operation["data_format"] == "NXC" else 1
    a, b = same_type(
        operation,
        x,
        operation.reshaped(bias, [-1 if axis == channel else 1 for axis in range(rank)]),
    )
    return operation.as_declared(operation.add("Add", a, b))


def reduced(operation: GraphOperation, type: str, value: NodeOutput, axis: int) -> NodeOutput:
    """Reduces a value over one axis, which keeps size 1."""
    return operation.add(type, value, operation.numbers([axis]), keep_dims=True)


@kind("SoftMax", 1, (1, 2), axis=integer(-1), mode=word("none", "none", "inf_as_zero"))
def softmax(operation: GraphOperation) -> Outputs:
    """SoftMax. The optional second output is the logarithm of the sum of exponentials.

    With inf_as_zero, rows that are -inf throughout become 0.
    """
    x, axis = operation.x, operation.axis()
    normalized = operation.add("SoftMax", x, version="opset8", axis=axis)
    if operation["mode"] == "inf_as_zero":
        lowest = operation.add(
            "Equal", reduced(operation, "ReduceMax", x, axis), operation.like(x, float("-inf"))
        )
        normalized = operation.add("Select", lowest, operation.like(x, 0), normalized)
    normalized = operation.as_declared(normalized)
    if len(operation.outputs) < 2:
        return normalized
    wide = operation.convert(x, "f32")
    greatest = operation.add(
        "Maximum", reduced(operation, "ReduceMax", wide, axis), operation.numbers(-3.4e38, "f32")
    )
    total = reduced(
        operation,
        "ReduceSum",
        operation.add("Exp", operation.add("Subtract", wide, greatest)),
        axis,
    )
    return normalized, operation.add("Add", operation.add("Log", total), greatest)


@kind("LogSoftmax", 1, axis=integer(-1))
def log_softmax(operation: GraphOperation) -> Outputs:
    return operation.as_declared(operation.add("LogSoftmax", operation.x, axis=operation.axis()))
