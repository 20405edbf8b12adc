"""Convolutions against OpenVINO: shapes, refusals and values of every form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential.cases import Case, Data, case_id, const, data, node, row
from differential.compare import check
from differential.oracle import Oracle

from irshape.ops.convolution import kernels
from irshape.ops.convolution.forward import Convolution, GroupConvolution

INF, NAN = float("inf"), float("nan")
TEXT = {"string": "text-as-number"}


SIGNED = np.random.default_rng(1).integers(-2, 2, (1, 2, 5, 5))
FILTERS = np.random.default_rng(2).integers(-2, 2, (3, 2, 3, 3))


def convolved(array: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """The convolution of whole numbers with stride 1 and no padding, term by term."""
    windows = np.lib.stride_tricks.sliding_window_view(array, filters.shape[2:], axis=(2, 3))
    return np.einsum("ncyxij,ocij->noyx", windows, filters)


def attributes(axes: int = 2, **changed: str) -> dict[str, str]:
    """The attributes that OpenVINO's writer writes, for that many spatial axes.

    The value `absent` leaves an attribute out.
    """
    defaults = {"strides": ["1"], "pads_begin": ["0"], "pads_end": ["0"], "dilations": ["1"]}
    written = (
        {name: ",".join(one * axes) for name, one in defaults.items()}
        | {"auto_pad": "explicit"}
        | changed
    )
    return {name: text for name, text in written.items() if text != "absent"}


def f32(shape: str, run_shape: tuple[int, ...] | None = None) -> Data:
    return data("f32", shape, run_shape=run_shape)


FORMS: list[tuple[str, dict[str, str]]] = [
    ("1,2,7,8", attributes()),
    ("1,2,7,8", attributes(strides="2,3")),
    ("1,2,7,8", attributes(pads_begin="1,0", pads_end="2,1")),
    ("1,2,7,8", attributes(dilations="2,3", pads_begin="2,2", pads_end="2,2")),
    ("1,2,7,8", attributes(strides="2,2", dilations="1,2", pads_begin="3,0", pads_end="0,3")),
    ("1,2,7,8", attributes(auto_pad="same_upper")),
    ("1,2,7,8", attributes(auto_pad="same_lower", strides="2,2")),
    ("1,2,7,8", attributes(auto_pad="same_upper", strides="2,3", dilations="2,1")),
    (
        "1,2,7,8",
        attributes(auto_pad="SAME_LOWER", strides="3,2", dilations="1,3", pads_begin="5,5"),
    ),
    ("1,2,7,8", attributes(auto_pad="valid", pads_begin="4,4", pads_end="4,4")),
    ("3,2,7,8", attributes(strides="7,8")),
]
"""Data of two channels and attributes of two axes, for every operation with a 3 × 2 filter."""

CONVOLUTION = [
    *(row("Convolution-1", form, f32(shape), "f32[4,2,3,2]") for shape, form in FORMS),
    row("Convolution-1", attributes(1), "f32[2,3,9]", "f32[4,3,3]"),
    row(
        "Convolution-1",
        attributes(1, strides="2", auto_pad="same_lower"),
        "f32[2,3,9]",
        "f32[4,3,2]",
    ),
    row("Convolution-1", attributes(3), "f32[1,2,4,5,6]", "f32[3,2,2,1,3]"),
    row(
        "Convolution-1",
        attributes(3, pads_begin="1,1,0", pads_end="0,1,2", strides="2,1,2", dilations="1,2,1"),
        "f32[2,2,4,5,6]",
        "f32[3,2,2,2,3]",
    ),
    row("Convolution-1", attributes(), "f32[1,3,5,5]", "f32[2,3,1,1]"),
    row("Convolution-1", attributes(strides="2,2"), "f32[2,3,5,5]", "f32[2,3,1,1]"),
    row("Convolution-1", attributes(pads_begin="1,1"), "f32[2,3,5,5]", "f32[2,3,1,1]"),
    # element types
    *(
        row("Convolution-1", attributes(), f"{t}[1,2,5,5]", f"{t}[3,2,3,3]")
        for t in ("f16", "bf16", "f64")
    ),
    *(
        row("Convolution-1", attributes(), f"{t}[1,2,5,5]", f"{t}[3,2,3,3]", run=t in ("u8", "i32"))
        for t in ("u8", "i32", "i64", "u64", "i4", "u1", "f8e4m3")
    ),
    row(
        "Convolution-1",
        attributes(),
        data("i8", "1,2,5,5", values=SIGNED),
        data("i8", "3,2,3,3", values=FILTERS),
        known="convolution-of-i8",
        expected=[convolved(SIGNED, FILTERS)],
    ),
    *(
        row("Convolution-1", attributes(), f"{t}[1,2,5,5]", f"{t}[3,2,3,3]", run=False)
        for t in ("nf4", "boolean")
    ),
    row(
        "Convolution-1",
        attributes(),
        "string[1,2,5,5]",
        "string[3,2,3,3]",
        run=False,
        known="text-as-number",
    ),
    row("Convolution-1", attributes(), "f32[1,2,5,5]", "f16[3,2,3,3]"),
    row("Convolution-1", attributes(), "u8[1,2,5,5]", "i8[3,2,3,3]"),
    row("Convolution-1", attributes(), "dynamic[1,2,5,5]", "f16[3,2,3,3]", run=False),
    row("Convolution-1", attributes(), "f16[1,2,5,5]", "dynamic[3,2,3,3]", run=False),
    row("Convolution-1", attributes(), "dynamic[1,2,5,5]", "dynamic[3,2,3,3]", run=False),
    # what is not a number
    row(
        "Convolution-1",
        attributes(),
        data("f32", "1,1,1,5", [[[[1, INF, 2, NAN, 3]]]]),
        const("f32", [[[[1.0, 2.0]]]]),
    ),
    row(
        "Convolution-1",
        attributes(),
        data("f16", "1,2,1,2", [[[[60000, 1]], [[60000, 2]]]]),
        const("f16", [[[[1.0]], [[1.0]]]]),
    ),
    # dynamic shapes
    row("Convolution-1", attributes(), f32("1..4,2,?,5..9", (2, 2, 6, 7)), "f32[4,2,3,2]"),
    row(
        "Convolution-1",
        attributes(strides="2,3", pads_begin="1,1", pads_end="1,1"),
        f32("?,..3,4..9,6..", (2, 2, 6, 7)),
        "f32[4,2,3,2]",
    ),
    row(
        "Convolution-1",
        attributes(dilations="2,2"),
        f32("?,2,4..9,2..8", (2, 2, 6, 7)),
        "f32[1..5,2,3,2]",
    ),
    row(
        "Convolution-1",
        attributes(dilations="2,3", strides="2,2"),
        f32("?,2,9,2..8", (1, 2, 9, 7)),
        "f32[4,?,1..3,?]",
    ),
    row(
        "Convolution-1",
        attributes(auto_pad="same_upper", strides="2,2"),
        f32("1,2,?,3..9", (1, 2, 5, 6)),
        "f32[4,2,3,2]",
    ),
    row("Convolution-1", attributes(auto_pad="same_lower"), "f32[1,2,5,6]", "f32[4,2,?,1..3]"),
    row(
        "Convolution-1",
        attributes(auto_pad="valid"),
        "f32[1,2,2..,6]",
        f32("4,2,3,1..3", (4, 2, 3, 2)),
        run=False,
    ),
    row("Convolution-1", attributes(), "f32[...]", "f32[4,2,3,2]"),
    row("Convolution-1", attributes(), "f32[1,2,7,8]", "f32[...]"),
    row("Convolution-1", attributes(), "f32[...]", "f32[...]"),
    row(
        "Convolution-1",
        attributes(auto_pad="same_upper", strides="2,2"),
        "f32[1,2,7,8]",
        "f32[...]",
    ),
    row("Convolution-1", attributes(auto_pad="same_upper"), "f32[...]", "f32[4,2,3,2]"),
    row(
        "Convolution-1",
        attributes(strides="", dilations="", pads_begin="", pads_end=""),
        "f32[...]",
        "f32[...]",
    ),
    row(
        "Convolution-1",
        attributes(strides="", dilations="1,1,1", pads_begin="", pads_end=""),
        "f32[...]",
        "f32[...]",
    ),
    row(
        "Convolution-1",
        attributes(strides="", dilations="", pads_begin="", pads_end="0"),
        "f32[...]",
        "f32[...]",
    ),
    row("Convolution-1", attributes(), "f32[1,2,1000000000000,8]", "f32[4,2,3,2]", run=False),
    # no elements
    row("Convolution-1", attributes(), "f32[0,2,5,5]", "f32[3,2,3,3]"),
    row("Convolution-1", attributes(), "f32[1,0,5,5]", "f32[3,0,3,3]", run=False),
    row("Convolution-1", attributes(), "f32[1,2,5,5]", "f32[0,2,3,3]", run=False),
    row("Convolution-1", attributes(), "f32[1,2,5,5]", "f32[3,2,0,3]", run=False),
    row("Convolution-1", attributes(), "f32[1,2,0,5]", "f32[3,2,1,3]"),
    # attributes
    row(
        "Convolution-1",
        attributes(strides="", dilations="", pads_begin="", pads_end=""),
        "f32[1,2,5,5]",
        "f32[3,2,3,3]",
    ),
    *(
        row(
            "Convolution-1",
            attributes(**{name: "absent"}),
            "f32[1,2,5,5]",
            "f32[3,2,3,3]",
            known="missing-attribute",
        )
        for name in ("strides", "dilations", "pads_begin", "pads_end")
    ),
    row("Convolution-1", attributes(auto_pad="absent"), "f32[1,2,5,5]", "f32[3,2,3,3]"),
    row("Convolution-1", attributes(auto_pad="banana"), "f32[1,2,5,5]", "f32[3,2,3,3]"),
    row("Convolution-1", attributes(auto_pad="notset"), "f32[1,2,5,5]", "f32[3,2,3,3]"),
    *(
        row("Convolution-1", attributes(**{name: "0,1"}), "f32[1,2,5,5]", "f32[3,2,3,3]")
        for name in ("strides", "dilations")
    ),
    *(
        row("Convolution-1", attributes(**{name: text}), "f32[1,2,5,5]", "f32[3,2,3,3]")
        for name in ("strides", "dilations", "pads_begin", "pads_end")
        for text in ("1", "1,1,1", "one,1")
    ),
    *(
        row(
            "Convolution-1",
            attributes(**{name: "-1,1"}),
            "f32[1,2,5,5]",
            "f32[3,2,3,3]",
            run=False,
            known="negative-size-attribute",
        )
        for name in ("strides", "dilations", "pads_begin", "pads_end")
    ),
    row("Convolution-1", attributes(output_padding="0,0"), "f32[1,2,5,5]", "f32[3,2,3,3]"),
    # refused
    *(
        row("Convolution-1", attributes(), f32(shape), f32(filters))
        for shape, filters in (
            ("1,2,5,5", "3,3,3,3"),
            ("1,2,5,5", "3,2,3"),
            ("1,2", "3,2"),
            ("1,2,5,5,5,5", "3,2,3,3,3,3"),
            ("", "3,2,3,3"),
            ("1,2,5,5", "3,2,6,3"),
            ("1,2,5,5", "3,2,3,6"),
            ("1,2..4,5,5", "3,5..6,3,3"),
            ("...", "3,2"),
            ("1,2,5,5", "3,2,3,3,3"),
            ("1,2,5,5", ""),
        )
    ),
    row("Convolution-1", attributes(dilations="3,1"), "f32[1,2,5,5]", "f32[3,2,3,3]"),
    row("Convolution-1", attributes(3), "f32[1,2,5,5]", "f32[3,2,3,3]"),
    row("Convolution-1", attributes(), "f32[1,2,5,5]"),
    row("Convolution-1", attributes(), "f32[1,2,5,5]", "f32[3,2,3,3]", "f32[3]"),
]


@pytest.mark.parametrize("case", CONVOLUTION, ids=case_id)
def test_convolution(case: Case, oracle: Oracle) -> None:
    check(case, oracle)


GROUPED = [
    *(row("GroupConvolution-1", form, f32(shape), "f32[2,2,1,3,2]") for shape, form in FORMS),
    *(row("GroupConvolution-1", form, f32(shape), "f32[1,3,2,3,2]") for shape, form in FORMS[:3]),
    row("GroupConvolution-1", attributes(), "f32[2,6,5,5]", "f32[3,4,2,3,3]"),
    row("GroupConvolution-1", attributes(), "f32[2,6,5,5]", "f32[6,1,1,3,3]"),
    row("GroupConvolution-1", attributes(strides="2,2"), "f32[2,6,5,5]", "f32[6,2,1,1,1]"),
    row("GroupConvolution-1", attributes(1, pads_begin="1"), "f32[2,6,9]", "f32[3,2,2,3]"),
    row("GroupConvolution-1", attributes(3), "f32[1,4,4,5,6]", "f32[2,2,2,2,1,3]"),
    row("GroupConvolution-1", attributes(3), "f32[1,4,4,5,6]", "f32[4,1,1,2,1,3]"),
    *(
        row("GroupConvolution-1", attributes(), f"{t}[1,4,5,5]", f"{t}[4,1,1,3,3]")
        for t in ("f16", "bf16", "f64")
    ),
    *(
        row(
            "GroupConvolution-1",
            attributes(),
            f"{t}[1,4,5,5]",
            f"{t}[2,3,2,3,3]",
            run=t in ("u8", "i32"),
            known=TEXT.get(t, ""),
        )
        for t in ("u8", "i32", "i64", "boolean", "string")
    ),
    row(
        "GroupConvolution-1",
        attributes(),
        data("i8", "1,4,5,5", values=np.concatenate([SIGNED, SIGNED], axis=1)),
        data("i8", "2,3,2,3,3", values=np.stack([FILTERS, FILTERS])),
        known="convolution-of-i8",
        expected=[np.concatenate([convolved(SIGNED, FILTERS)] * 2, axis=1)],
    ),
    row("GroupConvolution-1", attributes(), "f32[1,4,5,5]", "f16[2,3,2,3,3]"),
    row("GroupConvolution-1", attributes(), f32("1..4,4,?,5..9", (2, 4, 6, 7)), "f32[2,3,2,3,2]"),
    row("GroupConvolution-1", attributes(), "f32[1,4,6,7]", "f32[?,3,2,3,2]"),
    row("GroupConvolution-1", attributes(), "f32[1,?,6,7]", "f32[1..4,3,2,3,2]", run=False),
    row("GroupConvolution-1", attributes(), "f32[1,2..8,6,7]", "f32[?,3,2,3,2]", run=False),
    row("GroupConvolution-1", attributes(), "f32[1,3..,6,7]", "f32[?,2..3,2,3,2]", run=False),
    row("GroupConvolution-1", attributes(), "f32[1,4,6,7]", "f32[2,3,?,3,2]"),
    row("GroupConvolution-1", attributes(), "f32[1,4,6,7]", "f32[?,3,?,3,2]"),
    row("GroupConvolution-1", attributes(), "f32[1,4,6,7]", "f32[...]"),
    row("GroupConvolution-1", attributes(), "f32[...]", "f32[2,3,2,3,2]"),
    row("GroupConvolution-1", attributes(), "f32[...]", "f32[...]"),
    row(
        "GroupConvolution-1",
        attributes(auto_pad="same_upper", strides="2,2"),
        "f32[1,4,6,?]",
        "f32[...]",
    ),
    row(
        "GroupConvolution-1", attributes(), "f32[1,4,1000000000000,7]", "f32[2,3,2,3,2]", run=False
    ),
    row("GroupConvolution-1", attributes(), "f32[0,4,6,7]", "f32[2,3,2,3,2]"),
    row("GroupConvolution-1", attributes(), "f32[1,0,6,7]", "f32[2,3,0,3,2]", run=False),
    row("GroupConvolution-1", attributes(), "f32[1,0,6,7]", "f32[0,3,2,3,2]", run=False),
    *(
        row("GroupConvolution-1", attributes(), f32(shape), f32(filters))
        for shape, filters in (
            ("1,4,5,5", "2,3,3,3,3"),
            ("1,4,5,5", "3,3,2,3,3"),
            ("1,5,5,5", "2,3,2,3,3"),
            ("1,4,5,5", "3,2,3,3"),
            ("1,4,5,5", "2,3,2,6,3"),
            ("1,4", "2,3,2"),
            ("1,4,5,5,5,5", "2,3,2,3,3,3,3"),
            ("...", "2,3,2"),
            ("1,5,5,5", "?,3,2,3,3"),
            ("1,7..9,5,5", "2..3,3,2,3,3"),
        )
    ),
    row("GroupConvolution-1", attributes(strides="0,1"), "f32[1,4,5,5]", "f32[2,3,2,3,3]"),
    row("GroupConvolution-1", attributes(pads_end="1"), "f32[1,4,5,5]", "f32[2,3,2,3,3]"),
    row(
        "GroupConvolution-1",
        attributes(dilations="absent"),
        "f32[1,4,5,5]",
        "f32[2,3,2,3,3]",
        known="missing-attribute",
    ),
    row("GroupConvolution-1", attributes(), "f32[1,4,5,5]"),
]


@pytest.mark.parametrize("case", GROUPED, ids=case_id)
def test_group_convolution(case: Case, oracle: Oracle) -> None:
    check(case, oracle)


def back(axes: int = 2, **changed: str) -> dict[str, str]:
    return attributes(axes, **{"output_padding": ",".join("0" * axes)} | changed)


BACK_FORMS = [
    back(),
    back(strides="2,3"),
    back(pads_begin="1,0", pads_end="1,1"),
    back(dilations="2,3"),
    back(strides="3,2", dilations="1,2", pads_begin="0,1", pads_end="1,0", output_padding="2,1"),
    back(auto_pad="valid", pads_begin="1,1"),
    back(auto_pad="same_upper", strides="2,2"),
    back(output_padding="absent"),
    back(output_padding="", strides="2,2"),
]
SIZED = [
    (back(strides="2,2"), [9, 8]),
    (back(strides="2,2", auto_pad="same_upper"), [6, 7]),
    (back(strides="2,2", auto_pad="same_lower"), [6, 7]),
    (back(strides="2,2", auto_pad="same_upper", output_padding="1,1"), [6, 7]),
    (back(strides="3,3", auto_pad="same_lower", dilations="2,1"), [10, 11]),
    (back(strides="2,2", auto_pad="valid"), [9, 10]),
    (back(strides="1,1", auto_pad="same_upper"), [4, 5]),
    (back(strides="2,2", auto_pad="same_upper"), [12, 13]),
]
i32_list = data("i32", "2", [6, 7])


def rows(operation: str, filters: str) -> list[Case]:
    """Data of 4 channels, 4 by 5 pixels; `filters` of a kernel of 3 by 2."""
    shape = "2,4,4,5"
    lead = filters[: -len("3,2")]
    one = "1," * filters.count(",") + "2"
    shape_of = node("ShapeOf", "opset3", {"output_type": "i64"}, [f32("2..9,..5")])
    return [
        *(row(f"{operation}-1", form, f32(shape), f32(filters)) for form in BACK_FORMS),
        *(
            row(f"{operation}-1", form, f32(shape), f32(filters), const("i64", sizes))
            for form, sizes in SIZED
        ),
        row(f"{operation}-1", back(1, strides="2"), "f32[2,4,5]", f32(lead + "3")),
        row(
            f"{operation}-1",
            back(3, strides="2,1,1", pads_end="0,1,1"),
            "f32[1,4,3,4,5]",
            f32(lead + "2,1,3"),
        ),
        row(f"{operation}-1", back(), f32(shape), f32(lead + "1,1")),
        *(
            row(f"{operation}-1", back(), data(t, shape), data(t, filters))
            for t in ("f16", "bf16", "f64")
        ),
        *(
            row(
                f"{operation}-1",
                back(),
                data(t, shape),
                data(t, filters),
                run=t in ("u8", "i32"),
                known=TEXT.get(t, ""),
            )
            for t in ("i8", "u8", "i32", "i64", "boolean", "string")
        ),
        row(
            f"{operation}-1",
            back(),
            data("i8", "1,1,1,2", [[[[1, -2]]]]),
            data("i8", one, np.reshape([3, -1], [int(each) for each in one.split(",")])),
            known="convolution-of-i8",
            expected=[np.array([[[[3, -7, 2]]]], np.int8)],
        ),
        row(f"{operation}-1", back(), data("f32", shape), data("f16", filters)),
        row(f"{operation}-1", back(), data("dynamic", shape), data("f16", filters), run=False),
        row(f"{operation}-1", back(), f32(shape), f32(filters), data("f32", "2", [6, 7])),
        *(
            row(f"{operation}-1", back(strides="2,2"), f32(shape), f32(filters), const(t, [9, 10]))
            for t in ("i32", "u8", "u64")
        ),
        # dynamic shapes
        row(
            f"{operation}-1",
            back(strides="2,2", pads_begin="1,1"),
            f32("1..4,?,3..9,4..", (2, 4, 4, 5)),
            f32(filters),
        ),
        row(
            f"{operation}-1",
            back(dilations="2,2", pads_begin="3,3"),
            "f32[?,4,..3,..3]",
            f32(lead + "?,1..3"),
            run=False,
        ),
        row(
            f"{operation}-1",
            back(pads_begin="3,3", pads_end="3,3"),
            "f32[1,4,4,5]",
            f32(filters),
            run=False,
        ),
        row(
            f"{operation}-1",
            back(auto_pad="same_upper"),
            "f32[1,4,?,3..8]",
            f32(filters),
            run=False,
        ),
        row(f"{operation}-1", back(), "f32[...]", f32(filters)),
        row(f"{operation}-1", back(), f32(shape), "f32[...]"),
        row(f"{operation}-1", back(), "f32[...]", "f32[...]"),
        row(f"{operation}-1", back(), "f32[...]", "f32[...]", const("i64", [6, 7])),
        row(
            f"{operation}-1",
            back(strides="", dilations="", pads_begin="", pads_end="", output_padding=""),
            "f32[...]",
            "f32[...]",
        ),
        row(
            f"{operation}-1",
            back(strides="", dilations="", pads_begin="", pads_end="", output_padding=""),
            "f32[...]",
            "f32[...]",
            const("i64", [6, 7, 8]),
        ),
        row(f"{operation}-1", back(), "f32[?,4,4,5]", f32(filters), i32_list, run=False),
        *(
            row(
                f"{operation}-1",
                back(),
                f32(a),
                f32(b),
                data("i32", length),
                run=False,
                known="list-of-unknown-length",
            )
            for a, b, length in (
                (shape, filters, "?"),
                (shape, filters, "2..4"),
                (shape, filters, "..."),
                ("...", filters, "?"),
                ("...", "...", "?"),
            )
        ),
        row(
            f"{operation}-1",
            back(strides="", dilations="", pads_begin="", pads_end="", output_padding=""),
            "f32[...]",
            "f32[...]",
            "i32[?]",
            run=False,
        ),
        row(f"{operation}-1", back(), "f32[?,4,?,5]", f32(filters), shape_of, run=False),
        row(f"{operation}-1", back(), "f32[1,4,1000000000000,5]", f32(filters), run=False),
        row(f"{operation}-1", back(), "f32[0,4,4,5]", f32(filters), run=False),
        row(f"{operation}-1", back(), "f32[1,4,0,5]", f32(filters), run=False),
        # refused
        row(f"{operation}-1", back(), "f32[1,3,4,5]", f32(filters)),
        row(f"{operation}-1", back(1), "f32[1,4,4]", f32(filters)),
        row(f"{operation}-1", back(), "f32[1,4]", f32(lead[:-1])),
        row(f"{operation}-1", back(), "f32[]", f32(filters)),
        row(f"{operation}-1", back(4), "f32[1,4,2,2,2,2]", f32(lead + "1,1,1,1")),
        row(f"{operation}-1", back(), "f32[...]", f32(lead[:-1])),
        row(f"{operation}-1", back(), f32(shape), f32(filters), const("i64", [6, 7, 8])),
        row(f"{operation}-1", back(), f32(shape), f32(filters), const("i64", 6)),
        row(f"{operation}-1", back(), f32(shape), f32(filters), const("i64", [[6, 7]])),
        row(f"{operation}-1", back(), f32(shape), f32(filters), const("i64", [-6, 7])),
        row(f"{operation}-1", back(), f32(shape), f32(filters), const("i64", [-1, 7]), run=False),
        row(f"{operation}-1", back(output_padding="0"), f32(shape), f32(filters)),
        row(f"{operation}-1", back(output_padding="1,1,1"), f32(shape), f32(filters)),
        row(f"{operation}-1", back(strides="0,1"), f32(shape), f32(filters)),
        row(f"{operation}-1", back(dilations="1,0"), f32(shape), f32(filters)),
        row(f"{operation}-1", back(pads_begin="1"), f32(shape), f32(filters)),
        row(
            f"{operation}-1",
            back(strides="absent"),
            f32(shape),
            f32(filters),
            known="missing-attribute",
        ),
        row(f"{operation}-1", back(), f32(shape)),
    ]


BACK = rows("ConvolutionBackpropData", "4,3,3,2") + rows(
    "GroupConvolutionBackpropData", "2,2,3,3,2"
)
BACK_GROUPS = [
    row("GroupConvolutionBackpropData-1", back(strides="2,2"), "f32[2,4,4,5]", "f32[4,1,1,3,3]"),
    row(
        "GroupConvolutionBackpropData-1",
        back(strides="2,2"),
        "f32[2,4,4,5]",
        "f32[1,4,3,3,3]",
        run=False,
        note="the CPU plugin cannot run a single group",
    ),
    row("GroupConvolutionBackpropData-1", back(), "f32[1,4,6,7]", "f32[?,2,3,3,2]"),
    row("GroupConvolutionBackpropData-1", back(), "f32[1,4..9,6,7]", "f32[?,2,..3,3,2]", run=False),
    row("GroupConvolutionBackpropData-1", back(), "f32[1,?,6,7]", "f32[2..5,2,3,3,2]", run=False),
    row("GroupConvolutionBackpropData-1", back(), "f32[1,4,6,7]", "f32[2..5,?,3,3,2]", run=False),
    row("GroupConvolutionBackpropData-1", back(), "f32[1,5,6,7]", "f32[2,2,3,3,2]"),
    row("GroupConvolutionBackpropData-1", back(), "f32[1,5,6,7]", "f32[?,2,3,3,2]"),
]


@pytest.mark.parametrize("case", BACK + BACK_GROUPS, ids=case_id)
def test_backward(case: Case, oracle: Oracle) -> None:
    check(case, oracle)


def binary(**changed: str) -> dict[str, str]:
    return attributes(**{"mode": "xnor-popcount", "pad_value": "0"} | changed)


def bits(element_type: str, *shape: int) -> Data:
    return data(element_type, ",".join(map(str, shape)), lambda rng: rng.integers(0, 2, shape))


HALVES = np.resize([1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 0, 1], 4 * 4 * 9).reshape(-1, 4)
BITS = const("u1", np.concatenate([HALVES, HALVES[:, ::-1]], axis=1).reshape(4, 8, 3, 3))
"""Bytes that read the same in either direction."""
BINARY = [
    *(
        row(
            "BinaryConvolution-1",
            binary(pad_value=pad, pads_begin="1,1", pads_end="1,1"),
            bits("f32", 1, 8, 5, 6),
            BITS,
        )
        for pad in ("0", "1", "-1", "0.5")
    ),
    row("BinaryConvolution-1", binary(), bits("f32", 2, 8, 5, 6), BITS),
    row(
        "BinaryConvolution-1", binary(strides="2,1", dilations="1,2"), bits("f32", 1, 8, 5, 6), BITS
    ),
    row(
        "BinaryConvolution-1",
        binary(auto_pad="same_upper", strides="2,2"),
        bits("f32", 1, 8, 5, 6),
        BITS,
    ),
    row("BinaryConvolution-1", binary(auto_pad="same_lower"), bits("f32", 1, 8, 5, 6), BITS),
    row(
        "BinaryConvolution-1",
        binary(),
        bits("f32", 1, 8, 3, 3),
        const("u1", [[[[1]]]] * 7 + [[[[0]]]], (1, 8, 1, 1)),
        known="binary-convolution-bits",
    ),
    row("BinaryConvolution-1", binary(), "f32[?,8,?,3..7]", BITS, run=False),
    row("BinaryConvolution-1", binary(auto_pad="valid"), "f32[...]", BITS),
    row("BinaryConvolution-1", binary(), "f32[1,8,5,6]", "u1[...]"),
    row("BinaryConvolution-1", binary(), "f32[...]", "u1[...]"),
    *(
        row(
            "BinaryConvolution-1", binary(), f"{t}[1,8,5,6]", BITS, run=False, known=TEXT.get(t, "")
        )
        for t in ("f16", "i32", "u8", "boolean", "u1", "dynamic", "string")
    ),
    *(
        row(
            "BinaryConvolution-1",
            binary(),
            "f32[1,8,5,6]",
            f"{t}[4,8,3,3]",
            run=False,
            known=TEXT.get(t, ""),
        )
        for t in ("u1", "f32", "i8", "boolean", "dynamic", "string")
    ),
    *(
        row("BinaryConvolution-1", binary(), f32(shape), BITS)
        for shape in ("1,7,5,6", "1,8,5", "1,8,2,6", "1,8,5,6,7", "")
    ),
    row("BinaryConvolution-1", binary(), "f32[1,8,5]", "u1[4,8,3]"),
    row("BinaryConvolution-1", binary(mode="and"), "f32[1,8,5,6]", BITS),
    row("BinaryConvolution-1", binary(mode="XNOR-POPCOUNT"), "f32[1,8,5,6]", BITS, run=False),
    row("BinaryConvolution-1", binary(pad_value="none"), "f32[1,8,5,6]", BITS),
    row(
        "BinaryConvolution-1",
        binary(mode="absent"),
        "f32[1,8,5,6]",
        BITS,
        known="missing-attribute",
    ),
    row(
        "BinaryConvolution-1",
        binary(pad_value="absent"),
        "f32[1,8,5,6]",
        BITS,
        known="missing-attribute",
    ),
    row("BinaryConvolution-1", binary(strides="0,1"), "f32[1,8,5,6]", BITS),
    row("BinaryConvolution-1", binary(pads_begin="1"), "f32[1,8,5,6]", BITS),
    row("BinaryConvolution-1", binary(), "f32[1,8,5,6]"),
]


@pytest.mark.parametrize("case", BINARY, ids=case_id)
def test_binary(case: Case, oracle: Oracle) -> None:
    check(case, oracle)


def deformable(**changed: str) -> dict[str, str]:
    return attributes(**{"group": "1", "deformable_group": "1"} | changed)


def moves(shape: str, reach: float = 1.5) -> Data:
    return data("f32", shape, low=-reach, high=reach)


def deformed(
    version: str,
    form: dict[str, str] | None = None,
    shape: str = "1,2,5,6",
    offsets: str = "1,18,3,4",
    filters: str = "4,2,3,3",
    reach: float = 1.5,
) -> Case:
    """A DeformableConvolution that is run, with offsets from -`reach` to `reach`."""
    inputs = [f32(shape), moves(offsets, reach), f32(filters)]
    return Case("DeformableConvolution", version, form or deformable(), inputs)


WEIGHTS = data("f32", "1,9,3,4", low=0, high=1)
DEFORMABLE = [
    *(
        deformed(version, **row)
        for version in ("opset1", "opset8")
        for row in (
            {},
            {"reach": 6.0},
            {"reach": 0.0},
            {
                "form": deformable(pads_begin="1,1", pads_end="1,1"),
                "shape": "2,2,5,6",
                "offsets": "2,18,5,6",
            },
            {
                "form": deformable(
                    strides="2,1", dilations="1,2", pads_begin="1,2", pads_end="1,2"
                ),
                "offsets": "1,18,3,6",
            },
            {"form": deformable(group="2"), "shape": "1,4,5,6"},
            {
                "form": deformable(deformable_group="2"),
                "shape": "1,4,5,6",
                "offsets": "1,36,3,4",
                "filters": "3,4,3,3",
            },
            {
                "form": deformable(group="2", deformable_group="4"),
                "shape": "1,4,5,6",
                "offsets": "1,16,4,6",
                "filters": "4,2,2,1",
            },
            {
                "form": deformable(auto_pad="same_upper"),
                "offsets": "1,12,5,6",
                "filters": "4,2,2,3",
            },
            {
                "form": deformable(auto_pad="same_lower", strides="2,2"),
                "offsets": "1,12,3,3",
                "filters": "4,2,2,3",
            },
        )
    ),
    *(
        row(
            "DeformableConvolution-8",
            form,
            "f32[1,2,5,6]",
            moves("1,18,3,4", reach),
            "f32[4,2,3,3]",
            WEIGHTS,
        )
        for form in (deformable(), deformable(bilinear_interpolation_pad="true"))
        for reach in (1.5, 8.0)
    ),
    row(
        "DeformableConvolution-8",
        deformable(bilinear_interpolation_pad="true"),
        "f32[1,2,5,6]",
        moves("1,18,3,4", 4),
        "f32[4,2,3,3]",
    ),
    row(
        "DeformableConvolution-1",
        deformable(bilinear_interpolation_pad="true"),
        "f32[1,2,5,6]",
        moves("1,18,3,4"),
        "f32[4,2,3,3]",
        run=False,
    ),
    *(
        Case(
            "DeformableConvolution",
            version,
            deformable(),
            [f32(shape), f32(moved), f32(filters)],
            run=False,
        )
        for version in ("opset1", "opset8")
        for shape, moved, filters in (
            ("1..4,2,?,5..9", "?,18,?,?", "4,2,3,3"),
            ("?,2,5..9,6", "1,18,3,4", "4,2,3,3"),
            ("1,?,5,6", "1..3,..18,3,4", "..4,2,3,3"),
            ("1,2,5,6", "...", "4,2,3,3"),
            ("...", "1,18,3,4", "4,2,3,3"),
            ("1,2,5,6", "1,18,3,4", "..."),
            ("...", "...", "4,2,3,3"),
            ("1,2,5,6", "...", "..."),
            ("...", "1,18,3,4", "..."),
            ("...", "...", "..."),
            ("1,2,5,6", "1,?,3,4", "4,2,?,3"),
            ("1,2,1000000000000,6", "1,18,?,4", "4,2,3,3"),
            ("?,2,5,6", "2..3,18,3,4", "4,2,3,3"),
            ("0,2,5,6", "0,18,3,4", "4,2,3,3"),
            # refused
            ("1,2,5,6", "1,17,3,4", "4,2,3,3"),
            ("1,2,5,6", "1,18,4,4", "4,2,3,3"),
            ("1,2,5,6", "2,18,3,4", "4,2,3,3"),
            ("1,2,5,6", "1,18,3,4", "4,3,3,3"),
            ("1,2,5", "1,18,3", "4,2,3"),
            ("1,2,5,6", "1,18,3", "4,2,3,3"),
            ("1,2,5,6", "1,18,3,4", "4,2,3"),
            ("1,2,2,6", "1,18,1,4", "4,2,3,3"),
            ("...", "1,9,3,4", "4,2,3,3"),
        )
    ),
    *(
        row(
            "DeformableConvolution-8",
            deformable(),
            "f32[1,2,5,6]",
            "f32[1,18,3,4]",
            "f32[4,2,3,3]",
            f32(mask),
            run=False,
        )
        for mask in ("1,9,3,4", "?,9,?,1..4", "...", "1,8,3,4", "2,9,3,4", "1,9,4,4", "1,9,3")
    ),
    row(
        "DeformableConvolution-8",
        deformable(),
        "f32[?,2,5,6]",
        "f32[?,18,3,4]",
        "f32[4,2,3,3]",
        "f32[3,9,3,4]",
        run=False,
    ),
    row(
        "DeformableConvolution-8",
        deformable(),
        "f32[...]",
        "f32[...]",
        "f32[...]",
        "f32[1,9,3,4]",
        run=False,
    ),
    row(
        "DeformableConvolution-8",
        deformable(),
        "f32[1,2,5,6]",
        "f32[1,18,3,4]",
        "f32[4,2,3,3]",
        "f16[1,9,3,4]",
        run=False,
    ),
    row(
        "DeformableConvolution-8",
        deformable(),
        "f32[1,2,5,6]",
        "f32[1,18,3,4]",
        "f32[4,2,3,3]",
        "i32[1,9,3,4]",
        run=False,
    ),
    row(
        "DeformableConvolution-1",
        deformable(),
        "f32[1,2,5,6]",
        "f32[1,18,3,4]",
        "f32[4,2,3,3]",
        "f32[1,9,3,4]",
        run=False,
    ),
    *(
        Case(
            "DeformableConvolution",
            version,
            deformable(),
            [data(t, "1,2,5,6"), data(t, "1,18,3,4"), data(t, "4,2,3,3")],
            run=t in ("f16", "bf16"),
            known=TEXT.get(t, ""),
        )
        for version in ("opset1", "opset8")
        for t in ("f16", "bf16", "f64", "i32", "u8", "boolean", "string", "dynamic")
    ),
    row(
        "DeformableConvolution-1",
        deformable(),
        "f32[1,2,5,6]",
        "f16[1,18,3,4]",
        "f32[4,2,3,3]",
        run=False,
    ),
    row(
        "DeformableConvolution-8",
        deformable(),
        "f32[1,2,5,6]",
        "f32[1,18,3,4]",
        "f16[4,2,3,3]",
        run=False,
    ),
    *(
        Case(
            "DeformableConvolution",
            version,
            deformable(**changed),
            [f32("1,2,5,6"), f32("1,18,3,4"), f32("4,2,3,3")],
            run=False,
            known=known,
        )
        for version in ("opset1", "opset8")
        for changed, known in (
            ({"group": "0"}, ""),
            ({"deformable_group": "0"}, ""),
            ({"group": "-1"}, ""),
            ({"deformable_group": "2"}, ""),
            ({"group": "2"}, ""),
            ({"group": "3"}, ""),
            ({"group": "absent", "deformable_group": "absent"}, ""),
            ({"strides": "1"}, ""),
            ({"strides": "0,1"}, ""),
            ({"pads_begin": "absent"}, "missing-attribute"),
            ({"auto_pad": "absent"}, ""),
        )
    ),
    row(
        "DeformableConvolution-1",
        deformable(group="2"),
        "f32[1,3,5,6]",
        "f32[1,18,3,4]",
        "f32[4,?,3,3]",
        run=False,
    ),
    row(
        "DeformableConvolution-1",
        deformable(group="2"),
        "f32[1,4,5,6]",
        "f32[1,18,3,4]",
        "f32[3,2,3,3]",
        run=False,
    ),
    row(
        "DeformableConvolution-1",
        deformable(deformable_group="2"),
        "f32[1,3,5,6]",
        "f32[1,36,3,4]",
        "f32[3,3,3,3]",
        run=False,
    ),
]


@pytest.mark.parametrize("case", DEFORMABLE, ids=case_id)
def test_deformable(case: Case, oracle: Oracle) -> None:
    check(case, oracle)


ANY_LAYOUT: dict[str, Any] = {
    "one pixel": (Convolution, (2, 6, 5, 7), (4, 6, 1, 1), {}),
    "one pixel, strides": (Convolution, (2, 6, 5, 7), (4, 6, 1, 1), {"strides": (2, 2)}),
    "one pixel, padding": (Convolution, (1, 6, 5, 7), (4, 6, 1, 1), {"pads_begin": (1, 0)}),
    "one channel": (Convolution, (1, 1, 5, 7), (4, 1, 1, 1), {}),
    "window": (Convolution, (2, 6, 5, 7), (4, 6, 3, 3), {"pads_end": (1, 1)}),
    "window, gaps": (Convolution, (1, 6, 9, 9), (4, 6, 3, 2), {"dilations": (2, 3)}),
    "window, a line": (Convolution, (2, 17, 245), (2, 17, 3), {"strides": (60,)}),
    "window, blocks of pixels": (Convolution, (1, 17, 20, 13), (2, 17, 2, 2), {"strides": (9, 6)}),
    "depthwise": (GroupConvolution, (2, 6, 9, 7), (6, 1, 1, 3, 2), {"pads_begin": (1, 2)}),
    "depthwise, strides": (GroupConvolution, (1, 6, 9, 7), (6, 1, 1, 3, 3), {"strides": (2, 3)}),
    "depthwise, only padding": (
        GroupConvolution,
        (1, 6, 4, 3),
        (6, 1, 1, 2, 5),
        {"strides": (1, 4), "pads_begin": (0, 9), "pads_end": (1, 6)},
    ),
    "depthwise, less than the data": (
        GroupConvolution,
        (1, 6, 4, 9),
        (6, 1, 1, 2, 3),
        {"strides": (1, 2), "pads_begin": (0, -1), "pads_end": (0, -2)},
    ),
    "depthwise, rows of some pixels": (GroupConvolution, (1, 300, 3, 14), (300, 1, 1, 2, 3), {}),
    "depthwise, gaps": (GroupConvolution, (1, 6, 9, 9), (6, 1, 1, 3, 3), {"dilations": (2, 3)}),
    "depthwise, two filters": (GroupConvolution, (2, 6, 5, 7), (6, 2, 1, 3, 3), {}),
    "depthwise, many channels": (GroupConvolution, (1, 600, 5, 4), (600, 1, 1, 3, 3), {}),
    "depthwise, a line": (GroupConvolution, (2, 6, 9), (6, 1, 1, 4), {"pads_begin": (2,)}),
    "depthwise, a volume": (GroupConvolution, (1, 6, 4, 5, 6), (6, 1, 1, 2, 3, 2), {}),
    "groups": (GroupConvolution, (2, 6, 5, 7), (3, 4, 2, 3, 3), {}),
}


def by_definition(array: np.ndarray, filters: np.ndarray, sizes: dict[str, Any]) -> np.ndarray:
    """`data` `[N, G·C, …]` with `filters` `[G, O, C, …]`, one output at a time, in f64."""
    groups, outputs, inputs, *kernel = filters.shape
    begin, end = sizes["pads_begin"], sizes["pads_end"]
    pads = [(0, 0), (0, 0), *zip(begin, end, strict=True)]
    kept = [slice(max(-a, 0), -max(-b, 0) or None) for a, b in pads]
    grown = [(max(a, 0), max(b, 0)) for a, b in pads]
    area = np.pad(array.astype(np.float64)[tuple(kept)], grown)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, sizes["dilations"], strict=True)]
    steps = [
        (size - span) // stride + 1
        for size, span, stride in zip(area.shape[2:], spans, sizes["strides"], strict=True)
    ]
    result = np.empty((len(array), groups * outputs, *steps))
    for group, output, *step in np.ndindex(groups, outputs, *steps):
        places = [
            slice(at * stride, at * stride + span, gap)
            for at, stride, span, gap in zip(
                step, sizes["strides"], spans, sizes["dilations"], strict=True
            )
        ]
        window = area[:, group * inputs : (group + 1) * inputs][(..., *places)]
        values = (window * filters[group, output]).reshape(len(array), -1).sum(axis=1)
        result[(slice(None), group * outputs + output, *step)] = values
    return result


@pytest.mark.parametrize("case", ANY_LAYOUT)
@pytest.mark.parametrize("at_once", [kernels.MAX_COLUMNS, 50])
def test_the_order_of_the_axes_in_memory_changes_nothing(
    case: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "MAX_COLUMNS", at_once)
    monkeypatch.setattr(kernels, "_FEW_STEPS", min(at_once, kernels._FEW_STEPS))
    operation, shape, kernel, given = ANY_LAYOUT[case]
    axes = len(shape) - 2
    default = {"strides": 1, "dilations": 1, "pads_begin": 0, "pads_end": 0}
    sizes = {name: given.get(name, (size,) * axes) for name, size in default.items()}
    generator = np.random.default_rng(0)
    array, filters = (generator.standard_normal(size, np.float32) for size in (shape, kernel))
    grouped = filters[None] if operation is Convolution else filters
    wanted = by_definition(array, grouped, sizes)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)
    for layout in (array, last, np.asfortranarray(array)):
        for weights in (
            filters,
            np.asfortranarray(filters),
            operation(**sizes).arranged(1, filters),
        ):
            result = operation(**sizes).evaluate(layout, weights)
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
