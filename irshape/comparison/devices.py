"""Runs a device of OpenVINO for a cross-check, in a separate process."""

from __future__ import annotations

import tempfile
from itertools import count
from mmap import mmap
from pathlib import Path
from typing import Any

from ..formats.ir.edits import Edit, with_edits
from ..formats.ir.writer import write
from ..inference.engine import infer
from ..model.graph import Model
from ..numpy_types import element_type_of
from . import runtime
from .answers import Answer, Question, to_bytes


class OpenVinoDevice:
    """Asks OpenVINO, and keeps the values of its answers in a temporary folder until the `with`
    block ends."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="irshape-")
        self._numbers = count()

    def __enter__(self) -> OpenVinoDevice:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def ask(self, question: Question) -> Answer:
        """Runs a model. Raises `RuntimeError` if OpenVINO is not installed."""
        folder = Path(self._folder.name) / str(next(self._numbers))
        folder.mkdir()
        model = question.model
        inputs: dict[str, Any] = {}
        for number, parameter in enumerate(model.parameters):
            array = question.inputs[parameter.id]
            file = f"input{number}.bin"
            (folder / file).write_bytes(to_bytes(array))
            inputs[parameter.id] = (element_type_of(array).name, list(array.shape), file)
        (folder / "model.xml").write_bytes(renamed(model))
        request = {
            **question.options,
            "xml": str(folder / "model.xml"),
            "bin": weights_file(model, folder),
            "inputs": inputs,
        }
        return runtime.ask(folder, request)

    def compiles(self, model: Model, device: str) -> str:
        """Compiles a model on a device. Returns `compiles` or, if that fails, the reason.

        Raises `RuntimeError` if OpenVINO is not installed.
        """
        folder = Path(self._folder.name) / str(next(self._numbers))
        folder.mkdir()
        (folder / "model.xml").write_bytes(model.source.data)
        xml, weights = str(folder / "model.xml"), weights_file(model, folder)
        request: dict[str, Any] = {"xml": xml, "bin": weights, "inputs": {}, "compiles": True}
        answer = runtime.ask(folder, request | {"device": device})
        refused = answer.refused and f"refuses it: {answer.refused}"
        return answer.crashed or refused or answer.problem or "compiles"


def weights_file(model: Model, folder: Path) -> str | None:
    """Returns the path of the .bin of a model; None if it has none.

    If the model was assembled in memory or comes from a URL, its constants are written to a file in
    `folder`, at the offsets that the model states.
    """
    weights = model.weights
    if weights is None or weights.state != "ready" or weights.data is None:
        return None
    if weights.path is not None and isinstance(weights.data, mmap):  # not of a URL
        return str(Path(weights.path).resolve())
    path = folder / "model.bin"
    with path.open("wb") as file:
        for layer in model.walk():
            if not layer.is_constant:
                continue
            try:
                constant = model.constant(layer)
            except ValueError:  # no bytes that the device could read either
                continue
            if weights.holds(constant.offset, constant.size):
                file.seek(constant.offset)
                file.write(weights.data[constant.offset : constant.offset + constant.size])
    return str(path)


def renamed(model: Model) -> bytes:
    """Returns the .xml of the model with unique layer names: the path of ids, such as `12/body/3`.
    OpenVINO finds nodes by name, and a file may repeat names. The IR version becomes 11, because
    OpenVINO rewrites the graph of an IR of version 10 when it reads the file."""
    source = model.source
    edits: list[Edit] = []
    for layer in model.walk():
        spans = {name: (start, end) for name, _, start, end in source.attributes(layer.offset)}
        if "name" in spans:
            name = "/".join([*layer.path, layer.id])
            edits.append(Edit(*spans["name"], name.encode()))
    for name, _, start, end in source.attributes(source.data.find(b"<net")):
        if name == "version":
            edits.append(Edit(start, end, b"11"))
    return with_edits(source.data, edits)


def written(model: Model, folder: Path) -> Model:
    """Writes a model that was assembled in memory to a file, and loads it from there.

    Raises `ValueError`, `OSError`.
    """
    from ..formats.loading import load

    write(model, folder / "model.xml", infer(model))
    return load(folder / "model.xml")
