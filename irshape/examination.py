"""The findings on a model: what every rule reports, after the selection and the comments."""

from __future__ import annotations

from typing import NamedTuple

from .collection import collection_paused
from .inference.engine import infer
from .model.graph import Finding, Model
from .ops.registry import extensions_known
from .rule_ids import INPUT_SHAPES
from .rules import Context, findings
from .rules.settings import PLAIN, Settings
from .settings.selection import Filter


class Examination(NamedTuple):
    """The findings on a model that are reported, in file order, and the context of the rules."""

    findings: list[Finding]
    context: Context


def examine(model: Model, settings: Settings = PLAIN, *, reasons: bool = True) -> Examination:
    """Infers a model, asks the rules, and applies the selection and the model's own comments.

    reasons: say in messages what decides a shape; that takes time.
    """
    with collection_paused(), extensions_known(settings.extensions):
        context = Context(model, infer(model, compare=True), settings, reasons=reasons)
        selection = Filter(settings, model.source if model.format.comments else None)
        reported = [each for each in findings(context, settings.also) if selection.keep(each)]
        reported += selection.about_comments()
        if reasons:
            reported = [
                context.with_reasons(each) if each.rule == INPUT_SHAPES else each
                for each in reported
            ]
    reported.sort(key=in_file_order)
    return Examination(reported, context)


def in_file_order(finding: Finding) -> tuple[int, str, str]:
    """The key by which findings are sorted."""
    return finding.offset, finding.rule.name, finding.message
