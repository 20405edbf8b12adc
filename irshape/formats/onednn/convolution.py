"""MatMul, convolutions and pooling."""

from __future__ import annotations

from typing import Any

from ...faults import Violation
from ...ops.conditions import at_least
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_SHAPES
from ..nodes import check_length
from .declaration import (
    FORMAT,
    GraphOperation,
    NodeOutput,
    Outputs,
    flag,
    integer,
    ints,
    kind,
    word,
)
from .elementwise import same_type

AUTO_PAD = {
    "None": "explicit",
    "NONE": "explicit",
    "VALID": "valid",
    "SAME_UPPER": "same_upper",
    "SAME_LOWER": "same_lower",
}


@kind(
    "MatMul",
    (2, 3),
    transpose_a=flag(0),
    transpose_b=flag(0),
    accumulation_mode=word("strict", "strict", "relaxed", "any", "f32", "s32", "f16"),
)
def matmul(operation: GraphOperation) -> Outputs:
    """Multiplies both values in the wider of their types.

    A weight of eight bits may come with data of sixteen bits.
    """
    a, b = same_type(operation, operation.inputs[0], operation.inputs[1])
    product = operation.add(
        "MatMul",
        a,
        b,
        transpose_a=bool(operation["transpose_a"]),
        transpose_b=bool(operation["transpose_b"]),
    )
    if len(operation.inputs) == 3:
        product = operation.add("Add", *same_type(operation, product, operation.inputs[2]))
    return operation.as_declared(product)


def window(operation: GraphOperation, rank: int) -> dict[str, Any]:
    """Returns strides, pads and dilations for `rank` spatial axes.

    Raises `Violation` for lists of another length.
    """
    attributes: dict[str, Any] = {"auto_pad": AUTO_PAD[operation["auto_pad"]]}
    for name in ("strides", "pads_begin", "pads_end", "dilations"):
        listed = operation[name]
        if listed is None:
            listed = [1] * rank
        check_length(name, listed, rank)
        if name in ("strides", "dilations"):
            at_least(listed, 1, at=name, rule=ATTRIBUTE_VALUE)
        attributes[name] = listed
    return attributes


WINDOW: dict[str, Any] = {
    "strides": ints(required=True),
    "pads_begin": ints(required=True),
    "pads_end": ints(required=True),
    "dilations": ints(required=True),
    "auto_pad": word("None", *AUTO_PAD),
    "groups": integer(1),
    "data_format": FORMAT,
}


def filters(operation: GraphOperation, weights: NodeOutput, *, order: str) -> NodeOutput:
    """Converts weights from the order that `weights_format` names to OIX or IOX.

    Groups become an axis of their own.
    """
    rank, groups = operation.rank(weights), operation["groups"]
    given = operation["weights_format"]
    ordered = weights
    if given in ("XIO", "XOI"):
        second, first = (
            (rank - 2, rank - 1) if given == "XIO" else (rank - 1, rank - 2)
        )  # where I and O stand
        ordered = operation.transposed(ordered, [first, second, *range(rank - 2)])  # OIX
        given = "OIX"
    if groups == 1:
        return ordered if given == order else operation.transposed(ordered, [1, 0, *range(2, rank)])
    sizes = ordered.shape.static
    if sizes is None or sizes[0] % groups:
        raise Violation(
            f"weights of shape {weights.shape} do not make {groups} groups",
            rule=INPUT_SHAPES,
            at="groups",
            actual=weights.shape,
        )
    ordered = operation.reshaped(ordered, [groups, sizes[0] // groups, *sizes[1:]])
    return (
        ordered if given == order else operation.transposed(ordered, [0, 2, 1, *range(3, rank + 1)])
    )


def biased(operation: GraphOperation, value: NodeOutput, index: int = 2) -> NodeOutput:
    if len(operation.inputs) > index:
        rank = operation.rank(value)
        value = operation.add(
            "Add",
            *same_type(
                operation,
                value,
                operation.reshaped(operation.inputs[index], [1, -1, *([1] * (rank - 2))]),
            ),
        )
    return operation.as_declared(operation.channels_as_given(value))


@kind("Convolution", (2, 3), **WINDOW, weights_format=word("XIO", "XIO", "OIX"))
def convolution(operation: GraphOperation) -> Outputs:
    x, weights = same_type(operation, operation.channels_second(operation.x), operation.inputs[1])
    attributes = window(operation, operation.rank(x) - 2)
    weights = filters(operation, weights, order="OIX")
    return biased(
        operation,
        operation.add(
            "Convolution" if operation["groups"] == 1 else "GroupConvolution",
            x,
            weights,
            **attributes,
        ),
    )


@kind(
    "ConvTranspose",
    (2, 3),
    **WINDOW,
    output_padding=ints(),
    weights_format=word("XOI", "XOI", "IOX"),
)
def conv_transpose(operation: GraphOperation) -> Outputs:
    return _transposed(operation, operation.inputs[1], order="IOX", wanted=None)


def _transposed(
    operation: GraphOperation, weights: NodeOutput, *, order: str, wanted: list[int] | None
) -> NodeOutput:
    x, weights = same_type(operation, operation.channels_second(operation.x), weights)
    rank = operation.rank(x) - 2
    attributes = window(operation, rank)
    attributes["output_padding"] = (operation["output_padding"] or [0] * rank)[:rank]
    if wanted is not None and x.shape.static is not None and weights.shape.static is not None:
        kernel = filters_sizes(operation, weights)
        # filters of another rank are refused below
        for i in range(min(rank, len(kernel), len(wanted))):
            full = (
                attributes["strides"][i] * (x.shape.static[2 + i] - 1)
                + (kernel[i] - 1) * attributes["dilations"][i]
                + 1
                - attributes["pads_begin"][i]
                - attributes["pads_end"][i]
            )
            attributes["output_padding"][i] = max(wanted[i] - full, 0)
    weights = filters(operation, weights, order=order)
    return biased(
        operation,
        operation.add(
            "ConvolutionBackpropData"
            if operation["groups"] == 1
            else "GroupConvolutionBackpropData",
            x,
            weights,
            **attributes,
        ),
    )


def filters_sizes(operation: GraphOperation, weights: NodeOutput) -> tuple[int, ...]:
    """Returns the spatial sizes of the weights."""
    sizes = weights.shape.static or ()
    return sizes[:-2] if operation["weights_format"].startswith("X") else sizes[2:]


@kind(
    "ConvolutionBackwardData",
    (2, 3),
    **WINDOW,
    output_padding=ints(),
    dst_shape=ints(),
    weights_format=word("XIO", "XIO", "OIX"),
)
def convolution_backward_data(operation: GraphOperation) -> Outputs:
    """Converts the gradient to a transposed convolution, whose inputs are the convolution's
    outputs."""
    shape = operation["dst_shape"]
    wanted = (
        None if not shape else list(shape[1:-1] if operation["data_format"] == "NXC" else shape[2:])
    )
    return _transposed(operation, operation.inputs[1], order="OIX", wanted=wanted)


@kind("ConvTransposeBackwardData", 2, **WINDOW, weights_format=word("XOI", "XOI", "IOX"))
def conv_transpose_backward_data(operation: GraphOperation) -> Outputs:
    """Converts the gradient to a convolution, whose outputs are the transposed convolution's
    inputs."""
    x, weights = same_type(operation, operation.channels_second(operation.x), operation.inputs[1])
    attributes = window(operation, operation.rank(x) - 2)
    weights = filters(operation, weights, order="IOX")
    return biased(
        operation,
        operation.add(
            "Convolution" if operation["groups"] == 1 else "GroupConvolution",
            x,
            weights,
            **attributes,
        ),
    )


POOL: dict[str, Any] = {
    "kernel": ints(required=True),
    "strides": ints(required=True),
    "pads_begin": ints(required=True),
    "pads_end": ints(required=True),
    "auto_pad": word("None", *AUTO_PAD),
    "rounding_type": word("floor", "floor", "ceil"),
    "data_format": FORMAT,
}


def _pool(operation: GraphOperation, rank: int) -> dict[str, Any]:
    kernel = operation["kernel"]
    check_length("kernel", kernel, rank)
    return {
        **window(operation, rank),
        "kernel": kernel,
        "rounding_type": operation["rounding_type"],
    }


def _cropped(operation: GraphOperation, x: NodeOutput, attributes: dict[str, Any]) -> NodeOutput:
    """Crops the data where pads are negative, which OpenVINO does not have. These pads become 0."""
    for name in ("pads_begin", "pads_end"):
        for place, pad in enumerate(attributes[name]):
            if pad < 0:
                start, stop = (-pad, 2**31 - 1) if name == "pads_begin" else (0, pad)
                x = operation.add(
                    "Slice",
                    x,
                    *(operation.numbers([number]) for number in (start, stop, 1, place + 2)),
                )
        attributes[name] = [max(pad, 0) for pad in attributes[name]]
    return x


@kind("MaxPool", 1, **POOL, dilations=ints())
def max_pool(operation: GraphOperation) -> Outputs:
    x = operation.channels_second(operation.x)
    attributes = _pool(operation, operation.rank(x) - 2)
    return operation.channels_as_given(
        operation.add("MaxPool", _cropped(operation, x, attributes), version="opset8", **attributes)
    )


@kind("AvgPool", 1, **POOL, exclude_pad=flag(), dilations=ints())
def avg_pool(operation: GraphOperation) -> Outputs:
    x = operation.channels_second(operation.x)
    attributes = _pool(operation, operation.rank(x) - 2)
    attributes.pop("dilations")
    x = _cropped(operation, x, attributes)
    return operation.channels_as_given(
        operation.add(
            "AvgPool", x, version="opset1", exclude_pad=bool(operation["exclude_pad"]), **attributes
        )
    )
