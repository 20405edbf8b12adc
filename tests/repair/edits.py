"""Edits of an IR that OpenVINO reads: the kinds that people make by hand and scripts make.

Each kind names layers and an attribute, and what its text may become. A Const is edited in the
.bin. An edit is of one layer, or of all layers of its kind at once.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

LAYER = re.compile(
    r'<layer id="(?P<id>\d+)" name="(?P<name>[^"]*)" type="(?P<type>[^"]*)" '
    r'version="(?P<version>[^"]*)">(?:\s*<data (?P<data>[^>]*?)\s*/>)?'
)
EDGE = re.compile(
    r'<edge from-layer="(\d+)" from-port="(\d+)" to-layer="(\d+)" to-port="(\d+)"\s*/>'
)


class Edited(NamedTuple):
    """A file after an edit: its text and weights, and the names of the layers that were edited."""

    text: str
    weights: bytes
    names: frozenset[str]


Respelt = Callable[[str], "str | None"]
"""What the text of an attribute becomes; None where it is left as it is."""


def swapped(*pairs: str) -> Respelt:
    """Exchanges words: `a:b` makes b of a, and a of b."""
    words = dict(pair.split(":") for pair in pairs)
    words |= {other: word for word, other in words.items() if other not in words}
    return words.get


def numbers(change: Callable[[list[int]], list[int]]) -> Respelt:
    """A list of integers, as `change` makes it; `?` and intervals are left as they are."""

    def respelt(text: str) -> str | None:
        try:
            given = [int(each) for each in text.split(",")]
        except ValueError:
            return None
        return ",".join(map(str, change(given)))

    return respelt


def real(change: Callable[[float], float]) -> Respelt:
    """A number, as `change` makes it."""

    def respelt(text: str) -> str | None:
        try:
            return f"{change(float(text)):g}"
        except ValueError:
            return None

    return respelt


def each_size(change: Callable[[int, str], str]) -> Respelt:
    """A shape, each of whose sizes `change` makes of its axis and its text."""
    return lambda text: ",".join(change(*each) for each in enumerate(text.split(",")))


class Kind(NamedTuple):
    """Which attributes are edited, and how.

    types: of the layers, separated by spaces; empty for all. attributes: likewise.
    """

    types: str
    attributes: str
    respelt: Respelt


FLAG = swapped("true:false", "1:0")
NEXT = numbers(lambda sizes: [each + 1 for each in sizes])

KINDS = {
    "strides": Kind("", "strides", numbers(lambda sizes: [3 - min(each, 2) for each in sizes])),
    "pads at the begin": Kind("", "pads_begin", NEXT),
    "pads at the end": Kind("", "pads_end", NEXT),
    "dilations": Kind("", "dilations", NEXT),
    "kernel": Kind("", "kernel", NEXT),
    "auto_pad": Kind("", "auto_pad", swapped("explicit:same_upper", "same_lower:valid")),
    "rounding": Kind("", "rounding_type", swapped("floor:ceil", "ceil:floor")),
    "exclude-pad": Kind("AvgPool", "exclude-pad", FLAG),
    "keep_dims": Kind("", "keep_dims", FLAG),
    "axis": Kind("", "axis", numbers(lambda axes: [max(axes[0] - 1, 0) if axes[0] else 1])),
    "negative axis": Kind("", "axis", numbers(lambda axes: [-1 if axes[0] >= 0 else 0])),
    "transpose": Kind("MatMul", "transpose_a transpose_b", FLAG),
    "batch": Kind(
        "Parameter", "shape", each_size(lambda axis, size: size if axis or not size else "4")
    ),
    "sizes": Kind(
        "Parameter",
        "shape",
        each_size(lambda _, size: str(int(size) + 8) if size.isdigit() and size != "1" else size),
    ),
    "dynamic sizes": Kind("Parameter", "shape", each_size(lambda _, size: size and "?")),
    "bounded sizes": Kind("Parameter", "shape", each_size(lambda _, size: size and "1..64")),
    "static sizes": Kind(
        "Parameter", "shape", each_size(lambda _, size: size if size.isdigit() or not size else "2")
    ),
    "input types": Kind("Parameter", "element_type", swapped("f32:f16", "i64:i32", "boolean:u8")),
    "special_zero": Kind("Reshape", "special_zero", FLAG),
    "output types": Kind(
        "", "output_type index_element_type destination_type",
        swapped("i64:i32", "f32:f16", "f16:f32", "boolean:u8", "u8:i32"),
    ),
    "epsilon": Kind("", "epsilon eps", real(lambda given: given * 10)),
    "eps mode": Kind("", "eps_mode", swapped("add:max", "inside_sqrt:outside_sqrt")),
    "splits": Kind("Split", "num_splits", numbers(lambda given: [given[0] * 2])),
    "one split": Kind("Split", "num_splits", numbers(lambda given: [1])),
    "masks of the begin": Kind(
        "StridedSlice", "begin_mask", numbers(lambda mask: [1 - each for each in mask])
    ),
    "masks of the end": Kind(
        "StridedSlice", "end_mask", numbers(lambda mask: [1 - each for each in mask])
    ),
    "axes that are shrunk": Kind(
        "StridedSlice", "shrink_axis_mask", numbers(lambda mask: [1 - each for each in mask])
    ),
    "broadcasting": Kind("", "auto_broadcast", swapped("numpy:none")),
    "mode": Kind(
        "", "mode",
        swapped(
            "max:min", "numpy:bidirectional", "nearest:linear_onnx", "linear:nearest",
            "constant:edge", "half_to_even:half_away_from_zero", "blocks_first:depth_first",
        ),
    ),
    "coordinates": Kind(
        "", "coordinate_transformation_mode nearest_mode",
        swapped("half_pixel:align_corners", "asymmetric:half_pixel", "floor:ceil"),
    ),
    "approximation": Kind("Gelu", "approximation_mode", swapped("ERF:TANH", "erf:tanh")),
    "direction": Kind("", "direction", swapped("forward:reverse")),
    "levels": Kind("FakeQuantize", "levels", numbers(lambda given: [given[0] - 1])),
    "batch_dims": Kind("", "batch_dims", numbers(lambda given: [1 - min(given[0], 1)])),
    "flags": Kind(
        "", "exclusive reverse sort_result_descending with_right_bound causal", FLAG
    ),
    "numbers": Kind("", "alpha beta min max scale power_factor", real(lambda given: given + 0.25)),
    "shape of a constant": Kind(
        "Const", "shape",
        lambda text: ",".join(reversed(text.split(","))) if text.count(",") == 1 else None,
    ),
    "type of a constant": Kind("Const", "element_type", swapped("f32:i32", "i64:u64")),
}  # fmt: skip

OTHER_TYPES = {
    "Add": "Multiply", "Multiply": "Add", "Subtract": "Maximum", "Divide": "Minimum",
    "ReLU": "Tanh", "Sigmoid": "Tanh", "Tanh": "Sigmoid", "Exp": "Abs", "Sqrt": "Exp",
    "ReduceMean": "ReduceSum", "ReduceSum": "ReduceMean", "ReduceMax": "ReduceMin",
    "Less": "Greater", "Greater": "Equal", "Equal": "NotEqual",
    "LogicalAnd": "LogicalOr", "Floor": "Ceiling", "Sin": "Cos", "Cos": "Sin", "Erf": "Tanh",
}  # fmt: skip
"""What a layer is turned into, which takes the same inputs and gives the same shape."""

CONSTANTS: dict[str, Callable[[list[int]], list[int]]] = {
    "values that are one more": lambda values: [values[0] + 1, *values[1:]],
    "values in reverse": lambda values: values[::-1],
    "values that are 1": lambda values: [1] * len(values),
    "a value that is -1": lambda values: [*values[:-1], -1],
}
"""What the integers of a short Const become in the .bin."""

EVERY = (*KINDS, "types of layers", "order of inputs", *CONSTANTS)


def edited(kind: str, text: str, weights: bytes, which: int | None) -> Edited | None:
    """The file after an edit of this kind; None where it has no such layer.

    which: the layer, counted among those that can be edited so, and beyond them from the beginning;
    None for all of them at once.
    """
    if kind in CONSTANTS:
        return _of_values(CONSTANTS[kind], text, weights, which)
    if kind == "order of inputs":
        spots = list(_exchanged(text))
    elif kind == "types of layers":
        spots = [
            (match["name"], [(*match.span("type"), OTHER_TYPES[match["type"]])])
            for match in LAYER.finditer(text)
            if match["type"] in OTHER_TYPES
        ]
    else:
        spots = list(_attributes(KINDS[kind], text))
    spots = [spot for spot in spots if any(text[a:b] != new for a, b, new in spot[1])]
    if not spots:
        return None
    chosen = spots if which is None else [spots[which % len(spots)]]
    for start, end, new in sorted((each for _, parts in chosen for each in parts), reverse=True):
        text = text[:start] + new + text[end:]
    return Edited(text, weights, frozenset(name for name, _ in chosen))


Spot = tuple[str, list[tuple[int, int, str]]]
"""The name of a layer, and spans of the text with what takes their place."""


def _attributes(kind: Kind, text: str) -> Iterator[Spot]:
    for match in LAYER.finditer(text):
        if match["data"] is None or (kind.types and match["type"] not in kind.types.split()):
            continue
        for attribute in kind.attributes.split():
            found = re.search(rf'(?<![\w-]){attribute}="([^"]*)"', match["data"])
            if found is not None and (new := kind.respelt(found[1])) is not None:
                start = match.start("data")
                yield match["name"], [(start + found.start(1), start + found.end(1), new)]


COMMUTED = {"Subtract", "Divide", "Power", "Less", "Greater", "MatMul", "FloorMod", "Concat"}


def _exchanged(text: str) -> Iterator[Spot]:
    """The first two edges of layers at the top whose inputs have an order, exchanged."""
    top = text.rindex("</layers>")
    names = {
        match["id"]: match["name"]
        for match in LAYER.finditer(text, 0, top)
        if match["type"] in COMMUTED and _is_at_the_top(text, match.start())
    }
    edges = {(match[3], match[4]): match for match in EDGE.finditer(text, top)}
    for number, name in names.items():
        first, second = edges.get((number, "0")), edges.get((number, "1"))
        if first is not None and second is not None:
            yield (
                name,
                [
                    (*first.span(), first[0].replace('to-port="0"', 'to-port="1"')),
                    (*second.span(), second[0].replace('to-port="1"', 'to-port="0"')),
                ],
            )


def _is_at_the_top(text: str, position: int) -> bool:
    opened = len(re.findall(r"<(?:body|then_body|else_body)>", text[:position]))
    return opened == len(re.findall(r"</(?:body|then_body|else_body)>", text[:position]))


def _of_values(
    change: Callable[[list[int]], list[int]], text: str, weights: bytes, which: int | None
) -> Edited | None:
    """The integers of Consts of at most eight elements, other than scalars, changed in the .bin."""
    places: dict[tuple[int, str, int], set[str]] = {}
    for match in LAYER.finditer(text):
        data = dict(re.findall(r'([\w-]+)="([^"]*)"', match["data"] or ""))
        if match["type"] == "Const" and data.get("element_type") in ("i64", "i32"):
            size = int(data["size"])
            if 8 <= size <= 64 and int(data["offset"]) + size <= len(weights):
                place = int(data["offset"]), data["element_type"], size
                places.setdefault(place, set()).add(match["name"])
    changed, spots = bytearray(weights), []
    for (offset, element_type, size), layers in places.items():
        width, code = (8, "q") if element_type == "i64" else (4, "i")
        form = f"<{size // width}{code}"
        values = list(struct.unpack_from(form, weights, offset))
        if max(map(abs, values)) < 1 << 30 and (new := change(values)) != values:
            spots.append((struct.pack(form, *new), offset, layers))
    if not spots:
        return None
    names: set[str] = set()
    for data, offset, layers in spots if which is None else [spots[which % len(spots)]]:
        changed[offset : offset + len(data)] = data
        names |= layers
    return Edited(text, bytes(changed), frozenset(names))
