"""Data movement works alike for every element type, also those that OpenVINO cannot run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

from irshape.element_types import ElementType
from irshape.numpy_types import dtype_of, element_type_of
from irshape.ops.declaration import ANY, NUMERIC, Operation
from irshape.ops.registry import find

TYPES = sorted(ANY, key=lambda element_type: element_type.name)
Array = np.ndarray[Any, Any]


def ints(*numbers: Any) -> Array:
    return np.array(numbers, np.int64)


DATA, OTHER = "data", "other"


class Row(NamedTuple):
    """An operation to test; `inputs` are those after the data of the given shape."""

    type: str
    version: str
    attributes: Mapping[str, Any] = MappingProxyType({})
    shape: tuple[int, ...] = (2, 4)
    inputs: Sequence[Any] = ()


def case(operation: str, *inputs: Any, shape: tuple[int, ...] = (2, 4), **attributes: Any) -> Row:
    type, _, opset = operation.partition("-")
    return Row(type, f"opset{opset}", attributes, shape, inputs)


OPERATIONS = [
    case("Transpose-1", ints(1, 0)),
    case("Reverse-1", ints(1), mode="index"),
    case("ReverseSequence-1", ints(3, 1)),
    case("Roll-7", ints(1), ints(1)),
    case("ShuffleChannels-1", group=2),
    case("Gather-1", ints(1, 0), np.int64(0)),
    case("Gather-7", ints([3, 0], [2, 1]), np.int64(1), batch_dims=1),
    case("Gather-8", ints([3, -9], [-2, 1]), np.int64(1), batch_dims=1),
    case("GatherElements-6", ints([3, 0], [2, 1]), axis=1),
    case("GatherND-5", ints([3], [2]), batch_dims=1),
    case("GatherND-8", ints([1, 3], [0, 2])),
    case("Concat-1", OTHER, DATA, axis=1),
    case("Split-1", np.int64(1), num_splits=2),
    case("VariadicSplit-1", np.int64(1), ints(1, -1)),
    case("Broadcast-1", ints(2, 3), ints(0), shape=(2, 1), mode="numpy"),
    case("Broadcast-3", ints(1, 3), None, shape=(2, 1), mode="bidirectional"),
    case("Tile-1", ints(2, 1)),
    case("Pad-1", ints(1, 2), ints(0, 1), None, pad_mode="reflect"),
    case("Pad-12", ints(1, -2), ints(0, 1), None, pad_mode="constant"),
    case("ScatterUpdate-3", ints(1), OTHER, np.int64(0)),
    case("ScatterNDUpdate-4", ints([1]), OTHER),
    case("ScatterNDUpdate-15", ints([1]), OTHER),
    case("ScatterElementsUpdate-3", ints([1, 0, 1, 0]), OTHER, np.int64(0)),
    case("ScatterElementsUpdate-12", ints([1, 0, 1, 0]), OTHER, np.int64(0)),
    case("Slice-8", ints(-1), ints(0), ints(-2), ints(1)),
    case("SliceScatter-15", OTHER, ints(0), ints(1), ints(1), None),
    case("StridedSlice-1", ints(0, 3), ints(2, 4), None, shrink_axis_mask=(0, 1)),
    case("DepthToSpace-1", shape=(1, 4, 2, 1), block_size=2),
    case("SpaceToDepth-1", shape=(1, 2, 2, 2), block_size=2),
    case("BatchToSpace-2", ints(1, 2), ints(0, 1), ints(0, 0), shape=(4, 2)),
    case("SpaceToBatch-2", ints(1, 2), ints(0, 1), ints(0, 0), shape=(2, 3)),
    case(
        "ExtractImagePatches-3",
        shape=(1, 1, 2, 3),
        sizes=(2, 2),
        strides=(1, 1),
        rates=(1, 1),
        auto_pad="same_upper",
    ),
    case("Reshape-1", ints(4, -1)),
    case("Squeeze-1", ints(0), shape=(1, 4)),
    case("Squeeze-15", None, shape=(1, 4)),
    case("Unsqueeze-1", ints(0)),
    case("Result-1"),
    case("Identity-16"),
    case("Select-1"),
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


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: f"{row.type}-{row.version}")
def test_every_element_type(row: Row) -> None:
    operation: Operation = find(row.type, row.version)(**row.attributes)
    marks = np.random.default_rng(3).integers(0, 2, row.shape)
    others = marks[:1] ^ 1 if row.type.startswith(("Scatter", "SliceScatter")) else marks ^ 1

    def outcome(element_type: ElementType) -> list[Array]:
        data, other = encoded(marks, element_type), encoded(others, element_type)
        inputs: list[Any] = [data]
        for given in row.inputs:
            if isinstance(given, str):
                inputs.append(data if given is DATA else other)
            else:
                inputs.append(None if given is None else np.asarray(given))
        if row.type == "Select":
            inputs = [marks.astype(bool), data, other]
        assert operation.evaluate is not None
        result = operation.evaluate(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        assert {element_type_of(output) for output in outputs} == {element_type}
        return [decoded(output, element_type) for output in outputs]

    expected = outcome(ElementType.of("i64"))
    for element_type in TYPES:
        for ours, theirs in zip(outcome(element_type), expected, strict=True):
            assert ours.shape == theirs.shape
            assert (ours == theirs).all(), element_type


COMBINED = [
    *(
        case("ScatterNDUpdate-15", ints([2]), OTHER, shape=(4,), reduction=reduction)
        for reduction in ("sum", "prod", "min", "max")
    ),
    *(
        case(
            "ScatterElementsUpdate-12",
            ints(2),
            OTHER,
            np.int64(0),
            shape=(4,),
            reduction=reduction,
            use_init_val=initial,
        )
        for reduction in ("sum", "prod", "min", "max", "mean")
        for initial in (True, False)
    ),
    case("Col2Im-15", ints(2, 2), ints(2, 2), shape=(1, 4, 1), strides=(2, 2)),
]


@pytest.mark.parametrize(
    "row", COMBINED, ids=lambda row: "-".join(map(str, (row.type, *row.attributes.values())))
)
def test_every_number_is_combined(row: Row) -> None:
    operation: Operation = find(row.type, row.version)(**row.attributes)
    marks = np.array([1, 0, 0, 1]).reshape(row.shape)
    assert operation.evaluate is not None

    def outcome(element_type: ElementType) -> Array:
        inputs = [
            encoded(marks, element_type),
            *(
                encoded(np.array([1]), element_type) if one is OTHER else np.asarray(one)
                for one in row.inputs
            ),
        ]
        result = operation.evaluate(*inputs)  # type: ignore[misc]
        assert element_type_of(result) is element_type
        return decoded(result, element_type)

    expected = outcome(ElementType.of("i64"))
    without_0_or_1 = {ElementType.of("nf4"), ElementType.of("f8e8m0")}
    for element_type in NUMERIC - without_0_or_1:
        assert (outcome(element_type) == expected).all(), element_type
