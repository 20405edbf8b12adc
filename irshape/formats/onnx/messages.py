"""Reads ONNX's protobuf messages: names, attributes, functions, and a listing of the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from ..builder import NodeOutput
from ..ir.quoting import in_quotes
from .package import TYPES, onnx

_SHOWN = 80
"""The maximum number of characters of a text in the listing."""


def names(proto: Any) -> Iterator[str | bytes]:
    """Yields every name in a message, as bytes if it is not UTF-8."""
    for field, value in proto.ListFields():
        if field.name in _REMARKS:
            continue
        if field.type == field.TYPE_STRING:
            yield from [value] if isinstance(value, (str, bytes)) else value
        elif field.type == field.TYPE_MESSAGE:
            for message in [value] if hasattr(value, "ListFields") else value:
                yield from names(message)


_REMARKS = ("doc_string", "metadata_props", "producer_name", "producer_version")
"""The fields of messages that contain text, but no name."""


def listed(graph: Any) -> tuple[bytes, list[int]]:
    """Returns a listing of an ONNX graph and the offsets of the lines. Each line is an XML tag,
    first of the nodes, then of the inputs. Findings have the lines of the listing."""
    lines = [_line_of(node) for node in graph.node]
    lines += [_line("input", [("name", info.name)]) for info in graph.input]
    return b"".join(lines), [0, *accumulate(map(len, lines))]


def _line_of(node: Any) -> bytes:
    pairs = [
        ("name", node.name),
        ("domain", node.domain),
        ("inputs", ", ".join(node.input)),
        ("outputs", ", ".join(node.output)),
    ]
    pairs += [(attribute.name, shown(attribute)) for attribute in node.attribute]
    return _line(node.op_type, pairs)


def _line(tag: str, pairs: list[tuple[str, str]]) -> bytes:
    parts = [f"<{tag}", *(f"{name}={in_quotes(value)}" for name, value in pairs if value)]
    text = " ".join(parts) + "/>"
    return text.replace("\n", " ").replace("\r", " ").encode("utf-8", "replace") + b"\n"


def shown(attribute: Any) -> str:
    """Returns the value of an attribute as text for the listing of the model."""
    kinds = onnx().AttributeProto
    if attribute.ref_attr_name:
        return f"@{attribute.ref_attr_name}"
    if attribute.type in (kinds.INT, kinds.FLOAT):
        return str(attribute.i if attribute.type == kinds.INT else attribute.f)
    if attribute.type == kinds.STRING:
        return str(attribute.s[:_SHOWN].decode("utf-8", "replace"))
    if attribute.type in (kinds.INTS, kinds.FLOATS):
        numbers = attribute.ints if attribute.type == kinds.INTS else attribute.floats
        return ", ".join(map(str, numbers[:16])) + (", …" if len(numbers) > 16 else "")
    return (
        kinds.AttributeType.Name(attribute.type).lower()
        if attribute.type in kinds.AttributeType.values()
        else "?"
    )


def without_inputs(node: Any, names: list[str]) -> Any:
    """Returns a node of a function without the inputs `names`, which the call leaves out."""
    if not any(name in names for name in node.input):
        return node
    copy = type(node)()
    copy.CopyFrom(node)
    del copy.input[:]
    copy.input.extend("" if name in names else name for name in node.input)
    return copy


def with_attributes(node: Any, attributes: dict[str, Any]) -> Any:
    """Returns a copy of a node with these attributes instead of its own."""
    copy = type(node)()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for name, attribute in attributes.items():
        copy.attribute.add().CopyFrom(attribute)
        copy.attribute[-1].name = name
    return copy


def with_defaults(operator: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the attributes as protobuf messages, with the schema's defaults for missing ones."""
    defaults = {
        name: declared.default_value
        for name, declared in operator.attributes.items()
        if declared.default_value.type and name not in given
    }
    return {**defaults, **given}


_FIELDS = {"FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "TYPE_PROTO": "tp"}
"""Maps the types of attributes to the fields of AttributeProto that contain the values. For any
other type, such as FLOATS, the field is the name of the type in lower case."""


def python_value(attribute: Any) -> Any:
    """Returns the value of an attribute: a number, a text, a list, or a protobuf message."""
    if attribute.ref_attr_name:
        raise ValueError(f"Cannot get value of reference attribute: {attribute}")
    kind = onnx().AttributeProto.AttributeType.Name(attribute.type)
    value: Any = getattr(attribute, _FIELDS.get(kind, kind.lower()), None)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)) or type(value).__name__.startswith("Repeated"):
        return [
            item.decode("utf-8", "replace") if isinstance(item, bytes) else item for item in value
        ]
    return value


def function_body(operator: Any, proto: Any, inputs: list[NodeOutput | None]) -> Any | None:
    """Returns the ONNX function that defines an operator by others; None if there is none."""
    package = onnx()
    if operator.has_function:
        return operator.function_body
    if operator.has_context_dependent_function:
        types = [
            _type_proto(value).SerializeToString() if value is not None else b"" for value in inputs
        ]
        try:
            text = operator.get_context_dependent_function(proto.SerializeToString(), types)
        except (ValueError, RuntimeError):  # its inputs are of no kind for which there is one
            return None
        body = package.FunctionProto()
        body.ParseFromString(text)
        return body if body.node else None
    return None


def _type_proto(value: NodeOutput) -> Any:
    package = onnx()
    numbers = {name: number for number, name in TYPES.items()}
    shape = value.shape
    sizes = (
        None if shape.dims is None else [dim.low if dim.is_static else None for dim in shape.dims]
    )
    proto = package.TypeProto()
    proto.tensor_type.elem_type = numbers.get(value.element_type.name, 0)
    if sizes is not None:
        proto.tensor_type.shape.SetInParent()  # also a shape of no dimensions is one
        for size in sizes:
            dim = proto.tensor_type.shape.dim.add()
            if size is not None:
                dim.dim_value = size
    return proto


def kind_in_words(type_proto: Any) -> str:
    """Describes an ONNX type that OpenVINO does not have, for a message, e.g. as `sequence`."""
    kind = type_proto.WhichOneof("value")
    if kind != "tensor_type":
        return str(kind or "value of no type").replace("_type", "")
    number, names = type_proto.tensor_type.elem_type, onnx().TensorProto.DataType
    return f"tensor of {names.Name(number) if number in names.values() else number}"
