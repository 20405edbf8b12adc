"""Validation: reads, infers, and asks every rule; what a file holds is never an exception."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..formats.ir_reader import NotReadable
from ..formats.layers import give_values
from ..formats.loading import load
from ..model import Model
from .report import FileReport, Report, diagnostic

Target = str | os.PathLike[str] | Model


def validate(target: Target | Iterable[Target], weights: str | os.PathLike[str] = "beside") -> Report:
    """`irshape.validate`."""
    targets: list[Target] = [target] if isinstance(target, (str, os.PathLike, Model)) else list(target)
    return Report([validate_one(one, weights) for one in targets])


def validate_one(target: Target, weights: str | os.PathLike[str] = "beside", values: Mapping[str, str] | None = None) -> FileReport:
    """Everything that is wrong with one file. `values`: those of the inputs of layers on their own. Raises `OSError` where it cannot be opened."""
    if isinstance(target, Model):
        return validate_model(target)
    try:
        model = load(target, weights)
    except NotReadable as unreadable:
        source = unreadable.source
        return FileReport(source.path, 0, [diagnostic(unreadable.problem, source)], source)
    if values:
        give_values(model, values)
    return validate_model(model)


def validate_model(model: Model) -> FileReport:
    """Everything that is wrong with a model, in file order."""
    from ..inference.engine import infer
    from ..rules import Context, findings

    context = Context(model, infer(model, compare=True))
    source = model.source
    found = sorted(findings(context), key=lambda problem: (problem.offset, problem.rule, problem.message))
    return FileReport(model.path, sum(1 for _ in model.walk()), [diagnostic(problem, source) for problem in found], source)
