"""Functions that several formats share.

They escape text from files, count findings, and quote the line of a finding. For code hosts, they
make paths relative to the checkout, and fingerprints of findings. They also collect pages of rules.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from ...rule_ids import SEVERITIES, Severity
from ...spelling import counted
from ..report import Diagnostic, FileReport, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_LINE = 160
PLURALS: dict[Severity, str] = {"error": "errors", "warning": "warnings", "info": "infos"}


class Options(NamedTuple):
    """The options of a renderer."""

    colour: bool = False
    infos: bool = True
    """Whether to show all infos. Otherwise the formats concise, github and text omit infos.

    The formats in `FOR_MACHINES` then omit only infos that need no action.
    """
    fixes: bool = False
    """Whether the text format shows the changes that correct findings."""
    statistics: bool = False
    """Whether concise, json and text show counts of findings for each rule, not the findings."""
    fail_level: Severity = "error"
    root: str | None = None
    """The root of the checkout. Formats for code hosts write paths relative to this folder."""


DEFAULTS = Options()


# Names, values and paths come from files, and may contain anything


def plain(text: str) -> str:
    """Returns text as one line that is safe for a terminal and a log.

    Characters that control a terminal, reorder text or break lines become visible escapes.
    """
    if text.isprintable() and "##[" not in text:
        return text
    from unicodedata import category

    escaped = "".join(
        char if char == " " or category(char) not in _CONTROL else _visible(char) for char in text
    )
    return escaped.replace("##[", "##\\x5b")  # a CI runner would take it for a command


def plain_path(path: str) -> str:
    """Returns a path, escaped for the start of a line, where `::` begins a command of a CI
    runner."""
    return plain(path if not path.lstrip().startswith("::") else f"./{path.lstrip()}")


_CONTROL = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def _visible(char: str) -> str:
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def json_text(value: object, indent: int | None = None) -> str:
    """Returns JSON. Visible characters outside ASCII are not escaped; invisible characters are."""
    import json

    return _BEYOND_ASCII.sub(_json_escape, json.dumps(value, indent=indent, ensure_ascii=False))


_BEYOND_ASCII = re.compile(r"[^\n -~]")


def _json_escape(match: re.Match[str]) -> str:
    char = match[0]
    if char.isprintable():
        return char
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


_WIDE_OR_COMBINING = r"[^\x00-\u02ff\u2010-\u2027]"
"""Matches characters that may take two columns, or none."""


def width(text: str) -> int:
    """Returns the number of columns that a text takes in a terminal."""
    columns = len(text)
    if not text.isascii():
        from unicodedata import combining, east_asian_width

        for char in re.findall(_WIDE_OR_COMBINING, text):
            if combining(char):
                columns -= 1
            else:
                columns += east_asian_width(char) in "WF"
    return columns


def shortened(text: str, limit: int) -> str:
    """Returns a text of at most `limit` characters: a longer text has `…` in place of its
    middle."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 3
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


# Words


def tally(counts: Mapping[Severity, int]) -> str:
    """Returns counts such as `2 errors, 1 warning`, without zeros."""
    return ", ".join(counted(number, severity) for severity, number in counts.items() if number)


def layer_phrase(diagnostic: Diagnostic) -> str:
    """Returns a phrase such as `layer 5: ReduceMean 'mean', opset1, inside 12/body, output port 2`.

    Returns an empty text if the finding is not about a layer.
    """
    layer = diagnostic.layer
    if layer is None:
        return ""
    name = f" '{layer['name']}'" if layer["name"] else ""
    opset = f", {layer['opset']}" if layer["opset"] else ""
    inside = f", inside {'/'.join(layer['path'])}" if layer["path"] else ""
    port = (
        f", {diagnostic.port['direction']} port {diagnostic.port['id']}" if diagnostic.port else ""
    )
    return plain(
        f"layer {layer['id'] or '?'}: {layer['type'] or 'no type'}{name}{opset}{inside}{port}"
    )


def shown(file: FileReport, options: Options) -> list[Diagnostic]:
    """Returns the findings to show: all, or all but infos."""
    return [each for each in file.diagnostics if options.infos or each.severity != "info"]


def without_trifles(report: Report) -> Report:
    """Returns the report without infos that need no action."""
    from ...rules import all_rules

    trifling = {rule.code for rule in all_rules() if rule.trifling}
    return _kept(report, lambda each: each.severity != "info" or each.code not in trifling)


def most_severe(report: Report, limit: int) -> Report:
    """Returns the report with at most `limit` findings.

    Leaves out the least severe findings first and, among equally severe ones, the last.
    """
    ranked = sorted(report.diagnostics, key=lambda each: SEVERITIES.index(each.severity))
    most = set(map(id, ranked[:limit]))
    return _kept(report, lambda each: id(each) in most)


def _kept(report: Report, keep: Callable[[Diagnostic], bool]) -> Report:
    return Report(
        [file._replace(diagnostics=list(filter(keep, file.diagnostics))) for file in report.files]
    )


# The line of the file


_VISIBLE = re.compile(r"\S")


class Excerpt(NamedTuple):
    """The line of a finding, split at its column: safe for a terminal, cut to `MAX_LINE`
    characters."""

    before: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.after

    @property
    def caret(self) -> int:
        """The place of the finding in the line, in columns of a terminal from 0."""
        return width(self.before)


def excerpt(file: FileReport, diagnostic: Diagnostic) -> Excerpt | None:
    """Returns the line of a finding; None if the line is unavailable, empty or binary."""
    if file.source is None:
        return None
    line = file.source.line(diagnostic.line)
    first = _VISIBLE.search(line)
    if first is None or "\0" in line:
        return None
    at = diagnostic.column - 1
    start = max(0, min(at - MAX_LINE // 2, len(line) - MAX_LINE)) if len(line) > MAX_LINE else 0
    start = start or min(len(line) - len(line.lstrip(" \t")), at)
    before, after = line[start:at], line[at : start + MAX_LINE]
    before, after = (plain(part.replace("\t", " ")) for part in (before, after))
    lead = "…" if first.start() < start else ""
    tail = "…" if _VISIBLE.search(line, start + MAX_LINE) else ""
    return Excerpt(f"{lead}{before}", f"{after.rstrip()}{tail}")


# Paths and fingerprints for code hosts


def from_root(path: str, options: Options) -> str:
    """Returns a path relative to the checkout, with `/`; unchanged if the file lies elsewhere."""
    if options.root is not None and path != "<stdin>":
        inside = os.path.relpath(os.path.abspath(path), options.root)
        if (
            inside != os.pardir
            and not inside.startswith(os.pardir + os.sep)
            and not os.path.isabs(inside)
        ):
            path = inside
    path = path.replace(os.sep, "/")
    return path[2:] if path.startswith("./") else path


def fingerprints(report: Report, options: Options) -> list[list[str]]:
    """Returns a fingerprint for each finding of each file. A fingerprint stays the same when lines
    move: it is a digest of file, rule, layer and port. Findings with the same digest are numbered.
    """
    import json
    from hashlib import sha256

    seen: dict[str, int] = {}
    rows = []
    for file in report.files:
        row = []
        path = from_root(file.path, options)
        for diagnostic in file.diagnostics:
            layer = (
                [*diagnostic.layer["path"], diagnostic.layer["id"]] if diagnostic.layer else None
            )
            port = (
                [diagnostic.port["direction"], diagnostic.port["id"]] if diagnostic.port else None
            )
            key = json.dumps([path, diagnostic.code, layer, port])
            seen[key] = seen.get(key, 0) + 1
            row.append(sha256(f"{key}{seen[key]}".encode()).hexdigest()[:32])
        rows.append(row)
    return rows


# Rules


class RulePage(NamedTuple):
    """The page of a rule: its name, a sentence, and its sections in Markdown."""

    code: str
    name: str
    severity: Severity
    summary: str
    sections: Mapping[str, str]

    @property
    def markdown(self) -> str:
        return "\n\n".join(
            [self.summary, *(f"## {heading}\n\n{text}" for heading, text in self.sections.items())]
        )


def rule_pages(report: Report) -> list[RulePage]:
    """Returns the pages of the rules with findings, by code. An unknown rule has only a name."""
    first: dict[str, Diagnostic] = {}
    for diagnostic in report.diagnostics:
        first.setdefault(diagnostic.code, diagnostic)
    return [rule_page(first[code]) for code in sorted(first)]


def rule_page(diagnostic: Diagnostic) -> RulePage:
    from ...rules import rule_named

    try:
        rule = rule_named(diagnostic.code)
    except KeyError:
        return RulePage(
            diagnostic.code,
            diagnostic.rule,
            diagnostic.severity,
            diagnostic.rule.replace("-", " ").capitalize() + ".",
            {},
        )
    page = rule.page()
    return RulePage(rule.code, rule.name, rule.severity, page.summary or rule.name, page.sections)
