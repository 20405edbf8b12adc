"""Convolutions against OpenVINO: shapes, refusals and values of every form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential.cases import Case, Data, const, data
from rows import against_openvino, row, rows_of, sizes_of, unrun, written

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


def attributes(axes: int = 2, **changed: str | None) -> dict[str, str | None]:
    """The attributes that OpenVINO's writer writes, for that many spatial axes."""
    defaults = {"strides": ["1"], "pads_begin": ["0"], "pads_end": ["0"], "dilations": ["1"]}
    lists = {name: ",".join(one * axes) for name, one in defaults.items()}
    return {**lists, "auto_pad": "explicit", **changed}


NO_SIZES = written("strides= dilations= pads_begin= pads_end= output_padding=")
grouped = rows_of("GroupConvolution-1", attributes)
convolution = rows_of("Convolution-1", attributes)


def f32(shape: str, run_shape: tuple[int, ...] | None = None) -> Data:
    return data("f32", shape, run_shape=run_shape)


FORMS: list[tuple[str, dict[str, str | None]]] = [
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
    convolution("f32[2,3,9] f32[4,3,3]", axes=1),
    convolution("f32[2,3,9] f32[4,3,2]", axes=1, strides="2", auto_pad="same_lower"),
    convolution("f32[1,2,4,5,6] f32[3,2,2,1,3]", axes=3),
    convolution(
        "f32[2,2,4,5,6] f32[3,2,2,2,3]",
        axes=3,
        pads_begin="1,1,0",
        pads_end="0,1,2",
        strides="2,1,2",
        dilations="1,2,1",
    ),
    convolution("f32[1,3,5,5] f32[2,3,1,1]"),
    convolution("f32[2,3,5,5] f32[2,3,1,1]", strides="2,2"),
    convolution("f32[2,3,5,5] f32[2,3,1,1]", pads_begin="1,1"),
    # element types
    *(convolution(f"{t}[1,2,5,5] {t}[3,2,3,3]") for t in ("f16", "bf16", "f64")),
    *(
        convolution(f"{t}[1,2,5,5] {t}[3,2,3,3]", run=t in ("u8", "i32"))
        for t in ("u8", "i32", "i64", "u64", "i4", "u1", "f8e4m3")
    ),
    convolution(
        data("i8", "1,2,5,5", SIGNED),
        data("i8", "3,2,3,3", FILTERS),
        known="convolution-of-i8",
        expected=[convolved(SIGNED, FILTERS)],
    ),
    *(convolution(f"{t}[1,2,5,5] {t}[3,2,3,3]", run=False) for t in ("nf4", "boolean")),
    convolution("string[1,2,5,5] string[3,2,3,3]", run=False, known="text-as-number"),
    convolution("f32[1,2,5,5] f16[3,2,3,3]"),
    convolution("u8[1,2,5,5] i8[3,2,3,3]"),
    convolution("dynamic[1,2,5,5] f16[3,2,3,3]", run=False),
    convolution("f16[1,2,5,5] dynamic[3,2,3,3]", run=False),
    convolution("dynamic[1,2,5,5] dynamic[3,2,3,3]", run=False),
    # what is not a number
    convolution(data("f32", "1,1,1,5", [[[[1, INF, 2, NAN, 3]]]]), "f32{[[[[1.0, 2.0]]]]}"),
    convolution(
        data("f16", "1,2,1,2", [[[[60000, 1]], [[60000, 2]]]]), "f16{[[[[1.0]], [[1.0]]]]}"
    ),
    # dynamic shapes
    convolution("f32[1..4,2,?,5..9]@2,2,6,7 f32[4,2,3,2]"),
    convolution(
        "f32[?,..3,4..9,6..]@2,2,6,7 f32[4,2,3,2]", strides="2,3", pads_begin="1,1", pads_end="1,1"
    ),
    convolution("f32[?,2,4..9,2..8]@2,2,6,7 f32[1..5,2,3,2]", dilations="2,2"),
    convolution("f32[?,2,9,2..8]@1,2,9,7 f32[4,?,1..3,?]", dilations="2,3", strides="2,2"),
    convolution("f32[1,2,?,3..9]@1,2,5,6 f32[4,2,3,2]", auto_pad="same_upper", strides="2,2"),
    convolution("f32[1,2,5,6] f32[4,2,?,1..3]", auto_pad="same_lower"),
    convolution("f32[1,2,2..,6] f32[4,2,3,1..3]@4,2,3,2", auto_pad="valid", run=False),
    convolution("f32[...] f32[4,2,3,2]"),
    convolution("f32[1,2,7,8] f32[...]"),
    convolution("f32[...] f32[...]"),
    convolution("f32[1,2,7,8] f32[...]", auto_pad="same_upper", strides="2,2"),
    convolution("f32[...] f32[4,2,3,2]", auto_pad="same_upper"),
    convolution("f32[...] f32[...]", strides="", dilations="", pads_begin="", pads_end=""),
    convolution("f32[...] f32[...]", strides="", dilations="1,1,1", pads_begin="", pads_end=""),
    convolution("f32[...] f32[...]", strides="", dilations="", pads_begin="", pads_end="0"),
    convolution("f32[1,2,1000000000000,8] f32[4,2,3,2]", run=False),
    # no elements
    convolution("f32[0,2,5,5] f32[3,2,3,3]"),
    convolution("f32[1,0,5,5] f32[3,0,3,3]", run=False),
    convolution("f32[1,2,5,5] f32[0,2,3,3]", run=False),
    convolution("f32[1,2,5,5] f32[3,2,0,3]", run=False),
    convolution("f32[1,2,0,5] f32[3,2,1,3]"),
    # attributes
    convolution("f32[1,2,5,5] f32[3,2,3,3]", strides="", dilations="", pads_begin="", pads_end=""),
    *(
        convolution("f32[1,2,5,5] f32[3,2,3,3]", **{name: None}, known="missing-attribute")
        for name in ("strides", "dilations", "pads_begin", "pads_end")
    ),
    convolution("f32[1,2,5,5] f32[3,2,3,3]", auto_pad=None),
    convolution("f32[1,2,5,5] f32[3,2,3,3]", auto_pad="banana"),
    convolution("f32[1,2,5,5] f32[3,2,3,3]", auto_pad="notset"),
    *(
        convolution("f32[1,2,5,5] f32[3,2,3,3]", **{name: "0,1"})
        for name in ("strides", "dilations")
    ),
    *(
        convolution("f32[1,2,5,5] f32[3,2,3,3]", **{name: text})
        for name in ("strides", "dilations", "pads_begin", "pads_end")
        for text in ("1", "1,1,1", "one,1")
    ),
    *(
        convolution(
            "f32[1,2,5,5] f32[3,2,3,3]",
            **{name: "-1,1"},
            run=False,
            known="negative-size-attribute",
        )
        for name in ("strides", "dilations", "pads_begin", "pads_end")
    ),
    convolution("f32[1,2,5,5] f32[3,2,3,3]", output_padding="0,0"),
    # refused
    *(
        convolution(f32(shape), f32(filters))
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
    convolution("f32[1,2,5,5] f32[3,2,3,3]", dilations="3,1"),
    convolution("f32[1,2,5,5] f32[3,2,3,3]", axes=3),
    convolution("f32[1,2,5,5]"),
    convolution("f32[1,2,5,5] f32[3,2,3,3] f32[3]"),
]


GROUPED = [
    *(row("GroupConvolution-1", form, f32(shape), "f32[2,2,1,3,2]") for shape, form in FORMS),
    *(row("GroupConvolution-1", form, f32(shape), "f32[1,3,2,3,2]") for shape, form in FORMS[:3]),
    grouped("f32[2,6,5,5] f32[3,4,2,3,3]"),
    grouped("f32[2,6,5,5] f32[6,1,1,3,3]"),
    grouped("f32[2,6,5,5] f32[6,2,1,1,1]", strides="2,2"),
    grouped("f32[2,6,9] f32[3,2,2,3]", axes=1, pads_begin="1"),
    grouped("f32[1,4,4,5,6] f32[2,2,2,2,1,3]", axes=3),
    grouped("f32[1,4,4,5,6] f32[4,1,1,2,1,3]", axes=3),
    *(grouped(f"{t}[1,4,5,5] {t}[4,1,1,3,3]") for t in ("f16", "bf16", "f64")),
    *(
        grouped(f"{t}[1,4,5,5] {t}[2,3,2,3,3]", run=t in ("u8", "i32"), known=TEXT.get(t, ""))
        for t in ("u8", "i32", "i64", "boolean", "string")
    ),
    grouped(
        data("i8", "1,4,5,5", np.concatenate([SIGNED, SIGNED], axis=1)),
        data("i8", "2,3,2,3,3", np.stack([FILTERS, FILTERS])),
        known="convolution-of-i8",
        expected=[np.concatenate([convolved(SIGNED, FILTERS)] * 2, axis=1)],
    ),
    grouped("f32[1,4,5,5] f16[2,3,2,3,3]"),
    grouped("f32[1..4,4,?,5..9]@2,4,6,7 f32[2,3,2,3,2]"),
    grouped("f32[1,4,6,7] f32[?,3,2,3,2]"),
    grouped("f32[1,?,6,7] f32[1..4,3,2,3,2]", run=False),
    grouped("f32[1,2..8,6,7] f32[?,3,2,3,2]", run=False),
    grouped("f32[1,3..,6,7] f32[?,2..3,2,3,2]", run=False),
    grouped("f32[1,4,6,7] f32[2,3,?,3,2]"),
    grouped("f32[1,4,6,7] f32[?,3,?,3,2]"),
    grouped("f32[1,4,6,7] f32[...]"),
    grouped("f32[...] f32[2,3,2,3,2]"),
    grouped("f32[...] f32[...]"),
    grouped("f32[1,4,6,?] f32[...]", auto_pad="same_upper", strides="2,2"),
    grouped("f32[1,4,1000000000000,7] f32[2,3,2,3,2]", run=False),
    grouped("f32[0,4,6,7] f32[2,3,2,3,2]"),
    grouped("f32[1,0,6,7] f32[2,3,0,3,2]", run=False),
    grouped("f32[1,0,6,7] f32[0,3,2,3,2]", run=False),
    *(
        grouped(f32(shape), f32(filters))
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
    grouped("f32[1,4,5,5] f32[2,3,2,3,3]", strides="0,1"),
    grouped("f32[1,4,5,5] f32[2,3,2,3,3]", pads_end="1"),
    grouped("f32[1,4,5,5] f32[2,3,2,3,3]", dilations=None, known="missing-attribute"),
    grouped("f32[1,4,5,5]"),
]


def back(axes: int = 2, **changed: str | None) -> dict[str, str | None]:
    return attributes(axes, **{"output_padding": ",".join("0" * axes)} | changed)


grouped_back = rows_of("GroupConvolutionBackpropData-1", back)


BACK_FORMS = [
    back(),
    back(strides="2,3"),
    back(pads_begin="1,0", pads_end="1,1"),
    back(dilations="2,3"),
    back(strides="3,2", dilations="1,2", pads_begin="0,1", pads_end="1,0", output_padding="2,1"),
    back(auto_pad="valid", pads_begin="1,1"),
    back(auto_pad="same_upper", strides="2,2"),
    back(output_padding=None),
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
    backward = rows_of(f"{operation}-1", back)
    shape = "2,4,4,5"
    lead = filters[: -len("3,2")]
    one = "1," * filters.count(",") + "2"
    shape_of = sizes_of("2..9,..5")
    return [
        *(row(f"{operation}-1", form, f32(shape), f32(filters)) for form in BACK_FORMS),
        *(
            row(f"{operation}-1", form, f32(shape), f32(filters), const("i64", sizes))
            for form, sizes in SIZED
        ),
        backward("f32[2,4,5]", f32(lead + "3"), axes=1, strides="2"),
        backward("f32[1,4,3,4,5]", f32(lead + "2,1,3"), axes=3, strides="2,1,1", pads_end="0,1,1"),
        backward(f32(shape), f32(lead + "1,1")),
        *(backward(f"{t}[{shape}] {t}[{filters}]") for t in ("f16", "bf16", "f64")),
        *(
            backward(f"{t}[{shape}] {t}[{filters}]", run=t in ("u8", "i32"), known=TEXT.get(t, ""))
            for t in ("i8", "u8", "i32", "i64", "boolean", "string")
        ),
        backward(
            data("i8", "1,1,1,2", [[[[1, -2]]]]),
            data("i8", one, np.reshape([3, -1], [int(each) for each in one.split(",")])),
            known="convolution-of-i8",
            expected=[np.array([[[[3, -7, 2]]]], np.int8)],
        ),
        backward(f"f32[{shape}] f16[{filters}]"),
        backward(f"dynamic[{shape}] f16[{filters}]", run=False),
        backward(f32(shape), f32(filters), data("f32", "2", [6, 7])),
        *(
            backward(f32(shape), f32(filters), const(t, [9, 10]), strides="2,2")
            for t in ("i32", "u8", "u64")
        ),
        # dynamic shapes
        backward("f32[1..4,?,3..9,4..]@2,4,4,5", f32(filters), strides="2,2", pads_begin="1,1"),
        backward(
            "f32[?,4,..3,..3]", f32(lead + "?,1..3"), dilations="2,2", pads_begin="3,3", run=False
        ),
        backward("f32[1,4,4,5]", f32(filters), pads_begin="3,3", pads_end="3,3", run=False),
        backward("f32[1,4,?,3..8]", f32(filters), auto_pad="same_upper", run=False),
        backward("f32[...]", f32(filters)),
        backward(f32(shape), "f32[...]"),
        backward("f32[...] f32[...]"),
        backward("f32[...] f32[...] i64{[6, 7]}"),
        backward("f32[...] f32[...]", **NO_SIZES),
        backward("f32[...] f32[...] i64{[6, 7, 8]}", **NO_SIZES),
        backward("f32[?,4,4,5]", f32(filters), i32_list, run=False),
        *(
            backward(f32(a), f32(b), f"i32[{length}]", run=False, known="list-of-unknown-length")
            for a, b, length in (
                (shape, filters, "?"),
                (shape, filters, "2..4"),
                (shape, filters, "..."),
                ("...", filters, "?"),
                ("...", "...", "?"),
            )
        ),
        backward("f32[...] f32[...] i32[?]", **NO_SIZES, run=False),
        backward("f32[?,4,?,5]", f32(filters), shape_of, run=False),
        backward("f32[1,4,1000000000000,5]", f32(filters), run=False),
        backward("f32[0,4,4,5]", f32(filters), run=False),
        backward("f32[1,4,0,5]", f32(filters), run=False),
        # refused
        backward("f32[1,3,4,5]", f32(filters)),
        backward("f32[1,4,4]", f32(filters), axes=1),
        backward("f32[1,4]", f32(lead[:-1])),
        backward("f32[]", f32(filters)),
        backward("f32[1,4,2,2,2,2]", f32(lead + "1,1,1,1"), axes=4),
        backward("f32[...]", f32(lead[:-1])),
        backward(f32(shape), f32(filters), "i64{[6, 7, 8]}"),
        backward(f32(shape), f32(filters), "i64{6}"),
        backward(f32(shape), f32(filters), "i64{[[6, 7]]}"),
        backward(f32(shape), f32(filters), "i64{[-6, 7]}"),
        backward(f32(shape), f32(filters), "i64{[-1, 7]}", run=False),
        backward(f32(shape), f32(filters), output_padding="0"),
        backward(f32(shape), f32(filters), output_padding="1,1,1"),
        backward(f32(shape), f32(filters), strides="0,1"),
        backward(f32(shape), f32(filters), dilations="1,0"),
        backward(f32(shape), f32(filters), pads_begin="1"),
        backward(f32(shape), f32(filters), strides=None, known="missing-attribute"),
        backward(f32(shape)),
    ]


BACK = rows("ConvolutionBackpropData", "4,3,3,2") + rows(
    "GroupConvolutionBackpropData", "2,2,3,3,2"
)
BACK_GROUPS = [
    grouped_back("f32[2,4,4,5] f32[4,1,1,3,3]", strides="2,2"),
    grouped_back(
        "f32[2,4,4,5] f32[1,4,3,3,3]",
        strides="2,2",
        run=False,
        note="the CPU plugin cannot run a single group",
    ),
    grouped_back("f32[1,4,6,7] f32[?,2,3,3,2]"),
    grouped_back("f32[1,4..9,6,7] f32[?,2,..3,3,2]", run=False),
    grouped_back("f32[1,?,6,7] f32[2..5,2,3,3,2]", run=False),
    grouped_back("f32[1,4,6,7] f32[2..5,?,3,3,2]", run=False),
    grouped_back("f32[1,5,6,7] f32[2,2,3,3,2]"),
    grouped_back("f32[1,5,6,7] f32[?,2,3,3,2]"),
]


def binary(**changed: str | None) -> dict[str, str | None]:
    return attributes(**{"mode": "xnor-popcount", "pad_value": "0"} | changed)


of_bits = rows_of("BinaryConvolution-1", binary)


def bits(element_type: str, *shape: int) -> Data:
    return data(element_type, ",".join(map(str, shape)), lambda rng: rng.integers(0, 2, shape))


HALVES = np.resize([1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 0, 1], 4 * 4 * 9).reshape(-1, 4)
BITS = const("u1", np.concatenate([HALVES, HALVES[:, ::-1]], axis=1).reshape(4, 8, 3, 3))
"""Bytes that read the same in either direction."""
BINARY = [
    *(
        of_bits(bits("f32", 1, 8, 5, 6), BITS, pad_value=pad, pads_begin="1,1", pads_end="1,1")
        for pad in ("0", "1", "-1", "0.5")
    ),
    of_bits(bits("f32", 2, 8, 5, 6), BITS),
    of_bits(bits("f32", 1, 8, 5, 6), BITS, strides="2,1", dilations="1,2"),
    of_bits(bits("f32", 1, 8, 5, 6), BITS, auto_pad="same_upper", strides="2,2"),
    of_bits(bits("f32", 1, 8, 5, 6), BITS, auto_pad="same_lower"),
    of_bits(
        bits("f32", 1, 8, 3, 3),
        const("u1", [[[[1]]]] * 7 + [[[[0]]]], (1, 8, 1, 1)),
        known="binary-convolution-bits",
    ),
    of_bits("f32[?,8,?,3..7]", BITS, run=False),
    of_bits("f32[...]", BITS, auto_pad="valid"),
    of_bits("f32[1,8,5,6] u1[...]"),
    of_bits("f32[...] u1[...]"),
    *(
        of_bits(f"{t}[1,8,5,6]", BITS, run=False, known=TEXT.get(t, ""))
        for t in ("f16", "i32", "u8", "boolean", "u1", "dynamic", "string")
    ),
    *(
        of_bits(f"f32[1,8,5,6] {t}[4,8,3,3]", run=False, known=TEXT.get(t, ""))
        for t in ("u1", "f32", "i8", "boolean", "dynamic", "string")
    ),
    *(of_bits(f32(shape), BITS) for shape in ("1,7,5,6", "1,8,5", "1,8,2,6", "1,8,5,6,7", "")),
    of_bits("f32[1,8,5] u1[4,8,3]"),
    of_bits("f32[1,8,5,6]", BITS, mode="and"),
    of_bits("f32[1,8,5,6]", BITS, mode="XNOR-POPCOUNT", run=False),
    of_bits("f32[1,8,5,6]", BITS, pad_value="none"),
    of_bits("f32[1,8,5,6]", BITS, mode=None, known="missing-attribute"),
    of_bits("f32[1,8,5,6]", BITS, pad_value=None, known="missing-attribute"),
    of_bits("f32[1,8,5,6]", BITS, strides="0,1"),
    of_bits("f32[1,8,5,6]", BITS, pads_begin="1"),
    of_bits("f32[1,8,5,6]"),
]


def deformable(**changed: str | None) -> dict[str, str | None]:
    return attributes(**{"group": "1", "deformable_group": "1"} | changed)


deformed_1 = rows_of("DeformableConvolution-1", deformable)
deformed_8 = rows_of("DeformableConvolution-8", deformable)


def moves(shape: str, reach: float = 1.5) -> Data:
    return data("f32", shape, low=-reach, high=reach)


def deformed(
    shape: str = "1,2,5,6",
    offsets: str = "1,18,3,4",
    filters: str = "4,2,3,3",
    reach: float = 1.5,
    **form: str,
) -> list[Case]:
    """A row of either version that is run, with offsets from -`reach` to `reach`."""
    inputs = (f32(shape), moves(offsets, reach), f32(filters))
    return [deformed_1(*inputs, **form), deformed_8(*inputs, **form)]


THREE = "f32[1,2,5,6] f32[1,18,3,4] f32[4,2,3,3]"
WEIGHTS = data("f32", "1,9,3,4", low=0, high=1)
WIDE: dict[str, Any] = written("strides=2,1 dilations=1,2 pads_begin=1,2 pads_end=1,2")
RUN = [
    deformed(),
    deformed(reach=6.0),
    deformed(reach=0.0),
    deformed("2,2,5,6", "2,18,5,6", pads_begin="1,1", pads_end="1,1"),
    deformed("1,2,5,6", "1,18,3,6", **WIDE),
    deformed("1,4,5,6", group="2"),
    deformed("1,4,5,6", "1,36,3,4", "3,4,3,3", deformable_group="2"),
    deformed("1,4,5,6", "1,16,4,6", "4,2,2,1", group="2", deformable_group="4"),
    deformed("1,2,5,6", "1,12,5,6", "4,2,2,3", auto_pad="same_upper"),
    deformed("1,2,5,6", "1,12,3,3", "4,2,2,3", auto_pad="same_lower", strides="2,2"),
]
PADDED = {"bilinear_interpolation_pad": "true"}
DEFORMABLE = [
    *(first for first, _ in RUN),
    *(second for _, second in RUN),
    *(
        deformed_8("f32[1,2,5,6]", moves("1,18,3,4", reach), "f32[4,2,3,3]", WEIGHTS, **form)
        for form in ({}, {"bilinear_interpolation_pad": "true"})
        for reach in (1.5, 8.0)
    ),
    deformed_8("f32[1,2,5,6]", moves("1,18,3,4", 4), "f32[4,2,3,3]", **PADDED),
    deformed_1("f32[1,2,5,6]", moves("1,18,3,4"), "f32[4,2,3,3]", **PADDED, run=False),
    *(
        unrun(
            f"DeformableConvolution-{version}", deformable(), f32(shape), f32(moved), f32(filters)
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
        deformed_8(THREE, f32(mask), run=False)
        for mask in ("1,9,3,4", "?,9,?,1..4", "...", "1,8,3,4", "2,9,3,4", "1,9,4,4", "1,9,3")
    ),
    deformed_8("f32[?,2,5,6] f32[?,18,3,4] f32[4,2,3,3] f32[3,9,3,4]", run=False),
    deformed_8("f32[...] f32[...] f32[...] f32[1,9,3,4]", run=False),
    deformed_8(THREE, "f16[1,9,3,4]", run=False),
    deformed_8(THREE, "i32[1,9,3,4]", run=False),
    deformed_1(THREE, "f32[1,9,3,4]", run=False),
    *(
        row(
            f"DeformableConvolution-{version}",
            deformable(),
            f"{t}[1,2,5,6] {t}[1,18,3,4] {t}[4,2,3,3]",
            run=t in ("f16", "bf16"),
            known=TEXT.get(t, ""),
        )
        for version in ("opset1", "opset8")
        for t in ("f16", "bf16", "f64", "i32", "u8", "boolean", "string", "dynamic")
    ),
    deformed_1("f32[1,2,5,6] f16[1,18,3,4] f32[4,2,3,3]", run=False),
    deformed_8("f32[1,2,5,6] f32[1,18,3,4] f16[4,2,3,3]", run=False),
    *(
        unrun(f"DeformableConvolution-{version}", deformable(**changed), THREE, known=known)
        for version in ("opset1", "opset8")
        for changed, known in (
            ({"group": "0"}, ""),
            ({"deformable_group": "0"}, ""),
            ({"group": "-1"}, ""),
            ({"deformable_group": "2"}, ""),
            ({"group": "2"}, ""),
            ({"group": "3"}, ""),
            ({"group": None, "deformable_group": None}, ""),
            ({"strides": "1"}, ""),
            ({"strides": "0,1"}, ""),
            ({"pads_begin": None}, "missing-attribute"),
            ({"auto_pad": None}, ""),
        )
    ),
    deformed_1("f32[1,3,5,6] f32[1,18,3,4] f32[4,?,3,3]", group="2", run=False),
    deformed_1("f32[1,4,5,6] f32[1,18,3,4] f32[3,2,3,3]", group="2", run=False),
    deformed_1("f32[1,3,5,6] f32[1,36,3,4] f32[3,3,3,3]", deformable_group="2", run=False),
]

test_against_openvino = against_openvino(
    *CONVOLUTION, *GROUPED, *BACK, *BACK_GROUPS, *BINARY, *DEFORMABLE
)


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
    monkeypatch.setattr(kernels, "FEW_STEPS", min(at_once, kernels.FEW_STEPS))
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
