"""The inputs that an operation declares, and the check of a layer's inputs against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Final

from ..element_types import ANY, DYNAMIC_TYPE, ElementType, types
from ..faults import Between, Fault, Number, Violation
from ..rule_ids import INPUT_COUNT
from ..shapes import Dimension, PartialShape
from ..spelling import with_noun
from . import conditions
from .axes import require_single
from .tensors import Tensor

I32_I64: Final = types("i32 i64")
PACKED_INTEGER: Final = types("u1 u2 u3 u4 u6 i4")


class OneOf(tuple[int, ...]):
    """A few allowed numbers, e.g. the ranks `2 or 3`."""

    def __str__(self) -> str:
        return " or ".join(map(str, self))


def at_least(number: Number) -> Between:
    """Returns the range of all numbers from `number` up, for ranks and attributes."""
    return Between(number, None)


def between(low: Number, high: Number) -> Between:
    """Returns the range between these limits, both included."""
    return Between(low, high)


Axes = tuple[str | int | EllipsisType, ...]
"""The axes of a shape, e.g. `("batch", "channels", ...)`, as `Operand` describes them."""


_USUAL_RANKS: Final = range(9)


class Operand:
    """The declaration of an input of an operation. Operands are declared in the order of the
    inputs.

    allowed: the element types that OpenVINO accepts.
    specified: the element types that the specification allows, if it allows fewer.
    rank: the allowed rank or ranks: `2`, `(2, 3)`, `at_least(2)`.
    shape: the axes, in place of `rank`: `("batch", "channels", ...)`. Axes of one name have the
        same size in all operands. A number is the size that an axis must have. `"?"` is any size,
        `...` any number of axes.
    single: whether the input must be a scalar, or a list of one element.
    like: the operand whose element type this input must have. If a variadic operand names itself,
    all its inputs must have the same type.
    known_type: whether OpenVINO refuses a dynamic element type.
    value: whether `infer` uses the value of the input, if it is known.
    packed: whether the value may have any integer type of fewer than 8 bits (`check_packed`).
    optional: whether the input may be absent.
    variadic: whether the operand declares this input and all inputs after it.
    """

    def __init__(
        self,
        allowed: frozenset[ElementType] = ANY,
        *,
        specified: frozenset[ElementType] | None = None,
        rank: Between | tuple[int, ...] | int | None = None,
        shape: Axes | None = None,
        like: str | None = None,
        single: bool = False,
        known_type: bool = False,
        value: bool = False,
        packed: bool = False,
        optional: bool = False,
        variadic: bool = False,
    ) -> None:
        self.name = ""
        self.allowed = allowed
        self.unquestioned = allowed - PACKED_INTEGER if value and not packed else allowed
        """The element types of the input for which `check_packed` has nothing to check."""
        self.specified = specified
        self.ranks: Between | OneOf | None
        if shape is not None:
            shape = tuple([... if axis == "..." else axis for axis in shape])
            self.ranks = at_least(len(shape) - 1) if ... in shape else OneOf((len(shape),))
        elif isinstance(rank, int):
            self.ranks = OneOf((rank,))
        else:
            self.ranks = rank if rank is None or isinstance(rank, Between) else OneOf(rank)
        self.usual_ranks = frozenset(
            rank for rank in _USUAL_RANKS if self.ranks is None or rank in self.ranks
        )
        """The allowed ranks up to 8. Few tensors have a higher rank."""
        self.axes = shape
        self.like = like
        self.single = single
        self.known_type = known_type
        self.value = value
        self.optional = optional
        self.variadic = variadic

    def describe_shape(self) -> str | None:
        """Returns the operand's shape in words, e.g. "rank 2 or 3"; None if it has none."""
        if self.axes is not None:
            return f"shape {describe_axes(self.axes)}"
        if self.single:
            return "a scalar or one element"
        return None if self.ranks is None else f"rank {self.ranks}"

    def places(self, shape: PartialShape) -> Iterator[tuple[str | int, int]]:
        """Yields each declared axis, without `"?"` and `...`, and its position in `shape`."""
        assert self.axes is not None
        before = self.axes.index(...) if ... in self.axes else len(self.axes)
        for index, axis in enumerate(self.axes):
            if not isinstance(axis, EllipsisType) and axis != "?":
                yield axis, index if index < before else index - len(self.axes) + len(shape)


operand = Operand
"""Declares an input in the class of an operation: `data = operand(REAL, rank=4)`."""

Inputs = Sequence[Tensor | None]


def check_count(type_name: str, operands: Sequence[Operand], count: int) -> None:
    """Raises `Violation` if a layer has too few or too many inputs."""
    least = sum(not declared.optional for declared in operands)
    variadic = bool(operands) and operands[-1].variadic
    if least <= count and (variadic or count <= len(operands)):
        return
    if variadic:
        wanted = f"{least} or more"
    else:
        wanted = f"{least}" if least == len(operands) else f"{least} to {len(operands)}"
    names = ", ".join(declared.name + "…" * declared.variadic for declared in operands)
    raise Violation(
        f"{type_name} takes {with_noun(wanted, 'input')} ({names}), got {count}",
        expected=wanted,
        actual=count,
        rule=INPUT_COUNT,
        help="add the missing inputs" if count < least else "remove the excess inputs",
    )


def check_operand(declared: Operand, index: int, tensor: Tensor) -> None:
    """Raises `Violation` if the operand does not allow the input's element type or rank."""
    element_type = tensor.element_type
    dynamic = element_type is DYNAMIC_TYPE
    if declared.known_type or not dynamic:
        conditions.of_type(element_type, declared.allowed, at=declared.name)
    if not dynamic and element_type not in declared.unquestioned:
        check_packed(declared, index, tensor)
    if declared.ranks is not None:
        conditions.rank(tensor.rank, declared.ranks, at=declared.name)


def check_packed(declared: Operand, index: int, tensor: Tensor) -> None:
    """Raises `Violation` for a known value of packed integers that OpenVINO misreads or refuses.

    OpenVINO reads i4 and u4 as if each element had one byte. This is right for a single element
    that is not negative. For several elements, OpenVINO reads past the end of the data. OpenVINO
    refuses to read the other packed types, e.g. u2.
    """
    numbers = None if tensor.value is None else tensor.value.exact
    if numbers is None:
        return
    element_type, why = tensor.element_type, "refuses to read elements of this type here"
    if element_type.bits == 4:
        if len(numbers) == 0 or (len(numbers) == 1 and numbers[0] >= 0):
            return
        why = "reads one byte for each element, and so gets wrong numbers"
    raise Violation(
        f"the result depends on the value of `{declared.name}` (input {index}), which has element "
        f"type {element_type}; OpenVINO {why}",
        at=declared.name,
        relation="type",
        expected="i64",
        actual=element_type,
        help="store the value as i64, or insert a Convert",
    )


def check_shapes(operands: Sequence[Operand], inputs: Sequence[Tensor]) -> None:
    """Raises `Violation` if a shape does not fit `shape` or `single` of its operand."""
    for declared, tensor in zip(operands, inputs, strict=False):
        if declared.single:
            require_single(tensor, declared.name)
    named_dimensions(operands, inputs)


def named_dimensions(operands: Sequence[Operand], inputs: Inputs) -> dict[str, Dimension]:
    """Returns the size of each axis with a name, e.g. `channels`, merged from all operands.

    Operands with many axes come first, so that a contradiction is reported at one with few axes.
    Raises `Violation` if no size fits all operands, or if an axis cannot have its declared size.
    """
    dimensions: dict[str, Dimension] = {}
    firsts: dict[str, tuple[str, PartialShape]] = {}
    pairs = [
        (declared, tensor)
        for declared, tensor in zip(operands, inputs, strict=False)
        if declared.axes is not None and tensor is not None and tensor.rank is not None
    ]
    for declared, tensor in sorted(pairs, key=lambda pair: -len(pair[0].axes or ())):
        for axis, place in declared.places(tensor.shape):
            size = tensor.shape[place]
            if isinstance(axis, int):
                conditions.equal(size, axis, at=declared.name, axis=place)
                continue
            merged, known = size, dimensions.get(axis)
            if known is not None:
                of, given = firsts[axis]
                merged = conditions.equal(
                    size, known, at=declared.name, axis=place, of=of, given=given
                )
            if merged != known:
                firsts[axis] = declared.name, tensor.shape
            dimensions[axis] = merged
    return dimensions


def specified_types(operands: Sequence[Operand], inputs: Inputs) -> Iterator[Fault]:
    """Yields faults of element types that OpenVINO accepts and the specification forbids."""
    for index, tensor in enumerate(inputs):
        declared = operands[min(index, len(operands) - 1)]
        seen = DYNAMIC_TYPE if tensor is None else tensor.element_type
        if declared.specified is not None and seen is not DYNAMIC_TYPE:
            yield from conditions.doubted(
                conditions.of_type, seen, declared.specified, at=declared.name, accepted=True
            )


def shared_axes(operands: Sequence[Operand]) -> Iterator[str]:
    """Yields a sentence for each axis name that occurs twice or more in the operands."""
    named: dict[str, list[str]] = {}
    for declared in operands:
        for axis in declared.axes or ():
            if isinstance(axis, str) and axis != "?":
                named.setdefault(axis, []).append(f"`{declared.name}`")
    for axis, names in named.items():
        *others, last = dict.fromkeys(names)
        if len(names) > 1:
            listed = f"{', '.join(others)} and {last}" if others else f"the axes of {last}"
            yield f"`{axis}` must be equal in {listed}"


def describe_axes(axes: Axes) -> str:
    """Returns the axes of an operand as text, e.g. `[batch,channels,...]`."""
    return "[" + ",".join("..." if axis is ... else str(axis) for axis in axes) + "]"
