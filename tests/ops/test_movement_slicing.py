"""Slice and StridedSlice against OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import Case, const, data
from rows import (
    PACKED,
    SIZES,
    TYPES,
    against_openvino,
    all_given,
    as_shape,
    node,
    row,
    sizes_of,
    unrun,
)

LAST, FIRST = 2**63 - 1, -(2**63)
LAST32, FIRST32 = 2**31 - 1, -(2**31)
Shape = tuple[int, ...] | None
ACROSS = "slice-across-the-ends"
PARTS = [
    *(
        (shape, start, stop, step, "")
        for shape in ("?", "20..", "..25", "20..25")
        for start, stop, step in (
            (-7, LAST, 1),
            (3, LAST, 2),
            (2, 9, 1),
            (-9, -2, 3),
            (0, -3, 1),
            (LAST, FIRST, -1),
            (-1, 2, -2),
            (-3, FIRST, -1),
        )
    ),
    # where OpenVINO is wrong for some of these shapes, they are left to the test below
    ("?", -4, 21, 1, ACROSS),
    *((shape, 5, -15, -1, ACROSS if shape == "20.." else "") for shape in ("?", "20..", "20..25")),
    *((shape, 30, -30, -7, "") for shape in ("?", "..25", "20..25")),
]
"""The size of an axis of 22 elements, and what to take of it."""


def cut(
    shape: str,
    start: object,
    stop: object,
    step: object,
    axes: object = None,
    fed: Shape = None,
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    lists = all_given(index, start, stop, step, axes)
    return row("Slice-8", {}, data(t, shape, run_shape=fed), *lists, **fields)


SLICE = [
    cut("4,5", start=[1, 0], stop=[3, 5], step=[1, 2]),
    cut("4,5", start=[1], stop=[3], step=[1]),
    cut("4,5", start=[-3], stop=[-1], step=[1], axes=[-1]),
    cut("4,5", start=[4, 3], stop=[0, -6], step=[-1, -2], axes=[1, 0]),
    cut("4,5", start=[LAST], stop=[FIRST], step=[-1], axes=[1]),
    cut("4,5", start=[FIRST], stop=[LAST], step=[2], axes=[1]),
    cut("4,5", start=[LAST32], stop=[FIRST32], step=[-1], axes=[1], index="i32"),
    cut("4,5", start=[100], stop=[-100], step=[-3], axes=[0]),
    cut("4,5", start=[3], stop=[1], step=[1], axes=[0]),
    cut("4,5", start=[1], stop=[3], step=[-1], axes=[0]),
    cut("4,0", start=[0], stop=[3], step=[1], axes=[1]),
    cut("4,0", start=[-1], stop=[FIRST], step=[-1], axes=[1]),
    cut("4,5", start=[], stop=[], step=[], axes=[]),
    cut("4,5", start=[1], stop=[3], step=[1], axes=[0], index="i8"),
    cut("4,5", start=[1], stop=[3], step=[100], axes=[0]),
    *(
        cut(shape, start=[start], stop=[stop], step=[step], axes=[0], fed=(22,), known=known)
        for shape, start, stop, step, known in PARTS
    ),
    *(
        cut(shape, start=[start], stop=[stop], step=[step], axes=[0], fed=(22,), index="i32")
        for shape in ("?", "20..")
        for start, stop, step in ((-7, LAST32, 1), (LAST32, FIRST32, -1), (3, LAST32, 1))
    ),
    *(
        cut(shape, [start], [stop], [step], [0], run=False, known="slice-leaves-out")
        for shape, start, stop, step in (
            ("?", -3, -3, -1),
            ("?", -100, -2, -3),
            ("..3", 1, -3, -1),
            ("5..", 3, -100, -1),
            ("5..", 100, -3, -2),
        )
    ),
    *(
        row(
            "Slice-8",
            {},
            f"f32[{shape}]@6",
            node("ShapeOf-1", {}, f"f32[{start}]@5"),
            *(const("i64", [index]) for index in (stop, step, 0)),
            id=f"Slice-{shape}-from-{start}-to-{stop}-by-{step}",
            known=known,
        )
        for shape, start, stop, step, known in (
            ("5..", "0..5", -3, -1, ACROSS),
            ("2..8", "2..", -2, -1, "slice-leaves-out"),
        )
    ),
    unrun(
        "Slice-8",
        {},
        "f32[1..] i64{[-1]}",
        node("ShapeOf-1", {}, "f32[1..]"),
        *(const("i64", [index]) for index in (1, 0)),
        id="Slice-the-last-to-the-size-of-another",
        known="slice-leaves-out",
    ),
    cut("...", start=[1], stop=[3], step=[1], axes=[0], run=False),
    cut("4,5", start="1", stop=[3], step=[1], axes=[0], run=False),
    cut("4,5", start=[1], stop="1", step=[1], axes=[0], run=False),
    cut("4,5", start=[1], stop=[3], step="1", axes=[0], run=False),
    cut("4,5", start=[1], stop=[3], step=[1], axes="1", run=False),
    cut("4,5", start="?", stop="?", step="?", run=False),
    cut("4,5", start="2", stop="2", step="2", run=False),
    cut("4,5", start="...", stop="...", step="...", axes="...", run=False),
    cut("1000000000000,5", start=[1], stop=[LAST], step=[1], axes=[0], run=False),
    *(cut("4,2", start=[1], stop=[3], step=[1], axes=[0], t=t) for t in TYPES),
    *(
        cut("4,2", start=[1], stop=[3], step=[1], axes=[0], t=t, run=False)
        for t in (*PACKED, "string", "dynamic")
    ),
    row(
        "Slice-8",
        {},
        data("string", "3", ["a", "b", ""]),
        "i64{[2]} i64{[0]} i64{[-1]}",
        run="alone",
        expected=[["", "b"]],
    ),
    as_shape(node("Slice-8", {}, SIZES, "i64{[-1]}", const("i64", [FIRST]), "i64{[-2]}")),
    unrun("Slice-8", {}, "f32[?,9] i64{[0, 0]}", sizes_of("1..4,3..7"), "i64{[1, 2]}"),
    # refusals
    cut("", start=[0], stop=[1], step=[1]),
    cut("4,5", start=[1], stop=[3], step=[0], axes=[0]),
    cut("4,5", start=[1], stop=[3], step=[1], axes=[2]),
    cut("4,5", start=[1], stop=[3], step=[1], axes=[-3]),
    cut("4,5", start=[1, 1], stop=[3, 3], step=[1, 1], axes=[0, 0]),
    cut("4,5", start=[1, 1], stop=[3, 3], step=[1, 1], axes=[0, -2]),
    cut("4,5", start=[1, 1], stop=[3], step=[1], axes=[0]),
    cut("4,5", start=[1, 1], stop=[3, 3], step=[1, 1], axes=[0]),
    cut("4,5", start=[1, 1, 1], stop=[3, 3, 3], step=[1, 1, 1]),
    cut("4,5", start=[[1]], stop=[3], step=[1], axes=[0]),
    cut("4,5", start=1, stop=3, step=1, axes=0),
    cut("4,5", start=[1.0], stop=[3.0], step=[1.0], index="f32"),
    cut("4,5", start=[True], stop=[True], step=[True], index="boolean"),
    row("Slice-8", {}, "f32[4] i64{[1]} i64{[1]}"),
    row("Slice-7", {}, "f32[4] i64{[1]} i64{[1]} i64{[1]}"),
]


def strided(
    shape: str,
    begin: object,
    end: object,
    strides: object = None,
    masks: tuple[str, str] = ("", ""),
    fed: Shape = None,
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    lists = all_given(index, begin, end, strides)
    others: dict[str, str] = {
        name: str(fields.pop(name))
        for name in ("new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
        if name in fields
    }
    return row(
        "StridedSlice-1",
        {"begin_mask": masks[0], "end_mask": masks[1], **others},
        data(t, shape, run_shape=fed),
        *lists,
        **fields,
    )


UNMASKED = ("0,0", "0,0")
STRIDED = [
    strided("4,5", begin=[1, 0], end=[3, 5], strides=[1, 2]),
    strided("4,5", begin=[1, 0], end=[3, 5]),
    strided("4,5", begin=[1], end=[3], strides=[1]),
    strided("4,5", begin=[1, 2], end=[3, 4], strides=[1, 1], masks=("1,0", "0,1")),
    strided("4,5", begin=[0, 0], end=[0, 0], strides=[-1, -2], masks=("1,1", "1,1")),
    strided("4,5", begin=[3, 4], end=[0, 0], strides=[-1, -1]),
    strided("4,5", begin=[-3, -4], end=[-1, 100], strides=[1, 2]),
    strided("4,5", begin=[0, -1], end=[4, FIRST], strides=[1, -1]),
    strided("4,5", begin=[-100, 100], end=[100, -100], strides=[1, -1]),
    strided("4,5", begin=[0, 2], end=[4, 2], strides=[1, 1]),
    strided("4,0", begin=[0, 0], end=[4, 3], strides=[1, 1]),
    strided("4,5", begin=[], end=[], strides=[]),
    # axes put in, dropped, passed over
    strided("4,5", [0, 1], [0, 3], [1, 1], UNMASKED, new_axis_mask="1,0"),
    strided("4,5", [1, 2], [3, 3], [1, 1], UNMASKED, shrink_axis_mask="0,1"),
    strided("4,5", [1, -2], [3, 3], [1, 1], UNMASKED, shrink_axis_mask="1,1"),
    strided("4,5", [1, 2], [3, 3], [1, 1], ("1,1", "1,1"), shrink_axis_mask="0,1", run=False),
    strided("2,3,4", [0, 1], [0, 3], [1, 1], UNMASKED, ellipsis_mask="1,0"),
    strided("2,3,4", [1, 0, 1], [2, 0, 3], [1, 1, 1], ("0,0,0", "0,0,0"), ellipsis_mask="0,1,0"),
    strided("2,3,4", [1, 0], [2, 0], [1, 1], UNMASKED, ellipsis_mask="0,1"),
    strided("2,3", [0, 0, 1], [1, 0, 2], [1, 1, 1], ("0,0,0", "0,0,0"), ellipsis_mask="0,1,0"),
    strided(
        "2,3,4",
        begin=[0, 0, 1, 1],
        end=[0, 0, 2, 2],
        strides=[1, 1, 1, 1],
        masks=("0,0,0,0", "0,0,0,0"),
        new_axis_mask="1,0,0,0",
        ellipsis_mask="0,1,0,0",
        shrink_axis_mask="0,0,0,1",
    ),
    strided("2,3", [1], [2], [1], ("0", "0"), new_axis_mask="1", shrink_axis_mask="1"),
    strided("4,5", begin=[0, 1], end=[0, 3], strides=[1, 1], masks=("0", "0"), new_axis_mask="1"),
    # what is not known
    *(
        strided(shape, [start], [stop], [step], ("0", "0"), (22,), known=known)
        for shape, start, stop, step, known in PARTS
    ),
    *(
        strided(shape, begin=[2], end=[9], strides=[step], masks=(mask, other), fed=(22,))
        for shape in ("?", "20..", "..25")
        for step in (1, -1, 3)
        for mask, other in (("1", "0"), ("0", "1"), ("1", "1"))
    ),
    strided("1..4,?", [0, 1], [2, 3], [1, 1], UNMASKED, (4, 5), shrink_axis_mask="0,1"),
    strided("...", begin=[0, 1], end=[2, 3], strides=[1, 1], run=False),
    strided("4,5", begin="2", end=[2, 3], strides=[1, 1], run=False),
    strided("4,5", begin=[0, 1], end="2", strides=[1, 1], run=False),
    strided("4,5", begin=[0, 1], end=[2, 3], strides="2", run=False),
    strided("4,5", begin="2", end="2", strides=[1, 2], run=False),
    strided("4,5", begin="2", end="2", run=False),
    strided("4,5", begin="?", end="?", strides="?", run=False),
    strided("4,5", begin="...", end="...", strides="...", run=False),
    strided("4,5", "2", "2", [1, 1], UNMASKED, shrink_axis_mask="0,1", run=False),
    strided("4,5", "2", "2", [1, 1], UNMASKED, new_axis_mask="1,0", run=False),
    *(strided("4,2", begin=[1], end=[3], strides=[1], t=t) for t in TYPES),
    *(
        strided("4,2", begin=[1], end=[3], strides=[1], t=t, run=False)
        for t in (*PACKED, "string", "dynamic")
    ),
    strided("4,5", begin=[1, 0], end=[3, 5], strides=[1, 2], index="i32"),
    strided("4,5", begin=[1, 0], end=[3, 5], strides=[1, 2], index="u8"),
    as_shape(
        node("StridedSlice-1", "begin_mask=0 end_mask=1", SIZES, "i64{[1]} i64{[0]} i64{[1]}")
    ),
    # refusals
    strided("4,5", begin=[1, 0], end=[3, 5], strides=[1, 0]),
    strided("4,5", begin=[1, 0, 0], end=[3, 5, 1], strides=[1, 1, 1]),
    strided("4,5", begin=[1, 0], end=[3], strides=[1, 1]),
    strided("4,5", begin=[1, 0], end=[3, 5], strides=[1]),
    strided("4,5", begin=[[1]], end=[3], strides=[1]),
    strided("4,5", begin=1, end=3, strides=1),
    strided("4,5", begin=[1.0, 0.0], end=[3.0, 5.0], strides=[1.0, 1.0], index="f32"),
    strided("4,5", begin=[1, 0], end=[3, 5], strides=[1, 1], masks=("2,0", "0,0")),
    strided("4,5", begin=[1, 0], end=[3, 5], strides=[1, 1], masks=("0,0", "0")),
    strided("4,5", [1, 0], [3, 5], [1, 1], UNMASKED, ellipsis_mask="1,1"),
    strided("", begin=[0], end=[1], strides=[1]),
    strided(
        "4,5",
        begin=[1, 7],
        end=[3, 8],
        strides=[1, 1],
        masks=UNMASKED,
        shrink_axis_mask="0,1",
        run=False,
        known="shrink-out-of-range",
    ),
    strided(
        "4,5",
        begin=[1, -6],
        end=[3, 8],
        strides=[1, 1],
        masks=UNMASKED,
        shrink_axis_mask="0,1",
        run=False,
        known="shrink-out-of-range",
    ),
    row("StridedSlice-1", {}, "f32[4] i64{[1]} i64{[2]}", known="missing-attribute"),
    row("StridedSlice-1", "begin_mask=0 end_mask=0", "f32[4] i64{[1]}"),
]
SHRINKING = [
    unrun(
        "Add-1",
        {},
        *[node(type, attributes, "f32[1..8] i64{[-5]} i64{[1]} i64{[1]}")] * 2,
        id=f"{type}-shrinks",
        known="slice-shrinks",
    )
    for type, attributes in (("Slice-8", ""), ("StridedSlice-1", "begin_mask=0 end_mask=0"))
]

test_slicing = against_openvino(*SLICE, *STRIDED, *SHRINKING)


def test_parts_of_an_axis_of_any_size() -> None:
    """For every size, start and stop, the slice lies within the bounds, and these are reached."""
    from irshape.ops.movement.index_ranges import Run, sliced
    from irshape.ops.tensors import Bounds
    from irshape.shapes import UNBOUNDED, Dimension

    rng = np.random.default_rng(7)
    for _ in range(3000):
        low, high = sorted(rng.integers(0, 9, 2).tolist())
        unbounded = rng.random() < 0.2
        start, stop = (Bounds(*sorted(rng.integers(-10, 11, 2).tolist())) for _ in "ab")
        if rng.random() < 0.5:
            start, stop = Bounds(start.low, start.low), Bounds(stop.low, stop.low)
        step = int(rng.choice([-3, -2, -1, 1, 2, 3]))
        size_bounds = sliced(Dimension(low, UNBOUNDED if unbounded else high), start, stop, step)
        sizes = range(low, 40 if unbounded else high + 1)
        taken = {
            Run.of(n, a, b, step).taken
            for n in sizes
            for a in range(start[0], start[1] + 1)
            for b in range(stop[0], stop[1] + 1)
        }
        what = (low, high, unbounded, start, stop, step, size_bounds)
        assert size_bounds.low <= min(taken) <= max(taken) <= size_bounds.high, what
        if start[0] == start[1] and stop[0] == stop[1] and size_bounds.high < UNBOUNDED:
            assert (size_bounds.low, size_bounds.high) == (min(taken), max(taken)), what
