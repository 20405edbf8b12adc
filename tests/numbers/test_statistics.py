"""Statistics of arrays: the range of one, and the errors between two."""

from __future__ import annotations

import math

import numpy as np
import pytest

from irshape.numbers.statistics import errors, merged, values


@pytest.mark.parametrize(
    "first", [[], [1.0], [np.nan], [np.inf, -3.0], [1e-40, 7e4, 0.0], [1e-9] * 3]
)
@pytest.mark.parametrize("second", [[], [2.0], [np.nan, np.nan], [-np.inf], [0.0, -7e4]])
def test_what_two_arrays_hold_together(first: list[float], second: list[float]) -> None:
    both = values(np.array(first + second, np.float32))
    one, other = values(np.array(first, np.float32)), values(np.array(second, np.float32))
    assert one is not None
    assert other is not None
    assert both is not None
    together = merged(one, other)
    assert together._replace(mean=None) == both._replace(mean=None)
    assert together.mean == (None if both.mean is None else pytest.approx(both.mean))


def test_errors_of_two_arrays() -> None:
    reference = np.array([1.0, 2.0, 0.0, np.inf, np.nan], np.float32)
    found = errors(reference, np.array([1.0, 2.5, 0.0, np.inf, 1.0], np.float32))
    assert (found.max_abs, found.max_rel, found.place, found.nan, found.inf) == (
        0.5,
        0.25,
        (1,),
        (1, 0),
        (1, 1),
    )
    assert found.mean_abs == pytest.approx(0.5 / 3)
    assert found.ulp == 1 << 21
    half = np.array([1, -1, 0], np.float16)
    assert errors(half, np.nextafter(half, np.float16(2))).ulp == 1
    assert errors(np.array([], np.float32), np.array([], np.float32)).max_abs is None
    assert errors(np.array([2**63 - 1, 0]), np.array([2**63 - 1, 7])).max_abs == 7


def test_errors_of_large_arrays_are_those_of_their_parts() -> None:
    """They are worked out a million elements at a time, so that memory stays bounded."""
    reference = np.ones((3, 1_000_000), np.float32)
    other = reference.copy()
    reference[0, 5], other[2, 7], other[1, 9], other[2, 999_999] = np.nan, np.inf, 1.5, 4.0
    departs = errors(reference, other)
    assert (departs.place, departs.other) == ((2, 999_999), 4.0)
    assert (departs.max_abs, departs.max_rel) == (3.0, 3.0)
    assert departs.mean_abs == departs.mean_rel == 3.5 / 2_999_998
    assert (departs.nan, departs.inf) == ((1, 0), (0, 1))
    ones = 2_999_996
    assert departs.cosine == pytest.approx(
        (ones + 5.5) / math.sqrt((ones + 2) * (ones + 1.5**2 + 4.0**2)), rel=1e-12
    )
