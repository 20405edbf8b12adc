"""The OpenVINO side of a cross-check: the only module that imports openvino, run in a process of its own, since a model can crash the runtime.

`python -m irshape.comparison.runtime FOLDER` reads `FOLDER/request.json`, and writes what OpenVINO makes of it to `FOLDER/answer.json`, a stage at a time, with the bytes of the
executed values in files beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

TIMEOUT = 600.0


class Answer(NamedTuple):
    """What OpenVINO made of a model.

    refused: its message where it did not read the model. crashed: how its process ended, where that was no answer. shapes: by layer name, element type and
    shape of each output. values: by layer name and port, the output as (element type, shape, the file that holds its bytes). problem: why it could not be run.
    device: its full name. precision: in which it says that it computes reals.
    """

    version: str
    device: str
    refused: str | None
    crashed: str | None
    shapes: dict[str, list[tuple[str, str]]]
    values: dict[tuple[str, int], tuple[str, list[int], Path]]
    problem: str | None
    precision: str | None = None


def ask(folder: Path, request: dict[str, Any], timeout: float = TIMEOUT) -> Answer:
    """Runs OpenVINO on the request in a child process. Raises `RuntimeError` where openvino is not installed."""
    (folder / "request.json").write_text(json.dumps(request))
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "irshape.comparison.runtime", str(folder)],
            capture_output=True,
            timeout=timeout,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        ended = (
            None
            if done.returncode == 0
            else _ending(done.returncode, done.stderr.decode(errors="replace"))
        )
    except subprocess.TimeoutExpired:
        ended = f"no answer within {timeout:.0f} s"
    found = json.loads(answer.read_text()) if answer.exists() else {}
    if found.get("absent"):
        raise RuntimeError(
            "OpenVINO is not installed; the cross-check needs it: pip install 'irshape[openvino]'"
        )
    values = {
        (name, port): (element_type, shape, folder / file)
        for name, port, element_type, shape, file in found.get("values", ())
    }
    shapes = {
        name: [(row[0], row[1]) for row in rows] for name, rows in found.get("shapes", {}).items()
    }
    return Answer(
        found.get("version", "?"),
        found.get("device", "?"),
        found.get("refused"),
        ended,
        shapes,
        values,
        found.get("problem"),
        found.get("precision"),
    )


def _ending(code: int, stderr: str) -> str:
    last = stderr.strip().splitlines()[-1][:300] if stderr.strip() else ""
    return (
        f"its process was killed by signal {-code}"
        if code < 0
        else f"its process ended with status {code}: {last}"
    )


def main(folder: Path) -> None:
    """The child: reads the model, infers, and runs it."""
    answer: dict[str, Any] = {}

    def save() -> None:
        part = folder / "answer.part"
        part.write_text(json.dumps(answer))
        part.replace(folder / "answer.json")

    try:
        import openvino as ov
    except ImportError:
        answer["absent"] = True
        save()
        return
    request = json.loads((folder / "request.json").read_text())
    answer["version"] = str(ov.__version__).split("-")[0]
    save()
    core = ov.Core()
    try:
        model = (
            core.read_model(request["xml"], request["bin"])
            if request["bin"]
            else core.read_model(request["xml"])
        )
    except Exception as refusal:
        answer["refused"] = _short(refusal)
        save()
        return
    answer["shapes"] = _shapes(model)
    save()
    if request["inputs"] is None:
        return
    try:
        answer["device"] = _device_name(core, request["device"])
        answer["values"] = _run(ov, core, model, request, folder, answer)
    except Exception as problem:
        answer["problem"] = _short(problem)
    save()


def _short(problem: Exception) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return " | ".join(lines[-3:])[:600]


_BODIES = {
    "Loop": ("get_function",),
    "TensorIterator": ("get_function",),
    "If": ("get_then_body", "get_else_body"),
}


def _shapes(model: Any) -> dict[str, list[tuple[str, str]]]:
    """By layer name, which the request has made unique, bodies included."""
    found = {}
    for node in model.get_ops():
        found[node.get_friendly_name()] = [
            (output.get_element_type().get_type_name(), str(output.get_partial_shape()))
            for output in node.outputs()
        ]
        for getter in _BODIES.get(node.get_type_name(), ()):
            found.update(_shapes(getattr(node, getter)()))
    return found


def _run(
    ov: Any, core: Any, model: Any, request: dict[str, Any], folder: Path, answer: dict[str, Any]
) -> list[tuple[str, int, str, list[int], str]]:
    import numpy as np

    config = {"INFERENCE_PRECISION_HINT": request.get("hint") or "f32"}
    if request["device"] == "CPU":
        config |= {
            "KV_CACHE_PRECISION": request.get("hint") or "f32",
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
        }
    config |= request["config"]
    watched = []
    for node in model.get_ops():
        if node.get_type_name() not in ("Parameter", "Constant", "Result", "Assign"):
            watched += [
                (node.get_friendly_name(), index, output)
                for index, output in enumerate(node.outputs())
                if output.get_element_type().get_type_name() != "dynamic"
            ]
    if request["layers"] == "all":
        for _, _, output in watched:
            model.add_outputs([output])
    # an output that has a Result already gets no second one, so each is found by what feeds it
    fed = [result.input(0).get_source_output() for result in model.get_results()]
    positions = {
        (source.get_node().get_friendly_name(), source.get_index()): position
        for position, source in enumerate(fed)
    }
    compiled = core.compile_model(model, request["device"], config)
    answer["precision"] = _precision(compiled)
    demand = compiled.create_infer_request()
    for position, parameter in enumerate(model.get_parameters()):
        entry = request["inputs"].get(parameter.get_friendly_name())
        if entry is None:
            continue
        element_type, shape, file = entry
        tensor = ov.Tensor(getattr(ov.Type, element_type), ov.Shape(shape))
        if element_type == "string":
            tensor.str_data = np.array(
                [bytes.fromhex(item) for item in json.loads((folder / file).read_text())],
                dtype=object,
            ).reshape(shape)
        else:
            raw = (folder / file).read_bytes()
            if raw:
                _fill(tensor, raw)
        demand.set_input_tensor(position, tensor)
    demand.infer()
    found: list[tuple[str, int, str, list[int], str]] = []
    for number, ((name, port), position) in enumerate(sorted(positions.items())):
        tensor = demand.get_output_tensor(position)
        file = f"value{number}.bin"
        element_type = tensor.get_element_type().get_type_name()
        if element_type == "string":
            (folder / file).write_text(
                json.dumps(
                    [
                        item.hex() if isinstance(item, bytes) else str(item).encode().hex()
                        for item in tensor.bytes_data.ravel()
                    ]
                )
            )
        else:
            (folder / file).write_bytes(_bytes(tensor))
        found.append((name, port, element_type, list(tensor.get_shape()), file))
    return found


def _device_name(core: Any, device: str) -> str:
    """What OpenVINO calls a device, of HETERO:GPU,CPU and its like the first word; where it says nothing, what the user calls it: running the model will tell why."""
    try:
        return str(core.get_property(device.partition(":")[0], "FULL_DEVICE_NAME"))
    except RuntimeError:
        return device


def _precision(compiled: Any) -> str | None:
    """What the device made of the hint: one without f16 may compute in bf16, one without f32 in f16. None where it does not say."""
    try:
        return str(compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name())
    except (RuntimeError, AttributeError):
        return None


def _fill(tensor: Any, raw: bytes) -> None:
    import ctypes

    ctypes.memmove(tensor.data.ctypes.data, raw, len(raw))


def _bytes(tensor: Any) -> bytes:
    if tensor.get_byte_size() == 0:
        return b""
    data = tensor.data
    return bytes(data.tobytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
