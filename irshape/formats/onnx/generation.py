"""Converts operators that create tensors: constants, ranges, shapes and sizes."""

from __future__ import annotations

from typing import Any

from ...element_types import ElementType
from ...faults import Violation
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_ELEMENT_TYPE, MISSING_ATTRIBUTE
from ..builder import shape_and_bytes
from ..nodes import END, unknown
from .declaration import Node, Outputs, operator
from .tensors import Tensors, element_type, elements_of


@operator("Constant")
def constant(node: Node) -> Outputs:
    """Converts Constant. The node must have exactly one attribute, the value."""
    given = [(name, value) for name, value in node.attributes.items() if value is not None]
    if len(given) != 1:
        names = ", ".join(name for name, _ in given) or "none"
        raise Violation(
            f"Constant takes exactly one attribute, got {names}",
            rule=MISSING_ATTRIBUTE if not given else ATTRIBUTE_VALUE,
            actual=names,
        )
    name, value = given[0]
    name_of_layer = node.builder.name
    if name == "value":
        return Tensors(node.builder, None).constant(value, name_of_layer)
    if name.startswith("value_string"):
        texts = [text.encode() for text in ([value] if isinstance(value, str) else value)]
        return Tensors(node.builder, None).strings(
            texts, () if isinstance(value, str) else (len(texts),), len(texts), name_of_layer
        )
    kinds = {"value_float": "f32", "value_floats": "f32", "value_int": "i64", "value_ints": "i64"}
    if name not in kinds:
        raise Violation("OpenVINO does not support sparse constants", at=name)
    kind = ElementType.of(kinds[name])  # not shared with equal constants
    return node.builder.constant(kind, *shape_and_bytes(value, kind), name=name_of_layer)


@operator("ConstantOfShape")
def constant_of_shape(node: Node) -> Outputs:
    given = node["value"]
    if given is None:
        value: Any = node.numbers(0, "f32")
    else:
        kind = element_type(given.data_type)
        elements, data = elements_of(given, kind)
        if elements != 1:
            raise Violation(
                at="value", relation="count", expected=1, actual=elements, rule=ATTRIBUTE_VALUE
            )
        value = node.builder.constant(kind, (), data)
    return node.broadcast(value, node.x)


@operator("Shape")
def shape(node: Node) -> Outputs:
    """Converts Shape: from version 15 on, only the sizes of the axes from `start` to `end`."""
    sizes = node.shape_of(node.x)
    start, end = node["start"] or 0, node["end"]
    if not start and end is None:
        return sizes
    stop = END if end is None else end
    rank = node.x.rank
    if rank is not None:
        start, stop = (
            min(max(number + rank if number < 0 else number, 0), rank) for number in (start, stop)
        )
    return node.sliced(sizes, start, stop)


@operator("Size")
def size(node: Node) -> Outputs:
    return node.add("ReduceProd", node.shape_of(node.x), node.numbers([0]), keep_dims=False)


@operator("Range")
def range_(node: Node) -> Outputs:
    start, stop, step = (node.scalar(node.need(index)) for index in range(3))
    kind = start.element_type
    if kind.is_dynamic:
        raise unknown("Range", "the element type of its inputs is", INPUT_ELEMENT_TYPE)
    return node.add("Range", start, stop, step, version="opset4", output_type=kind)


@operator("EyeLike")
def eye_like(node: Node) -> Outputs:
    x = node.of_rank(2)
    kind = x.element_type if node["dtype"] is None else element_type(node["dtype"])
    rows, columns = (node.size_of(x, axis) for axis in (0, 1))
    return node.add("Eye", rows, columns, node.numbers(node["k"]), output_type=kind)


@operator("RandomUniform", "RandomUniformLike")
def random_uniform(node: Node) -> Outputs:
    like = node.kind.endswith("Like")
    kind = (
        element_type(node["dtype"])
        if node["dtype"]
        else node.x.element_type
        if like
        else ElementType.of("f32")
    )
    sizes = node.shape_of(node.x) if like else node.numbers(node["shape"])
    return node.add(
        "RandomUniform",
        sizes,
        node.numbers(node["low"], kind.name),
        node.numbers(node["high"], kind.name),
        output_type=kind,
    )
