"""Which layers the facts about older releases concern: for each, a layer and one beside it.

The facts were measured with rows like these (tests/measured/releases.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from differential.cases import Case, Source, build, const, data, node

import irshape
from irshape.inference.release_details import details, inferred_otherwise, not_run, refused, sites
from irshape.releases import IGNORED, INFERRED_OTHERWISE, NOT_RUN, REFUSED, Detail

CELL = {"hidden_size": "3", "activations": "tanh"}
FFT: dict[str, str] = {}
POOL = {"strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "kernel": "2,2"}
SLICE = {"begin_mask": "", "end_mask": ""}
VARIABLE = {"variable_id": "v", "variable_type": "f32", "variable_shape": "?,3"}
REORG = {"stride": "2"}
YOLO = {"axis": "1", "coords": "4", "classes": "3", "num": "2", "do_softmax": "true"}
PDPD = {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": "0"}
RANDOM = {"output_type": "f32", "global_seed": "1", "op_seed": "2"}


def shape_of(shape: str) -> Source:
    return node("ShapeOf", "opset3", {"output_type": "i64"}, [data("f32", shape)])  # type: ignore[return-value]


def joined(sizes: Source) -> Source:
    return node("Concat", "opset1", {"axis": "0"}, [sizes, const("i64", [3])])  # type: ignore[return-value]


def is_nan() -> Source:
    return node("IsNaN", "opset10", {}, [data("f32", "2")])  # type: ignore[return-value]


def greater(sizes: Source) -> Source:
    return node("Maximum", "opset1", {}, [sizes, const("i64", [1, 1])])  # type: ignore[return-value]


def cached(key: str) -> Source:
    """The keys of a variable, with those that are given joined to them."""
    attributes = {"variable_id": "v", "variable_type": "f32", "variable_shape": "1,2,?,8"}
    state = node("ReadValue", "opset6", attributes, [const("f32", 0, (1, 2, 0, 8))])
    return node("Concat", "opset1", {"axis": "2"}, [state, data("f32", key)])  # type: ignore[return-value]


def attention(query: str, key: str | Source, mask: Source) -> Case:
    keys = data("f32", key) if isinstance(key, str) else key
    inputs = [data("f32", query), keys, keys, mask]
    return case("ScaledDotProductAttention", 13, {"causal": "false"}, *inputs)


def case(type: str, opset: int, attributes: dict[str, str], *inputs: Source) -> Case:
    return Case(type, f"opset{opset}", attributes, inputs, run=False)


def cell(*shapes: str, constant: bool = False) -> Case:
    """An RNNCell of input, state, weights, recurrent weights and biases."""
    weights = [
        const("f32", 0, tuple(map(int, shape.split(",")))) if constant else data("f32", shape)
        for shape in shapes[2:]
    ]
    return case("RNNCell", 4, CELL, *(data("f32", shape) for shape in shapes[:2]), *weights)


def suppression(boxes: str, scores: str, opset: int = 4) -> Case:
    inputs = [data("f32", boxes), data("f32", scores), const("i64", 3)]
    return case("NonMaxSuppression", opset, {}, *inputs)


def squeeze(shape: str, *axes: Source) -> Case:
    return case("Squeeze", 1, {}, data("f32", shape), *axes)


def pooled(opset: int, **attributes: str) -> Case:
    return case(
        "AvgPool", opset, {**POOL, "exclude-pad": "true", **attributes}, data("f32", "1,2,5,5")
    )


def converted(source: str, destination: str) -> Case:
    return case("Convert", 1, {"destination_type": destination}, data(source, "8"))


def patches(shape: str) -> Case:
    sizes = {"sizes": "3,3", "strides": "5,5", "rates": "1,1", "auto_pad": "valid"}
    return case("ExtractImagePatches", 3, sizes, data("f32", shape))


def updated(opset: int, element_type: str) -> Case:
    inputs = [data(element_type, "3,2"), const("i64", [[1]]), data(element_type, "1,2")]
    return case("ScatterNDUpdate", opset, {}, *inputs)


def updated_element(opset: int) -> Case:
    inputs = [data("f32", "4,3"), const("i64", [2, 1]), data("f32", "")]
    return case("ScatterNDUpdate", opset, {}, *inputs)


def gathered_strings(shape: str) -> Case:
    return case("Gather", 8, {}, data("string", shape), const("i64", [1]), const("i64", 0))


def resized(scales: Source) -> Case:
    attributes = {
        "mode": "nearest",
        "shape_calculation_mode": "scales",
        "coordinate_transformation_mode": "asymmetric",
    }
    inputs = [data("f32", "1,2,6,4"), const("i64", [1, 1]), scales, const("i64", [2, 3])]
    return case("Interpolate", 4, attributes, *inputs)


def normalised(shape: str, variance: str) -> Case:
    vectors = [data("f32", size) for size in ("3", "3", "3", variance)]
    return case("BatchNormInference", 5, {"epsilon": "0.1"}, data("f32", shape), *vectors)


def rolled(shape: str, axes: Source) -> Case:
    return case("Roll", 7, {}, data("f32", shape), const("i64", [1]), axes)


def passed_on(shape: str) -> Case:
    return Case("Result", "opset1", {}, [data("f32", shape)], 0, run=False)


def absolute(sizes: Source) -> Source:
    return node("Abs", "opset1", {}, [sizes])  # type: ignore[return-value]


def largest(sizes: Source) -> Source:
    return node("ReduceMax", "opset1", {"keep_dims": "true"}, [sizes, const("i64", [0])])  # type: ignore[return-value]


def widened(target: Source, shape: str = "1", mode: str = "numpy") -> Case:
    return case("Broadcast", 3, {"mode": mode}, data("f32", shape), target)


def planes(first: str, second: str) -> Case:
    return case("NV12toBGR", 8, {}, data("u8", first), data("u8", second))


def pooled_regions(**sizes: str) -> Case:
    attributes = {"spatial_scale": "0.5", "method": "bilinear", **sizes}
    return case("ROIPooling", 2, attributes, data("f32", "2,3,9,8"), data("f32", "6,5"))


def promoted(first: str, shape: str, scalar: str) -> Case:
    promotion = {"promote_unsafe": "false", "pytorch_scalar_promotion": "true"}
    return case("ConvertPromoteTypes", 14, promotion, data(first, shape), data(scalar, ""))


def one_hot(element_type: str, depth: int, opset: int = 1, of: str = "f32") -> Case:
    inputs = [data("i32", "2"), const(element_type, depth), const(of, 1), const(of, 0)]
    mode = {"negative_indices_mode": "normalize"} if opset == 16 else {}
    return case("OneHot", opset, {"axis": "0", **mode}, *inputs)


def standardized(shape: str, axes: Source) -> Case:
    attributes = {"eps": "0.1", "eps_mode": "inside_sqrt", "normalize_variance": "true"}
    return case("MVN", 6, attributes, data("f32", shape), axes)


def deconvolved(element_type: str) -> Case:
    attributes = {"strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "dilations": "1,1"}
    inputs = [data(element_type, "2,4,4,5"), data(element_type, "4,3,3,2")]
    return case("ConvolutionBackpropData", 1, attributes, *inputs)


def ranged(element_type: str, stop: int) -> Case:
    start, step = const("i64", 0), const("i64", 1)
    return case("Range", 4, {"output_type": "i64"}, start, const(element_type, stop), step)


def limited(element_type: str, count: int, boxes: str = "1,4,4") -> Case:
    inputs = [data("f32", boxes), data("f32", "1,2,4"), const(element_type, count)]
    return case("NonMaxSuppression", 1, {}, *inputs)


def broadcast(element_type: str, size: int) -> Case:
    return case("Broadcast", 3, {"mode": "numpy"}, data("f32", "1"), const(element_type, [size]))


def enlarged(element_type: str, size: int) -> Case:
    attributes = {"axes": "1", "mode": "nearest"}
    return case("Interpolate", 1, attributes, data("f32", "2,6"), const(element_type, [size]))


def reshaped(element_type: str, size: int) -> Case:
    pattern = const(element_type, [size])
    return case("Reshape", 1, {"special_zero": "true"}, data("f32", "3"), pattern)


def scattered(element_type: str, axis: int) -> Case:
    inputs = [data("f32", "4,3"), const("i64", [1]), data("f32", "?,?")]
    return case("ScatterUpdate", 3, {}, *inputs, const(element_type, axis))


def local_response(element_type: str) -> Case:
    attributes = {"alpha": "0.5", "beta": "0.7", "bias": "2", "size": "3"}
    return case("LRN", 1, attributes, data("f32", "2,6,4,5"), const(element_type, [1]))


class Concerned(NamedTuple):
    key: str
    table: dict[str, Detail]
    shown: Case
    beside: Case


ROWS = [
    Concerned("AvgPool-14", NOT_RUN, pooled(14), pooled(1)),
    Concerned(
        "four bits in",
        NOT_RUN,
        case("ReLU", 1, {}, data("i4", "3")),
        case("ReLU", 1, {}, const("i4", [1, 2])),
    ),
    Concerned(
        "f8 in",
        NOT_RUN,
        case("ReLU", 1, {}, data("f8e4m3", "3")),
        case("ReLU", 1, {}, data("f16", "3")),
    ),
    Concerned("four bits unpacked", NOT_RUN, converted("i4", "f32"), converted("i4", "i32")),
    Concerned("to four bits", NOT_RUN, converted("f32", "u4"), converted("u4", "f32")),
    Concerned("to f8", NOT_RUN, converted("f32", "f8e5m2"), converted("f8e5m2", "f32")),
    Concerned("to f4", NOT_RUN, converted("f32", "f4e2m1"), converted("f4e2m1", "f32")),
    Concerned("nf4 in", NOT_RUN, converted("nf4", "f32"), converted("f32", "nf4")),
    Concerned("to nf4", NOT_RUN, converted("f32", "nf4"), converted("nf4", "f32")),
    Concerned("f4 in", NOT_RUN, converted("f4e2m1", "f32"), converted("f32", "f4e2m1")),
    Concerned("u2 in", NOT_RUN, converted("u2", "f32"), converted("f32", "u2")),
    Concerned("to u2", NOT_RUN, converted("f32", "u2"), converted("u2", "f32")),
    Concerned("to u1", NOT_RUN, converted("f32", "u1"), converted("u1", "f32")),
    Concerned("u2 to others", NOT_RUN, converted("u2", "f8e4m3"), converted("u2", "f32")),
    Concerned(
        "repeated labels",
        NOT_RUN,
        case("Einsum", 7, {"equation": "ijj->i"}, data("f32", "2,3,3")),
        case("Einsum", 7, {"equation": "ij,jk->ik"}, data("f32", "2,3"), data("f32", "3,4")),
    ),
    Concerned(
        "open weights",
        NOT_RUN,
        cell("2,4", "2,3", "3,4", "3,3", "3"),
        cell("2,4", "2,3", "3,4", "3,3", "3", constant=True),
    ),
    Concerned(
        "result of i64",
        NOT_RUN,
        case("Reverse", 1, {"mode": "index"}, data("i64", "2,3"), const("i64", [1])),
        case("Reverse", 1, {"mode": "index"}, data("i32", "2,3"), const("i64", [1])),
    ),
    Concerned(
        "suppression", NOT_RUN, suppression("1,6,4", "1,2,6"), suppression("1,6,4", "1,2,6", 5)
    ),
    Concerned(
        "shape of a scalar",
        NOT_RUN,
        case("ShapeOf", 1, {}, data("f32", "")),
        case("ShapeOf", 1, {}, data("f32", "2")),
    ),
    Concerned(
        "empty range",
        NOT_RUN,
        case("Range", 1, {}, const("i64", 5), const("i64", 5), const("i64", 1)),
        case("Range", 1, {}, const("i64", 5), const("i64", 6), const("i64", 1)),
    ),
    Concerned(
        "empty product",
        NOT_RUN,
        case("MatMul", 1, {}, data("f32", "3,0"), data("f32", "0,5")),
        case("MatMul", 1, {}, data("f32", "3,1"), data("f32", "1,5")),
    ),
    Concerned(
        "scalar slope",
        NOT_RUN,
        case("PReLU", 1, {}, data("f32", ""), const("f32", [0.5])),
        case("PReLU", 1, {}, data("f32", "1"), const("f32", [0.5])),
    ),
    Concerned(
        "reduced scatter",
        NOT_RUN,
        case(
            "ScatterElementsUpdate",
            12,
            {"reduction": "sum"},
            *(data("u8", "4"), const("i64", [1]), data("u8", "1"), const("i64", 0)),
        ),
        case(
            "ScatterElementsUpdate",
            12,
            {"reduction": "none"},
            *(data("u8", "4"), const("i64", [1]), data("u8", "1"), const("i64", 0)),
        ),
    ),
    Concerned(
        "reduced scatter",
        NOT_RUN,
        case(
            "ScatterElementsUpdate",
            12,
            {"reduction": "max"},
            *(data("i8", "4"), const("i64", [1]), data("i8", "1"), const("i64", 0)),
        ),
        case(
            "ScatterElementsUpdate",
            12,
            {"reduction": "max"},
            *(data("i16", "4"), const("i64", [1]), data("i16", "1"), const("i64", 0)),
        ),
    ),
    Concerned(
        "reduced axes",
        NOT_RUN,
        case("ReduceSum", 1, {"keep_dims": "false"}, data("f32", "?,?"), data("i64", "1")),
        case("ReduceSum", 1, {"keep_dims": "true"}, data("f32", "?,?"), data("i64", "1")),
    ),
    Concerned(
        "scalar update",
        NOT_RUN,
        case("ScatterNDUpdate", 4, {}, data("f32", "4,3"), const("i64", [2, 1]), data("f32", "")),
        case(
            "ScatterNDUpdate", 4, {}, data("f32", "4,3"), const("i64", [[2, 1]]), data("f32", "1")
        ),
    ),
    Concerned("narrow update", NOT_RUN, updated(15, "u8"), updated(15, "u16")),
    Concerned(
        "pdpd squares",
        NOT_RUN,
        case("SquaredDifference", 1, PDPD, data("f32", "2,3,4"), data("f32", "2,3")),
        case("SquaredDifference", 1, PDPD, data("f32", "2,3"), data("f32", "2,3")),
    ),
    Concerned(
        "gathered strings",
        NOT_RUN,
        case("Gather", 7, {}, data("string", "3"), const("i64", [1]), const("i64", 0)),
        case("Gather", 8, {}, data("string", "3"), const("i64", [1]), const("i64", 0)),
    ),
    Concerned(
        "no index",
        NOT_RUN,
        case(
            "EmbeddingBagOffsetsSum",
            3,
            {},
            *(data("f32", "5,2"), const("i64", [0, 2]), const("i64", [0, 1]), const("i64", -1)),
        ),
        case(
            "EmbeddingBagOffsetsSum",
            3,
            {},
            *(data("f32", "5,2"), const("i64", [0, 2]), const("i64", [0, 1]), const("i64", 0)),
        ),
    ),
    Concerned(
        "wide limits",
        NOT_RUN,
        case("FakeQuantize", 1, {"levels": "7"}, data("f32", ""), *[const("f32", [1])] * 4),
        case("FakeQuantize", 1, {"levels": "7"}, data("f32", "2"), *[const("f32", [1])] * 4),
    ),
    Concerned(
        "strings",
        NOT_RUN,
        case("Transpose", 1, {}, data("string", "2,2"), const("i64", [1, 0])),
        case("Transpose", 1, {}, data("f32", "2,2"), const("i64", [1, 0])),
    ),
    Concerned(
        "open sizes",
        NOT_RUN,
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), data("i64", "1")),
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), const("i64", [3])),
    ),
    Concerned(
        "open sizes",
        NOT_RUN,
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), shape_of("?")),
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), shape_of("4")),
    ),
    Concerned(
        "stored keys",
        NOT_RUN,
        attention("1,2,5,8", cached("1,2,?,8"), data("boolean", "5,?")),
        attention("1,2,5,8", cached("1,2,?,8"), data("f32", "5,?")),
    ),
    Concerned(
        "stored keys",
        NOT_RUN,
        attention("1,2,5,8", cached("1,2,?,8"), data("boolean", "5,?")),
        attention("1,2,5,8", "1,2,?,8", data("boolean", "5,?")),
    ),
    Concerned(
        "boolean mask",
        NOT_RUN,
        attention("1,2,5,8", "1,2,7,8", data("boolean", "5,?")),
        attention("1,2,5,8", "1,2,7,8", data("boolean", "5,7")),
    ),
    Concerned(
        "boolean mask",
        NOT_RUN,
        attention("?,2,5,8", "?,2,7,8", data("boolean", "5,7")),
        attention("?,2,5,8", "?,2,7,8", data("f32", "5,7")),
    ),
    Concerned(
        "boolean mask",
        NOT_RUN,
        attention("?,2,5,8", "?,2,7,8", data("boolean", "5,7")),
        attention("?,5,8", "?,7,8", data("boolean", "5,7")),
    ),
    Concerned(
        "lower bounds",
        INFERRED_OTHERWISE,
        case("Reshape", 1, {"special_zero": "true"}, data("f32", "?"), shape_of("2..,3")),
        case("Reshape", 1, {"special_zero": "true"}, data("f32", "?"), shape_of("2..9,3")),
    ),
    Concerned(
        "lower bounds",
        INFERRED_OTHERWISE,
        case("Reshape", 1, {"special_zero": "false"}, data("f32", "?"), joined(shape_of("2.."))),
        case("Reshape", 1, {"special_zero": "false"}, data("f32", "?"), greater(shape_of("2..,3"))),
    ),
    Concerned(
        "signal sizes",
        INFERRED_OTHERWISE,
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), data("i64", "...")),
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), data("i64", "1")),
    ),
    Concerned(
        "cells",
        INFERRED_OTHERWISE,
        cell("2,4", "2,?", "3,4", "3,?", "3"),
        cell("1..5,4", "2..9,3", "3,4", "3,?", "3"),
    ),
    Concerned(
        "patches",
        INFERRED_OTHERWISE,
        patches("2,3,?,10"),
        patches("?,3,9,10"),
    ),
    Concerned("empty patches", INFERRED_OTHERWISE, patches("2,3,18,1"), patches("2,3,18,3")),
    Concerned(
        "pdpd",
        INFERRED_OTHERWISE,
        case("Add", 1, PDPD, data("f32", "?,?"), data("f32", "3")),
        case("Add", 1, PDPD, data("f32", "3,?"), data("f32", "3")),
    ),
    Concerned(
        "YUV",
        INFERRED_OTHERWISE,
        case("I420toRGB", 8, {}, data("u8", "1,3..9,4,1")),
        case("I420toRGB", 8, {}, data("u8", "1,9,?,1")),
    ),
    Concerned(
        "softmax axes",
        INFERRED_OTHERWISE,
        case("RegionYolo", 1, {**YOLO, "axis": "3", "end_axis": "1"}, data("f32", "1,16,2,3")),
        case("RegionYolo", 1, {**YOLO, "end_axis": "3"}, data("f32", "1,16,2,3")),
    ),
    Concerned(
        "open height",
        INFERRED_OTHERWISE,
        case("ReorgYolo", 2, REORG, data("f32", "2,4,4..9,6")),
        case("ReorgYolo", 2, REORG, data("f32", "2,4,6,4..9")),
    ),
    Concerned("any axis", INFERRED_OTHERWISE, squeeze("?,3"), squeeze("?,1")),
    Concerned(
        "unknown axes",
        INFERRED_OTHERWISE,
        squeeze("1,3,1", data("i64", "1")),
        squeeze("1,3,1", data("i64", "?")),
    ),
    Concerned(
        "to a scalar",
        INFERRED_OTHERWISE,
        squeeze("1..4", const("i64", [0])),
        squeeze("?", const("i64", [0])),
    ),
    Concerned(
        "to a scalar",
        NOT_RUN,
        squeeze("?,?", const("i64", [0, 1])),
        squeeze("1..4,3", const("i64", [0])),
    ),
    Concerned("to a scalar", NOT_RUN, squeeze("..4", const("i64", [0])), squeeze("1,3,1")),
    Concerned(
        "unknown axes",
        NOT_RUN,
        squeeze("?,3,1", data("i64", "1")),
        squeeze("?,3,1", const("i64", [2])),
    ),
    Concerned(
        "computed shape",
        INFERRED_OTHERWISE,
        case("RandomUniform", 8, RANDOM, shape_of("2..9,?"), const("f32", 0), const("f32", 1)),
        case("RandomUniform", 8, RANDOM, data("i64", "2"), const("f32", 0), const("f32", 1)),
    ),
    Concerned(
        "open suppression",
        INFERRED_OTHERWISE,
        suppression("..3,4,4", "..5,2..6,4"),
        suppression("2,4,4", "2,3,4"),
    ),
    Concerned(
        "bounded boxes",
        INFERRED_OTHERWISE,
        case("MatrixNms", 8, {"keep_top_k": "4"}, data("f32", "1..3,7,4"), data("f32", "..2,5,7")),
        case("MatrixNms", 8, {"keep_top_k": "4"}, data("f32", "?,7,4"), data("f32", "2,5,7")),
    ),
    Concerned(
        "initial value",
        INFERRED_OTHERWISE,
        case("ReadValue", 6, VARIABLE, data("f32", "2,3")),
        case("ReadValue", 6, VARIABLE, data("f32", "?,3")),
    ),
    Concerned(
        "any rank",
        INFERRED_OTHERWISE,
        case("Reshape", 1, {"special_zero": "false"}, data("f32", "..."), const("i64", [-1])),
        case("Reshape", 1, {"special_zero": "false"}, data("f32", "?"), const("i64", [-1])),
    ),
    Concerned(
        "label sizes",
        INFERRED_OTHERWISE,
        case("Einsum", 7, {"equation": "i,i->i"}, data("f32", "1"), data("f32", "?")),
        case("Einsum", 7, {"equation": "i,i->i"}, data("f32", "?"), data("f32", "?")),
    ),
    Concerned(
        "skipping",
        INFERRED_OTHERWISE,
        case(
            "StridedSlice",
            1,
            SLICE,
            *(data("f32", "4,5"), data("i64", "2"), data("i64", "2"), const("i64", [1, 2])),
        ),
        case(
            "StridedSlice",
            1,
            SLICE,
            *(data("f32", "4,5"), data("i64", "2"), data("i64", "2"), const("i64", [1, 1])),
        ),
    ),
    Concerned(
        "overflow",
        INFERRED_OTHERWISE,
        case("ReLU", 1, {}, data("f32", "99999999999999999999,3")),
        case("ReLU", 1, {}, data("f32", "9,3")),
    ),
    Concerned(
        "number tests",
        NOT_RUN,
        case("Transpose", 1, {}, is_nan(), const("i64", [0])),
        case("LogicalNot", 1, {}, is_nan()),
    ),
    Concerned("scalar update", NOT_RUN, updated_element(4), updated_element(15)),
    Concerned("open strings", NOT_RUN, gathered_strings("3,?"), gathered_strings("3,2")),
    Concerned(
        "bf16 scales",
        REFUSED,
        resized(const("bf16", [0.5, 2.0])),
        resized(const("f16", [0.5, 2.0])),
    ),
    Concerned(
        "bf16 scales", REFUSED, resized(const("bf16", [2.0, 2.0])), resized(data("bf16", "2"))
    ),
    Concerned(
        "open segments",
        REFUSED,
        case("SegmentMax", 16, {"fill_mode": "ZERO"}, data("f32", "3,2"), data("dynamic", "3")),
        case("SegmentMax", 16, {"fill_mode": "ZERO"}, data("f32", "3,2"), data("i32", "3")),
    ),
    Concerned("open statistics", NOT_RUN, normalised("2,3,4", "?"), normalised("2,?,4", "3")),
    Concerned(
        "open roll", NOT_RUN, rolled("?,3", data("i64", "1")), rolled("2,3", data("i64", "1"))
    ),
    Concerned(
        "open roll", NOT_RUN, rolled("?,3", data("i64", "1")), rolled("?,3", const("i64", [1]))
    ),
    Concerned("bounded result", NOT_RUN, passed_on("1..4,3"), passed_on("..4,3")),
    Concerned("bounded result", NOT_RUN, passed_on("2,1.."), passed_on("1..4,1..")),
    Concerned(
        "absolute sizes",
        INFERRED_OTHERWISE,
        widened(absolute(shape_of("?,3"))),
        widened(absolute(const("i64", [2, 3]))),
    ),
    Concerned(
        "absolute sizes",
        INFERRED_OTHERWISE,
        widened(absolute(shape_of("?,3"))),
        widened(absolute(shape_of("2,3"))),
    ),
    Concerned(
        "absolute sizes",
        INFERRED_OTHERWISE,
        widened(absolute(joined(shape_of("?")))),
        widened(absolute(shape_of("?,?"))),
    ),
    Concerned(
        "absolute sizes",
        INFERRED_OTHERWISE,
        widened(absolute(shape_of("2..4,3")), "?,1", mode="bidirectional"),
        widened(absolute(shape_of("?,3")), "?,3", mode="bidirectional"),
    ),
    Concerned(
        "largest size",
        INFERRED_OTHERWISE,
        widened(joined(largest(shape_of("2..4,3")))),
        widened(joined(shape_of("2..4"))),
    ),
    Concerned(
        "separate planes",
        INFERRED_OTHERWISE,
        planes("1..3,4..9,4..6,1", "?,?,?,2"),
        planes("2,4,4,1", "?,?,?,2"),
    ),
    Concerned(
        "separate planes",
        INFERRED_OTHERWISE,
        planes("1..3,4..9,?,1", "2..5,1..3,3..7,2"),
        planes("?,?,?,1", "1..3,2..4,3,2"),
    ),
    Concerned(
        "other sizes",
        INFERRED_OTHERWISE,
        pooled_regions(output_size="7,8", output_roi="4,5"),
        pooled_regions(output_size="7,8", pooled_h="3", pooled_w="2"),
    ),
    Concerned(
        "any scores", INFERRED_OTHERWISE, suppression("2,7,4", "..."), suppression("...", "2,3,7")
    ),
    Concerned(
        "no strings",
        INFERRED_OTHERWISE,
        case("StringTensorUnpack", 15, {}, data("string", "2,0")),
        case("StringTensorUnpack", 15, {}, data("string", "2,1")),
    ),
    Concerned(
        "reduced axes",
        INFERRED_OTHERWISE,
        case("ReduceMean", 1, {"keep_dims": "false"}, data("f32", "5"), data("u8", "1")),
        case("ReduceMean", 1, {"keep_dims": "false"}, data("f32", "5"), data("u8", "?")),
    ),
    Concerned(
        "pdpd",
        INFERRED_OTHERWISE,
        case("Xor", 1, PDPD, data("boolean", "2,1..6"), data("boolean", "2,?")),
        case("Xor", 1, PDPD, data("boolean", "2,6"), data("boolean", "2,6")),
    ),
    Concerned(
        "promoted ranks", REFUSED, promoted("f8e5m2", "...", "f64"), promoted("f64", "...", "f16")
    ),
    Concerned(
        "promoted ranks", REFUSED, promoted("f8e5m2", "...", "f64"), promoted("f64", "2", "f16")
    ),
    *(
        Concerned("four bits", REFUSED, shaped(name, 3), shaped("i8", 3))
        for name in ("i4", "u4")
        for shaped in (one_hot, ranged, limited, broadcast, enlarged)
    ),
    Concerned("four bits", REFUSED, one_hot("i4", 3), one_hot("i4", 0)),
    Concerned("four bits", REFUSED, limited("i4", 3), limited("i4", 3, "...")),
    Concerned("four bits read", REFUSED, reshaped("u4", 3), reshaped("u4", 0)),
    Concerned("four bits read", REFUSED, scattered("i4", 1), scattered("i4", 0)),
    Concerned("packed constant", REFUSED, scattered("u6", 0), scattered("u4", 0)),
    Concerned("packed constant", REFUSED, scattered("u2", 1), scattered("i32", 1)),
    Concerned("packed constant", REFUSED, local_response("u3"), local_response("u4")),
    Concerned("few bits", NOT_RUN, one_hot("i64", 3, 16, "u6"), one_hot("i64", 3, 16, "u4")),
    Concerned("few bits", NOT_RUN, one_hot("i64", 3, 16, "u2"), one_hot("i64", 3, 1, "u2")),
    Concerned(
        "open axes",
        NOT_RUN,
        standardized("1,4", data("i64", "1")),
        standardized("2,4", data("i64", "1")),
    ),
    Concerned(
        "open axes",
        NOT_RUN,
        standardized("4,1", data("i64", "?")),
        standardized("1,4", const("i64", [1])),
    ),
    Concerned("open filters", NOT_RUN, deconvolved("i8"), deconvolved("u8")),
    Concerned(
        "shared bytes",
        IGNORED,
        case("Convert", 1, {"destination_type": "i32"}, const("u4", [1, 2])),
        case("Convert", 1, {"destination_type": "i32"}, const("nf4", [1, 2])),
    ),
]


def shown(folder: Path, row: Case, table: dict[str, Detail]) -> set[str]:
    xml, weights = build(row)
    path = folder / "model.xml"
    path.write_text(xml)
    path.with_suffix(".bin").write_bytes(weights)
    inference = irshape.infer(irshape.load(path))
    return {key for site in sites(inference) for key in details(site, table)}


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.key}-{row.shown.id}" for row in ROWS])
def test_a_fact_concerns_a_layer(tmp_path: Path, row: Concerned) -> None:
    assert row.key in shown(tmp_path, row.shown, row.table)
    assert row.key not in shown(tmp_path, row.beside, row.table)


def test_each_fact_is_recognised() -> None:
    recognised = {
        key
        for module in (refused, not_run, inferred_otherwise)
        for recognisers in module.RECOGNISERS.values()
        for key, _ in recognisers
    }
    tables = (REFUSED, IGNORED, NOT_RUN, INFERRED_OTHERWISE)
    of_the_file = {"short file", "late version", "layer names", "tensor names"}
    keys = {key for table in tables for key in table} - of_the_file
    assert {key for key in keys if "-" not in key} == recognised
