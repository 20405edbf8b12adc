"""Which OpenVINO release reads what: opsets, IR versions, element types, details of operations.

This is the one table of such facts; `inference.requirements` applies it. Its sources:

- OPSETS to opset15: the table of "Available Operation Sets" in OpenVINO's documentation
  (docs.openvino.ai/2024/documentation/openvino-ir-format/operation-sets/available-opsets.html),
  which names the release that supports an opset in full. From opset12 on measured as well: the
  release that reads the operations of earlier opsets under the new number.
- "Measured": small IRs that the newest patch of every minor release from 2023.0 to 2026.4 read, or
  refused. Facts about earlier releases are from documentation and sources.
- IR 10 came with 2020.1 and opset1, IR 11 with 2022.1 ("Transition to OpenVINO API 2.0",
  docs.openvino.ai/2022.1/openvino_2_0_transition_guide.html).
- i4, u4: in `Type_t` of the sources at tag 2021.4, not at 2021.3.
- nf4: pull request 19900, September 2023, and nncf pull request 2281 ("openvino==2023.2 contains
  nf4"). f8e4m3, f8e5m2: pull request 21608, January 2024. f4e2m1, f8e8m0: pull requests 24863 and
  24923, June 2024, after 2024.2 was closed.
- string (2023.3), u2, u3, u6 (2024.1), and FakeConvert to f8 (2023.3): measured.
- Element types that are not listed are in `Type_t` of the oldest sources consulted (2020.4).
"""

from __future__ import annotations

import re
from typing import NamedTuple

OPSETS: dict[int, tuple[int, int]] = {
    1: (2020, 1),
    2: (2020, 2),
    3: (2020, 4),
    4: (2021, 1),
    5: (2021, 2),
    6: (2021, 3),
    7: (2021, 4),
    8: (2022, 1),
    9: (2022, 2),
    10: (2022, 3),
    11: (2023, 0),
    12: (2023, 1),
    13: (2023, 2),
    14: (2024, 0),
    15: (2024, 5),
    16: (2026, 0),
    17: (2026, 2),
}
"""The first release that supports an opset in full; `OPERATIONS` has what came earlier or later."""

PARTIAL_OPSETS: dict[int, frozenset[str]] = {17: frozenset(("Convert", "Parameter", "ShapeOf"))}
"""Opsets without all earlier operations: the earlier types that they contain."""

ABSENT: dict[int, frozenset[str]] = {2: frozenset(("RNNCell", "ShuffleChannels"))}
"""Types that an opset lacks though an earlier and a later one have them. Measured: every release
refuses them.
"""

OPERATIONS: dict[tuple[str, int], tuple[int, int]] = {
    ("ScaledDotProductAttention", 13): (2023, 3),
    ("FakeConvert", 13): (2023, 3),
    ("Col2Im", 15): (2024, 2),
    ("EmbeddingBagOffsets", 15): (2024, 2),
    ("EmbeddingBagPacked", 15): (2024, 2),
    ("ROIAlignRotated", 15): (2024, 2),
    ("ScatterNDUpdate", 15): (2024, 2),
    ("Convert", 15): (2024, 2),
    ("Parameter", 15): (2024, 2),
    ("ShapeOf", 15): (2024, 2),
    ("BitwiseLeftShift", 15): (2024, 4),
    ("BitwiseRightShift", 15): (2024, 4),
    ("SliceScatter", 15): (2024, 4),
    ("StringTensorPack", 15): (2024, 4),
    ("StringTensorUnpack", 15): (2024, 4),
    ("Identity", 16): (2025, 0),
    ("Convert", 16): (2025, 0),
    ("Parameter", 16): (2025, 0),
    ("ShapeOf", 16): (2025, 0),
    ("ISTFT", 16): (2025, 1),
    ("SegmentMax", 16): (2025, 1),
    ("SparseFillEmptyRows", 16): (2025, 2),
    ("AvgPool", 16): (2025, 3),
    ("OneHot", 16): (2025, 4),
    ("GroupedMatMul", 17): (2026, 3),
    ("BGRtoNV12", 17): (2026, 4),
    ("RGBtoNV12", 17): (2026, 4),
    ("TensorIterator", 12): (2023, 0),
    ("TensorIterator", 13): (2023, 0),
    ("TensorIterator", 14): (2023, 0),
    ("TensorIterator", 15): (2023, 0),
    ("TensorIterator", 16): (2023, 0),
}
"""The first release that reads a type under an opset, where it is not that of the opset. Measured.

Opsets from 13 on came in pieces. A TensorIterator is read whatever its opset; 2023.0 is the oldest
release measured.
"""

IR_VERSIONS: dict[int, tuple[int, int]] = {10: (2020, 1), 11: (2022, 1)}
"""The first release that reads a version of the format."""

ELEMENT_TYPES: dict[str, tuple[int, int]] = {
    "i4": (2021, 4),
    "u4": (2021, 4),
    "nf4": (2023, 2),
    "f8e4m3": (2024, 0),
    "f8e5m2": (2024, 0),
    "string": (2023, 3),
    "u2": (2024, 1),
    "u3": (2024, 1),
    "u6": (2024, 1),
    "f4e2m1": (2024, 3),
    "f8e8m0": (2024, 3),
}
"""The first release that reads an element type, where it is not the first of all."""

ATTRIBUTE_TYPES: dict[tuple[str, str], tuple[int, int]] = {
    ("FakeConvert", "f8e4m3"): (2023, 3),
    ("FakeConvert", "f8e5m2"): (2023, 3),
}
"""The first release that takes an element type in an attribute of an operation, where that is
before ports may have it. Measured.
"""

FIRST = (2020, 1)

Release = tuple[int, int]


class Detail(NamedTuple):
    """Something in a model that an older release refuses, ignores, does not run, or infers
    otherwise. The releases from `since` up to the one before `right` do so.
    """

    right: Release
    """The first release that takes it as the newest does."""
    what: str
    """What is in the model, as a noun phrase."""
    since: Release = FIRST
    consequence: str = ""
    """What those releases make of it; empty for a refusal."""


REFUSED: dict[str, Detail] = {
    "empty": Detail((2023, 2), "an input or output of the model with a dimension of 0"),
    "ceil_torch": Detail((2024, 1), 'rounding_type="ceil_torch"'),
    "uninitialised": Detail((2023, 3), "a ReadValue without an initial value"),
    "scalar squeeze": Detail((2026, 1), "a Squeeze of a scalar with an axis to skip"),
    "squeezed axis": Detail((2024, 3), "a Squeeze of an axis whose dimension is not 1"),
    "pad lengths": Detail((2025, 4), "a Pad whose pads are inputs of unknown length"),
    "open boxes": Detail((2023, 1), "a MulticlassNms whose boxes have a dynamic last dimension"),
    "einsum sizes": Detail((2025, 1), "an Einsum that broadcasts a label, or `...` of any rank"),
    "einsum ellipsis": Detail((2025, 1), "an Einsum with a `...` on one side, or for no axis"),
    "capitals": Detail((2024, 0), "a FakeConvert to a type that is written in capitals"),
    "einsum scalar": Detail((2025, 2), "an Einsum whose last input is a scalar"),
    "scalar softmax": Detail((2026, 1), "a softmax of a scalar"),
    "f64 resize": Detail((2026, 3), "an Interpolate of f64"),
    "unsigned pad": Detail((2024, 2), "a Pad of u2, u3 or u6 without a value"),
    "f8e8m0 pad": Detail((2026, 0), "a Pad of f8e8m0 without a value"),
    "text pad": Detail((2026, 2), "a Pad of strings without a value"),
    "open signal": Detail((2023, 1), "a Fourier transform of inputs without an element type"),
    "open mish": Detail((2024, 1), "a Mish of a tensor without an element type"),
    "negative size": Detail((2023, 1), "a negative number of segments, or size of prior boxes"),
    "added axes": Detail((2024, 0), "a StridedSlice with more indices than the input has axes"),
    "joined axis": Detail((2024, 0), "a TensorIterator that joins slices along a negative axis"),
    "narrow mask": Detail((2024, 3), "an attention mask that broadcasts to the query and the key"),
    "no type": Detail((2025, 0), "a layer that leaves its element type undefined"),
    "output sizes": Detail(
        (2023, 3), "a ROIPooling without two numbers as `output_size`, or with `output_roi`"
    ),
    "cell input": Detail((2023, 1), "an LSTMCell whose input has another size than its weights"),
    "no input type": Detail((2025, 1), "an input of the model without an element type"),
    "negative bound": Detail(
        (2026, 3), "a dimension of the attribute `shape` with a negative bound"
    ),
    "wide mask": Detail((2024, 3), "an attention mask that is longer than the query"),
    "pdpd intervals": Detail((2023, 1), 'auto_broadcast="pdpd" on intervals'),
    "pdpd from the end": Detail((2023, 1), 'a Broadcast of mode "pdpd" that aligns at the end'),
    "no mapping": Detail((2025, 1), "a CharsMapNormalization without a table of characters"),
    "bf16 scales": Detail((2023, 1), "an Interpolate with scales of bf16"),
    "open segments": Detail((2025, 2), "a SegmentMax of segments without an element type"),
    "promoted ranks": Detail((2024, 1), "a ConvertPromoteTypes of an input of any rank"),
    "four bits": Detail((2023, 1), "a size that is a constant of i4 or u4"),
    "four bits read": Detail(
        (2023, 2), "a shape, an axis or a condition that is a constant of i4 or u4"
    ),
    "packed constant": Detail(
        (2024, 2), "an axis or a condition that is a constant of u2, u3 or u6"
    ),
    "short file": Detail((2024, 5), "an .xml of at most 513 bytes"),
    "late version": Detail((2024, 5), "a `version` of <net> behind the first 511 bytes"),
    "layer names": Detail((2024, 1), "a layer with the name of one before it"),
    "tensor names": Detail(
        (2025, 1), "an input or output of IR version 10 with a tensor name of another"
    ),
}
"""What older releases refuse. Measured, each by IRs that differ in nothing else."""

IGNORED: dict[str, Detail] = {
    "sink": Detail(
        (2025, 4),
        "the input `sink` of a ScaledDotProductAttention",
        (2023, 3),
        "computes the attention without it",
    ),
    "alignment": Detail(
        (2024, 3),
        'alignment="pytorch" of a RandomUniform',
        FIRST,
        "generates other numbers",
    ),
    "shared bytes": Detail(
        (2023, 2),
        "a constant of i4 or u4",
        FIRST,
        "takes the two elements of each byte in the other order",
    ),
}
"""What older releases read and ignore in silence: their values are others. Measured on the CPU."""

_CRASHES = "crashes when it runs it"

NOT_RUN: dict[str, Detail] = {
    "empty": Detail((2023, 3), REFUSED["empty"].what, (2023, 2)),
    "alignment": Detail((2025, 0), IGNORED["alignment"].what, (2024, 3)),
    "boolean mask": Detail(
        (2024, 0), "an attention of dynamic shapes with a mask of booleans", (2023, 3)
    ),
    "stored keys": Detail(
        (2025, 0), "an attention to keys of a variable with a mask of booleans", (2024, 0)
    ),
    "flat groups": Detail((2024, 1), "a GroupNormalization without spatial axes", (2023, 1)),
    "AvgPool-14": Detail((2024, 2), "AvgPool of opset14", (2024, 1)),
    "Col2Im-15": Detail((2024, 3), "Col2Im of opset15", (2024, 2)),
    "Identity-16": Detail((2025, 4), "Identity of opset16", (2025, 0)),
    "four bits in": Detail((2024, 4), "an input of the model of i4 or u4"),
    "four bits unpacked": Detail(
        (2024, 2), "an input of the model of i4 or u4 that is compared, or converted to more bits"
    ),
    "f8 in": Detail((2025, 0), "an input of the model of f8e4m3 or f8e5m2", (2024, 0)),
    "nf4 in": Detail((2025, 0), "an input of the model of nf4", (2023, 2)),
    "f4 in": Detail((2025, 2), "an input of the model of f4e2m1 or f8e8m0", (2024, 3)),
    "u2 in": Detail((2026, 0), "an input of the model of u2", (2024, 1)),
    "to four bits": Detail((2024, 4), "a Convert to i4 or u4"),
    "to f8": Detail((2024, 4), "a Convert to f8e4m3 or f8e5m2", (2024, 0)),
    "to f4": Detail((2024, 4), "a Convert to f4e2m1 or f8e8m0", (2024, 3)),
    "to nf4": Detail((2025, 1), "a Convert to nf4", (2023, 2)),
    "to u1": Detail((2025, 2), "a Convert to u1"),
    "to u2": Detail((2026, 4), "a Convert to u2", (2024, 1)),
    "u2 to others": Detail((2026, 4), "a Convert from u2 to u1, f8e4m3 or f8e5m2", (2024, 1)),
    "repeated labels": Detail((2025, 1), "an Einsum with `...`, or a label twice in one input"),
    "open weights": Detail(
        (2023, 1), "a recurrent operation whose weights are no constants, without clipping and ReLU"
    ),
    "result of i64": Detail((2023, 1), "a result of the model that is drawn or reversed, of i64"),
    "suppression": Detail((2023, 3), "a result of the model that is a NonMaxSuppression"),
    "shape of a scalar": Detail((2025, 0), "a ShapeOf of a scalar", (2023, 3), _CRASHES),
    "empty range": Detail((2025, 0), "a Range without elements", (2023, 3), _CRASHES),
    "empty product": Detail((2025, 4), "a MatMul of a tensor without elements", (2023, 3)),
    "scalar slope": Detail((2026, 1), "a PReLU of a scalar", FIRST, _CRASHES),
    "reduced scatter": Detail(
        (2024, 1), "a ScatterElementsUpdate that reduces i8, u8 or booleans", (2023, 1)
    ),
    "scalar update": Detail((2024, 3), "a ScatterNDUpdate of one element, before opset15"),
    "pdpd squares": Detail(
        (2024, 0), 'a SquaredDifference with auto_broadcast="pdpd" of inputs of several ranks'
    ),
    "gathered strings": Detail((2024, 1), "a Gather of strings", (2024, 0)),
    "open strings": Detail((2024, 0), "a Gather of strings of dynamic shape", (2023, 3), _CRASHES),
    "narrow update": Detail(
        (2024, 3), "ScatterNDUpdate of opset15 of i8, u8, bf16, booleans or strings", (2024, 2)
    ),
    "SliceScatter-15": Detail((2024, 5), "SliceScatter of opset15", (2024, 4)),
    "Multinomial-13": Detail((2023, 3), "Multinomial of opset13", (2023, 2)),
    "no index": Detail((2024, 3), "a sum of embeddings with a default index of -1"),
    "wide limits": Detail((2023, 1), "a FakeQuantize whose limits have more axes than the data"),
    "open height": Detail((2023, 1), "a ReorgYolo of an interval of heights"),
    "number tests": Detail(
        (2023, 1), "an IsNaN, IsInf or IsFinite whose result is not used element by element"
    ),
    "to a scalar": Detail((2023, 2), "a Squeeze of all axes, some of dynamic size"),
    "unknown axes": Detail((2023, 1), "a Squeeze of axes that only execution knows"),
    "reduced axes": Detail((2024, 1), "a reduction over an axis that only execution knows"),
    "strings": Detail((2026, 0), "a Transpose of strings", (2023, 3), _CRASHES),
    "open filters": Detail(
        (2024, 2), "a ConvolutionBackpropData of i8 whose filters are no constant"
    ),
    "open axes": Detail(
        (2023, 3),
        "an MVN along axes that only execution knows, of a static shape with a dimension of 1",
    ),
    "few bits": Detail((2026, 0), "a OneHot of opset16 of u2, u3 or u6", (2025, 4)),
    "open sizes": Detail((2025, 2), "a Fourier transform of sizes that only execution knows"),
    "unused places": Detail(
        (2025, 0), "an unsorted Unique whose output 2 nothing takes", (2024, 3), _CRASHES
    ),
    "open statistics": Detail(
        (2024, 1), "a BatchNormInference with a scale, shift or statistics of dynamic shape"
    ),
    "open roll": Detail(
        (2025, 0), "a Roll of a dynamic shape along axes that only execution knows"
    ),
    "bounded result": Detail(
        (2024, 1),
        "an input of the model that is a result, of a dynamic size of at least 1",
        (2023, 3),
    ),
    "skipped tokens": Detail((2025, 0), "a VocabDecoder whose tokens to skip are an input"),
}
"""What older releases read, and what their CPU plugin refuses to compile. Measured."""

_WIDER = "infers a wider shape"
_OTHER = "infers another shape"

INFERRED_OTHERWISE: dict[str, Detail] = {
    "reduced axes": Detail(
        (2024, 1), "a reduction over an axis that only execution knows", FIRST, "infers any rank"
    ),
    "lower bounds": Detail(
        (2024, 5),
        "a shape that is made of sizes without upper bounds",
        FIRST,
        "infers no lower bounds",
    ),
    "open product": Detail(
        (2023, 2), "a Reshape to a product of sizes without upper bounds", FIRST, _WIDER
    ),
    "absolute sizes": Detail(
        (2024, 2), "a shape that is computed from absolute values", FIRST, _WIDER
    ),
    "largest size": Detail(
        (2023, 1), "a shape that is computed from the largest of sizes", FIRST, _WIDER
    ),
    "DFT": Detail(
        (2023, 2), "a Fourier transform over axes that only execution knows", FIRST, _WIDER
    ),
    "signal sizes": Detail(
        (2023, 2), "a Fourier transform of sizes that only execution knows", FIRST, _OTHER
    ),
    "promoted types": Detail(
        (2024, 1),
        "a ConvertPromoteTypes whose type only execution knows",
        FIRST,
        "infers another element type",
    ),
    "unused outputs": Detail(
        (2023, 2), "a body whose outputs are not all used", FIRST, "omits the unused outputs"
    ),
    "cells": Detail(
        (2023, 1), "a hidden size that states and recurrent weights leave open", FIRST, _WIDER
    ),
    "patches": Detail((2023, 1), "an ExtractImagePatches of a dynamic size", FIRST, _WIDER),
    "empty patches": Detail(
        (2023, 1), "an ExtractImagePatches without a patch along an axis", FIRST, "infers 1 there"
    ),
    "pdpd": Detail(
        (2023, 1), 'auto_broadcast="pdpd" on dynamic dimensions', FIRST, "gives the first shape"
    ),
    "YUV": Detail((2023, 1), "a picture in one plane of unknown height", FIRST, _OTHER),
    "separate planes": Detail(
        (2023, 1), "a picture in two planes, the first of an interval of sizes", FIRST, _WIDER
    ),
    "other sizes": Detail(
        (2023, 3), "a ROIPooling with `output_size` beside `output_roi`", FIRST, _OTHER
    ),
    "any scores": Detail(
        (2023, 2),
        "a NonMaxSuppression of scores of any rank",
        (2023, 1),
        "gives it the bound of the boxes",
    ),
    "softmax axes": Detail(
        (2023, 1), "a RegionYolo whose `end_axis` is not behind `axis`", FIRST, "adds an axis"
    ),
    "open height": Detail((2023, 1), "a ReorgYolo of an interval of heights", FIRST, _WIDER),
    "any axis": Detail(
        (2023, 2), "a Squeeze of all axes of size 1, of which some may be", FIRST, _OTHER
    ),
    "unknown axes": Detail(
        (2023, 1), "a Squeeze of axes that only execution knows", FIRST, "infers any rank"
    ),
    "to a scalar": Detail(
        (2023, 2), "a Squeeze of all axes, some of dynamic size", FIRST, "infers any rank"
    ),
    "computed shape": Detail(
        (2023, 1), "a RandomUniform whose shape is no constant", FIRST, _WIDER
    ),
    "open suppression": Detail(
        (2023, 1), "a NonMaxSuppression of dynamic boxes or scores", FIRST, _WIDER
    ),
    "bounded boxes": Detail((2023, 1), "a MatrixNms or MulticlassNms of intervals", FIRST, _WIDER),
    "initial value": Detail(
        (2023, 3), "a variable wider than its initial value", FIRST, "gives the shape of the value"
    ),
    "any rank": Detail(
        (2023, 2), "a Reshape of any rank with an axis for what is left", FIRST, _WIDER
    ),
    "label sizes": Detail(
        (2025, 1), "an Einsum over a label of several sizes", FIRST, "infers what all of them allow"
    ),
    "skipping": Detail((2025, 2), "a StridedSlice with a step over an open range", FIRST, _WIDER),
    "overflow": Detail(
        (2026, 2), "a dimension that does not fit into i64", FIRST, "takes it for any size"
    ),
    "no strings": Detail((2026, 2), "a StringTensorUnpack of no strings", FIRST, _WIDER),
    "united": Detail((2025, 0), "an If that gives a scalar or a tensor of one axis", FIRST, _WIDER),
    "branch inputs": Detail(
        (2023, 1), "an If whose branch declares wider inputs", FIRST, "infers from what is given"
    ),
    "states": Detail(
        (2026, 3),
        "a Loop with a state whose shape changes",
        FIRST,
        "keeps the shape of the first iteration",
    ),
}
"""What older releases infer otherwise than the newest. Measured."""


HEADER_BYTES = 512
"""The bytes in which OpenVINO looks for the version of the IR before it parses the file."""


def shows(detail: Detail, release: Release) -> bool:
    """Whether a release does what a detail says."""
    return detail.since <= release < detail.right


MINOR_RELEASES: dict[int, tuple[int, int]] = {
    2020: (1, 4),
    2021: (1, 4),
    2022: (1, 3),
    2023: (0, 3),
    2024: (0, 6),
    2025: (0, 4),
    2026: (0, 4),
}
"""The first and the last minor release of each year.

Source: github.com/openvinotoolkit/openvino/releases
"""


def parse_release(text: str) -> Release:
    """`2023.3` or `2023.3.0` as a pair that compares.

    Raises `ValueError` for another text, and for a release that irshape does not know.
    """
    match = re.fullmatch(r"(20[0-9]{2})\.([0-9]{1,2})(?:\.[0-9]+)*", str(text).strip())
    if match is None or not isinstance(text, str):  # 2024.1 and 2024.10 are one number
        raise ValueError(f"{text!r} is not an OpenVINO release; write it as '2023.3'")
    year, minor = int(match[1]), int(match[2])
    first, last = MINOR_RELEASES.get(year, (1, 0))
    if not first <= minor <= last:
        newest = max(MINOR_RELEASES)
        raise ValueError(
            f"there is no OpenVINO release '{text}' that irshape knows; they go from "
            f"{written(FIRST)} to {newest}.{MINOR_RELEASES[newest][1]}"
        )
    return year, minor


def written(release: Release) -> str:
    return f"{release[0]}.{release[1]}"


def newest_opset(release: Release) -> int:
    """The newest opset that a release fully supports; 0 before the first."""
    return max((opset for opset, since in OPSETS.items() if since <= release), default=0)
