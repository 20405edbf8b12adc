"""`irshape rule`."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from ..rule_ids import RETIRED
from .arguments import Command
from .common import echo, echo_json, form_option
from .tables import fitted, terminal_width

if TYPE_CHECKING:
    from ..rules import Rule

WIDTH = 100
"""The longest line of prose, in characters."""


@click.command("rule", cls=Command)
@click.argument("code", metavar="[RULE]", required=False)
@click.option("--all", "every", is_flag=True, help="Print the documentation of every rule.")
@form_option("text", "json", "markdown")
def command(code: str | None, every: bool, form: str) -> None:
    """Explain a rule, by code (IR201) or name (output-shape-mismatch).

    Without a code or name, irshape lists all rules.

    Exit status: 0; 2 if there is no such rule.
    """
    from ..rules import all_rules, rule_named
    from ..settings.selectors import similar_rule

    if code is None:
        chosen = all_rules()
    else:
        try:
            chosen = (
                rule_named(code if code in {rule.name for rule in all_rules()} else code.upper()),
            )
        except KeyError:
            if gone := RETIRED.get(code.upper()):
                if form == "json":
                    echo_json({"code": code, "retired": gone})
                else:
                    echo(gone)
                return
            close = similar_rule(code) or "; `irshape rule` lists them"
            raise click.UsageError(f"there is no rule '{code}'{close}") from None
    if form == "json":
        rows = [fields(rule) for rule in chosen]
        echo_json(rows if code is None else rows[0])
    elif form == "markdown":
        echo(markdown(chosen) if code is None else markdown_page(chosen[0]), newline=False)
    elif code is None and not every:
        for rule in chosen:
            line = f"{rule.code}  {severity(rule):<16} {rule.name:<28} {rule.page().summary}"
            echo("\n".join(fitted([line])))
    else:
        echo("\n\n".join(map(text_page, chosen)), newline=False)


def severity(rule: type[Rule]) -> str:
    return rule.severity if rule.default else f"{rule.severity}, opt-in"


def fields(rule: type[Rule]) -> dict[str, str | bool | None]:
    """Returns a rule as a JSON object. Each section of its docstring is a field, in Markdown."""
    from ..rules import HEADINGS

    page = rule.page()
    row: dict[str, str | bool | None] = {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "default": rule.default,
        "summary": page.summary,
    }
    return row | {
        heading.lower().replace(" ", "_"): page.sections.get(heading) for heading in HEADINGS
    }


def text_page(rule: type[Rule]) -> str:
    page = rule.page()
    parts = [f"{rule.code} {rule.name} ({severity(rule)})", _filled(page.summary)]
    parts += [f"{heading}\n{_indented(text)}" for heading, text in page.sections.items()]
    return "\n\n".join(parts) + "\n"


def _indented(text: str) -> str:
    """Formats a section for a terminal: prose is wrapped, code is kept without its fences."""
    lines: list[str] = []
    for index, part in enumerate(text.split("```")):
        if index % 2:
            lines += ["    " + line for line in part.splitlines()[1:]]
        else:
            for paragraph in filter(None, part.strip().split("\n\n")):
                lines.append(_filled(" ".join(paragraph.split()), "  "))
    return "\n".join(lines)


def _filled(text: str, indent: str = "") -> str:
    width = min(terminal_width() or WIDTH, WIDTH)
    return textwrap.fill(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def markdown(rules: tuple[type[Rule], ...]) -> str:
    """Returns the documentation of all rules as one Markdown document."""
    rows = [
        f"| [{rule.code}](#{rule.code.lower()}-{rule.name}) | `{rule.name}` | {severity(rule)} "
        f"| {rule.page().summary.replace('|', chr(92) + '|')} |"
        for rule in rules
    ]
    head = (
        "# Rules\n\n<!-- made by `irshape rule --all --format markdown`; "
        "the text stands in the docstrings of irshape/rules -->\n\n"
        "What `irshape validate` reports. An *error* is what OpenVINO refuses, or what contradicts "
        "itself or the specification; a *warning* is almost surely a mistake; an *info*\n"
        "is worth knowing. A rule that is *opt-in* runs only if it is selected.\n\n"
        "| Code | Name | Severity | |\n|---|---|---|---|\n"
    )
    gone = "".join(f"- {code} {successor}\n" for code, successor in RETIRED.items())
    retired = f"Retired codes, which selectors may contain but no rule has:\n\n{gone}\n"
    return head + "\n".join(rows) + f"\n\n{retired}" + "\n".join(map(markdown_page, rules))


def markdown_page(rule: type[Rule]) -> str:
    page = rule.page()
    sections = "".join(f"**{heading}**\n\n{text}\n\n" for heading, text in page.sections.items())
    head = f"## {rule.code} {rule.name}\n\n{page.summary} ({severity(rule).capitalize()}.)"
    return f"{head}\n\n{sections}"
