"""Compares two models: matches their tensors, finds the first that differs, and says why."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from itertools import permutations
from typing import Literal

from ..execution.errors import ExecutionError
from ..execution.feeds import Fed, Given
from ..execution.inputs import random_inputs
from ..execution.ranges import all_tensors
from ..execution.session import Observer, Session
from ..model.graph import Model
from ..model.ids import is_number
from ..numbers.tolerance import checked
from ..numpy_types import Array, dtype_of
from ..shapes import PartialShape
from ..spelling import first_of
from .foreign import asked
from .model_pairs import ModelComparison
from .model_run import ModelRun, with_values_of_runtime
from .pairing import common_shapes, paired_inputs, reordered

MAX_LAYOUT_AXES = 5
"""How many axes an input may have if other layouts are tried for it, e.g. NDHWC for NCDHW."""
Runtime = Literal["onnxruntime", "irshape"]
"""The runtimes that can compute the values of an ONNX model."""

_COARSE_NAMES = {
    **dict.fromkeys(("i4", "u4", "nf4", "f4e2m1", "u2"), "int4"),
    **dict.fromkeys(("i8", "u8", "f8e4m3", "f8e5m2"), "int8"),
}
"""Maps element types of weights to keys of `model_run.COARSE`, e.g. u4 to int4."""


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
    """Implements `irshape.compare`, which describes the parameters and the errors.

    irshape's result for a layer decides whether the layer is to blame, even if another runtime
    computes the values of the models.
    """
    checked(rtol=rtol, atol=atol)
    session, other = Session(first, max_memory=max_memory), Session(second, max_memory=max_memory)
    if inputs is None:
        inputs = random_inputs(first, seed, common_shapes(first, second), max_memory=max_memory)
    fed = session.bind(inputs)
    handed = _handed(first, second, fed)
    own_tolerance = (rtol, atol) != (None, None)
    comparison = ModelComparison(first, second, coarser(first, second), own_tolerance=own_tolerance)
    comparison.notes += _on_inputs(first, second, fed)
    of_first = _by_runtime(comparison, first, fed, runtime)
    of_second = _by_runtime(comparison, second, handed, runtime)
    comparison.runtimes = (of_first[0], of_second[0])
    kept = {
        layer.id: with_values_of_runtime(layer, outputs, of_first[1])
        for layer, outputs in all_tensors(session, fed, progress).items()
    }
    run = ModelRun(comparison, other, kept, of_second[1], rtol, atol)
    run.compare_run(handed, progress)
    run.finish()
    return comparison


def _by_runtime(
    comparison: ModelComparison, model: Model, fed: Fed, runtime: Runtime | None
) -> tuple[str, dict[str, Array]]:
    """Runs a model in its own runtime. Returns the runtime's name, and the values by tensor name.

    Returns no values if irshape is to run the model itself.
    """
    native = model.format.comparing_runtime
    if native is None or runtime == "irshape" or not os.path.isfile(model.path):
        return "irshape", {}
    try:
        answer, values = asked(model, fed, native)
    except RuntimeError as absent:
        if runtime is not None:
            raise
        comparison.notes.append(f"irshape runs {model.path}: {absent}")
        return "irshape", {}
    if answer.crashed or answer.problem:
        comparison.notes.append(
            f"irshape runs {model.path}, because {answer.version} cannot: "
            f"{answer.crashed or answer.problem}"
        )
        return "irshape", {}
    return answer.version, values


def _on_inputs(first: Model, second: Model, fed: Fed) -> Iterator[str]:
    """Yields notes on inputs: on another order, on pairs that are not matched by name or whose
    shapes differ, and on the shapes that dynamic inputs have in this run."""
    ran = []
    partners = {layer: other for layer, other, _ in paired_inputs(first, second)}
    theirs = [second.parameters.index(partners[layer]) for layer in first.parameters]
    yield from reordered("inputs", theirs, [layer.name for layer in second.parameters])
    for layer, other, means in paired_inputs(first, second):
        own, its = (PartialShape.of(each.attribute("shape") or "") for each in (layer, other))
        if means == "position" or own != its:
            order = " by order" if means == "position" else ""
            yield f"input '{layer.name}' {own} of A is paired with '{other.name}' {its} of B{order}"
        if not (own.is_static and its.is_static):
            ran.append(f"{layer.name}={PartialShape(fed[layer].shape)}")
    if ran:
        yield f"run with {first_of(ran, 5)}"


def _in_another_layout(shape: PartialShape, sizes: tuple[int, ...]) -> bool:
    """Whether sizes do not fit a shape, but would in another order of the axes, e.g. NHWC."""
    if shape.encloses(PartialShape(sizes)) or len(sizes) > MAX_LAYOUT_AXES:
        return False
    return any(shape.encloses(PartialShape(each)) for each in permutations(sizes))


def _handed(first: Model, second: Model, fed: Fed) -> Fed:
    """Returns the inputs for the second model: those of the first model, matched by tensor name,
    layer name or order, and converted to the element types of the second model."""
    handed = {other: fed[layer] for layer, other, _ in paired_inputs(first, second)}
    for layer, given in handed.items():
        its = PartialShape.of(layer.attribute("shape") or "")
        if _in_another_layout(its, given.shape):
            raise ExecutionError(
                f"the input has shape {its} in B, but the same sizes in another order in A: "
                f"{PartialShape(given.shape)}; compare gives both models the same arrays, so "
                "change the layout of one of the inputs with `irshape edit --input-layout`",
                layer,
            )
        wanted = layer.outputs[0].element_type if layer.outputs else None
        if wanted is None or wanted.is_dynamic or given.dtype.kind == "O":
            continue
        if given.dtype != dtype_of(wanted):
            handed[layer] = given.astype(dtype_of(wanted))
    return handed


def coarser(first: Model, second: Model) -> str | None:
    """Returns the lowest precision, as a key of `model_run.COARSE` such as f16, that occurs in only
    one of two models; None if there is none."""
    differing = _precisions(first) ^ _precisions(second)
    kinds = {kind for kind, _ in differing}
    return next((kind for kind in ("int4", "int8", "bf16", "f16") if kind in kinds), None)


def _precisions(model: Model) -> set[tuple[str, bool]]:
    """Returns the precisions in a model. For a constant of 16 elements or more, `(type, True)`. For
    other tensors, only `("f16", False)` and `("bf16", False)`."""
    kinds = set()
    for layer in model.walk():
        if layer.is_constant:
            name, shape = layer.attribute("element_type") or "", layer.attribute("shape") or ""
            sizes = [int(size) for size in shape.split(",") if is_number(size.strip())]
            if math.prod(sizes) >= 16:
                kinds.add((_COARSE_NAMES.get(name, name), True))
        elif not layer.is_result:
            types = {str(port.element_type) for port in layer.outputs}
            kinds |= {(kind, False) for kind in types & {"f16", "bf16"}}
    return kinds
