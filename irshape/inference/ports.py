"""Converts what ports declare to tensors, and determines the inputs of single layers."""

from __future__ import annotations

from math import prod

from ..element_types import DYNAMIC_TYPE, ElementType
from ..model.graph import Layer
from ..model.ports import Port
from ..ops.declaration import BOOLEAN_TYPE, I32_I64, INTEGER, REAL, Operand
from ..ops.tensors import UNKNOWN, Tensor, Value
from ..shapes import DYNAMIC_SHAPE, SCALAR, PartialShape
from .literals import parse_array


def declared(port: Port, inferred: Tensor | None = None) -> Tensor:
    """Returns the tensor that a port of a connected layer declares.

    A port without `<dim>` means a scalar or a dynamic rank. If the inferred tensor has dimensions,
    the port counts as a scalar, which contradicts inference; otherwise as a dynamic rank.
    """
    element_type, dims = port.element_type or DYNAMIC_TYPE, port.dims
    if dims is None:
        return Tensor(element_type, DYNAMIC_SHAPE)
    if dims:
        return Tensor(element_type, PartialShape(dims))
    contradicted = inferred is not None and inferred.rank not in (None, 0)
    return Tensor(element_type, SCALAR if contradicted else DYNAMIC_SHAPE)


def declared_outputs(layer: Layer) -> tuple[Tensor, ...]:
    """Returns the tensors that the output ports of a layer declare."""
    return (UNKNOWN,) if layer.is_result else tuple(declared(port) for port in layer.outputs)


def input_tensors(layer: Layer, operands: tuple[Operand, ...]) -> tuple[Tensor, ...]:
    """Returns the tensors that the input ports of a single layer declare, with their values.

    An input without `precision` gets the usual type of its operand: i64 for sizes, axes and
    indices, f32 for scales, or the type of another input that must have the same type. If its
    operand has no usual type, its type is dynamic.
    """
    last = operands[-1] if operands and operands[-1].variadic else None
    matching = [
        operands[index] if index < len(operands) else last for index in range(len(layer.inputs))
    ]
    grouped = {operand.like for operand in operands if operand.like}
    given: dict[str, ElementType] = {}
    tensors = [port_tensor(port) for port in layer.inputs]
    for operand, tensor in zip(matching, tensors, strict=True):
        if operand is not None and tensor.element_type is not DYNAMIC_TYPE:
            given.setdefault(operand.like or operand.name, tensor.element_type)
    for index, (operand, tensor) in enumerate(zip(matching, tensors, strict=True)):
        if (
            operand is None
            or layer.inputs[index].precision is not None
            or not (operand.value or len(operand.allowed) == 1 or operand.allowed <= I32_I64)
        ):
            continue
        allowed = operand.allowed
        if allowed > INTEGER and allowed <= INTEGER | BOOLEAN_TYPE:
            # indices or a mask: the attribute decides
            allowed = BOOLEAN_TYPE if layer.attribute("mode") == "mask" else INTEGER
        alone = operand.like is None and operand.name not in grouped
        usual = _usual_type(allowed, tensor.value if alone else None)
        if usual is not DYNAMIC_TYPE:
            element_type = given.get(operand.like or operand.name, usual)
            tensors[index] = Tensor(element_type, tensor.shape, tensor.value)
    return tuple(tensors)


def with_assumed_types(
    layer: Layer, operands: tuple[Operand, ...], inputs: tuple[Tensor, ...]
) -> tuple[Tensor, ...] | None:
    """Returns the inputs of a single layer, with an assumed type where the type is missing. This is
    the first type that the operation allows among the types of inputs, types of outputs, f32, i64
    and boolean. Returns None if every input has a type."""
    candidates = [tensor.element_type for tensor in inputs]
    candidates += [port.element_type or DYNAMIC_TYPE for port in layer.outputs]
    candidates = [element_type for element_type in candidates if element_type is not DYNAMIC_TYPE]
    candidates += [ElementType.of(name) for name in ("f32", "i64", "boolean")]
    assumed = list(inputs)
    for index, tensor in enumerate(inputs):
        if tensor.element_type is DYNAMIC_TYPE and operands:
            allowed = operands[min(index, len(operands) - 1)].allowed
            fitting = next((usual for usual in candidates if usual in allowed), DYNAMIC_TYPE)
            assumed[index] = Tensor(fitting, tensor.shape, tensor.value)
    return tuple(assumed) if assumed != list(inputs) else None


def port_tensor(port: Port) -> Tensor:
    """Returns the tensor that an input port of a single layer declares, with its value if known.

    A port without dimensions gets the shape of its value. A value with another number of elements
    than the port declares is ignored; a rule reports it.
    """
    shape = DYNAMIC_SHAPE if port.dims is None else PartialShape(port.dims)
    parsed = None if port.value is None else parse_array(port.value)
    element_type = port.element_type or DYNAMIC_TYPE
    if parsed is None:
        return Tensor(element_type, shape)
    sizes, numbers = parsed
    if shape.static is None or prod(shape.static) != len(numbers):
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
