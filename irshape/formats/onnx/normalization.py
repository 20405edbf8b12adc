"""Normalizations and softmax."""

from __future__ import annotations

from ...element_types import ElementType
from ...faults import Violation
from ..nodes import refusal
from .declaration import Node, NodeOutput, Outputs, operator


def _along(node: Node, type: str) -> Outputs:
    """Converts Softmax and its relatives. From version 13 on they work along one axis.

    Before, they work over all axes from that one on, flattened to one.
    """
    x = node.x
    if node.version >= 13:
        axis = node.axis("axis", x.rank)
        return _softmax(node, type, x, axis)
    rank = node.rank(x, "over several axes")
    axis = node.axis("axis", rank)
    if axis == rank - 1:
        return _softmax(node, type, x, axis)
    sizes = node.shape_of(x)
    head = node.numbers([0] * axis, shape=(axis,))
    flat = node.reshaped(x, node.add("Concat", head, node.numbers([-1]), axis=0), zero=True)
    return node.reshaped(_softmax(node, type, flat, axis), sizes)


def _softmax(node: Node, type: str, x: NodeOutput, axis: int) -> NodeOutput:
    if type == "Hardmax":
        i64 = ElementType.of("i64")
        rank = node.rank(x, "along its axis")
        greatest = node.all(
            "TopK",
            x,
            node.numbers(1),
            version="opset11",
            axis=axis,
            mode="max",
            sort="value",
            stable=True,
            index_element_type=i64,
        )[1]
        size = node.add(
            "Gather", node.shape_of(x), node.numbers(axis), node.numbers(0), version="opset8"
        )
        positions = node.reshaped(
            node.add(
                "Range", node.numbers(0), size, node.numbers(1), version="opset4", output_type=i64
            ),
            [-1 if index == axis else 1 for index in range(rank)],
        )
        return node.add("ConvertLike", node.add("Equal", greatest, positions), x)
    return node.add(type, x, version="opset8" if type == "SoftMax" else "opset5", axis=axis)


@operator("Softmax", 1, 11, 13)
def softmax(node: Node) -> Outputs:
    return _along(node, "SoftMax")


@operator("LogSoftmax", 1, 11, 13)
def log_softmax(node: Node) -> Outputs:
    return _along(node, "LogSoftmax")


@operator("Hardmax", 1, 11, 13)
def hardmax(node: Node) -> Outputs:
    return _along(node, "Hardmax")


@operator("BatchNormalization", 1, 6, 7, 9, 14, 15)
def batch_normalization(node: Node) -> Outputs:
    """Converts BatchNormalization. In inference, the given mean and variance are used.

    From version 14 on they may have their own type.
    """
    if node["training_mode"]:
        return _training(node)
    if node.version < 7 and not node["is_test"]:
        raise Violation(
            f"BatchNormalization of version {node.version} trains unless `is_test` is 1; "
            "OpenVINO runs inference only",
            at="is_test",
            expected=1,
            actual=0,
        )
    if node.version < 9 and node["spatial"] == 0:
        raise Violation(
            "BatchNormalization for each element by itself has no counterpart in OpenVINO",
            at="spatial",
            expected=1,
            actual=0,
        )
    x, *others = (node.need(index) for index in range(5))
    scale, bias, mean, variance = (
        value if value.element_type is x.element_type else node.add("ConvertLike", value, x)
        for value in others
    )
    return node.add(
        "BatchNormInference",
        x,
        scale,
        bias,
        mean,
        variance,
        version="opset5",
        epsilon=node["epsilon"],
    )


def _training(node: Node) -> Outputs:
    """Normalizes by mean and variance of the batch. The running ones move towards them."""
    x, scale, bias, mean, variance = (node.need(index) for index in range(5))
    rank = node.rank(x, "in training")
    axes = node.numbers([0, *range(2, rank)])
    own_mean = node.add("ReduceMean", x, axes, keep_dims=False)
    centred = node.add("Subtract", x, node.add("ReduceMean", x, axes, keep_dims=True))
    own_variance = node.add(
        "ReduceMean", node.add("Multiply", centred, centred), axes, keep_dims=False
    )
    normalized = node.add(
        "BatchNormInference",
        x,
        scale,
        bias,
        own_mean,
        own_variance,
        version="opset5",
        epsilon=node["epsilon"],
    )
    momentum = node["momentum"]

    def moved(running: NodeOutput, own: NodeOutput) -> NodeOutput:
        return node.add(
            "Add",
            node.add("Multiply", running, node.like(running, momentum)),
            node.add("Multiply", own, node.like(own, 1 - momentum)),
        )

    return normalized, moved(mean, own_mean), moved(variance, own_variance)


@operator("InstanceNormalization", 1, 6, 22)
def instance_normalization(node: Node) -> Outputs:
    x, scale, bias = (node.need(index) for index in range(3))
    rank = node.rank(x, "over all spatial axes")
    normalized = node.add(
        "MVN",
        x,
        node.numbers(list(range(2, rank))),
        version="opset6",
        normalize_variance=True,
        eps=node["epsilon"],
        eps_mode="inside_sqrt",
    )
    lie = [1, -1, *([1] * (rank - 2))]
    return node.add(
        "Add", node.add("Multiply", normalized, node.reshaped(scale, lie)), node.reshaped(bias, lie)
    )


@operator("LayerNormalization", 17)
def layer_normalization(node: Node) -> Outputs:
    """Normalizes over the last axes.

    The mean and the inverse deviation are separate outputs, computed only if used.
    """
    x, scale, bias = node.need(0), node.need(1), node.input(2)
    rank = node.rank(x, "over the last axes")
    axis = node.axis("axis", rank)
    axes = node.numbers(list(range(axis, rank)))
    kind = x.element_type
    wide = x if kind.name in ("f32", "f64") or node["stash_type"] != 1 else node.convert(x, "f32")
    normal = node.add(
        "MVN",
        wide,
        axes,
        version="opset6",
        normalize_variance=True,
        eps=node["epsilon"],
        eps_mode="inside_sqrt",
    )
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


@operator("GroupNormalization", 21)
def group_normalization(node: Node) -> Outputs:
    return node.add(
        "GroupNormalization",
        node.need(0),
        node.need(1),
        node.need(2),
        num_groups=node["num_groups"],
        epsilon=node["epsilon"],
    )


@operator("LRN", 1, 13)
def lrn(node: Node) -> Outputs:
    attributes = {
        "alpha": node["alpha"],
        "beta": node["beta"],
        "bias": node["bias"],
        "size": node["size"],
    }
    return node.add("LRN", node.x, node.numbers([1]), **attributes)


@operator("LpNormalization", 1, 22)
def lp_normalization(node: Node) -> Outputs:
    """Converts LpNormalization. Vectors with the norm 0 stay 0."""
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


@operator("MeanVarianceNormalization", 9, 13)
def mean_variance_normalization(node: Node) -> Outputs:
    return node.add(
        "MVN",
        node.x,
        node.numbers(node["axes"] or [0, 2, 3]),
        version="opset6",
        normalize_variance=True,
        eps=1e-9,
        eps_mode="outside_sqrt",
    )
