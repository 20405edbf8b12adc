"""Reads a oneDNN graph, and converts it to OpenVINO's layers.

Logical tensors become the declarations of ports. Strides must agree with shapes.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ...element_types import ElementType
from ...faults import Violation
from ...model.graph import Finding, Model
from ...model.source import Source
from ...ops.tensors import Tensor
from ...rule_ids import (
    CYCLE,
    DUPLICATE_TENSOR_NAME,
    INPUT_COUNT,
    INPUT_ELEMENT_TYPE,
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    MISSPELT_ATTRIBUTE,
    NESTING_LIMIT,
    NOT_AN_IR,
    OUTPUT_COUNT,
    STRIDE_MISMATCH,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_TYPE,
)
from ...shapes import PartialShape
from ..builder import Builder, NodeOutput
from ..inputs import unreadable
from ..nodes import check_count, failure, missing, refusal
from . import FORMAT
from .declaration import TYPES, Declaration, DeclaredAttribute, GraphOperation, declarations

UNKNOWN_SIZE = -(2**63)
MAX_OPERATIONS = 100_000
_LARGEST = 2.0**128
_ENDS = ("End", "Wildcard")
_LAYOUTS = ("strided", "undef", "any", "opaque")
_PYTHON: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "s64": int,
    "f32": (int, float),
    "bool": (int, bool),
    "s64[]": list,
    "f32[]": list,
}


class _Malformed(Exception):
    """Raised if the text is JSON, but not a graph. `position`: where the fault is in the text."""

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position


def read(source: Source) -> Model:
    """Reads a model from `source`. Raises `NotReadable`."""
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        message = f"the file begins like JSON, but it is not UTF-8: {problem.reason}"
        raise unreadable(source, NOT_AN_IR, message) from None
    shift = len(source.data) - len(text.encode())

    def offset(position: int) -> int:
        return shift + (position if text.isascii() else len(text[:position].encode()))

    try:
        operations = _operations(text)
        return _Reader(source, [(offset(position), entry) for position, entry in operations]).read()
    except json.JSONDecodeError as problem:
        message = f"the file is not valid JSON: {problem.msg}"
        raise unreadable(
            source, NOT_AN_IR, message, offset(problem.pos), expected="a oneDNN graph"
        ) from None
    except _Malformed as problem:
        raise unreadable(
            source,
            NOT_AN_IR,
            f"the file is JSON, but not a oneDNN graph: {problem}",
            offset(problem.position),
            expected="a `graph` of operations",
            help="give the .xml of a model, or a graph as the oneDNN library writes it",
        ) from None
    except ValueError:  # Python reads whole numbers of at most 4300 digits
        message = "the JSON has a whole number with too many digits"
        raise unreadable(source, NOT_AN_IR, message) from None
    except RecursionError:
        raise unreadable(source, NESTING_LIMIT, "the JSON is nested too deeply") from None


_BETWEEN = re.compile(r"[ \t\r\n,:]*")


def _operations(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Returns the operations, with positions in the text. Raises `ValueError`, `_Malformed`."""

    def behind(position: int) -> int:
        """Returns the position of the next key, value or bracket in `text`, which is valid JSON."""
        return _BETWEEN.match(text, position).end()  # type: ignore[union-attr]

    decoder = json.JSONDecoder()
    decoder.raw_decode(text, behind(0))  # says what is wrong with it
    operations: list[tuple[int, dict[str, Any]]] | None = None
    at = behind(text.index("{") + 1)
    while text[at] != "}":
        key, end = decoder.raw_decode(text, at)
        at = behind(end)
        if key == "graph" and text[at] == "[":
            operations, at = [], behind(at + 1)
            while text[at] != "]":
                entry, end = decoder.raw_decode(text, at)
                if not isinstance(entry, dict):
                    raise _Malformed("an operation is not a JSON object", at)
                if len(operations) >= MAX_OPERATIONS:
                    raise _Malformed(f"it has more than {MAX_OPERATIONS} operations", at)
                operations.append((at, entry))
                at = behind(end)
            at = behind(at + 1)
        else:
            at = behind(decoder.raw_decode(text, at)[1])
    if operations is None:
        raise _Malformed("it has no `graph`")
    return operations


class LogicalTensor:
    """A tensor as an operation in the file declares it.

    In `shape`, `UNKNOWN_SIZE` is a dynamic size. A shape of only `UNKNOWN_SIZE` has dynamic rank.
    """

    def __init__(self, entry: Any) -> None:
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), int):
            raise ValueError("a logical tensor needs an `id`")
        self.id: int = entry["id"]
        self.dtype = entry.get("dtype", "undef")
        self.layout = entry.get("layout_type", "undef")
        self.shape, self.stride = (entry.get(name, []) for name in ("shape", "stride"))
        for name, numbers in (("shape", self.shape), ("stride", self.stride)):
            if not isinstance(numbers, list) or not all(
                isinstance(size, int) and not isinstance(size, bool) for size in numbers
            ):
                raise ValueError(
                    f"the `{name}` of the logical tensor {self.id} is not a list of whole numbers"
                )
        if self.dtype not in TYPES:
            raise ValueError(
                f"the logical tensor {self.id} has the type {self.dtype!r}, which oneDNN does "
                "not have"
            )
        if self.layout not in _LAYOUTS:
            raise ValueError(
                f"the logical tensor {self.id} has the layout {self.layout!r}, which "
                "oneDNN does not have"
            )
        if any((size < 0 and size != UNKNOWN_SIZE) or size >= 1 << 63 for size in self.shape):
            raise ValueError(
                f"the shape of the logical tensor {self.id} has an invalid size: {self.shape}"
            )

    @property
    def tensor(self) -> Tensor:
        sizes = (
            None
            if self.shape == [UNKNOWN_SIZE] and self.stride in ([UNKNOWN_SIZE], [])
            else [-1 if size < 0 else size for size in self.shape]
        )
        return Tensor(ElementType.of(TYPES[self.dtype]), PartialShape(sizes))

    @property
    def name(self) -> str:
        return f"t{self.id}"

    def stride_problem(self) -> tuple[str, str] | None:
        """Returns a message about faulty strides, and the expected ones; None for correct strides.

        There must be a stride for each axis. Strides must not be negative, and two elements must
        not have the same address, except along an axis with stride 0.
        """
        shape, stride = self.shape, self.stride
        if self.layout != "strided" or any(number == UNKNOWN_SIZE for number in (*shape, *stride)):
            return None
        if len(stride) != len(shape):
            return (
                f"{len(stride)} strides for a shape of rank {len(shape)}",
                f"{len(shape)} strides",
            )
        if any(number < 0 for number in stride):
            return f"a negative stride: {stride}", "strides of 0 or more"
        reach = 1
        for step, size in sorted(
            (step, size) for step, size in zip(stride, shape, strict=True) if size > 1 and step
        ):
            if step < reach:
                dense: list[int] = []
                product = 1
                for extent in reversed(shape):
                    dense.insert(0, product)
                    product *= max(extent, 1)
                return (
                    f"the strides {stride} put several elements of shape {shape} at the same "
                    "address",
                    f"such as {dense}",
                )
            reach = step * (size - 1) + reach
        return None


def _checked(name: str, entry: Any, declared: DeclaredAttribute) -> Any:
    """Returns the value of an attribute. Raises `Violation` if its type or value is not allowed."""
    given = entry if isinstance(entry, dict) else {}
    type, value = given.get("type"), given.get("value")
    if type != declared.type:
        raise refusal(name, f"of type {type}", declared.type)
    if not isinstance(value, _PYTHON[declared.type]):
        raise refusal(name, value, declared.type)
    element = int if declared.type == "s64[]" else (int, float)
    if isinstance(value, list) and not all(isinstance(item, element) for item in value):
        raise refusal(name, value, declared.type)
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, (int, float)) and not abs(item) < (
            1 << 63 if declared.type[0] == "s" else _LARGEST
        ):
            raise refusal(name, item, f"a number in the range of {declared.type}")
    if declared.choices and value not in declared.choices:
        words = ", ".join(map(str, declared.choices))
        raise refusal(name, value, f"one of {words}")
    return value


class _Reader:
    def __init__(self, source: Source, operations: list[tuple[int, dict[str, Any]]]) -> None:
        self.builder = Builder(source, "oneDNN graph", FORMAT)
        self.operations = operations
        self.inputs: list[list[LogicalTensor]] = []
        self.outputs: list[list[LogicalTensor]] = []
        self.values: dict[int, NodeOutput] = {}
        self.first: dict[int, LogicalTensor] = {}
        self.results: set[int] = set()
        """The ids of the tensors that are outputs of the graph."""

    def read(self) -> Model:
        builder = self.builder
        for position, entry in self.operations:
            if not isinstance(entry.get("kind"), str):
                raise unreadable(
                    builder.model.source, NOT_AN_IR, "an operation has no `kind`", position
                )
            try:
                self.inputs.append([LogicalTensor(tensor) for tensor in entry.get("inputs", [])])
                self.outputs.append([LogicalTensor(tensor) for tensor in entry.get("outputs", [])])
            except (ValueError, TypeError) as problem:
                raise unreadable(
                    builder.model.source, NOT_AN_IR, f"{entry['kind']}: {problem}", position
                ) from None
        producers: dict[int, int] = {}
        for number, tensors in enumerate(self.outputs):
            for tensor in tensors:
                if tensor.id in producers:
                    builder.offset = self.operations[number][0]
                    builder.report(
                        DUPLICATE_TENSOR_NAME,
                        f"the logical tensor {tensor.id} is the output of two operations",
                        severity="error",
                    )
                producers.setdefault(tensor.id, number)
                self.first.setdefault(tensor.id, tensor)
        for number, tensors in enumerate(self.inputs):
            for tensor in tensors:
                if tensor.id not in producers and tensor.id not in self.values:
                    builder.offset = self.operations[number][0]
                    self.first[tensor.id] = tensor
                    value = builder.parameter(tensor.name, tensor.tensor)
                    value.layer.outputs[0].names = tensor.name
                    self.values[tensor.id] = value
        used = {tensor.id for tensors in self.inputs for tensor in tensors}
        self.results = (producers.keys() - used) | self.ended()
        for number in self.order(producers):
            self.operation(number)
        for tensors in self.outputs:
            for tensor in tensors:
                if tensor.id not in used and tensor.id in self.values:
                    builder.result(tensor.name, self.values[tensor.id])
        builder.finish()
        return builder.model

    def ended(self) -> set[int]:
        """Returns the ids of the inputs of End and Wildcard operations: outputs of the graph."""
        rows = zip(self.operations, self.inputs, strict=True)
        return {each.id for (_, entry), row in rows if entry["kind"] in _ENDS for each in row}

    def order(self, producers: dict[int, int]) -> list[int]:
        """Returns the positions of the operations in topological order.

        Reports operations on a cycle. Omits these operations, and all that depend on them.
        """
        sorter = TopologicalSorter(
            {
                number: {producers[tensor.id] for tensor in tensors if tensor.id in producers}
                for number, tensors in enumerate(self.inputs)
            }
        )
        with suppress(CycleError):
            sorter.prepare()
        order: list[int] = []
        while ready := sorted(sorter.get_ready()):
            order += ready
            sorter.done(*ready)
        left = sorted(set(range(len(self.inputs))).difference(order))
        if left:
            self.builder.offset = self.operations[left[0]][0]
            names = ", ".join(
                str(self.operations[number][1].get("name") or self.operations[number][1]["kind"])
                for number in left[:4]
            )
            self.builder.report(
                CYCLE,
                f"{len(left)} operations are on a cycle, or depend on it: {names}",
                expected="operations without a cycle",
            )
        return order

    def operation(self, number: int) -> None:
        position, entry = self.operations[number]
        builder, kind = self.builder, entry["kind"]
        builder.offset, builder.name = (
            position,
            str(entry.get("name") or f"{kind}_{entry.get('id', number)}"),
        )
        for tensor in self.inputs[number]:
            self.compare(tensor)
        for tensor in (*self.inputs[number], *self.outputs[number]):
            self.check_strides(tensor)
        inputs = [self.values[tensor.id] for tensor in self.inputs[number]]
        declared = [tensor.tensor for tensor in self.outputs[number]]
        if kind in _ENDS and not declared:
            for value, tensor in zip(inputs, self.inputs[number], strict=True):
                builder.result(tensor.name, value)
            return
        try:
            outputs = self.converted(entry, inputs, declared)
        except Exception as error:
            refusal = error if isinstance(error, Violation) else failure(error)
            layer, outputs = builder.opaque(kind, "onednn", inputs, declared, name=builder.name)
            place = self.attribute_place(number, refusal.fault.at)
            problem = Finding(refusal.fault, place, layer)
            builder.model.findings.append(problem)
        for index, (value, tensor) in enumerate(zip(outputs, self.outputs[number], strict=False)):
            self.values[tensor.id] = builder.bound(
                value,
                tensor.name,
                tensor.tensor,
                is_output=tensor.id in self.results,
                first=index == 0,
            )

    def converted(
        self, entry: dict[str, Any], inputs: list[NodeOutput], declared: list[Tensor]
    ) -> tuple[NodeOutput, ...]:
        """Converts an operation. Returns its outputs. Raises `Violation`."""
        kind = entry["kind"]
        declaration = declarations().get(kind)
        if declaration is None:
            close = get_close_matches(kind, list(declarations()), 1, 0.8)
            raise Violation(
                f"irshape does not know the operation {kind} of oneDNN Graph",
                rule=UNKNOWN_TYPE,
                expected=close[0] if close else None,
                actual=kind,
                help="irshape uses the types and shapes that the file declares for the outputs; "
                "docs/onednn.md lists the kinds that irshape reads",
            )
        given = entry.get("attrs", {})
        if not isinstance(given, dict):
            raise refusal("attrs", type(given).__name__, "an object")
        attributes = self.attributes(kind, declaration, given)
        check_count(kind, "input", len(inputs), *declaration.inputs, INPUT_COUNT)
        check_count(kind, "output", len(declared), *declaration.outputs, OUTPUT_COUNT)
        if (
            declaration.types
            and inputs
            and inputs[0].element_type.name not in (*declaration.types, "dynamic")
        ):
            words = ", ".join(declaration.types)
            raise Violation(
                f"{kind} takes {words}, got {inputs[0].element_type}",
                rule=INPUT_ELEMENT_TYPE,
                expected=words,
                actual=inputs[0].element_type,
            )
        converted = declaration.function(
            GraphOperation(self.builder, kind, inputs, attributes, declared, frozenset(given))
        )
        return converted if isinstance(converted, tuple) else (converted,)

    def attributes(
        self, kind: str, declaration: Declaration, given: dict[str, Any]
    ) -> dict[str, Any]:
        """Returns the attributes, with defaults for missing ones. Raises `Violation`.

        Reports an attribute that the kind of operation does not have, and leaves it out.
        """
        values = {name: declared.default for name, declared in declaration.attributes.items()}
        for name, entry in given.items():
            declared = declaration.attributes.get(name)
            if declared is None:
                close = get_close_matches(
                    name, [other for other in declaration.attributes if other not in given], 1, 0.75
                )
                rule = MISSPELT_ATTRIBUTE if close else UNKNOWN_ATTRIBUTE
                wanted = close[0] if close else ", ".join(declaration.attributes) or "no attributes"
                self.builder.report(
                    rule, f"{kind} has no attribute `{name}`", expected=wanted, actual=name
                )
                continue
            values[name] = _checked(name, entry, declared)
        for name, declared in declaration.attributes.items():
            if declared.required and name not in given:
                raise missing(kind, name, declared.type)
        return values

    def attribute_place(self, number: int, name: str) -> int:
        """Returns the position of an operation's attribute in the text. If the text does not
        contain `name`, returns the position of the operation."""
        data, start = self.builder.model.source.data, self.operations[number][0]
        end = self.operations[number + 1][0] if number + 1 < len(self.operations) else len(data)
        at = data.find(f'"{name}"'.encode(), start, end) if name else -1
        return at if at >= 0 else start

    def compare(self, tensor: LogicalTensor) -> None:
        """Reports a logical tensor whose type or shape differs from its first mention in the
        graph."""
        first = self.first[tensor.id]
        if first is tensor:
            return
        layer = self.values[tensor.id].layer if tensor.id in self.values else None
        if first.dtype != tensor.dtype and "undef" not in (first.dtype, tensor.dtype):
            message = (
                f"the logical tensor {tensor.id} is {tensor.dtype} in this operation, but "
                f"{first.dtype} where the graph first names it"
            )
            self.builder.report(
                INPUT_TYPE_MISMATCH, message, layer, expected=first.dtype, actual=tensor.dtype
            )
        if not first.tensor.shape.compatible(tensor.tensor.shape):
            message = (
                f"the logical tensor {tensor.id} has shape {tensor.tensor.shape} in this "
                f"operation, but {first.tensor.shape} where the graph first names it"
            )
            self.builder.report(
                INPUT_MISMATCH,
                message,
                layer,
                expected=str(first.tensor.shape),
                actual=str(tensor.tensor.shape),
            )

    def check_strides(self, tensor: LogicalTensor) -> None:
        problem = tensor.stride_problem()
        if problem is not None:
            self.builder.report(
                STRIDE_MISMATCH,
                f"the logical tensor {tensor.id}: {problem[0]}",
                expected=problem[1],
                actual=str(tensor.stride),
            )
