"""Runs OpenVINO for a cross-check, in a separate process, since a model can crash the runtime.

This is the only module that imports openvino. `python -m irshape.comparison.runtime` receives
folders. In each it reads `request.json` and writes OpenVINO's results to `answer.json`, stage by
stage, with the bytes of each value in a file beside it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..spelling import suggestion
from . import processes
from .answers import Answer, StoredTensor
from .processes import Request, short

_VIRTUAL_DEVICES = ("AUTO", "HETERO", "MULTI", "BATCH")

TIMEOUT = 600.0


def ask(folder: Path, request: dict[str, Any], timeout: float = TIMEOUT) -> Answer:
    """Runs OpenVINO on the request in a child process and returns its answer.

    Raises `RuntimeError` if openvino is not installed.
    """
    answer = processes.ask("irshape.comparison.runtime", folder, request, timeout)
    if "absent" in answer:
        raise RuntimeError(
            "OpenVINO is not installed; the cross-check needs it: pip install 'irshape[openvino]'"
        )
    values = {
        (name, port): StoredTensor(element_type, shape, folder / file)
        for name, port, element_type, shape, file in answer.get("values", ())
    }
    return Answer.of(answer, values)


def run(request: Request, folder: Path, answer: Request, save: Callable[[], None]) -> None:
    """Reads, infers and runs the model, in the child process."""
    ov = openvino_api()
    answer["version"] = str(ov.get_version()).split("-")[0]
    save()
    core = ov.Core()
    add_libraries(core, Path(request["xml"]))
    for library in request.get("libraries", ()):
        try:
            core.add_extension(library)
        except Exception as problem:
            text = f"the library '{library}' cannot be added: {short(problem)}"
            raise RuntimeError(text) from None
    try:
        model = core.read_model(*filter(None, [request["xml"], request["bin"]]))
    except Exception as refusal:
        answer["refused"] = short(refusal)
        return
    answer["shapes"] = _shapes(model)
    save()
    device = request["device"]
    answer["device"] = _device_name(core, device)
    answer["facts"] = _facts(core, device)
    try:
        if not request.get("compiles"):
            answer["values"] = _run(ov, core, model, request, folder, answer)
        elif device in {name.partition(".")[0] for name in core.available_devices}:
            core.compile_model(model, device)
        else:
            raise RuntimeError(f"this machine has no device {device}")
    except Exception as problem:
        if "is not registered in the OpenVINO Runtime" not in str(problem):
            raise
        raise RuntimeError(_unknown_device(device, core.available_devices)) from None


def openvino_api() -> Any:
    """Returns the module with OpenVINO's API: `openvino`, or `openvino.runtime` of 2023.0.

    Raises `ImportError` if OpenVINO is not installed.
    """
    import openvino

    if hasattr(openvino, "Core"):
        return openvino
    from openvino import runtime

    return runtime


def add_libraries(core: Any, model: Path) -> None:
    """Adds the library of an installed openvino_tokenizers if the model contains its operations.

    The package itself is not imported, since that would load more than the library.
    """
    from importlib.util import find_spec

    text = model.read_bytes()
    if b'"extension"' not in text and b'"openvino_tokenizers"' not in text:
        return
    package = find_spec("openvino_tokenizers")
    names = {"win32": "openvino_tokenizers.dll", "darwin": "libopenvino_tokenizers.dylib"}
    name = names.get(sys.platform, "libopenvino_tokenizers.so")
    for folder in (package and package.submodule_search_locations) or ():
        library = Path(folder) / "lib" / name
        if library.is_file():
            core.add_extension(str(library))


def _unknown_device(device: str, known: list[str]) -> str:
    close = suggestion(device.upper(), [*known, *_VIRTUAL_DEVICES])
    return f"there is no device '{device}' here{close or ' (known: ' + ', '.join(known) + ')'}"


_BODIES: dict[str, tuple[tuple[int, ...], ...]] = {
    "Loop": ((),),
    "TensorIterator": ((),),
    "If": ((0,), (1,)),
}
"""Maps types of control flow to the arguments of `get_function` for each body.

All releases have `get_function`; `get_then_body` came with 2024.0.
"""


def _shapes(model: Any) -> dict[str, list[tuple[str, str]]]:
    """Returns the types and shapes of all outputs by layer name, bodies included. In the model of a
    request, layer names are unique."""
    shapes = {}
    for node in model.get_ops():
        shapes[node.get_friendly_name()] = [
            (_type_name(output), str(output.get_partial_shape())) for output in node.outputs()
        ]
        for which in _BODIES.get(node.get_type_name(), ()):
            shapes.update(_shapes(node.get_function(*which)))
    return shapes


def _type_name(output: Any) -> str:
    """Returns the element type of an output. Releases before 2025.0 call a dynamic type
    `undefined`."""
    name = str(output.get_element_type().get_type_name())
    return "dynamic" if name == "undefined" else name


def _run(
    ov: Any, core: Any, model: Any, request: dict[str, Any], folder: Path, answer: dict[str, Any]
) -> list[tuple[str, int, str, list[int], str]]:
    """Runs the model. Returns the name, port, element type, shape and file of every requested
    output."""
    hint = request.get("hint") or "f32"
    config = {"INFERENCE_PRECISION_HINT": hint}
    if request["device"] == "CPU":
        known = core.get_property("CPU", "SUPPORTED_PROPERTIES")
        # keeps the plugin from quantizing of its own accord; release 2023 has none of them
        exact = {"KV_CACHE_PRECISION": hint, "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
        config |= {name: text for name, text in exact.items() if name in known}
    if request["layers"] == "all":
        _watch_all(model, request.get("unasked", ()))
    # an output that has a Result already gets no second one, so each is found by what feeds it
    watched = [result.input(0).get_source_output() for result in model.get_results()]
    positions = {
        (source.get_node().get_friendly_name(), source.get_index()): position
        for position, source in enumerate(watched)
    }
    compiled = core.compile_model(model, request["device"], config | request["config"])
    answer["precision"] = _precision(compiled)
    demand = compiled.create_infer_request()
    for position, parameter in enumerate(model.get_parameters()):
        entry = request["inputs"].get(parameter.get_friendly_name())
        if entry is not None:
            element_type, shape, file = entry
            demand.set_input_tensor(position, _tensor(ov, element_type, shape, folder / file))
    demand.infer()
    values: list[tuple[str, int, str, list[int], str]] = []
    for number, ((name, port), position) in enumerate(sorted(positions.items())):
        tensor = demand.get_output_tensor(position)
        file = f"value{number}.bin"
        (folder / file).write_bytes(_bytes(tensor))
        element_type = tensor.get_element_type().get_type_name()
        values.append((name, port, element_type, list(tensor.get_shape()), file))
    return values


def _watch_all(model: Any, unasked: Iterable[str]) -> None:
    """Makes every tensor of known type inside the model an output, except the outputs of the nodes
    in `unasked` and those of `_unseen`."""
    unseen = _unseen(model) | set(unasked)
    for node in model.get_ops():
        if node.get_friendly_name() in unseen:
            continue
        if node.get_type_name() not in ("Parameter", "Constant", "Result", "Assign"):
            for output in node.outputs():
                if _type_name(output) != "dynamic":
                    model.add_outputs([output])


def _unseen(model: Any) -> set[str]:
    """Returns the names of the nodes whose tensors must not be requested from the device.

    The device removes FakeQuantize nodes of 65,536 levels. The device fails if both the input and
    the output of such a node are outputs of the model (2026.4: "FQ stripping failed").
    """
    unseen: set[str] = set()
    for node in model.get_ops():
        if node.get_type_name() != "FakeQuantize" or node.get_attributes()["levels"] != 65536:
            continue
        consumers = [each.get_node().get_type_name() for each in node.output(0).get_target_inputs()]
        seen = node.input_value(0).get_node() if "Result" in consumers else node
        unseen.add(seen.get_friendly_name())
    return unseen


def _tensor(ov: Any, element_type: str, shape: list[int], file: Path) -> Any:
    """Reads an input of the model from its file."""
    import ctypes

    import numpy as np

    tensor = ov.Tensor(getattr(ov.Type, element_type), ov.Shape(shape))
    raw = file.read_bytes()
    if element_type == "string":
        texts = [bytes.fromhex(item) for item in json.loads(raw)]
        tensor.bytes_data = np.array(texts, dtype=np.bytes_).reshape(shape)
    elif raw:
        ctypes.memmove(tensor.data.ctypes.data, raw, len(raw))
    return tensor


def _bytes(tensor: Any) -> bytes:
    """Returns the bytes of an output, in the form that `answers.from_bytes` reads."""
    if tensor.get_element_type().get_type_name() == "string":
        texts = [
            item if isinstance(item, bytes) else str(item).encode()
            for item in tensor.bytes_data.ravel()
        ]
        if all(len(text) <= 1 for text in texts) and not any(tensor.str_data.ravel()):
            # where all texts are empty, `bytes_data` has one byte of other memory for each
            texts = [b""] * len(texts)
        return json.dumps([text.hex() for text in texts]).encode()
    return bytes(tensor.data.tobytes()) if tensor.get_byte_size() else b""


def _device_name(core: Any, device: str) -> str:
    """Returns OpenVINO's name of a device; for HETERO:GPU,CPU and the like, that of the part before
    the colon.

    If OpenVINO knows no such device, returns the name that the user gave; the run then reports the
    error.
    """
    try:
        return str(core.get_property(device.partition(":")[0], "FULL_DEVICE_NAME"))
    except RuntimeError:
        return device


def _facts(core: Any, device: str) -> dict[str, Any]:
    """Returns the capabilities that the device reports; none if the device does not exist."""
    try:
        named = core.get_property(device.partition(":")[0], "OPTIMIZATION_CAPABILITIES")
        return {"capabilities": sorted(map(str, named))}
    except (RuntimeError, TypeError):
        return {}


def _precision(compiled: Any) -> str | None:
    """Returns the precision that the device chose for the hint; None if the device does not report
    it.

    A device without f16 may compute in bf16, a device without f32 in f16.
    """
    try:
        return str(compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name())
    except (RuntimeError, AttributeError):
        return None


if __name__ == "__main__":
    processes.serve(run)
