"""Converts ONNX tensors to Const layers.

The bytes are not copied if possible; bytes in other files are memory-mapped.
"""

from __future__ import annotations

import math
import mmap
import os
import stat
import struct
from pathlib import Path
from typing import Any

from ...element_types import DYNAMIC_TYPE, ElementType
from ...faults import Violation
from ...model.weights import FORMATS, string_bytes
from ...ops.tensors import Tensor
from ...rule_ids import (
    CONSTANT_OUT_OF_RANGE,
    CONSTANT_SIZE,
    MALFORMED_DIM,
    MISSING_WEIGHTS,
    UNKNOWN_PRECISION,
    RuleId,
)
from ...shapes import DYNAMIC_SHAPE, PartialShape
from ...spelling import with_noun
from ..builder import Builder, NodeOutput
from .package import TYPES, onnx


def element_type(number: int) -> ElementType:
    """Returns the element type for ONNX's number. Raises `Violation` if OpenVINO lacks it."""
    if number not in TYPES:
        names = onnx().TensorProto.DataType
        name = names.Name(number) if number in names.values() else str(number)
        raise Violation(
            f"OpenVINO has no element type for ONNX's {name}", rule=UNKNOWN_PRECISION, actual=name
        )
    return ElementType.of(TYPES[number])


def declared(type_proto: Any) -> Tensor | None:
    """Returns the tensor that a TypeProto describes; None if it describes something else."""
    if not type_proto.HasField("tensor_type"):
        return None
    tensor_type = type_proto.tensor_type
    kind = (
        ElementType.of(TYPES[tensor_type.elem_type])
        if tensor_type.elem_type in TYPES
        else DYNAMIC_TYPE
    )
    if not tensor_type.HasField("shape"):
        return Tensor(kind, DYNAMIC_SHAPE)
    sizes = [
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else -1
        for dim in tensor_type.shape.dim
    ]
    return Tensor(kind, PartialShape(sizes))


def dimension_names(type_proto: Any) -> tuple[str | None, ...]:
    """Returns the name of each dimension of a tensor (`dim_param`); empty without any name."""
    if not type_proto.HasField("tensor_type") or not type_proto.tensor_type.HasField("shape"):
        return ()
    names = tuple(dim.dim_param or None for dim in type_proto.tensor_type.shape.dim)
    return names if any(names) else ()


_FIELDS = {
    "f32": "float_data",
    "f64": "double_data",
    "i64": "int64_data",
    "u32": "uint64_data",
    "u64": "uint64_data",
}
"""The fields of a TensorProto that contain elements of each type; for other types `int32_data`."""
_CODES = {**FORMATS, "f16": "H", "bf16": "H"}
"""The `struct` format of an element of each type. Fields contain f16 and bf16 as integers."""


def elements_of(tensor: Any, kind: ElementType) -> tuple[int, bytes]:
    """Returns the number of elements of a tensor, and their bytes.

    Imports NumPy for rare types, and for numbers out of range of the type. Raises `Violation`.
    """
    elements = math.prod(tensor.dims)
    if kind.name in _CODES and tensor.data_location != onnx().TensorProto.EXTERNAL:
        if tensor.HasField("raw_data"):
            data = tensor.raw_data
        else:
            numbers = getattr(tensor, _FIELDS.get(kind.name, "int32_data"))
            if kind.kind == "boolean":
                numbers = [1 if number else 0 for number in numbers]
            try:
                data = struct.pack(f"<{len(numbers)}{_CODES[kind.name]}", *numbers)
            except struct.error:
                data = b""
        if len(data) == kind.byte_size(elements):
            return elements, data
    from ...numpy_types import pack

    try:
        array = onnx().numpy_helper.to_array(tensor)
    except ValueError as problem:
        raise Violation(
            f"the tensor does not have the {with_noun(elements, 'element')} of its dimensions "
            f"{list(tensor.dims)}: {problem}",
            rule=CONSTANT_SIZE,
            expected=elements,
        ) from None
    return array.size, pack(array, kind)


def _miscounted(name: str, stored: int, unit: str, taking: str, needed: int) -> Violation:
    """Returns the error for a tensor with more or fewer elements or bytes than its shape has."""
    message = f"the tensor '{name}' has {with_noun(stored, unit)}; {taking} needs {needed}"
    return Violation(message, rule=CONSTANT_SIZE, expected=needed, actual=stored)


def _unopened(location: str, why: str) -> Violation:
    """Returns the error for an external data file that irshape cannot open, or refuses to open."""
    return Violation(f"the data is in '{location}', {why}", rule=MISSING_WEIGHTS)


class Tensors:
    """Converts tensors. `folder`: the folder for external data files; None to open no files."""

    def __init__(self, builder: Builder, folder: Path | None) -> None:
        self.builder = builder
        self.folder = folder
        self._mapped: dict[str, mmap.mmap | bytes] = {}

    def constant(self, tensor: Any, name: str) -> NodeOutput:
        """Returns the output of a Const layer for a TensorProto. Raises `Violation`."""
        kind = element_type(tensor.data_type)
        shape = tuple(tensor.dims)
        if any(size < 0 for size in shape):
            raise Violation(
                f"the tensor '{name}' has negative dimensions: {list(shape)}",
                rule=MALFORMED_DIM,
                expected="sizes of 0 or more",
                actual=list(shape),
            )
        elements = math.prod(shape)
        if kind.name == "string":
            return self.strings(tensor.string_data, shape, elements, name)
        needed = kind.byte_size(elements)
        if tensor.data_location == onnx().TensorProto.EXTERNAL:
            return self.external(tensor, kind, shape, needed, name)
        data = (
            tensor.raw_data
            if tensor.HasField("raw_data")
            else self.listed(tensor, kind, elements, name)
        )
        if len(data) != needed:
            raise _miscounted(name, len(data), "byte", f"{kind} {PartialShape(shape)}", needed)
        return self.builder.constant(kind, shape, data, name=name)

    def listed(self, tensor: Any, kind: ElementType, elements: int, name: str) -> bytes:
        """Returns the bytes of a tensor whose elements are in a numeric field of its message."""
        field = _FIELDS.get(kind.name, "int32_data")
        stored = len(getattr(tensor, field))
        per = {4: 2, 2: 4}.get(kind.bits, 1)
        if stored != -(-elements // per):
            raise _miscounted(name, stored, "number", "its shape", elements)
        return elements_of(tensor, kind)[1]

    def strings(self, texts: Any, shape: tuple[int, ...], elements: int, name: str) -> NodeOutput:
        """Returns a constant of strings, with the bytes in which a .bin encodes strings."""
        if len(texts) != elements:
            raise _miscounted(name, len(texts), "text", "its shape", elements)
        return self.builder.constant(
            ElementType.of("string"), shape, string_bytes(texts), name=name
        )

    def external(
        self, tensor: Any, kind: ElementType, shape: tuple[int, ...], needed: int, name: str
    ) -> NodeOutput:
        """Returns a constant whose bytes are in another file in the folder of the model.

        If the file cannot be used, adds a finding, and returns a constant without a value.
        """
        entries = {entry.key: entry.value for entry in tensor.external_data}
        try:
            start, length = int(entries.get("offset", 0)), int(entries.get("length", needed))
            view = self.file(entries.get("location", ""))
            if length != needed or start < 0 or start + needed > len(view):
                raise Violation(
                    f"the tensor '{name}' needs {with_noun(needed, 'byte')} at byte {start} of "
                    f"'{entries.get('location')}', which has {with_noun(len(view), 'byte')}",
                    rule=CONSTANT_OUT_OF_RANGE,
                    expected=f"at most {len(view)}",
                    actual=start + needed,
                )
            place = self.builder.bytes.add(view[start : start + needed])
        except ValueError:
            place = self.missing(
                f"the tensor '{name}' has a malformed external location: {entries}",
                CONSTANT_OUT_OF_RANGE,
                needed,
            )
        except Violation as refusal:
            place = self.missing(refusal.fault.message, refusal.fault.rule, needed)
        return self.builder.constant_at(kind, shape, place, needed, name=name)

    def missing(self, message: str, rule: RuleId, size: int) -> int:
        cut = "the file is cut off, or belongs to another model"
        absent = "put the file with the data into the folder of the model"
        self.builder.report(rule, message, help=absent if rule is MISSING_WEIGHTS else cut)
        return self.builder.bytes.miss(size)

    def file(self, location: str) -> memoryview:
        """Returns the bytes of a file in the folder of the model. Raises `Violation`.

        Opens only regular files inside the folder.
        """
        if (
            self.folder is None
            or not location
            or os.path.isabs(location)
            or "\0" in location
            or ".." in Path(location.replace("\\", "/")).parts
        ):
            why = "which is not in the folder of the model; irshape does not open it"
            raise _unopened(location, why)
        path = self.folder / location
        data = self._mapped.get(location)
        if data is None:
            folder = os.path.realpath(self.folder)
            if os.path.commonpath([folder, os.path.realpath(path)]) != folder:
                why = "a link to a file outside the folder of the model; irshape does not open it"
                raise _unopened(location, why)
            try:
                with open(path, "rb") as file:
                    status = os.fstat(file.fileno())
                    if not stat.S_ISREG(status.st_mode):
                        raise _unopened(location, "which is not a regular file")
                    data = (
                        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                        if status.st_size
                        else b""
                    )
            except OSError as problem:
                why = f"which cannot be opened: {problem.strerror}"
                raise _unopened(location, why) from None
            self._mapped[location] = data
        return memoryview(data)
