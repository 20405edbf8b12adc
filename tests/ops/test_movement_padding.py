"""Pad against OpenVINO."""

from __future__ import annotations

from typing import Any

from differential.cases import Case, const, data
from rows import PACKED, SIZES, TYPES, against_openvino, all_given, as_shape, node, row, unrun

VERSIONS = ["opset1", "opset12"]
MODES = ["constant", "edge", "reflect", "symmetric"]
Shape = tuple[int, ...] | None


def pad(
    version: str,
    mode: str,
    shape: str,
    begin: object,
    end: object,
    value: object = None,
    fed: Shape = None,
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    filled = [] if value is None else [const(t, value)]
    inputs = [data(t, shape, run_shape=fed), *all_given(index, begin, end), *filled]
    return row(f"Pad-{version}", f"pad_mode={mode}", *inputs, **fields)  # type: ignore[arg-type]


def modes(version: str, mode: str) -> list[Case]:
    return [
        pad(version, mode, "3,4", begin=[1, 2], end=[2, 0]),
        pad(version, mode, "3,4", begin=[2, 3], end=[2, 3]),
        pad(version, mode, "3,4", begin=[0, 0], end=[0, 0]),
        pad(version, mode, "5", begin=[2], end=[1], index="i32"),
        pad(version, mode, "2,3,2,3", begin=[1, 0, 1, 2], end=[0, 1, 1, 0]),
        pad(version, mode, "", begin=[], end=[], run=False),
        pad(version, mode, "2..3,?", begin=[1, 1], end=[1, 0], fed=(3, 4)),
        pad(version, mode, "..9,4..", begin=[1, 1], end=[1, 0], fed=(3, 4)),
        pad(version, mode, "...", begin=[1, 1], end=[1, 0], run=False),
        pad(version, mode, "3,4", begin="2", end="2", run=False),
        pad(version, mode, "3,4", begin=[1, 0], end="2", run=False),
        pad(version, mode, "3,4", begin="?", end="...", run=False),
        pad(version, mode, "3,4", begin="1..3", end="..2", run=False),
        *(pad(version, mode, "3,4", begin=[1, 0], end=[0, 2], t=t) for t in TYPES),
        *(
            pad(version, mode, "3,4", begin=[1, 0], end=[0, 2], t=t, run=False)
            for t in (*PACKED, "string")
        ),
        pad(
            version,
            mode,
            "3,4",
            begin=[1, 0],
            end=[0, 2],
            t="dynamic",
            run=False,
            known="pad-of-dynamic-type",
        ),
        pad(version, mode, "3,4", begin=[1], end=[0, 2]),
        pad(version, mode, "3,4", begin=[1, 0, 0], end=[0, 2, 0]),
        pad(version, mode, "3,4", begin="3", end=[0, 2]),
        pad(version, mode, "3,4", begin=[[1, 0]], end=[0, 2]),
        pad(version, mode, "3,4", begin=1, end=1),
        pad(version, mode, "3,4", begin=[1.0, 0.0], end=[0.0, 1.0], index="f32"),
    ]


def values(version: str) -> list[Case]:
    layer = f"Pad-{version}"
    return [
        pad(version, "constant", "2,3", begin=[1, 1], end=[1, 1], value=7.0),
        pad(version, "constant", "2,3", begin=[1, 1], end=[1, 1], value=float("nan")),
        pad(version, "constant", "2,3", begin=[1, 1], end=[1, 1], value=-3, t="i8"),
        pad(version, "constant", "2,3", begin=[1, 1], end=[1, 1], value=True, t="boolean"),
        pad(version, "constant", "", begin=[], end=[], value=7.0, run=False),
        pad(version, "constant", "0,2", begin=[1, 0], end=[1, 0], value=7.0),
        pad(version, "edge", "2,3", begin=[1, 1], end=[1, 1], value=7.0),
        pad(version, "constant", "2,3", begin=[1, 1], end=[1, 1], value=[7.0]),
        pad(version, "edge", "2,3", begin=[1, 1], end=[1, 1], value=[7.0], run=False),
        pad(version, "wrap", "2,3", begin=[1, 1], end=[1, 1]),
        pad(version, "edge", "0,3", begin=[1, 1], end=[1, 1]),
        pad(version, "reflect", "3,4", begin=[3, 0], end=[0, 0]),
        pad(version, "reflect", "3,4", begin=[0, 0], end=[0, 4]),
        pad(version, "reflect", "0,4", begin=[0, 0], end=[0, 1]),
        pad(version, "symmetric", "3,4", begin=[4, 0], end=[0, 0]),
        pad(version, "symmetric", "3,4", begin=[0, 0], end=[0, 5]),
        pad(version, "reflect", "1,4", begin=[1, 0], end=[0, 0]),
        row(layer, "pad_mode=constant", "f32[2] i64{[1]} i64{[1]} i32{0}"),
        unrun(layer, "pad_mode=edge", "f32[2] i64{[1]} i64{[1]} i32{0}"),
        unrun(layer, "pad_mode=constant", "dynamic[2] i64{[1]} i64{[1]} i32{0}"),
        unrun(layer, "pad_mode=constant", "f32[2] i64{[1]} i64{[1]} f32[...]"),
        row(layer, "pad_mode=constant", "f32[2] i64{[1]} i32{[1]}"),
        row(layer, "pad_mode=constant", "f32[2] i64{[1]}", id=f"Pad-{version}-two-inputs"),
        row(layer, {}, "f32[2] i64{[1]} i64{[1]}", known="missing-attribute"),
        # cut off
        pad(version, "constant", "4,5", begin=[-1, 0], end=[0, -2]),
        pad(version, "constant", "4,5", begin=[-1, 2], end=[1, -2], value=3.0),
        pad(version, "constant", "4,5", begin=[-3, 0], end=[-1, 0], run=False),
        pad(version, "constant", "4,5", [-5, 0], [0, 0], run=False, known="pad-cuts-too-much"),
        pad(version, "edge", "4,5", begin=[-1, 2], end=[1, -2]),
        pad(version, "reflect", "4,5", begin=[-1, 2], end=[1, -2]),
        pad(version, "symmetric", "4,5", begin=[-1, 2], end=[1, -2]),
        pad(version, "constant", "?,3..", begin=[-1, 0], end=[0, -2], fed=(4, 5)),
        pad(version, "constant", "..4,3..9", begin=[-1, 0], end=[1, -2], fed=(4, 5)),
        # the sizes of a shape
        as_shape(node(f"Pad-{version}", "pad_mode=edge", SIZES, "i64{[1]} i64{[0]}")),
        as_shape(node(f"Pad-{version}", "pad_mode=constant", SIZES, "i64{[1]} i64{[0]} i64{2}")),
    ]


CASES = [row for version in VERSIONS for mode in MODES for row in modes(version, mode)] + [
    row for version in VERSIONS for row in values(version)
]
CASES += [
    row(
        "Pad-12",
        "pad_mode=constant",
        data("string", "1", ["a"]),
        "i64{[1]} i64{[1]}",
        expected=[["", "a", ""]],
    )
]

test_padding = against_openvino(*CASES)
