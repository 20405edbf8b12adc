"""Asks the real OpenVINO, in a process of its own: it can crash, and a crash is an answer too.

    with Oracle() as oracle:
        answer = oracle.ask(xml, weights, {"in0": array})
        answer.status                     # "accepted", "refused" or "crashed"
        answer.layers["op"]               # [("f32", "[1..8,?,3]")], by friendly name; inside a
                                          # body "op/body/name", "op/then_body/name"
        answer.execution.results["result0"].array

The worker runs in the interpreter that `OPENVINO_PYTHON` names, by default in this one. That of a
virtual environment with another release of OpenVINO (`environments.py` makes them) answers for that
release; it needs NumPy and nothing else.

Nothing here knows irshape.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np

if __package__:
    from .elements import PLAIN, Array, Tensor
else:  # the worker, run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from differential.elements import PLAIN, Array, Tensor

TIMEOUT = 30.0


@dataclass(frozen=True)
class Execution:
    """The outcome of a run: results by the Result's friendly name, in the order of the outputs."""

    status: Literal["done", "failed", "crashed"]
    engine: Literal["CPU", "evaluate", ""] = ""
    results: dict[str, Tensor] = field(default_factory=dict)
    message: str = ""


@dataclass(frozen=True)
class Answer:
    """What OpenVINO made of a model.

    `layers`: element type and partial shape of every output, by friendly name (a repeated name gets
    `#2`, …).
    """

    status: Literal["accepted", "refused", "crashed"]
    message: str = ""
    layers: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    execution: Execution | None = None
    version: str = ""


class Oracle:
    """A worker process with OpenVINO, started at the first question, and again after a crash."""

    def __init__(self, timeout: float = TIMEOUT, python: str | Path | None = None) -> None:
        self.timeout = timeout
        self.python = str(python or os.environ.get("OPENVINO_PYTHON") or sys.executable)
        self.version = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection[Any, Any] | None = None
        self._fresh = True
        """Whether the worker has not answered anything yet."""

    @property
    def release(self) -> tuple[int, int]:
        """The release of OpenVINO that answers, as (2026, 4)."""
        self._connect()
        year, minor = self.version.split(".")[:2]
        return int(year), int(minor)

    def ask(
        self, xml: str, weights: bytes = b"", inputs: Mapping[str, Array | Tensor] | None = None
    ) -> Answer:
        """Reads the model; with inputs (by the friendly name of the Parameter), runs it as well."""
        with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
            path = Path(folder) / "model.xml"
            path.write_text(xml, encoding="utf-8")
            if weights:
                path.with_suffix(".bin").write_bytes(weights)
            return self.ask_file(path, inputs)

    def ask_file(self, path: Path, inputs: Mapping[str, Array | Tensor] | None = None) -> Answer:
        """The same for a model on disk.

        A crash is believed only of a fresh worker: an earlier case may have corrupted its memory.
        """
        fresh = self._fresh
        answer = self._ask(path, inputs)
        crashed = answer.status == "crashed" or (
            answer.execution is not None and answer.execution.status == "crashed"
        )
        return self._ask(path, inputs) if crashed and not fresh else answer

    def _ask(self, path: Path, inputs: Mapping[str, Array | Tensor] | None) -> Answer:
        tensors = (
            None if inputs is None else {name: _tensor(value) for name, value in inputs.items()}
        )
        pipe = self._connect()
        pipe.send((str(path), tensors))
        first = self._receive(pipe)
        if isinstance(first, str):
            return Answer("crashed", first, version=self.version)
        status, message, layers = first
        if status != "accepted" or tensors is None:
            return Answer(status, message, layers, version=self.version)
        second = self._receive(pipe)
        if isinstance(second, str):
            return Answer(
                status, message, layers, Execution("crashed", message=second), self.version
            )
        done, engine, results, said = second
        self._fresh = engine == "evaluate"
        return Answer(
            status,
            message,
            layers,
            Execution(done, engine, {name: Tensor(*row) for name, row in results}, said),
            self.version,
        )

    def _connect(self) -> Connection[Any, Any]:
        if self._pipe is None:
            self._pipe, theirs = Pipe()
            command = [self.python, str(Path(__file__).resolve()), str(theirs.fileno())]
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENVINO_LOG_LEVEL": "0"}
            quiet = subprocess.DEVNULL
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=quiet,
                stdout=quiet,
                stderr=quiet,
                env=environment,
                start_new_session=True,
            )
            theirs.close()
            self._fresh = True
            hello = self._receive(self._pipe)
            if not (isinstance(hello, tuple) and hello[0] == "version"):
                raise RuntimeError(f"the OpenVINO worker did not start: {hello}")
            self.version = hello[1]
            assert self._pipe is not None
        return self._pipe

    def _receive(self, pipe: Connection[Any, Any]) -> Any:
        """What the worker sends, or a text on how it died."""
        try:
            if pipe.poll(self.timeout):
                answer = pipe.recv()
                self._fresh = isinstance(answer, str)
                return answer
            self._stop()
            return f"no answer within {self.timeout:g} s"
        except (EOFError, OSError):
            self._stop()
            return "the process died"

    def _stop(self) -> None:
        process, self._process, pipe, self._pipe = self._process, None, self._pipe, None
        if pipe is not None:
            pipe.close()
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        self._stop()

    def __enter__(self) -> Oracle:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _tensor(value: Array | Tensor) -> tuple[str, tuple[int, ...], bytes | list[str]]:
    if isinstance(value, Tensor):
        return value.element_type, value.shape, value.data
    if value.dtype.kind in "OUS":
        made = Tensor.of(value, "string")
    else:
        names = {np.dtype(code): name for name, code in PLAIN.items()}
        if value.dtype not in names:
            raise TypeError(f"give an array of {value.dtype} as Tensor.of(array, element_type)")
        made = Tensor.of(value, names[value.dtype])
    return made.element_type, made.shape, made.data


# The worker


def _openvino() -> Any:
    """The module of OpenVINO's API, which 2023.0 has one level down."""
    import openvino

    if hasattr(openvino, "Core"):
        return openvino
    import openvino.runtime

    return openvino.runtime


def _nursery(pipe: Connection[Any, Any]) -> None:
    """Forks one worker after another, as importing OpenVINO is slow; it starts no thread itself."""
    pipe.send(("version", _openvino().get_version()))
    while True:
        child = os.fork()
        if not child:
            _serve(pipe)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == GONE:
            return
        if code:
            pipe.send(f"the process died (exit status {code})")


GONE = 77
"""The exit status of a worker whose owner has hung up."""


def _serve(pipe: Connection[Any, Any]) -> None:
    core = _openvino().Core()
    while True:
        try:
            path, inputs = pipe.recv()
        except (EOFError, OSError):
            os._exit(GONE)
        try:
            model = core.read_model(path)
            layers: dict[str, list[tuple[str, str]]] = {}
            _describe(model, "", layers)
        except Exception as error:
            pipe.send(("refused", str(error), {}))
            continue
        pipe.send(("accepted", "", layers))
        if inputs is not None:
            answer = _execute(core, model, inputs)
            pipe.send(answer)
            if answer[1] == "evaluate":  # it may have corrupted the memory
                os._exit(0)


def _describe(model: Any, prefix: str, layers: dict[str, list[tuple[str, str]]]) -> None:
    for node in model.get_ordered_ops():
        name, count = prefix + node.get_friendly_name(), 2
        while name in layers:
            name, count = f"{prefix}{node.get_friendly_name()}#{count}", count + 1
        layers[name] = [
            (_type_name(port), str(port.get_partial_shape())) for port in node.outputs()
        ]
        for body, inner in _bodies(node):
            _describe(inner, f"{name}/{body}/", layers)


def _type_name(port: Any) -> str:
    """Releases to 2024.6 call a type that is not known `undefined`."""
    name = str(port.get_element_type().get_type_name())
    return "dynamic" if name == "undefined" else name


def _bodies(node: Any) -> list[tuple[str, Any]]:
    kind = node.get_type_name()
    if kind in ("Loop", "TensorIterator"):
        return [("body", node.get_function())]
    if kind == "If":
        return [("then_body", node.get_function(0)), ("else_body", node.get_function(1))]
    return []


def _execute(
    core: Any, model: Any, inputs: dict[str, Any]
) -> tuple[str, str, list[tuple[str, Any]], str]:
    names = [result.get_friendly_name() for result in model.get_results()]
    try:
        tensors = [
            _to_openvino(*inputs[parameter.get_friendly_name()])
            for parameter in model.get_parameters()
        ]
    except Exception as error:
        return "failed", "", [], f"inputs: {type(error).__name__}: {error}"
    try:
        settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
        request = core.compile_model(model, "CPU", settings).create_infer_request()
        for index, tensor in enumerate(tensors):
            request.set_input_tensor(index, tensor)
        request.infer()
        return (
            "done",
            "CPU",
            [
                (name, _from_openvino(request.get_output_tensor(index)))
                for index, name in enumerate(names)
            ],
            "",
        )
    except Exception as error:
        said = f"CPU: {error}"
    try:
        ov = _openvino()
        outputs = [
            ov.Tensor(port.get_element_type(), ov.Shape(_known(port.get_partial_shape())))
            for port in model.outputs
        ]
        if not model.evaluate(outputs, tensors):
            return "failed", "evaluate", [], f"{said}\nevaluate: no evaluator"
        return (
            "done",
            "evaluate",
            [(name, _from_openvino(tensor)) for name, tensor in zip(names, outputs, strict=True)],
            said,
        )
    except Exception as error:
        return "failed", "evaluate", [], f"{said}\nevaluate: {error}"


def _known(shape: Any) -> list[int]:
    return [dim.get_length() for dim in shape] if shape.is_static else [0]


def _to_openvino(element_type: str, shape: tuple[int, ...], data: bytes | list[str]) -> Any:
    ov = _openvino()
    if isinstance(data, list):
        return ov.Tensor(np.array(data, dtype=np.str_).reshape(shape))
    tensor = ov.Tensor(getattr(ov.Type, element_type), ov.Shape(list(shape)))
    if tensor.byte_size:
        target = tensor.data
        target.reshape(-1).view(np.uint8)[:] = np.frombuffer(data, np.uint8)
    return tensor


def _from_openvino(tensor: Any) -> tuple[str, tuple[int, ...], bytes | list[str]]:
    name, shape = tensor.get_element_type().get_type_name(), tuple(tensor.get_shape())
    if name == "string":
        return name, shape, [str(text) for text in np.asarray(tensor.str_data).ravel().tolist()]
    return name, shape, np.ascontiguousarray(tensor.data).tobytes() if tensor.byte_size else b""


if __name__ == "__main__":
    _nursery(Connection(int(sys.argv[1])))
