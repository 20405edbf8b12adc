"""`irshape validate`."""

from __future__ import annotations

import gc

import click

from .common import colour_option, expand, pairs, wants_colour, weights_option, write_output


@click.command("validate", short_help="Report everything that is wrong with IR files.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-f", "--format", "--output-format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the report.")
@click.option("-o", "--output-file", metavar="FILE", help="Write the report there instead of to stdout.")
@click.option(
    "--fail-level", type=click.Choice(["error", "warning", "info"]), default="error", show_default=True, help="Exit 1 at findings of this severity or above."
)
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever is found.")
@click.option("--value", "values", multiple=True, metavar="PORT=[…]", help="Value of an input of a layer on its own, by port id or position.")
@click.option("-v", "--verbose", is_flag=True, help="Show infos too.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the exit status.")
@weights_option
@colour_option
def command(
    paths: tuple[str, ...],
    form: str,
    output_file: str | None,
    fail_level: str,
    exit_zero: bool,
    values: tuple[str, ...],
    verbose: bool,
    quiet: bool,
    weights: str,
    color: str,
) -> None:
    """Reports everything that is wrong with IR files or with layers on their own.

    PATH is a file, a folder (searched for IRs), a glob, or - for standard input.
    """
    from ..diagnostics.report import SEVERITIES, Report
    from ..diagnostics.validation import validate_one

    gc.disable()  # nothing here is cyclic garbage worth looking for; the process is short
    given = pairs(values, "--value")
    try:
        report = Report([validate_one(path, weights, given) for path in expand(paths)])
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    if not quiet:
        if form == "json":
            from ..diagnostics.renderers.as_json import render as render_json

            text = render_json(report)
        else:
            from ..diagnostics.renderers.as_text import render as render_text

            text = render_text(report, colour=wants_colour(color) and output_file is None, infos=verbose or fail_level == "info")
        write_output(text, output_file)
    failing = SEVERITIES[: SEVERITIES.index(fail_level) + 1]
    if not exit_zero and any(report.count(severity) for severity in failing):
        raise click.exceptions.Exit(1)
