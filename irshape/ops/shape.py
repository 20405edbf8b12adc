"""Shape manipulation: operations that read or change a shape. They leave the elements unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from ..element_types import ElementType
from ..faults import Fault, Violation, fault, require
from ..rule_ids import INPUT_VALUE, OPERATION_CONSTRAINT
from ..shapes import DYNAMIC, DYNAMIC_SHAPE, ONE, UNBOUNDED, Dimension, PartialShape
from ..spelling import counted, with_noun
from .axes import listed, normalized_axis, of_length
from .declaration import ANY, INTEGER, NUMERIC, Operation, attribute, operand
from .differences import (
    CRASHES,
    NO_LOWER_BOUNDS,
    SQUEEZED,
    Site,
    facts,
    not_run,
    of_scalar,
    refused,
)
from .kinds import BOOLEAN, INDEX_TYPE
from .lazy import Array, np
from .tensors import Number, Tensor, Value, expressions_of

INT32_MAX = 2**31 - 1


class ShapeOf(Operation):
    """The sizes of the dimensions of a tensor. The base class of all versions."""

    differs = facts(
        not_run("2025.0", "a ShapeOf of a scalar", of_scalar, since="2023.3", consequence=CRASHES),
    )

    value_of_shape = True
    data = operand(ANY)
    output_type: ElementType = ElementType.of("i64")

    def infer(self, data: Tensor) -> Tensor:
        rank = DYNAMIC if data.rank is None else data.rank
        return Tensor(self.output_type, PartialShape((rank,)))

    def infer_value(self, data: Tensor, outputs: tuple[Tensor, ...]) -> Value | None:
        if data.rank is None:
            return None
        limit = INT32_MAX if self.output_type.bits == 32 else UNBOUNDED
        sizes = data.shape.static
        if sizes is not None and max(sizes, default=0) < limit:
            return Value(sizes)
        dims = data.shape[:]
        return Value(
            [dim.low if dim.low < limit else 0 for dim in dims],
            [dim.high if dim.high < limit else UNBOUNDED for dim in dims],
            expressions_of(dims),
        )

    def evaluate(self, data: Array) -> Array:
        return np.array(data.shape, np.int32 if self.output_type.bits == 32 else np.int64)


class ShapeOf_1(ShapeOf):
    """The sizes of the dimensions of a tensor, as i64."""

    since = 1
    tolerated = ("output_type",)


class ShapeOf_3(ShapeOf):
    """The sizes of the dimensions of a tensor, as i32 or i64."""

    since = 3
    released = ((15, "2024.2"), (16, "2025.0"))
    output_type: ElementType = attribute(INDEX_TYPE)


class Reinterpretation(Operation):
    """The base class of operations that change only the shape; the elements keep their order."""

    data = operand(ANY)

    def infer_value(
        self, data: Tensor, *rest: Tensor | None, outputs: tuple[Tensor, ...]
    ) -> Value | None:
        return data.value


class Reshape(Reinterpretation):
    """The same elements in another shape.

    In `pattern`, -1 stands for the size that follows from the number of elements. With
    `special_zero`, 0 copies the dimension of the input at the same index.
    """

    since = 1
    differs = facts(NO_LOWER_BOUNDS)
    decompresses = "exactly"
    pattern = operand(INTEGER, rank=1, value=True)
    special_zero: bool = attribute(BOOLEAN, default=False, required=True)

    def infer(self, data: Tensor, pattern: Tensor) -> Tensor:
        if pattern.value is None:
            return Tensor(data.element_type, of_length(pattern))
        wanted, minus_one = _pattern_dimensions(pattern)
        dims: list[Dimension] = []
        # the factors of the product on either side
        ours: list[Dimension] = [] if data.rank is None else list(data.shape)
        theirs: list[Dimension] = []
        for index, dim in enumerate(wanted):
            if index == minus_one:
                dims.append(DYNAMIC)
            elif self.special_zero and dim == 0:
                if data.rank is not None:
                    if index >= data.rank:
                        raise Violation(
                            f"pattern {shown(pattern)} has 0 at index {index}, which copies that "
                            f"dimension of `data`, but `data` {data.shape} has "
                            f"{counted(data.rank, 'dimension')}",
                            at="pattern",
                            expected=f"a size, or 0 at an index below {data.rank}",
                            actual=0,
                            rule=INPUT_VALUE,
                        )
                    ours[index] = ONE
                dims.append(data.shape[index] if data.rank is not None else DYNAMIC)
            else:
                given = dim
                if self.special_zero and dim.symbolic:
                    given = _copied_or_given(dim, data.shape, index)
                dims.append(given)
                theirs.append(given)
        if data.rank is None:
            ours = [DYNAMIC]
        total, known = _cancelled(ours, theirs)
        if minus_one is not None:
            dims[minus_one] = self.left_over(data, pattern, total, known)
        result = PartialShape(dims)
        if (
            data.shape.is_static
            and result.is_static
            and minus_one is None
            and not (self.special_zero and 0 in wanted)
        ) and total.fixed != known.fixed:
            raise Violation(
                f"`data` {data.shape} has {with_noun(data.shape.size, 'element')}, but the pattern "
                f"{shown(pattern)} gives the shape {result}, which has {result.size}",
                at="pattern",
                relation="count",
                expected=data.shape.size,
                actual=with_noun(result.size, "element"),
                rule=OPERATION_CONSTRAINT,
            )
        if minus_one is None and (total.fixed or known.fixed):
            total.all.merge(known.all)
        return Tensor(data.element_type, result)

    def left_over(
        self, data: Tensor, pattern: Tensor, total: _Product, known: _Product
    ) -> Dimension:
        """Returns the dimension for -1: the size of `data` divided by the other dimensions."""
        if known.fixed == 0 and total.fixed != 0:
            raise Violation(
                f"pattern {shown(pattern)} has a dimension of 0 beside -1, but `data` {data.shape} "
                "is not empty, so no size fits -1",
                at="pattern",
                actual=shown(pattern),
            )
        there, taken = total.all, known.all
        if not known.fixed and not data.shape.is_static:
            return DYNAMIC
        if there.is_static and taken.is_static:
            size = there.divided(taken.low)
        else:
            high = there.high // taken.low if there.high != UNBOUNDED and taken.low else UNBOUNDED
            low = -(-there.low // taken.high) if taken.high else there.low
            size = Dimension(low, high) if low <= high else None
            if size is not None and (there.symbolic or taken.symbolic):
                from ..symbols.dimensions import exact_quotient

                size = exact_quotient(there, taken, size)
        if size is None and not known.fixed:
            return DYNAMIC
        if size is None:
            raise Violation(
                f"no size for -1 in the pattern {shown(pattern)} fits `data` {data.shape}: "
                f"the other dimensions multiply to {taken}, which does not divide the "
                f"{with_noun(there, 'element')} of `data`",
                at="pattern",
                expected=f"dimensions whose product divides {there}",
                actual=str(taken),
            )
        return size

    def check(self, data: Tensor, pattern: Tensor) -> Iterator[Fault]:
        sizes, wanted = data.shape.static, pattern.known
        if sizes is None or wanted is None or not self.special_zero or -1 in wanted:
            return  # `infer` has compared the numbers of elements
        result = [size or sizes[index] for index, size in enumerate(wanted)]
        if prod(sizes) not in (0, prod(result)):
            message = (
                f"`data` {data.shape} has {with_noun(prod(sizes), 'element')}, "
                f"but the result {listed(result)} has {prod(result)}; "
                "OpenVINO reports this only when the layer runs"
            )
            yield fault(
                message,
                at="pattern",
                relation="count",
                expected=prod(sizes),
                actual=with_noun(prod(result), "element"),
                rule=OPERATION_CONSTRAINT,
            )

    def evaluate(self, data: Array, pattern: Array) -> Array:
        sizes, left = [int(size) for size in pattern.ravel()], list(data.shape)
        copied = [i for i, size in enumerate(sizes) if size == 0] if self.special_zero else []
        if -1 in sizes:
            # copied dimensions count on neither side: a copied 0 does not determine the rest
            rest = prod(size for i, size in enumerate(sizes) if size != -1 and i not in copied)
            there = prod(size for i, size in enumerate(left) if i not in copied)
            sizes[sizes.index(-1)] = there // rest if rest else 1
        for i in copied:
            sizes[i] = left[i]
        return data.reshape(sizes)


def _copied_or_given(dim: Dimension, data: PartialShape, index: int) -> Dimension:
    """Returns a size of `pattern`, assumed to be 1 or more if it differs from `data` at `index`."""
    from ..symbols.dimensions import positive

    if data.rank is not None and index < data.rank and data[index] == dim:
        return dim
    return positive(dim)


class _Product:
    """The product of the dimensions on one side of a Reshape.

    sizes: the static dimensions.
    fixed: the product of the static dimensions.
    all: the product of the dynamic dimensions, times `fixed` if the other side has another `fixed`.
    """

    def __init__(self, dims: Sequence[Dimension]) -> None:
        self.sizes: list[int] = []
        self.fixed = 1
        self.all = ONE
        for dim in dims:
            if dim.low == dim.high:
                self.sizes.append(dim.low)
            else:
                self.all = dim if self.all is ONE else self.all * dim


def _cancelled(ours: list[Dimension], theirs: list[Dimension]) -> tuple[_Product, _Product]:
    """Returns the products of the dimensions on both sides of a Reshape, e.g. `[N,3,4]` and
    `[M,12]`. A static dimension that both sides have, e.g. 3 in `[N,3]` and `[M,3]`, cancels.

    The other static dimensions cancel, too, if their products are equal, e.g. 3 * 4 and 12.
    """
    total, known = _Product(ours), _Product(theirs)
    for size in tuple(total.sizes):
        if size and size in known.sizes:
            total.sizes.remove(size)
            known.sizes.remove(size)
    total.fixed, known.fixed = prod(total.sizes), prod(known.sizes)
    if total.fixed != known.fixed:
        total.all, known.all = total.all * total.fixed, known.all * known.fixed
    return total, known


def _pattern_dimensions(pattern: Tensor) -> tuple[list[Dimension], int | None]:
    """Returns the elements of `pattern` as dimensions, and the index of the -1 or None."""
    assert pattern.value is not None
    dims: list[Dimension] = []
    minus_one: int | None = None
    for index, (low, high) in enumerate(zip(pattern.value.lower, pattern.value.upper, strict=True)):
        if low == high == -1:
            if minus_one is not None:
                raise Violation(
                    at="pattern", expected="one -1 at most", actual=shown(pattern), rule=INPUT_VALUE
                )
            minus_one = index
        if low < -1 and high < 0:
            raise Violation(
                at="pattern",
                expected="-1, 0 or a size",
                actual=_interval(low, high),
                position=index,
                rule=INPUT_VALUE,
            )
        dims.append(
            DYNAMIC
            if high < 0 or (low < -1 and pattern.value.expressions is None)
            else pattern.value.dimension(index) or DYNAMIC
        )
    return dims, minus_one


def shown(tensor: Tensor) -> str:
    """Returns a tensor's value as text, e.g. `[1, 2..5]`, or its shape if the value is unknown."""
    value = tensor.value
    if value is None:
        return f"of shape {tensor.shape}"
    return listed(map(_interval, value.lower, value.upper))


def _interval(low: Number, high: Number) -> str:
    if low == high:
        return str(low)
    return f"{low}..{high}" if high < UNBOUNDED else f"{low}.."


def _assume_ones(dims: Iterable[Dimension]) -> None:
    """Assumes that removed dimensions are 1 if they are expressions, such as `batch`."""
    for dim in dims:
        if dim.symbolic and dim.contains(1):
            from ..symbols.dimensions import pinned

            pinned(dim, 1)


def _squeezed_axis(site: Site) -> bool:
    """Returns whether Squeeze-1 removes an axis whose size cannot be 1. Squeeze-15 allows this."""
    shape = site.shape(0)
    if site.since != 1 or shape is None or shape.rank is None:
        return False
    axes = site.shape(1)
    if axes is not None and axes.is_static and site.value(1) is None:
        some = all(size.low > 0 for size in axes)
        return bool(shape.rank) and some and not any(size.contains(1) for size in shape)
    return any(
        -shape.rank <= axis < shape.rank and not shape[int(axis)].contains(1)
        for axis in site.value(1) or ()
    )


class Squeeze(Reinterpretation):
    """The base class of all versions: the input without the axes in `axes`. If `axes` is absent,
    all axes of size 1 are removed."""

    differs = facts(refused("2024.3", SQUEEZED, _squeezed_axis))

    axes = operand(NUMERIC, specified=INTEGER, rank=(0, 1), value=True, optional=True)
    allow_axis_skip: bool = False
    drops_one_unknown_axis = False
    """Whether irshape assumes that exactly one axis is removed if `axes` is unknown."""

    def infer(self, data: Tensor, axes: Tensor | None) -> Tensor:
        return Tensor(data.element_type, self.squeezed(data, axes))

    def squeezed(self, data: Tensor, axes: Tensor | None) -> PartialShape:
        rank = data.rank
        if rank is None:
            return DYNAMIC_SHAPE
        may_go = [dim.contains(1) for dim in data.shape]
        if axes is None or axes.known is not None:
            gone = {
                normalized_axis(axis, rank, at="axes", of_scalar=True)
                for axis in (axes.known or () if axes is not None else ())
            }
            sure = bool(gone) and not self.allow_axis_skip
            gone = gone or set(range(rank))
            if not sure and any(
                may_go[axis] and data.shape[axis].is_dynamic for axis in gone if axis < rank
            ):
                return DYNAMIC_SHAPE
            if sure:
                _assume_ones(data.shape[axis] for axis in gone if axis < rank)
            return PartialShape(
                dim for axis, dim in enumerate(data.shape) if axis not in gone or not may_go[axis]
            )
        if not rank or axes.shape.size != 1:
            return DYNAMIC_SHAPE
        if not any(may_go):
            return data.shape
        if any(dim.symbolic for dim in data.shape) and ONE not in data.shape:
            return DYNAMIC_SHAPE  # no axis is removed if no size is 1 at run time
        return PartialShape.of_rank(rank - 1) if self.drops_one_unknown_axis else DYNAMIC_SHAPE

    def evaluate(self, data: Array, axes: Array | None) -> Array:
        named = (
            {int(axis) % data.ndim for axis in axes.ravel()}
            if axes is not None and data.ndim
            else set()
        )
        gone = named or set(range(data.ndim))
        return data.reshape(
            [size for axis, size in enumerate(data.shape) if axis not in gone or size != 1]
        )


class Squeeze_1(Squeeze):
    """The input without the axes in `axes`, which have size 1."""

    since = 1
    decompresses = "exactly"
    drops_one_unknown_axis = True


class Squeeze_15(Squeeze):
    """The input without those axes in `axes` that have size 1; other axes stay.

    With `allow_axis_skip`, the rank is unknown if it is unknown whether an axis stays.
    """

    since = 15
    decompresses = "exactly"
    allow_axis_skip: bool = attribute(BOOLEAN, default=False)


class Unsqueeze(Reinterpretation):
    """The input with new axes of size 1. `axes` are their positions in the result."""

    since = 1
    decompresses = "exactly"
    axes = operand(NUMERIC, specified=INTEGER, rank=(0, 1), value=True)

    def infer(self, data: Tensor, axes: Tensor) -> Tensor:
        known = axes.known
        if known is None or data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        require(known, at="axes", expected="at least one axis", actual="[]", rule=INPUT_VALUE)
        unique = set(known)
        rank = data.rank + len(unique)
        dims = list(data.shape)
        for axis in sorted(
            {normalized_axis(axis, rank, at="axes", of="result") for axis in unique}
        ):
            dims.insert(axis, ONE)
        return Tensor(data.element_type, dims)

    def evaluate(self, data: Array, axes: Array) -> Array:
        unique = {int(axis) for axis in axes.ravel()}
        sizes = list(data.shape)
        for axis in sorted({axis % (data.ndim + len(unique)) for axis in unique}):
            sizes.insert(axis, 1)
        return data.reshape(sizes)
