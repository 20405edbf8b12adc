"""`irshape validate`."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..diagnostics.renderers.common import plain, plain_path
from ..spelling import counted, suggestion
from .arguments import Command, value_option
from .common import (
    colour_option,
    expand,
    keep_apart,
    pairs,
    silent_option,
    unjudged,
    usage_errors,
    weights_option,
)
from .pages import view_option, write_view
from .reporting import Form, destinations, format_options, write_report
from .selecting import Chosen, chosen, selection_options

if TYPE_CHECKING:
    from ..checking.baseline import Finished
    from ..diagnostics.report import Report
    from ..settings.configuration import Configuration


@click.command("validate", cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@format_options
@selection_options
@click.option(
    "--since",
    metavar="COMMIT",
    help="Check only models that have changed since this commit of git, or whose data has changed. "
    "If the configuration or a plugin has changed, also check the other models in git.",
)
@click.option("--exit-zero", is_flag=True, help="Exit 0 even if there are findings.")
@value_option
@click.option("-v", "--verbose", is_flag=True, help="Also show infos.")
@click.option("--show-fixes", is_flag=True, help="Show how findings can be fixed, as diffs.")
@click.option(
    "--statistics",
    is_flag=True,
    help="Print how many findings each rule has, as text or JSON, instead of the findings.",
)
@click.option(
    "--trace",
    is_flag=True,
    help="Print on stderr, for each finding, its rule and the changes tried, with their effects.",
)
@view_option("Also write an HTML page that shows the model with its findings. Takes one file.")
@silent_option
@weights_option
@colour_option
def command(
    paths: tuple[str, ...],
    forms: tuple[Form, ...],
    output_file: str | None,
    since: str | None,
    exit_zero: bool,
    values: tuple[str, ...],
    verbose: bool,
    show_fixes: bool,
    statistics: bool,
    trace: bool,
    view: str | None,
    quiet: bool,
    weights: str,
    color: str,
    **selection: Any,
) -> None:
    """Report everything that is wrong with IR files.

    PATH is a file, a folder (searched for IRs, ONNX models and oneDNN graphs), a glob, or - for
    standard input. A .bin stands for its .xml. A file may also hold single layers, as the
    operation documents print them.

    Exit status: 0; 1 if there are findings at or above the fail level; 2 if the options or the
    configuration cannot be used, or a file cannot be opened.
    """
    from ..rule_ids import SEVERITIES

    gc.disable()  # nothing here is cyclic garbage worth looking for; the process is short
    given = pairs(values, "--value")
    forms_chosen = destinations(forms, output_file, statistics=statistics)
    # a report of the cache does not say what was tried
    wanted = chosen({**selection, "no_cache": selection["no_cache"] or trace})
    files, lacking = _chosen_files(paths, wanted, since)
    if view is not None and (len(files) != 1 or given):
        raise click.UsageError("--view draws one file, and cannot be combined with --value")
    keep_apart(files, *(form.path for form in forms_chosen), view, weights=weights)
    level: Any = wanted.configuration.fail_level
    with usage_errors():
        finished = _validated(files, wanted, weights, given, named=files == list(paths))
    report = finished.report
    write_report(
        report,
        forms_chosen,
        color=color,
        verbose=verbose,
        quiet=quiet,
        fixes=show_fixes,
        statistics=statistics,
        fail_level=level,
    )
    for line in _traced(report) if trace else ():
        click.echo(line, err=True)
    part = since is not None or wanted.shard is not None
    ignores = selection["per_file_ignores"]
    useless = _unmatched(wanted, () if part else paths, ignores, files)
    clear = _cleared(report, wanted.configuration.devices.names) if verbose else ()
    for note in () if quiet else (*clear, *notes(finished, wanted, lacking), *useless):
        click.echo(f"irshape: {note}", err=True)
    if view is not None:
        from ..settings.selection import settings
        from ..view.showing import Subject

        of_file = settings(wanted.configuration, files[0])
        write_view(view, Subject(files[0], weights, settings=of_file))
    failing = SEVERITIES[: 0 if exit_zero else SEVERITIES.index(level) + 1]
    unopened = lacking or any(one.rule == "unreadable-file" for one in report.diagnostics)
    if unopened or any(report.count(severity) for severity in failing):
        raise click.exceptions.Exit(2 if unopened else 1)


def _cleared(report: Report, devices: Sequence[str]) -> Iterator[str]:
    """Yields a line that says that IRs have no findings about the requested devices, if so."""
    from ..rule_ids import FAILS_ON_DEVICE, LIKELY_FAILS_ON_DEVICE, NOT_JUDGED_FOR_DEVICE

    codes = [each.code for each in (FAILS_ON_DEVICE, LIKELY_FAILS_ON_DEVICE, NOT_JUDGED_FOR_DEVICE)]
    judged = sum(bool(each.layers) and not each.foreign for each in report.files)
    reported = {each.code for one in report.diagnostics for each in one.whole}
    if devices and judged and reported.isdisjoint(codes):
        told = f"no finding for {', '.join(devices)} ({', '.join(codes)})"
        yield f"{told} in {counted(judged, 'IR')}"


def _chosen_files(
    paths: tuple[str, ...], wanted: Chosen, since: str | None
) -> tuple[list[str], list[str]]:
    """Returns a pair: the files to check, and new data files that git lacks.

    If a path is the configuration or a plugin, --only-ir adds all models in git below the folder of
    the configuration (without a configuration, the working directory).
    """
    from ..settings.plugin_files import loaded

    search = partial(expand, only_ir=wanted.only_ir, foreign=True)
    files = search(paths, empty=since is not None)
    configuration = wanted.configuration.path
    rules = [*loaded(), *([configuration] if configuration else ())]
    real = set(map(os.path.realpath, rules))
    if since is not None:
        from .changed import changed_since

        return changed_since(since, wanted.part(files), real)
    if wanted.only_ir and not real.isdisjoint(map(os.path.realpath, paths)):
        from .changed import in_git

        root = os.path.relpath(os.path.dirname(configuration or "") or ".")
        files = list(dict.fromkeys([*files, *in_git(search([root], empty=True))]))
    return wanted.part(files), []


def _traced(report: Report) -> Iterator[str]:
    """Yields lines about each finding for --trace: its rule, the class of the operation, the fixes,
    and the changes that were tried, with costs and outcomes."""
    from ..faults import module_of
    from ..ops.registry import declaration
    from ..rules import all_rules

    rules = {rule.code: rule for rule in all_rules()}
    for file in report.files:
        for finding, trials in file.trace:
            place = f"{plain_path(file.path)}:{finding.line}:{finding.column}"
            yield f"{place}: {finding.code} {plain(finding.message)}"
            if (rule := rules.get(finding.code)) is not None:
                suspects = ", ".join(rule.suspects) or "nothing"
                yield f"  {module_of(rule)}.{rule.__name__} suspects {suspects}"
            layer = finding.layer or {"type": "", "opset": ""}
            if (operation := declaration(layer["type"], layer["opset"])) is not None:
                yield f"  {module_of(operation)}.{operation.__name__} declares the operation"
            for fix in finding.fixes:
                text = plain(f"{fix['change']} ({fix['reason']})")
                yield f"  {fix['applicability']} fix: {text}"
            if not trials:
                yield "  no other change was tried"
            for trial in trials:
                yield f"  cost {trial.cost:.2f}: {plain(trial.change)}: {trial.outcome}"


def _validated(
    files: list[str],
    wanted: Chosen,
    weights: str,
    values: dict[str, str],
    *,
    named: bool,
) -> Finished:
    """Validates the files. With --update-baseline, also writes the baseline.

    named: whether the command line names files, not a folder. Raises `ValueError` for invalid
    settings and values that fit no input, and `OSError` if the only named file cannot be opened.
    """
    from ..checking.request import Request
    from ..checking.validation import validate_all
    from .progress import progress

    configuration = wanted.configuration
    alone = named and len(files) == 1 and configuration.cache_dir is None
    request = Request(configuration, weights, values, leaves=alone)
    if not alone:
        from ..checking.cache import default_folder
        from ..checking.many import default_jobs

        request = request._replace(
            jobs=configuration.jobs or default_jobs(files),
            cache=(configuration.cache_dir or default_folder()) if configuration.cache else None,
        )
    if not wanted.update_baseline:
        return validate_all(files, request, alone=alone, watch=progress)
    from ..checking.baseline import finish, update

    assert configuration.baseline is not None
    whole = request._replace(configuration=configuration._replace(baseline=None))
    report = validate_all(files, whole, alone=alone, watch=progress).report
    update(report, configuration.baseline)
    return finish(report, configuration)


def _unmatched(
    wanted: Chosen, paths: tuple[str, ...], ignores: Any, files: list[str]
) -> Iterator[str]:
    """Yields notes on patterns that match none of the files.

    If a folder is among `paths`, all patterns must match a file. Otherwise only the patterns of
    --per-file-ignores (`ignores`) must; with --only-ir, i.e. in a hook, no pattern must.
    """
    from ..settings.patterns import matches

    configuration = wanted.configuration
    lists: list[tuple[str, Sequence[str]]] = []
    if any(map(os.path.isdir, paths)):
        ignores = configuration.per_file_ignores
        lists += [("a policy", policy.files) for policy in configuration.policies]
        lists += [("a contract", contract.files) for contract in configuration.contracts]
        lists += [(f"rule {rule.id.code}", rule.files) for rule in configuration.custom]
    elif not paths or wanted.only_ir:
        ignores = ()
    lists.insert(0, ("per-file-ignores", [pattern for pattern, _ in ignores]))
    for where, patterns in lists:
        for pattern in patterns:
            if not any(matches(pattern, file, configuration.root) for file in files):
                yield (
                    f"the pattern '{pattern}' of {where} matches none of the "
                    f"{counted(len(files), 'file')}"
                )


def forbidden_in_vain(configuration: Configuration) -> Iterator[str]:
    """Yields a note on each forbidden operation that seems misspelt or is not in its opset."""
    from ..ops import registry

    for operation in dict.fromkeys(
        each for policy in configuration.policies for each in policy.forbidden_operations
    ):
        name, _, version = operation.partition("@")
        known = registry.opset_versions(name)
        close = "" if known else suggestion(name, registry.type_names())
        opsets = {f"opset{number}" for cls in known for number in registry.opsets(cls)}
        if close or (known and version.startswith("opset") and version not in opsets):
            yield f"the policy forbids '{operation}', which is in no opset{close}"


def notes(finished: Finished, wanted: Chosen, lacking: list[str]) -> Iterator[str]:
    """Yields notes on what the report leaves out. lacking: the data files that git lacks."""
    for path in lacking:
        yield (
            f"git does not have '{path}', which a model in git needs: `git add` it, or name it in "
            ".gitignore"
        )
    held = counted(finished.baselined, "finding")
    if wanted.update_baseline:
        yield f"{held} in the baseline '{wanted.configuration.baseline}'"
    elif finished.baselined:
        yield f"the baseline hides {held}"
    if finished.stale:
        yield (
            f"entries of the baseline that no longer occur: {finished.stale}; "
            "--update-baseline removes them"
        )
    yield from forbidden_in_vain(wanted.configuration)
    others = sum(each.foreign for each in finished.report.files)
    if others and (wanted.configuration.target or wanted.configuration.devices.names):
        yield unjudged(others)
    if finished.cut or finished.unchecked:
        yield (
            f"stopped after {wanted.configuration.max_errors} errors: {finished.cut} findings in "
            f"the last file are not shown, {finished.unchecked} files not checked"
        )
