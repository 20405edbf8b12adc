"""Renders the report in GitHub's Markdown, for a step summary, a comment or a document."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...rule_ids import SEVERITIES
from ...spelling import counted
from ..report import Diagnostic, Report
from .common import DEFAULTS, PLURALS, Options, plain, tally

SIGNS = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}
HEAD = "| place | finding | layer |\n|--:|---|---|\n"


def render(report: Report, options: Options = DEFAULTS, most_bytes: int | None = None) -> str:
    """Renders the report. most_bytes: the largest size of the text; findings beyond this size are
    only counted."""
    parts: list[str] = []
    size, left = 0, 0
    for part, findings in _parts(report):
        size += len(part.encode("utf-8", "replace"))
        if left or (most_bytes is not None and size > most_bytes):
            left += findings
        else:
            parts.append(part)
    if left:
        parts.append(f"\n{counted(left, 'more finding')} not shown here.\n")
    return "".join(parts)


def _parts(report: Report) -> Iterator[tuple[str, int]]:
    """Yields the text in pieces, each with its number of findings. `render` may omit the last
    ones."""
    failing = [file for file in report.files if file.diagnostics]
    counts = tally({severity: report.count(severity) for severity in SEVERITIES}) or "nothing found"
    layers = counted(sum(file.layers for file in report.files), "layer")
    yield f"## irshape: {counts}\n\n{counted(len(report.files), 'file')}, {layers}.\n", 0
    if len(failing) > 1:
        yield (
            f"\n| file | {' | '.join(PLURALS[severity] for severity in SEVERITIES)} | layers |\n"
            "|---|--:|--:|--:|--:|\n",
            0,
        )
        for file in failing:
            counts = " | ".join(str(file.count(severity) or "") for severity in SEVERITIES)
            yield f"| {_code(file.path)} | {counts} | {file.layers:,} |\n", 0
    for file in failing:
        for index, one in enumerate(file.diagnostics):
            yield (f"\n### {_code(file.path)}\n\n{HEAD}" if index == 0 else "") + _row(one), 1


def _row(diagnostic: Diagnostic) -> str:
    text = (
        f"{SIGNS[diagnostic.severity]} **{diagnostic.code}** {_text(diagnostic.rule)}"
        f"<br>{_text(diagnostic.message)}"
    )
    if diagnostic.help:
        text += f"<br>*help:* {_text(diagnostic.help)}"
    return f"| {diagnostic.line}:{diagnostic.column} | {text} | {_layer(diagnostic)} |\n"


def _layer(diagnostic: Diagnostic) -> str:
    layer = diagnostic.layer
    if layer is None:
        return ""
    parts = [f"{_text(layer['id'] or '?')} {_text(layer['type'] or 'no type')}"]
    parts += [_code(layer["name"])] if layer["name"] else []
    parts += [f"inside {_text('/'.join(layer['path']))}"] if layer["path"] else []
    parts += (
        [f"{diagnostic.port['direction']} port {_text(diagnostic.port['id'])}"]
        if diagnostic.port
        else []
    )
    return "<br>".join(parts)


_ACTIVE = re.compile(r"[\\`*~|$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def _text(text: str) -> str:
    """Returns text, escaped so that Markdown shows it unchanged: no markup, no link, no mention."""
    text = plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _ACTIVE.sub(r"\\\g<0>", text).replace("](", "]\\(").replace("://", "&#58;//")
    return text.replace("@", "@<!-- -->").replace("www.", "www&#46;")


def _code(text: str) -> str:
    """Returns text as a code span that is valid in a table and in a heading."""
    text = plain(text).replace("\\|", "\\\\x7c").replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""
