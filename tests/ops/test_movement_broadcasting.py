"""Broadcast and Tile against OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import Case, data
from rows import PACKED, SIZES, TYPES, against_openvino, all_given, as_shape, given, node, row

Shape = tuple[int, ...] | None


def broadcast(
    version: str,
    mode: str,
    shape: str,
    target: object,
    axes: object = None,
    fed: Shape = None,
    t: str = "f32",
    axis: int | None = None,
    **fields: Any,
) -> Case:
    inputs = [data(t, shape, run_shape=fed), *all_given("i64", target, axes)]
    attributes = {"mode": mode} if mode else {}
    if axis is not None:
        name = "mode.auto_broadcast_axis" if version == "opset1" else "mode.mode.axis"
        attributes[name] = str(axis)
    return row(f"Broadcast-{version}", attributes, *inputs, **fields)


EMPTY = np.zeros((0, 3))


def numpy(version: str) -> list[Case]:
    unused, layer = [0, 1] if version == "opset1" else None, f"Broadcast-{version}"
    return [
        broadcast(version, "numpy", "3,1", target=[2, 3, 4], axes=unused),
        broadcast(version, "numpy", "", target=[2, 3], axes=unused),
        broadcast(version, "numpy", "", target=[], axes=unused, run=False),
        broadcast(version, "numpy", "1", target=[0, 2], axes=unused),
        broadcast(version, "numpy", "0,1", [0, 3], unused, run="alone", expected=[EMPTY]),
        broadcast(version, "numpy", "3,4", target=[3, 4], axes=unused),
        broadcast(version, "numpy", "?,..4", target=[2, 3, 4], axes=unused, fed=(3, 4)),
        broadcast(version, "numpy", "...", target=[2, 3], axes=unused, fed=(3,), run=False),
        broadcast(version, "numpy", "3,1", target="3", axes=unused, run=False),
        broadcast(version, "numpy", "3,1", target="?", axes=unused, run=False),
        broadcast(version, "numpy", "3,1", target="...", axes=unused, run=False),
        broadcast(version, "numpy", "5", target=SIZES, axes=unused, run=False),
        broadcast(version, "numpy", "1", target=[1000000, 1000000, 10], axes=unused, run=False),
        *(broadcast(version, "numpy", "2,1", target=[2, 2], axes=unused, t=t) for t in TYPES),
        *(
            broadcast(version, "numpy", "2,1", target=[2, 2], axes=unused, t=t, run=False)
            for t in (*PACKED, "string", "dynamic")
        ),
        broadcast(version, "numpy", "3,2", target=[3, 4], axes=unused),
        broadcast(version, "numpy", "2,3", target=[3], axes=unused),
        broadcast(version, "numpy", "3", target=[1], axes=unused),
        broadcast(version, "numpy", "1", [2, -1], unused, run=False, known="negative-size"),
        broadcast(version, "numpy", "1", [2, -2], unused, run=False, known="negative-size"),
        broadcast(version, "numpy", "1", target=2, axes=unused),
        broadcast(version, "numpy", "1", target=[[2]], axes=unused),
        row(layer, "mode=numpy", "f32[1] f32{[2.0]}", id=f"{layer}-real-target"),
        row(layer, "mode=anyhow", "f32[1] i64{[2]}", id=f"{layer}-mode"),
        row(layer, "mode=numpy", "f32[1]", id=f"{layer}-one-input"),
    ]


def explicit(version: str, mode: str = "explicit") -> list[Case]:
    return [
        broadcast(version, mode, "3", target=[2, 3, 4], axes=[1]),
        broadcast(version, mode, "2,4", target=[2, 3, 4], axes=[0, 2]),
        broadcast(version, mode, "1,4", target=[2, 3, 4], axes=[1, 2]),
        broadcast(version, mode, "", target=[2, 3], axes=[]),
        broadcast(version, mode, "0", [0, 3], [0], run="alone", expected=[EMPTY]),
        broadcast(version, mode, "?,4", target=[2, 3, 4], axes=[0, 2], fed=(2, 4)),
        broadcast(version, mode, "...", target=[2, 3], axes=[0], run=False),
        broadcast(version, mode, "3", target="2", axes=[0], run=False),
        broadcast(version, mode, "3", target=[3, 2], axes="1", run=False),
        broadcast(version, mode, "3", target=[3, 2], axes="?", run=False),
        broadcast(version, mode, "3", target="...", axes="...", run=False),
        broadcast(version, mode, "3", target=SIZES, axes=[1], run=False),
        broadcast(version, mode, "3", target=[2, 4], axes=[1]),
        broadcast(version, mode, "3", target=[2, 3], axes=[2]),
        broadcast(version, mode, "3", target=[2, 3], axes=[-1]),
        broadcast(version, mode, "2,3", target=[2, 3], axes=[1, 0]),
        broadcast(version, mode, "2,3", target=[2, 3], axes=[0]),
        broadcast(version, mode, "2,2", [2, 2], [1, 1], run=False, known="duplicate-axes"),
        broadcast(version, mode, "3", target=[2, 3], axes=[[1]]),
        broadcast(version, mode, "3", target=[2, 3], axes=1),
        row(
            f"Broadcast-{version}",
            f"mode={mode}",
            "f32[3] i64{[2, 3]} f32{[1.0]}",
            id=f"Broadcast-{version}-{mode}-real-axes",
        ),
    ]


def pdpd(version: str) -> list[Case]:
    unused = [0, 1] if version == "opset1" else None
    return [
        broadcast(version, "pdpd", "3,4", target=[2, 3, 4], axes=unused, axis=1),
        broadcast(version, "pdpd", "3", target=[2, 3], axes=unused, axis=-1),
        broadcast(version, "pdpd", "3,1", target=[2, 3, 4], axes=unused, axis=1),
        broadcast(version, "pdpd", "2,3,4", target=[2, 3, 4], axes=unused, axis=0),
        broadcast(version, "pdpd", "?,4", target=[2, 3, 4], axes=unused, axis=1, run=False),
        broadcast(version, "pdpd", "...", target=[2, 3, 4], axes=unused, axis=1, run=False),
        broadcast(version, "pdpd", "3,4", target="3", axes=unused, axis=1, run=False),
        broadcast(version, "pdpd", "5,4", target=[2, 3, 4], axes=unused, axis=1),
        broadcast(version, "pdpd", "3", target=[2, 3, 4], axes=unused, axis=1),
        broadcast(version, "pdpd", "3,4", target=[2, 3, 4], axes=unused, axis=2, run=False),
    ]


BROADCAST = [
    *numpy("opset1"),
    *numpy("opset3"),
    *explicit("opset1"),
    *explicit("opset3"),
    *pdpd("opset1"),
    *pdpd("opset3"),
    broadcast("opset1", "none", "3", target=[2, 3, 4], axes=[1]),
    broadcast("opset3", "none", "3", target=[2, 3, 4], axes=[1]),
    broadcast("opset1", "", "3", target=[2, 3, 4], axes=[1]),
    broadcast("opset1", "", "3", target=[2, 3]),
    broadcast("opset3", "", "3", target=[2, 3]),
    broadcast("opset1", "numpy", "3", target=[2, 3]),
    broadcast("opset1", "explicit", "3", target=[2, 3]),
    broadcast("opset3", "explicit", "3", target=[2, 3]),
    broadcast("opset3", "numpy", "3", target=[2, 3], axes=[1]),
    broadcast("opset1", "bidirectional", "3", target=[2, 3]),
    # both ways
    broadcast("opset3", "bidirectional", "3,1", target=[2, 1, 4]),
    broadcast("opset3", "bidirectional", "2,3,1", target=[4]),
    broadcast("opset3", "bidirectional", "2,3", target=[]),
    broadcast("opset3", "bidirectional", "0,1", [1, 3], run="alone", expected=[EMPTY]),
    broadcast("opset3", "bidirectional", "?,2..3,1", target=[2, 1, 4], fed=(2, 3, 1)),
    broadcast("opset3", "bidirectional", "2,?", target=SIZES, run=False),
    broadcast("opset3", "bidirectional", "...", target=[2, 1, 4], fed=(3, 1), run=False),
    broadcast("opset3", "bidirectional", "2,3", target="2", run=False),
    broadcast("opset3", "bidirectional", "2,3", target="?", run=False),
    broadcast("opset3", "bidirectional", "2,3", target=[2, 4]),
    broadcast("opset3", "bidirectional", "2,3", target=[2, 3], axes=[0]),
    # strings and sizes
    row(
        "Broadcast-3",
        "mode=numpy",
        data("string", "2,1", [["a"], [""]]),
        "i64{[2, 2]}",
        run="alone",
        expected=[[["a", "a"], ["", ""]]],
    ),
    row("Broadcast-3", "mode=numpy", data("u4", "1", [9]), "i64{[2]}", expected=[[9, 9]]),
    as_shape(node("Broadcast-3", "mode=numpy", "i64{[4]} i64{[3]}"), "f32[...]"),
    as_shape(node("Broadcast-1", "mode=explicit", SIZES, "i64{[3]} i64{[0]}"), "f32[...]"),
    as_shape(node("Broadcast-3", "mode=bidirectional", SIZES, "i64{[3]}"), "f32[...]"),
]


def tile(
    shape: str,
    repeats: object,
    fed: Shape = None,
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    return row("Tile-1", {}, data(t, shape, run_shape=fed), given(index, repeats), **fields)


TEXTS = data("string", "2", ["a", ""])
TILE = [
    tile("2,3", [2, 1]),
    tile("2,3", [3]),
    tile("3", [2, 2, 2]),
    tile("", [3]),
    tile("", [], known="tile-nothing"),
    tile("2,3", [], known="tile-nothing"),
    tile("2,3", [0, 2]),
    tile("0,3", [2, 2]),
    tile("2,3", [1, 2], index="u8"),
    tile("1..4,?", [2, 3], (2, 3)),
    tile("?,2..", [3], (1, 2)),
    tile("...", [2, 3], (1, 2), run=False),
    tile("2,3", "2", run=False),
    tile("2,3", "3", run=False),
    tile("2,3", "?", run=False),
    tile("2,3", "...", run=False),
    tile("2,3", SIZES, run=False),
    tile("3,1000000000000", [1000000, 2], run=False),
    *(tile("2,2", [1, 2], t=t) for t in TYPES),
    *(tile("2,2", [1, 2], t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    row("Tile-1", {}, TEXTS, "i64{[2]}", run="alone", expected=[["a", "", "a", ""]]),
    as_shape(node("Tile-1", {}, SIZES, "i64{[2]}"), "f32[...]"),
    tile("2,3", [2, -1], run=False, known="negative-size"),
    tile("2,3", [2, -3], run=False, known="negative-size"),
    tile("2,3", [[2, 1]]),
    tile("2,3", 2),
    tile("2,3", [2.0, 1.0], index="f32"),
    tile("2,3", [True, True], index="boolean"),
    row("Tile-1", {}, "f32[2]"),
    row("Tile-1", {}, "f32[2,3]", data("i64", "0", []), known="empty-list-at-run-time"),
]

test_broadcasting = against_openvino(*BROADCAST, *TILE)
