"""Converts Reduce operators, ArgMax, ArgMin, and the operators that reduce their inputs to one."""

from __future__ import annotations

from math import inf
from typing import Any, Literal

from ...faults import Violation
from ...rule_ids import INPUT_SHAPES
from .declaration import Node, NodeOutput, Outputs, operator


def axes_of(node: Node) -> NodeOutput | None:
    """Returns the axes of a reduction; None for a reduction over no axes. An empty list means all
    axes or, with `noop_with_empty_axes`, no axes."""
    x, given = node.x, node.input(1)
    if given is not None and given.known != () and given.shape.static != (0,):
        if given.known is not None:
            node.axes("axes", given.known, x.rank)
        elif given.shape.static is None and not node.flag("noop_with_empty_axes"):
            return _or_all(node, given)
        return given
    listed = node["axes"]
    if listed:
        node.axes("axes", listed, x.rank)
        return node.numbers(listed)
    if given is not None or "noop_with_empty_axes" in node.attributes:
        noop = node.flag("noop_with_empty_axes")
        if noop:
            return None
    return _all_axes(node)


def _or_all(node: Node, axes: NodeOutput) -> NodeOutput:
    """Returns `axes`, or all axes if `axes` is empty, which is known only when the model runs."""
    none = node.add("Equal", node.shape_of(axes), node.numbers([0]))
    count = node.add("Select", none, node.shape_of(node.shape_of(node.x)), node.numbers([0]))
    all_axes = node.add("Slice", _all_axes(node), node.numbers([0]), count, node.numbers([1]))
    return node.add("Concat", axes, all_axes, axis=0)


def _all_axes(node: Node) -> NodeOutput:
    x = node.x
    if x.rank is not None:
        return node.numbers(list(range(x.rank)), shape=(x.rank,))
    rank = node.add("Squeeze", node.shape_of(node.shape_of(x)))
    return node.counted(rank)


def reduced(node: Node, type: str, value: NodeOutput, axes: NodeOutput | None) -> NodeOutput:
    return value if axes is None else node.add(type, value, axes, keep_dims=node.flag("keepdims"))


@operator("ReduceMean", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceMax", "ReduceMin")
def _plain(node: Node) -> Outputs:
    """Converts a reduction that is also an operation of OpenVINO.

    L1 and L2 over no axes are the absolute value of each element.
    """
    axes, x, type = axes_of(node), node.x, node.kind
    if axes is None and type in ("ReduceL1", "ReduceL2"):
        return node.add("Abs", x)
    if x.element_type.name == "boolean":  # the greatest and the least of booleans
        return reduced(
            node, {"ReduceMax": "ReduceLogicalOr", "ReduceMin": "ReduceLogicalAnd"}[type], x, axes
        )
    result = reduced(node, type, x, axes)
    if (
        type in ("ReduceMax", "ReduceMin")
        and x.element_type.is_real
        and 0 in (x.shape.static or ())
    ):
        return node.add(
            "Add", result, node.like(x, -inf if type == "ReduceMax" else inf)
        )  # of nothing; OpenVINO's is the least number of the type
    return result


@operator("ReduceSumSquare")
def reduce_sum_square(node: Node) -> Outputs:
    return reduced(node, "ReduceSum", node.add("Multiply", node.x, node.x), axes_of(node))


@operator("ReduceLogSum")
def reduce_log_sum(node: Node) -> Outputs:
    return node.add("Log", reduced(node, "ReduceSum", node.x, axes_of(node)))


@operator("ReduceLogSumExp")
def reduce_log_sum_exp(node: Node) -> Outputs:
    """Converts ReduceLogSumExp. To avoid overflow, subtracts the greatest element first, and adds
    it last. Limits an infinite element to a finite number for this."""
    x, axes = node.x, axes_of(node)
    if axes is None:
        return x
    type = x.element_type
    real = (
        x if type.is_real or type.is_dynamic else node.convert(x, "f64")
    )  # ONNX computes integers in double precision
    greatest = node.add("ReduceMax", real, axes, keep_dims=True)
    limit = {"f16": 65504.0, "f64": 1.7e308}.get(real.element_type.name, 3.4e38)
    finite = node.clamped(greatest, node.like(real, -limit), node.like(real, limit))
    total = node.add(
        "ReduceSum",
        node.add("Exp", node.add("Subtract", real, finite)),
        axes,
        keep_dims=node.flag("keepdims"),
    )
    back = (
        finite if node.flag("keepdims") else node.add("ReduceSum", finite, axes, keep_dims=False)
    )  # of one element each: the element itself
    logarithm = node.add("Add", node.add("Log", total), back)
    return node.convert(logarithm, type) if real is not x else logarithm


JOINED = {"Sum": "Add", "Mean": "Add", "Max": "Maximum", "Min": "Minimum"}


@operator(*JOINED)
def _joined(node: Node) -> Outputs:
    """Converts Sum, Mean, Max and Min, which reduce all inputs to one tensor.

    The inputs broadcast from version 8 on. Before, they must have equal shapes.
    """
    first, *others = node.every_input
    if node.version < 8:
        for other in others:
            if not other.shape.compatible(first.shape):
                raise Violation(
                    f"{node.kind} of version {node.version} takes inputs of equal "
                    f"shapes, got {first.shape} and {other.shape}; opset 8 introduced broadcasting",
                    rule=INPUT_SHAPES,
                    expected=first.shape,
                    actual=other.shape,
                )
    type = JOINED[node.kind]
    broadcast = "none" if node.version < 8 else "numpy"
    joined = first
    for other in others:
        if other.element_type.name == "boolean":
            joined = node.add(f"Logical{'Or' if type == 'Maximum' else 'And'}", joined, other)
        else:
            joined = node.add(type, joined, other, auto_broadcast=broadcast)
    if node.kind == "Mean" and others:
        joined = node.add("Divide", joined, node.like(joined, len(node.inputs)))
    return joined


@operator("ArgMax", "ArgMin")
def arg_max(node: Node) -> Outputs:
    """Converts ArgMax and ArgMin to a TopK of one element.

    Among equal elements, TopK returns the first one. With `select_last_index`, reverses the axis.
    """
    x = node.x
    rank = node.rank(x, "with its axis")
    axis = node.axis("axis", rank)
    last = bool(node["select_last_index"])
    if last:
        x = node.sliced(x, -1, -(2**63) + 1, axis, step=-1)
    index = place_of_first(node, x, axis, "max" if node.kind == "ArgMax" else "min")
    if last:
        size = node.size_of(node.x, axis)
        index = node.add("Subtract", node.add("Subtract", size, node.numbers(1)), index)
    return index if node.flag("keepdims") else node.add("Squeeze", index, node.numbers([axis]))


def place_of_first(node: Node, x: NodeOutput, axis: int, mode: Literal["max", "min"]) -> NodeOutput:
    """Returns the index of the greatest or least element along an axis, the first among equals."""
    modes: dict[str, Any] = {"axis": axis, "mode": mode, "sort": "value", "stable": True}
    types = {"index_element_type": "i64"}
    return node.all("TopK", x, node.numbers(1), version="opset11", **types, **modes)[1]
