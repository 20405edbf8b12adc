"""The conditions that operations share, for `infer` and `evaluate` alike.

Each function takes plain numbers or dimensions. It raises a `Violation` with the facts where the
condition does not hold. A dynamic size that may meet the condition passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from ..element_types import ElementType
from ..faults import Between, Number, Relation, Stated, Violation
from ..rule_ids import INPUT_RANK, INPUT_SHAPES, INPUT_VALUE, RuleId
from ..shapes import Dimension, PartialShape

RELATIONS: Final[dict[str, Relation]] = {
    "within": "within",
    "out_of_range": "within",
    "between": "within",
    "at_least": "at least",
    "large_enough": "at least",
    "distinct": "distinct",
    "equal": "equal",
    "merged": "equal",
    "of_type": "type",
    "count": "count",
    "rank": "rank",
    "sums_to": "sum",
    "same_size": "same size",
}
"""Maps each function to the relation that it requires."""


def within(
    axes: Iterable[int],
    rank: int,
    *,
    at: str = "axes",
    of: str = "data",
    least: int | None = None,
    rule: RuleId = INPUT_VALUE,
) -> None:
    """Requires that each axis exists in a tensor of this rank.

    least: the lowest allowed axis: -rank, or 0 if axes cannot count from the end.
    """
    low = -rank if least is None else least
    for index, axis in enumerate(axes):
        if not low <= axis < rank:
            raise out_of_range(int(axis), rank, at=at, of=of, least=low, position=index, rule=rule)


def out_of_range(
    axis: int,
    rank: int,
    *,
    at: str,
    of: str,
    least: int | None = None,
    position: int | None = None,
    rule: RuleId = INPUT_VALUE,
) -> Violation:
    """Returns the violation for an axis that a tensor of this rank does not have."""
    limits = Between(-rank if least is None else least, rank - 1)
    return Violation(
        at=at,
        relation="within",
        expected=limits if rank else "no axes",
        actual=axis,
        position=position,
        of=of,
        given=rank,
        rule=rule,
    )


def between(
    numbers: Number | Iterable[Number],
    low: Number | None,
    high: Number | None,
    *,
    at: str,
    relation: Relation = "within",
    rule: RuleId = INPUT_VALUE,
) -> None:
    """Requires that a number, or each number of a list, lies between two limits, both included."""
    limits = Between(low, high)
    listed = (numbers,) if isinstance(numbers, int | float) else numbers
    for index, number in enumerate(listed):
        if number not in limits:
            raise Violation(
                at=at,
                relation=relation,
                expected=limits,
                actual=number,
                position=None if listed is not numbers else index,
                rule=rule,
            )


def at_least(
    numbers: Number | Iterable[Number], least: Number, *, at: str, rule: RuleId = INPUT_VALUE
) -> None:
    """Requires that a number, or each number of a list, is `least` or more."""
    between(numbers, least, None, at=at, relation="at least", rule=rule)


def large_enough(
    size: Dimension, least: int, *, at: str, axis: int, rule: RuleId = INPUT_SHAPES
) -> None:
    """Requires that an axis can have a size of `least` or more."""
    if size.high < least:
        limits, size = Between(least, None), Dimension(size.low, size.high)
        facts = Stated(at=at, relation="at least", expected=limits, actual=size, position=axis)
        raise Violation(rule=rule, **facts)


def of_type(actual: ElementType, expected: ElementType, *, at: str, of: str = "") -> None:
    """Requires that a tensor has the expected element type."""
    if actual is not expected:
        raise Violation(at=at, relation="type", expected=expected, actual=actual, of=of)


def distinct(
    numbers: Sequence[int],
    *,
    at: str = "axes",
    rank: int | None = None,
    rule: RuleId = INPUT_VALUE,
) -> None:
    """Requires that no number occurs twice.

    rank: for a list of axes, which may count from either end.
    """
    seen: set[int] = set()
    for index, number in enumerate(numbers):
        counted = int(number) % rank if rank else int(number)
        if counted in seen:
            shown = tuple(int(each) for each in numbers)
            raise Violation(at=at, relation="distinct", actual=shown, position=index, rule=rule)
        seen.add(counted)


def equal(
    actual: Any,
    expected: Any,
    *,
    at: str,
    of: str = "",
    given: object = None,
    axis: int | None = None,
    rule: RuleId = INPUT_SHAPES,
) -> None:
    """Requires that a number, a size or a shape equals the expected one.

    axis: the axis of a size.
    """
    if isinstance(actual, Dimension) or isinstance(expected, Dimension):
        holds = Dimension.of(actual).agrees(Dimension.of(expected))
    elif isinstance(actual, PartialShape):
        holds = actual.merge(PartialShape.of(expected)) is not None
    else:
        holds = bool(actual == expected)
    if not holds:
        raise Violation(
            at=at,
            relation="equal",
            expected=expected,
            actual=actual,
            position=axis,
            of=of,
            given=given,
            rule=rule,
        )


D = TypeVar("D", Dimension, PartialShape)


def merged(
    actual: D,
    expected: D,
    *,
    at: str,
    of: str = "",
    given: object = None,
    axis: int | None = None,
    rule: RuleId = INPUT_SHAPES,
) -> D:
    """Returns what two sizes or two shapes allow. Requires that they can be equal.

    axis: the axis of a size.
    """
    equal(actual, expected, at=at, of=of, given=given, axis=axis, rule=rule)
    both = expected.merge(actual)
    return expected if both is None else both


def count(
    actual: Any,
    expected: int,
    *,
    at: str,
    of: str = "",
    given: object = None,
    rule: RuleId = INPUT_SHAPES,
) -> None:
    """Requires that a list has the expected number of elements.

    of: the tensor whose rank is the expected number.
    """
    size = Dimension.of(actual)
    if not size.agrees(Dimension(expected)):
        raise Violation(
            at=at,
            relation="count",
            expected=expected,
            actual=size.low if size.is_static else size,
            of=of,
            given=given,
            rule=rule,
        )


def rank(
    actual: int | None,
    expected: int | Sequence[int] | Between,
    *,
    at: str,
    of: str = "",
    rule: RuleId = INPUT_RANK,
) -> None:
    """Requires that a tensor has one of the expected ranks. An unknown rank passes."""
    if actual is None or actual == expected:
        return
    if isinstance(expected, int) or actual not in expected:
        raise Violation(at=at, relation="rank", expected=expected, actual=actual, of=of, rule=rule)


def sums_to(
    numbers: Sequence[int],
    total: int,
    *,
    at: str,
    of: str = "",
    given: object = None,
    rule: RuleId = INPUT_VALUE,
) -> None:
    """Requires that numbers add up to a total."""
    if sum(numbers) != total:
        raise Violation(
            at=at,
            relation="sum",
            expected=total,
            actual=tuple(int(number) for number in numbers),
            of=of,
            given=given,
            rule=rule,
        )


def same_size(actual: int, expected: int, *, at: str, of: str, rule: RuleId = INPUT_SHAPES) -> None:
    """Requires that a tensor has as many elements as another one."""
    if actual != expected:
        raise Violation(
            at=at, relation="same size", expected=expected, actual=actual, of=of, rule=rule
        )
