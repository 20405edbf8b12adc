"""Renders JUnit XML: a suite for each file, a test case for each finding.

A finding at or above the fail level is a failure. A finding below the fail level is a case that
passes, with the message as its output. The document uses only elements and attributes of the schema
of Jenkins' xUnit plugin, the strictest schema known.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...rule_ids import SEVERITIES
from ..report import Diagnostic, FileReport, Report
from .common import DEFAULTS, Options, layer_phrase, plain


def render(report: Report, options: Options = DEFAULTS) -> str:
    failing = SEVERITIES[: SEVERITIES.index(options.fail_level) + 1]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="irshape" {_counts(report.files, failing)} time="0">\n'
        f"{''.join(_suite(file, failing) for file in report.files)}</testsuites>\n"
    )


def _counts(files: Sequence[FileReport], failing: Sequence[str]) -> str:
    """Returns the XML attributes with counts. A file without findings counts as a passed case."""
    cases = sum(max(1, len(file.diagnostics)) for file in files)
    failures = sum(each.severity in failing for file in files for each in file.diagnostics)
    return f'tests="{cases}" failures="{failures}" errors="0"'


def _suite(file: FileReport, failing: Sequence[str]) -> str:
    name = _attribute(file.path)
    cases = [
        _case(f'classname="{name}" name="{_attribute(own)}"', each, each.severity in failing)
        for each, own in zip(file.diagnostics, _names(file), strict=True)
    ]
    cases = cases or [f'<testcase classname="{name}" name="nothing found" time="0"/>\n']
    return (
        f'<testsuite name="{name}" file="{name}" {_counts([file], failing)} skipped="0" time="0">\n'
        f"{''.join(cases)}</testsuite>\n"
    )


def _case(named: str, diagnostic: Diagnostic, fails: bool) -> str:
    """Returns the test case of a finding as XML. named: the attributes that name the case."""
    described = _text(_description(diagnostic))
    if fails:
        message, kind = _attribute(diagnostic.message), _attribute(diagnostic.code)
        content = f'<failure message="{message}" type="{kind}">{described}</failure>'
    else:
        content = f"<system-out>{described}</system-out>"
    return f'<testcase {named} time="0">\n{content}\n</testcase>\n'


def _names(file: FileReport) -> list[str]:
    """Returns a unique name for each finding of a file. Readers merge cases of the same name."""
    seen: dict[str, int] = {}
    names = []
    for diagnostic in file.diagnostics:
        name = f"{diagnostic.code} {diagnostic.rule}" + (
            f", {layer_phrase(diagnostic)}" if diagnostic.layer else ""
        )
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return names


def _description(diagnostic: Diagnostic) -> str:
    lines = [
        f"line {diagnostic.line}, column {diagnostic.column}: "
        f"{diagnostic.severity}[{diagnostic.code}] {diagnostic.message}",
        layer_phrase(diagnostic),
    ]
    lines += [f"help: {diagnostic.help}"] if diagnostic.help else []
    return "\n".join(plain(line) for line in lines if line)


def _text(text: str) -> str:
    return _escaped("\n".join(map(plain, text.split("\n"))))


def _attribute(text: str) -> str:
    return _escaped(plain(text)).replace('"', "&quot;")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
