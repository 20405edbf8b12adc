"""How an ONNX operator is declared: its name, its versions, and a conversion function.

The function converts a node to OpenVINO's operations. Attributes, numbers of inputs and their types
are in ONNX's own schemas; every node is checked against them before its function is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from ...element_types import ElementType
from ...faults import Violation
from ...ops.tensors import Tensor
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_COUNT, INPUT_RANK, INPUT_VALUE, MISSING_ATTRIBUTE
from ..builder import Builder, NodeOutput

Outputs = NodeOutput | tuple[NodeOutput | None, ...]
Function = Callable[["Node"], Outputs]
MODULES = (
    "elementwise",
    "generation",
    "image",
    "matrix",
    "movement",
    "normalization",
    "pooling",
    "quantization",
    "reduction",
    "sequence",
    "signal",
)

_DECLARED: dict[tuple[str, str, int], Function] = {}


def operator(name: str, *versions: int, domain: str = "") -> Callable[[Function], Function]:
    """Declares an operator in those versions (each the first opset that has it)."""

    def declare(function: Function) -> Function:
        for version in versions:
            _DECLARED[domain, name, version] = function
        return function

    return declare


@cache
def declarations() -> dict[tuple[str, str, int], Function]:
    """All functions by domain, operator and version."""
    for module in MODULES:
        import_module(f"{__package__}.{module}")
    return _DECLARED


class Node:
    """A node as its function sees it: inputs are values, attributes have their defaults.

    `version` is the opset that introduced this form of the operator.
    """

    def __init__(
        self,
        builder: Builder,
        operator: str,
        version: int,
        inputs: Sequence[NodeOutput | None],
        attributes: dict[str, Any],
        outputs: Sequence[str],
    ) -> None:
        self.builder = builder
        self.operator = operator
        self.version = version
        self.inputs = list(inputs)
        self.attributes = attributes
        self.outputs = list(outputs)
        """The names of the outputs, empty for those that nobody wants."""

    def __getitem__(self, attribute: str) -> Any:
        """An attribute; None where it has no value and no default."""
        return self.attributes.get(attribute)

    def input(self, index: int) -> NodeOutput | None:
        """An input, None where it is left out."""
        return self.inputs[index] if index < len(self.inputs) else None

    def need(self, index: int) -> NodeOutput:
        """An input that is there. Raises `Violation`."""
        value = self.input(index)
        if value is None:
            raise Violation(
                f"{self.operator} needs its input {index}",
                rule=INPUT_COUNT,
                expected=f"{index + 1} or more",
                actual=len(self.inputs),
            )
        return value

    @property
    def x(self) -> NodeOutput:
        """The first input."""
        return self.need(0)

    def choice(self, attribute: str, words: Mapping[str, str], default: str) -> str:
        """What the word of an attribute stands for. Raises `Violation`."""
        word = self[attribute] or default
        if word not in words:
            raise Violation(
                f"`{attribute}` is '{word}'; expected one of {', '.join(words)}",
                rule=ATTRIBUTE_VALUE,
                at=attribute,
                actual=word,
            )
        return words[word]

    def wants(self, index: int) -> bool:
        """Whether somebody wants an output."""
        return index < len(self.outputs) and bool(self.outputs[index])

    def add(
        self, type: str, *inputs: NodeOutput, version: str | None = None, **attributes: Any
    ) -> NodeOutput:
        """Adds a layer; its first output."""
        return self.builder.add(type, *inputs, version=version, **attributes)

    def all(
        self, type: str, *inputs: NodeOutput, version: str | None = None, **attributes: Any
    ) -> tuple[NodeOutput, ...]:
        """Adds a layer; all its outputs."""
        return self.builder.all(type, *inputs, version=version, **attributes)

    def numbers(
        self, values: Any, element_type: str = "i64", *, shape: tuple[int, ...] | None = None
    ) -> NodeOutput:
        """A constant from Python numbers."""
        return self.builder.numbers(values, element_type, shape=shape)

    def like(self, value: NodeOutput, number: float) -> NodeOutput:
        """A scalar of the type of a value."""
        if value.element_type.is_dynamic:
            return self.add("ConvertLike", self.numbers(number, "f32"), value)
        return self.numbers(number, value.element_type.name)

    def convert(self, value: NodeOutput, element_type: ElementType | str) -> NodeOutput:
        """A value in another type; itself where it has it."""
        if str(value.element_type) == str(element_type):
            return value
        return self.add("Convert", value, destination_type=ElementType.of(str(element_type)))

    def rank(self, value: NodeOutput, what: str) -> int:
        """The rank of a value. Raises `Violation` if it is not known.

        The operator then has no equivalent in OpenVINO's operations.
        """
        if value.rank is None:
            raise Violation(
                f"{self.operator} {what} cannot be read without the rank of its input, "
                "which is not known",
                rule=INPUT_RANK,
                expected="a known rank",
            )
        return value.rank

    def axis(
        self, name: str, rank: int | None, *, end: bool = False, negative_since: int = 11
    ) -> int:
        """An axis attribute, checked against the rank if that is known. Raises `Violation`.

        end: one past the last axis is allowed.
        """
        axis = self[name]
        if axis is None:
            raise Violation(
                f"the attribute `{name}` is missing",
                rule=MISSING_ATTRIBUTE,
                expected="INT",
                help=f"give {self.operator} its `{name}`",
            )
        return self.axes(name, [axis], rank, end=end, negative_since=negative_since)[0]

    def axes(
        self,
        name: str,
        axes: Sequence[int],
        rank: int | None,
        *,
        end: bool = False,
        negative_since: int = 11,
    ) -> list[int]:
        """Axes, checked against the rank and counted from the front if that is known.

        Negative axes are refused before the version that introduced them.
        """
        for axis in axes:
            if axis < 0 and self.version < negative_since:
                raise Violation(
                    f"`{name}` contains {axis}: {self.operator} of version {self.version} "
                    f"counts axes from 0; negative ones came with opset {negative_since}",
                    rule=ATTRIBUTE_VALUE,
                    at=name,
                    expected="an axis from 0 up",
                    actual=axis,
                )
            if rank is not None and not -rank <= axis < rank + end:
                raise Violation(
                    f"`{name}` contains {axis}, outside [{-rank}, {rank - 1 + end}] for an "
                    f"input of rank {rank}",
                    rule=INPUT_VALUE,
                    at=name,
                    expected=f"[{-rank}, {rank - 1 + end}]",
                    actual=axis,
                )
        return [axis + rank if axis < 0 and rank is not None else axis for axis in axes]

    def shape_of(self, value: NodeOutput) -> NodeOutput:
        """The shape of a value, as i64."""
        return self.add("ShapeOf", value, version="opset3", output_type=ElementType.of("i64"))

    def reshaped(
        self, value: NodeOutput, sizes: Sequence[int] | NodeOutput, *, zero: bool = False
    ) -> NodeOutput:
        """A Reshape; `zero`: 0 keeps a dimension."""
        wanted = (
            sizes
            if isinstance(sizes, NodeOutput)
            else self.numbers(list(sizes), shape=(len(sizes),))
        )
        return self.add("Reshape", value, wanted, special_zero=zero)

    def flag(self, name: str) -> bool:
        """An attribute that is 0 or 1. Raises `Violation`."""
        number = self[name]
        if number not in (0, 1):
            raise Violation(
                f"`{name}` is {number}; expected 0 or 1",
                rule=ATTRIBUTE_VALUE,
                at=name,
                expected="0 or 1",
                actual=number,
            )
        return bool(number)


__all__ = ["Node", "NodeOutput", "Outputs", "Tensor", "Violation", "declarations", "operator"]
