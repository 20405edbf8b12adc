"""Renders JUnit XML: a suite for each file, a test case for each finding.

A finding at or above the fail level is a failure. A finding below the fail level is a case that
passes, with the message as its output. The document uses only elements and attributes of the schema
of Jenkins' xUnit plugin, the strictest schema known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...rule_ids import SEVERITIES
from ..report import Diagnostic, FileReport, Report
from .common import DEFAULTS, Options, layer_phrase, plain


class Case(NamedTuple):
    """A test case.

    text: the description of the finding. failure: message and type if the case fails, else None.
    """

    name: str
    text: str = ""
    failure: tuple[str, str] | None = None


def render(report: Report, options: Options = DEFAULTS) -> str:
    failing = SEVERITIES[: SEVERITIES.index(options.fail_level) + 1]
    suites = [(file.path, _cases(file, failing)) for file in report.files]
    every = [case for _, cases in suites for case in cases]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="irshape" {_counts(every)} time="0">\n'
        f"{''.join(_suite(path, cases) for path, cases in suites)}</testsuites>\n"
    )


def _suite(path: str, cases: Sequence[Case]) -> str:
    shown = _attribute(path)
    return (
        f'<testsuite name="{shown}" file="{shown}" {_counts(cases)} skipped="0" time="0">\n'
        f"{''.join(_case(shown, case) for case in cases)}</testsuite>\n"
    )


def _counts(cases: Sequence[Case]) -> str:
    failures = sum(case.failure is not None for case in cases)
    return f'tests="{len(cases)}" failures="{failures}" errors="0"'


def _case(suite: str, case: Case) -> str:
    """Returns a test case as XML. suite: its name, already escaped."""
    head = f'<testcase classname="{suite}" name="{_attribute(case.name)}" time="0"'
    if case.failure is not None:
        message, kind = map(_attribute, case.failure)
        failure = f'<failure message="{message}" type="{kind}">{_text(case.text)}</failure>'
        return f"{head}>\n{failure}\n</testcase>\n"
    if case.text:
        return f"{head}>\n<system-out>{_text(case.text)}</system-out>\n</testcase>\n"
    return f"{head}/>\n"


def _cases(file: FileReport, failing: tuple[str, ...]) -> list[Case]:
    """Returns a test case for each finding; without findings, one case that passes."""
    return [
        Case(
            name,
            _description(diagnostic),
            (diagnostic.message, diagnostic.code) if diagnostic.severity in failing else None,
        )
        for diagnostic, name in zip(file.diagnostics, _names(file), strict=True)
    ] or [Case("nothing found")]


def _names(file: FileReport) -> list[str]:
    """Returns a unique name for each finding of a file, since readers merge cases of one name."""
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
