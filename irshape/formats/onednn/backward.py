"""Converts gradients that are short in OpenVINO's operations. Other gradients stay opaque."""

from __future__ import annotations

from .declaration import FORMAT, GraphOperation, NodeOutput, Outputs, flag, integer, kind, number
from .elementwise import reduced


def _where(operation: GraphOperation, condition: NodeOutput, gradient: NodeOutput) -> NodeOutput:
    return operation.add("Select", condition, gradient, operation.like(gradient, 0))


@kind("ReLUBackward", 2, use_dst=flag(1))
def relu_backward(operation: GraphOperation) -> Outputs:
    x, gradient = operation.inputs
    return _where(operation, operation.add("Greater", x, operation.like(x, 0)), gradient)


@kind("AbsBackward", 2)
def abs_backward(operation: GraphOperation) -> Outputs:
    return operation.add("Multiply", operation.inputs[1], operation.add("Sign", operation.x))


@kind("ClampBackward", 2, min=number(required=True), max=number(required=True), use_dst=flag(1))
def clamp_backward(operation: GraphOperation) -> Outputs:
    x, gradient = operation.inputs
    above, below = (
        operation.add("Greater", x, operation.like(x, operation["min"])),
        operation.add("Less", x, operation.like(x, operation["max"])),
    )
    return _where(operation, operation.add("LogicalAnd", above, below), gradient)


@kind("EluBackward", 2, alpha=number(required=True), use_dst=flag(1))
def elu_backward(operation: GraphOperation) -> Outputs:
    x, gradient = operation.inputs
    alpha = operation.like(x, operation["alpha"])
    slope = (
        operation.add("Add", x, alpha)
        if operation["use_dst"]
        else operation.add("Multiply", operation.add("Exp", x), alpha)
    )
    return operation.add(
        "Multiply",
        gradient,
        operation.add(
            "Select", operation.add("Greater", x, operation.like(x, 0)), operation.like(x, 1), slope
        ),
    )


@kind("HardSigmoidBackward", 2, alpha=number(required=True), beta=number(required=True))
def hard_sigmoid_backward(operation: GraphOperation) -> Outputs:
    x, gradient = operation.inputs
    alpha = operation.like(x, operation["alpha"])
    line = operation.add(
        "Add", operation.add("Multiply", x, alpha), operation.like(x, operation["beta"])
    )
    inside = operation.add(
        "LogicalAnd",
        operation.add("Greater", line, operation.like(x, 0)),
        operation.add("Less", line, operation.like(x, 1)),
    )
    return _where(operation, inside, operation.add("Multiply", gradient, alpha))


@kind("SoftPlusBackward", 2, beta=number(1.0))
def soft_plus_backward(operation: GraphOperation) -> Outputs:
    x, gradient = operation.inputs
    return operation.add(
        "Multiply",
        gradient,
        operation.add(
            "Sigmoid", operation.add("Multiply", x, operation.like(x, operation["beta"]))
        ),
    )


@kind("SigmoidBackward", 2, use_dst=flag(1))
def sigmoid_backward(operation: GraphOperation) -> Outputs:
    y, gradient = operation.inputs
    y = y if operation["use_dst"] else operation.add("Sigmoid", y)
    return operation.add(
        "Multiply",
        gradient,
        operation.add("Multiply", y, operation.add("Subtract", operation.like(y, 1), y)),
    )


@kind("TanhBackward", 2, use_dst=flag(1))
def tanh_backward(operation: GraphOperation) -> Outputs:
    y, gradient = operation.inputs
    y = y if operation["use_dst"] else operation.add("Tanh", y)
    return operation.add(
        "Multiply",
        gradient,
        operation.add("Subtract", operation.like(y, 1), operation.add("Multiply", y, y)),
    )


@kind("SoftMaxBackward", 2, axis=integer(-1))
def softmax_backward(operation: GraphOperation) -> Outputs:
    gradient, y = operation.inputs
    total = reduced(
        operation, "ReduceSum", operation.add("Multiply", gradient, y), operation.axis()
    )
    return operation.add("Multiply", operation.add("Subtract", gradient, total), y)


@kind("LogSoftmaxBackward", 2, axis=integer(-1))
def log_softmax_backward(operation: GraphOperation) -> Outputs:
    gradient, y = operation.inputs
    total = reduced(operation, "ReduceSum", gradient, operation.axis())
    return operation.add(
        "Subtract", gradient, operation.add("Multiply", operation.add("Exp", y), total)
    )


@kind("BiasAddBackprop", 1, data_format=FORMAT)
def bias_add_backprop(operation: GraphOperation) -> Outputs:
    """Sums over all axes except that of the channels."""
    rank = operation.rank(operation.x)
    channel = rank - 1 if operation["data_format"] == "NXC" else 1
    return operation.add(
        "ReduceSum",
        operation.x,
        operation.numbers([axis for axis in range(rank) if axis != channel]),
        keep_dims=False,
    )
