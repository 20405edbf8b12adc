"""Converts the gradients of oneDNN that need only a few OpenVINO operations, and no others."""

from __future__ import annotations

from ..builder import NodeOutput
from .declaration import FORMAT, GraphOperation, Outputs, flag, integer, kind, number
from .elementwise import reduced


def _where(node: GraphOperation, condition: NodeOutput, gradient: NodeOutput) -> NodeOutput:
    return node.add("Select", condition, gradient, node.like(gradient, 0))


@kind("ReLUBackward", 2, use_dst=flag(1))
def relu_backward(node: GraphOperation) -> Outputs:
    x, gradient = node.inputs
    return _where(node, node.add("Greater", x, node.like(x, 0)), gradient)


@kind("AbsBackward", 2)
def abs_backward(node: GraphOperation) -> Outputs:
    return node.add("Multiply", node.inputs[1], node.add("Sign", node.x))


@kind("ClampBackward", 2, min=number(required=True), max=number(required=True), use_dst=flag(1))
def clamp_backward(node: GraphOperation) -> Outputs:
    x, gradient = node.inputs
    above, below = (
        node.add("Greater", x, node.like(x, node["min"])),
        node.add("Less", x, node.like(x, node["max"])),
    )
    return _where(node, node.add("LogicalAnd", above, below), gradient)


@kind("EluBackward", 2, alpha=number(required=True), use_dst=flag(1))
def elu_backward(node: GraphOperation) -> Outputs:
    x, gradient = node.inputs
    alpha = node.like(x, node["alpha"])
    slope = (
        node.add("Add", x, alpha)
        if node["use_dst"]
        else node.add("Multiply", node.add("Exp", x), alpha)
    )
    return node.add(
        "Multiply",
        gradient,
        node.add("Select", node.add("Greater", x, node.like(x, 0)), node.like(x, 1), slope),
    )


@kind("HardSigmoidBackward", 2, alpha=number(required=True), beta=number(required=True))
def hard_sigmoid_backward(node: GraphOperation) -> Outputs:
    x, gradient = node.inputs
    alpha = node.like(x, node["alpha"])
    line = node.add("Add", node.add("Multiply", x, alpha), node.like(x, node["beta"]))
    inside = node.add(
        "LogicalAnd",
        node.add("Greater", line, node.like(x, 0)),
        node.add("Less", line, node.like(x, 1)),
    )
    return _where(node, inside, node.add("Multiply", gradient, alpha))


@kind("SoftPlusBackward", 2, beta=number(1.0))
def soft_plus_backward(node: GraphOperation) -> Outputs:
    x, gradient = node.inputs
    return node.add(
        "Multiply",
        gradient,
        node.add("Sigmoid", node.add("Multiply", x, node.like(x, node["beta"]))),
    )


@kind("SigmoidBackward", 2, use_dst=flag(1))
def sigmoid_backward(node: GraphOperation) -> Outputs:
    y, gradient = node.inputs
    y = y if node["use_dst"] else node.add("Sigmoid", y)
    return node.add(
        "Multiply", gradient, node.add("Multiply", y, node.add("Subtract", node.like(y, 1), y))
    )


@kind("TanhBackward", 2, use_dst=flag(1))
def tanh_backward(node: GraphOperation) -> Outputs:
    y, gradient = node.inputs
    y = y if node["use_dst"] else node.add("Tanh", y)
    return node.add(
        "Multiply", gradient, node.add("Subtract", node.like(y, 1), node.add("Multiply", y, y))
    )


@kind("SoftMaxBackward", 2, axis=integer(-1))
def softmax_backward(node: GraphOperation) -> Outputs:
    gradient, y = node.inputs
    total = reduced(node, "ReduceSum", node.add("Multiply", gradient, y), node.axis())
    return node.add("Multiply", node.add("Subtract", gradient, total), y)


@kind("LogSoftmaxBackward", 2, axis=integer(-1))
def log_softmax_backward(node: GraphOperation) -> Outputs:
    gradient, y = node.inputs
    total = reduced(node, "ReduceSum", gradient, node.axis())
    return node.add("Subtract", gradient, node.add("Multiply", node.add("Exp", y), total))


@kind("BiasAddBackprop", 1, data_format=FORMAT)
def bias_add_backprop(node: GraphOperation) -> Outputs:
    """Converts BiasAddBackprop: sums over all axes except the channels."""
    rank = node.rank(node.x)
    others = [axis for axis in range(rank) if axis != node.channel_axis(rank)]
    return node.add("ReduceSum", node.x, node.numbers(others), keep_dims=False)
