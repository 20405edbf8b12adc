"""Writes reports: in the requested formats, to stdout or files."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..diagnostics.renderers import Options, formats, render
from .common import Decorator, echo, options, wants_colour

if TYPE_CHECKING:
    from ..diagnostics.report import Report
    from ..rule_ids import Severity

FOR_PEOPLE = ("text", "concise")
"""The formats that a terminal shows directly, in its encoding and in colour."""

COUNTED = (*FOR_PEOPLE, "json")
"""The formats that support --statistics."""


class Form(NamedTuple):
    """A report format and its file. Without a path: the file of `--output-file`, or stdout."""

    name: str
    path: str | None


class FormType(click.Choice):  # type: ignore[type-arg]
    """Parses `FORMAT` or `FORMAT=FILE`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, Form):
            return value
        name, equals, path = value.partition("=")
        if equals and not path:
            self.fail(f"'{value}' does not name a file.", param, ctx)
        return Form(super().convert(name, param, ctx), path or None)


def report_text(report: Report, form: str) -> str:
    """Renders a report in a format. File names in it are relative to `_root()`."""
    return render(report, form, Options(root=os.path.abspath(_root())))


def _root() -> str:
    """Returns the folder to which file names in reports are relative."""
    return os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR") or os.getcwd()


def forms_option(*names: str, stated: str, **attributes: Any) -> Decorator:
    """Returns the option `--format FORMAT[=FILE]`, passed as `forms`.

    names: further names of the option. stated: how the help states the default.
    """
    return click.option(
        "-f",
        "--format",
        *names,
        "forms",
        type=FormType(formats()),
        multiple=True,
        metavar="FORMAT[=FILE]",
        help="Output format. May be repeated; at most one of them may omit =FILE. "
        f"[default: {stated}] One of: {', '.join(formats())}.",
        **attributes,
    )


format_options = options(
    forms_option("--output-format", stated="text; github under GITHUB_ACTIONS=true"),
    click.option(
        "-o", "--output-file", metavar="FILE", help="Write the report to a file instead of stdout."
    ),
)


def destinations(
    forms: tuple[Form, ...], output_file: str | None, *, statistics: bool
) -> list[Form]:
    """Returns each format with its file, which is None for stdout.

    Raises `UsageError` if two formats would go to one place, or one does not support --statistics.
    """
    in_actions = os.environ.get("GITHUB_ACTIONS") == "true"
    by_default = "github" if in_actions and output_file is None and not statistics else "text"
    forms = forms or (Form(by_default, None),)
    for form in forms:
        if statistics and form.name not in COUNTED:
            raise click.UsageError(f"--statistics supports text, concise and json, not {form.name}")
    chosen = [
        Form(form.name, None if (path := form.path or output_file) == "-" else path)
        for form in forms
    ]
    if output_file is not None and all(form.path for form in forms):
        raise click.UsageError(
            "--output-file gets no report, because every --format names its own file"
        )
    places = [form.path for form in chosen]
    for place in places:
        if places.count(place) > 1:
            where = f"'{place}'" if place else "stdout"
            raise click.UsageError(
                f"several formats would go to {where}: name a file for each, "
                "as in --format sarif=report.sarif"
            )
    return chosen


def write_report(
    report: Report,
    chosen: list[Form],
    *,
    color: str = "auto",
    verbose: bool = False,
    quiet: bool = False,
    fixes: bool = False,
    statistics: bool = False,
    fail_level: Severity = "error",
) -> None:
    """Writes a report in every requested format. The files appear together or not at all.

    quiet: write nothing to stdout. fixes: show the changes that correct findings.
    statistics: count findings by rule instead; all formats must be in `COUNTED`.
    """
    root = _root()
    shown = Options(
        infos=verbose or fail_level == "info",
        fixes=fixes,
        statistics=statistics,
        fail_level=fail_level,
        root=os.path.abspath(root),
    )
    files: dict[Path, bytes] = {}
    for form in chosen:
        if form.path is not None:
            files[Path(form.path)] = render(report, form.name, shown).encode(
                "utf-8", "backslashreplace"
            )
        elif not quiet:
            for_people = form.name in FOR_PEOPLE
            text = render(
                report, form.name, shown._replace(colour=for_people and wants_colour(color))
            )
            encoding = getattr(sys.stdout, "encoding", None) if for_people else None
            echo(text.encode(encoding or "utf-8", "backslashreplace"), newline=False)
    if files:
        from ..formats.atomic import write_together

        write_together(files)
    if any(form.name == "github" for form in chosen):
        add_step_summary(report, shown)


def add_step_summary(report: Report, options: Options) -> None:
    """Appends the report to the file that GITHUB_STEP_SUMMARY names, if any.

    If the file cannot be written, stderr says so, and the exit status stays.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    from ..diagnostics.renderers.as_github import step_summary

    try:
        with open(path, "ab") as file:
            file.write(step_summary(report, options).encode("utf-8", "backslashreplace"))
    except OSError as problem:
        click.echo(f"irshape: the step summary was not written: {problem}", err=True)
