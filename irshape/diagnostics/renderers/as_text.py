"""The report for a person at a terminal: file by file, each finding with the line of XML it is about, then what to do."""

from __future__ import annotations

from collections.abc import Callable

from ...rule_ids import SEVERITIES
from ..report import Diagnostic, FileReport, Report
from .colours import painter
from .common import (
    DEFAULTS,
    Options,
    counted,
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
    groups = [(file, found) for file, found in groups if found]
    parts: list[str] = []
    for file, found in groups:
        if len(groups) > 1:
            parts.append(
                f"{paint(plain_path(file.path), 'bold')}: {tally({severity: sum(one.severity == severity for one in found) for severity in SEVERITIES})}\n"
            )
        parts += [_finding(file, one, paint) for one in found]
    parts.append(_summary(report, options, paint))
    return "\n".join(parts) + "\n"


def _finding(file: FileReport, found: Diagnostic, paint: Paint) -> str:
    place = paint(f"{plain_path(file.path)}:{found.line}:{found.column}", "bold")
    lines = [
        f"{place}: {paint(f'{found.severity}[{found.code}]', found.severity)} {plain(found.message)}"
    ]
    if found.layer is not None:
        lines.append(f"  {layer_phrase(found)}")
    seen = excerpt(file, found)
    if seen is not None:
        gutter = f"{found.line} |"
        lines += [
            f"  {paint(gutter, 'dim')} {seen.text}",
            f"  {paint('|'.rjust(len(gutter)), 'dim')} {' ' * seen.caret}{paint('^', found.severity)}",
        ]
    if found.help:
        lines.append(f"  {paint('help:', 'bold')} {plain(found.help)}")
    return "\n".join(lines) + "\n"


def _summary(report: Report, options: Options, paint: Paint) -> str:
    errors, warnings, notes = (report.count(severity) for severity in SEVERITIES)
    files = f"{counted(len(report.files), 'file')}, {counted(sum(file.layers for file in report.files), 'layer')}"
    found = tally({"error": errors, "warning": warnings})
    outcome = (
        paint(found, "error" if errors else "warning")
        if found
        else paint("no errors, no warnings", "green")
    )
    hidden = "" if options.infos else " (shown with --verbose)"
    return f"{files}: {outcome}" + (f", {counted(notes, 'info')}{hidden}" if notes else "")
