"""Two models side by side: tensors matched by name, the first that diverges, and why it does."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Literal

from ..byte_sizes import written_size
from ..execution.feeds import Fed, Given
from ..execution.inputs import random_inputs
from ..execution.session import Array, ExecutionError, Observer, Session
from ..model.graph import Layer, Model
from ..model.ids import is_number
from ..numpy_types import dtype_of
from .foreign import asked
from .model_pairs import ModelComparison
from .model_run import ModelRun, with_values_of_runtime
from .pairing import paired_inputs

Runtime = Literal["onnxruntime", "irshape"]
"""What computes the values of an ONNX model."""

_COARSE_NAMES = {
    **dict.fromkeys(("i4", "u4", "nf4", "f4e2m1", "u2"), "int4"),
    **dict.fromkeys(("i8", "u8", "f8e4m3", "f8e5m2"), "int8"),
}
"""The key in `model_run.COARSE` of element types that are not in it by their name."""


def compare(
    first: Model,
    second: Model,
    inputs: Given = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    max_memory: int | None = None,
    runtime: Runtime | None = None,
    progress: Observer | None = None,
) -> ModelComparison:
    """`irshape.compare`: runs both with the inputs of the first.

    inputs: drawn at random from `seed` where none are given.
    rtol, atol: instead of those of the precision.
    runtime: what runs an ONNX model, by default onnxruntime where it is installed. A layer is
    blamed by what irshape computes for it in any case.
    Raises `ExecutionError` where one of them cannot be run, `ValueError` where their inputs do not
    go together, `RuntimeError` where the runtime asked for is not installed.
    """
    session, other = Session(first, max_memory=max_memory), Session(second, max_memory=max_memory)
    if inputs is None:
        inputs = random_inputs(first, seed, max_memory=max_memory)
    fed = session.bind(inputs)
    handed = _handed(first, second, fed)
    comparison = ModelComparison(first, second, coarser(first, second))
    of_first, of_second = (
        _by_runtime(comparison, first, fed, runtime),
        _by_runtime(comparison, second, handed, runtime),
    )
    comparison.runtimes = (of_first[0], of_second[0])
    kept = _kept(session, fed, of_first[1], progress)
    run = ModelRun(comparison, other, kept, of_second[1], rtol, atol)
    run.compare_run(handed, progress)
    run.finish()
    return comparison


def _kept(
    session: Session,
    fed: Fed,
    values: Mapping[str, Array],
    progress: Observer | None,
) -> dict[str, tuple[Array, ...]]:
    """The outputs of every layer of the first model by layer id, those of its runtime first.

    Raises `ExecutionError` where they take more memory than the session may.
    """
    kept: dict[str, tuple[Array, ...]] = {}
    taken = 0

    def keep(layer: Layer, given: tuple[Array, ...], computed: tuple[Array, ...]) -> None:
        nonlocal taken
        if progress is not None:
            progress(layer, given, computed)
        if not layer.is_result:
            kept[layer.id] = with_values_of_runtime(layer, computed, values)
            taken += 0 if layer.is_constant else sum(array.nbytes for array in computed)
        if taken > session.max_memory:
            raise ExecutionError(
                "the tensors of the whole run take more than the "
                f"{written_size(session.max_memory)} allowed (--max-memory)",
                layer,
            )

    session.run(fed, observe=keep)
    return kept


def _by_runtime(
    comparison: ModelComparison, model: Model, fed: Fed, runtime: Runtime | None
) -> tuple[str, dict[str, Array]]:
    """What runs a model, and the values that it gives by tensor name: none if that is irshape."""
    native = model.format.comparing_runtime
    if native is None or runtime == "irshape" or not os.path.isfile(model.path):
        return "irshape", {}
    try:
        answer, values = asked(model, fed, native)
    except RuntimeError as absent:
        if runtime is not None:
            raise
        comparison.notes.append(f"{model.path} is run by irshape: {absent}")
        return "irshape", {}
    if answer.crashed or answer.problem:
        comparison.notes.append(
            f"{model.path} is run by irshape: "
            f"{answer.version} cannot run it: {answer.crashed or answer.problem}"
        )
        return "irshape", {}
    return answer.version, values


def _handed(first: Model, second: Model, fed: Fed) -> Fed:
    """The inputs of the second model: those of the first by tensor name, by layer name, or else by
    their order."""
    handed = {other: fed[layer] for layer, other in paired_inputs(first, second)}
    for layer, given in handed.items():
        wanted = layer.outputs[0].element_type if layer.outputs else None
        if wanted is None or wanted.is_dynamic or given.dtype.kind == "O":
            continue
        if given.dtype != dtype_of(wanted):
            handed[layer] = given.astype(dtype_of(wanted))
    return handed


def coarser(first: Model, second: Model) -> str | None:
    """The lowest precision of large constants that only one of two models has, a key of
    `model_run.COARSE`.

    None where both have the same.
    """
    kinds = [_kinds_of_constants(first), _kinds_of_constants(second)]
    lowest_first = ("int4", "int8", "bf16", "f16")
    return next((kind for kind in lowest_first if (kind in kinds[0]) != (kind in kinds[1])), None)


def _kinds_of_constants(model: Model) -> set[str]:
    """The precisions of the constants of 16 elements or more."""
    kinds = set()
    for layer in model.walk():
        if layer.is_constant:
            name, shape = layer.attribute("element_type") or "", layer.attribute("shape") or ""
            sizes = [int(size) for size in shape.split(",") if is_number(size.strip())]
            if math.prod(sizes) >= 16:
                kinds.add(_COARSE_NAMES.get(name, name))
    return kinds
