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


OPERATIONS = [
    Row("Transpose", "opset1", inputs=[ints(1, 0)]),
    Row("Reverse", "opset1", attributes={"mode": "index"}, inputs=[ints(1)]),
    Row("ReverseSequence", "opset1", inputs=[ints(3, 1)]),
    Row("Roll", "opset7", inputs=[ints(1), ints(1)]),
    Row("ShuffleChannels", "opset1", attributes={"group": 2}),
    Row("Gather", "opset1", inputs=[ints(1, 0), np.int64(0)]),
    Row(
        "Gather", "opset7", attributes={"batch_dims": 1}, inputs=[ints([3, 0], [2, 1]), np.int64(1)]
    ),
    Row(
        "Gather",
        "opset8",
        attributes={"batch_dims": 1},
        inputs=[ints([3, -9], [-2, 1]), np.int64(1)],
    ),
    Row("GatherElements", "opset6", attributes={"axis": 1}, inputs=[ints([3, 0], [2, 1])]),
    Row("GatherND", "opset5", attributes={"batch_dims": 1}, inputs=[ints([3], [2])]),
    Row("GatherND", "opset8", inputs=[ints([1, 3], [0, 2])]),
    Row("Concat", "opset1", attributes={"axis": 1}, inputs=[OTHER, DATA]),
    Row("Split", "opset1", attributes={"num_splits": 2}, inputs=[np.int64(1)]),
    Row("VariadicSplit", "opset1", inputs=[np.int64(1), ints(1, -1)]),
    Row(
        "Broadcast",
        "opset1",
        attributes={"mode": "numpy"},
        shape=(2, 1),
        inputs=[ints(2, 3), ints(0)],
    ),
    Row(
        "Broadcast",
        "opset3",
        attributes={"mode": "bidirectional"},
        shape=(2, 1),
        inputs=[ints(1, 3), None],
    ),
    Row("Tile", "opset1", inputs=[ints(2, 1)]),
    Row("Pad", "opset1", attributes={"pad_mode": "reflect"}, inputs=[ints(1, 2), ints(0, 1), None]),
    Row(
        "Pad",
        "opset12",
        attributes={"pad_mode": "constant"},
        inputs=[ints(1, -2), ints(0, 1), None],
    ),
    Row("ScatterUpdate", "opset3", inputs=[ints(1), OTHER, np.int64(0)]),
    Row("ScatterNDUpdate", "opset4", inputs=[ints([1]), OTHER]),
    Row("ScatterNDUpdate", "opset15", inputs=[ints([1]), OTHER]),
    Row("ScatterElementsUpdate", "opset3", inputs=[ints([1, 0, 1, 0]), OTHER, np.int64(0)]),
    Row("ScatterElementsUpdate", "opset12", inputs=[ints([1, 0, 1, 0]), OTHER, np.int64(0)]),
    Row("Slice", "opset8", inputs=[ints(-1), ints(0), ints(-2), ints(1)]),
    Row("SliceScatter", "opset15", inputs=[OTHER, ints(0), ints(1), ints(1), None]),
    Row(
        "StridedSlice",
        "opset1",
        attributes={"shrink_axis_mask": (0, 1)},
        inputs=[ints(0, 3), ints(2, 4), None],
    ),
    Row("DepthToSpace", "opset1", attributes={"block_size": 2}, shape=(1, 4, 2, 1)),
    Row("SpaceToDepth", "opset1", attributes={"block_size": 2}, shape=(1, 2, 2, 2)),
    Row("BatchToSpace", "opset2", shape=(4, 2), inputs=[ints(1, 2), ints(0, 1), ints(0, 0)]),
    Row("SpaceToBatch", "opset2", shape=(2, 3), inputs=[ints(1, 2), ints(0, 1), ints(0, 0)]),
    Row(
        "ExtractImagePatches",
        "opset3",
        attributes={"sizes": (2, 2), "strides": (1, 1), "rates": (1, 1), "auto_pad": "same_upper"},
        shape=(1, 1, 2, 3),
    ),
    Row("Reshape", "opset1", inputs=[ints(4, -1)]),
    Row("Squeeze", "opset1", shape=(1, 4), inputs=[ints(0)]),
    Row("Squeeze", "opset15", shape=(1, 4), inputs=[None]),
    Row("Unsqueeze", "opset1", inputs=[ints(0)]),
    Row("Result", "opset1"),
    Row("Identity", "opset16"),
    Row("Select", "opset1"),
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
        Row(
            "ScatterNDUpdate",
            "opset15",
            attributes={"reduction": reduction},
            shape=(4,),
            inputs=[ints([2]), OTHER],
        )
        for reduction in ("sum", "prod", "min", "max")
    ),
    *(
        Row(
            "ScatterElementsUpdate",
            "opset12",
            attributes={"reduction": reduction, "use_init_val": initial},
            shape=(4,),
            inputs=[ints(2), OTHER, np.int64(0)],
        )
        for reduction in ("sum", "prod", "min", "max", "mean")
        for initial in (True, False)
    ),
    Row(
        "Col2Im",
        "opset15",
        attributes={"strides": (2, 2)},
        shape=(1, 4, 1),
        inputs=[ints(2, 2), ints(2, 2)],
    ),
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
