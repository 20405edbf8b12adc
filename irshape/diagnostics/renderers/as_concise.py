"""A line for each finding, `path:line:column: code message`: for editors, grep and logs."""

from __future__ import annotations

from ..report import Report
from .colours import painter
from .common import DEFAULTS, Options, plain, plain_path, shown


def render(report: Report, options: Options = DEFAULTS) -> str:
    paint = painter(options.colour)
    return "".join(
        (
            f"{paint(plain_path(file.path), 'bold')}:{diagnostic.line}:{diagnostic.column}: "
            f"{paint(diagnostic.code, diagnostic.severity)} {plain(diagnostic.message)}\n"
        )
        for file in report.files
        for diagnostic in shown(file, options)
    )
