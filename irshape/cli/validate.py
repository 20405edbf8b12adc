"""`irshape validate`."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ..spelling import counted
from .common import colour_option, expand, pairs, weights_option
from .reporting import Form, destinations, format_options, write_report
from .selecting import Chosen, chosen, selection_options

if TYPE_CHECKING:
    from ..checking.baseline import Finished


@click.command("validate", short_help="Report everything that is wrong with IR files.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@format_options
@selection_options
@click.option("--exit-zero", is_flag=True, help="Exit 0 even if there are findings.")
@click.option(
    "--value",
    "values",
    multiple=True,
    metavar="INPUT=VALUE",
    help="The value of an input of a layer on its own, by port id, position or name: axes=[0,2].",
)
@click.option("-v", "--verbose", is_flag=True, help="Also show infos.")
@click.option(
    "--show-fixes", is_flag=True, help="Show the change that takes a finding back as a diff."
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; only set the exit status.")
@weights_option
@colour_option
def command(
    paths: tuple[str, ...],
    forms: tuple[Form, ...],
    output_file: str | None,
    exit_zero: bool,
    values: tuple[str, ...],
    verbose: bool,
    show_fixes: bool,
    quiet: bool,
    weights: str,
    color: str,
    **selection: Any,
) -> None:
    """Report everything that is wrong with IR files.

    PATH is a file, a folder (searched for IRs), a glob, or - for standard input. A file may also
    hold layers on their own, as the operation documents print them.

    Exit status: 0; 1 if there are findings at or above the fail level; 2 if the options or the
    configuration cannot be used, or a file cannot be opened.
    """
    from ..rule_ids import SEVERITIES

    gc.disable()  # nothing here is cyclic garbage worth looking for; the process is short
    given = pairs(values, "--value")
    forms_chosen = destinations(forms, output_file)
    wanted = chosen(selection)
    files = expand(paths, only_ir=wanted.only_ir)
    if wanted.shard is not None:
        from ..checking.many import shard

        files = shard(files, *wanted.shard)
    configuration = wanted.configuration
    try:
        named = files == list(paths)
        finished = _validated(files, wanted, weights, given, named=named)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    report = finished.report
    level: Any = configuration.fail_level
    write_report(
        report,
        forms_chosen,
        color=color,
        verbose=verbose,
        quiet=quiet,
        fixes=show_fixes,
        fail_level=level,
        weights=weights,
        values=given,
    )
    if not quiet:
        for note in notes(finished, wanted):
            click.echo(f"irshape: {note}", err=True)
    if any(one.rule == "unreadable-file" for one in report.diagnostics):
        raise click.exceptions.Exit(2)
    failing = SEVERITIES[: SEVERITIES.index(level) + 1]
    if not exit_zero and any(report.count(severity) for severity in failing):
        raise click.exceptions.Exit(1)


def _validated(
    files: list[str], wanted: Chosen, weights: str, values: dict[str, str], *, named: bool
) -> Finished:
    """Validates the files; with --update-baseline also writes the baseline.

    named: whether the files are those that the command names, and not those of a folder.
    Raises `ValueError` for settings and values that do not fit, `OSError` for a single file.
    """
    from ..checking.request import Request
    from ..checking.validation import validate_all

    configuration = wanted.configuration
    alone = named and len(files) == 1 and configuration.cache_dir is None
    request = Request(configuration, wanted.over, weights, values)
    watch = None
    if not alone:
        from ..checking.cache import default_folder
        from ..checking.many import default_jobs
        from .progress import progress

        watch = progress
        request = request._replace(
            jobs=configuration.jobs or default_jobs(files),
            cache=(configuration.cache_dir or default_folder()) if configuration.cache else None,
        )
    finished = validate_all(
        files, request, alone=alone, baseline=not wanted.update_baseline, watch=watch
    )
    if not wanted.update_baseline:
        return finished
    from ..checking.baseline import finish, update

    assert configuration.baseline is not None
    update(finished.report, configuration.baseline)
    return finish(finished.report, configuration)


def notes(finished: Finished, wanted: Chosen) -> Iterator[str]:
    """What a person should know about findings that are not in the report."""
    held = counted(finished.baselined, "finding")
    if wanted.update_baseline:
        yield f"{held} in the baseline '{wanted.configuration.baseline}'"
    elif finished.baselined:
        yield f"{held} held back by the baseline"
    if finished.stale:
        entries = "entry" if finished.stale == 1 else "entries"
        verb = "occurs" if finished.stale == 1 else "occur"
        yield (
            f"{finished.stale} {entries} of the baseline no longer {verb}; "
            "--update-baseline drops them"
        )
    if finished.cut or finished.unchecked:
        yield (
            f"stopped after {wanted.configuration.max_errors} errors: {finished.cut} more findings "
            f"in the last file, {finished.unchecked} files not looked at"
        )
