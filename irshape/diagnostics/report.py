"""Diagnostics, and the report that holds them; `load`, which raises them."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from ..model.graph import Finding, Model, NotReadable
from ..model.source import Source
from ..rule_ids import SEVERITIES, Severity


class Diagnostic(NamedTuple):
    """One finding: what, where, why, and what to do.

    `line` and `column` start at 1. `layer` and `port` are as in the report's JSON.
    """

    code: str
    rule: str
    severity: Severity
    message: str
    line: int
    column: int
    layer: dict[str, Any] | None = None
    port: dict[str, str] | None = None
    expected: str | None = None
    actual: str | None = None
    help: str | None = None
    related: tuple[dict[str, Any], ...] = ()
    """What only follows from it: `code`, `message`, `line`, `column`, `layer`, `port`."""
    fixes: tuple[dict[str, Any], ...] = ()
    """The changes that take it back, best first: `change`, `safe`, `edits` by line and column."""

    def __str__(self) -> str:
        """`LINE:COLUMN: SEVERITY[CODE] LAYER: MESSAGE`, on one line."""
        where = ""
        if self.layer is not None:
            ids = "/".join((*self.layer["path"], self.layer["id"]))
            name = f" '{self.layer['name']}'" if self.layer["name"] else ""
            where = f"{self.layer['type']}{name} (id {ids}): "
        place = f"{self.line}:{self.column}"
        return f"{place}: {self.severity}[{self.code}] {where}{self.message}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON; without `related` and `fixes` where there are none."""
        fields = self._asdict()
        for name in ("related", "fixes"):
            if not fields[name]:
                del fields[name]
        return fields


class FileReport(NamedTuple):
    """The diagnostics of one file.

    `source` is for renderers that show a line of the file; it is not part of `to_dict`."""

    path: str
    layers: int
    diagnostics: list[Diagnostic]
    source: Source | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON: an element of `files` in the report."""
        return {
            "path": self.path,
            "layers": self.layers,
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }


class Report:
    """The diagnostics of all files; `to_dict` is what `irshape validate --format json` prints."""

    def __init__(self, files: list[FileReport]) -> None:
        self.files = files

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The findings of all files, in their order."""
        return [diagnostic for file in self.files for diagnostic in file.diagnostics]

    def count(self, severity: Severity) -> int:
        """How many findings have a severity."""
        return sum(
            diagnostic.severity == severity
            for file in self.files
            for diagnostic in file.diagnostics
        )

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.count("error")

    def __repr__(self) -> str:
        return f"<Report: {str(self).splitlines()[-1]}>"

    def __str__(self) -> str:
        """A line for each finding, `PATH:LINE:COLUMN: …`, and a line of counts."""
        findings = [f"{file.path}:{finding}" for file in self.files for finding in file.diagnostics]
        counts = (
            (len(self.files), "file"),
            *((self.count(severity), severity) for severity in SEVERITIES),
        )
        totals = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
        return "\n".join((*findings, totals))

    def to_dict(self) -> dict[str, Any]:
        """As JSON: what `irshape validate --format json` prints."""
        files = [file.to_dict() for file in self.files]
        return {"version": 1, "files": files, "summary": summary(self)}


def summary(report: Report) -> dict[str, int]:
    """How many files there are, and findings of each severity, as in the JSON."""
    return {
        "files": len(report.files),
        "errors": report.count("error"),
        "warnings": report.count("warning"),
        "infos": report.count("info"),
    }


class LoadError(Exception):
    """There is no model to return; `diagnostics` say why, `path` where."""

    def __init__(self, file: FileReport) -> None:
        self.path = file.path
        self.diagnostics = file.diagnostics
        first = file.diagnostics[0]
        super().__init__(f"{file.path}:{first}")


def diagnostic(finding: Finding, source: Source) -> Diagnostic:
    """A finding as users see it: with its code, and the line and column of its place."""
    line, column = source.place(finding.offset)
    return Diagnostic(
        finding.rule.code,
        finding.rule.name,
        finding.severity,
        finding.message,
        line,
        column,
        finding.layer.reference if finding.layer is not None else None,
        {"direction": finding.port[0], "id": finding.port[1]} if finding.port else None,
        finding.expected,
        finding.actual,
        finding.help,
        tuple(_follows(other, source) for other in finding.related),
    )


def _follows(finding: Finding, source: Source) -> dict[str, Any]:
    """A finding that only follows from another, as it stands there."""
    line, column = source.place(finding.offset)
    return {
        "code": finding.rule.code,
        "message": finding.message,
        "line": line,
        "column": column,
        "layer": finding.layer.reference if finding.layer is not None else None,
        "port": {"direction": finding.port[0], "id": finding.port[1]} if finding.port else None,
    }


def load(path: str | os.PathLike[str], weights: str | os.PathLike[str] = "beside") -> Model:
    """`irshape.load`."""
    from ..formats.loading import load as load_model

    try:
        return load_model(path, weights)
    except NotReadable as unreadable:
        source = unreadable.source
        raise LoadError(
            FileReport(source.path, 0, [diagnostic(unreadable.finding, source)], source)
        ) from None
