"""Checks that a model has no errors before it becomes a graph."""

from __future__ import annotations

from copy import copy

from ..diagnostics.report import FileReport, LoadError, diagnostic
from ..inference.body_engine import BodyEngine
from ..inference.contrary_sizes import MAX_LAYERS, contrary_sizes
from ..inference.result import BodyResult, Inference
from ..model.graph import Model
from ..rules import Context, findings
from ..rules.inputs_and_outputs import CollidingName
from ..rules.settings import PLAIN
from .errors import GraphError


def checked(model: Model) -> BodyResult:
    """Returns the inferred types and shapes of a model. Raises `LoadError` with the diagnostics if
    the model has errors."""
    if model.kind == "layers":
        raise GraphError("a file of single layers is not a graph; give a whole model")
    result = BodyEngine(model).infer_body(model.net, {}, compare=True)
    context = Context(model, Inference(model, result), PLAIN, reasons=False)
    if any(finding.severity == "error" for finding in findings(context)):
        from ..examination import examine

        examined, context = examine(model)
        errors = [finding for finding in examined if finding.severity == "error"]
        if errors:
            source = model.source
            diagnostics = [diagnostic(finding, source) for finding in errors]
            raise LoadError(FileReport(model.path, len(context.every_layer), diagnostics, source))
    return result


def refuse_contrary_sizes(declared: Inference) -> None:
    """Raises `GraphError` if layers require contradicting sizes of one dynamic dimension.

    declared: a model, inferred with the shapes that its ports declare.
    For example, two layers require a dynamic axis to be 3 and 4. Each of them accepts the dynamic
    shape of its input, so the check of a single change does not find the contradiction.
    """
    model = declared.model
    if len(model.net.layers) <= MAX_LAYERS and any(
        -1 in tensor.shape.declared for part in declared.result.outputs for tensor in part
    ):
        result = BodyEngine(model).infer_body(model.net, {}, compare=False)
        for layer, fault in contrary_sizes(Inference(model, result)):
            raise GraphError.of(fault, layer.type, layer.label)


def refuse_colliding_names(declared: Inference) -> None:
    """Raises `GraphError` if an IR of version 10 cannot store the names of inputs and outputs: if
    two of them would have the same name, or if a Result declares names."""
    model = copy(declared.model)
    model.version = 10
    context = Context(model, Inference(model, declared.result), PLAIN, reasons=False)
    for finding in CollidingName.check(context):
        assert finding.layer is not None
        raise GraphError.of(finding.fault, finding.layer.type, finding.layer.label)
    for layer in model.net.layers:
        if layer.output_names:
            raise GraphError(f"{layer.label}: an IR of version 10 cannot store names of a Result")
