"""Converts the layer, RMS, group and batch normalization of oneDNN."""

from __future__ import annotations

from ..builder import NodeOutput
from .declaration import FORMAT, GraphOperation, Outputs, flag, integer, kind, number

EPSILON = number(1e-5)


def _spread(
    node: GraphOperation, value: NodeOutput, axes: list[int]
) -> tuple[NodeOutput, NodeOutput, NodeOutput]:
    """Returns `value` minus the mean, the mean, and the variance, all in f32. The mean and the
    variance are taken over `axes`, and have size 1 along these axes."""
    wide = node.convert(value, "f32")
    where = node.numbers(axes)
    mean = node.add("ReduceMean", wide, where, keep_dims=True)
    centred = node.add("Subtract", wide, mean)
    return (
        centred,
        mean,
        node.add("ReduceMean", node.add("Multiply", centred, centred), where, keep_dims=True),
    )


def _divided(node: GraphOperation, value: NodeOutput, variance: NodeOutput) -> NodeOutput:
    epsilon = node.numbers(node["epsilon"], "f32")
    return node.add("Divide", value, node.add("Sqrt", node.add("Add", variance, epsilon)))


def _affine(node: GraphOperation, value: NodeOutput, rank: int | None = None) -> NodeOutput:
    """Multiplies a value by gamma (input 1) and adds beta (input 2), in f32.

    rank: the rank of `value` if gamma and beta have an element for each channel; otherwise None.
    """
    parts = [node.convert(part, "f32") for part in node.inputs[1:]]
    if rank is not None:
        parts = [node.along(part, 1, rank) for part in parts]
    value = node.add("Multiply", value, parts[0])
    return node.add("Add", value, parts[1]) if len(parts) > 1 else value


def _with_statistics(
    node: GraphOperation, normalized: NodeOutput, axes: list[int], *statistics: NodeOutput
) -> Outputs:
    """Returns the outputs of a normalization. With `keep_stats`, `statistics` are outputs too,
    after a Squeeze of `axes`."""
    normalized = node.convert(normalized, node.output_type)
    if not node["keep_stats"] or len(node.outputs) == 1:
        return normalized
    return (normalized, *(node.add("Squeeze", each, node.numbers(axes)) for each in statistics))


@kind(
    "LayerNorm",
    (1, 3),
    (1, 3),
    begin_norm_axis=integer(-1),
    use_affine=flag(1),
    keep_stats=flag(1),
    epsilon=EPSILON,
)
def layer_norm(node: GraphOperation) -> Outputs:
    """Converts LayerNorm, over the axes from `begin_norm_axis` on.

    With `keep_stats`, the mean and the variance are outputs too.
    """
    x, axis, rank = node.x, node.axis("begin_norm_axis"), node.rank(node.x)
    axes = list(range(axis, rank))
    centred, mean, variance = _spread(node, x, axes)
    normalized = _divided(node, centred, variance)
    if node["use_affine"] and len(node.inputs) == 3:
        normalized = _affine(node, normalized)
    return _with_statistics(node, normalized, axes, mean, variance)


@kind("RMSNorm", (1, 2), begin_norm_axis=integer(-1), epsilon=EPSILON)
def rms_norm(node: GraphOperation) -> Outputs:
    axes = node.numbers(list(range(node.axis("begin_norm_axis"), node.rank(node.x))))
    wide = node.convert(node.x, "f32")
    mean = node.add("ReduceMean", node.add("Multiply", wide, wide), axes, keep_dims=True)
    normalized = _divided(node, wide, mean)
    if len(node.inputs) == 2:
        normalized = _affine(node, normalized)
    return node.convert(normalized, node.output_type)


@kind(
    "GroupNorm",
    (1, 3),
    (1, 3),
    groups=integer(required=True),
    use_affine=flag(1),
    keep_stats=flag(1),
    epsilon=EPSILON,
    data_format=FORMAT,
)
def group_norm(node: GraphOperation) -> Outputs:
    x = node.channels_second(node.x)
    rank, groups = node.rank(x), node["groups"]
    sizes = node.shape_of(x)
    grouped = node.add("Reshape", x, node.numbers([0, groups, -1]), special_zero=True)
    centred, mean, variance = _spread(node, grouped, [2])
    normalized = node.add("Reshape", _divided(node, centred, variance), sizes, special_zero=False)
    if node["use_affine"] and len(node.inputs) == 3:
        normalized = _affine(node, normalized, rank)
    return _with_statistics(node, node.channels_as_given(normalized), [2], mean, variance)


@kind("BatchNormInference", 5, epsilon=EPSILON, data_format=FORMAT)
def batch_norm_inference(node: GraphOperation) -> Outputs:
    x = node.channels_second(node.x)
    others = [node.convert(value, x.element_type) for value in node.inputs[1:]]
    normalized = node.add(
        "BatchNormInference", x, *others, version="opset5", epsilon=node["epsilon"]
    )
    return node.channels_as_given(normalized)
