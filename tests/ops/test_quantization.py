"""Quantization operations against OpenVINO: shapes, refusals and values."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import Case, Data, const, data
from rows import against_openvino, names, row

INF, NAN = float("inf"), float("nan")
TEXT = {"string": "text-as-number"}


def f32(shape: str, run_shape: tuple[int, ...] | None = None) -> Data:
    return data("f32", shape, run_shape=run_shape)


def levels(
    number: str = "256", broadcast: str = "numpy", axis: str | None = None
) -> dict[str, str | None]:
    along = {"auto_broadcast.auto_broadcast_axis": axis}
    return {"levels": number, "auto_broadcast": broadcast, **along}


def limits(
    low: float = -1,
    high: float = 1,
    output_low: float = -2,
    output_high: float = 2,
    element_type: str = "f32",
) -> list[object]:
    return [const(element_type, number) for number in (low, high, output_low, output_high)]


def quantize(
    source: object,
    attributes: dict[str, str | None],
    *four: object,
    run: bool = True,
    known: str = "",
    expected: list[object] | None = None,
) -> Case:
    """A FakeQuantize; `four` are its limits, or one of them for all, or the text of all."""
    return row(
        "FakeQuantize-1",
        attributes,
        source,
        *(four * 4 if len(four) == 1 and not isinstance(four[0], str) else four),
        run=run,
        known=known,
        expected=expected,
    )  # type: ignore[list-item]


x = data("f32", "2,3,4", low=-1.5, high=1.5)
CHANNELS = [
    const("f32", np.reshape(numbers, (1, 3, 1)))
    for numbers in ([-1, -0.5, 0], [1, 0.75, 1.5], [-2, 0, 1], [2, 1, 4])
]

VALUES = [
    *(
        quantize(x, levels(number), *limits())
        for number in ("2", "3", "4", "16", "255", "256", "65536")
    ),
    quantize(x, levels(), *CHANNELS),
    quantize(x, levels("5"), *CHANNELS[:2], const("f32", 0), const("f32", 1)),
    quantize(x, levels("5"), "f32{[-1, -0.5, 0, 0.25]} f32{[1, 1, 1, 1]} f32{0} f32{1}"),
    quantize(x, levels("16"), *limits(0, 1, 0, 15)),
    quantize(x, levels("16"), *limits(-1, 1, 1, -1)),
    quantize(x, levels("2"), "f32{0.5} f32{0.5} f32{-1} f32{1}", known="quantize-empty-range"),
    quantize(data("f32", "9", [-2, -1, -0.75, -0.5, 0, 0.25, 0.5, 1, 2]), levels("5"), *limits()),
    quantize(
        data("f32", "4", [INF, -INF, 0, NAN]),
        levels("5"),
        *limits(),
        known="quantize-not-a-number",
        expected=[[2, -2, 0, NAN]],
    ),
    quantize(data("f16", "2,3"), levels("16"), *limits(element_type="f16")),
    quantize(data("bf16", "2,3"), levels("16"), *limits(element_type="bf16")),
    quantize(f32("1..4,?", (2, 3)), levels("16"), *limits()),
    quantize(
        f32("2,3,4"),
        levels("7", "pdpd", "1"),
        *(
            const("f32", numbers)
            for numbers in ([-1, -0.5, 0], [1, 0.75, 1.5], [-2, 0, 1], [2, 1, 4])
        ),
        run=False,
    ),
    quantize(
        f32("2,3"),
        levels("7", "none"),
        *(const("f32", np.full((2, 3), number)) for number in (-1, 1, -2, 2)),
        run=False,
    ),
    quantize(f32(""), levels("7"), *limits()),
    quantize(f32(""), levels("7"), *(const("f32", [number]) for number in (-1, 1, -2, 2))),
    quantize(x, levels("7"), *(const("f32", [[[[number]]]]) for number in (-1, 1, -2, 2))),
]

SHAPES = [
    *(
        quantize(f32(shape), levels("16", broadcast, axis), f32(limit), run=False)
        for broadcast, axis, shape, limit in (
            ("numpy", None, "2,3,4", "1"),
            ("numpy", None, "2,3,4", "3,1"),
            ("numpy", None, "2,3,4", "?,1,..4"),
            ("numpy", None, "2,3,4", "..."),
            ("numpy", None, "...", "3,1"),
            ("numpy", None, "...", "..."),
            ("numpy", None, "2,?,4", "3,1"),
            ("numpy", None, "?,?,?", "2,3,4"),
            ("numpy", None, "2,1..5,4", "3..8,1"),
            ("numpy", None, "2,?,4", "2..8,1"),
            ("numpy", None, "0,3", "3"),
            ("numpy", None, "2,1000000000000", "1"),
            ("numpy", None, "2,3,4", "1,1,1,1"),
            ("numpy", None, "3", "1,3"),
            ("numpy", None, "", "1"),
            ("numpy", None, "?", "1,?"),
            ("numpy", None, "2,3,4", "3"),
            ("numpy", None, "2,3,4", "2,1,3"),
            ("numpy", None, "2,2..3,4", "4..5,1"),
            ("numpy", None, "1..2,3", "3..4,3"),
            ("none", None, "2,3", "2,3"),
            ("none", None, "2,3", "1"),
            ("none", None, "2,?", "?,3"),
            ("none", None, "2,3", "..."),
            ("none", None, "...", "2,3"),
            ("none", None, "2,3", "3,3"),
            ("pdpd", "1", "2,3,4", "3"),
            ("pdpd", "1", "2,3,4", "3,1"),
            ("pdpd", "0", "2,3,4", "2,3"),
            ("pdpd", "-1", "2,3,4", "3,4"),
            ("pdpd", "1", "2,3,4", "4"),
            ("pdpd", "2", "2,3,4", "3,4"),
            ("pdpd", "1", "2,?,4", "3"),
            ("pdpd", "1", "...", "3"),
            ("pdpd", "1", "2,3,4", "..."),
            ("pdpd", "3", "2,3,4", "1"),
            ("pdpd", "-2", "2,3,4", "1"),
        )
    ),
    *(
        quantize(f32(shape), levels(), f32(limit), run=False, known=known)
        for shape, limit, known in (
            ("1,3", "2,3", "quantize-limits"),
            ("3", "2,3", "quantize-limits"),
            ("", "3", "quantize-limits"),
            ("1,3", "2..4,?", "quantize-limits"),
            ("1,3", "..4,?", ""),
            ("3", "?,?", ""),
            ("?", "2..,3", "quantize-limits"),
        )
    ),
    quantize(f32("2,3,4"), levels(), "f32[2,1,1] f32[3,1] f32[4] f32[...]", run=False),
    quantize(
        f32("1,3,4"),
        levels(),
        "f32[2,1,1] f32[3,1] f32[4] f32[1]",
        run=False,
        known="quantize-limits",
    ),
    quantize(f32("?,3,4"), levels(), "f32[2,1,1] f32[3,1] f32[4] f32[1]", run=False),
    quantize(f32("?,3,4"), levels(), "f32[2,1,1] f32[3,1,1] f32[4] f32[1]", run=False),
    quantize(f32("?,3,4"), levels(), "f32[...] f32[3,1,1] f32[4] f32[2,1,1]", run=False),
    quantize(f32("2,3,4"), levels(), "f32[2,1,1] f32[3,1] f32[5] f32[1]", run=False),
    quantize(
        f32("2,3"), levels(broadcast="explicit"), f32("2,3"), run=False, known="explicit-broadcast"
    ),
    quantize(f32("2,3,4"), levels(broadcast="explicit"), f32("1"), run=False),
    quantize(f32("2,3,4"), levels(broadcast="sideways"), f32("1"), run=False),
    *(
        quantize(data(t, "2,3"), levels(), data(t, "1"), run=False, known=TEXT.get(t, ""))
        for t in names("f16 bf16 f64 f8e4m3 nf4 i32 u8 i64 u1 boolean dynamic string")
    ),
    *(
        quantize(f32("2,3"), levels(), data(t, "1"), run=False, known=TEXT.get(t, ""))
        for t in ("f16", "f64", "i32", "boolean", "dynamic", "string")
    ),
    quantize(data("f16", "2,3"), levels(), f32("1"), run=False),
    quantize(data("dynamic", "2,3"), levels(), f32("1"), run=False),
    quantize(f32("2,3"), levels(), "f16[1] i32[1] f32[1] bf16[1]", run=False),
    *(
        quantize(f32("2,3"), levels(number), f32("1"), run=False, known=known)
        for number, known in (
            ("1", "quantize-levels"),
            ("0", "quantize-levels"),
            ("-3", "quantize-levels"),
            ("two", ""),
            ("", ""),
        )
    ),
    quantize(
        f32("2,3"), {"auto_broadcast": "numpy"}, f32("1"), run=False, known="missing-attribute"
    ),
    quantize(f32("2,3"), {"levels": "16"}, f32("1"), run=False),
    quantize(f32("2,3"), levels(), f32("1"), f32("1"), f32("1")),
    quantize(f32("2,3"), levels(), f32("1"), f32("1"), f32("1"), f32("1"), f32("1")),
]


def convert(source: object, *others: object, to: str | None = "f8e4m3", **rest: Any) -> Case:
    return row("FakeConvert-13", {"destination_type": to}, source, *others, **rest)


WIDE = data("f32", "4,5", low=-600, high=600)
CONVERT = [
    *(
        convert(data(t, "3,4", low=-4, high=4), const(t, 1.0), to=to)
        for t in ("f32", "f16", "bf16")
        for to in ("f8e4m3", "f8e5m2")
    ),
    *(
        convert(WIDE, const("f32", 2.0), const("f32", 0.5), to=to)
        for to in ("f8e4m3", "f8e5m2", "F8E5M2")
    ),
    convert(
        data("f32", "2,3,4", low=-4, high=4),
        const("f32", [[[0.5], [2.0], [4.0]]]),
        const("f32", [[[0.0], [1.0], [-1.0]]]),
    ),
    convert(data("f32", "8", [0, -0.0, 0.001, -0.001, 1e6, -1e6, 447, 465]), const("f32", 1.0)),
    convert(
        data("f32", "8", [0, 1e-6, 1e-9, -1e-6, 1e6, -1e6, 57344, 61440]),
        const("f32", 1.0),
        to="f8e5m2",
    ),
    convert(data("f32", "3", [INF, -INF, 1]), const("f32", 1.0)),
    convert(f32("1..4,?", (2, 3)), const("f32", [1.0]), to="f8e5m2"),
    *(
        convert(f32(shape), f32(scale), *([f32(shift)] if shift is not None else []), run=False)
        for shape, scale, shift in (
            ("2,3,4", "1", "1"),
            ("2,3,4", "3,1", "3,1"),
            ("2,3,4", "3,1", None),
            ("2,3,4", "?,1", "3,?"),
            ("2,3,4", "...", "..."),
            ("2,3,4", "...", "3,1"),
            ("...", "3,1", "3,1"),
            ("...", "...", None),
            ("...", "3,1", None),
            ("2,?,4", "3,1", None),
            ("2,1..5,4", "3..8,1", None),
            ("?,?", "2,3", None),
            ("0,3", "3", None),
            ("2,1000000000000", "1", None),
            ("", "", ""),
            ("2,3", "", ""),
            # refused
            ("2,3,4", "3,1", "1"),
            ("2,3,4", "3", None),
            ("2,3", "1,1,1", None),
            ("1,3", "2,3", None),
            ("2,3,4", "2..3,1", "4,1"),
            ("2,3", "1", ""),
            ("?,3", "2,3", None),
            ("3", "1,3", None),
        )
    ),
    *(
        convert(data(t, "2,3"), data(t, "1"), run=False)
        for t in ("f64", "f8e4m3", "i32", "u8", "boolean", "dynamic", "string")
    ),
    convert(f32("2,3"), data("f16", "1"), run=False),
    convert(f32("2,3"), f32("1"), data("f16", "1"), run=False),
    convert(data("dynamic", "2,3"), f32("1"), run=False),
    convert(f32("2,3"), data("dynamic", "1"), data("dynamic", "1"), run=False),
    *(convert(f32("2,3"), f32("1"), to=to, run=False) for to in (None, "f16", "f8", "f8e8m0")),
    convert(f32("2,3")),
    convert(f32("2,3"), f32("1"), f32("1"), f32("1")),
]

test_against_openvino = against_openvino(*VALUES, *SHAPES, *CONVERT)
