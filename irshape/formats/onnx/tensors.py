"""Converts ONNX tensors to constants.

Their bytes are used directly if possible; bytes in other files are mapped.
"""

from __future__ import annotations

import math
import mmap
import os
import stat
import struct
from itertools import accumulate
from pathlib import Path
from typing import Any

from ...element_types import DYNAMIC_TYPE, ElementType
from ...faults import Violation
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
from ..builder import Builder, NodeOutput
from .package import TYPES, onnx


def element_type(number: int) -> ElementType:
    """Returns the element type with ONNX's number. Raises `Violation` if OpenVINO lacks it."""
    if number not in TYPES:
        names = onnx().TensorProto.DataType
        name = names.Name(number) if number in names.values() else str(number)
        raise Violation(
            f"OpenVINO has no element type for ONNX's {name}", rule=UNKNOWN_PRECISION, actual=name
        )
    return ElementType.of(TYPES[number])


def declared(type_proto: Any) -> Tensor | None:
    """Returns the tensor that a TypeProto describes; None if it describes none."""
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
    """Returns the names of a tensor's dimensions (`dim_param`); empty if none has a name."""
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
"""The field with the elements of a type; `int32_data` for all other types."""
_CODES = {
    "f32": "f",
    "f64": "d",
    "i64": "q",
    "u64": "Q",
    "u32": "I",
    "i32": "i",
    "i16": "h",
    "u16": "H",
    "f16": "H",  # by their bits
    "bf16": "H",
    "i8": "b",
    "u8": "B",
    "boolean": "B",
}
"""The formats with which the numbers in this field are packed into the bytes of elements."""


def elements_of(tensor: Any, kind: ElementType) -> tuple[int, bytes]:
    """Returns how many elements a tensor in the model has, and their bytes.

    NumPy is imported for rare types, and for numbers outside the range of the type. Raises
    `Violation`.
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
            f"the tensor does not hold the {elements} elements of its dimensions "
            f"{list(tensor.dims)}: {problem}",
            rule=CONSTANT_SIZE,
            expected=elements,
        ) from None
    return array.size, pack(array, kind)


def _miscounted(name: str, stored: int, unit: str, taking: str, needed: int) -> Violation:
    """Returns the error for a tensor that does not hold what its type and shape take."""
    message = f"the tensor '{name}' holds {stored} {unit}; {taking} takes {needed}"
    return Violation(message, rule=CONSTANT_SIZE, expected=needed, actual=stored)


def _unopened(location: str, why: str) -> Violation:
    """Returns the error for a file with data that irshape cannot or does not open."""
    return Violation(f"the data lies in '{location}', {why}", rule=MISSING_WEIGHTS)


class Tensors:
    """Makes constants. `folder`: where files with data may be; None if nowhere."""

    def __init__(self, builder: Builder, folder: Path | None) -> None:
        self.builder = builder
        self.folder = folder
        self._mapped: dict[str, mmap.mmap | bytes] = {}

    def constant(self, tensor: Any, name: str) -> NodeOutput:
        """Adds a Const layer for a TensorProto. Raises `Violation`."""
        kind = element_type(tensor.data_type)
        shape = tuple(tensor.dims)
        if any(size < 0 for size in shape):
            raise Violation(
                f"the tensor '{name}' has the dimensions {list(shape)}",
                rule=MALFORMED_DIM,
                expected="sizes from 0 up",
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
            raise _miscounted(name, len(data), "bytes", f"{kind} {PartialShape(shape)}", needed)
        return self.builder.constant(kind, shape, data, name=name)

    def listed(self, tensor: Any, kind: ElementType, elements: int, name: str) -> bytes:
        """Returns the bytes of a tensor whose elements are in a field of numbers."""
        field = _FIELDS.get(kind.name, "int32_data")
        stored = len(getattr(tensor, field))
        per = {4: 2, 2: 4}.get(kind.bits, 1)
        if stored != -(-elements // per):
            raise _miscounted(name, stored, "numbers", "its shape", elements)
        return elements_of(tensor, kind)[1]

    def strings(self, texts: Any, shape: tuple[int, ...], elements: int, name: str) -> NodeOutput:
        """Returns a constant of texts, in the layout of a .bin."""
        if len(texts) != elements:
            raise _miscounted(name, len(texts), "texts", "its shape", elements)
        offsets = [0, *accumulate(map(len, texts))]
        data = struct.pack(f"<i{len(offsets)}i", len(texts), *offsets) + b"".join(texts)
        return self.builder.constant(ElementType.of("string"), shape, data, name=name)

    def external(
        self, tensor: Any, kind: ElementType, shape: tuple[int, ...], needed: int, name: str
    ) -> NodeOutput:
        """Returns a constant in another file of the model's folder.

        If the file cannot be used, adds a finding and returns an unknown value.
        """
        entries = {entry.key: entry.value for entry in tensor.external_data}
        try:
            start, length = int(entries.get("offset", 0)), int(entries.get("length", needed))
            view = self.file(entries.get("location", ""))
            if length != needed or start < 0 or start + needed > len(view):
                raise Violation(
                    f"the tensor '{name}' takes {needed} bytes at byte {start} of "
                    f"'{entries.get('location')}', which has {len(view)} bytes",
                    rule=CONSTANT_OUT_OF_RANGE,
                    expected=f"at most {len(view)}",
                    actual=start + needed,
                )
            place = self.builder.bytes.add(view[start : start + needed])
        except ValueError:
            place = self.missing(
                f"the tensor '{name}' has no readable location: {entries}",
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
        """Returns the bytes of a file in the model's folder. Raises `Violation`.

        It opens only regular files inside the folder.
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
                why = "a link out of the folder of the model; irshape does not open it"
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
