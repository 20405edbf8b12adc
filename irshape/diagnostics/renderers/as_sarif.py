"""Renders SARIF 2.1.0, a format for findings that code hosts and editors read."""

from __future__ import annotations

import os
from typing import Any

from ...spelling import counted
from ...version import __version__
from ..report import Diagnostic, FileReport, Report
from .common import (
    DEFAULTS,
    Options,
    RulePage,
    fingerprints,
    from_root,
    json_text,
    layer_phrase,
    most_severe,
    plain,
    rule_pages,
)

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVELS = {"error": "error", "warning": "warning", "info": "note"}
PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}
MAX_RESULTS = 25_000
"""The largest number of results that GitHub accepts. irshape omits the least severe ones."""


def render(report: Report, options: Options = DEFAULTS) -> str:
    whole, report = report, most_severe(report, MAX_RESULTS)
    pages = rule_pages(report)
    positions = {page.code: index for index, page in enumerate(pages)}
    results = [
        _result(file, diagnostic, mark, positions[diagnostic.code], options)
        for file, marks in zip(report.files, fingerprints(report, options), strict=True)
        for diagnostic, mark in zip(file.diagnostics, marks, strict=True)
    ]
    invocation: dict[str, Any] = {"executionSuccessful": True}
    left = len(whole.diagnostics) - len(results)
    if left:
        said = (
            f"{counted(left, 'least severe finding')} left out: code hosts refuse more "
            f"than {MAX_RESULTS:,} results"
        )
        invocation["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": said}}]
    run = {
        "tool": {
            "driver": {
                "name": "irshape",
                "semanticVersion": __version__,
                "version": __version__,
                "rules": [_rule(page) for page in pages],
            }
        },
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, 1) + "\n"


def _rule(page: RulePage) -> dict[str, Any]:
    about = page.sections.get("What it does")
    row: dict[str, Any] = {
        "id": page.code,
        "name": page.name,
        "shortDescription": {"text": _message(page.summary)},
    }
    if about:
        row["fullDescription"] = {"text": _message(about)}
    return row | {
        "help": {"text": _message(page.markdown), "markdown": page.markdown},
        "defaultConfiguration": {"level": LEVELS[page.severity]},
        "properties": {
            "tags": [f"{page.code[:3]}xx"],
            "precision": "very-high",
            "problem.severity": PROBLEMS[page.severity],
        },
    }


def _result(
    file: FileReport, diagnostic: Diagnostic, mark: str, rule: int, options: Options
) -> dict[str, Any]:
    location = _location(file, diagnostic.line, diagnostic.column, options)
    if diagnostic.layer is not None:
        layer = diagnostic.layer
        qualified = "/".join([*layer["path"], layer["id"]])
        location["logicalLocations"] = [
            {
                "name": plain(layer["name"]) or layer["id"],
                "fullyQualifiedName": plain(qualified),
                "kind": "element",
            }
        ]
    text = ". ".join(filter(None, [diagnostic.message, layer_phrase(diagnostic), diagnostic.help]))
    further: dict[str, Any] = {}
    if diagnostic.related:
        further["relatedLocations"] = [_related(file, each, options) for each in diagnostic.related]
    if diagnostic.fixes:
        further["fixes"] = [_fix(file, each, options) for each in diagnostic.fixes]
    details = {
        "layer": diagnostic.layer,
        "port": diagnostic.port,
        "expected": diagnostic.expected,
        "actual": diagnostic.actual,
        "causes": list(diagnostic.causes) or None,
    }
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": LEVELS[diagnostic.severity],
        "message": {"text": _message(text)},
        "locations": [location],
        **further,
        # GitHub uses the first name only, and would derive it from the text of the line, which
        # repeats a thousandfold in an IR
        "partialFingerprints": {"primaryLocationLineHash": f"{mark}:1", "ruleAndLayer/v1": mark},
        "properties": {name: value for name, value in details.items() if value is not None},
    }


def _related(file: FileReport, related: dict[str, Any], options: Options) -> dict[str, Any]:
    """Returns an entry of `relatedLocations`: the place and the message of a related finding."""
    text = _message(f"{related['code']}: {related['message']}")
    location = _location(file, related["line"], related["column"], options)
    return location | {"message": {"text": text}}


def _location(file: FileReport, line: int, column: int, options: Options) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(from_root(file.path, options)),
            "region": {"startLine": line, "startColumn": column},
        }
    }


def _fix(file: FileReport, fix: dict[str, Any], options: Options) -> dict[str, Any]:
    """Returns the SARIF object `fix` for a change that removes a finding."""
    replacements = [
        {
            "deletedRegion": {
                "startLine": edit["line"],
                "startColumn": edit["column"],
                "endLine": edit["end_line"],
                "endColumn": edit["end_column"],
            },
            "insertedContent": {"text": edit["text"]},
        }
        for edit in fix["edits"]
    ]
    return {
        "description": {"text": _message(f"{fix['change']}: {fix['reason']}")},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(from_root(file.path, options)),
                "replacements": replacements,
            }
        ],
        "properties": {"applicability": fix["applicability"]},
    }


def _message(text: str) -> str:
    """Returns text escaped for SARIF, where braces mean placeholders and `[…](…)` means a link."""
    lines = (plain(line) for line in text.split("\n"))
    return "\n".join(lines).replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _artifact(path: str) -> dict[str, str]:
    from urllib.parse import quote

    if os.path.isabs(path) or path[1:3] == ":/":
        return {
            "uri": "file://"
            + quote(path if path.startswith("/") else f"/{path}", errors="surrogateescape")
        }
    quoted = quote(
        path, errors="surrogateescape"
    )  # also the colon, since text before a colon would be a scheme
    return {"uri": quoted, "uriBaseId": "%SRCROOT%"}
