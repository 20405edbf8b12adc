"""Renders GitLab's code quality report: a JSON list of findings with unique fingerprints."""

from __future__ import annotations

from ..report import Report
from .common import DEFAULTS, Options, fingerprints, from_root, json_text, layer_phrase

SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render(report: Report, options: Options = DEFAULTS) -> str:
    rows = [
        {
            "description": f"{diagnostic.code}: {diagnostic.message}"
            + (f" ({layer_phrase(diagnostic)})" if diagnostic.layer else ""),
            "check_name": diagnostic.rule,
            "fingerprint": fingerprint,
            "severity": SEVERITIES[diagnostic.severity],
            "location": {
                "path": from_root(file.path, options),
                "lines": {"begin": diagnostic.line},
            },
        }
        for file, marks in zip(report.files, fingerprints(report, options), strict=True)
        for diagnostic, fingerprint in zip(file.diagnostics, marks, strict=True)
    ]
    return json_text(rows, 1) + "\n"
