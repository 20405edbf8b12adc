"""Gather, GatherElements, GatherND and GatherTree against OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import Case, Data, const, data
from rows import PACKED, SIZES, TYPES, against_openvino, all_given, as_shape, given, node, row

VERSIONS = ["opset1", "opset7", "opset8"]
Shape = tuple[int, ...] | None


def gather(
    version: str,
    shape: str,
    indices: object,
    axis: object = 0,
    batch: int | None = None,
    fed: Shape = None,
    at: Shape = None,
    t: str = "f32",
    **fields: Any,
) -> Case:
    where = given("i64", indices, low=0, high=1, run_shape=at)
    along = given("i64", axis)
    attributes = {} if batch is None else {"batch_dims": str(batch)}
    source = data(t, shape, run_shape=fed)
    return row(f"Gather-{version}", attributes, source, where, along, **fields)  # type: ignore[arg-type]


def common(version: str) -> list[Case]:
    return [
        gather(version, "3,4,5", indices=[2, 0], axis=0),
        gather(version, "3,4,5", indices=[[1, 3], [0, 0]], axis=1),
        gather(version, "3,4,5", indices=1, axis=-1),
        gather(version, "3,4,5", indices=[0], axis=[2]),
        gather(version, "6", indices=5),
        gather(version, "3,4", indices=[], axis=1, run="alone", expected=[[[]] * 3]),
        gather(version, "0,4", indices=[1], axis=1, run="alone", expected=[np.zeros((0, 1))]),
        gather(version, "1..3,?,5..", indices=[[1, 0]], axis=1, fed=(2, 3, 5)),
        gather(version, "3,?", indices="?,2..3", axis=0, fed=(3, 2), at=(1, 2)),
        gather(version, "...", indices=[1, 0], axis=0, fed=(3, 2)),
        gather(version, "3,4,5", indices="...", axis=1, run=False),
        gather(version, "3,4,5", indices="2,2", axis="", run=False),
        gather(version, "3,4,5", indices="2,2", axis="?", run=False),
        gather(version, "3,4,5", indices="2,2", axis="...", run=False),
        gather(version, "3,1000000000000", indices="1000000000000", axis=0, run=False),
        *(gather(version, "3,2", indices=[1, 0], t=t) for t in (*TYPES, "string")),
        *(gather(version, "3,2", indices=[1, 0], t=t, run=False) for t in (*PACKED, "dynamic")),
        *(
            row(f"Gather-{version}", {}, "f32[3,2]", const(t, [1, 2]), const(t, 0))
            for t in ("i8", "u8", "i32", "u64")
        ),
        gather(version, "3,4", indices=[0], axis=2),
        gather(version, "3,4", indices=[0], axis=-3),
        gather(version, "", indices=[0], axis=0),
        gather(version, "3,4", indices=[0], axis=[0, 1]),
        row(f"Gather-{version}", {}, "f32[3] i64{[0]}", id=f"Gather-{version}-two-inputs"),
        *(
            row(
                f"Gather-{version}",
                {},
                "f32[3]",
                const(index, [1]),
                const(axis, 0),
                known="counted-in-reals" if version == "opset1" else "",
            )
            for index, axis in (("boolean", "i64"), ("f32", "i64"), ("i64", "f32"))
        ),
        # known sizes and bounds of sizes
        *(
            as_shape(node(f"Gather-{version}", {}, SIZES, f"i64{{{indices}}} i64{{0}}"))
            for indices in ("[2, 0]", "[0, 3]", "[-1, -4]")  # 0 for those out of range
        ),
    ]


def batched(version: str) -> list[Case]:
    return [
        gather(version, "2,3,4", indices=[[2, 0], [1, 1]], axis=1, batch=1),
        gather(version, "2,3,4", indices=[[2, 0, 3], [1, 1, 0]], axis=2, batch=1),
        gather(version, "2,3,4", indices=[[[2, 0], [1, 1]], [[0, 0], [1, 2]]], axis=1, batch=1),
        gather(version, "2,2,3", indices=[[0, 2], [1, 1]], axis=2, batch=2),
        gather(version, "2,2,3", indices=[[0, 2], [1, 1]], axis=2, batch=-1),
        gather(version, "2,2,3", indices=[[0, 2], [1, 1]], axis=-1, batch=0),
        gather(version, "2,2,3", indices=[[0, 2], [1, 1]], axis=2, batch=-2),
        gather(version, "1..4,?,5", indices="2..6,3", axis=1, batch=1, fed=(2, 3, 5), at=(2, 3)),
        gather(version, "?,3", indices="2,?", axis="", batch=1, run=False),
        gather(version, "...", indices="2,?", axis=1, batch=1, run=False),
        gather(version, "2,3", indices="...", axis=1, batch=1, run=False),
        gather(version, "...", indices="...", axis=1, batch=1, run=False),
        gather(version, "2,3,4", indices=[[2, 0], [1, 1]], axis=0, batch=1),
        gather(version, "3,3,4", indices=[[2, 0], [1, 1]], axis=1, batch=1),
        gather(version, "2,3,4", indices=[2, 0], axis=1, batch=2),
        gather(version, "2,3,4", indices=[2, 0], axis=1, batch=-2, known="gather-batch-dims"),
        gather(version, "2", indices="2,2", axis=0, batch=1),
        gather(version, "2,3,4", indices="2,2,2", axis=-3, batch=-1),
    ]


GATHER = [row for version in VERSIONS for row in common(version)] + [
    row for version in VERSIONS[1:] for row in batched(version)
]


def gathered(layer: str, values: Data, places: str, expected: list[Any], **rest: Any) -> Case:
    return row(layer, {}, values, places, "i64{0}", expected=[expected], **rest)


GATHER += [
    gather("opset8", "3,2", indices=[-1, -3]),
    gather("opset8", "2,3", indices=[[-1, 1], [0, -2]], axis=1, batch=1),
    gather("opset8", "3,2", indices=[3, -4, 1]),
    gather("opset8", "0,2", indices=[0, -1], run=False),
    gather("opset8", "2,3", indices=[[3, 1], [0, -4]], axis=1, batch=1),
    gathered("Gather-8", data("string", "2", ["a", "b"]), "i64{[-1, 0]}", ["b", "a"]),
    gathered("Gather-8", data("u1", "3", [1, 0, 1]), "i64{[1, 2]}", [0, 1], run="alone"),
    gathered("Gather-8", data("i4", "3", [1, -8, 7]), "i64{[1, 2]}", [-8, 7]),
    gathered("Gather-7", data("f8e4m3", "3", [1, -2, 448]), "i64{[1, 2]}", [-2, 448]),
    *(
        as_shape(sizes)
        for sizes in (
            node("Gather-8", {}, SIZES, "i64{[-1, -3]} i64{0}"),
            node("Gather-8", "batch_dims=-1", SIZES, "i64{[2, 0]} i64{0}"),
            node("Gather-8", "batch_dims=-1", "i64{[2, 3]} i64{[1, 0]} i64{0}"),
        )
    ),
]


def elements(
    shape: str,
    indices: object,
    axis: int = 0,
    fed: Shape = None,
    at: Shape = None,
    t: str = "f32",
    **fields: Any,
) -> Case:
    where = given("i64", indices, low=0, high=1, run_shape=at)
    return row("GatherElements-6", f"axis={axis}", data(t, shape, run_shape=fed), where, **fields)  # type: ignore[arg-type]


ELEMENTS = [
    elements("3", indices=[2, 0, 0, 1]),
    elements("2,3", indices=[[1, 0, 1]]),
    elements("2,3", indices=[[2], [0]], axis=1),
    elements("2,3", indices=[[2, 1, 0, 0], [0, 0, 1, 1]], axis=-1),
    elements("2,2,2", indices=[[[0, 1], [1, 1]]], axis=-3),
    elements("2,0", indices="2,0", axis=0),
    elements("1..3,?", indices="2..5,1..2", axis=1, fed=(2, 3), at=(2, 2)),
    elements("?,4..", indices="...", axis=1, run=False),
    elements("...", indices="2,?", axis=1, run=False),
    elements("...", indices="...", axis=1, run=False),
    elements("3,2", indices=[[-1, -3]]),
    row("GatherElements-6", "axis=0", "f32[2,2] i32{[[1, 0]]}"),
    *(elements("2,2", indices=[[1, 0]], t=t) for t in TYPES),
    *(elements("2,2", indices=[[1, 0]], t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    elements("2,3", indices=[0, 1]),
    elements("2,3", indices=[[0, 1]], axis=0),
    elements("2,3", indices=[[0], [1], [0]], axis=1),
    elements("2,3", indices=[[0, 1, 1]], axis=2),
    elements("2,3", indices=[[0, 1, 1]], axis=-3),
    elements("", indices=0),
    row("GatherElements-6", {}, "f32[2] i64{[1]}", known="missing-attribute"),
    row("GatherElements-6", "axis=0", "f32[2] f32{[1.0]}"),
    row("GatherElements-6", "axis=0", "f32[2] u8{[1]}"),
    row("GatherElements-5", "axis=0", "f32[2] i64{[1]}"),
]


def tuples(
    version: str,
    shape: str,
    indices: object,
    batch: int | None = None,
    fed: Shape = None,
    at: Shape = None,
    t: str = "f32",
    **fields: Any,
) -> Case:
    where = given("i64", indices, low=0, high=1, run_shape=at)
    attributes = {} if batch is None else {"batch_dims": str(batch)}
    source = data(t, shape, run_shape=fed)
    return row(f"GatherND-{version}", attributes, source, where, **fields)


def nd(version: str) -> list[Case]:
    return [
        tuples(version, "2,3", indices=[[1, 2], [0, 0]]),
        tuples(version, "2,3", indices=[[1], [0], [1]]),
        tuples(version, "2,3", indices=[1, 2]),
        tuples(version, "2,3", indices=[1]),
        tuples(version, "2,3,4", indices=[[[1, 2]], [[0, 0]]]),
        tuples(version, "2,3", indices="2,0", known="left-unset"),
        tuples(version, "2,3", indices="0,1"),
        tuples(version, "2,3,4", indices=[[1], [2]], batch=1),
        tuples(version, "2,2,3", indices=[[[0], [1]], [[2], [2]]], batch=2),
        tuples(version, "2,2,3,2", indices=[[[[0, 1]], [[1, 0]]], [[[2, 1]], [[0, 0]]]], batch=2),
        tuples(version, "1..3,?,4", indices="2..5,?,1", batch=1, fed=(2, 3, 4), at=(2, 2, 1)),
        tuples(version, "1..3,2..3,4", indices="2..5,?,1", batch=2, fed=(2, 3, 4), at=(2, 3, 1)),
        tuples(version, "?,3", indices="?,1", batch=None, fed=(2, 3), at=(2, 1)),
        tuples(version, "2,3", indices="2,?", run=False),
        tuples(version, "2,3", indices="...", run=False),
        tuples(version, "...", indices="2,1", run=False),
        tuples(version, "...", indices="...", batch=1, run=False),
        tuples(version, "3,2", indices=[[-1], [-3]]),
        row(f"GatherND-{version}", {}, "f32[2,2] i32{[[1, 0]]}"),
        *(tuples(version, "2,2", indices=[[1], [0]], t=t) for t in TYPES),
        *(
            tuples(version, "2,2", indices=[[1], [0]], t=t, run=False)
            for t in (*PACKED, "string", "dynamic")
        ),
        tuples(version, "2,3", indices=[[1, 2, 0]]),
        tuples(version, "2,3,4", indices=[[1, 1, 1]], batch=1),
        tuples(version, "2,3,4", indices=[[1], [2], [0]], batch=1),
        tuples(version, "2,3", indices=[1], batch=1),
        tuples(version, "2,3", indices=[[1]], batch=2),
        tuples(version, "2,3", indices=[[1]], batch=-1),
        tuples(version, "", indices=[0]),
        tuples(version, "2", indices=0),
        row(f"GatherND-{version}", {}, "f32[2] f32{[1.0]}"),
        row(f"GatherND-{version}", {}, "f32[2]", id=f"GatherND-{version}-one-input"),
    ]


ND = [*nd("opset5"), *nd("opset8"), tuples("opset4", "2,3", indices=[[1]])]

STEPS = [[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]]]
PARENTS = [[[0, 0], [0, 0]], [[0, 1], [1, 0]], [[1, 0], [1, 1]]]


def tree(
    steps: object = STEPS,
    parents: object = PARENTS,
    longest: object = (3, 2),
    end: object = 10,
    t: str = "f32",
    **fields: Any,
) -> Case:
    return row("GatherTree-1", {}, *all_given(t, steps, parents, longest, end), **fields)


TREE = [
    tree(),
    tree(t="i32"),
    tree(longest=(1, 5)),
    tree(longest=(0, 3), known="left-unset"),
    tree(end=5),
    tree(end=7, longest=(3, 3)),
    *(tree(t=t, run=False) for t in ("f64", "f16", "bf16", "i64", "i8", "u8", "u4", "dynamic")),
    tree("3,?,2", "?,1..4,2", "2", "", run=False),
    tree("...", "3,?,2", "..5", "", run=False),
    tree("...", "...", "...", "...", run=False),
    tree("?,2..3,?", "...", "3..4", "", run=False),
    tree("3,2", "3,2", "2", ""),
    tree("3,2,2", "3,2,3", "2", ""),
    tree("3,2,2", "3,2,2", "3", ""),
    tree("3,2,2", "3,2,2", "2,1", ""),
    tree("3,2,2", "3,2,2", "2", "1"),
    tree(t="boolean"),
    row("GatherTree-1", {}, "f32[3,2,2] f32[3,2,2] i32[2] f32[]"),
    row("GatherTree-1", {}, "f32[3,2,2] f32[3,2,2] f32[2]"),
]

test_gathering = against_openvino(*GATHER, *ELEMENTS, *ND, *TREE)
