"""Interpolate, GridSample and the colour conversions against OpenVINO."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from differential.cases import Case, Input, const, data
from rows import against_openvino, names, row, sizes_of, unrun

TRANSFORMATIONS = names(
    "half_pixel pytorch_half_pixel asymmetric tf_half_pixel_for_nn align_corners"
)
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")


def interpolate(
    inputs: list[Input],
    version: str = "opset11",
    run: Any = True,
    known: str = "",
    **attributes: str,
) -> Case:
    return row(
        f"Interpolate-{version}",
        {"mode": "nearest", "shape_calculation_mode": "sizes", **attributes},
        *inputs,
        run=run,
        known=known,
    )


def sized(
    shape: str,
    sizes: list[int],
    axes: list[int],
    *,
    element_type: str = "f32",
    known: str = "",
    **attributes: str,
) -> Case:
    """Interpolate-11 to sizes."""
    low, high = (-2.0, 2.0) if element_type in ("f32", "f16", "bf16", "f64") else (-100, 100)
    return interpolate(
        [data(element_type, shape, low=low, high=high), const("i64", sizes), const("i64", axes)],
        known=known,
        **attributes,
    )


def scaled(shape: str, scales: list[float], axes: list[int], **attributes: str) -> Case:
    """Interpolate-4 by scales."""
    ones = const("i64", [1] * len(axes))
    inputs = [f"f32[{shape}]", ones, const("f32", scales), const("i64", axes)]
    return interpolate(inputs, "opset4", shape_calculation_mode="scales", **attributes)


BY_SCALES = {"shape_calculation_mode": "scales"}
SMOOTH = {"mode": "linear", "antialias": "true"}

VALUES = [
    *(
        scaled("1,2,6,4", list(scales), [2, 3], coordinate_transformation_mode=c, nearest_mode=n)
        for c, n in product(TRANSFORMATIONS, ROUNDINGS)
        for scales in ((0.8, 1.75), (0.4, 2.3))
    ),
    *(
        sized("1,2,6,4", [5, 7], [2, 3], coordinate_transformation_mode=c, mode=m)
        for c, m in product(TRANSFORMATIONS, ("nearest", "linear", "linear_onnx", "cubic"))
    ),
    *(
        scaled("1,2,6,4", [0.37, 2.3], [2, 3], coordinate_transformation_mode=c, mode=m)
        for c, m in product(TRANSFORMATIONS, ("linear", "linear_onnx", "cubic"))
    ),
    *(
        sized("1,1,6,4", [1, 2], [2, 3], coordinate_transformation_mode=c, mode=m)
        for c, m in product(TRANSFORMATIONS, ("nearest", "linear", "cubic"))
    ),
    *(
        sized("1,2,4,6,5", [3, 9, 2], [2, 3, 4], coordinate_transformation_mode=c, **SMOOTH)
        for c in TRANSFORMATIONS
    ),
    *(
        sized("1,2,4,6,5", [5, 3, 7], [2, 3, 4], mode=m)
        for m in ("nearest", "linear", "linear_onnx")
    ),
    sized("1,2,6,4", [3, 2], [2, 3], known="interpolate-antialias", **SMOOTH),
    sized("1,2,4,6,5", [8, 9, 8], [2, 3, 4], known="interpolate-antialias", **SMOOTH),
    *(
        sized("1,2,6,4", sizes, [2, 3], mode=m, cube_coeff=a)
        for m, a in (("bilinear_pillow", "-0.75"), ("bicubic_pillow", "-0.5"))
        for sizes in ([5, 7], [2, 9], [1, 3], [12, 2], [6, 2], [6, 4])
    ),
    sized("1,2,6,4", [4, 9], [2, 3], mode="cubic", cube_coeff="-0.5"),
    *(
        sized("1,1,5,4", [3, 7], [2, 3], element_type=t, mode=m)
        for t in ("i8", "u8", "i32", "i64", "f16", "bf16", "f64")
        for m in ("nearest", "linear_onnx", "cubic", "bilinear_pillow")
    ),
    *(
        sized("1,1,5,4", [3, 7], [2, 3], element_type=t, mode="bicubic_pillow", cube_coeff="-0.5")
        for t in ("i8", "u8", "i32", "f16", "f64")
    ),
    sized("1,1,5,4", [3, 7], [2, 3], mode="bicubic_pillow", known="interpolate-pillow-coefficient"),
    # other axes, other ranks
    sized("2,6,4,3", [3, 7], [1, 2], mode="linear"),
    sized("2,6,4,3", [3, 7], [1, 2], mode="nearest"),
    sized("2,6,4,3", [3, 7], [1, 2], mode="cubic"),
    sized("2,3,6,4", [3, 7], [3, 2], mode="nearest"),
    sized("2,3,6", [4], [2], mode="linear_onnx"),
    sized("6,4", [3, 7], [0, 1], mode="linear_onnx"),
    sized("6,4", [3, 7], [0, 1], mode="cubic"),
    interpolate(["f32[1,2,6,4] i32{[1, 2, 3, 7]}"], mode="linear_onnx"),
    interpolate(["f32[1,2,6,4] f32{[1, 1, 0.5, 2]}"], mode="cubic", **BY_SCALES),
    interpolate(["f32[1,2,6,4] f16{[0.5, 2]} i32{[2, 3]}"], mode="linear", **BY_SCALES),
    interpolate(["f32[?,2,?,4]@1,2,6,4 u64{[3, 7]} u32{[2, 3]}"], mode="linear"),
    # padding
    *(
        sized("1,2,6,4", [5, 9], [2, 3], mode=m, pads_begin="0,0,1,2", pads_end="0,0,0,1")
        for m in ("nearest", "linear", "linear_onnx", "cubic")
    ),
    sized("1,2,6,4", [5, 9], [2, 3], mode="nearest", pads_begin="0", pads_end="0,0,2,0,7"),
    scaled("1,2,6,4", [0.5, 1.5], [2, 3], mode="linear_onnx", pads_begin="0,0,1,1"),
    # Interpolate-1
    *(
        row("Interpolate-1", f"axes=2,3 mode={m} align_corners={c}", f"f32[1,2,6,4] i64{sizes}")
        for m in ("nearest", "linear", "cubic")
        for c in ("true", "false")
        for sizes in ("{[3, 7]}", "{[11, 2]}")
    ),
    row("Interpolate-1", "axes=2 mode=linear align_corners=false", "f32[1,2,6] i32{[4]}"),
    row(
        "Interpolate-1",
        "axes=2,3,4 mode=linear align_corners=false",
        "f32[1,2,3,4,5] i64{[2, 5, 7]}",
    ),
    row("Interpolate-1", "axes=3,2 mode=nearest align_corners=false", "f32[1,2,6,4] i64{[3, 7]}"),
    row("Interpolate-2", "axes=2,3 mode=linear antialias=0", "f16[1,2,?,4]@1,2,6,4 i64{[3, 7]}"),
]

SIZES_UNCHECKED = {"run": False, "known": "interpolate-sizes"}

SHAPES = [
    interpolate(["f32[1..8,?,4,5] f32{[2.5, 0.3]} i64{[0, 2]}"], run=False, **BY_SCALES),
    interpolate(
        ["f32[1..8,?,4,5] f32{[2.5, 0.3]} i64{[1, 3]}"],
        run=False,
        pads_begin="1",
        pads_end="0,2",
        **BY_SCALES,
    ),
    interpolate(["f32[16777217,16777219] f32{[1, 1.0000001]}"], run=False, **BY_SCALES),
    interpolate(["f32[1000000000000,4..1000000000000] f32{[1.5, 0.7]}"], run=False, **BY_SCALES),
    interpolate(["f32[3,4] f32[2]"], run=False, **BY_SCALES),
    interpolate(["f32[3,?] i64[2] i64[2]"], run=False),
    interpolate(["f32[3,?] i64[...] i64{[1]}"], run=False),
    interpolate(["dynamic[...] i64{[7, 8]} u64{[1, 0]}"], run=False),
    interpolate(["f32[2..6,?,3]", sizes_of("2..9,1..,7")], run=False),
    interpolate(["f32[3,4] i64{[0, 7]}"], run=False),
    interpolate(["f32[3,4] i64{[1000000000000, 7]}"], run=False),
    interpolate(["f32[3,4] i64{[-1, 7]}"], **SIZES_UNCHECKED),
    interpolate(["f32[3,4] i64{[-5, 7]}"], **SIZES_UNCHECKED),
    interpolate(["f32[3,4] i64{[5, 7, 9]}"], **SIZES_UNCHECKED),
    interpolate(["f32[3,4] f32{[-2.5, 1]}"], **SIZES_UNCHECKED, **BY_SCALES),
    interpolate(["f32[3,4] f32{[1e+30, 1]}"], run=False, **BY_SCALES),
    interpolate(["f32[0,4]", const("f32", [np.inf, np.nan])], **SIZES_UNCHECKED, **BY_SCALES),
    interpolate(["f32[3,4] i64{[5, 7]} i64{[1, 1]}"], run=False, known="duplicate-axes"),
    interpolate(["f32[3,4] i64{[1, 2]} f32{1}"], "opset4", run=False),
    interpolate(["f32[3,4] i64{[]} f16{[1.0, 2]}"], "opset4", run=False, **BY_SCALES),
    row("Interpolate-1", "axes=0,1 mode=nearest", "f32[3,4,?] u8{[7, 8, 9]}", **SIZES_UNCHECKED),
    unrun("Interpolate-1", "axes=0,1 mode=nearest", "f32[3,?] dynamic[2]"),
    unrun("Interpolate-1", "axes=0,5 mode=nearest", "boolean[...] i64{[7, 8]}"),
    unrun("Interpolate-1", "axes=0 mode=zzz", "f32[3,4] i64{[7]}", known="interpolate-mode"),
    unrun("Interpolate-1", "mode=nearest", "f32[3,4] i64{[7]}", known="missing-attribute"),
]

REFUSED = [
    interpolate(["f32[3,4,5] f32{[2.5, 0.3]}"], **BY_SCALES),
    interpolate(["f32[3,4] i64{[7]} i64{[0, 1]}"]),
    interpolate(["f32[3,4] f32{[]} i64{[0]}"], **BY_SCALES),
    interpolate(["f32[3,4] i64{[7]} i64{[-1]}"]),
    interpolate(["f32[3,4] i64{[7]} i64{[2]}"]),
    interpolate(["f32[3,4] i64{[7]} i64{1}"]),
    interpolate(["f32[3,4] i64{7} i64{[1]}"]),
    interpolate(["f32[3,4] i16{[7, 8]}"]),
    interpolate(["f32[3,4] f32{[7, 8]}"]),
    interpolate(["f32[3,4] i64{[7, 8]}"], **BY_SCALES),
    interpolate(["f32[3,4] f64{[1, 2]}"], **BY_SCALES),
    interpolate(["f32[3,4] dynamic[2]"]),
    interpolate(["f32[3,4] i64[1] dynamic[1]"]),
    interpolate(["u32[3,4] i64{[7, 8]}"]),
    interpolate(["f32[3,4]"]),
    interpolate(["f32[3] i64{[3]} i64{[0]} i64{[0]}"]),
    interpolate(["f32[3,4] i64{[7, 8]}"], pads_begin="-1"),
    interpolate(["f32[3,4] i64{[7, 8]}"], mode="area"),
    interpolate(["f32[3,4] i64{[7, 8]}"], coordinate_transformation_mode="zzz"),
    interpolate(["f32[3,4] i64{[7, 8]}"], nearest_mode="zzz"),
    interpolate(["f32[3,4] i64{[7, 8]} f64{[1.0, 2]}"], "opset4"),
    interpolate(["f32[3,4] u8{[7, 8]} f32{[1.0, 2]}"], "opset4", **BY_SCALES),
    interpolate(["f32[3,4] i64{[7, 8]} f32{[1.0, 2]}"], "opset4", mode="bilinear_pillow"),
    interpolate(["f32[3,4] i64{[7, 8]}"], "opset4"),
    row("Interpolate-1", "axes=0,2 mode=nearest", "f32[3,4] i64{[7, 8]}"),
    row("Interpolate-1", "axes=0 mode=nearest", "f32[3,4] f32{[7]}"),
]


def grid_sample(inputs: list[Input], run: bool = True, **attributes: str) -> Case:
    return row(
        "GridSample-9",
        {"align_corners": "false", "mode": "bilinear", "padding_mode": "zeros", **attributes},
        *inputs,
        run=run,
    )


IMAGE, PLACES = data("f32", "2,3,4,5"), data("f32", "2,6,3,2")

GRID = [
    *(
        grid_sample([IMAGE, PLACES], align_corners=a, mode=m, padding_mode=p)
        for a, m, p in product(
            ("true", "false"), ("bilinear", "bicubic", "nearest"), ("zeros", "border", "reflection")
        )
    ),
    *(
        grid_sample(
            ["f32[1,2,1,1] f32[1,2,2,2]"], align_corners=a, mode=m, padding_mode="reflection"
        )
        for a, m in product(("true", "false"), ("bilinear", "nearest"))
    ),
    grid_sample(["f16[1,2,3,4] f16[1,2,2,2]"]),
    grid_sample(["bf16[1,2,3,4]", data("f32", "1,2,2,2", low=-1, high=1)], mode="nearest"),
    grid_sample(
        [data("i32", "1,2,3,4", low=-50, high=50), "f32[1,5,2,2]"],
        mode="nearest",
        padding_mode="border",
    ),
    *(
        grid_sample([data(t, "1,2,5,6", low=-90, high=90), "f32[1,3,4,2]"], mode=m)
        for t in ("i32", "i64", "u8", "i8")
        for m in ("bilinear", "bicubic")
    ),
    grid_sample(["f32[?,2,?,4]@1,2,3,4 f32[1,?,2,?]@1,3,2,2"]),
    grid_sample(["f32[1..3,?,3,4] f32[2..7,5,1..6,?]"], run=False),
    grid_sample(["f32[...] f32[2..7,5,1..6,?]"], run=False),
    grid_sample(["f32[1..3,4,5,6] f32[...]"], run=False),
    grid_sample(["dynamic[...] dynamic[...]"], run=False),
    grid_sample(["string[1,2,3,4] f8e4m3[1,0,6,2]"], run=False),
    # refused
    grid_sample([IMAGE, "f32[2,6,3,3]"]),
    grid_sample([IMAGE, "f32[3,6,3,2]"]),
    grid_sample(["f32[2,3,4]", PLACES]),
    grid_sample([IMAGE, "f32[6,3,2]"]),
    grid_sample([IMAGE, "i32[2,6,3,2]"]),
    grid_sample([IMAGE, "nf4[2,6,3,2]"]),
    grid_sample([IMAGE]),
    grid_sample([IMAGE, PLACES], mode="cubic"),
    grid_sample([IMAGE, PLACES], padding_mode="edge"),
]


def pixels(element_type: str, shape: str, run_shape: tuple[int, ...] | None = None) -> Input:
    return data(element_type, shape, low=0, high=255, run_shape=run_shape)


def planes(operation: str, element_type: str, one: str, *others: str, run: bool = True) -> Case:
    return row(
        f"{operation}-8",
        {},
        pixels(element_type, one),
        *(pixels(element_type, other) for other in others),
        run=run,
    )


def chroma(operation: str, shape: str) -> list[str]:
    """The shapes of the small planes."""
    return [shape + ",2"] if operation.startswith("NV12") else [shape + ",1", shape + ",1"]


FAMILY = ("NV12toRGB", "NV12toBGR", "I420toRGB", "I420toBGR")

COLOURS = [
    *(planes(operation, t, "2,6,8,1") for operation in FAMILY for t in ("u8", "f32")),
    *(
        planes(operation, t, "2,4,8,1", *chroma(operation, "2,2,4"))
        for operation in FAMILY
        for t in ("u8", "f32")
    ),
    *(planes(operation, "f16", "1,6,8,1") for operation in FAMILY[::2]),
    *(
        planes(operation, "u8", "...", *chroma(operation, "1,2,4"), run=False)
        for operation in FAMILY
    ),
    *(
        planes(operation, "u8", "1..3,4..9,?,?", *chroma(operation, "2..5,1..3,3..7"), run=False)
        for operation in FAMILY
    ),
    *(planes(operation, "u8", "?,3..9,2..7,?", run=False) for operation in FAMILY),
    *(planes(operation, "dynamic", "...", run=False) for operation in FAMILY),
    *(planes(operation, "f64", "1,0,4,1", run=False) for operation in FAMILY),
    unrun("NV12toRGB-8", {}, "dynamic[1,4,4,1] f32[1,2,2,2]"),
    unrun("I420toRGB-8", {}, "dynamic[1,4,4,1] dynamic[1,2,2,1] f16[...]"),
    # refused
    *(
        planes(operation, "u8", shape)
        for operation in FAMILY
        for shape in ("1,7,4,1", "1,6,5,1", "1,6,4,2", "6,4,1", "1,7..8,4,1")
    ),
    *(
        planes(operation, "u8", "1,4,4,1", *chroma(operation, small))
        for operation in FAMILY
        for small in ("2,2,2", "1,4,2", "1,2,3")
    ),
    *(planes(operation, t, "1,6,4,1") for operation in FAMILY[:1] for t in ("i8", "nf4")),
    planes("NV12toRGB", "u8", "1,4,4,1", "1,2,2,1"),
    planes("NV12toRGB", "u8", "1,4,4,1", "1,2,2,1", "1,2,2,1"),
    planes("I420toRGB", "u8", "1,4,4,1", "1,2,2,1"),
    row("NV12toRGB-8", {}, "u8[1,4,4,1] f32[1,2,2,2]"),
    row("I420toRGB-8", {}, "dynamic[1,4,4,1] u8[1,2,2,1] f16[1,2,2,1]"),
    row("NV12toRGB-17", {}, "u8[1,6,4,1]"),
]


def to_nv12(
    operation: str,
    image: Input,
    single_plane: str | None = None,
    run: Any = False,
    expected: Any = None,
    version: str = "opset17",
) -> Case:
    attributes, outputs = {"single_plane": single_plane}, 2 if single_plane == "false" else 1
    rest = {"outputs": outputs, "run": run, "expected": expected}
    return row(f"{operation}-{version}", attributes, image, **rest)


RED_GREEN = [[[[255, 0, 0], [0, 255, 0]], [[255, 0, 0], [0, 255, 0]]]]
LUMA, CHROMA = [[[[82], [145]], [[82], [145]]]], [[[[72, 137]]]]
"""Y is 0.257 * 255 + 16 and 0.504 * 255 + 16; U the mean of 90 and 54, V of 240 and 34."""

TO_NV12 = [
    to_nv12("RGBtoNV12", data("u8", "1,2,2,3", RED_GREEN), "false", "alone", [LUMA, CHROMA]),
    to_nv12(
        "RGBtoNV12",
        data("u8", "1,2,2,3", RED_GREEN),
        "true",
        run="alone",
        expected=[[[[[82], [145]], [[82], [145]], [[72], [137]]]]],
    ),
    to_nv12(
        "BGRtoNV12",
        data("u8", "1,2,2,3", np.array(RED_GREEN)[..., ::-1].copy()),
        "false",
        run="alone",
        expected=[LUMA, CHROMA],
    ),
    to_nv12(
        "BGRtoNV12",
        data("f32", "1,2,2,3", np.zeros((1, 2, 2, 3))),
        "false",
        run="alone",
        expected=[np.full((1, 2, 2, 1), 16.0), np.full((1, 1, 1, 2), 128.0)],
    ),
    *(
        to_nv12(operation, image, single)
        for operation in ("RGBtoNV12", "BGRtoNV12")
        for single in (None, "true", "false")
        for image in ("u8[1,4,6,3]", "f16[1..2,1..8,3..7,?]", "f32[?,2..,?,3]", "dynamic[...]")
    ),
    # refused
    *(
        to_nv12("RGBtoNV12", data("u8", shape))
        for shape in ("1,5,6,3", "1,4,5,3", "1,4,6,1", "4,6,3")
    ),
    to_nv12("RGBtoNV12", data("i32", "1,4,6,3")),
    to_nv12("RGBtoNV12", data("u8", "1,4,6,3"), version="opset16"),
]

test_image = against_openvino(*VALUES, *SHAPES, *REFUSED, *GRID, *COLOURS, *TO_NV12)
