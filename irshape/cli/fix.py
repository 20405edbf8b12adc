"""`irshape fix`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..spelling import counted
from ..urls import is_url
from .common import colour_option, echo, keep_apart, wants_colour, weights_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..checking.fixing import Fixes
    from ..diagnostics.report import Diagnostic


@click.command("fix", short_help="Correct what has exactly one right answer.")
@click.argument("model", metavar="MODEL")
@click.option(
    "--diff",
    "shown",
    is_flag=True,
    help="Print the changes as a unified diff, and change nothing. This is the default.",
)
@click.option("--in-place", is_flag=True, help="Change the file.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the fixed text to another file; - is standard output. The .bin is not copied.",
)
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Do not list the findings that are fixed and those that remain.",
)
@click.option(
    "--unsafe-fixes",
    "unsafe",
    is_flag=True,
    help="Where several changes would do, make the likeliest.",
)
@weights_option
@colour_option
def command(
    model: str,
    shown: bool,
    in_place: bool,
    output: str | None,
    quiet: bool,
    unsafe: bool,
    weights: str,
    color: str,
) -> None:
    """Correct what has exactly one right answer in an IR, and change nothing else in the file.

    What an IR says wrongly in one place, it usually says rightly in another: ports, attributes,
    edges, ids and the places of constants follow from each other. The findings that remain are
    listed, those with several possible fixes too.

    Exit status of --diff: 0; 1 if there is something to correct. Of --in-place and --output: 0; 1
    if errors remain. Of all: 1 if the file cannot be read as an IR, 2 if it cannot be opened.
    """
    from ..checking.fixing import fix

    if sum((shown, in_place, output is not None)) > 1:
        raise click.UsageError("--diff, --in-place and --output exclude each other")
    if in_place and model == "-":
        raise click.UsageError("standard input cannot be changed in place")
    if in_place and is_url(model):
        raise click.UsageError("a model behind a URL cannot be changed in place; use --output")
    keep_apart([model], output, weights=weights)
    try:
        fixes = fix(model, weights, unsafe=unsafe)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    writes = in_place or output is not None
    if writes:
        _write(fixes, model, output)
    else:
        echo(_for_terminal(fixes.diff(), wants_colour(color)), newline=False, colour=True)
    if not quiet:
        for line in _account(fixes, writes):
            click.echo(line, err=True)
    unreadable = not fixes.readable
    if unreadable or (
        any(diagnostic.severity == "error" for diagnostic in fixes.remaining)
        if writes
        else fixes.edits
    ):
        raise click.exceptions.Exit(1)


def _write(fixes: Fixes, model: str, output: str | None) -> None:
    from ..formats.atomic import write_atomically

    if not fixes.readable:
        return
    if output == "-":
        echo(fixes.data, newline=False)
    elif output is not None:
        write_atomically(Path(output), fixes.data)
    elif fixes.edits:
        write_atomically(Path(model), fixes.data)


def _for_terminal(diff: str, colour: bool) -> str:
    """The diff; for a terminal without control characters, and coloured if that is wanted."""
    if not colour and not sys.stdout.isatty():
        return diff
    from ..diagnostics.renderers.common import plain

    tones = {"-": "red", "+": "green", "@": "cyan"}
    lines = []
    for line in diff.splitlines():
        safe = "\t".join(map(plain, line.split("\t")))
        lines.append(click.style(safe, fg=tones.get(line[:1])) if colour else safe)
    return "".join(f"{line}\n" for line in lines)


def _account(fixes: Fixes, written: bool) -> Iterator[str]:
    """What was fixed, and the errors and warnings that are left."""
    from ..diagnostics.renderers.common import plain

    path = plain(fixes.path)
    done = "fixed" if written else "can be fixed"
    for diagnostic in fixes.fixed:
        place = f"{path}:{diagnostic.line}:{diagnostic.column}"
        said = plain(f"{_at(diagnostic)}{diagnostic.message}")
        yield f"{place}: {done} [{diagnostic.code}] {said}"
    remaining = fixes.remaining if written else fixes.remaining_before
    left = [diagnostic for diagnostic in remaining if diagnostic.severity != "info"]
    for diagnostic in left:
        place = f"{path}:{diagnostic.line}:{diagnostic.column}"
        said = plain(f"{_at(diagnostic)}{diagnostic.message}")
        yield f"{place}: left: {diagnostic.severity}[{diagnostic.code}] {said}"
    yield f"irshape: {counted(len(fixes.fixed), 'finding')} {done}, {len(left)} left"


def _at(diagnostic: Diagnostic) -> str:
    layer = diagnostic.layer
    return (
        f"{layer['type']} '{layer['name']}' (id {'/'.join([*layer['path'], layer['id']])}): "
        if layer
        else ""
    )
