"""ShapeOf, Reshape, Squeeze and Unsqueeze against OpenVINO."""

from __future__ import annotations

from typing import Any

from differential.cases import Case, Node, const, data
from rows import PACKED, TYPES, against_openvino, as_shape, given, node, row, sizes_of, unrun

PATTERN = {"special_zero": "false"}
Shape = tuple[int, ...] | None


def shape_of(version: str) -> list[Case]:
    layer = f"ShapeOf-{version}"
    attributes = {} if version == "opset1" else {"output_type": "i64"}
    return [
        *(
            row(layer, attributes, f"f32[{shape}]")
            for shape in ("2,3", "", "0,4", "5", "1,2,3,4,5,6,7")
        ),
        row(layer, attributes, "f32[1..4,?]@2,3"),
        unrun(layer, attributes, "f32[...]"),
        unrun(layer, attributes, "f32[1000000000000,2]"),
        *(row(layer, attributes, f"{t}[2,3]") for t in TYPES),
        *(unrun(layer, attributes, f"{t}[2,3]") for t in (*PACKED, "string", "dynamic")),
        row(layer, attributes, id=f"ShapeOf-{version}-no-input"),
        row(layer, attributes, *[data("f32", "2")] * 2, id=f"ShapeOf-{version}-two-inputs"),
    ]


SHAPE_OF = [
    *shape_of("opset1"),
    *shape_of("opset3"),
    row("ShapeOf-3", "output_type=i32", "f32[2,0,3]"),
    row("ShapeOf-3", "output_type=i32", "f32[..3,?]@2,3"),
    row("ShapeOf-3", "output_type=I32", "f32[2,3]"),
    *(
        row("ShapeOf-3", f"output_type={t}", "f32[2,3]")
        for t in ("u32", "f32", "boolean", "i16", "none")
    ),
    row("ShapeOf-3", {}, "f32[2,3]"),
    *(
        as_shape(sizes_of(shape, t))
        for t in ("i32", "i64")
        for shape in ("1..4,?,5", "2,..3000000000", "2147483647..,3")
    ),
    as_shape(node("ShapeOf-1", {}, "f32[1..4,?]")),
]


def reshape(
    shape: str,
    pattern: object,
    zero: bool = False,
    fed: Shape = None,
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    source, attributes = data(t, shape, run_shape=fed), {"special_zero": str(zero).lower()}
    return row("Reshape-1", attributes, source, given(index, pattern), **fields)


def computed(shape: str, *parts: object) -> Node:
    """A pattern of constants, and dimensions (given by their index) of a tensor of that shape."""
    sizes = sizes_of(shape)
    inputs = [
        const("i64", [part])
        if isinstance(part, int)
        else node("Gather-8", {}, sizes, const("i64", [int(str(part))]), "i64{0}")
        for part in parts
    ]
    return node("Concat-1", "axis=0", *inputs)


RESHAPE = [
    reshape("2,6", [3, 4]),
    reshape("2,6", [12]),
    reshape("2,6", [2, 3, 2, 1]),
    reshape("", [1, 1]),
    reshape("1,1", []),
    reshape("", []),
    reshape("2,6", [4, -1]),
    reshape("2,6", [-1]),
    reshape("2,6", [0, -1], True),
    reshape("2,6", [0, 3, 0], True, run=False),
    reshape("2,6", [-1, 0], True),
    reshape("2,6,5", [0, 0, -1], True),
    reshape("2,6,5", [-1, 0], True),
    reshape("0,6", [0, -1], True),
    reshape("0,5,6", [0, -1], True),
    reshape("0,5,6", data("i64", "3", [0, 5, -1]), True),
    reshape("2,0,3", data("i64", "2", [-1, 0]), True),
    reshape("0,6", [0, 3], False),
    reshape("0,6", [3, 0], False),
    reshape("0,6", [-1, 3], False),
    reshape("0,6", [-1, 0], False, run=False),
    reshape("2,6", [4, -1], index="i32"),
    reshape("2,6", [4, 3], index="u8"),
    reshape("2,6", [4, -1], index="i8"),
    # not known before it runs
    reshape("2,?", [4, -1], fed=(2, 6)),
    reshape("2,?", [3, -1], fed=(2, 6)),
    reshape("2..4,6", [-1, 3], fed=(2, 6)),
    reshape("2..4,6", [0, 2, 3], True, fed=(2, 6)),
    reshape("2..,..6", [-1], fed=(2, 6)),
    reshape("?,?,8", [-1, 8], fed=(2, 3, 8)),
    reshape("?,?,8", [0, -1], True, fed=(2, 3, 8)),
    reshape("?,3,?", [0, -1, 0], True, fed=(2, 3, 8)),
    reshape("?,8", [0, 2, -1], True, fed=(2, 8)),
    reshape("1..5,8", [4, 2, -1], fed=(3, 8)),
    reshape("..5,7..8", [4, 2, -1], fed=(3, 8)),
    reshape("?,?", [3, 4], fed=(2, 6)),
    reshape("...", [3, 4], fed=(2, 6), run=False),
    reshape("...", [0, -1], True, run=False),
    reshape("...", [-1], run=False, known="reshape-of-nothing"),
    reshape("...", "3", run=False),
    reshape("2,6", "3", run=False),
    reshape("2,6", "?", run=False),
    reshape("2,6", "1..3", run=False),
    reshape("2,6", "...", run=False),
    reshape("1000000000000,3", [3, -1], run=False),
    reshape("1..8,?,64", computed("1..8,?,64", "0", -1, 8, 8), run=False),
    reshape("1..8,?,64", computed("1..8,?,64", "0", "1", 8, -1), run=False),
    reshape("?,3,4", computed("?,3,4", "0", 2, 6), run=False),
    reshape("2..3,12", computed("2..3,12", "0", -1, "0"), True, run=False),
    reshape("2..3,12", computed("4..5,12", -1, "0"), run=False),
    reshape("...", computed("4..5,12", -1, "0", "1"), run=False, known="reshape-of-nothing"),
    reshape("2,3", computed("..3,?", "0", "1"), run=False),
    reshape("2,3,4", computed("?,4", "0", 4), run=False),
    *(reshape("2,3", [3, 2], t=t) for t in (*TYPES, "string")),
    *(reshape("2,3", [3, 2], t=t, run=False) for t in (*PACKED, "dynamic")),
    reshape("6", node("Reshape-1", PATTERN, "i64{[[2, 3]]} i64{[2]}"), run=False),
    row("Reshape-1", {}, "f32[2,6] i64{[3, 4]}", known="missing-attribute"),
    # refusals
    reshape("2,6", [5, 2]),
    reshape("2,6", [5, -1]),
    reshape("2,6", [-1, -1]),
    reshape("2,6", [-2, 6]),
    reshape("2,6", [0, 6]),
    reshape("2,6", [0, -1]),
    reshape("2,6", [2, 6, 0], True),
    reshape("2,6", [0, 5], True, run=False, known="reshape-count"),
    reshape("0,6", [2, 3]),
    reshape("?,6", [-1, 5], fed=(5, 6)),
    reshape("2,6", 12),
    reshape("2,6", [[3, 4]]),
    reshape("2,6", [3.0, 4.0], index="f32"),
    reshape("2,6", [True, True], index="boolean"),
    row("Reshape-1", PATTERN, "f32[2]"),
    row("Reshape-1", "special_zero=perhaps", "f32[2] i64{[2]}", known="boolean-text"),
]


def squeeze(
    version: str,
    shape: str,
    axes: object = None,
    fed: Shape = None,
    t: str = "f32",
    index: str = "i64",
    skip: str = "",
    **fields: Any,
) -> Case:
    given = (
        [] if axes is None else [data(index, axes) if isinstance(axes, str) else const(index, axes)]
    )
    attributes = {"allow_axis_skip": skip} if skip else {}
    return row(f"Squeeze-{version}", attributes, data(t, shape, run_shape=fed), *given, **fields)  # type: ignore[arg-type]


def squeezes(version: str) -> list[Case]:
    return [
        squeeze(version, "1,3,1", [0]),
        squeeze(version, "1,3,1", [0, 2]),
        squeeze(version, "1,3,1", [-1]),
        squeeze(version, "1,3,1", -3),
        squeeze(version, "1,3,1"),
        squeeze(version, "3,4"),
        squeeze(version, "1,1"),
        squeeze(version, ""),
        squeeze(version, "1,3,1", [], id=f"Squeeze-{version}-no-axes"),
        squeeze(version, "1,3", [0], index="i8"),
        squeeze(version, "1,0,1", [0]),
        squeeze(version, "1,3,1", [0, 0], run=False),
        squeeze(version, "1,3", [1]),
        squeeze(version, "?,3,1", [0], (1, 3, 1)),
        squeeze(version, "2..4,3,1", [0, 2], (2, 3, 1)),
        squeeze(version, "..4,?", [0], (1, 3)),
        squeeze(version, "?,3", None, (1, 3)),
        squeeze(version, "2..,3", None, (2, 3)),
        squeeze(version, "...", [0], run=False),
        squeeze(version, "...", run=False),
        squeeze(version, "1,3,1", "1", run=False),
        squeeze(version, "1,3,1", "", run=False),
        squeeze(version, "1,3,1", "2", run=False),
        squeeze(version, "1,3,1", "?", run=False),
        squeeze(version, "2,3", "1", run=False),
        squeeze(version, "...", "...", run=False),
        *(squeeze(version, "1,3", [0], t=t) for t in (*TYPES, "string")),
        *(squeeze(version, "1,3", [0], t=t, run=False) for t in (*PACKED, "dynamic")),
        as_shape(
            node(
                f"Squeeze-{version}",
                {},
                node("Unsqueeze-1", {}, sizes_of("1..4,?"), "i64{[0]}"),
                "i64{[0]}",
            )
        ),
        squeeze(version, "1,3", [2]),
        squeeze(version, "1,3", [-3]),
        squeeze(version, "1,3", [[0]]),
        squeeze(version, "1,3", [True], index="boolean"),
        row(f"Squeeze-{version}", {}, id=f"Squeeze-{version}-no-input"),
    ]


SQUEEZE = [
    *squeezes("opset1"),
    *squeezes("opset15"),
    *(
        squeeze("opset15", shape, axes, fed, skip=skip)
        for skip in ("true", "false")
        for shape, axes, fed in (
            ("1,3", [1], None),
            ("?,3", [0], (1, 3)),
            ("2..,1", [0, 1], (2, 1)),
            ("?,1", [1], (4, 1)),
        )
    ),
    squeeze("opset15", "1,3", [0], skip="maybe", known="boolean-text"),
]


def unsqueeze(
    shape: str, axes: object, fed: Shape = None, t: str = "f32", index: str = "i64", **fields: Any
) -> Case:
    given = data(index, axes) if isinstance(axes, str) else const(index, axes)
    return row("Unsqueeze-1", {}, data(t, shape, run_shape=fed), given, **fields)  # type: ignore[arg-type]


UNSQUEEZE = [
    unsqueeze("2,3", [0]),
    unsqueeze("2,3", [0, 3]),
    unsqueeze("2,3", [-1]),
    unsqueeze("2,3", [-1, -4]),
    unsqueeze("2,3", 1),
    unsqueeze("", [0]),
    unsqueeze("0,2", [1]),
    unsqueeze("2,3", [2, 0]),
    unsqueeze("2,3", [1, 1], run=False),
    unsqueeze("2,3", [0], index="i32"),
    unsqueeze("2,3", [0], index="u16"),
    unsqueeze("?,2..3", [1], (2, 3)),
    unsqueeze("...", [0], run=False),
    unsqueeze("2,3", "1", run=False),
    unsqueeze("2,3", "", run=False),
    unsqueeze("2,3", "2", run=False),
    unsqueeze("2,3", "...", run=False),
    *(unsqueeze("2,3", [0], t=t) for t in (*TYPES, "string")),
    *(unsqueeze("2,3", [0], t=t, run=False) for t in (*PACKED, "dynamic")),
    as_shape(
        node("Unsqueeze-1", {}, node("Gather-8", {}, sizes_of("1..4,?"), "i64{0} i64{0}"), "i64{0}")
    ),
    unsqueeze("2,3", [3]),
    unsqueeze("2,3", [-4]),
    unsqueeze("2,3", []),
    unsqueeze("2,3", [[0]]),
    unsqueeze("2,3", [True], index="boolean"),
    row("Unsqueeze-1", {}, "f32[2]"),
]


LESS_FOUR = node("Subtract-1", {}, sizes_of("1..8"), "i64{[4]}")
OF_INTERVALS = [
    unrun(
        "Broadcast-3",
        "mode=numpy",
        "f32{1.0}",
        node(f"{function}-1", {}, *inputs),
        id=f"interval-{function}",
        known="interval-by-its-ends",
    )
    for function, inputs in (
        ("FloorMod", [sizes_of("1..8"), const("i64", [5])]),
        ("Abs", [LESS_FOUR]),
        ("Power", [LESS_FOUR, const("i64", [2])]),
    )
]

test_shape = against_openvino(*SHAPE_OF, *RESHAPE, *SQUEEZE, *UNSQUEEZE, *OF_INTERVALS)
