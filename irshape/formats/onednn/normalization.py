"""Normalizations."""

from __future__ import annotations

from .declaration import FORMAT, GraphOperation, NodeOutput, Outputs, flag, integer, kind, number

EPSILON = number(1e-5)


def _spread(
    operation: GraphOperation, value: NodeOutput, axes: list[int]
) -> tuple[NodeOutput, NodeOutput, NodeOutput]:
    """Returns a value minus its mean, in f32, and the mean and variance over the axes, kept as
    1."""
    wide = operation.convert(value, "f32")
    where = operation.numbers(axes)
    mean = operation.add("ReduceMean", wide, where, keep_dims=True)
    centred = operation.add("Subtract", wide, mean)
    return (
        centred,
        mean,
        operation.add(
            "ReduceMean", operation.add("Multiply", centred, centred), where, keep_dims=True
        ),
    )


def _divided(operation: GraphOperation, value: NodeOutput, variance: NodeOutput) -> NodeOutput:
    epsilon = operation.numbers(operation["epsilon"], "f32")
    return operation.add(
        "Divide", value, operation.add("Sqrt", operation.add("Add", variance, epsilon))
    )


def _affine(
    operation: GraphOperation,
    value: NodeOutput,
    gamma: NodeOutput,
    beta: NodeOutput | None,
    shape: list[int] | None = None,
) -> NodeOutput:
    """Computes gamma * value + beta in f32, with gamma and beta reshaped to `shape`."""
    parts = [operation.convert(part, "f32") for part in (gamma, beta) if part is not None]
    if shape is not None:
        parts = [operation.reshaped(part, shape) for part in parts]
    value = operation.add("Multiply", value, parts[0])
    return operation.add("Add", value, parts[1]) if len(parts) > 1 else value


@kind(
    "LayerNorm",
    (1, 3),
    (1, 3),
    begin_norm_axis=integer(-1),
    use_affine=flag(1),
    keep_stats=flag(1),
    epsilon=EPSILON,
)
def layer_norm(operation: GraphOperation) -> Outputs:
    """LayerNorm over the axes from `begin_norm_axis` on.

    With keep_stats the mean and the variance are outputs too.
    """
    x, axis, rank = operation.x, operation.axis("begin_norm_axis"), operation.rank(operation.x)
    axes = list(range(axis, rank))
    centred, mean, variance = _spread(operation, x, axes)
    normalized = _divided(operation, centred, variance)
    if operation["use_affine"] and len(operation.inputs) == 3:
        normalized = _affine(operation, normalized, operation.inputs[1], operation.inputs[2])
    normalized = operation.convert(normalized, operation.output_type)
    if not operation["keep_stats"] or len(operation.outputs) == 1:
        return normalized
    where = operation.numbers(axes)
    return (
        normalized,
        operation.add("Squeeze", mean, where),
        operation.add("Squeeze", variance, where),
    )


@kind("RMSNorm", (1, 2), begin_norm_axis=integer(-1), epsilon=EPSILON)
def rms_norm(operation: GraphOperation) -> Outputs:
    x, axis, rank = operation.x, operation.axis("begin_norm_axis"), operation.rank(operation.x)
    wide = operation.convert(x, "f32")
    mean = operation.add(
        "ReduceMean",
        operation.add("Multiply", wide, wide),
        operation.numbers(list(range(axis, rank))),
        keep_dims=True,
    )
    normalized = _divided(operation, wide, mean)
    if len(operation.inputs) == 2:
        normalized = _affine(operation, normalized, operation.inputs[1], None)
    return operation.convert(normalized, operation.output_type)


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
def group_norm(operation: GraphOperation) -> Outputs:
    x = operation.channels_second(operation.x)
    rank, groups = operation.rank(x), operation["groups"]
    sizes = operation.add("ShapeOf", x, version="opset3", output_type="i64")
    grouped = operation.add("Reshape", x, operation.numbers([0, groups, -1]), special_zero=True)
    centred, mean, variance = _spread(operation, grouped, [2])
    normalized = operation.add(
        "Reshape", _divided(operation, centred, variance), sizes, special_zero=False
    )
    if operation["use_affine"] and len(operation.inputs) == 3:
        normalized = _affine(
            operation,
            normalized,
            operation.inputs[1],
            operation.inputs[2],
            [1, -1, *([1] * (rank - 2))],
        )
    normalized = operation.convert(operation.channels_as_given(normalized), operation.output_type)
    if not operation["keep_stats"] or len(operation.outputs) == 1:
        return normalized
    where = operation.numbers([2])
    return (
        normalized,
        operation.add("Squeeze", mean, where),
        operation.add("Squeeze", variance, where),
    )


@kind("BatchNormInference", 5, epsilon=EPSILON, data_format=FORMAT)
def batch_norm_inference(operation: GraphOperation) -> Outputs:
    x = operation.channels_second(operation.x)
    others = [operation.convert(value, x.element_type) for value in operation.inputs[1:]]
    normalized = operation.add(
        "BatchNormInference", x, *others, version="opset5", epsilon=operation["epsilon"]
    )
    return operation.channels_as_given(normalized)


@kind(
    "BatchNormForwardTraining",
    (3, 5),
    (5, 5),
    epsilon=EPSILON,
    momentum=number(),
    data_format=FORMAT,
)
def batch_norm_training(operation: GraphOperation) -> Outputs:
    """Normalizes by the biased mean and variance of the batch.

    The running mean and variance move towards them, the variance unbiased.
    """
    x = operation.channels_second(operation.x)
    rank = operation.rank(x)
    axes = [0, *range(2, rank)]
    lie = [1, -1, *([1] * (rank - 2))]
    centred, mean, variance = _spread(operation, x, axes)
    normalized = _divided(operation, centred, variance)
    if len(operation.inputs) == 5:
        normalized = _affine(operation, normalized, operation.inputs[3], operation.inputs[4], lie)
    where = operation.numbers(axes)
    mean, variance = (operation.add("Squeeze", value, where) for value in (mean, variance))
    momentum = operation["momentum"] or 0.0
    moved = []
    for running, own in ((operation.inputs[1], mean), (operation.inputs[2], variance)):
        kept = operation.add(
            "Multiply", operation.convert(running, "f32"), operation.numbers(momentum, "f32")
        )
        moved.append(
            operation.add(
                "Add", kept, operation.add("Multiply", own, operation.numbers(1 - momentum, "f32"))
            )
        )
    return (
        operation.convert(operation.channels_as_given(normalized), operation.output_type),
        *moved,
        mean,
        variance,
    )
