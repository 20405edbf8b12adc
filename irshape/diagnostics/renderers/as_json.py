"""The report as one JSON document, the form that other programs rely on."""

from __future__ import annotations

import json

from ..report import Report


def render(report: Report) -> str:
    return json.dumps(report.to_dict(), indent=1, ensure_ascii=False) + "\n"
