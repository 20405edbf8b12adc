"""Shared parts of the commands that execute a model: inputs, memory limit, and progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from ..byte_sizes import parse_size
from ..spelling import counted
from .arguments import Whole, given_shapes, parsed, shape_option
from .common import options, usage_errors
from .progress import Line

if TYPE_CHECKING:
    from ..model.graph import Layer, Model
    from ..shapes import ShapeLike

input_options = options(
    click.option(
        "-i",
        "--input",
        "inputs",
        multiple=True,
        metavar="[NAME=]FILE.npy|VALUE",
        help="A file or a value such as [[1,2,3]] for an input. NAME is a tensor name, a layer "
        "name, a position or an id (id:3); without names, the order of the inputs counts. "
        "[default: MODEL.input0.npy … beside the model, if they exist]",
    ),
    click.option(
        "--seed", type=Whole(0), default=0, show_default=True, help="The seed of the random inputs."
    ),
    shape_option("The shape of a random input: x=[1,3,224,224]."),
)


memory_option = click.option(
    "--max-memory",
    metavar="SIZE",
    callback=parsed(parse_size),
    help="Refuse a run that needs more memory, such as 8G or 512M. "
    "[default: three quarters of the machine's]",
)
force_option = click.option(
    "--force",
    is_flag=True,
    help="Run a model although `irshape validate` rejects it.",
)


def sound_or_exit(model: Model, force: bool) -> None:
    """If a model has errors that forbid a run, prints them on stderr and exits with status 1.

    force: accept any model.
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
        click.echo(
            f"irshape: '{model.path}' has errors, so irshape stops; --force continues", err=True
        )
        raise click.exceptions.Exit(1) from None


def gathered(
    model: Model,
    inputs: tuple[str, ...],
    random: bool,
    seed: int,
    shapes: tuple[str, ...],
    max_memory: int | None,
    fitting: Mapping[Layer, ShapeLike] | None = None,
) -> dict[Layer, Any]:
    """Returns an array for each Parameter, from files, values or random numbers.

    random: draw missing inputs at random. fitting: shapes of inputs that `shapes` does not name.
    Raises `UsageError`, and `ExecutionError` if the arrays would take more than `max_memory` bytes.
    """
    from ..element_types import DYNAMIC_TYPE
    from ..execution.inputs import array_of, beside, random_inputs
    from ..model.names import inputs_of
    from ..shapes import PartialShape

    named = inputs_of(model)
    parameters = model.parameters
    files: dict[Layer, str] = {}
    with usage_errors():
        for position, entry in enumerate(inputs):
            name, equals, file = entry.rpartition("=")
            if not file:
                raise ValueError(f"--input '{entry}' gives no file and no value")
            if not equals:
                if position >= len(parameters):
                    raise ValueError(
                        f"the model has only {counted(len(parameters), 'input')}, so "
                        f"'{entry}' is one too many"
                    )
                layer = parameters[position]
            else:
                layer = named.find(name)
            if layer in files:
                raise ValueError(
                    f"the input '{layer.name}' is given twice: '{files[layer]}', '{file}'"
                )
            files[layer] = file
        if not inputs and not shapes:
            files = beside(model)
        fed = {
            layer: array_of(text, (layer.outputs and layer.outputs[0].element_type) or DYNAMIC_TYPE)
            for layer, text in files.items()
        }
        asked = named.given(given_shapes(model, shapes))
        for layer in asked.keys() & fed.keys():
            if not PartialShape.of(asked[layer]).encloses(PartialShape(fed[layer].shape)):
                raise ValueError(
                    f"--shape gives the input '{layer.name}' the shape {asked[layer]}, --input "
                    f"an array of shape {list(fed[layer].shape)}; leave one of them out"
                )
        wanted = {**(fitting or {}), **asked}
        if random and len(fed) < len(parameters):
            return random_inputs(model, seed, wanted, fed, max_memory=max_memory)
    missing = [layer.name for layer in parameters if layer not in fed]
    if missing:
        raise click.UsageError(
            f"no value for the input{'s' if len(missing) > 1 else ''} {', '.join(missing)}; "
            "give --input NAME=FILE.npy, --input NAME=[[1,2,3]] or --random"
        )
    return fed


class Ticker:
    """Shows one line on stderr: the current phase, and how many of its layers are done.

    On a terminal it rewrites the line. Otherwise it writes a new one at most every ten seconds.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._count = 0
        self._text = "layers"
        self._shown = monotonic()
        self.line = Line()
        self._every = 0.2 if self.line.shows else 10.0

    def phase(self, text: str, total: int) -> None:
        """Begins a phase. total: the number of layers of the phase; 0 if they cannot be counted."""
        self._text, self.total, self._count = text, total, 0
        self._show(f"{text} …" if not total else f"{text}: 0/{total}")

    def __call__(self, layer: Layer, inputs: Any, outputs: Any) -> None:
        self._count += 1
        if monotonic() - self._shown >= self._every:
            kind = "".join(char for char in layer.type if char.isalnum())[:40]
            self._show(f"{self._text}: {self._count}/{self.total}, {kind}")

    def _show(self, text: str) -> None:
        if self.line.shows:
            self.line.write(text)
        elif monotonic() - self._shown >= self._every:
            print(text, file=sys.stderr, flush=True)
        else:
            return
        self._shown = monotonic()


@contextmanager
def ticking(model: Model, runs: int = 1) -> Iterator[Ticker]:
    """Shows progress by layers on stderr, and yields the function to call after each layer."""
    ticker = Ticker(len(model.net.layers) * runs)
    try:
        yield ticker
    finally:
        ticker.line.clear()
