"""Packed integers as values that inference looks at: which of them OpenVINO can read."""

from __future__ import annotations

from differential.cases import Case, Source, const, data
from rows import against_openvino


def case(type: str, opset: int, attributes: dict[str, str], *inputs: Source) -> Case:
    return Case(type, f"opset{opset}", attributes, inputs, run=False)


def mean(axes: Source) -> Case:
    return case("ReduceMean", 1, {"keep_dims": "true"}, data("f32", "2,3,4"), axes)


def reshaped(pattern: Source) -> Case:
    return case("Reshape", 1, {"special_zero": "false"}, data("f32", "3"), pattern)


def gathered(indices: Source, axis: Source) -> Case:
    return case("Gather", 8, {}, data("f32", "2,3,4"), indices, axis)


READ = [
    mean(const("i4", [1])),
    mean(const("u4", [2])),
    mean(const("u4", [])),
    reshaped(const("i4", [3])),
    gathered(const("i64", [0]), const("u4", 2)),
    gathered(const("u2", [1, 0]), const("i64", 0)),
    case(
        "MVN",
        6,
        {"eps": "0.1", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
        data("f32", "2,3"),
        const("u2", [1]),
    ),
]
REFUSED = [
    *(mean(const(name, [1])) for name in ("u1", "u2", "u3", "u6")),
    *(mean(const(name, [])) for name in ("u1", "u2", "u3", "u6")),
    *(reshaped(const(name, [3])) for name in ("u2", "u3", "u6")),
    reshaped(const("i4", [-1])),
    gathered(const("i64", [0]), const("i4", -1)),
    gathered(const("i64", [0]), const("u2", 1)),
    case("Tile", 1, {}, data("f32", "2"), const("u3", [2, 2])),
    case("VariadicSplit", 1, {}, data("f32", "7"), const("i64", 0), const("u4", [2, 5])),
]

test_packed_values = against_openvino(*READ, *REFUSED)
