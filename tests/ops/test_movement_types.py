"""Data movement works alike for every element type, also those that OpenVINO cannot run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from irshape.numpy_types import dtype_of, element_type_of
from irshape.ops.declaration import ANY, NUMERIC, Operation
from irshape.ops.registry import find
from irshape.types import ElementType

TYPES = sorted(ANY, key=lambda element_type: element_type.name)
Array = np.ndarray[Any, Any]


def ints(*numbers: Any) -> Array:
    return np.array(numbers, np.int64)


DATA, OTHER = "data", "other"
OPERATIONS: list[tuple[str, str, dict[str, Any], tuple[int, ...], list[Any]]] = [
    ("Transpose", "opset1", {}, (2, 4), [ints(1, 0)]),
    ("Reverse", "opset1", {"mode": "index"}, (2, 4), [ints(1)]),
    ("ReverseSequence", "opset1", {}, (2, 4), [ints(3, 1)]),
    ("Roll", "opset7", {}, (2, 4), [ints(1), ints(1)]),
    ("ShuffleChannels", "opset1", {"group": 2}, (2, 4), []),
    ("Gather", "opset1", {}, (2, 4), [ints(1, 0), np.int64(0)]),
    ("Gather", "opset7", {"batch_dims": 1}, (2, 4), [ints([3, 0], [2, 1]), np.int64(1)]),
    ("Gather", "opset8", {"batch_dims": 1}, (2, 4), [ints([3, -9], [-2, 1]), np.int64(1)]),
    ("GatherElements", "opset6", {"axis": 1}, (2, 4), [ints([3, 0], [2, 1])]),
    ("GatherND", "opset5", {"batch_dims": 1}, (2, 4), [ints([3], [2])]),
    ("GatherND", "opset8", {}, (2, 4), [ints([1, 3], [0, 2])]),
    ("Concat", "opset1", {"axis": 1}, (2, 4), [OTHER, DATA]),
    ("Split", "opset1", {"num_splits": 2}, (2, 4), [np.int64(1)]),
    ("VariadicSplit", "opset1", {}, (2, 4), [np.int64(1), ints(1, -1)]),
    ("Broadcast", "opset1", {"mode": "numpy"}, (2, 1), [ints(2, 3), ints(0)]),
    ("Broadcast", "opset3", {"mode": "bidirectional"}, (2, 1), [ints(1, 3), None]),
    ("Tile", "opset1", {}, (2, 4), [ints(2, 1)]),
    ("Pad", "opset1", {"pad_mode": "reflect"}, (2, 4), [ints(1, 2), ints(0, 1), None]),
    ("Pad", "opset12", {"pad_mode": "constant"}, (2, 4), [ints(1, -2), ints(0, 1), None]),
    ("ScatterUpdate", "opset3", {}, (2, 4), [ints(1), OTHER, np.int64(0)]),
    ("ScatterNDUpdate", "opset4", {}, (2, 4), [ints([1]), OTHER]),
    ("ScatterNDUpdate", "opset15", {}, (2, 4), [ints([1]), OTHER]),
    ("ScatterElementsUpdate", "opset3", {}, (2, 4), [ints([1, 0, 1, 0]), OTHER, np.int64(0)]),
    ("ScatterElementsUpdate", "opset12", {}, (2, 4), [ints([1, 0, 1, 0]), OTHER, np.int64(0)]),
    ("Slice", "opset8", {}, (2, 4), [ints(-1), ints(0), ints(-2), ints(1)]),
    ("SliceScatter", "opset15", {}, (2, 4), [OTHER, ints(0), ints(1), ints(1), None]),
    (
        "StridedSlice",
        "opset1",
        {"shrink_axis_mask": (0, 1)},
        (2, 4),
        [ints(0, 3), ints(2, 4), None],
    ),
    ("DepthToSpace", "opset1", {"block_size": 2}, (1, 4, 2, 1), []),
    ("SpaceToDepth", "opset1", {"block_size": 2}, (1, 2, 2, 2), []),
    ("BatchToSpace", "opset2", {}, (4, 2), [ints(1, 2), ints(0, 1), ints(0, 0)]),
    ("SpaceToBatch", "opset2", {}, (2, 3), [ints(1, 2), ints(0, 1), ints(0, 0)]),
    (
        "ExtractImagePatches",
        "opset3",
        {"sizes": (2, 2), "strides": (1, 1), "rates": (1, 1), "auto_pad": "same_upper"},
        (1, 1, 2, 3),
        [],
    ),
    ("Reshape", "opset1", {}, (2, 4), [ints(4, -1)]),
    ("Squeeze", "opset1", {}, (1, 4), [ints(0)]),
    ("Squeeze", "opset15", {}, (1, 4), [None]),
    ("Unsqueeze", "opset1", {}, (2, 4), [ints(0)]),
    ("Result", "opset1", {}, (2, 4), []),
    ("Identity", "opset16", {}, (2, 4), []),
    ("Select", "opset1", {}, (2, 4), []),
]


def encoded(marks: Array, element_type: ElementType) -> Array:
    """An element of the type for each mark: one value for 0, another for 1."""
    if element_type.name == "string":
        return np.array(["", "ü"], object)[marks]
    dtype = dtype_of(element_type)
    if dtype.metadata:
        return marks.astype(np.uint8).view(dtype)
    return np.array([0.0, 1.0], np.float32).astype(dtype)[marks]


def decoded(array: Array, element_type: ElementType) -> Array:
    return np.asarray(array == encoded(np.array(1), element_type), np.uint8)


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_every_element_type(
    row: tuple[str, str, dict[str, Any], tuple[int, ...], list[Any]],
) -> None:
    name, version, attributes, shape, rest = row
    operation: Operation = find(name, version)(**attributes)
    marks = np.random.default_rng(3).integers(0, 2, shape)
    others = marks[:1] ^ 1 if name.startswith(("Scatter", "SliceScatter")) else marks ^ 1

    def outcome(element_type: ElementType) -> list[Array]:
        data, other = encoded(marks, element_type), encoded(others, element_type)
        inputs = [data if one is DATA else other if one is OTHER else one for one in (DATA, *rest)]
        if name == "Select":
            inputs = [marks.astype(bool), data, other]
        assert operation.evaluate is not None
        made = operation.evaluate(
            *(
                np.asarray(one) if one is not None and not isinstance(one, np.ndarray) else one
                for one in inputs
            )
        )
        outputs = made if isinstance(made, tuple) else (made,)
        assert {element_type_of(output) for output in outputs} == {element_type}
        return [decoded(output, element_type) for output in outputs]

    expected = outcome(ElementType.of("i64"))
    for element_type in TYPES:
        for ours, theirs in zip(outcome(element_type), expected, strict=True):
            assert ours.shape == theirs.shape
            assert (ours == theirs).all(), element_type


COMBINED: list[tuple[str, str, dict[str, Any], tuple[int, ...], list[Any]]] = [
    *(
        ("ScatterNDUpdate", "opset15", {"reduction": reduction}, (4,), [ints([2]), OTHER])
        for reduction in ("sum", "prod", "min", "max")
    ),
    *(
        (
            "ScatterElementsUpdate",
            "opset12",
            {"reduction": reduction, "use_init_val": initial},
            (4,),
            [ints(2), OTHER, np.int64(0)],
        )
        for reduction in ("sum", "prod", "min", "max", "mean")
        for initial in (True, False)
    ),
    ("Col2Im", "opset15", {"strides": (2, 2)}, (1, 4, 1), [ints(2, 2), ints(2, 2)]),
]


@pytest.mark.parametrize(
    "row", COMBINED, ids=lambda row: "-".join(map(str, (row[0], *row[2].values())))
)
def test_every_number_is_combined(
    row: tuple[str, str, dict[str, Any], tuple[int, ...], list[Any]],
) -> None:
    name, version, attributes, shape, rest = row
    operation: Operation = find(name, version)(**attributes)
    marks = np.array([1, 0, 0, 1]).reshape(shape)
    assert operation.evaluate is not None

    def outcome(element_type: ElementType) -> Array:
        inputs = [
            encoded(marks, element_type),
            *(
                encoded(np.array([1]), element_type) if one is OTHER else np.asarray(one)
                for one in rest
            ),
        ]
        made = operation.evaluate(*inputs)  # type: ignore[misc]
        assert element_type_of(made) is element_type
        return decoded(made, element_type)

    expected = outcome(ElementType.of("i64"))
    for element_type in NUMERIC - {
        ElementType.of("nf4"),
        ElementType.of("f8e8m0"),
    }:  # which have no plain 0 and 1
        assert (outcome(element_type) == expected).all(), element_type
