"""Renders JUnit XML: a suite for each file, a test case for each finding.

A finding at or above the fail level is a failure. One below it is a case that passes, with its
text. Only elements and attributes of the strictest schema (that of Jenkins' xUnit plugin) are used.
"""

from __future__ import annotations

from ...rule_ids import SEVERITIES
from ..report import Diagnostic, FileReport, Report
from .common import DEFAULTS, Options, layer_phrase, plain

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def render(report: Report, options: Options = DEFAULTS) -> str:
    failing = SEVERITIES[: SEVERITIES.index(options.fail_level) + 1]
    tests = sum(max(len(file.diagnostics), 1) for file in report.files)
    failures = sum(diagnostic.severity in failing for diagnostic in report.diagnostics)
    suites = "".join(_suite(file, failing) for file in report.files)
    return (
        f'{HEAD}<testsuites name="irshape" tests="{tests}" failures="{failures}" errors="0" '
        f'time="0">\n{suites}</testsuites>\n'
    )


def _suite(file: FileReport, failing: tuple[str, ...]) -> str:
    path = _attribute(file.path)
    failures = sum(diagnostic.severity in failing for diagnostic in file.diagnostics)
    cases = "".join(
        _case(path, name, diagnostic, diagnostic.severity in failing)
        for diagnostic, name in zip(file.diagnostics, _names(file), strict=True)
    )
    cases = cases or f'<testcase classname="{path}" name="nothing found" time="0"/>\n'
    counts = (
        f'tests="{max(len(file.diagnostics), 1)}" failures="{failures}" errors="0" '
        'skipped="0" time="0"'
    )
    return f'<testsuite name="{path}" file="{path}" {counts}>\n{cases}</testsuite>\n'


def _names(file: FileReport) -> list[str]:
    """Returns a unique name for each finding in a suite, since readers merge cases with equal
    names."""
    seen: dict[str, int] = {}
    names = []
    for diagnostic in file.diagnostics:
        name = f"{diagnostic.code} {diagnostic.rule}" + (
            f", {layer_phrase(diagnostic)}" if diagnostic.layer else ""
        )
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return names


def _case(path: str, name: str, diagnostic: Diagnostic, fails: bool) -> str:
    """Returns a test case. path: escaped as an attribute."""
    lines = [
        f"line {diagnostic.line}, column {diagnostic.column}: "
        f"{diagnostic.severity}[{diagnostic.code}] {diagnostic.message}",
        layer_phrase(diagnostic),
    ]
    lines += [f"help: {diagnostic.help}"] if diagnostic.help else []
    text = "\n".join(_text(line) for line in lines if line)
    inside = (
        (
            f'<failure message="{_attribute(diagnostic.message)}" type="{diagnostic.code}">{text}'
            "</failure>"
        )
        if fails
        else f"<system-out>{text}</system-out>"
    )
    return (
        f'<testcase classname="{path}" name="{_attribute(name)}" time="0">\n{inside}\n</testcase>\n'
    )


def _text(text: str) -> str:
    return plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    return _text(text).replace('"', "&quot;")
