"""Renders GitHub Actions annotations: a workflow command for each finding.

The runner shows only about ten annotations of each severity for a step. `step_summary` returns the
report for the summary page of the run.
"""

from __future__ import annotations

from ..report import Diagnostic, Report
from .common import DEFAULTS, Options, from_root, layer_phrase, plain, shown

LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
SUMMARY_BYTES = 1_000_000
"""GitHub refuses a step summary of more than 1 MiB."""


def render(report: Report, options: Options = DEFAULTS) -> str:
    return "".join(
        _command(from_root(file.path, options), diagnostic)
        for file in report.files
        for diagnostic in shown(file, options)
    )


def step_summary(report: Report, options: Options = DEFAULTS) -> str:
    """Returns the text for the file in GITHUB_STEP_SUMMARY.

    The text is the report in Markdown, cut to the size that GitHub accepts.
    """
    from .as_markdown import render as render_markdown

    return render_markdown(report, options, SUMMARY_BYTES)


def _command(path: str, diagnostic: Diagnostic) -> str:
    properties = {
        "title": f"irshape {diagnostic.code} {diagnostic.rule}",
        "file": path,
        "line": str(diagnostic.line),
        "col": str(diagnostic.column),
    }
    place = f"{path}:{diagnostic.line}:{diagnostic.column}"
    lines = [
        f"{place}: {diagnostic.code} {diagnostic.message}",
        layer_phrase(diagnostic),
        f"help: {diagnostic.help}" if diagnostic.help else "",
    ]
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return (
        f"::{LEVELS[diagnostic.severity]} "
        f"{listed}::{'%0A'.join(_data(plain(line)) for line in lines if line)}\n"
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Returns text, escaped for a property of a command, where `:` and `,` are separators."""
    return _data(plain(text)).replace(":", "%3A").replace(",", "%2C")
