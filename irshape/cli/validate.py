"""`irshape validate`."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from .common import colour_option, expand, pairs, weights_option
from .reporting import Form, destinations, format_options, write_report
from .selecting import Chosen, chosen, selection_options

if TYPE_CHECKING:
    from ..checking.baseline import Finished
    from ..diagnostics.report import FileReport, Report


@click.command("validate", short_help="Report everything that is wrong with IR files.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@format_options
@selection_options
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever is found.")
@click.option(
    "--value",
    "values",
    multiple=True,
    metavar="PORT=[…]",
    help="Value of an input of a layer on its own, by port id or position.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show infos too.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the exit status.")
@weights_option
@colour_option
def command(
    paths: tuple[str, ...],
    forms: tuple[Form, ...],
    output_file: str | None,
    exit_zero: bool,
    values: tuple[str, ...],
    verbose: bool,
    quiet: bool,
    weights: str,
    color: str,
    **selection: Any,
) -> None:
    """Reports everything that is wrong with IR files or with layers on their own.

    PATH is a file, a folder (searched for IRs), a glob, or - for standard input.
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
    try:
        report, found = finished(files, wanted, weights, given)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    level: Any = wanted.configuration.fail_level
    write_report(
        report,
        forms_chosen,
        color=color,
        verbose=verbose,
        quiet=quiet,
        fail_level=level,
        weights=weights,
        values=given,
    )
    if found is not None and not quiet:
        for note in notes(found, wanted):
            click.echo(f"irshape: {note}", err=True)
    if any(one.rule == "unreadable-file" for one in report.diagnostics):
        raise click.exceptions.Exit(2)
    failing = SEVERITIES[: SEVERITIES.index(level) + 1]
    if not exit_zero and any(report.count(severity) for severity in failing):
        raise click.exceptions.Exit(1)


def finished(
    files: list[str], wanted: Chosen, weights: str, values: dict[str, str]
) -> tuple[Report, Finished | None]:
    """Checks the files, and applies what holds for all of them together. Raises `ValueError` for settings and values that do not fit, `OSError` for a single file."""
    from ..diagnostics.report import Report

    configuration = wanted.configuration
    if not (
        configuration.per_file_ignores
        or configuration.baseline
        or configuration.max_errors
        or wanted.update_baseline
    ):
        return Report(list(checked(files, wanted, weights, values))), None
    from ..checking.baseline import finish, without_ignored

    reports: list[FileReport] = []
    errors = 0
    for report in checked(files, wanted, weights, values):
        reports.append(report)
        if configuration.max_errors is not None and not configuration.baseline:
            errors += sum(
                found.severity == "error"
                for found in without_ignored(report, configuration).diagnostics
            )
            if errors >= configuration.max_errors:
                break
    found = finish(Report(reports), configuration, baseline=not wanted.update_baseline)
    if wanted.update_baseline:
        return updated(found.report, wanted)
    return found.report, found._replace(unchecked=len(files) - len(found.report.files))


def checked(
    files: list[str], wanted: Chosen, weights: str, values: dict[str, str]
) -> Iterator[FileReport]:
    """What is found in each file, in order; in the same order and words whatever the number of processes."""
    configuration = wanted.configuration
    if len(files) == 1 and configuration.cache_dir is None:
        from ..checking.one import validate_file
        from ..settings.selection import settings

        yield validate_file(
            files[0], weights, values, settings=settings(configuration, files[0], over=wanted.over)
        )
        return
    from ..checking.cache import default_folder
    from ..checking.many import default_jobs, validate_many
    from .progress import progress

    if values:
        from ..formats.ir.fragments import give_values
        from ..formats.loading import load

        for path in files:
            if path != "-":
                give_values(
                    load(path, weights), values
                )  # a value that fits nowhere is the user's mistake, not the file's
    cache = (configuration.cache_dir or default_folder()) if configuration.cache else None
    jobs = configuration.jobs or default_jobs(files)
    found = validate_many(
        files,
        configuration,
        over=wanted.over,
        weights=weights,
        values=values,
        jobs=jobs,
        cache=cache,
    )
    yield from progress(found, len(files))


def updated(report: Report, wanted: Chosen) -> tuple[Report, Finished]:
    """Writes the baseline; what is then left to report is nothing."""
    from ..checking.baseline import finish, update

    assert wanted.configuration.baseline is not None
    update(report, wanted.configuration.baseline)
    found = finish(report, wanted.configuration)
    return found.report, found


def notes(found: Finished, wanted: Chosen) -> Iterator[str]:
    """What a person should know about findings that are not in the report."""
    if wanted.update_baseline:
        yield f"{found.baselined} finding{'' if found.baselined == 1 else 's'} in the baseline '{wanted.configuration.baseline}'"
    elif found.baselined:
        yield f"{found.baselined} finding{'' if found.baselined == 1 else 's'} held back by the baseline"
    if found.stale:
        yield f"{found.stale} entr{'y' if found.stale == 1 else 'ies'} of the baseline no longer occur{'s' if found.stale == 1 else ''}; --update-baseline drops them"
    if found.cut or found.unchecked:
        yield f"stopped after {wanted.configuration.max_errors} errors: {found.cut} more findings in the last file, {found.unchecked} files not looked at"
