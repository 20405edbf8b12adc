"""Renders a line of JSON for each finding, with the path of its file.

The format suits programs that read line by line. Several reports can be joined into one.
"""

from __future__ import annotations

from ..report import Report
from .common import DEFAULTS, Options, json_text


def render(report: Report, options: Options = DEFAULTS) -> str:
    rows = (
        {"version": 1, "path": file.path} | diagnostic.to_dict()
        for file in report.files
        for diagnostic in file.diagnostics
    )
    return "".join(json_text(row) + "\n" for row in rows)
