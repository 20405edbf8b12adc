"""Renders the report as one JSON document, for other programs."""

from __future__ import annotations

from ..report import Report
from ..statistics import to_dict
from .common import DEFAULTS, Options, json_text


def render(report: Report, options: Options = DEFAULTS) -> str:
    return json_text(to_dict(report) if options.statistics else report.to_dict(), 1) + "\n"
