"""What operands and attributes declare besides types: ranks, axes, single elements and limits."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from irshape.element_types import ElementType
from irshape.faults import Violation
from irshape.ops.declaration import (
    ANY,
    Operation,
    at_least,
    attribute,
    between,
    check_inputs,
    like,
    operand,
)
from irshape.ops.kinds import FLOAT, INT, INTS
from irshape.ops.operands import shared_axes
from irshape.ops.tensors import Tensor
from irshape.shapes import PartialShape

F32 = ElementType.of("f32")


class Example(Operation):
    """Every form that a declaration of a shape has."""

    scale = operand(ANY, shape=("channels",))
    data = operand(ANY, shape=("batch", "channels", ...))
    points = operand(ANY, shape=("...", "batch", 2), optional=True)
    limit = operand(ANY, single=True, optional=True)
    matrix = operand(ANY, rank=at_least(2), optional=True)
    groups: int = attribute(INT, default=1, within=at_least(1))
    ratio: float = attribute(FLOAT, default=0.5, within=between(0, 1))
    count: int = attribute(INT, default=1, within=between(1, 1 << 20))
    fixed: float = attribute(FLOAT, default=1.0, within=between(1, 1))


class Strided(Operation):
    """A limit of each element of a list."""

    data = operand(ANY)
    strides: tuple[int, ...] = attribute(INTS, within=between(1, 4))


def test_a_limit_holds_for_each_element_of_a_list() -> None:
    check_inputs(Strided(strides=(1, 4)), tensors("[3]"))
    with pytest.raises(Violation) as caught:
        check_inputs(Strided(strides=(1, 5)), tensors("[3]"))
    assert (caught.value.fault.at, caught.value.fault.actual_text) == ("strides", "5")


class OfAnySize(Operation):
    """Axes without a name, which have nothing to do with each other."""

    data = operand(ANY, shape=("batch", "?", "?"))
    rois = operand(ANY, shape=("?", 4))


def tensors(shapes: str) -> tuple[Tensor, ...]:
    return tuple(Tensor(F32, PartialShape.parse(shape)) for shape in shapes.split())


class Refused(NamedTuple):
    shapes: str
    at: str
    expected: str
    actual: str


@pytest.mark.parametrize(
    "refused",
    [
        Refused("[3] [7]", "data", "rank 2 or more", "rank 1"),
        Refused("[] [1,3]", "scale", "rank 1", "rank 0"),
        # the operand with more axes sets the size, whatever the order
        Refused("[4] [1,3,8]", "scale", "3", "4"),
        Refused("[5..9] [1,2..4]", "scale", "2..4", "5..9"),
        Refused("[3] [1,3] [9,9,6,2]", "points", "1", "6"),  # axes behind `...` count from the end
        Refused("[3] [1,3] [1,3]", "points", "2", "3"),
        Refused("[3] [1,3] [1,2] [2]", "limit", "a scalar or one element", "[2]"),
        Refused("[3] [1,3] [1,2] [1,1]", "limit", "a scalar or one element", "[1,1]"),
        Refused("[3] [1,3] [1,2] [1] [4]", "matrix", "rank 2 or more", "rank 1"),
    ],
)
def test_a_shape_is_refused(refused: Refused) -> None:
    with pytest.raises(Violation) as caught:
        check_inputs(Example(), tensors(refused.shapes))
    fault = caught.value.fault
    seen = (fault.at, fault.expected_text, fault.actual_text)
    assert seen == (refused.at, refused.expected, refused.actual)


@pytest.mark.parametrize(
    "shapes",
    [
        "[...] [...]",
        "[3] [...]",
        "[?] [1,3]",
        "[2..5] [1,4..9,?,?]",
        "[0] [0,0]",
        "[3] [1,3] [1,2]",
        "[3] [1,3] [5,1,?]",
        "[3] [1,3] [...] []",
        "[3] [1,3] [...] [?]",
        "[3] [1,3] [...] [1] [4,4,4]",
    ],
)
def test_a_shape_is_taken(shapes: str) -> None:
    check_inputs(Example(), tensors(shapes))


def test_axes_of_any_size_share_none() -> None:
    inputs = tensors("[2,3,5] [7,4]")
    assert check_inputs(OfAnySize(), inputs) == inputs
    assert [*OfAnySize().dimensions(*inputs)] == ["batch"]
    assert [declared.describe_shape() for declared in OfAnySize.operands] == [
        "shape [batch,?,?]",
        "shape [?,4]",
    ]
    assert [*shared_axes(OfAnySize.operands)] == []


@pytest.mark.parametrize("shapes", ["[2,3] [7,4]", "[2,3,5] [7,3]"])
def test_axes_of_any_size_count(shapes: str) -> None:
    with pytest.raises(Violation):
        check_inputs(OfAnySize(), tensors(shapes))


def test_the_dimensions_are_what_all_operands_allow() -> None:
    inputs = tensors("[2..5] [?,4..9,8] [1..3,2]")
    assert {name: str(size) for name, size in Example().dimensions(*inputs).items()} == {
        "channels": "4..5",
        "batch": "1..3",
    }
    assert Example().dimensions(*tensors("[...] [...]"), None) == {}


@pytest.mark.parametrize(
    ("name", "value", "low", "high"),
    [
        ("groups", 0, 1, None),
        ("groups", -(2**40), 1, None),
        ("ratio", 1.5, 0, 1),
        ("ratio", float("nan"), 0, 1),
        ("count", (1 << 20) + 1, 1, 1 << 20),
        ("fixed", 0.5, 1, 1),
    ],
)
def test_an_attribute_is_refused(name: str, value: float, low: int, high: int | None) -> None:
    with pytest.raises(Violation) as caught:
        check_inputs(Example(**{name: value}), tensors("[3] [1,3]"))
    fault = caught.value.fault
    assert (fault.at, fault.relation, fault.expected) == (name, "within", between(low, high))


@pytest.mark.parametrize("values", [{"groups": 1}, {"ratio": 0.0}, {"ratio": 1.0}])
def test_an_attribute_is_taken(values: dict[str, float]) -> None:
    check_inputs(Example(**values), tensors("[3] [1,3]"))


def test_what_is_declared_is_listed() -> None:
    assert [declared.describe_shape() for declared in Example.operands] == [
        "shape [channels]",
        "shape [batch,channels,...]",
        "shape [...,batch,2]",
        "a scalar or one element",
        "rank 2 or more",
    ]
    assert [declared.describe() for declared in Example.attributes.values()] == [
        "a whole number, 1 or more",
        "a number, 0 to 1",
        "a whole number, 1 to 1048576",
        "a number, 1",
    ]
    assert [*shared_axes(Example.operands)] == [
        "`channels` must be equal in `scale` and `data`",
        "`batch` must be equal in `data` and `points`",
    ]


def test_a_result_is_like_an_input() -> None:
    class Scaled(Operation):
        data = operand(ANY)
        scale = operand(ANY)
        result = like("scale")

    data, scale = tensors("[2,3] [?,4]")
    outputs = Scaled().infer(data, scale)
    assert isinstance(outputs, Tensor)
    assert (outputs.element_type, str(outputs.shape)) == (F32, "[?,4]")


def test_a_result_that_is_declared_wrongly_is_refused() -> None:
    with pytest.raises(TypeError, match="no operand"):
        type("Scaled", (Operation,), {"data": operand(ANY), "result": like("scale")})
    with pytest.raises(TypeError, match="infer"):
        type("Scaled", (Operation,), {"data": operand(ANY), "result": like("data"), "infer": len})


def test_a_method_that_overwrites_a_declaration_is_refused() -> None:
    class Scaled(Operation):
        data = operand(ANY)

    with pytest.raises(TypeError, match="data"):
        type("Other", (Scaled,), {"data": lambda self: None})
