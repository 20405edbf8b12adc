"""A line of JSON for each finding, with the path of its file: for programs that read lines, and for reports that are put together from several."""

from __future__ import annotations

from ..report import Report
from .common import DEFAULTS, Options, json_text


def render(report: Report, options: Options = DEFAULTS) -> str:
    rows = (
        {"version": 1, "path": file.path} | found.to_dict()
        for file in report.files
        for found in file.diagnostics
    )
    return "".join(json_text(row) + "\n" for row in rows)
