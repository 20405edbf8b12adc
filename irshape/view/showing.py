"""Gathers the inferred types, shapes and findings of a model for its page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..checking.one import report_on
from ..diagnostics.report import diagnostic
from ..formats.loading import WeightsChoice, open_model, read_source
from ..garbage_collection import collection_paused
from ..inference.engine import infer
from ..inference.overview import dynamic_places
from ..model.graph import Model, NotReadable
from ..repair.diagnosis import diagnose
from ..rules.settings import PLAIN, Settings
from .document import Numbering, Shown, Writer, unreadable_document
from .overlays import Overlay, static_overlays

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..diagnostics.report import Diagnostic
    from ..model.graph import Layer


class Subject:
    """A model on a page, with its document.

    `model` is None for a file from which no model can be read.
    """

    @collection_paused()
    def __init__(
        self,
        path: str | Model,
        weights: WeightsChoice = "beside",
        *,
        settings: Settings = PLAIN,
        symbols: bool = True,
        histograms: bool = False,
    ) -> None:
        """Raises `OSError` for a file that cannot be opened."""
        self.model: Model | None = None
        self.document: dict[str, Any]
        self.shown: Shown | None = None
        try:
            model = path if isinstance(path, Model) else read_source(*open_model(path, weights))
        except NotReadable as unreadable:
            findings = [diagnostic(unreadable.finding, unreadable.source)]
            self.document = unreadable_document(unreadable.source.path, findings)
            return
        self.model = model
        self.shown = shown = examined(model, settings, symbols=symbols)
        self.numbering = Numbering(model)
        self.document = Writer(shown, self.numbering, histograms).document()
        self.lay_over(static_overlays(shown.inference, shown.symbols, self.numbering, settings))

    def lay_over(self, overlays: Iterable[Overlay]) -> None:
        """Adds overlays to the page. The overlays that are added last come first."""
        added = [overlay.document() for overlay in overlays]
        self.document["overlays"] = added + self.document["overlays"]


def examined(model: Model, settings: Settings = PLAIN, *, symbols: bool = True) -> Shown:
    """Returns a model with its inferred types and shapes, and findings."""
    diagnosis = diagnose(model, settings)
    report = report_on(diagnosis)
    findings: list[tuple[Diagnostic, Layer | None]] = [
        (each, finding.layer)
        for each, finding in zip(report.diagnostics, diagnosis.findings, strict=True)
    ]
    inference = diagnosis.context.inference
    symbols = symbols and any(dynamic_places(inference.result))
    named = infer(model, symbols=True, known=inference) if symbols else None
    return Shown(model, inference, named, findings)
