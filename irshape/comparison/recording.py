"""Records the answers of a device in one file, so that a cross-check can be repeated anywhere.

The file is a zip archive that NumPy opens like any .npz. It contains `recording.json` and an .npy
for each distinct tensor. `recording.json` lists every question to the device: the whole model
first, then parts of it, fewer outputs, single layers and bodies. Each entry has the fingerprint of
its model, its inputs, and the answer: types, shapes, values, the device's name, its capabilities
and the precision that it reports. Nothing in the file is code: pickle is neither written nor read.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..element_types import ElementType
from ..execution.inputs import UNREADABLE
from ..execution.memory import default_max_memory, too_much
from ..formats.atomic import write_atomically
from ..model.graph import Body, Model
from ..model.weights import Constant, raw_bytes
from ..numbers.tolerance import difference
from ..numpy_types import PLAIN, Array, element_type_of
from ..version import __version__
from .answers import Answer, Device, DeviceTensor, Question, Unanswered, from_bytes, to_bytes

VERSION = 1
MAX_INDEX = 1 << 28
"""The largest size of `recording.json`, in bytes."""
MAX_MEMBERS = 1 << 20
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    ValueError,
)
"""What `zipfile`, and code that reads the index, raises for a file that is no recording."""
_INDEX = "recording.json"
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def fingerprint(model: Model) -> str:
    """Returns a digest of what a model computes: its layers, edges, bodies and constants.

    It depends neither on where constants lie in the .bin nor on what the ports declare.
    """
    digest = hashlib.sha256()

    def add(*parts: str | bytes) -> None:
        for part in parts:
            raw = part if isinstance(part, bytes) else part.encode()
            digest.update(struct.pack("<Q", len(raw)))
            digest.update(raw)

    def add_body(body: Body) -> None:
        for layer in body.layers:
            add("layer", layer.id, layer.type, layer.version)
            for name, value in layer.attributes.items():
                if not layer.is_constant or name not in ("offset", "size"):
                    add(name, value)
            if layer.is_constant:
                add(_constant_bytes(model, layer.items))
            for tag, entries in (layer.port_maps or {}).items():
                for entry in entries:
                    add(tag, entry.direction, repr(sorted(entry.attributes.items())))
            for tag, inner in (layer.bodies or {}).items():
                add(tag)
                add_body(inner)
        for edge in body.edges:
            add("edge", edge.from_layer, edge.from_port, edge.to_layer, edge.to_port)
        for back in body.back_edges:
            add("back edge", back.from_layer, back.to_layer)

    add_body(model.net)
    return digest.hexdigest()


def _constant_bytes(model: Model, items: tuple[str, ...]) -> bytes:
    try:
        return raw_bytes(Constant.of(items, model.weights)) or b""
    except ValueError:
        return b""


class Recorder:
    """Passes questions on to a device, and records them with the device's answers."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        self._archive = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED)
        self._members: dict[str, str] = {}
        self._entries: list[dict[str, Any]] = []

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()
        self._file.close()

    def ask(self, question: Question) -> Answer:
        """Returns the device's answer. Raises the errors of the device."""
        answer = self.device.ask(question)
        values = [
            {"layer": name, "port": port, **self._tensor(tensor.array())}
            for (name, port), tensor in answer.values.items()
        ]
        self._entries.append(
            {
                "label": question.label,
                "model": fingerprint(question.model),
                "inputs": {key: self._tensor(array) for key, array in question.inputs.items()},
                "options": dict(question.options),
                "answer": {
                    "openvino": answer.version,
                    "device": answer.device,
                    "refused": answer.refused,
                    "crashed": answer.crashed,
                    "problem": answer.problem,
                    "precision": answer.precision,
                    "facts": dict(answer.facts),
                    "shapes": answer.shapes,
                    "values": values,
                },
            }
        )
        return answer

    def _tensor(self, array: Array) -> dict[str, Any]:
        element_type = element_type_of(array).name
        raw = to_bytes(array)
        key = hashlib.sha256(f"{element_type}{array.shape}".encode() + raw).hexdigest()
        member = self._members.get(key)
        if member is None:
            member = self._members[key] = f"tensor{len(self._members)}"
            plain = element_type_of(array) in PLAIN
            kept = array if plain else np.frombuffer(raw, np.uint8)
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(kept, order="C"), allow_pickle=False)
            self._add(f"{member}.npy", buffer.getvalue())
        return {"element_type": element_type, "shape": list(array.shape), "tensor": member}

    def _add(self, name: str, data: bytes) -> None:
        entry = zipfile.ZipInfo(name, _FIXED_TIME)
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._archive.writestr(entry, data)

    def save(self, path: str | Path) -> None:
        """Writes the recording completely or not at all. Raises `OSError`."""
        index = {"recording": VERSION, "irshape": __version__, "questions": self._entries}
        self._add(_INDEX, json.dumps(index, indent=1).encode())
        self._archive.close()
        self._file.seek(0)
        write_atomically(Path(path), iter(partial(self._file.read, 1 << 20), b""))


class RecordedTensor:
    """A tensor in a recording, which is read when `array` is called."""

    def __init__(self, recording: Recording, entry: Mapping[str, Any]) -> None:
        self._recording = recording
        self._member = str(entry["tensor"])
        self.element_type = str(entry["element_type"])
        self.shape = [int(size) for size in entry["shape"]]
        if any(not 0 <= size < 1 << 63 for size in self.shape):
            raise ValueError(f"{self.shape} is not a shape")
        ElementType.of(self.element_type)

    def array(self) -> Array:
        """Returns the values. Raises `ValueError` if the recorded bytes do not fit the shape."""
        raw = self._recording.member(self._member).tobytes()
        try:
            return from_bytes(self.element_type, self.shape, raw)
        except ValueError as problem:
            raise ValueError(f"'{self._recording.path}': {self._member}: {problem}") from None


class Recording:
    """Reads a recording and answers questions in place of the device.

    max_memory: the limit in bytes for all tensors of the recording together.
    Raises `OSError`, and `ValueError` if the file is not a recording.
    """

    def __init__(self, path: str | Path, max_memory: int | None = None) -> None:
        self.path = str(path)
        self.unanswered: list[str] = []
        """The labels of the questions that were asked but are not in the recording."""
        limit = default_max_memory() if max_memory is None else max_memory
        try:
            with ExitStack() as opened:
                self._archive = opened.enter_context(zipfile.ZipFile(path))
                self._read(limit)
                opened.pop_all()  # it stays open for the tensors
        except BROKEN as problem:
            kind = "" if type(problem) is ValueError else f"{type(problem).__name__}: "
            raise ValueError(
                f"'{path}' is not a recording that irshape reads: {kind}{problem}"
            ) from None

    def _read(self, limit: int) -> None:
        members = self._archive.infolist()
        total = sum(member.file_size for member in members)
        if sum(member.compress_size for member in members) > os.path.getsize(self.path):
            # zipfile would ask for memory for all of it
            raise ValueError("a file in the archive is cut off")
        if (
            len(members) > MAX_MEMBERS
            or total > limit
            or self._archive.getinfo(_INDEX).file_size > MAX_INDEX
        ):
            raise ValueError(f"it would take {too_much(total, limit)}")
        index = json.loads(self._archive.read(_INDEX))
        if index["recording"] != VERSION:
            raise ValueError(f"its version is {index['recording']!r} instead of {VERSION}")
        self._questions = [_Recorded(self, entry) for entry in index["questions"]]
        if not self._questions:
            raise ValueError("it contains no answers of a device")

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def inputs(self) -> dict[str, Array]:
        """The inputs of the whole model by the ids of its Parameters."""
        return {key: tensor.array() for key, tensor in self._questions[0].inputs.items()}

    @property
    def options(self) -> dict[str, Any]:
        """The options with which the whole model was run: device, hint, config, layers."""
        return self._questions[0].options

    def is_of(self, model: Model) -> bool:
        """Returns whether a model has the same layers and constants as the recorded model."""
        return self._questions[0].model == fingerprint(model)

    def ask(self, question: Question) -> Answer:
        """Returns the recorded answer to this question, or to one that requests more tensors.
        Raises `Unanswered` if neither was recorded."""
        if not question.label:
            return self._questions[0].answer
        for recorded in self._questions[1:]:
            if recorded.label == question.label and recorded.fits(question):
                return recorded.answer
        fewer = self._fewer(question)
        if fewer is not None:
            return fewer.answer
        self.unanswered.append(question.label)
        raise Unanswered(f"the recording has no answer for {question.label}")

    def _fewer(self, question: Question) -> _Recorded | None:
        """Returns the recorded question about the whole model that requests all tensors of
        `question`, and as few other tensors as possible. The caller ensures that `question` is
        about this model."""
        unasked = {str(name) for name in question.options.get("unasked", ())}
        whole = self._questions[0].model
        answered = [
            recorded
            for recorded in self._questions[1:]
            if recorded.unasked and recorded.unasked <= unasked and recorded.model == whole
        ]
        return max(answered, key=lambda recorded: len(recorded.unasked), default=None)

    def member(self, name: str) -> Array:
        """Reads a tensor from the archive. Raises `ValueError`."""
        try:
            raw = self._archive.read(f"{name}.npy")
            return np.lib.format.read_array(io.BytesIO(raw), allow_pickle=False)
        except (KeyError, RuntimeError, NotImplementedError, zlib.error, *UNREADABLE) as problem:
            raise ValueError(f"'{self.path}': {name}: {problem}") from None


class _Recorded:
    """A question of a recording, and its answer."""

    def __init__(self, recording: Recording, entry: Mapping[str, Any]) -> None:
        self.label = str(entry["label"])
        self.model = str(entry["model"])
        self.inputs = {
            str(key): RecordedTensor(recording, tensor) for key, tensor in entry["inputs"].items()
        }
        options = entry["options"]
        self.options: dict[str, Any] = {
            "device": str(options["device"]),
            "hint": options["hint"] if options["hint"] in ("f32", "f16", "bf16") else None,
            "config": {str(key): str(value) for key, value in options["config"].items()},
            "layers": "outputs" if options["layers"] == "outputs" else "all",
        }
        self.unasked = {str(name) for name in options.get("unasked", ())}
        answer = entry["answer"]
        values: dict[tuple[str, int], DeviceTensor] = {
            (str(tensor["layer"]), int(tensor["port"])): RecordedTensor(recording, tensor)
            for tensor in answer["values"]
        }
        self.answer = Answer.of({**answer, "version": answer["openvino"]}, values)

    def fits(self, question: Question) -> bool:
        """Returns whether the recorded question was about the same model with the same inputs.

        Inputs that irshape computed may differ slightly, since processors round differently.
        """
        if self.inputs.keys() != question.inputs.keys():
            return False
        pairs = ((tensor.array(), question.inputs[key]) for key, tensor in self.inputs.items())
        return self.model == fingerprint(question.model) and all(
            array.dtype == given.dtype
            and array.shape == given.shape
            and difference(array, given)[2]
            for array, given in pairs
        )
