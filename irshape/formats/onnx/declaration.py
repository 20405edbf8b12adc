"""Registers conversion functions for ONNX operators by name.

A function converts a node to OpenVINO's operations. The node is checked first against ONNX's schema
of the operator, which has the attributes, and the numbers and types of inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from ...faults import Violation
from ...ops.conditions import within
from ...ops.tensors import Tensor
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_COUNT
from ..builder import Builder, NodeOutput
from ..nodes import SourceNode, missing, refusal

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

NEWEST = 28
"""The newest opset that the conversion functions support."""

_DECLARED: dict[str, tuple[Function, int]] = {}


def operator(*names: str, since: int = 1) -> Callable[[Function], Function]:
    """Registers a conversion function for operators, from the operator version `since` on."""

    def declare(function: Function) -> Function:
        for name in names:
            _DECLARED[name] = function, since
        return function

    return declare


@cache
def function_of(name: str, version: int) -> Function | None:
    """Returns the conversion function for a version of an operator; None if there is none."""
    for module in MODULES:
        import_module(f"{__package__}.{module}")
    function, since = _DECLARED.get(name, (None, 1))
    return function if since <= version <= NEWEST else None


class Node(SourceNode):
    """A node, as its conversion function receives it.

    Attributes include defaults. `version` is the opset that introduced this operator version.
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
        super().__init__(builder, operator, attributes)
        self.version = version
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        """The names of the node's outputs; "" for an output that the node leaves out."""

    def input(self, index: int) -> NodeOutput | None:
        """Returns an input; None if the node leaves it out."""
        return self.inputs[index] if index < len(self.inputs) else None

    @property
    def every_input(self) -> list[NodeOutput]:
        """All inputs. Raises `Violation` if the node leaves one out."""
        return [self.need(index) for index in range(len(self.inputs))]

    def need(self, index: int) -> NodeOutput:
        """Returns an input. Raises `Violation` if the node leaves it out."""
        value = self.input(index)
        if value is None:
            raise Violation(
                f"{self.kind} needs input {index}, which the node does not have",
                rule=INPUT_COUNT,
                expected=f"{index + 1} or more",
                actual=len(self.inputs),
            )
        return value

    @property
    def x(self) -> NodeOutput:
        """The first input."""
        return self.need(0)

    def choice(
        self, attribute: str, words: Mapping[str, str] | tuple[str, ...], default: str = ""
    ) -> str:
        """Returns the text of an attribute; if `words` is a mapping, the text that it has for this
        key. Raises `Violation` if the text of the attribute is not in `words`."""
        word = str(self[attribute] or default)
        if word not in words:
            raise refusal(attribute, word, f"one of {', '.join(words)}")
        return words[word] if isinstance(words, Mapping) else word

    def require(self, attribute: str, supported: object) -> None:
        """Raises `Violation` for an attribute with a value that OpenVINO does not support.
        supported: the only value that OpenVINO supports."""
        given = self[attribute]
        if given not in (None, supported):
            message = f"{self.kind} with `{attribute}` {given} has no counterpart in OpenVINO"
            raise Violation(message, at=attribute, expected=supported, actual=given)

    def of_rank(self, rank: int, index: int = 0) -> NodeOutput:
        """Returns an input. Raises `Violation` if it has another rank."""
        value = self.need(index)
        if value.rank not in (rank, None):
            raise Violation(at=f"input {index}", relation="rank", expected=rank, actual=value.shape)
        return value

    def wants(self, index: int) -> bool:
        """Whether the node has an output with this index."""
        return index < len(self.outputs) and bool(self.outputs[index])

    def axis(
        self, name: str, rank: int | None, *, end: bool = False, negative_since: int = 11
    ) -> int:
        """Returns the axis in an attribute; checks it if the rank is known. Raises `Violation`.

        end: allow the axis after the last one.
        """
        axis = self[name]
        if axis is None:
            raise missing(self.kind, name, "INT")
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
        """Returns axes, made non-negative if the rank is known. Raises `Violation` if out of range.

        negative_since: the opset that introduced negative axes; earlier versions refuse them.
        """
        for axis in axes:
            if axis < 0 and self.version < negative_since:
                raise Violation(
                    f"`{name}` contains {axis}: {self.kind} of version {self.version} "
                    f"counts axes from 0; opset {negative_since} introduced negative axes",
                    rule=ATTRIBUTE_VALUE,
                    at=name,
                    expected="an axis of 0 or more",
                    actual=axis,
                )
        if rank is not None:
            within(axes, rank + end, at=name, of="input", least=-rank)
        return [axis + rank if axis < 0 and rank is not None else axis for axis in axes]

    def flag(self, name: str) -> bool:
        """Returns an attribute that must be 0 or 1 as a bool. Raises `Violation`."""
        number = self[name]
        if number not in (0, 1):
            raise refusal(name, number, "0 or 1")
        return bool(number)


__all__ = ["Node", "NodeOutput", "Outputs", "Tensor", "Violation", "function_of", "operator"]
