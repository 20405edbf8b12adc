"""`irshape run`."""

from __future__ import annotations

from typing import Any

import click

from .common import load_or_exit, pairs, weights_option


@click.command("run", short_help="Execute a model in NumPy.")
@click.argument("model", metavar="MODEL")
@click.option("-i", "--input", "inputs", multiple=True, metavar="[NAME=]FILE.npy", help="An input, by tensor name, layer name or id; without names, in order.")
@click.option("--random", "random", is_flag=True, help="Draw the inputs that are not given at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random inputs.")
@click.option("-s", "--shape", "shapes", multiple=True, metavar="NAME=SHAPE", help="Shape of a random input.")
@click.option("--outputs", type=click.Choice(["results", "all"]), default="results", show_default=True, help="all: those of every layer.")
@click.option("-d", "--output-dir", metavar="DIR", help="Write each output there as a .npy file.")
@weights_option
def command(model: str, inputs: tuple[str, ...], random: bool, seed: int, shapes: tuple[str, ...], outputs: str, output_dir: str | None, weights: str) -> None:
    """Executes a model in NumPy and prints the range of each output."""
    from ..comparison import value_range
    from ..execution import ExecutionError, Session
    from ..inputs import existing_folder, file_name, storable
    from ..numpy_types import element_type_of

    loaded = load_or_exit(model, weights)
    try:
        made = Session(loaded).run(gathered(loaded, inputs, random, seed, shapes), outputs=outputs)
    except ExecutionError as problem:
        click.echo(f"{loaded.path}: {problem}", err=True)
        raise click.exceptions.Exit(1) from None
    if output_dir is not None:
        import io

        import numpy as np

        from ..formats.atomic import write_atomically

        folder = existing_folder(output_dir)
        taken: set[str] = set()
        for name, array in made.items():
            buffer = io.BytesIO()
            np.save(buffer, storable(array), allow_pickle=False)
            write_atomically(folder / file_name(name, taken), buffer.getvalue())
    width = max((len(name) for name in made), default=0)
    for name, array in made.items():
        click.echo(f"{name:<{min(width, 60)}}  {element_type_of(array)!s:<8} {value_range(array)}")


def gathered(model: object, inputs: tuple[str, ...], random: bool, seed: int, shapes: tuple[str, ...]) -> dict[str, Any]:
    """The arrays for a run by the id of their Parameter: from files, the rest at random where that is asked for. Raises `UsageError`."""
    from ..execution import input_names
    from ..inputs import random_inputs, read_array
    from ..model import Model

    assert isinstance(model, Model)
    names = input_names(model)
    parameters = model.parameters
    fed: dict[str, Any] = {}
    try:
        drawn = random_inputs(model, seed, pairs(shapes, "--shape")) if random else {}
        for position, entry in enumerate(inputs):
            name, equals, file = entry.rpartition("=")
            if not equals:
                if position >= len(parameters):
                    raise ValueError(f"the model has {len(parameters)} inputs, '{entry}' is one too many")
                fed[parameters[position].id] = read_array(file)
            elif name not in names:
                raise ValueError(f"the model has no input '{name}' (its inputs: {', '.join(layer.name for layer in parameters) or 'none'})")
            else:
                fed[names[name].id] = read_array(file)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    missing = [layer.name for layer in parameters if layer.id not in fed and layer.id not in drawn]
    if missing:
        raise click.UsageError(f"no value for the input{'s' if len(missing) > 1 else ''} {', '.join(missing)}; give --input NAME=FILE.npy or --random")
    return {**drawn, **fed}
