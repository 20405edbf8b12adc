"""Renders the report as an HTML page: a summary, findings with filters, and rules.

The page is a single file that loads no other. The page is both valid HTML and well-formed XML.
Filters are CSS rules, so they work without JavaScript; the script adds the search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from ....rule_ids import SEVERITIES
from ....spelling import counted
from ....version import __version__
from ...report import Diagnostic, FileReport, Report
from ..common import (
    DEFAULTS,
    PLURALS,
    Options,
    RulePage,
    excerpt,
    most_severe,
    rule_pages,
    tally,
)
from .markup import html_page, message, prose, text

MAX_FINDINGS = 5_000
"""The most findings on a page, so that a browser opens it fast. irshape only counts the rest."""


def render(report: Report, options: Options = DEFAULTS) -> str:
    pages = rule_pages(report)
    style, script = (
        files(__package__).joinpath(name).read_text("utf-8") for name in ("report.css", "report.js")
    )
    failing = [(at, file) for at, file in enumerate(report.files) if file.diagnostics]
    style += _filters(pages, [at for at, _ in failing])
    body = _body(report, pages, failing, options)
    return html_page(f"irshape: {_verdict(report)}", style, body, [script])


def _body(
    report: Report,
    pages: list[RulePage],
    failing: list[tuple[int, FileReport]],
    options: Options,
) -> Iterator[str]:
    yield _head(report, options)
    if failing:
        yield _bar(report, pages, failing)
    yield "<main>\n"
    if len(report.files) > 1:
        yield _table(report)
    kept = most_severe(report, MAX_FINDINGS)
    left = len(report.diagnostics) - len(kept.diagnostics)
    if left:
        yield (
            f'<p class="note">{counted(left, "least severe finding")} left out: the page '
            f"shows {MAX_FINDINGS:,} at most.</p>\n"
        )
    for at, file in failing:
        if findings := kept.files[at].diagnostics:
            yield _file(at, file, findings)
    if not failing:
        yield (
            '<section class="clean"><p class="big">✓</p>'
            f"<p>{'Nothing found.' if report.files else 'No file was given.'}</p></section>\n"
        )
    yield '<p id="none" class="note" hidden="">No finding matches the filter.</p>\n'
    if pages:
        yield _rules(pages)
    yield f"</main>\n<footer>irshape {__version__}. {_DRAWN}</footer>\n"


_DRAWN = (
    "<code>irshape validate MODEL --view FILE</code> writes a page with the graph of a model, its "
    "findings, and the inferred types and shapes."
)


def _verdict(report: Report) -> str:
    return tally({severity: report.count(severity) for severity in SEVERITIES}) or "nothing found"


def _filters(pages: list[RulePage], failing: list[int]) -> str:
    """Returns the CSS rules of the filters: for each choice, a rule that hides other findings."""
    lines = []
    for page in pages:
        chosen = f'body:has(#rule option[value="{text(page.code)}"]:checked)'
        lines.append(
            f'{chosen} .finding:not([data-rule="{text(page.code)}"]), {chosen} '
            f'.card:not(:has([data-rule="{text(page.code)}"])) {{ display: none }}'
        )
    lines += (
        [
            (
                f'body:has(#file option[value="{at}"]:checked) .file:not([data-file="{at}"]) {{ '
                f"display: none }}"
            )
            for at in failing
        ]
        if len(failing) > 1
        else []
    )
    return "".join(line + "\n" for line in lines)


def _head(report: Report, options: Options) -> str:
    fails = any(
        report.count(severity)
        for severity in SEVERITIES[: SEVERITIES.index(options.fail_level) + 1]
    )
    if fails:
        state, words = "error", "does not pass"
    elif report.ok and not report.count("warning"):
        state, words = "ok", "passes"
    else:
        state, words = "warning", "passes, with findings"
    numbers = [
        ("", len(report.files), "file"),
        ("", sum(file.layers for file in report.files), "layer"),
    ]
    numbers += [(severity, report.count(severity), severity) for severity in SEVERITIES]
    cells = "".join(
        (
            f'<div class="number {kind}{"" if number else " zero"}"><b>{number:,}</b>'
            f"<span>{name}{'' if number == 1 else 's'}</span></div>"
        )
        for kind, number, name in numbers
    )
    return (
        f'<header>\n<h1>irshape <span class="verdict {state}">{words}</span></h1>\n<div '
        f'class="numbers">{cells}</div>\n</header>\n'
    )


def _bar(report: Report, pages: list[RulePage], failing: list[tuple[int, FileReport]]) -> str:
    parts = [
        (
            f'<label class="chip {severity}"><input type="checkbox" id="show-{severity}" '
            'checked="" '
            f'autocomplete="off"/>{counted(report.count(severity), severity)}</label>'
        )
        for severity in SEVERITIES
        if report.count(severity)
    ]
    options = "".join(
        f'<option value="{text(page.code)}">{text(page.code)} {text(page.name)}</option>'
        for page in pages
    )
    parts.append(
        f'<label>rule <select id="rule" autocomplete="off"><option value="">all</option>{options}'
        "</select></label>"
    )
    if len(failing) > 1:
        options = "".join(
            f'<option value="{at}">{text(file.path)}</option>' for at, file in failing
        )
        parts.append(
            '<label>file <select id="file" autocomplete="off"><option value="">all'
            f"</option>{options}</select></label>"
        )
    parts.append(
        '<label class="search" hidden="">search <input type="search" id="search" '
        'placeholder="layer, message, shape" autocomplete="off"/></label>'
    )
    parts.append('<output id="shown"></output>')
    return f'<form class="bar" role="search" action="#">{"".join(parts)}</form>\n'


def _table(report: Report) -> str:
    """Returns a table of all files, with counts. Folds the files without findings if they are more
    than 3."""
    rows = {False: "", True: ""}
    for at, file in enumerate(report.files):
        counts = [file.count(severity) for severity in SEVERITIES]
        cells = "".join(
            f'<td class="{severity}">{number or ""}</td>'
            for severity, number in zip(SEVERITIES, counts, strict=True)
        )
        name = (
            f'<a href="#file-{at}">{text(file.path)}</a>' if file.diagnostics else text(file.path)
        )
        rows[not file.diagnostics] += (
            f'<tr><td class="path">{name}</td>{cells}<td class="count">{file.layers:,}</td></tr>\n'
        )
    head = (
        f"<tr><th>file</th>{''.join(f'<th>{PLURALS[severity]}</th>' for severity in SEVERITIES)}"
        "<th>layers</th></tr>\n"
    )
    failing, clean = (
        f'<div class="list"><table class="files"><thead>{head}</thead><tbody>{body}</tbody>'
        "</table></div>"
        if body
        else ""
        for body in (rows[False], rows[True])
    )
    count = sum(not file.diagnostics for file in report.files)
    passed = (
        f'<details class="passed"{" open=" + chr(34) * 2 if count <= 3 else ""}>'
        f"<summary>{counted(count, 'file')} without a finding</summary>{clean}</details>"
        if clean
        else ""
    )
    return f"<section>\n{failing}{passed}</section>\n"


def _file(at: int, file: FileReport, shown: list[Diagnostic]) -> str:
    """Returns the section of a file, with a box for each layer that has findings."""
    cards: dict[object, list[tuple[int, Diagnostic]]] = {}
    for row in enumerate(shown):
        layer = row[1].layer
        key = layer and (*layer["path"], layer["id"], layer["type"], layer["name"])
        cards.setdefault(key, []).append(row)
    parts = []
    for rows in cards.values():
        severity = min((each.severity for _, each in rows), key=SEVERITIES.index)
        findings = "".join(_finding(file, each, f"finding-{at}-{index}") for index, each in rows)
        title = _title(rows[0][1].layer)
        parts.append(f'<article class="card {severity}">\n{title}{findings}</article>\n')
    counts = tally({severity: file.count(severity) for severity in SEVERITIES})
    head = (
        f'<h2><span class="path">{text(file.path)}</span> <small>{counts} in '
        f"{counted(file.layers, 'layer')}</small></h2>\n"
    )
    return (
        f'<section class="file" data-file="{at}" id="file-{at}">\n{head}{"".join(parts)}'
        "</section>\n"
    )


def _title(layer: dict[str, Any] | None) -> str:
    if layer is None:
        return "<h3>The file</h3>\n"
    name = f' <span class="layer">{text(layer["name"])}</span>' if layer["name"] else ""
    details = [
        f"id {layer['id']}" if layer["id"] else "no id",
        *([layer["opset"]] if layer["opset"] else []),
    ]
    details += [f"inside {' / '.join(layer['path'])}"] if layer["path"] else []
    return (
        f"<h3>{text(layer['type'] or 'no type')}{name} <small>{text(', '.join(details))}"
        "</small></h3>\n"
    )


def _finding(file: FileReport, diagnostic: Diagnostic, anchor: str) -> str:
    port = (
        f" · {text(diagnostic.port['direction'])} port {text(diagnostic.port['id'])}"
        if diagnostic.port
        else ""
    )
    parts = [
        f'<p class="head"><span class="badge {diagnostic.severity}">{diagnostic.severity}</span> '
        "<a "
        f'class="code" href="#rule-{text(diagnostic.code)}">{text(diagnostic.code)}</a>'
        f' <span class="rule">{text(diagnostic.rule)}</span><a class="place" href="#{anchor}">line '
        f"{diagnostic.line}, column {diagnostic.column}{port}</a></p>\n",
        f'<p class="message">{message(diagnostic.message)}</p>\n',
    ]
    if (
        diagnostic.expected is not None
        and diagnostic.actual is not None
        and not (
            diagnostic.expected in diagnostic.message and diagnostic.actual in diagnostic.message
        )
    ):
        parts.append(
            f'<dl><dt>found</dt><dd class="actual">{text(diagnostic.actual)}</dd><dt>expected</dt>'
            "<dd "
            f'class="expected">{text(diagnostic.expected)}</dd></dl>\n'
        )
    seen = excerpt(file, diagnostic)
    if seen is not None:
        token = _TOKEN.match(seen.after)
        end = token.end() if token else 1
        line = f"{text(seen.before)}<mark>{text(seen.after[:end])}</mark>{text(seen.after[end:])}"
        parts.append(f'<pre class="line"><span class="at">{diagnostic.line}</span>{line}</pre>\n')
    if diagnostic.help:
        parts.append(f'<p class="help">{message(diagnostic.help)}</p>\n')
    return (
        f'<div class="finding {diagnostic.severity}" data-severity="{diagnostic.severity}" '
        f'data-rule="{text(diagnostic.code)}" id="{anchor}">\n{"".join(parts)}</div>\n'
    )


_TOKEN = re.compile(r"""<[^>]*>?|[^\s=<>]+\s*=\s*("[^"]*"|'[^']*')""")
"""Matches the text to mark at the place of a finding: a tag, or an attribute with its value."""


def _rules(pages: list[RulePage]) -> str:
    parts = []
    for page in pages:
        sections = "".join(
            f"<h4>{text(heading)}</h4>{prose(content)}"
            for heading, content in page.sections.items()
        )
        title = (
            f'<span class="code">{text(page.code)}</span> <span class="rule">{text(page.name)}'
            f'</span> <span class="summary">{text(" ".join(page.summary.split()))}</span>'
        )
        body = (
            f'<details class="page"><summary>{title}</summary>{sections}</details>'
            if sections
            else f'<p class="page">{title}</p>'
        )
        parts.append(f'<li id="rule-{text(page.code)}">{body}</li>\n')
    return f'<section>\n<h2>Rules</h2>\n<ul class="rules">\n{"".join(parts)}</ul>\n</section>\n'
