"""ScatterUpdate, ScatterNDUpdate, ScatterElementsUpdate and SliceScatter against OpenVINO."""

from __future__ import annotations

from typing import Any

from differential.cases import Case, Input, const, data
from rows import PACKED, SIZES, TYPES, against_openvino, as_shape, given, node, row, sizes_of, unrun

INF, NAN = float("inf"), float("nan")
Shape = tuple[int, ...] | None


def whole(index: str, value: object, fed: Shape = None) -> Input:
    return given(index, value, low=0, high=1, run_shape=fed)


def update(
    shape: str,
    indices: object,
    updates: str,
    axis: object = 0,
    fed: tuple[Shape, Shape] = (None, None),
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    inputs = [
        data(t, shape, run_shape=fed[0]),
        whole(index, indices),
        data(t, updates, run_shape=fed[1]),
        whole(index, axis),
    ]
    return row("ScatterUpdate-3", {}, *inputs, **fields)  # type: ignore[arg-type]


UPDATE = [
    update("4,3", [2, 0], "2,3"),
    update("4,3", [[2, 0]], "4,1,2", 1),
    update("4,3", 1, "3"),
    update("4,3", [1], "4,1", -1),
    update("4,3", [1], "4,1", [1]),
    update("6", [5, 0], "2"),
    update("4,3", [], "0,3"),
    update("4,3", [0, 1], "2,3", index="u8"),
    update("1..5,?", [1], "1,?", fed=((4, 3), (1, 3))),
    update("?,3", "2..3", "?,3", run=False),
    update("...", [1], "1,3", run=False),
    update("4,3", "...", "2,3", run=False),
    update("4,3", [1], "...", run=False),
    update("4,3", [1], "1,3", "", run=False),
    update("4,3", [1], "4,1", "?", run=False),
    *(update("3,2", [1], "1,2", t=t) for t in TYPES),
    *(update("3,2", [1], "1,2", t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    as_shape(node("ScatterUpdate-3", {}, SIZES, "i64{[1]} i64{[7]} i64{0}")),
    unrun(
        "Broadcast-3",
        "mode=bidirectional",
        "f32[]",
        node("ScatterUpdate-3", {}, sizes_of("1..4,?,?", "i32"), "i64{[1]} i32{[7]} i64{0}"),
    ),
    update("4,3", [1], "1,3", 2),
    update("4,3", [1], "1,3", -3),
    update("4,3", [1], "3"),
    update("4,3", [1], "1,2"),
    update("4,3", [1], "2,3"),
    update("4,3", [1], "1,3", [0, 1]),
    update("4,3", [1.0], "1,3", index="f32"),
    row("ScatterUpdate-3", {}, "f32[2] i64{[0]} i32[1] i64{0}"),
    row("ScatterUpdate-3", {}, "f32[2] i64{[0]} f32[1]"),
    row("ScatterUpdate-2", {}, "f32[2] i64{[0]} f32[1] i64{0}"),
]


def tuples(
    version: str,
    shape: str,
    indices: object,
    updates: str,
    reduction: str = "",
    fed: tuple[Shape, Shape] = (None, None),
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    inputs = [
        data(t, shape, run_shape=fed[0]),
        whole(index, indices),
        data(t, updates, run_shape=fed[1]),
    ]
    return row(
        f"ScatterNDUpdate-{version}",
        {"reduction": reduction} if reduction else {},
        *inputs,
        **fields,
    )  # type: ignore[arg-type]


def nd(version: str) -> list[Case]:
    return [
        tuples(version, "4,3", indices=[[2], [0]], updates="2,3"),
        tuples(version, "4,3", indices=[[2, 1], [0, 0]], updates="2"),
        tuples(version, "4,3", indices=[2, 1], updates=""),
        tuples(version, "4,3", indices=[1], updates="3"),
        tuples(version, "2,3,2", indices=[[[1, 0]], [[0, 2]]], updates="2,1,2"),
        tuples(version, "4,3", indices=[[-1], [0]], updates="2,3"),
        tuples(version, "4,3", indices=[[2], [0]], updates="2,3", index="i32"),
        tuples(version, "1..5,?", indices=[[1]], updates="1,?", fed=((4, 3), (1, 3))),
        tuples(version, "?,3", indices="?,1", updates="?,3", run=False),
        tuples(version, "4,3", indices="2,?", updates="2,3", run=False),
        tuples(version, "...", indices=[[1]], updates="1,3", run=False),
        tuples(version, "4,3", indices="...", updates="1,3", run=False),
        tuples(version, "4,3", indices=[[1]], updates="...", run=False),
        *(tuples(version, "3,2", indices=[[1]], updates="1,2", t=t) for t in TYPES),
        *(
            tuples(version, "3,2", indices=[[1]], updates="1,2", t=t, run=False)
            for t in (*PACKED, "string", "dynamic")
        ),
        row(
            f"ScatterNDUpdate-{version}",
            {},
            data("string", "2", ["a", "b"]),
            "i64{[[1]]}",
            data("string", "1", ["ü"]),
            run="alone",
            expected=[["a", "ü"]],
        ),
        as_shape(node(f"ScatterNDUpdate-{version}", {}, SIZES, "i64{[[1]]} i64{[7]}")),
        tuples(version, "4,3", indices=[[1, 1, 1]], updates="1"),
        tuples(version, "4,3", indices=[[1]], updates="3"),
        tuples(version, "4,3", indices=[[1]], updates="1,2"),
        tuples(version, "4,3", indices=[[1], [2]], updates="1,3"),
        tuples(version, "", indices=[0], updates=""),
        tuples(version, "2", indices=0, updates="2"),
        tuples(version, "2", indices=[[0]], updates="1", index="u8"),
        tuples(version, "2", indices=[[0.0]], updates="1", index="f32"),
        row(f"ScatterNDUpdate-{version}", {}, "f32[2] i64{[[0]]} i32[1]"),
        row(f"ScatterNDUpdate-{version}", {}, "f32[2] i64{[[0]]}"),
    ]


REDUCTIONS = ["none", "sum", "sub", "prod", "min", "max"]
ND = [
    *nd("opset4"),
    *nd("opset15"),
    tuples("opset3", "2", indices=[[0]], updates="1"),
    *(
        tuples("opset15", "4,3", indices=[[2], [0]], updates="2,3", reduction=reduction)
        for reduction in REDUCTIONS
    ),
    *(
        tuples("opset15", "4", indices=[[2], [0], [2], [2]], updates="4", reduction=reduction)
        for reduction in REDUCTIONS[1:]
    ),
    *(
        tuples("opset15", "4", indices=[[2], [0], [2]], updates="3", reduction=reduction, t=t)
        for reduction in REDUCTIONS[1:]
        for t in ("i32", "f16", "bf16", "i8", "u8", "i64")
    ),
    *(
        row(
            "ScatterNDUpdate-15",
            f"reduction={reduction}",
            data("boolean", "4", [0, 0, 1, 1]),
            "i64{[[0], [1], [2], [3]]}",
            data("boolean", "4", [0, 1, 0, 1]),
            run=run,
        )
        for reduction, run in (
            ("none", True),
            ("sum", False),
            ("sub", False),
            ("prod", False),
            ("min", False),
            ("max", False),
        )
    ),
    *(
        row(
            "ScatterNDUpdate-15",
            f"reduction={reduction}",
            data("f32", "3", [1.0, NAN, INF]),
            "i64{[[0], [1], [2]]}",
            data("f32", "3", [NAN, 1.0, -INF]),
        )
        for reduction in ("sum", "prod")
    ),
    tuples("opset15", "4", indices=[[0]], updates="1", reduction="mean"),
    tuples("opset15", "4", indices=[[0]], updates="1", reduction="average"),
]


def elements(
    version: str,
    shape: str,
    indices: object,
    updates: str,
    axis: object = 0,
    fed: tuple[Shape, ...] = (None,) * 3,
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    inputs = [
        data(t, shape, run_shape=fed[0]),
        whole(index, indices, fed[1]),
        data(t, updates, run_shape=fed[2]),
        whole(index, axis),
    ]
    return row(f"ScatterElementsUpdate-{version}", {}, *inputs, **fields)  # type: ignore[arg-type]


def by_element(version: str) -> list[Case]:
    return [
        elements(version, "4,3", indices=[[2, 0, 1]], updates="1,3"),
        elements(version, "4,3", indices=[[2], [0], [1], [1]], updates="4,1", axis=1),
        elements(version, "4,3", indices=[[2, 0], [0, 1]], updates="2,2", axis=-1),
        elements(version, "5", indices=[4, 0], updates="2", axis=[0]),
        elements(version, "4,3", indices=[[2, 0, 1]], updates="1,3", index="i32"),
        elements(version, "1..5,?", indices=[[1, 2]], updates="1,2", fed=((4, 3), None, None)),
        elements(version, "?,3", indices="?,3", updates="..4,3", run=False),
        elements(version, "...", indices=[[1]], updates="1,1", run=False),
        elements(version, "4,3", indices="...", updates="1,3", run=False),
        elements(version, "4,3", indices=[[1]], updates="...", run=False),
        elements(version, "4,3", indices=[[1]], updates="1,1", axis="", run=False),
        elements(version, "4,3", indices=[[1]], updates="1,1", axis="?", run=False),
        *(elements(version, "3,2", indices=[[1, 0]], updates="1,2", t=t) for t in TYPES),
        *(
            elements(version, "3,2", indices=[[1, 0]], updates="1,2", t=t, run=False)
            for t in (*PACKED, "string", "dynamic")
        ),
        as_shape(node(f"ScatterElementsUpdate-{version}", {}, SIZES, "i64{[1]} i64{[7]} i64{0}")),
        elements(version, "4,3", indices=[[1]], updates="1,1", axis=2),
        elements(version, "4,3", indices=[[1]], updates="1,1", axis=-3),
        elements(version, "4,3", indices=[1], updates="1"),
        elements(version, "4,3", indices=[[1]], updates="1,2"),
        elements(version, "4,3", indices=[[1]], updates="1"),
        elements(version, "4,3", [[1]], "1,1", [0, 1], run=False, known="scatter-axis"),
        elements(version, "4,3", indices=[[1.0]], updates="1,1", index="f32"),
        row(f"ScatterElementsUpdate-{version}", {}, "f32[2] i64{[0]} i32[1] i64{0}"),
        row(f"ScatterElementsUpdate-{version}", {}, "f32[2] i64{[0]} f32[1]"),
    ]


def reduced(
    reduction: str,
    initial: bool,
    t: str,
    values: list[object],
    indices: list[int],
    updates: list[object],
    **fields: Any,
) -> Case:
    attributes = {"reduction": reduction, "use_init_val": str(initial).lower()}
    size = str(len(values))
    return Case(
        "ScatterElementsUpdate",
        "opset12",
        attributes,
        [
            data(t, size, values),
            const("i64", indices),
            data(t, str(len(updates)), updates),
            const("i64", 0),
        ],
        id=f"ScatterElementsUpdate-{reduction}-{initial}-{t}-{values}-{indices}-{updates}",
        **fields,  # type: ignore[arg-type]
    )


ELEMENTS = [
    *by_element("opset3"),
    *by_element("opset12"),
    elements("opset2", "2", indices=[0], updates="1"),
    *(
        reduced(reduction, initial, t, [3, 7, 5, 1], [2, 0, 2, -1], [4, 2, 9, 6])
        for reduction in ("sum", "prod", "min", "max", "mean")
        for initial in (True, False)
        for t in ("f32", "f16", "i32", "u8")
    ),
    *(
        reduced(reduction, True, "i32", [-3, 7], [0, 0, 1], [-4, 2, -8])
        for reduction in ("mean", "sum", "min")
    ),
    *(
        reduced("mean", initial, "i32", [-3, 8], [0, 0, 1], [-4, -3, -8])
        for initial in (True, False)
    ),
    *(
        reduced(reduction, initial, "boolean", [0, 1, 1], [0, 1, 2], [1, 0, 1])
        for reduction in ("sum", "prod", "min", "max")
        for initial in (True, False)
    ),
    reduced("none", initial=True, t="f32", values=[1.0, 2.0], indices=[1], updates=[NAN]),
    *(
        reduced(reduction, True, "f32", [1.0, NAN, INF], [0, 1, 2], [NAN, 1.0, -INF])
        for reduction in ("sum", "prod")
    ),
    reduced("sum", initial=True, t="u8", values=[250, 1], indices=[0, 0], updates=[5, 3]),
    reduced("mean", initial=True, t="boolean", values=[0, 1], indices=[0], updates=[1]),
    reduced("median", initial=True, t="f32", values=[0, 1], indices=[0], updates=[1]),
]


def sliced(
    shape: str,
    updates: str,
    start: object,
    stop: object,
    step: object,
    axes: object = None,
    fed: tuple[Shape, Shape] = (None, None),
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    lists = [whole(index, one) for one in (start, stop, step, axes) if one is not None]
    return row(
        "SliceScatter-15",
        {},
        data(t, shape, run_shape=fed[0]),
        data(t, updates, run_shape=fed[1]),
        *lists,
        **fields,
    )  # type: ignore[arg-type,list-item]


SLICED = [
    sliced("4,5", updates="2,5", start=[1], stop=[3], step=[1], axes=[0]),
    sliced("4,5", updates="4,2", start=[0, 1], stop=[4, 5], step=[1, 2]),
    sliced("4,5", updates="4,3", start=[-3], stop=[2**63 - 1], step=[1], axes=[-1]),
    sliced("4,5", updates="4,5", start=[2**63 - 1], stop=[-(2**63)], step=[-1], axes=[1]),
    sliced("4,5", updates="2,5", start=[3], stop=[0], step=[-2], axes=[0], index="i32"),
    sliced("4,5", updates="0,5", start=[2], stop=[2], step=[1], axes=[0]),
    sliced("6", updates="3", start=[0], stop=[6], step=[2]),
    sliced("1..4,?", updates="2,?", start=[0], stop=[2], step=[1], axes=[0], fed=((4, 5), (2, 5))),
    sliced("4,5", updates="...", start=[0], stop=[2], step=[1], axes=[0], run=False),
    sliced("...", updates="2,5", start=[0], stop=[2], step=[1], axes=[0], run=False),
    sliced("...", updates="...", start=[0], stop=[2], step=[1], axes=[0], run=False),
    sliced("4,5", updates="?,5", start="1", stop=[2], step=[1], axes=[0], run=False),
    sliced("4,5", updates="?,5", start=[0], stop=[2], step=[1], axes="1", run=False),
    sliced("4,5", updates="?,?", start="?", stop="?", step="?", run=False),
    sliced("4,5", updates="?,?", start="...", stop="...", step="...", axes="...", run=False),
    *(sliced("4,2", updates="2,2", start=[1], stop=[3], step=[1], axes=[0], t=t) for t in TYPES),
    *(
        sliced("4,2", updates="2,2", start=[1], stop=[3], step=[1], axes=[0], t=t, run=False)
        for t in (*PACKED, "string", "dynamic")
    ),
    sliced("4,5", updates="3,5", start=[1], stop=[3], step=[1], axes=[0]),
    sliced("4,5", updates="2", start=[1], stop=[3], step=[1], axes=[0]),
    sliced("", updates="", start=[1], stop=[3], step=[1], axes=[0]),
    sliced("4,5", updates="2,5", start=[1], stop=[3], step=[0], axes=[0]),
    sliced("4,5", updates="2,5", start=[1], stop=[3], step=[1], axes=[2]),
    sliced("4,5", updates="2,5", start=[1, 1], stop=[3, 3], step=[1, 1], axes=[0, 0]),
    sliced("4,5", updates="2,5", start=[1, 0], stop=[3], step=[1], axes=[0]),
    sliced("4,5", updates="2,5", start=[1, 0, 0], stop=[3, 1, 1], step=[1, 1, 1]),
    sliced("4,5", updates="2,5", start=[[1]], stop=[3], step=[1], axes=[0]),
    sliced("4,5", updates="2,5", start=[1.0], stop=[3.0], step=[1.0], axes=[0.0], index="f32"),
    unrun(
        "SliceScatter-15",
        {},
        "f32[4] i32[2] i64{[0]} i64{[2]} i64{[1]}",
        known="slice-scatter-types",
    ),
    row("SliceScatter-15", {}, "f32[4] f32[2] i64{[0]} i64{[2]}"),
    row("SliceScatter-14", {}, "f32[4] f32[2] i64{[0]} i64{[2]} i64{[1]}"),
]

test_scattering = against_openvino(*UPDATE, *ND, *ELEMENTS, *SLICED)
