"""The report for a person at a terminal: each finding with the line of XML it is about, then what to do."""

from __future__ import annotations

import unicodedata

from ..report import Diagnostic, FileReport, Report

_COLOURS = {"error": "31", "warning": "33", "info": "36", "bold": "1", "dim": "2", "green": "32"}
_MAX_LINE = 160


def render(report: Report, *, colour: bool = False, infos: bool = False) -> str:
    """The findings file by file, and a summary line. infos: show those too; otherwise they are only counted."""

    def paint(text: str, *styles: str) -> str:
        return f"\033[{';'.join(_COLOURS[style] for style in styles)}m{text}\033[0m" if colour else text

    parts: list[str] = []
    for file in report.files:
        shown = [found for found in file.diagnostics if infos or found.severity != "info"]
        parts += [_finding(file, found, paint) for found in shown]
    parts.append(_summary(report, infos, paint))
    return "\n".join(parts) + "\n"


def _finding(file: FileReport, found: Diagnostic, paint: object) -> str:
    assert callable(paint)
    lines = [
        f"{paint(f'{_plain(file.path)}:{found.line}:{found.column}', 'bold')}: {paint(f'{found.severity}[{found.code}]', found.severity)} {_plain(found.message)}"
    ]
    if found.layer is not None:
        layer = found.layer
        inside = "".join(f", inside {'/'.join(layer['path'])}" for _ in layer["path"][:1])
        name = f" '{layer['name']}'" if layer["name"] else ""
        port = f", {found.port['direction']} port {found.port['id']}" if found.port else ""
        opset = f", {layer['opset']}" if layer["opset"] else ""
        lines.append(_plain(f"  layer {layer['id'] or '?'}: {layer['type'] or 'no type'}{name}{opset}{inside}{port}"))
    if file.source is not None:
        lines += _excerpt(file, found, paint)
    if found.help:
        lines.append(f"  {paint('help:', 'bold')} {_plain(found.help)}")
    return "\n".join(lines) + "\n"


def _excerpt(file: FileReport, found: Diagnostic, paint: object) -> list[str]:
    assert callable(paint)
    assert file.source is not None
    raw = file.source.line(found.line)
    if not raw.strip():
        return []
    start = max(0, found.column - 1 - _MAX_LINE // 2) if len(raw) > _MAX_LINE else 0
    text = _plain(raw[start : start + _MAX_LINE].replace("\t", " "))
    number = str(found.line)
    blank = len(text) - len(text.lstrip()) if start == 0 else 0
    caret = " " * max(found.column - 1 - start - blank, 0) + "^"
    gutter = " " * len(number)
    return [
        f"  {paint(f'{number} |', 'dim')} {'…' if start else ''}{text[blank:].rstrip()}",
        f"  {paint(f'{gutter} |', 'dim')} {' ' if start else ''}{paint(caret, found.severity)}",
    ]


def _plain(text: str) -> str:
    """Names come from the file: control characters and the like must not reach a terminal."""
    return "".join(char if char == " " or unicodedata.category(char)[0] != "C" else f"\\x{ord(char):02x}" for char in text)


def _summary(report: Report, infos: bool, paint: object) -> str:
    assert callable(paint)
    errors, warnings, notes = (report.count(severity) for severity in ("error", "warning", "info"))
    files = f"{len(report.files)} file{'' if len(report.files) == 1 else 's'}"
    layers = sum(file.layers for file in report.files)
    counted = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in ((errors, "error"), (warnings, "warning")) if count]
    hidden = f"{notes} info{'' if notes == 1 else 's'}" + ("" if infos else " (shown with --verbose)") if notes else ""
    outcome = paint(", ".join(counted), "error" if errors else "warning") if counted else paint("no errors, no warnings", "green")
    return f"{files}, {layers} layers: {outcome}" + (f", {hidden}" if hidden else "")
