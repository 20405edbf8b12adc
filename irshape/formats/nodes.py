"""A node of an ONNX model or oneDNN graph, with functions that add OpenVINO layers for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..element_types import ElementType
from ..faults import Violation
from ..ops.conditions import distinct, within
from ..rule_ids import (
    ATTRIBUTE_VALUE,
    DUPLICATE_VALUES,
    INPUT_RANK,
    INTERNAL_ERROR,
    MISSING_ATTRIBUTE,
    RuleId,
)
from .builder import Builder, NodeOutput

END = 2**31 - 1
"""The stop index for a slice that goes to the end of an axis."""
ANY_NUMBER = 100
"""If the maximum number of inputs is at least this, any number of inputs is allowed."""


class SourceNode:
    """A node to convert. Missing attributes have defaults. Methods add layers to the model."""

    def __init__(self, builder: Builder, kind: str, attributes: dict[str, Any]) -> None:
        self.builder = builder
        # add a layer and return its first output, or all; return a constant of Python numbers
        self.add, self.all, self.numbers = builder.add, builder.all, builder.numbers
        self.kind = kind
        """The name of the node's operator, e.g. `Conv`."""
        self.attributes = attributes

    def __getitem__(self, attribute: str) -> Any:
        """Returns the value of an attribute; None if it is missing and has no default."""
        return self.attributes.get(attribute)

    def like(self, value: NodeOutput, number: float) -> NodeOutput:
        """Returns a scalar constant with the element type of a value."""
        if value.element_type.is_dynamic:
            return self.add("ConvertLike", self.numbers(number, "f32"), value)
        return self.numbers(number, value.element_type.name)

    def convert(self, value: NodeOutput, element_type: ElementType | str) -> NodeOutput:
        """Adds a Convert to an element type if the value does not have this type already."""
        wanted = ElementType.of(str(element_type))
        if value.element_type is wanted or wanted.is_dynamic:
            return value
        return self.add("Convert", value, destination_type=wanted)

    def reshaped(
        self, value: NodeOutput, sizes: Sequence[int] | NodeOutput, *, zero: bool = False
    ) -> NodeOutput:
        """Adds a Reshape. zero: whether a size of 0 copies the size from `value`."""
        if not isinstance(sizes, NodeOutput):
            sizes = self.numbers(list(sizes), shape=(len(sizes),))
        return self.add("Reshape", value, sizes, special_zero=zero)

    def transposed(self, value: NodeOutput, order: Sequence[int]) -> NodeOutput:
        """Adds a Transpose with a constant order."""
        return self.add("Transpose", value, self.numbers(list(order)))

    def scalar(self, value: NodeOutput) -> NodeOutput:
        """Returns a value with one element as a scalar."""
        return value if value.rank == 0 else self.reshaped(value, [])

    def along(self, value: NodeOutput, axis: int, rank: int) -> NodeOutput:
        """Reshapes a list so that it broadcasts along one axis of a tensor of rank `rank`."""
        return self.reshaped(value, [-1 if index == axis else 1 for index in range(rank)])

    def broadcast(self, value: NodeOutput, sizes: NodeOutput) -> NodeOutput:
        """Broadcasts a value to the shape `sizes`."""
        return self.add("Broadcast", value, sizes, version="opset3", mode="numpy")

    def sliced(
        self, value: NodeOutput, start: int, stop: int, axis: int = 0, *, step: int = 1
    ) -> NodeOutput:
        """Returns the elements from `start` to `stop` along one axis."""
        return self.add("Slice", value, *(self.numbers([n]) for n in (start, stop, step, axis)))

    def clamped(self, value: NodeOutput, low: NodeOutput, high: NodeOutput) -> NodeOutput:
        """Limits the elements of a value to the range from `low` to `high`."""
        return self.add("Minimum", self.add("Maximum", value, low), high)

    def quantized(
        self,
        scaled: NodeOutput,
        zero: NodeOutput | None,
        limits: tuple[float, float],
        element_type: ElementType,
    ) -> NodeOutput:
        """Rounds halves to even, adds the zero point, clamps, and converts to an element type."""
        level = self.add("Round", scaled, mode="half_to_even")
        level = level if zero is None else self.add("Add", level, zero)
        low, high = (self.numbers(limit, "f32") for limit in limits)
        return self.convert(self.clamped(level, low, high), element_type)

    def shape_of(self, value: NodeOutput) -> NodeOutput:
        """Returns the shape of a value as an i64 tensor."""
        return self.add("ShapeOf", value, version="opset3", output_type="i64")

    def gathered(self, value: NodeOutput, indices: Any, axis: int = 0) -> NodeOutput:
        """Returns the elements of a value at indices of an axis. A single index removes the
        axis."""
        return self.add(
            "Gather", value, self.numbers(indices), self.numbers(axis), version="opset8"
        )

    def size_of(self, value: NodeOutput, axis: int) -> NodeOutput:
        """Returns the size of an axis as an i64 scalar."""
        return self.gathered(self.shape_of(value), axis)

    def counted(self, size: NodeOutput, element_type: str = "i64") -> NodeOutput:
        """Returns a list of the numbers from 0 to `size` - 1."""
        return self.add(
            "Range",
            self.numbers(0),
            size,
            self.numbers(1),
            version="opset4",
            output_type=element_type,
        )

    def rank(self, value: NodeOutput, manner: str = "") -> int:
        """Returns the rank of a value. Raises `Violation` if the rank is dynamic.

        manner: how the node works, for the message. `over all axes` gives `irshape can read
        ReduceSum over all axes only if the rank of its input is known`.
        """
        if value.rank is None:
            raise unknown(f"{self.kind} {manner}".rstrip(), "the rank of its input is", INPUT_RANK)
        return value.rank


def unknown(what: str, condition: str, rule: RuleId, at: str = "") -> Violation:
    """Returns the error for a node that depends on something unknown. what: the node. condition:
    the thing that must be known, with a verb: `the rank of its input is`."""
    return Violation(f"irshape can read {what} only if {condition} known", rule=rule, at=at)


def refusal(attribute: str, actual: object, expected: object) -> Violation:
    """Returns the error for an attribute value that is not allowed. expected: allowed values."""
    return Violation(
        at=attribute, relation="equal", expected=expected, actual=actual, rule=ATTRIBUTE_VALUE
    )


def missing(kind: str, attribute: str, expected: str) -> Violation:
    """Returns the error for a node without a required attribute."""
    return Violation(
        f"the attribute `{attribute}` is missing",
        rule=MISSING_ATTRIBUTE,
        expected=expected,
        help=f"add the attribute `{attribute}` to {kind}",
    )


def check_count(kind: str, what: str, count: int, least: int, most: int, rule: RuleId) -> None:
    """Raises `Violation` if a kind of node does not allow this number of inputs or outputs."""
    if least <= count <= most:
        return
    wanted = f"{least} to {most}" if most < ANY_NUMBER else f"{least} or more"
    if least == most:
        wanted = str(least)
    raise Violation(
        f"{kind} takes {wanted} {what}s, got {count}", rule=rule, expected=wanted, actual=count
    )


def failure(error: Exception) -> Violation:
    """Returns the error for a node at which irshape itself fails. With IRSHAPE_DEBUG, raises the
    original exception."""
    if os.environ.get("IRSHAPE_DEBUG"):
        raise error
    return Violation(
        f"irshape failed on this node ({type(error).__name__}: {error})",
        rule=INTERNAL_ERROR,
        help="this is a bug in irshape: please report it with this node; IRSHAPE_DEBUG=1 shows "
        "where it happens",
    )


def check_length(attribute: str, numbers: Sequence[Any], length: int) -> None:
    """Raises `Violation` if a list does not have `length` elements."""
    if len(numbers) != length:
        raise Violation(
            at=attribute,
            relation="count",
            expected=length,
            actual=len(numbers),
            rule=ATTRIBUTE_VALUE,
        )


def check_axes(axes: Sequence[int], rank: int) -> None:
    """Raises `Violation` for repeated axes, and for axes out of range for the rank."""
    within(axes, rank, at="axes", of="input")
    distinct(axes, rank=rank, rule=DUPLICATE_VALUES)
