"""`irshape fix`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..diagnostics.renderers.common import plain
from ..rule_ids import SEVERITIES
from ..spelling import counted
from ..urls import is_url, without_credentials
from .arguments import Command
from .common import (
    colour_option,
    deliver,
    echo,
    expand,
    keep_apart,
    usage_errors,
    wants_colour,
    weights_option,
)
from .progress import progress
from .selecting import Chosen, chosen, fixing_options

if TYPE_CHECKING:
    from ..checking.baseline import Left
    from ..diagnostics.report import Diagnostic, FileReport
    from ..repair.fixing import Fixes


@click.command("fix", cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--diff",
    "shown",
    is_flag=True,
    help="Print the changes as a unified diff, and change nothing. This is the default.",
)
@click.option("--check", is_flag=True, help="Only list the files that would change.")
@click.option("--in-place", is_flag=True, help="Change the files.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the fixed text of one file to another file; - is standard output. The .bin is not "
    "copied.",
)
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="List neither files nor findings, and do not count findings.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="For several files, list the fixed findings instead of only counting them.",
)
@click.option(
    "--unsafe-fixes",
    "unsafe",
    is_flag=True,
    help="Also make the likeliest change for other findings. This alters what OpenVINO reads.",
)
@fixing_options
@weights_option
@colour_option
def command(
    paths: tuple[str, ...],
    shown: bool,
    check: bool,
    in_place: bool,
    output: str | None,
    quiet: bool,
    verbose: bool,
    unsafe: bool,
    weights: str,
    color: str,
    **selection: Any,
) -> None:
    """Fix IRs without changing what OpenVINO reads.

    PATH is a file, a folder (searched for IRs), a glob, or - for standard input. OpenVINO reads
    operations, attributes, edges and weights, but not the ports: irshape makes their dimensions and
    precisions agree with the rest of the file. In a file that OpenVINO refuses, irshape corrects a
    misspelt word or the notation of a number if only one correction is possible. It lists all other
    errors and warnings; --unsafe-fixes makes a likely change for those that have one. irshape
    neither fixes nor lists the findings of rules that are not selected.

    Exit status: with --diff or --check, 0, or 1 if something can be fixed; with --in-place or
    --output, 0, or 1 if findings at or above the fail level remain. Always 1 if an IR cannot be
    read, and 2 if a file has another format, or cannot be opened or written; irshape still fixes
    the other files.
    """
    from ..checking.fixing_many import fix_many
    from ..checking.many import default_jobs

    if sum((shown, check, in_place, output is not None)) > 1:
        raise click.UsageError("--diff, --check, --in-place and --output exclude each other")
    wanted = chosen(selection)
    files = expand(paths, only_ir=wanted.only_ir)
    alone = files == list(paths) and len(files) == 1
    files = wanted.part(files)
    if output is not None and len(files) > 1:
        raise click.UsageError("--output takes one file; change several with --in-place")
    keep_apart(files, output, weights=weights)
    files = _each_once(files, in_place=in_place)
    writes = in_place or output is not None
    account = _Account(writes, wanted)
    configuration = wanted.configuration
    jobs = configuration.jobs or default_jobs(files)
    outcomes = fix_many(files, configuration, weights=weights, unsafe=unsafe, jobs=jobs)
    for outcome in progress(outcomes, len(files)):
        fixes, problem = outcome.fixes, outcome.problem
        if fixes is not None and fixes.readable and writes:
            try:
                _write(fixes, outcome.path, output, named=outcome.path in paths)
            except OSError as unwritten:
                problem = unwritten.strerror or str(unwritten)
        if fixes is None or problem:
            click.echo(f"irshape: '{without_credentials(outcome.path)}': {problem}", err=True)
            account.problems += 1
            continue
        if not writes and not check:
            echo(_for_terminal(fixes.diff(), wants_colour(color)), newline=False, colour=True)
        result = account.add(fixes)
        if quiet:
            continue
        lines = [] if check else [*account.findings(result, fixed=alone or verbose)]
        if check or not (alone or verbose):
            lines = [*account.changed(result), *lines]
        for line in lines:
            click.echo(line, err=not check)
    if not quiet and not (alone and account.problems):
        click.echo(f"irshape: {account.summary(alone=alone)}", err=True)
    if account.problems or account.failed:
        raise click.exceptions.Exit(2 if account.problems else 1)


def _each_once(files: Sequence[str], *, in_place: bool) -> list[str]:
    """Returns the files without duplicates. If several paths lead to one file, prefers a path that
    is not a symbolic link. Raises `UsageError` if a file cannot be changed in place as requested.
    """
    if in_place and "-" in files:
        raise click.UsageError("standard input cannot be changed in place; use --output")
    if in_place and any(map(is_url, files)):
        raise click.UsageError("a model at a URL cannot be changed in place; use --output")
    chosen: dict[str, str] = {}
    for file in files:
        key = file if file == "-" or is_url(file) else os.path.realpath(file)
        if key not in chosen or (os.path.islink(chosen[key]) and not os.path.islink(file)):
            chosen[key] = file
    return list(chosen.values())


def _write(fixes: Fixes, path: str, output: str | None, *, named: bool) -> None:
    """Writes the fixed text to `output`; without `output`, over the file. Keeps a symbolic link,
    and replaces its target.

    named: whether the user named the file. Otherwise, a link is refused, since its target may be
    anywhere. Raises `OSError`.
    """
    from ..formats.atomic import write_atomically

    if output is not None:
        deliver(fixes.data, output)
        return
    if not fixes.edits:
        return
    target = os.path.realpath(path)
    if os.path.islink(path) and not named:
        reason = f"is a link to '{target}'; name the file itself to change it"
        raise OSError(errno.EXDEV, reason, path)
    if Path(target).read_bytes() != fixes.original:
        raise OSError(errno.EBUSY, "has changed since irshape read it, and was not written", path)
    if not (os.access(target, os.W_OK) and os.stat(target).st_mode & 0o222):
        raise PermissionError(errno.EACCES, "is read-only", path)
    write_atomically(Path(path), fixes.data)


class _Result(NamedTuple):
    """What `fix` did to a file: the fixed findings, and the remaining errors and warnings.

    changes: whether the file's text changes. unsafe: how many findings --unsafe-fixes corrects.
    """

    path: str
    changes: bool
    fixed: list[Diagnostic]
    left: list[Diagnostic]
    unsafe: int

    @property
    def open(self) -> int:
        """The number of the remaining findings."""
        return sum(len(each.whole) for each in self.left)


class _Account:
    """Counts the fixed and the remaining findings of all files."""

    def __init__(self, writes: bool, wanted: Chosen) -> None:
        from ..checking.baseline import left_of

        self.writes = writes
        self.done = "fixed" if writes else "can be fixed"
        with usage_errors():
            self.leave: Callable[[FileReport], Left] = left_of(wanted.configuration)
        level = wanted.configuration.fail_level
        self.failing = SEVERITIES[: SEVERITIES.index(level) + 1]
        self.failed = False
        self.problems = 0
        self.results: list[_Result] = []

    def add(self, fixes: Fixes) -> _Result:
        from ..diagnostics.report import FileReport

        remaining = fixes.remaining if self.writes else fixes.remaining_before
        remaining = self.leave(FileReport(fixes.path, 0, remaining)).file.diagnostics
        left = [diagnostic for diagnostic in remaining if diagnostic.severity != "info"]
        unsafe = sum(
            len(each.finding.whole)
            for each in fixes.candidates
            if each.alternatives and not each.certain
        )
        result = _Result(plain(fixes.path), bool(fixes.edits), fixes.fixed, left, unsafe)
        self.results.append(result._replace(unsafe=min(unsafe, result.open)))
        self.failed |= not fixes.readable or (
            any(diagnostic.severity in self.failing for diagnostic in remaining)
            if self.writes
            else result.changes
        )
        return result

    def changed(self, result: _Result) -> Iterator[str]:
        """Yields a line on the fixes of a file, if the file changes."""
        if result.changes:
            yield f"{result.path}: {_fixed(result.fixed)} {self.done}"

    def findings(self, result: _Result, *, fixed: bool) -> Iterator[str]:
        """Yields a line for each remaining finding; with `fixed`, first a line for each fixed
        finding."""
        listed = [(f"{self.done} ", each) for each in result.fixed] if fixed else []
        listed += [(f"left: {each.severity}", each) for each in result.left]
        for mark, each in listed:
            also = f" (and {len(each.related)} more with the same cause)" if each.related else ""
            place = f"{result.path}:{each.line}:{each.column}"
            yield f"{place}: {mark}[{each.code}] {plain(each.sentence)}{also}"

    def summary(self, *, alone: bool) -> str:
        """Summarizes the results of all files."""
        fixed = _fixed([each for result in self.results for each in result.fixed])
        changed = sum(result.changes for result in self.results)
        left = sum(result.open for result in self.results)
        unsafe = sum(result.unsafe for result in self.results)
        files = counted(len(self.results) + self.problems, "file")
        by = "" if self.writes or not changed else " with --in-place"
        if alone:
            said = f"{fixed} {self.done}{by}, {left} left"
        elif changed:
            said = f"{fixed} {self.done} in {changed} of {files}{by}"
        else:
            said = f"nothing {'was fixed' if self.writes else 'to fix'} in {files}"
        if left and not alone:
            with_left = sum(bool(result.left) for result in self.results)
            said += f", {left} left in {counted(with_left, 'file')}"
        said += f" ({unsafe} can be fixed with --unsafe-fixes)" if unsafe else ""
        said += "; nothing was written" if by else ""
        if self.problems:
            said += f"; {counted(self.problems, 'file')} could not be read or written"
        return said


def _fixed(findings: list[Diagnostic]) -> str:
    """Counts findings: `3 findings (1 info)`. Names the infos, which `validate` hides."""
    infos = sum(each.severity == "info" for each in findings)
    of_them = f" ({counted(infos, 'info')})" if infos else ""
    return f"{counted(len(findings), 'finding')}{of_them}"


def _for_terminal(diff: str, colour: bool) -> str:
    """Returns a diff; for a terminal, without control characters, and coloured if `colour`."""
    if not colour and not sys.stdout.isatty():
        return diff
    tones = {"-": "red", "+": "green", "@": "cyan"}
    lines = []
    for line in diff.splitlines():
        safe = "\t".join(map(plain, line.split("\t")))
        lines.append(click.style(safe, fg=tones.get(line[:1])) if colour else safe)
    return "".join(f"{line}\n" for line in lines)
