"""Measures how far a runtime's value of an output is from irshape's."""

from __future__ import annotations

from collections.abc import Callable

from ..numbers.statistics import errors, range_of
from ..numpy_types import Array, element_type_of
from .explanations import fact
from .result import Row


def measured(
    row: Row,
    inputs: tuple[Array, ...],
    mine: Array,
    theirs: Array,
    difference: Callable[[Array, Array], tuple[float | None, float | None, bool]],
    *,
    runtime: str = "OpenVINO",
    types: bool = False,
) -> Row:
    """Returns a row with the difference of two values.

    inputs: of the layer, whose ranges the row gets if the values differ.
    difference: returns the largest error, the tolerance there, and whether the values agree. types:
    whether the types of the arrays must agree too.
    """
    if mine.shape == theirs.shape and (mine.dtype == theirs.dtype or not types):
        error, allowed, same = difference(mine, theirs)
        row = row._replace(error=error, allowed=allowed, errors=errors(mine, theirs))
        if same:
            return row._replace(value="equal")
        remark = None
    else:
        own, other = (
            f"{array.dtype} {list(array.shape)}" if types else f"{list(array.shape)}"
            for array in (mine, theirs)
        )
        remark = fact(f"irshape computes {own}, {runtime} {other}")
    arrays = {f"input {index}": array for index, array in enumerate(inputs)}
    arrays |= {"irshape": mine, runtime: theirs}
    ranges = {name: f"{element_type_of(each)} {range_of(each)}" for name, each in arrays.items()}
    return row._replace(value="differs", remark=remark, ranges=ranges)
