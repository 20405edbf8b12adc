"""What the commands share: paths, colours, the options that mean the same everywhere."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..model.graph import Model

F = TypeVar("F", bound=Callable[..., Any])


def expand(paths: Iterable[str], *, only_ir: bool = False) -> list[str]:
    """Files as given, folders searched for IRs, globs resolved; `-` is standard input. Raises `UsageError` where nothing is found.

    only_ir: files are looked into as those in folders are, and passed over where they are no IR.
    """
    found: list[str] = []
    for path in paths:
        if path == "-":
            found.append(path)
        elif os.path.isdir(path):
            inside = [
                str(candidate)
                for candidate in sorted(Path(path).rglob("*.xml"))
                if candidate.is_file() and holds_ir(candidate)
            ]
            if not inside:
                raise click.UsageError(f"no IR in the folder '{path}'")
            found += inside
        elif os.path.exists(path):
            found.append(path)
        else:
            matches = sorted(glob.glob(path, recursive=True))
            if not matches:
                raise click.UsageError(f"'{path}': no such file or folder")
            found += expand(matches) if any(os.path.isdir(match) for match in matches) else matches
    found = list(dict.fromkeys(found))
    return (
        [path for path in found if path == "-" or not path.endswith(".xml") or holds_ir(Path(path))]
        if only_ir
        else found
    )


def holds_ir(path: Path) -> bool:
    """Whether a file in a folder is an IR or a layer on its own; what cannot be told is taken for one."""
    from ..formats.ir.recognition import PEEK, may_be_ir

    try:
        with path.open("rb") as file:
            return may_be_ir(file.read(PEEK))
    except OSError:
        return True


def wants_colour(choice: str) -> bool:
    """`always`, `never`, or by the environment: NO_COLOR, FORCE_COLOR, then whether stdout is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def colour_option(function: F) -> F:
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Colour the output.",
    )(function)


def weights_option(function: F) -> F:
    return click.option(
        "--weights",
        metavar="FILE|none",
        default="beside",
        help="The .bin; none does without values. [default: beside the .xml]",
    )(function)


def load_or_exit(path: str, weights: str) -> Model:
    """The model, or exit status 1 with its diagnostics on stderr."""
    model = load_or_none(path, weights)
    if model is None:
        raise click.exceptions.Exit(1)
    return model


def load_or_none(path: str, weights: str) -> Model | None:
    """The model, or None with its diagnostics on stderr."""
    from ..diagnostics.renderers.common import plain
    from ..diagnostics.report import LoadError, load

    try:
        return load(path, weights)
    except LoadError as problem:
        for diagnostic in problem.diagnostics:
            hint = f" ({diagnostic.help})" if diagnostic.help else ""
            click.echo(plain(f"{problem.path}:{diagnostic}{hint}"), err=True)
        return None


def pairs(values: Iterable[str], option: str) -> dict[str, str]:
    """`NAME=VALUE` options as a dictionary. A name may hold `=`: the last one before `[`, or the first, divides."""
    found: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.rpartition("=[") if "=[" in value else value.partition("=")
        if not equals or not name:
            raise click.UsageError(f"{option} takes NAME=VALUE, got '{value}'")
        found[name] = f"[{rest}" if equals == "=[" else rest
    return found
