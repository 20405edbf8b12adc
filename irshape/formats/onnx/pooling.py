"""Converts pooling operators."""

from __future__ import annotations

from math import prod
from typing import Any

from ...faults import Violation
from ...rule_ids import INPUT_RANK
from ..nodes import check_length, refusal
from .declaration import Node, NodeOutput, Outputs, operator
from .matrix import spatial


def _pool(node: Node) -> dict[str, Any]:
    kernel = node["kernel_shape"]
    if node.x.rank is not None:
        check_length("kernel_shape", kernel, node.x.rank - 2)
    attributes: dict[str, Any] = spatial(node, len(kernel))
    attributes["kernel"] = kernel
    # ONNX lets no window begin in the padding at the end, as PyTorch does
    attributes["rounding_type"] = "ceil_torch" if node["ceil_mode"] else "floor"
    return attributes


@operator("MaxPool")
def max_pool(node: Node) -> Outputs:
    node.require("storage_order", 0)
    x = node.x
    narrow = x.element_type.name in ("i8", "u8")
    outputs = node.all(
        "MaxPool",
        x,
        version="opset14",
        index_element_type="i64",
        axis=0,
        **_pool(node),
    )
    return outputs[:2] if not narrow or node.wants(1) else outputs[:1]


@operator("AveragePool")
def average_pool(node: Node) -> Outputs:
    return _average(node, node.x, _pool(node), exclude_pad=not node["count_include_pad"])


def _average(node: Node, x: NodeOutput, window: dict[str, Any], *, exclude_pad: bool) -> NodeOutput:
    """Returns the mean of each window. OpenVINO's AvgPool has dilations from opset16 on."""
    dilated = any(number != 1 for number in window["dilations"])
    if not dilated:
        window.pop("dilations")
    version = "opset16" if dilated else "opset14"
    return node.add("AvgPool", x, version=version, exclude_pad=exclude_pad, **window)


def _spatial_axes(node: Node) -> NodeOutput:
    rank = node.rank(node.x, "over all spatial axes")
    if rank < 3:
        raise Violation(
            f"{node.kind} takes batch, channels and at least one spatial axis, got {node.x.shape}",
            rule=INPUT_RANK,
            actual=f"rank {rank}",
        )
    return node.numbers(list(range(2, rank)))


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(node: Node) -> Outputs:
    type = "ReduceMean" if node.kind == "GlobalAveragePool" else "ReduceMax"
    return node.add(type, node.x, _spatial_axes(node), keep_dims=True)


def _exponent(node: Node) -> float:
    """Returns the exponent `p` of a norm. Raises `Violation` if it is 0."""
    p: float = node["p"]
    if p == 0:
        raise refusal("p", p, "1 or more")
    return p


@operator("GlobalLpPool")
def global_lp_pool(node: Node) -> Outputs:
    p = _exponent(node)
    if p in (1, 2):
        return node.add(f"ReduceL{int(p)}", node.x, _spatial_axes(node), keep_dims=True)
    powers = node.add("Power", node.add("Abs", node.x), node.like(node.x, p))
    return node.add(
        "Power",
        node.add("ReduceSum", powers, _spatial_axes(node), keep_dims=True),
        node.like(node.x, 1 / p),
    )


@operator("LpPool")
def lp_pool(node: Node) -> Outputs:
    """Converts LpPool. Computes the sum of powers as their mean times the number of elements."""
    window, p = _pool(node), _exponent(node)
    elements = prod(window["kernel"])
    powers = node.add("Power", node.add("Abs", node.x), node.like(node.x, p))
    mean = _average(node, powers, window, exclude_pad=False)
    return node.add(
        "Power", node.add("Multiply", mean, node.like(node.x, elements)), node.like(node.x, 1 / p)
    )
