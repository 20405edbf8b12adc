"""Annotations of GitHub Actions: a workflow command a finding. The runner shows some ten of each kind a step, so the whole report goes to the step summary."""

from __future__ import annotations

from ..report import Diagnostic, Report
from .common import DEFAULTS, Options, from_root, layer_phrase, plain, shown

LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
SUMMARY_BYTES = 1_000_000
"""GitHub refuses a step summary of more than 1 MiB."""


def render(report: Report, options: Options = DEFAULTS) -> str:
    return "".join(
        _command(from_root(file.path, options), found)
        for file in report.files
        for found in shown(file, options)
    )


def step_summary(report: Report, options: Options = DEFAULTS) -> str:
    """What goes to the file that GITHUB_STEP_SUMMARY names: the report in Markdown, as much of it as GitHub takes."""
    from .as_markdown import render as render_markdown

    return render_markdown(report, options, SUMMARY_BYTES)


def _command(path: str, found: Diagnostic) -> str:
    properties = {
        "title": f"irshape {found.code} {found.rule}",
        "file": path,
        "line": str(found.line),
        "col": str(found.column),
    }
    place = f"{path}:{found.line}:{found.column}"
    lines = [
        f"{place}: {found.code} {found.message}",
        layer_phrase(found),
        f"help: {found.help}" if found.help else "",
    ]
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{LEVELS[found.severity]} {listed}::{'%0A'.join(_data(plain(line)) for line in lines if line)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """As data, and without the two characters that end a property."""
    return _data(plain(text)).replace(":", "%3A").replace(",", "%2C")
