"""Layers on their own: their inputs from their own ports, values written as text, the version that fits."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..faults import Violation
from ..model.graph import Layer, Port
from ..ops import registry
from ..ops.declaration import BOOLEAN_TYPE, I32_I64, INTEGER, REAL, Operand, Operation, check_inputs
from ..ops.tensors import MAX_VALUE_ELEMENTS, Tensor, Value
from ..rule_ids import INPUT_COUNT
from ..types import DYNAMIC_SHAPE, DYNAMIC_TYPE, ElementType, PartialShape


def parse_value(text: str) -> tuple[int | float, ...] | None:
    """The elements of a value such as `[2, 3]`, `7` or `[[0, 1], [2, 3]]`, in row-major order; None where it is none."""
    parsed = _parsed(text)
    return None if parsed is None else parsed[1]


_WORDS = {"true": "1", "false": "0"}


def _parsed(text: str) -> tuple[tuple[int, ...], tuple[int | float, ...]] | None:
    """The shape and the elements of a value as text."""
    plain = re.sub(
        r"\b(?:true|false)\b", lambda word: _WORDS[word[0].lower()], text, flags=re.IGNORECASE
    )
    plain = re.sub(r"(?<=[\d.])f\b", "", plain).strip()
    if len(plain) > _MAX_VALUE_TEXT or not _VALUE_TEXT.match(plain):
        return None
    try:
        parsed = ast.literal_eval(plain)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    shape = []
    inner = parsed
    while isinstance(inner, (list, tuple)):
        shape.append(len(inner))
        if not inner:
            break
        inner = inner[0]
    flat = list(_flattened(parsed))
    numbers = [item for item in flat if isinstance(item, (int, float))]
    if len(numbers) != len(flat) or len(flat) > MAX_VALUE_ELEMENTS:
        return None
    return (tuple(shape) if _product(tuple(shape)) == len(flat) else (len(flat),)), tuple(numbers)


_MAX_VALUE_TEXT = 1 << 16


_VALUE_TEXT = re.compile(r"[-+\d.eE\s,\[\]()]*\Z")


def _flattened(item: object) -> Iterator[object]:
    if isinstance(item, (list, tuple)):
        for part in item:
            yield from _flattened(part)
    else:
        yield item


def input_tensors(layer: Layer, operands: tuple[Operand, ...]) -> tuple[Tensor, ...]:
    """The tensors that the input ports of a layer on its own stand for: what they declare, with the values given for them.

    Without a `precision`, an input that holds sizes, axes or indices has the usual type for it (i64; f32 for scales), or that of the inputs that it shares its
    type with; any other stays dynamic.
    """
    last = operands[-1] if operands and operands[-1].variadic else None
    declared = [
        operands[index] if index < len(operands) else last for index in range(len(layer.inputs))
    ]
    grouped = {operand.like for operand in operands if operand.like}
    given: dict[str, ElementType] = {}
    tensors = [port_tensor(port) for port in layer.inputs]
    for operand, tensor in zip(declared, tensors, strict=True):
        if operand is not None and tensor.element_type is not DYNAMIC_TYPE:
            given.setdefault(operand.like or operand.name, tensor.element_type)
    for index, (operand, tensor) in enumerate(zip(declared, tensors, strict=True)):
        if (
            operand is None
            or layer.inputs[index].precision is not None
            or not (operand.value or len(operand.allowed) == 1 or operand.allowed <= I32_I64)
        ):
            continue
        alone = operand.like is None and operand.name not in grouped
        allowed = operand.allowed
        if (
            allowed > INTEGER and allowed <= INTEGER | BOOLEAN_TYPE
        ):  # indices or a mask; the attribute says which
            allowed = BOOLEAN_TYPE if layer.attribute("mode") == "mask" else INTEGER
        usual = _usual_type(allowed, tensor.value if alone else None)
        if usual is not DYNAMIC_TYPE:
            tensors[index] = Tensor(
                given.get(operand.like or operand.name, usual), tensor.shape, tensor.value
            )
    return tuple(tensors)


def with_assumed_types(
    layer: Layer, operands: tuple[Operand, ...], inputs: tuple[Tensor, ...]
) -> tuple[Tensor, ...] | None:
    """The inputs with a type for each that has none: that of an output or of another input where the operation takes it, else the first usual one.

    None where there is nothing to assume.
    """
    said = [tensor.element_type for tensor in inputs] + [
        port.element_type or DYNAMIC_TYPE for port in layer.outputs
    ]
    usual = [element_type for element_type in said if element_type is not DYNAMIC_TYPE] + [
        ElementType.of(name) for name in ("f32", "i64", "boolean")
    ]
    assumed = list(inputs)
    for index, tensor in enumerate(inputs):
        if tensor.element_type is DYNAMIC_TYPE and operands:
            allowed = operands[min(index, len(operands) - 1)].allowed
            fitting = next(
                (element_type for element_type in usual if element_type in allowed), DYNAMIC_TYPE
            )
            assumed[index] = Tensor(fitting, tensor.shape, tensor.value)
    return tuple(assumed) if assumed != list(inputs) else None


def port_tensor(port: Port) -> Tensor:
    """What an input port declares, with the value given for it.

    A port without dimensions has those of its value. Where the number of elements differs from what the port declares, the port counts, and a rule reports it.
    """
    shape = DYNAMIC_SHAPE if port.dims is None else PartialShape(port.dims)
    parsed = None if port.value is None else _parsed(port.value)
    element_type = port.element_type or DYNAMIC_TYPE
    if parsed is None:
        return Tensor(element_type, shape)
    sizes, numbers = parsed
    if shape.static is None or _product(shape.static) != len(numbers):
        if port.dims:
            return Tensor(element_type, shape)
        shape = PartialShape(sizes)
    elif port.dims == () and sizes == (1,):
        shape = PartialShape(sizes)
    return Tensor(element_type, shape, Value(numbers))


def _usual_type(allowed: frozenset[ElementType], value: Value | None) -> ElementType:
    if len(allowed) == 1:
        return next(iter(allowed))
    if value is not None and not allowed <= INTEGER and not allowed <= REAL:
        allowed &= INTEGER if all(isinstance(number, int) for number in value.lower) else REAL
    for group, name in ((INTEGER, "i64"), (REAL, "f32")):
        if allowed and allowed <= group and ElementType.of(name) in allowed:
            return ElementType.of(name)
    return DYNAMIC_TYPE


def _product(sizes: tuple[int, ...]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def newest_fitting(layer: Layer) -> type[Operation]:
    """The newest version of the layer's type that its attributes and ports fit; where none does, the newest of those that fit best.

    Raises `UnknownOperation`.
    """
    known = registry.versions(layer.type)
    if not known:
        registry.find(layer.type, "opset1")
        raise registry.UnknownOperation(f"no opset contains an operation {layer.type}")
    if len(known) == 1:
        return known[0]
    return min(reversed(known), key=lambda cls: _misfits(cls, layer))


def _misfits(cls: type[Operation], layer: Layer) -> tuple[int, ...]:
    """What of a layer does not fit a version: attributes, number of inputs, number of outputs, shapes of the outputs."""
    operation, faults = cls.read(layer.items)
    refused = any(not met.silent for met in faults)
    try:
        ordered = check_inputs(operation, input_tensors(layer, cls.operands))
        if cls.has_bodies or refused:
            return len(faults), 0, int(refused), 0
        made = operation.infer(*ordered)
    except Violation as violation:
        return len(faults), int(violation.fault.rule == INPUT_COUNT), 1, 1
    tensors = made if isinstance(made, tuple) else (made,)
    other = sum(
        _differs(port, tensor) for port, tensor in zip(layer.outputs, tensors, strict=False)
    )
    return len(faults), 0, int(len(tensors) != len(layer.outputs)), other


def _differs(port: Port, tensor: Tensor) -> bool:
    """Whether an output port declares dimensions that the tensor cannot have."""
    return bool(port.dims) and not PartialShape(port.dims or ()).compatible(tensor.shape)
