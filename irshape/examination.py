"""Checks a model with all rules, then drops findings that settings or comments disable."""

from __future__ import annotations

from typing import NamedTuple

from .garbage_collection import collection_paused
from .inference.engine import infer
from .model.graph import Finding, Model
from .ops.registry import extensions_known
from .rule_ids import INPUT_SHAPES
from .rules import Context, findings
from .rules.settings import PLAIN, Settings
from .settings.selection import Filter


class Examination(NamedTuple):
    """The findings to report on a model, in file order, and the context in which the rules ran."""

    findings: list[Finding]
    context: Context


def examine(model: Model, settings: Settings = PLAIN, *, reasons: bool = True) -> Examination:
    """Infers a model, runs the rules, and drops findings that settings or comments disable.

    reasons: whether messages say which layers determine a shape. This takes time.
    """
    with collection_paused(), extensions_known(settings.extensions):
        context = Context(model, infer(model, compare=True), settings, reasons=reasons)
        selection = Filter(settings, model.source if model.format.is_ir else None)
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
    """Returns a key that sorts findings by their offset in the file."""
    return finding.offset, finding.rule.name, finding.message
