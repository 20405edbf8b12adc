"""Renders a line for each finding, for editors, grep and logs."""

from __future__ import annotations

from ..report import Report
from . import as_text
from .colours import painter
from .common import DEFAULTS, Options, plain, plain_path, shown


def render(report: Report, options: Options = DEFAULTS) -> str:
    if options.statistics:
        return as_text.render(report, options)
    paint = painter(options.colour)
    return "".join(
        (
            f"{paint(plain_path(file.path), 'bold')}:{diagnostic.line}:{diagnostic.column}: "
            f"{paint(f'{diagnostic.severity}[{diagnostic.code}]', diagnostic.severity)} "
            f"{plain(diagnostic.message)}\n"
        )
        for file in report.files
        for diagnostic in shown(file, options)
    )
