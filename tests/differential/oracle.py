"""Asks the real OpenVINO, in a process of its own: it can crash, and a crash is an answer too.

    with Oracle() as oracle:
        answer = oracle.ask(xml, weights, {"in0": array})
        answer.status                     # "accepted", "refused" or "crashed"
        answer.layers["op"]               # [("f32", "[1..8,?,3]")], by friendly name; inside a
                                          # body "op/body/name", "op/then_body/name"
        answer.execution.results["result0"].array

`ask_together` answers many questions at once, in a tenth of the time.

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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Union

import numpy as np

if __package__:
    from .elements import PLAIN, Array, Tensor
else:  # the worker, run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from differential.elements import PLAIN, Array, Tensor

TIMEOUT = 1800.0
"""Seconds that an answer may take; hundreds of questions can be asked at once."""


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


Question = tuple[str, bytes, Mapping[str, Array | Tensor] | None]
"""The text of an IR, its weights, and what it is run on: the arguments of `Oracle.ask`."""


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
            return self.ask_file(_write(Path(folder) / "model.xml", xml, weights), inputs)

    def ask_together(self, questions: Sequence[Question]) -> list[Answer]:
        """The answers to many questions, for little more time than one takes.

        To compile a model takes OpenVINO some 14 ms, however small it is. So each model is read on
        its own, and those that are to be run are compiled and run as parts of one model that
        nothing connects. One that does not run like this is asked alone; where the worker crashes,
        each half of the questions is asked again.
        """
        if len(questions) == 1:
            return [self.ask(*questions[0])]
        with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
            files = [
                (_write(Path(folder) / f"model{index}.xml", xml, weights), inputs)
                for index, (xml, weights, inputs) in enumerate(questions)
            ]
            pipe = self._connect()
            pipe.send([(str(path), _tensors(inputs)) for path, inputs in files])
            received = self._receive(pipe)
            if isinstance(received, str):
                half = len(questions) // 2
                return self.ask_together(questions[:half]) + self.ask_together(questions[half:])
            return [
                self.ask_file(path, inputs)
                if ran is None and said[0] == "accepted" and inputs is not None
                else Answer(*said, self._execution(ran), self.version)
                for (path, inputs), (said, ran) in zip(files, received, strict=True)
            ]

    def ask_file(
        self, path: Path, inputs: Mapping[str, Array | Tensor] | None = None, times: int = 1
    ) -> Answer:
        """The same for a model on disk, which infers its inputs so many times; the last counts.
        With 0, `Model.evaluate` computes them, which otherwise does so where the CPU plugin fails.

        A crash is believed only of a fresh worker: an earlier case may have corrupted its memory.
        """
        fresh = self._fresh
        answer = self._ask(path, inputs, times)
        crashed = answer.status == "crashed" or (
            answer.execution is not None and answer.execution.status == "crashed"
        )
        return self._ask(path, inputs, times) if crashed and not fresh else answer

    def serialised(self, path: Path) -> bytes:
        """A hash of what OpenVINO writes of a model on disk; nothing where it does not read it."""
        pipe = self._connect()
        pipe.send(str(path))
        answer = self._receive(pipe)
        return answer if isinstance(answer, bytes) else b""

    def _ask(self, path: Path, inputs: Mapping[str, Array | Tensor] | None, times: int) -> Answer:
        pipe = self._connect()
        pipe.send((str(path), _tensors(inputs), times))
        said = self._receive(pipe)
        if isinstance(said, str):
            return Answer("crashed", said, version=self.version)
        if said[0] != "accepted" or inputs is None:
            return Answer(*said, version=self.version)
        ran = self._receive(pipe)
        if isinstance(ran, str):
            return Answer(*said, Execution("crashed", message=ran), self.version)
        self._fresh = ran[1] == "evaluate"
        return Answer(*said, self._execution(ran), self.version)

    @staticmethod
    def _execution(ran: Ran | None) -> Execution | None:
        if ran is None:
            return None
        status, engine, results, message = ran
        return Execution(status, engine, {name: Tensor(*row) for name, row in results}, message)

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


# What goes through the pipe

Packed = tuple[str, tuple[int, ...], Union[bytes, list[str]]]
"""A tensor: element type, shape and bytes, or strings."""

Said = tuple[Literal["accepted", "refused"], str, dict[str, list[tuple[str, str]]]]
"""Status, message and layers of a model that was read."""

Ran = tuple[
    Literal["done", "failed"], Literal["CPU", "evaluate", ""], list[tuple[str, Packed]], str
]
"""Status, engine, results by name and message of a run."""


def _write(path: Path, xml: str, weights: bytes) -> Path:
    path.write_text(xml, encoding="utf-8")
    if weights:
        path.with_suffix(".bin").write_bytes(weights)
    return path


def _tensors(inputs: Mapping[str, Array | Tensor] | None) -> dict[str, Packed] | None:
    return None if inputs is None else {name: _tensor(value) for name, value in inputs.items()}


def _tensor(value: Array | Tensor) -> Packed:
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
            question = pipe.recv()
        except (EOFError, OSError):
            os._exit(GONE)
        if isinstance(question, list):
            pipe.send(_answer_together(core, question))
            continue
        if isinstance(question, str):
            pipe.send(_serialised(core, question))
            continue
        path, inputs, times = question
        model, said = _read(core, path)
        pipe.send(said)
        if model is not None and inputs is not None:
            ran = _execute(core, model, inputs, times)
            pipe.send(ran)
            if ran[1] == "evaluate":  # it may have corrupted the memory
                os._exit(0)


def _read(core: Any, path: str) -> tuple[Any, Said]:
    """The model, None where it is refused."""
    try:
        model = core.read_model(path)
        layers: dict[str, list[tuple[str, str]]] = {}
        _describe(model, "", layers)
    except Exception as error:
        return None, ("refused", str(error), {})
    return model, ("accepted", "", layers)


def _serialised(core: Any, path: str) -> bytes:
    import openvino

    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        written = Path(folder, "m.xml"), Path(folder, "m.bin")
        try:
            openvino.serialize(core.read_model(path), *map(str, written))
        except Exception:
            return b""
        return sha256(b"".join(each.read_bytes() for each in written)).digest()


def _answer_together(
    core: Any, questions: list[tuple[str, dict[str, Packed] | None]]
) -> list[tuple[Said, Ran | None]]:
    """What is said of each model, and how it ran; None for one that is to be run alone."""
    read = [_read(core, path) for path, _ in questions]
    runnable: dict[int, tuple[Any, list[Any]]] = {}
    for index, ((model, _), (_, inputs)) in enumerate(zip(read, questions, strict=True)):
        if model is not None and inputs is not None and _can_be_joined(model):
            with suppress(Exception):
                runnable[index] = model, _fed(model, inputs)
    results = dict(zip(runnable, _run_together(core, list(runnable.values())), strict=True))
    return [(said, results.get(index)) for index, (_, said) in enumerate(read)]


def _can_be_joined(model: Any) -> bool:
    """Whether a model can be part of another one.

    What stores values in variables is no result, and would be left behind. What the CPU plugin does
    not run in any case would only have the other models compiled again, part by part.
    """
    ports = [port for node in model.get_parameters() for port in node.outputs()]
    return (
        not model.get_sinks()
        and not any(port.get_partial_shape().rank.is_dynamic for port in ports)
        and not any(_type_name(port) in NOT_TAKEN for port in (*ports, *model.outputs))
    )


NOT_TAKEN = ("u1", "u3", "u6")
"""Element types of inputs and results that the CPU plugin does not run."""


def _run_together(core: Any, parts: list[tuple[Any, list[Any]]]) -> list[Ran | None]:
    """How each model ran as a part of one model; None for each that does not run like this.

    Where the whole does not run, each half is tried.
    """
    if not parts:
        return []
    try:
        model = _openvino().Model(
            [result for part, _ in parts for result in part.get_results()],
            [parameter for part, _ in parts for parameter in part.get_parameters()],
            "together",
        )
        outputs = iter(_run(core, model, [tensor for _, tensors in parts for tensor in tensors]))
    except Exception:
        half = len(parts) // 2
        if not half:
            return [None]
        return _run_together(core, parts[:half]) + _run_together(core, parts[half:])
    return [
        ("done", "CPU", [(name, next(outputs)) for name in _names(part)], "") for part, _ in parts
    ]


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


def _names(model: Any) -> list[str]:
    return [result.get_friendly_name() for result in model.get_results()]


def _fed(model: Any, inputs: dict[str, Packed]) -> list[Any]:
    """The tensors of a model's Parameters, in their order."""
    return [
        _to_openvino(*inputs[parameter.get_friendly_name()]) for parameter in model.get_parameters()
    ]


def _run(core: Any, model: Any, tensors: list[Any], times: int = 1) -> list[Packed]:
    """The results of the last inference on the CPU plugin, in the order of the model's outputs."""
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    for index, tensor in enumerate(tensors):
        request.set_input_tensor(index, tensor)
    for _ in range(times):
        request.infer()
    return [_from_openvino(request.get_output_tensor(index)) for index in range(len(model.outputs))]


def _execute(core: Any, model: Any, inputs: dict[str, Packed], times: int) -> Ran:
    try:
        tensors = _fed(model, inputs)
    except Exception as error:
        return "failed", "", [], f"inputs: {type(error).__name__}: {error}"
    names, said = _names(model), ""
    try:
        if times:
            results = _run(core, model, tensors, times)
            return "done", "CPU", list(zip(names, results, strict=True)), ""
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


def _from_openvino(tensor: Any) -> Packed:
    name, shape = tensor.get_element_type().get_type_name(), tuple(tensor.get_shape())
    if name == "string":
        return name, shape, [str(text) for text in np.asarray(tensor.str_data).ravel().tolist()]
    return name, shape, np.ascontiguousarray(tensor.data).tobytes() if tensor.byte_size else b""


if __name__ == "__main__":
    _nursery(Connection(int(sys.argv[1])))
