"""Converts operators on images: resizing, sampling, regions, boxes and deformable convolution."""

from __future__ import annotations

from typing import Any

from ...faults import Violation
from ...rule_ids import INPUT_COUNT, INPUT_SHAPES
from .declaration import Node, NodeOutput, Outputs, operator
from .matrix import _window, biased, spatial

COORDINATES = (
    "half_pixel",
    "pytorch_half_pixel",
    "asymmetric",
    "align_corners",
    "tf_half_pixel_for_nn",
)
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@operator("Resize")
def resize(node: Node) -> Outputs:
    """Converts Resize, by scales or sizes, to an Interpolate of the axes whose size may change."""
    old = node.version == 10
    mode = node.choice("mode", ("nearest", "linear", "cubic"))
    coordinates = (
        "asymmetric" if old else node.choice("coordinate_transformation_mode", COORDINATES)
    )
    nearest = "floor" if old else node.choice("nearest_mode", NEAREST)
    node.require("exclude_outside", 0)
    node.require("keep_aspect_ratio_policy", "stretch")
    scales, sizes = (node.input(1), None) if old else (node.input(2), node.input(3))
    if scales is not None and scales.shape.static == (0,):
        scales = None
    return _interpolated(
        node,
        scales,
        sizes,
        mode,
        coordinates,
        nearest,
        cube_coeff=node["cubic_coeff_a"] if node["cubic_coeff_a"] is not None else -0.75,
        antialias=bool(node["antialias"]),
    )


@operator("Upsample", since=7)
def upsample(node: Node) -> Outputs:
    scales = node.numbers(node["scales"], "f32") if node.version == 7 else node.need(1)
    mode = node.choice("mode", ("nearest", "linear"))
    return _interpolated(node, scales, None, mode, "asymmetric", "floor")


def _interpolated(
    node: Node,
    scales: NodeOutput | None,
    sizes: NodeOutput | None,
    mode: str,
    coordinates: str,
    nearest: str,
    **more: Any,
) -> Outputs:
    given = sizes if sizes is not None else scales
    if given is None:
        raise Violation(f"{node.kind} has neither scales nor sizes", rule=INPUT_COUNT)
    x = node.x
    rank = node.rank(x, "with its axes")
    axes = node.axes("axes", node["axes"], rank) if node["axes"] else list(range(rank))
    kept = list(range(len(axes)))
    value = given.tensor.value.exact if given.tensor.value is not None else None
    if value is not None and len(value) == len(axes):
        dims = x.shape.dims
        kept = [
            i
            for i, axis in enumerate(axes)
            if (
                value[i] != 1
                if sizes is None
                else dims is None or not dims[axis].is_static or dims[axis].low != value[i]
            )
        ]
        if not kept:
            return x
    elif mode != "nearest" and len(axes) == rank and rank > 2:
        kept = list(range(2, rank))  # the batch and the channels keep their sizes
    if len(kept) < len(axes):
        given = node.gathered(given, kept)
    if mode == "linear":
        mode = "linear_onnx" if len(kept) <= 3 and not more.get("antialias") else "linear"
    return node.add(
        "Interpolate",
        x,
        given,
        node.numbers([axes[i] for i in kept]),
        version="opset11",
        mode=mode,
        shape_calculation_mode="scales" if sizes is None else "sizes",
        coordinate_transformation_mode=coordinates,
        nearest_mode=nearest,
        **more,
    )


@operator("GridSample")
def grid_sample(node: Node) -> Outputs:
    modes = {
        "bilinear": "bilinear",
        "linear": "bilinear",
        "nearest": "nearest",
        "bicubic": "bicubic",
        "cubic": "bicubic",
    }
    padding = node.choice("padding_mode", ("zeros", "border", "reflection"))
    return node.add(
        "GridSample",
        node.of_rank(4),
        node.need(1),
        align_corners=bool(node["align_corners"]),
        mode=node.choice("mode", modes),
        padding_mode=padding,
    )


@operator("RoiAlign")
def roi_align(node: Node) -> Outputs:
    aligned = (
        "asymmetric"
        if node.version == 10 or node["coordinate_transformation_mode"] == "output_half_pixel"
        else "half_pixel"
    )
    attributes = {
        "pooled_h": node["output_height"],
        "pooled_w": node["output_width"],
        "sampling_ratio": node["sampling_ratio"],
        "spatial_scale": node["spatial_scale"],
    }
    mode = node.choice("mode", ("avg", "max"))
    return node.add(
        "ROIAlign",
        node.x,
        node.need(1),
        node.convert(node.need(2), "i64"),
        version="opset9",
        mode=mode,
        aligned_mode=aligned,
        **attributes,
    )


@operator("NonMaxSuppression")
def non_max_suppression(node: Node) -> Outputs:
    def scalar(index: int, default: float, kind: str) -> NodeOutput:
        given = node.input(index)
        return node.numbers(default, kind) if given is None else node.scalar(given)

    inputs = scalar(2, 0, "i64"), scalar(3, 0.0, "f32"), scalar(4, -3.4028235e38, "f32")
    encoding = "center" if node.flag("center_point_box") else "corner"
    return node.add(
        "NonMaxSuppression",
        node.need(0),
        node.need(1),
        *inputs,
        version="opset9",
        sort_result_descending=False,
        box_encoding=encoding,
        output_type="i64",
    )


@operator("Col2Im")
def col2im(node: Node) -> Outputs:
    block = node.need(2).shape.static
    if block != (2,):
        raise Violation(
            f"OpenVINO's Col2Im makes images of two axes, got sizes of shape {node.need(2).shape}",
            rule=INPUT_SHAPES,
            expected="[2]",
            actual=node.need(2).shape,
        )
    window = spatial(node, 2)
    window.pop("auto_pad")
    return node.add("Col2Im", node.x, node.need(1), node.need(2), **window)


@operator("DeformConv")
def deform_conv(node: Node) -> Outputs:
    x, w, offsets = (node.need(index) for index in range(3))
    window = _window(node, x, w)
    mask = node.input(4)
    inputs = [x, offsets, w, *([mask] if mask is not None else [])]
    groups = {
        "group": node["group"],
        "deformable_group": node["offset_group"],
        "bilinear_interpolation_pad": True,
    }
    return biased(
        node,
        node.add("DeformableConvolution", *inputs, version="opset8", **window, **groups),
        node.input(3),
        4,
    )
