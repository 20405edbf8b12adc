"""Real IRs, and their mutants: bytes, tags, values and numbers moved, dropped or repeated."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ir import Net

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = (
    *(
        "0",
        "-1",
        "1",
        "2",
        "3",
        "7",
        "-2",
        "64",
        "1000000",
        "4294967296",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "1" + "0" * 30,
    ),
    *(
        "1e9",
        "nan",
        "inf",
        "",
        " ",
        "?",
        "..",
        "1..",
        "4..2",
        "...",
        "true",
        "x",
        "0x10",
        "01",
        "+1",
        "1,1",
        ",",
        "&#9;",
        "9" * 5000,
    ),
)
_TAG = re.compile(rb"<[^<>]*>")
_ELEMENT = re.compile(
    rb"<(layer|port|edge|data|dim|input|output|body|rt_info)\b[^<>]*?(?:/>|>.*?</\1>)", re.DOTALL
)
_VALUE = re.compile(rb'="([^"<>]*)"')
_NAME = re.compile(rb'\s([\w.-]+)="')
_NUMBER = re.compile(rb'(?<=[">,])-?[0-9]+')


class Mutation(NamedTuple):
    kind: str
    place: float
    other: float
    number: int


def _pick(found: list[re.Match[bytes]], at: float) -> re.Match[bytes] | None:
    return found[min(int(at * len(found)), len(found) - 1)] if found else None


def _replace(data: bytes, start: int, end: int, text: bytes) -> bytes:
    return data[:start] + text + data[end:]


def mutated(data: bytes, mutation: Mutation) -> bytes:
    """The text with one thing wrong in it."""
    kind, place, other, number = mutation
    if not data:
        return data
    if kind in ("flip", "cut", "insert", "span"):
        at = int(place * (len(data) - 1))
        if kind == "flip":
            return _replace(data, at, at + 1, bytes([data[at] ^ (1 << number % 8)]))
        if kind == "insert":
            return _replace(data, at, at, bytes([number]))
        return data[:at] if kind == "cut" else _replace(data, at, at + 1 + int(other * 40), b"")
    pattern, group = {
        "tag": (_TAG, 0),
        "element": (_ELEMENT, 0),
        "value": (_VALUE, 1),
        "name": (_NAME, 1),
        "number": (_NUMBER, 0),
    }[kind.split()[0]]
    found = list(pattern.finditer(data))
    one, two = _pick(found, place), _pick(found, other)
    if one is None or two is None:
        return data
    (a, b), (c, d) = sorted((one.span(group), two.span(group)))
    match kind.split()[1]:
        case "gone":
            return _replace(data, *one.span(group), b"")
        case "twice":
            return _replace(data, one.end(group), one.end(group), one[group])
        case "copied":
            return _replace(data, *one.span(group), two[group])
        case "moved":
            return _replace(data, one.end(group), one.end(group), two[group])
        case "swapped":
            return data if c < b else data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]
    return _replace(data, *one.span(group), NUMBERS[number % len(NUMBERS)].encode())


KINDS = (
    *(
        "flip",
        "cut",
        "insert",
        "span",
        "tag gone",
        "tag twice",
        "tag swapped",
        "element gone",
        "element twice",
        "element copied",
        "element moved",
        "element swapped",
    ),
    *(
        "value copied",
        "value swapped",
        "value changed",
        "value gone",
        "name copied",
        "name swapped",
        "number changed",
        "number changed",
        "number copied",
        "number swapped",
    ),
)


def _nets() -> dict[str, Net]:
    nets: dict[str, Net] = {}
    for name, row in LAYERS.items():
        net = Net()
        ids = [
            net.parameter(value) if isinstance(value, str) else net.constant(value)
            for value in row.inputs
        ]
        layer = net.layer(
            row.type, ids, row.attributes, version=row.version, outputs=["FP32"] * row.outputs
        )
        for port in range(row.outputs):
            net.result(f"{layer}:{port}")
        nets[name] = net
    return nets


class Given(NamedTuple):
    """A layer to be mutated; an input is a Parameter's shape, or the value of a Const."""

    inputs: list[str | int | list[int]]
    type: str
    attributes: str
    version: str
    outputs: int


LAYERS: dict[str, Given] = {
    "ReduceMean": Given(
        inputs=["2,3,4", [1]],
        type="ReduceMean",
        attributes='keep_dims="true"',
        version="opset1",
        outputs=1,
    ),
    "Convolution": Given(
        inputs=["1,3,8,8", "4,3,3,3"],
        type="Convolution",
        attributes=(
            'strides="1,1" dilations="1,1" pads_begin="1,1" pads_end="1,1" auto_pad="explicit"'
        ),
        version="opset1",
        outputs=1,
    ),
    "Reshape": Given(
        inputs=["?,3,4", [0, -1]],
        type="Reshape",
        attributes='special_zero="true"',
        version="opset1",
        outputs=1,
    ),
    "Concat": Given(
        inputs=["2,3", "2,4"], type="Concat", attributes='axis="1"', version="opset1", outputs=1
    ),
    "Split": Given(
        inputs=["2,6", 1], type="Split", attributes='num_splits="2"', version="opset1", outputs=2
    ),
    "TopK": Given(
        inputs=["2,6", 3],
        type="TopK",
        attributes='axis="1" mode="max" sort="value" index_element_type="i64"',
        version="opset11",
        outputs=2,
    ),
    "Slice": Given(
        inputs=["8,6", [1], [7], [2], [0]], type="Slice", attributes="", version="opset8", outputs=1
    ),
    "StridedSlice": Given(
        inputs=["8,6", [1, 0], [7, 6], [2, 1]],
        type="StridedSlice",
        attributes=(
            'begin_mask="0,1" end_mask="0,1" new_axis_mask="0,0" shrink_axis_mask="0,0" '
            'ellipsis_mask="0,0"'
        ),
        version="opset1",
        outputs=1,
    ),
    "Pad": Given(
        inputs=["2,3", [1, 1], [0, 2]],
        type="Pad",
        attributes='pad_mode="reflect"',
        version="opset12",
        outputs=1,
    ),
    "MaxPool": Given(
        inputs=["1,2,8,8"],
        type="MaxPool",
        attributes=(
            'strides="2,2" dilations="1,1" pads_begin="0,0" pads_end="0,0" kernel="3,3" '
            'rounding_type="ceil" auto_pad="explicit" index_element_type="i64" axis="0"'
        ),
        version="opset8",
        outputs=2,
    ),
    "Interpolate": Given(
        inputs=["1,2,4,4", [8, 8], [2, 3]],
        type="Interpolate",
        attributes=(
            'mode="linear" shape_calculation_mode="sizes" '
            'coordinate_transformation_mode="half_pixel" nearest_mode="floor" antialias="false" '
            'pads_begin="0" pads_end="0"'
        ),
        version="opset11",
        outputs=1,
    ),
    "Gather": Given(
        inputs=["5,4", [[1, 2][0], 2], [0]],
        type="Gather",
        attributes='batch_dims="0"',
        version="opset8",
        outputs=1,
    ),
    "MatMul": Given(
        inputs=["2,3,4", "4,5"],
        type="MatMul",
        attributes='transpose_a="false" transpose_b="false"',
        version="opset1",
        outputs=1,
    ),
    "Einsum": Given(
        inputs=["2,3", "3,4"],
        type="Einsum",
        attributes='equation="ab,bc->ac"',
        version="opset7",
        outputs=1,
    ),
    "Broadcast": Given(
        inputs=["1,3", [4, 3]],
        type="Broadcast",
        attributes='mode="numpy"',
        version="opset3",
        outputs=1,
    ),
    "Tile": Given(inputs=["2,3", [2, 2]], type="Tile", attributes="", version="opset1", outputs=1),
    "DepthToSpace": Given(
        inputs=["1,8,2,2"],
        type="DepthToSpace",
        attributes='mode="blocks_first" block_size="2"',
        version="opset1",
        outputs=1,
    ),
}
SMALL: dict[str, tuple[bytes, bytes]] = {
    name: (net.text().encode(), net.weights) for name, net in _nets().items()
}
EXAMPLES: dict[str, tuple[bytes, bytes]] = {
    path.stem: (path.read_bytes(), path.with_suffix(".bin").read_bytes())
    for path in sorted((ROOT / "examples").glob("*.xml"))
}
DOCUMENTS: dict[str, tuple[bytes, bytes]] = {
    path.stem: (path.read_bytes(), b"")
    for path in sorted((ROOT / "examples" / "layers" / "right").glob("*.xml"))
}
