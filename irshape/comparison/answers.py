"""Questions to a device, and the device's answers: the type, shape and value of every output."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..element_types import ElementType

if TYPE_CHECKING:
    from ..model.graph import Model
    from ..numpy_types import Array


class DeviceTensor(Protocol):
    """A tensor that a device has computed. Its bytes are read only when `array` is called."""

    def array(self) -> Array:
        """Returns the values, in the NumPy type of the element type."""
        ...


class StoredTensor(NamedTuple):
    """A tensor whose bytes are the content of a file."""

    element_type: str
    shape: list[int]
    file: Path

    def array(self) -> Array:
        """Returns the values, in the NumPy type of the element type."""
        return from_bytes(self.element_type, self.shape, self.file.read_bytes())


class Answer(NamedTuple):
    """The answer of OpenVINO to a question.

    version: the version of OpenVINO.
    device: the full name of the device.
    refused: OpenVINO's message if it could not read the model.
    crashed: how OpenVINO's process ended, if it ended without an answer.
    shapes: the element type and shape of each output, by layer name.
    values: tensors by layer name and port.
    problem: the reason why the model could not be run.
    precision: the precision that the device reports.
    facts: properties of the device, such as its capabilities.
    """

    version: str
    device: str
    refused: str | None
    crashed: str | None
    shapes: Mapping[str, list[tuple[str, str]]]
    values: Mapping[tuple[str, int], DeviceTensor]
    problem: str | None
    precision: str | None = None
    facts: Mapping[str, Any] = {}

    @classmethod
    def of(
        cls,
        said: Mapping[str, Any],
        values: Mapping[tuple[str, int], DeviceTensor] = MappingProxyType({}),
    ) -> Answer:
        """Returns an answer from the JSON document of a process or a recording."""

        def text(name: str) -> str | None:
            return None if said.get(name) is None else str(said[name])

        return cls(
            version=str(said.get("version", "?")),
            device=str(said.get("device", "?")),
            refused=text("refused"),
            crashed=text("crashed"),
            shapes={
                str(name): [(str(row[0]), str(row[1])) for row in rows]
                for name, rows in said.get("shapes", {}).items()
            },
            values=values,
            problem=text("problem"),
            precision=text("precision"),
            facts=dict(said.get("facts", {})),
        )


class Question(NamedTuple):
    """A model that a device is asked to run.

    label: the layer or body that was cut out of the model; "" for the whole model.
    inputs: arrays by the ids of the Parameters. options: `device`, `hint`, `config` and `layers` of
    `irshape crosscheck`; perhaps extension `libraries`, and `unasked` layers, whose tensors are not
    requested.
    """

    label: str
    model: Model
    inputs: Mapping[str, Array]
    options: Mapping[str, Any]


class Unanswered(ValueError):
    """Raised when a recording has no answer to a question."""


class Device(Protocol):
    """A device of OpenVINO that answers questions, or a recording of its answers."""

    def ask(self, question: Question) -> Answer:
        """Returns the answer to a question.

        Raises `Unanswered` if a recording has none, `RuntimeError` if OpenVINO is not installed.
        """
        ...


def from_bytes(element_type: str, shape: list[int], raw: bytes) -> Array:
    """Returns the array for bytes in OpenVINO's layout. The bytes of a string tensor are a JSON
    list, with the bytes of each string in hexadecimal.

    Raises `ValueError` if the bytes do not fit the element type and the shape.
    """
    import numpy as np

    from ..numpy_types import dtype_of, unpack

    if element_type == "string":
        return np.array(_texts(raw), dtype=object).reshape(shape)
    declared = ElementType.of(element_type)
    if min(shape, default=0) < 0 or math.prod(shape) * declared.bits > len(raw) * 8:
        raise ValueError(f"{len(raw)} bytes are not a tensor of {element_type} {shape}")
    if declared.is_packed:
        count = int(np.prod(shape))
        return unpack(np.frombuffer(raw, np.uint8), declared, count).reshape(shape)
    return np.frombuffer(raw, dtype_of(declared)).reshape(shape)


def _texts(raw: bytes) -> list[bytes]:
    """Returns the strings of a tensor. Raises `ValueError` if `raw` is not a JSON list of
    hexadecimal texts."""
    try:
        return [bytes.fromhex(item) for item in json.loads(raw)]
    except (TypeError, RecursionError):
        raise ValueError("the strings of a tensor are not hexadecimal JSON texts") from None


def to_bytes(array: Array) -> bytes:
    """Returns the bytes of an array, in the form that `from_bytes` reads."""
    from ..numpy_types import element_type_of, pack

    element_type = element_type_of(array)
    if element_type.name != "string":
        return pack(array, element_type)
    texts = [item if isinstance(item, bytes) else str(item).encode() for item in array.ravel()]
    return json.dumps([text.hex() for text in texts]).encode()
