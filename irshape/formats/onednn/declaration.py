"""Declares the kinds of operations in oneDNN Graph.

A declaration has attributes, numbers of inputs and outputs, and a function that converts operations
of this kind to OpenVINO's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from ...element_types import ElementType
from ...ops.conditions import within
from ...ops.tensors import Tensor
from ...rule_ids import OPERATION_CONSTRAINT
from ..builder import Builder, NodeOutput
from ..nodes import SourceNode

Outputs = NodeOutput | tuple[NodeOutput, ...]
Function = Callable[["GraphOperation"], Outputs]
MODULES = (
    "convolution",
    "elementwise",
    "movement",
    "normalization",
    "quantization",
    "reduction",
)

TYPES = {
    "f32": "f32",
    "bf16": "bf16",
    "f16": "f16",
    "s8": "i8",
    "u8": "u8",
    "s32": "i32",
    "s64": "i64",
    "f8_e5m2": "f8e5m2",
    "f8_e4m3": "f8e4m3",
    "s4": "i4",
    "u4": "u4",
    "boolean": "boolean",
    "undef": "dynamic",
}
"""Maps the names of element types in a graph to those of OpenVINO."""

FLOATS = ("f32", "bf16", "f16")


class DeclaredAttribute(NamedTuple):
    """An attribute of a kind of operation: its type in the JSON, default, and allowed values.

    A file may omit an attribute that is not `required`; its value is then the default.
    """

    type: str
    default: Any = None
    choices: tuple[Any, ...] = ()
    required: bool = False


ints, floats = partial(DeclaredAttribute, "s64[]"), partial(DeclaredAttribute, "f32[]")
integer, number = partial(DeclaredAttribute, "s64"), partial(DeclaredAttribute, "f32")
flag = partial(DeclaredAttribute, "bool", choices=(0, 1))


def word(default: Any = None, *choices: str, required: bool = False) -> DeclaredAttribute:
    return DeclaredAttribute("string", default, choices, required)


class Declaration(NamedTuple):
    """A kind of operation: its attributes, numbers of inputs and outputs, and conversion function.

    types: the allowed element types of the first input; empty to allow all.
    """

    attributes: dict[str, DeclaredAttribute]
    inputs: tuple[int, int]
    outputs: tuple[int, int]
    types: tuple[str, ...]
    function: Function


_DECLARED: dict[str, Declaration] = {}


def kind(
    name: str,
    inputs: tuple[int, int] | int,
    outputs: tuple[int, int] | int = 1,
    *,
    types: tuple[str, ...] = (),
    **attributes: DeclaredAttribute,
) -> Callable[[Function], Function]:
    """Declares a kind of operation. inputs, outputs: a number, or a minimum and a maximum.

    types: the allowed element types of the first input.
    """

    def declare(function: Function) -> Function:
        counts = [
            (count, count) if isinstance(count, int) else count for count in (inputs, outputs)
        ]
        _DECLARED[name] = Declaration(attributes, counts[0], counts[1], types, function)
        return function

    return declare


@cache
def declarations() -> dict[str, Declaration]:
    """Returns the declarations of all kinds of operations, by kind."""
    for module in MODULES:
        import_module(f"{__package__}.{module}")
    return _DECLARED


class GraphOperation(SourceNode):
    """An operation, as its conversion function receives it.

    `attributes` include defaults. `outputs` are the types and shapes that the file declares.
    """

    def __init__(
        self,
        builder: Builder,
        kind: str,
        inputs: Sequence[NodeOutput],
        attributes: dict[str, Any],
        outputs: Sequence[Tensor],
        given: frozenset[str],
    ) -> None:
        super().__init__(builder, kind, attributes)
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.given = given
        """The names of the attributes that the file sets."""

    @property
    def x(self) -> NodeOutput:
        """The first input."""
        return self.inputs[0]

    @property
    def output_type(self) -> ElementType:
        """The element type that the first output declares."""
        return self.outputs[0].element_type

    def as_declared(self, value: NodeOutput) -> NodeOutput:
        """Converts a floating-point value to the floating-point type of the output, which may round
        it."""
        return (
            self.convert(value, self.output_type)
            if value.element_type.is_real and self.output_type.is_real
            else value
        )

    def axis(self, name: str = "axis") -> int:
        """Returns the axis in an attribute as a non-negative axis of the first input. Raises
        `Violation`."""
        rank, axis = self.rank(self.x), self[name]
        within((axis,), rank, at=name, of="input")
        return int(axis % rank)

    def channel_axis(self, rank: int) -> int:
        """Returns the axis of the channels according to `data_format`."""
        return rank - 1 if self["data_format"] == "NXC" else 1

    def channels_second(self, value: NodeOutput) -> NodeOutput:
        """Transposes a value so that the channels come directly after the batch, as in OpenVINO.

        Only `data_format` NXC needs this; NCX stays unchanged.
        """
        rank = self.rank(value)
        return (
            self.transposed(value, [0, rank - 1, *range(1, rank - 1)])
            if self["data_format"] == "NXC"
            else value
        )

    def channels_as_given(self, value: NodeOutput) -> NodeOutput:
        """Transposes a value back to `data_format`; the inverse of `channels_second`."""
        rank = self.rank(value)
        return (
            self.transposed(value, [0, *range(2, rank), 1])
            if self["data_format"] == "NXC"
            else value
        )

    def note(self, message: str) -> None:
        """Reports what the oneDNN library does with this operation, with severity info."""
        self.builder.report(OPERATION_CONSTRAINT, message, severity="info")


FORMAT = word("NXC", "NXC", "NCX")
"""The attribute `data_format`, which every kind with channels has."""
