"""What the commands that execute a model share: its inputs, memory, and how far they are."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..byte_sizes import parse_size
from ..spelling import counted
from .common import pairs

if TYPE_CHECKING:
    from ..execution.session import Observer
    from ..model.graph import Model

F = TypeVar("F", bound=Callable[..., Any])


def input_options(function: F) -> F:
    """`--input`, `--seed`, `--shape`."""
    function = click.option(
        "-s",
        "--shape",
        "shapes",
        multiple=True,
        metavar="NAME=SHAPE",
        help="The shape of a random input, as x=[1,3,224,224].",
    )(function)
    function = click.option(
        "--seed", type=int, default=0, show_default=True, help="The seed of the random inputs."
    )(function)
    return click.option(
        "-i",
        "--input",
        "inputs",
        multiple=True,
        metavar="[NAME=]FILE.npy",
        help="An input, by tensor name, layer name or id, or in order. "
        "[default: MODEL.input0.npy … beside the model, if they exist]",
    )(function)


def _size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    try:
        return parse_size(value)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


def memory_option(function: F) -> F:
    """`--max-memory`, in bytes; None without it."""
    return click.option(
        "--max-memory",
        metavar="SIZE",
        callback=_size,
        help="Refuse a run that needs more memory, such as 8G or 512M. "
        "[default: three quarters of the machine's]",
    )(function)


def force_option(function: F) -> F:
    """`--force`, for `sound_or_exit`."""
    return click.option(
        "--force",
        is_flag=True,
        help="Go on with a model that `irshape validate` rejects.",
    )(function)


def sound_or_exit(model: Model, force: bool) -> None:
    """Exit status 1, with the findings on stderr, if a model must not be computed.

    force: go on with any model.
    """
    from ..checking.soundness import UnsoundModel, require_sound

    if force:
        return
    try:
        require_sound(model)
    except UnsoundModel as problem:
        from ..diagnostics.renderers import Options, render
        from ..diagnostics.report import Report

        click.echo(render(Report([problem.report]), "text", Options()), err=True, nl=False)
        click.echo(f"irshape: '{model.path}' is not computed; --force goes on", err=True)
        raise click.exceptions.Exit(1) from None


def gathered(
    model: Model,
    inputs: tuple[str, ...],
    random: bool,
    seed: int,
    shapes: tuple[str, ...],
    max_memory: int | None,
) -> dict[str, Any]:
    """The inputs of a run, by the id of their Parameter: from files, or at random.

    random: draw those that are not given. Raises `UsageError`, and `ExecutionError` where they
    would take more than `max_memory` bytes.
    """
    from ..execution.inputs import beside, random_inputs, read_array, restored
    from ..execution.session import input_names
    from ..types import ElementType

    names = input_names(model)
    parameters = model.parameters
    files: dict[str, str] = {}
    try:
        for position, entry in enumerate(inputs):
            name, equals, file = entry.rpartition("=")
            if not equals:
                if position >= len(parameters):
                    raise ValueError(
                        f"the model has {counted(len(parameters), 'input')}; "
                        f"'{entry}' is one too many"
                    )
                files[parameters[position].id] = file
            elif name not in names:
                raise ValueError(
                    f"the model has no input '{name}' (its inputs: "
                    f"{', '.join(layer.name for layer in parameters) or 'none'})"
                )
            else:
                files[names[name].id] = file
        if not inputs and not shapes:
            files = beside(model)
        fed = {id: read_array(file) for id, file in files.items()}
        for layer in parameters:
            if layer.id in fed and layer.outputs:
                fed[layer.id] = restored(
                    fed[layer.id], layer.outputs[0].element_type or ElementType.of("dynamic")
                )
        wanted = pairs(shapes, "--shape")
        if random and len(fed) < len(parameters):
            return random_inputs(model, seed, wanted, fed, max_memory=max_memory)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    missing = [layer.name for layer in parameters if layer.id not in fed]
    if missing:
        raise click.UsageError(
            f"no value for the input{'s' if len(missing) > 1 else ''} {', '.join(missing)}; "
            "give --input NAME=FILE.npy or --random"
        )
    return fed


@contextmanager
def ticking(model: Model, runs: int = 1) -> Iterator[Observer | None]:
    """Counts layers on the stderr of a terminal; the line is removed at the end.

    Yields the function to call for each layer, None if stderr is not a terminal.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    total, count, shown, written = len(model.net.layers) * runs, 0, monotonic(), False

    def tick(layer: Any, inputs: Any, outputs: Any) -> None:
        nonlocal count, shown, written
        count += 1
        now = monotonic()
        if now - shown >= 0.2:
            shown, written = now, True
            kind = "".join(char for char in layer.type if char.isalnum())[:40]
            sys.stderr.write(f"\r{count}/{total} layers, {kind}\033[K")
            sys.stderr.flush()

    try:
        yield tick
    finally:
        if written:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
