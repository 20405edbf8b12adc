"""Renders the report for a terminal: each finding with its line of the file and advice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...model.source import Source
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
    """Renders the findings of each file, and the numbers of all and of fixable findings.

    Infos that the options hide are only counted.
    """
    paint = painter(options.colour)
    groups = [(file, shown(file, options)) for file in report.files]
    groups = [(file, group) for file, group in groups if group]
    parts = list(
        _rules([group for _, group in groups], paint)
        if options.statistics
        else _findings(groups, paint, options)
    )
    parts.append("\n".join((_summary(report, options, paint), *_what_fix_does(report, options))))
    return "\n".join(parts) + "\n"


def _findings(
    groups: Sequence[tuple[FileReport, list[Diagnostic]]], paint: Paint, options: Options
) -> Iterator[str]:
    for file, group in groups:
        if len(groups) > 1:
            severities = [diagnostic.severity for diagnostic in group]
            counts = tally({severity: severities.count(severity) for severity in SEVERITIES})
            yield f"{paint(plain_path(file.path), 'bold')}: {counts}\n"
        for one in group:
            yield _finding(file, one, paint, options)


def _rules(groups: Sequence[list[Diagnostic]], paint: Paint) -> Iterator[str]:
    """Yields a table of the rules with findings.

    Its columns are the number of findings, the rule, the severity, the number of files, and the
    number of findings that `irshape fix` can correct.
    """
    from ..statistics import statistics

    rows = [
        (
            str(each.findings),
            each.code,
            plain(each.rule),
            each.severity,
            counted(each.files, "file"),
            _fixable(each.fixable, each.unsafely_fixable),
        )
        for each in statistics(groups)
    ]
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for number, code, rule, severity, files, fixable in rows:
        start = f"{number.rjust(widths[0])}  {code.ljust(widths[1])}  {rule.ljust(widths[2])}  "
        rest = f"  {files.ljust(widths[4])}  {fixable}".rstrip()
        lines.append(start + paint(severity.ljust(widths[3]), severity) + rest + "\n")
    yield "".join(lines)


def _fixable(safe: int, unsafe: int) -> str:
    said = [f"{safe} fixable"] if safe else []
    said += [f"{unsafe} with --unsafe-fixes"] if unsafe else []
    return ", ".join(said)


def _finding(file: FileReport, diagnostic: Diagnostic, paint: Paint, options: Options) -> str:
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
    for cause in diagnostic.causes:
        place = f" (line {cause['line']})" if cause["line"] != diagnostic.line else ""
        lines.append(f"  {paint('possible cause:', 'bold')} {plain(cause['message'])}{place}")
    lines += [f"  {paint('also:', 'bold')} {each}" for each in _related(diagnostic)]
    if options.fixes:
        lines += _fixes(file, diagnostic, paint)
    return "\n".join(lines) + "\n"


def _related(diagnostic: Diagnostic) -> Iterator[str]:
    """Yields a line for each related finding, i.e. one that the diagnostic's fix also removes."""
    for each in diagnostic.related[:MAX_RELATED]:
        where = f"line {each['line']}: {each['severity']}[{each['code']}]"
        yield f"{where} {plain(each['message'])}"
    more = len(diagnostic.related) - MAX_RELATED
    if more > 0:
        yield f"{counted(more, 'more finding')} that the same change removes"


def _fixes(file: FileReport, diagnostic: Diagnostic, paint: Paint) -> Iterator[str]:
    """Yields the changes that remove a finding, best first, each as a diff."""
    for fix in diagnostic.fixes:
        name = f"{fix['applicability']} fix:"
        yield f"  {paint(name, 'bold')} {plain(fix['change'])} ({plain(fix['reason'])})"
        if file.source is not None:
            for mark, text in changed_lines(file.source, fix["edits"]):
                yield f"    {paint(f'{mark} {plain(text)}', _TONES[mark])}"


_TONES = {"-": "error", "+": "green", " ": "dim"}
MAX_RELATED = 8
"""The largest number of related findings to list below a finding."""
MAX_LINES = 6
"""The largest number of lines of a change that are shown."""


def changed_lines(source: Source, edits: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Returns the lines that edits change, each with a mark: `-` for old lines, `+` for new lines.

    If there are more than `MAX_LINES`, a last line with the mark ` ` says how many more.
    """
    lines: list[tuple[str, str]] = []
    groups: dict[int, list[Mapping[str, Any]]] = {}
    for edit in edits:
        groups.setdefault(edit["line"], []).append(edit)
    for first, group in groups.items():
        last = max(edit["end_line"] for edit in group)
        before = [source.line(number) for number in range(first, last + 1)]
        after, at = "", 0
        for edit in group:
            after += before[0][at : edit["column"] - 1] + edit["text"]
            at = edit["end_column"] - 1
            if edit["end_line"] > first:
                after += before[-1][at:]
                at = len(before[0])
        after += before[0][at:]
        new = [line.rstrip("\r") for line in after.split("\n")]
        while before and new and before[0] == new[0]:
            del before[0], new[0]
        while before and new and before[-1] == new[-1]:
            del before[-1], new[-1]
        lines += [("-", line.strip()) for line in before]
        lines += [("+", line.strip()) for line in new if line.strip()]
    if len(lines) > MAX_LINES:
        more = len(lines) - MAX_LINES
        lines = [*lines[:MAX_LINES], (" ", f"… and {counted(more, 'more line')}")]
    return lines


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


def _what_fix_does(report: Report, options: Options) -> Iterator[str]:
    """Yields a line with the number of findings that `irshape fix` can fix, or no line for 0."""
    safely = [each.fixed_safely for each in report.diagnostics for _ in each.whole]
    safe, unsafe = safely.count(True), safely.count(False)
    flag = "--unsafe-fixes"
    if safe:
        told = f"`irshape fix --in-place` can fix {counted(safe, 'finding')}"
        told += f", {flag} {unsafe} more" if unsafe else ""
    elif unsafe:
        told = f"`irshape fix --in-place {flag}` can fix {counted(unsafe, 'finding')}"
    else:
        return
    yield told + ("" if options.fixes else " (shown with --show-fixes)")
