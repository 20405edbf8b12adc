"""What operations share that count axes: negative ones, permutations, and the elements that a
selection along each axis picks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from ..faults import Fault, Violation, fault
from ..rule_ids import DUPLICATE_VALUES, INPUT_RANK, INPUT_SHAPES, INPUT_VALUE, RuleId
from ..shapes import DYNAMIC, DYNAMIC_SHAPE, PartialShape
from .conditions import out_of_range
from .tensors import Tensor


def normalized_axis(
    axis: int,
    rank: int,
    *,
    at: str = "axis",
    of: str = "data",
    rule: RuleId = INPUT_VALUE,
    of_scalar: bool = False,
) -> int:
    """An axis counted from the front.

    Raises `Violation` where it is out of range. `of_scalar`: a scalar has the axes 0 and -1, as
    OpenVINO counts.
    """
    if rank == 0 and not of_scalar:
        raise Violation(
            f"`{of}` is a scalar, which has no axis {axis}",
            at=of if of != "result" else at,
            expected="at least one dimension",
            actual="[]",
            rule=INPUT_RANK,
        )
    count = rank or 1
    if not -count <= axis < count:
        raise out_of_range(axis, count, at=at, of=of, rule=rule)
    return axis % count


def single(tensor: Tensor) -> int | None:
    """The value of a tensor of one element, where it is known."""
    known = tensor.known
    return known[0] if known else None


def require_single(tensor: Tensor, at: str = "axis") -> None:
    """Raises `Violation` unless the tensor may be a scalar, or a list of one element."""
    rank = tensor.rank
    if not (rank in (None, 0) or (rank == 1 and tensor.shape[0].contains(1))):
        raise Violation(
            at=at, expected="a scalar or one element", actual=tensor.shape, rule=INPUT_SHAPES
        )


def duplicate_axes(
    axes: Sequence[int], at: str = "axes", why: str = "although OpenVINO silently accepts them"
) -> Fault:
    """The fault that a list names an axis twice."""
    seen = listed(axes)
    return fault(
        f"`{at}` {seen} names an axis twice; the specification requires each axis only once"
        + (f", {why}" if why else ""),
        at=at,
        relation="distinct",
        actual=seen,
        rule=DUPLICATE_VALUES,
        help="name each axis once",
    )


MAX_RANK = 256
"""No shape has more dimensions; a list that says so is not believed."""


def of_length(sizes: Tensor) -> PartialShape:
    """The shape of unknown dimensions that a list of sizes or axes stands for: as many as it has
    elements.
    """
    count = sizes.shape[0] if sizes.rank == 1 else DYNAMIC
    return (
        PartialShape.of_rank(count.low)
        if count.is_static and count.low <= MAX_RANK
        else DYNAMIC_SHAPE
    )


def listed(numbers: Iterable[object]) -> str:
    """Numbers as text, many of them cut short."""
    shown = [str(number) for number in islice(numbers, 17)]
    return "[" + ",".join(shown[:16]) + (",…]" if len(shown) > 16 else "]")


def product(sizes: Iterable[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def picked(
    sizes: Sequence[int], choices: Sequence[Iterable[int]], order: Sequence[int] | None = None
) -> list[int]:
    """The row-major positions in a tensor of those sizes of the elements with the chosen index
    along each axis, axis by axis or in `order`.
    """
    steps = [product(sizes[axis + 1 :]) for axis in range(len(sizes))]
    positions = [0]
    for axis in order if order is not None else range(len(sizes)):
        offsets = [index * steps[axis] for index in choices[axis]]
        positions = [position + offset for position in positions for offset in offsets]
    return positions
