"""Conditions that many operations check, in `infer`, `check` or `evaluate`.

Each function takes plain numbers or dimensions. It raises a `Violation`, with the expected and the
actual value, if the condition does not hold. A dynamic size passes if it can meet the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from ..element_types import ElementType
from ..faults import Between, Fault, Number, Stated, Violation
from ..rule_ids import INPUT_RANK, INPUT_SHAPES, INPUT_VALUE, RuleId
from ..shapes import Dimension, PartialShape


def doubted(
    condition: Callable[..., object], *facts: Any, accepted: bool = False, **more: Any
) -> Iterator[Fault]:
    """Yields a fault if a condition does not hold; used in `check` of operations.

    condition: a function of this module, e.g. `between`.
    accepted: whether OpenVINO accepts a layer with the fault.
    """
    try:
        condition(*facts, **more)
    except Violation as violation:
        yield violation.fault._replace(accepted=accepted)


def within(
    axes: Iterable[int],
    rank: int,
    *,
    at: str = "axes",
    of: str = "data",
    least: int | None = None,
) -> None:
    """Requires that each axis exists in a tensor of this rank.

    least: the lowest allowed axis: -rank by default, 0 if negative axes are not allowed.
    """
    low = -rank if least is None else least
    for index, axis in enumerate(axes):
        if not low <= axis < rank:
            raise out_of_range(int(axis), rank, at=at, of=of, least=low, position=index)


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
    limits = Between(-rank if least is None else least, rank - 1) if rank else "no axes"
    return Violation(
        at=at,
        relation="within",
        expected=limits,
        actual=axis,
        position=position,
        rule=rule,
        of=of,
        given=rank,
    )


def between(
    numbers: Number | Iterable[Number],
    low: Number | None,
    high: Number | None,
    *,
    at: str,
    rule: RuleId = INPUT_VALUE,
) -> None:
    """Requires that a number, or each number of a list, lies between two limits, both included."""
    limits = Between(low, high)
    listed = (numbers,) if isinstance(numbers, int | float) else numbers
    for index, number in enumerate(listed):
        if number not in limits:
            raise Violation(
                at=at,
                relation="within",
                expected=limits,
                actual=number,
                position=index if listed is numbers else None,
                rule=rule,
            )


def at_least(
    numbers: Number | Iterable[Number], least: Number, *, at: str, rule: RuleId = INPUT_VALUE
) -> None:
    """Requires that a number, or each number of a list, is `least` or more."""
    between(numbers, least, None, at=at, rule=rule)


def large_enough(
    size: Dimension, least: int, *, at: str, axis: int, rule: RuleId = INPUT_SHAPES
) -> None:
    """Requires that the size of an axis can be `least` or more."""
    if size.high < least:
        limits, size = Between(least, None), Dimension(size.low, size.high)
        facts = Stated(at=at, relation="at least", expected=limits, actual=size, position=axis)
        raise Violation(rule=rule, **facts)


def of_type(
    actual: ElementType, expected: ElementType | frozenset[ElementType], *, at: str, of: str = ""
) -> None:
    """Requires that a tensor has the expected element type, or one of several."""
    if actual is not expected and not (isinstance(expected, frozenset) and actual in expected):
        raise Violation(at=at, relation="type", expected=expected, actual=actual, of=of)


def not_zero(
    numbers: Iterable[Number], *, at: str, first: int = 0, rule: RuleId = INPUT_VALUE
) -> None:
    """Requires that no number of a list is 0.

    first: the index of the first number in the list, for the message.
    """
    for index, number in enumerate(numbers, first):
        if not number:
            wanted = "a number other than 0"
            raise Violation(at=at, expected=wanted, actual=0, position=index, rule=rule)


def ascending(numbers: Iterable[int], *, at: str) -> None:
    """Requires that no number of a list is below the number before it."""
    for index, (before, number) in enumerate(pairwise(numbers), 1):
        if number < before:
            wanted = f"{before} or more, because the numbers must not decrease"
            raise Violation(at=at, expected=wanted, actual=number, position=index, rule=INPUT_VALUE)


def distinct(
    numbers: Sequence[int],
    *,
    at: str = "axes",
    rank: int | None = None,
    rule: RuleId = INPUT_VALUE,
) -> None:
    """Requires that no number occurs twice.

    rank: the rank of the tensor if the numbers are axes. With rank 4, -1 and 3 are the same axis.
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
    axis: int | None = None,
    rule: RuleId = INPUT_SHAPES,
    of: str = "",
    given: object = None,
) -> Any:
    """Requires that `actual` (a number, size or shape) can equal `expected`; returns both merged.

    axis: the axis with the size `actual`, if `actual` is a size.
    """
    if isinstance(actual, Dimension) or isinstance(expected, Dimension):
        both: Any = Dimension.of(expected).merge(Dimension.of(actual))
    elif isinstance(actual, PartialShape):
        both = PartialShape.of(expected).merge(actual)
    else:
        both = expected if actual == expected else None
    if both is not None:
        return both
    raise Violation(
        at=at,
        relation="equal",
        expected=expected,
        actual=actual,
        position=axis,
        rule=rule,
        of=of,
        given=given,
    )


def count(
    actual: Any,
    expected: int | Between,
    *,
    at: str,
    rule: RuleId = INPUT_SHAPES,
    of: str = "",
    given: object = None,
) -> None:
    """Requires that a list has the expected number of elements.

    of: the tensor whose rank determines the expected number, if any.
    """
    size = Dimension.of(actual)
    if isinstance(expected, Between):
        holds = size.low in Between(None, expected.high) and size.high in Between(
            expected.low, None
        )
    else:
        holds = size.agrees(Dimension(expected))
    if not holds:
        seen = size.low if size.is_static else size
        facts = Stated(at=at, relation="count", expected=expected, actual=seen, of=of, given=given)
        raise Violation(rule=rule, **facts)


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


def same_size(actual: int, expected: int, *, at: str, of: str, rule: RuleId = INPUT_SHAPES) -> None:
    """Requires that a tensor has the same number of elements as another tensor."""
    if actual != expected:
        raise Violation(
            at=at, relation="same size", expected=expected, actual=actual, of=of, rule=rule
        )
