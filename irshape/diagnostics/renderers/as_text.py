"""The report for a terminal: each finding with its line of XML and what to do."""

from __future__ import annotations

from collections.abc import Callable

from ...rule_ids import SEVERITIES
from ...spelling import counted
from ..report import Diagnostic, FileReport, Report
from .colours import painter
from .common import (
    DEFAULTS,
    Options,
    excerpt,
    layer_phrase,
    plain,
    plain_path,
    shown,
    tally,
)

Paint = Callable[..., str]


def render(report: Report, options: Options = DEFAULTS) -> str:
    """The findings file by file, and a summary line. Infos that are not shown are counted."""
    paint = painter(options.colour)
    groups = [(file, shown(file, options)) for file in report.files]
    groups = [(file, group) for file, group in groups if group]
    parts: list[str] = []
    for file, group in groups:
        if len(groups) > 1:
            severities = [diagnostic.severity for diagnostic in group]
            counts = tally({severity: severities.count(severity) for severity in SEVERITIES})
            parts.append(f"{paint(plain_path(file.path), 'bold')}: {counts}\n")
        parts += [_finding(file, one, paint) for one in group]
    parts.append(_summary(report, options, paint))
    return "\n".join(parts) + "\n"


def _finding(file: FileReport, diagnostic: Diagnostic, paint: Paint) -> str:
    place = paint(f"{plain_path(file.path)}:{diagnostic.line}:{diagnostic.column}", "bold")
    lines = [
        f"{place}: {paint(f'{diagnostic.severity}[{diagnostic.code}]', diagnostic.severity)} "
        f"{plain(diagnostic.message)}"
    ]
    if diagnostic.layer is not None:
        lines.append(f"  {layer_phrase(diagnostic)}")
    seen = excerpt(file, diagnostic)
    if seen is not None:
        gutter = f"{diagnostic.line} |"
        lines += [
            f"  {paint(gutter, 'dim')} {seen.text}",
            f"  {paint('|'.rjust(len(gutter)), 'dim')} "
            f"{' ' * seen.caret}{paint('^', diagnostic.severity)}",
        ]
    if diagnostic.help:
        lines.append(f"  {paint('help:', 'bold')} {plain(diagnostic.help)}")
    return "\n".join(lines) + "\n"


def _summary(report: Report, options: Options, paint: Paint) -> str:
    errors, warnings, notes = (report.count(severity) for severity in SEVERITIES)
    files = (
        f"{counted(len(report.files), 'file')}, "
        f"{counted(sum(file.layers for file in report.files), 'layer')}"
    )
    counts = tally({"error": errors, "warning": warnings})
    if counts:
        outcome = paint(counts, "error" if errors else "warning")
    else:
        outcome = paint("no errors, no warnings", "green")
    hidden = "" if options.infos else " (shown with --verbose)"
    return f"{files}: {outcome}" + (f", {counted(notes, 'info')}{hidden}" if notes else "")
