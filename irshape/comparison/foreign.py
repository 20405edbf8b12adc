"""Cross-checks a model in another format with the runtime of that format.

An ONNX model is compared with onnxruntime or onnx's reference, a oneDNN graph with oneDNN.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ..element_types import ElementType
from ..execution.feeds import Fed, Given
from ..execution.inputs import random_inputs
from ..execution.session import ExecutionError, Session
from ..inference.engine import infer
from ..inference.result import Inference
from ..model.graph import Layer, Model
from ..numbers.tolerance import Tolerance, doubtful
from ..numpy_types import PLAIN, Array, dtype_of
from ..shapes import PartialShape
from ..spelling import suggestion
from .answers import Answer
from .layerwise import ComputedLayer, LayerwiseRun
from .parts import is_custom, left_out, values_of
from .processes import ask
from .progress import Progress
from .result import Comparison, Row, TensorType
from .runtime import TIMEOUT

_FOR_DEVICES = "; `irshape convert` it for OpenVINO's devices"


RUNTIMES = {
    "onnxruntime": ("irshape.comparison.onnx_runtime", "irshape[onnx]"),
    "reference": ("irshape.comparison.onnx_runtime", "irshape[onnx]"),
    "onednn": ("irshape.comparison.onednn_runtime", "onednn-cpu-gomp"),
}
"""The runtimes that a `Format` may name: the module that runs as the process, and the name of the
package for pip."""


def crosscheck(
    model: Model,
    inputs: Given,
    *,
    device: str,
    rtol: float | None,
    atol: float | None,
    seed: int,
    progress: Progress,
) -> Comparison:
    """Compares every named value that irshape computes with the value of the format's runtime.

    Raises `ValueError` for a device that the format does not have, `RuntimeError` if the package of
    the runtime is not installed.
    """
    known = model.format.runtimes
    if device not in ("CPU", *known):
        raise ValueError(
            f"a model of the format {model.format.name} is cross-checked on "
            f"{' or '.join(known)}, not on '{device}'"
            f"{suggestion(device, list(known)) or _FOR_DEVICES}"
        )
    if not os.path.isfile(model.path):
        raise ValueError("the cross-check needs the model as a file")
    session = Session(model)
    fed = session.bind(inputs if inputs is not None else random_inputs(model, seed))
    runtime = known[0] if device == "CPU" else device
    progress.begin(f"running the model on {runtime}")
    answer, values = asked(model, fed, runtime)
    problems = [f"{answer.version}: {answer.problem}"] if answer.problem else []
    problems += [f"{runtime} crashed: {answer.crashed}"] if answer.crashed else []
    comparison = Comparison(model, runtime, answer, [], problems, runtime=answer.version)
    custom = [layer for layer in model.net.layers if is_custom(layer)]
    if answer.problem and custom:
        values = _without(custom, model, session, fed, runtime)
        comparison.notes += [left_out(runtime, custom)] if values else []
    run = _ForeignRun(session, comparison, fed, values, Tolerance(rtol, atol, "f32"))
    progress.begin("comparing layers", len(model.layers))
    try:
        run.compare_run(fed, progress.layer)
    except ExecutionError as problem:
        problems.append(f"irshape cannot run the model: {problem}")
    comparison.notes += doubtful(comparison.equal, atol)
    return comparison


def _inferred(model: Model, fed: Fed) -> Inference:
    """Infers the types and shapes of a model for inputs with the shapes of given arrays."""
    return infer(model, {layer: PartialShape(array.shape) for layer, array in fed.items()})


def _without(
    custom: list[Layer], model: Model, session: Session, fed: Fed, runtime: str
) -> dict[str, Array]:
    """Returns the runtime's values for a model from which custom operations are left out. The
    runtime gets irshape's outputs of these operations as inputs. Returns no values if the runtime
    or irshape fails."""
    try:
        computed = values_of(session, fed, custom)
    except ExecutionError:
        return {}
    given = {
        name: array
        for layer, arrays in computed.items()
        for port, array in zip(layer.outputs, arrays, strict=True)
        for name in port.tensor_names
    }
    return asked(model, fed, runtime, given)[1]


def asked(
    model: Model, fed: Fed, runtime: str, given: Mapping[str, Array] = MappingProxyType({})
) -> tuple[Answer, dict[str, Array]]:
    """Runs a model from a file in another runtime, in a separate process.

    given: the values of outputs whose nodes are left out, by tensor name.
    Returns the answer, and the values by tensor name. Omits values of types that an .npy file
    cannot hold.
    Raises `RuntimeError` if the runtime is not installed.
    """
    module, package = RUNTIMES[runtime]
    with tempfile.TemporaryDirectory(prefix="irshape-") as folder_name:
        folder = Path(folder_name)
        request = _request(model, fed, runtime, folder)
        request["given"] = {name: f"given{at}.npy" for at, name in enumerate(given)}
        for name, array in given.items():
            np.save(folder / request["given"][name], _stored(array))
        beside = Path(model.path).resolve().parent
        answered = ask(module, folder, request, TIMEOUT, cwd=beside)
        values = {
            name: np.load(folder / file, allow_pickle=False)
            for name, file in answered.get("values", {}).items()
        }
    if "absent" in answered:
        raise RuntimeError(
            f"{runtime} is not installed ({answered['absent']}); the cross-check needs it: "
            f"pip install '{package}'"
        )
    for name, kind in answered.get("types", {}).items():
        if kind == "bf16":
            values[name] = values[name].view(dtype_of(ElementType.of("bf16")))
    return Answer.of({"version": runtime, **answered, "device": runtime}), values


def _request(model: Model, fed: Fed, runtime: str, folder: Path) -> dict[str, Any]:
    """Returns the request for the runtime's process, and writes the inputs into its folder."""
    files = {}
    for number, (layer, array) in enumerate(fed.items()):
        name = layer.outputs[0].tensor_names[0]
        files[name] = f"input{number}.npy"
        np.save(folder / files[name], _stored(array))
    inference = _inferred(model, fed)
    tensors = [
        (layer, name, tensor)
        for layer in model.layers
        for port, tensor in zip(layer.outputs, inference.outputs(layer), strict=False)
        for name in port.tensor_names
    ]
    return {
        "model": str(Path(model.path).resolve()),
        "runtime": runtime,
        "inputs": files,
        "values": [
            name
            for layer, name, tensor in tensors
            if layer.computes and tensor.element_type in PLAIN
        ],
        "results": [layer.name for layer in model.results],
        "shapes": {name: list(tensor.shape.static or ()) for _, name, tensor in tensors},
    }


def _stored(array: Array) -> Array:
    """Returns an array as a .npy file can hold it: texts as `str`, bf16 as its bits."""
    if array.dtype.kind == "O":
        return array.astype(np.str_)
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array


class _ForeignRun(LayerwiseRun):
    """Compares each named value of a run with the value of the format's runtime, by name."""

    def __init__(
        self,
        session: Session,
        comparison: Comparison,
        fed: Fed,
        values: Mapping[str, Array],
        tolerance: Tolerance,
    ) -> None:
        super().__init__(session, comparison.notes, "irshape's first NaN")
        self.comparison = comparison
        self.values = values
        self.tolerance = tolerance
        self.inference = _inferred(session.model, fed)

    def compare_layer(self, computed: ComputedLayer) -> None:
        layer, runtime = computed.layer, self.comparison.runtime
        tensors = self.inference.outputs(layer)
        for index, (port, array) in enumerate(zip(layer.outputs, computed.outputs, strict=False)):
            theirs = next((self.values[n] for n in port.tensor_names if n in self.values), None)
            if theirs is None:
                continue
            inferred, shape = tensors[index], PartialShape(theirs.shape)
            row = Row(
                layer,
                index,
                TensorType(inferred.element_type.name, inferred.shape),
                TensorType(str(theirs.dtype), shape),
                "equal" if inferred.shape.encloses(shape) else "differs",
            )
            self.comparison.rows.append(
                row.measured(
                    computed.inputs, array, theirs, self.tolerance, runtime=runtime, types=True
                )
            )
