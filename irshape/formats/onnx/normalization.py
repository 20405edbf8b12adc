"""Converts normalization operators and softmax."""

from __future__ import annotations

from ..nodes import refusal
from .declaration import Node, NodeOutput, Outputs, operator
from .reduction import place_of_first


@operator("Softmax", "LogSoftmax", "Hardmax")
def softmax(node: Node) -> Outputs:
    """Converts Softmax, LogSoftmax and Hardmax. From version 13 on they work along one axis.
    Earlier versions flatten all axes from `axis` on to a single axis, and work along that axis."""
    x = node.x
    if node.version >= 13:
        return _softmax(node, x, node.axis("axis", x.rank))
    rank = node.rank(x, "over several axes")
    axis = node.axis("axis", rank)
    if axis == rank - 1:
        return _softmax(node, x, axis)
    sizes = node.shape_of(x)
    head = node.numbers([0] * axis, shape=(axis,))
    flat = node.reshaped(x, node.add("Concat", head, node.numbers([-1]), axis=0), zero=True)
    return node.reshaped(_softmax(node, flat, axis), sizes)


def _softmax(node: Node, x: NodeOutput, axis: int) -> NodeOutput:
    if node.kind == "Hardmax":
        rank = node.rank(x, "along its axis")
        greatest = place_of_first(node, x, axis, "max")
        positions = node.along(node.counted(node.size_of(x, axis)), axis, rank)
        return node.add("ConvertLike", node.add("Equal", greatest, positions), x)
    if node.kind == "LogSoftmax":
        return node.add("LogSoftmax", x, version="opset5", axis=axis)
    return node.add("SoftMax", x, version="opset8", axis=axis)


@operator("BatchNormalization")
def batch_normalization(node: Node) -> Outputs:
    """Converts BatchNormalization. In inference, the given mean and variance are used.

    From version 14 on, mean and variance may have another element type than the data.
    """
    if node["training_mode"]:
        return _training(node)
    node.require("is_test", 1)  # which versions before 7 have
    node.require("spatial", 1)
    x, *others = (node.need(index) for index in range(5))
    alike = (
        value if value.element_type is x.element_type else node.add("ConvertLike", value, x)
        for value in others
    )
    return node.add("BatchNormInference", x, *alike, version="opset5", epsilon=node["epsilon"])


def _training(node: Node) -> Outputs:
    """Normalizes with the mean and variance of the batch; updates the running statistics."""
    x, scale, bias, mean, variance = (node.need(index) for index in range(5))
    rank = node.rank(x, "in training")
    axes = node.numbers([0, *range(2, rank)])
    own_mean = node.add("ReduceMean", x, axes, keep_dims=False)
    centred = node.add("Subtract", x, node.add("ReduceMean", x, axes, keep_dims=True))
    own_variance = node.add(
        "ReduceMean", node.add("Multiply", centred, centred), axes, keep_dims=False
    )
    inputs = (x, scale, bias, own_mean, own_variance)
    normalized = node.add("BatchNormInference", *inputs, version="opset5", epsilon=node["epsilon"])
    momentum = node["momentum"]

    def moved(running: NodeOutput, own: NodeOutput) -> NodeOutput:
        return node.add(
            "Add",
            node.add("Multiply", running, node.like(running, momentum)),
            node.add("Multiply", own, node.like(own, 1 - momentum)),
        )

    return normalized, moved(mean, own_mean), moved(variance, own_variance)


@operator("InstanceNormalization")
def instance_normalization(node: Node) -> Outputs:
    x, scale, bias = (node.need(index) for index in range(3))
    rank = node.rank(x, "over all spatial axes")
    normalized = _mvn(node, x, node.numbers(list(range(2, rank))))
    scale, bias = (node.along(value, 1, rank) for value in (scale, bias))
    return node.add("Add", node.add("Multiply", normalized, scale), bias)


@operator("LayerNormalization")
def layer_normalization(node: Node) -> Outputs:
    """Converts LayerNormalization, over the last axes.

    The mean and the inverse standard deviation are only computed if their outputs are used.
    """
    x, scale, bias = node.need(0), node.need(1), node.input(2)
    rank = node.rank(x, "over the last axes")
    axis = node.axis("axis", rank)
    axes = node.numbers(list(range(axis, rank)))
    kind = x.element_type
    wide = x if kind.name in ("f32", "f64") or node["stash_type"] != 1 else node.convert(x, "f32")
    normal = _mvn(node, wide, axes)
    scaled = node.add("Multiply", normal if wide is x else node.convert(normal, kind), scale)
    if bias is not None:
        scaled = node.add("Add", scaled, bias)
    if not node.wants(1) and not node.wants(2):
        return scaled
    mean = node.add("ReduceMean", wide, axes, keep_dims=True)
    centred = node.add("Subtract", wide, mean)
    variance = node.add("ReduceMean", node.add("Multiply", centred, centred), axes, keep_dims=True)
    deviation = node.add("Sqrt", node.add("Add", variance, node.like(variance, node["epsilon"])))
    return scaled, mean, node.add("Divide", node.like(deviation, 1), deviation)


@operator("GroupNormalization")
def group_normalization(node: Node) -> Outputs:
    inputs = (node.need(index) for index in range(3))
    attributes = {"num_groups": node["num_groups"], "epsilon": node["epsilon"]}
    return node.add("GroupNormalization", *inputs, **attributes)


@operator("LRN")
def lrn(node: Node) -> Outputs:
    attributes = {name: node[name] for name in ("alpha", "beta", "bias", "size")}
    return node.add("LRN", node.x, node.numbers([1]), **attributes)


@operator("LpNormalization")
def lp_normalization(node: Node) -> Outputs:
    """Converts LpNormalization. Vectors with norm 0 stay unchanged."""
    if node["p"] not in (1, 2):
        raise refusal("p", node["p"], "1 or 2")
    axis = node.axis("axis", node.x.rank, negative_since=1)
    norm = node.add(f"ReduceL{node['p']}", node.x, node.numbers([axis]), keep_dims=True)
    zero = node.like(norm, 0)
    return node.add(
        "Divide",
        node.x,
        node.add("Select", node.add("Equal", norm, zero), node.like(norm, 1), norm),
    )


def _mvn(node: Node, x: NodeOutput, axes: NodeOutput) -> NodeOutput:
    """Returns a value minus its mean, divided by its standard deviation, over these axes."""
    modes = {"normalize_variance": True, "eps": node["epsilon"], "eps_mode": "inside_sqrt"}
    return node.add("MVN", x, axes, version="opset6", **modes)
