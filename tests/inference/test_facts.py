"""Which layers the facts about older releases concern: for each, a layer and one beside it.

The facts were measured with rows like these (tests/measured/releases.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from differential.cases import Case, Source, build, const, data, node

import irshape
from irshape.inference.sites import details, sites
from irshape.ops import registry
from irshape.ops.differences import Kind
from irshape.releases import MINOR_RELEASES

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
    what: str
    kind: Kind
    shown: Case
    beside: Case


ROWS = [
    Concerned("AvgPool of opset14", "not run", pooled(14), pooled(1)),
    Concerned(
        "an input of the model of i4 or u4",
        "not run",
        case("ReLU", 1, {}, data("i4", "3")),
        case("ReLU", 1, {}, const("i4", [1, 2])),
    ),
    Concerned(
        "an input of the model of f8e4m3 or f8e5m2",
        "not run",
        case("ReLU", 1, {}, data("f8e4m3", "3")),
        case("ReLU", 1, {}, data("f16", "3")),
    ),
    Concerned(
        "an input of the model of i4 or u4 that is compared, or converted to more bits",
        "not run",
        converted("i4", "f32"),
        converted("i4", "i32"),
    ),
    Concerned("a Convert to i4 or u4", "not run", converted("f32", "u4"), converted("u4", "f32")),
    Concerned(
        "a Convert to f8e4m3 or f8e5m2",
        "not run",
        converted("f32", "f8e5m2"),
        converted("f8e5m2", "f32"),
    ),
    Concerned(
        "a Convert to f4e2m1 or f8e8m0",
        "not run",
        converted("f32", "f4e2m1"),
        converted("f4e2m1", "f32"),
    ),
    Concerned(
        "an input of the model of nf4", "not run", converted("nf4", "f32"), converted("f32", "nf4")
    ),
    Concerned("a Convert to nf4", "not run", converted("f32", "nf4"), converted("nf4", "f32")),
    Concerned(
        "an input of the model of f4e2m1 or f8e8m0",
        "not run",
        converted("f4e2m1", "f32"),
        converted("f32", "f4e2m1"),
    ),
    Concerned(
        "an input of the model of u2", "not run", converted("u2", "f32"), converted("f32", "u2")
    ),
    Concerned("a Convert to u2", "not run", converted("f32", "u2"), converted("u2", "f32")),
    Concerned("a Convert to u1", "not run", converted("f32", "u1"), converted("u1", "f32")),
    Concerned(
        "a Convert from u2 to u1, f8e4m3 or f8e5m2",
        "not run",
        converted("u2", "f8e4m3"),
        converted("u2", "f32"),
    ),
    Concerned(
        "an Einsum with `...`, or a label twice in one input",
        "not run",
        case("Einsum", 7, {"equation": "ijj->i"}, data("f32", "2,3,3")),
        case("Einsum", 7, {"equation": "ij,jk->ik"}, data("f32", "2,3"), data("f32", "3,4")),
    ),
    Concerned(
        "a recurrent operation whose weights are no constants, without clipping and ReLU",
        "not run",
        cell("2,4", "2,3", "3,4", "3,3", "3"),
        cell("2,4", "2,3", "3,4", "3,3", "3", constant=True),
    ),
    Concerned(
        "a result of the model that is drawn or reversed, of i64",
        "not run",
        case("Reverse", 1, {"mode": "index"}, data("i64", "2,3"), const("i64", [1])),
        case("Reverse", 1, {"mode": "index"}, data("i32", "2,3"), const("i64", [1])),
    ),
    Concerned(
        "a result of the model that is a NonMaxSuppression",
        "not run",
        suppression("1,6,4", "1,2,6"),
        suppression("1,6,4", "1,2,6", 5),
    ),
    Concerned(
        "a ShapeOf of a scalar",
        "not run",
        case("ShapeOf", 1, {}, data("f32", "")),
        case("ShapeOf", 1, {}, data("f32", "2")),
    ),
    Concerned(
        "a Range without elements",
        "not run",
        case("Range", 1, {}, const("i64", 5), const("i64", 5), const("i64", 1)),
        case("Range", 1, {}, const("i64", 5), const("i64", 6), const("i64", 1)),
    ),
    Concerned(
        "a MatMul of a tensor without elements",
        "not run",
        case("MatMul", 1, {}, data("f32", "3,0"), data("f32", "0,5")),
        case("MatMul", 1, {}, data("f32", "3,1"), data("f32", "1,5")),
    ),
    Concerned(
        "a PReLU of a scalar",
        "not run",
        case("PReLU", 1, {}, data("f32", ""), const("f32", [0.5])),
        case("PReLU", 1, {}, data("f32", "1"), const("f32", [0.5])),
    ),
    Concerned(
        "a ScatterElementsUpdate that reduces i8, u8 or booleans",
        "not run",
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
        "a ScatterElementsUpdate that reduces i8, u8 or booleans",
        "not run",
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
        "a reduction over an axis that only execution knows",
        "not run",
        case("ReduceSum", 1, {"keep_dims": "false"}, data("f32", "?,?"), data("i64", "1")),
        case("ReduceSum", 1, {"keep_dims": "true"}, data("f32", "?,?"), data("i64", "1")),
    ),
    Concerned(
        "a ScatterNDUpdate of one element, before opset15",
        "not run",
        case("ScatterNDUpdate", 4, {}, data("f32", "4,3"), const("i64", [2, 1]), data("f32", "")),
        case(
            "ScatterNDUpdate", 4, {}, data("f32", "4,3"), const("i64", [[2, 1]]), data("f32", "1")
        ),
    ),
    Concerned(
        "ScatterNDUpdate of opset15 of i8, u8, bf16, booleans or strings",
        "not run",
        updated(15, "u8"),
        updated(15, "u16"),
    ),
    Concerned(
        'a SquaredDifference with auto_broadcast="pdpd" of inputs of several ranks',
        "not run",
        case("SquaredDifference", 1, PDPD, data("f32", "2,3,4"), data("f32", "2,3")),
        case("SquaredDifference", 1, PDPD, data("f32", "2,3"), data("f32", "2,3")),
    ),
    Concerned(
        "a Gather of strings",
        "not run",
        case("Gather", 7, {}, data("string", "3"), const("i64", [1]), const("i64", 0)),
        case("Gather", 8, {}, data("string", "3"), const("i64", [1]), const("i64", 0)),
    ),
    Concerned(
        "a sum of embeddings with a default index of -1",
        "not run",
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
        "a FakeQuantize whose limits have more axes than the data",
        "not run",
        case("FakeQuantize", 1, {"levels": "7"}, data("f32", ""), *[const("f32", [1])] * 4),
        case("FakeQuantize", 1, {"levels": "7"}, data("f32", "2"), *[const("f32", [1])] * 4),
    ),
    Concerned(
        "a Transpose of strings",
        "not run",
        case("Transpose", 1, {}, data("string", "2,2"), const("i64", [1, 0])),
        case("Transpose", 1, {}, data("f32", "2,2"), const("i64", [1, 0])),
    ),
    Concerned(
        "a Fourier transform of sizes that only execution knows",
        "not run",
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), data("i64", "1")),
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), const("i64", [3])),
    ),
    Concerned(
        "a Fourier transform of sizes that only execution knows",
        "not run",
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), shape_of("?")),
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), shape_of("4")),
    ),
    Concerned(
        "an attention to keys of a variable with a mask of booleans",
        "not run",
        attention("1,2,5,8", cached("1,2,?,8"), data("boolean", "5,?")),
        attention("1,2,5,8", cached("1,2,?,8"), data("f32", "5,?")),
    ),
    Concerned(
        "an attention to keys of a variable with a mask of booleans",
        "not run",
        attention("1,2,5,8", cached("1,2,?,8"), data("boolean", "5,?")),
        attention("1,2,5,8", "1,2,?,8", data("boolean", "5,?")),
    ),
    Concerned(
        "an attention of dynamic shapes with a mask of booleans",
        "not run",
        attention("1,2,5,8", "1,2,7,8", data("boolean", "5,?")),
        attention("1,2,5,8", "1,2,7,8", data("boolean", "5,7")),
    ),
    Concerned(
        "an attention of dynamic shapes with a mask of booleans",
        "not run",
        attention("?,2,5,8", "?,2,7,8", data("boolean", "5,7")),
        attention("?,2,5,8", "?,2,7,8", data("f32", "5,7")),
    ),
    Concerned(
        "an attention of dynamic shapes with a mask of booleans",
        "not run",
        attention("?,2,5,8", "?,2,7,8", data("boolean", "5,7")),
        attention("?,5,8", "?,7,8", data("boolean", "5,7")),
    ),
    Concerned(
        "a shape that is made of sizes without upper bounds",
        "inferred",
        case("Reshape", 1, {"special_zero": "true"}, data("f32", "?"), shape_of("2..,3")),
        case("Reshape", 1, {"special_zero": "true"}, data("f32", "?"), shape_of("2..9,3")),
    ),
    Concerned(
        "a shape that is made of sizes without upper bounds",
        "inferred",
        case("Reshape", 1, {"special_zero": "false"}, data("f32", "?"), joined(shape_of("2.."))),
        case("Reshape", 1, {"special_zero": "false"}, data("f32", "?"), greater(shape_of("2..,3"))),
    ),
    Concerned(
        "a Fourier transform of sizes that only execution knows",
        "inferred",
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), data("i64", "...")),
        case("DFT", 7, FFT, data("f32", "3,4,2"), const("i64", [1]), data("i64", "1")),
    ),
    Concerned(
        "a hidden size that states and recurrent weights leave open",
        "inferred",
        cell("2,4", "2,?", "3,4", "3,?", "3"),
        cell("1..5,4", "2..9,3", "3,4", "3,?", "3"),
    ),
    Concerned(
        "an ExtractImagePatches of a dynamic size",
        "inferred",
        patches("2,3,?,10"),
        patches("?,3,9,10"),
    ),
    Concerned(
        "an ExtractImagePatches without a patch along an axis",
        "inferred",
        patches("2,3,18,1"),
        patches("2,3,18,3"),
    ),
    Concerned(
        'auto_broadcast="pdpd" on dynamic dimensions',
        "inferred",
        case("Add", 1, PDPD, data("f32", "?,?"), data("f32", "3")),
        case("Add", 1, PDPD, data("f32", "3,?"), data("f32", "3")),
    ),
    Concerned(
        "a picture in one plane of unknown height",
        "inferred",
        case("I420toRGB", 8, {}, data("u8", "1,3..9,4,1")),
        case("I420toRGB", 8, {}, data("u8", "1,9,?,1")),
    ),
    Concerned(
        "a RegionYolo whose `end_axis` is not behind `axis`",
        "inferred",
        case("RegionYolo", 1, {**YOLO, "axis": "3", "end_axis": "1"}, data("f32", "1,16,2,3")),
        case("RegionYolo", 1, {**YOLO, "end_axis": "3"}, data("f32", "1,16,2,3")),
    ),
    Concerned(
        "a ReorgYolo of an interval of heights",
        "inferred",
        case("ReorgYolo", 2, REORG, data("f32", "2,4,4..9,6")),
        case("ReorgYolo", 2, REORG, data("f32", "2,4,6,4..9")),
    ),
    Concerned(
        "a Squeeze of all axes of size 1, of which some may be",
        "inferred",
        squeeze("?,3"),
        squeeze("?,1"),
    ),
    Concerned(
        "a Squeeze of axes that only execution knows",
        "inferred",
        squeeze("1,3,1", data("i64", "1")),
        squeeze("1,3,1", data("i64", "?")),
    ),
    Concerned(
        "a Squeeze of all axes, some of dynamic size",
        "inferred",
        squeeze("1..4", const("i64", [0])),
        squeeze("?", const("i64", [0])),
    ),
    Concerned(
        "a Squeeze of all axes, some of dynamic size",
        "not run",
        squeeze("?,?", const("i64", [0, 1])),
        squeeze("1..4,3", const("i64", [0])),
    ),
    Concerned(
        "a Squeeze of all axes, some of dynamic size",
        "not run",
        squeeze("..4", const("i64", [0])),
        squeeze("1,3,1"),
    ),
    Concerned(
        "a Squeeze of axes that only execution knows",
        "not run",
        squeeze("?,3,1", data("i64", "1")),
        squeeze("?,3,1", const("i64", [2])),
    ),
    Concerned(
        "a RandomUniform whose shape is no constant",
        "inferred",
        case("RandomUniform", 8, RANDOM, shape_of("2..9,?"), const("f32", 0), const("f32", 1)),
        case("RandomUniform", 8, RANDOM, data("i64", "2"), const("f32", 0), const("f32", 1)),
    ),
    Concerned(
        "a NonMaxSuppression of dynamic boxes or scores",
        "inferred",
        suppression("..3,4,4", "..5,2..6,4"),
        suppression("2,4,4", "2,3,4"),
    ),
    Concerned(
        "a MatrixNms or MulticlassNms of intervals",
        "inferred",
        case("MatrixNms", 8, {"keep_top_k": "4"}, data("f32", "1..3,7,4"), data("f32", "..2,5,7")),
        case("MatrixNms", 8, {"keep_top_k": "4"}, data("f32", "?,7,4"), data("f32", "2,5,7")),
    ),
    Concerned(
        "a variable wider than its initial value",
        "inferred",
        case("ReadValue", 6, VARIABLE, data("f32", "2,3")),
        case("ReadValue", 6, VARIABLE, data("f32", "?,3")),
    ),
    Concerned(
        "an Einsum over a label of several sizes",
        "inferred",
        case("Einsum", 7, {"equation": "i,i->i"}, data("f32", "1"), data("f32", "?")),
        case("Einsum", 7, {"equation": "i,i->i"}, data("f32", "?"), data("f32", "?")),
    ),
    Concerned(
        "a StridedSlice with a step over an open range",
        "inferred",
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
        "a dimension that does not fit into i64",
        "inferred",
        case("ReLU", 1, {}, data("f32", "99999999999999999999,3")),
        case("ReLU", 1, {}, data("f32", "9,3")),
    ),
    Concerned(
        "an IsNaN, IsInf or IsFinite whose result is not used element by element",
        "not run",
        case("Transpose", 1, {}, is_nan(), const("i64", [0])),
        case("LogicalNot", 1, {}, is_nan()),
    ),
    Concerned(
        "a ScatterNDUpdate of one element, before opset15",
        "not run",
        updated_element(4),
        updated_element(15),
    ),
    Concerned(
        "a Gather of strings of dynamic shape",
        "not run",
        gathered_strings("3,?"),
        gathered_strings("3,2"),
    ),
    Concerned(
        "an Interpolate with scales of bf16",
        "refused",
        resized(const("bf16", [0.5, 2.0])),
        resized(const("f16", [0.5, 2.0])),
    ),
    Concerned(
        "an Interpolate with scales of bf16",
        "refused",
        resized(const("bf16", [2.0, 2.0])),
        resized(data("bf16", "2")),
    ),
    Concerned(
        "a SegmentMax of segments without an element type",
        "refused",
        case("SegmentMax", 16, {"fill_mode": "ZERO"}, data("f32", "3,2"), data("dynamic", "3")),
        case("SegmentMax", 16, {"fill_mode": "ZERO"}, data("f32", "3,2"), data("i32", "3")),
    ),
    Concerned(
        "a BatchNormInference with a scale, shift or statistics of dynamic shape",
        "not run",
        normalised("2,3,4", "?"),
        normalised("2,?,4", "3"),
    ),
    Concerned(
        "a Roll of a dynamic shape along axes that only execution knows",
        "not run",
        rolled("?,3", data("i64", "1")),
        rolled("2,3", data("i64", "1")),
    ),
    Concerned(
        "a Roll of a dynamic shape along axes that only execution knows",
        "not run",
        rolled("?,3", data("i64", "1")),
        rolled("?,3", const("i64", [1])),
    ),
    Concerned(
        "an input of the model that is a result, of a dynamic size of at least 1",
        "not run",
        passed_on("1..4,3"),
        passed_on("..4,3"),
    ),
    Concerned(
        "an input of the model that is a result, of a dynamic size of at least 1",
        "not run",
        passed_on("2,1.."),
        passed_on("1..4,1.."),
    ),
    Concerned(
        "a shape that is computed from absolute values",
        "inferred",
        widened(absolute(shape_of("?,3"))),
        widened(absolute(const("i64", [2, 3]))),
    ),
    Concerned(
        "a shape that is computed from absolute values",
        "inferred",
        widened(absolute(shape_of("?,3"))),
        widened(absolute(shape_of("2,3"))),
    ),
    Concerned(
        "a shape that is computed from absolute values",
        "inferred",
        widened(absolute(joined(shape_of("?")))),
        widened(absolute(shape_of("?,?"))),
    ),
    Concerned(
        "a shape that is computed from absolute values",
        "inferred",
        widened(absolute(shape_of("2..4,3")), "?,1", mode="bidirectional"),
        widened(absolute(shape_of("?,3")), "?,3", mode="bidirectional"),
    ),
    Concerned(
        "a shape that is computed from the largest of sizes",
        "inferred",
        widened(joined(largest(shape_of("2..4,3")))),
        widened(joined(shape_of("2..4"))),
    ),
    Concerned(
        "a picture in two planes, the first of an interval of sizes",
        "inferred",
        planes("1..3,4..9,4..6,1", "?,?,?,2"),
        planes("2,4,4,1", "?,?,?,2"),
    ),
    Concerned(
        "a picture in two planes, the first of an interval of sizes",
        "inferred",
        planes("1..3,4..9,?,1", "2..5,1..3,3..7,2"),
        planes("?,?,?,1", "1..3,2..4,3,2"),
    ),
    Concerned(
        "a ROIPooling with `output_size` beside `output_roi`",
        "inferred",
        pooled_regions(output_size="7,8", output_roi="4,5"),
        pooled_regions(output_size="7,8", pooled_h="3", pooled_w="2"),
    ),
    Concerned(
        "a NonMaxSuppression of scores of any rank",
        "inferred",
        suppression("2,7,4", "..."),
        suppression("...", "2,3,7"),
    ),
    Concerned(
        "a StringTensorUnpack of no strings",
        "inferred",
        case("StringTensorUnpack", 15, {}, data("string", "2,0")),
        case("StringTensorUnpack", 15, {}, data("string", "2,1")),
    ),
    Concerned(
        "a reduction over an axis that only execution knows",
        "inferred",
        case("ReduceMean", 1, {"keep_dims": "false"}, data("f32", "5"), data("u8", "1")),
        case("ReduceMean", 1, {"keep_dims": "false"}, data("f32", "5"), data("u8", "?")),
    ),
    Concerned(
        'auto_broadcast="pdpd" on dynamic dimensions',
        "inferred",
        case("Xor", 1, PDPD, data("boolean", "2,1..6"), data("boolean", "2,?")),
        case("Xor", 1, PDPD, data("boolean", "2,6"), data("boolean", "2,6")),
    ),
    Concerned(
        "a ConvertPromoteTypes of an input of any rank",
        "refused",
        promoted("f8e5m2", "...", "f64"),
        promoted("f64", "...", "f16"),
    ),
    Concerned(
        "a ConvertPromoteTypes of an input of any rank",
        "refused",
        promoted("f8e5m2", "...", "f64"),
        promoted("f64", "2", "f16"),
    ),
    *(
        Concerned(
            "a size that is a constant of i4 or u4", "refused", shaped(name, 3), shaped("i8", 3)
        )
        for name in ("i4", "u4")
        for shaped in (one_hot, ranged, limited, broadcast, enlarged)
    ),
    Concerned(
        "a size that is a constant of i4 or u4", "refused", one_hot("i4", 3), one_hot("i4", 0)
    ),
    Concerned(
        "a size that is a constant of i4 or u4",
        "refused",
        limited("i4", 3),
        limited("i4", 3, "..."),
    ),
    Concerned(
        "a shape, an axis or a condition that is a constant of i4 or u4",
        "refused",
        reshaped("u4", 3),
        reshaped("u4", 0),
    ),
    Concerned(
        "a shape, an axis or a condition that is a constant of i4 or u4",
        "refused",
        scattered("i4", 1),
        scattered("i4", 0),
    ),
    Concerned(
        "an axis or a condition that is a constant of u2, u3 or u6",
        "refused",
        scattered("u6", 0),
        scattered("u4", 0),
    ),
    Concerned(
        "an axis or a condition that is a constant of u2, u3 or u6",
        "refused",
        scattered("u2", 1),
        scattered("i32", 1),
    ),
    Concerned(
        "an axis or a condition that is a constant of u2, u3 or u6",
        "refused",
        local_response("u3"),
        local_response("u4"),
    ),
    Concerned(
        "a OneHot of opset16 of u2, u3 or u6",
        "not run",
        one_hot("i64", 3, 16, "u6"),
        one_hot("i64", 3, 16, "u4"),
    ),
    Concerned(
        "a OneHot of opset16 of u2, u3 or u6",
        "not run",
        one_hot("i64", 3, 16, "u2"),
        one_hot("i64", 3, 1, "u2"),
    ),
    Concerned(
        "an MVN along axes that only execution knows, of a static shape with a dimension of 1",
        "not run",
        standardized("1,4", data("i64", "1")),
        standardized("2,4", data("i64", "1")),
    ),
    Concerned(
        "an MVN along axes that only execution knows, of a static shape with a dimension of 1",
        "not run",
        standardized("4,1", data("i64", "?")),
        standardized("1,4", const("i64", [1])),
    ),
    Concerned(
        "a ConvolutionBackpropData of i8 whose filters are no constant",
        "not run",
        deconvolved("i8"),
        deconvolved("u8"),
    ),
    Concerned(
        "a constant of i4 or u4",
        "ignored",
        case("Convert", 1, {"destination_type": "i32"}, const("u4", [1, 2])),
        case("Convert", 1, {"destination_type": "i32"}, const("nf4", [1, 2])),
    ),
]


def shown(folder: Path, row: Case, kind: Kind) -> set[str]:
    xml, weights = build(row)
    path = folder / "model.xml"
    path.write_text(xml)
    path.with_suffix(".bin").write_bytes(weights)
    inference = irshape.infer(irshape.load(path))
    return {detail.what for site in sites(inference) for detail in details(site, kind)}


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.what}-{row.shown.id}" for row in ROWS])
def test_a_fact_concerns_a_layer(tmp_path: Path, row: Concerned) -> None:
    assert row.what in shown(tmp_path, row.shown, row.kind)
    assert row.what not in shown(tmp_path, row.beside, row.kind)


def test_facts_are_about_releases_that_exist() -> None:
    versions = [each for name in registry.type_names() for each in registry.versions(name)]
    facts = {difference for version in versions for difference in version.differs}
    assert len({difference.detail for difference in facts}) > 100
    for difference in facts:
        detail = difference.detail
        assert detail.since < detail.right
        for year, minor in (detail.since, detail.right):
            first, last = MINOR_RELEASES[year]
            assert first <= minor <= last
