"""Shared conditions refuse with facts, and facts become sentences."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from irshape.element_types import REAL, ElementType
from irshape.faults import Between, Violation
from irshape.ops import conditions
from irshape.shapes import Dimension, PartialShape

SHAPE = PartialShape("[4,?,2]")

HOLD: list[tuple[Callable[..., None], tuple[Any, ...], dict[str, Any]]] = [
    (conditions.within, ([0, -2, 1], 2), {}),
    (conditions.within, ([], 0), {}),
    (conditions.between, ([0, 4], 0, 4), {"at": "x"}),
    (conditions.at_least, ([1, 9], 1), {"at": "x"}),
    (conditions.distinct, ([0, 1],), {"rank": 2}),
    (conditions.equal, (Dimension(0, 5), 4), {"at": "x"}),
    (conditions.equal, (SHAPE, PartialShape("[4,7,2]")), {"at": "x"}),
    (conditions.equal, (SHAPE, PartialShape("[...]")), {"at": "x"}),
    (conditions.count, (Dimension(2, 4), 3), {"at": "x"}),
    (conditions.rank, (None, 3), {"at": "x"}),
    (conditions.rank, (4, Between(3, None)), {"at": "x"}),
    (conditions.same_size, (6, 6), {"at": "x", "of": "y"}),
]


@pytest.mark.parametrize(("condition", "values", "names"), HOLD)
def test_a_condition_holds(
    condition: Callable[..., None], values: tuple[Any, ...], names: dict[str, Any]
) -> None:
    condition(*values, **names)


REFUSED = [
    (conditions.within, ([0, 5], 2), {}, ("within", Between(-2, 1), 5, 1)),
    (conditions.within, ([-1], 2), {"least": 0}, ("within", Between(0, 1), -1, 0)),
    (conditions.within, ([0], 0), {}, ("within", "no axes", 0, 0)),
    (conditions.between, ([0, 5], 0, 4), {"at": "x"}, ("within", Between(0, 4), 5, 1)),
    (conditions.at_least, ([3, 0], 1), {"at": "x"}, ("within", Between(1, None), 0, 1)),
    (conditions.distinct, ([0, -2],), {"rank": 2}, ("distinct", None, (0, -2), 1)),
    (conditions.equal, (Dimension(3), 4), {"at": "x", "axis": 1}, ("equal", 4, Dimension(3), 1)),
    (
        conditions.equal,
        (SHAPE, PartialShape([4, 2])),
        {"at": "x"},
        ("equal", PartialShape([4, 2]), SHAPE, None),
    ),
    (
        conditions.equal,
        (Dimension(3), Dimension(4)),
        {"at": "x"},
        ("equal", Dimension(4), Dimension(3), None),
    ),
    (conditions.count, (Dimension(3), 1), {"at": "x"}, ("count", 1, 3, None)),
    (conditions.rank, (3, (1, 2)), {"at": "x"}, ("rank", (1, 2), 3, None)),
    (conditions.same_size, (3, 6), {"at": "x", "of": "y"}, ("same size", 6, 3, None)),
]


@pytest.mark.parametrize(("condition", "values", "names", "facts"), REFUSED)
def test_a_condition_refuses_with_facts(
    condition: Callable[..., None],
    values: tuple[Any, ...],
    names: dict[str, Any],
    facts: tuple[Any, ...],
) -> None:
    with pytest.raises(Violation) as caught:
        condition(*values, **names)
    fault = caught.value.fault
    assert (fault.relation, fault.expected, fault.actual, fault.position) == facts
    assert f"`{fault.at}`" in fault.message or f"`{fault.of}`" in fault.message
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.fault == fault
    assert str(again) == fault.message


def test_a_type_is_kept_as_one_object() -> None:
    refused = Violation(at="x", relation="type", expected=REAL, actual=ElementType.of("i32"))
    again = pickle.loads(pickle.dumps(refused)).fault
    assert again.actual is ElementType.of("i32")
    assert again.expected_text == "a floating-point type"


def test_a_sentence_comes_before_that_of_the_relation() -> None:
    refused = Violation("of its own", at="x", relation="rank", expected=1, actual=2)
    assert str(refused) == "of its own"
    assert (refused.fault.expected_text, refused.fault.actual_text) == ("rank 1", "rank 2")
