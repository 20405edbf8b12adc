"""Checks that a model is sound before it becomes a graph."""

from __future__ import annotations

from ..checking.one import examine
from ..diagnostics.report import FileReport, LoadError, diagnostic
from ..inference.result import Inference
from ..model.graph import Model
from .errors import GraphError


def checked(model: Model) -> Inference:
    """What is inferred of a sound model. Raises `LoadError` with the errors of one that is not."""
    if model.kind == "layers":
        raise GraphError("layers on their own are no graph; give a whole model")
    findings, context, _ = examine(model)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        source = model.source
        diagnostics = [diagnostic(finding, source) for finding in errors]
        raise LoadError(FileReport(model.path, len(context.every_layer), diagnostics, source))
    return context.inference
