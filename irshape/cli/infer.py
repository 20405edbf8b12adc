"""`irshape infer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .arguments import Command, given_shapes, shape_option
from .common import (
    echo,
    form_option,
    load_or_exit,
    overwrite_option,
    pairs,
    refuse_overwriting,
    weights_option,
)
from .tables import terminal_width, text_table

if TYPE_CHECKING:
    from ..inference.result import Inference
    from ..model.graph import Layer


@click.command("infer", cls=Command)
@click.argument("model", metavar="MODEL")
@shape_option()
@click.option(
    "--value",
    "values",
    multiple=True,
    metavar="INPUT=VALUE",
    help="The value of an input of a layer on its own, by port id, position or name: axes=[0,2].",
)
@click.option(
    "--symbols",
    is_flag=True,
    help="Also print what dynamic dimensions are in terms of those of the inputs.",
)
@click.option(
    "--assume",
    multiple=True,
    metavar="CONDITION",
    help="A condition on named dimensions, with --symbols: 'seq % 8 == 0', 'past >= 1'.",
)
@form_option("table", "json")
@click.option(
    "-o",
    "--output",
    metavar="NEW.xml",
    help="Also write a model whose ports declare these shapes, with its .bin beside it.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Of every layer that does not fit its inputs, print the chain of layers back to them.",
)
@overwrite_option
@weights_option
def command(
    model: str,
    shapes: tuple[str, ...],
    values: tuple[str, ...],
    symbols: bool,
    assume: tuple[str, ...],
    form: str,
    output: str | None,
    verbose: bool,
    overwrite: bool,
    weights: str,
) -> None:
    """Print the element type and shape of every output port.

    With --shape, the shapes are those that follow from other shapes of the inputs. On a terminal
    the table fits its width, and long names are shortened.

    With --symbols, the table shows expressions such as past+seq instead of intervals. --shape may
    name dimensions: --shape 'input_ids=[batch,seq]'.

    Exit status: 0; 1 if a layer does not fit its inputs, which is then named together with the
    two dimensions of the inputs of the model that do not fit each other; 2 if a path cannot be
    opened.
    """
    from ..formats.ir.fragments import give_values
    from ..inference.chain import refusals, refusing
    from ..inference.engine import infer

    if output is not None:
        refuse_overwriting(model, output, weights, overwrite)
    loaded = load_or_exit(model, weights)
    try:
        if values:
            give_values(loaded, pairs(values, "--value"))
        inference = infer(
            loaded, given_shapes(loaded, shapes), symbols=symbols or bool(assume), assume=assume
        )
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    if form == "json":
        from ..diagnostics.renderers.common import json_text

        echo(json_text(inference.to_dict(), 1))
    else:
        echo("\n".join(_table(inference.to_dict()["layers"])))
    broken = refusing(inference)
    if broken:
        from ..inference.unequal import MAX_LINES, told_briefly

        layer = None if symbols or assume else broken[0][0]  # with names, it tells this itself
        conflicts = [f"irshape: {conflict}" for conflict in _conflicts(inference, layer)]
        if verbose:
            lines = refusals(inference)
        else:
            given = {} if symbols or assume else given_shapes(loaded, shapes)
            conflicts = conflicts[:2]
            lines = told_briefly(inference, given)[: MAX_LINES - len(conflicts)]
        click.echo("\n".join([*lines, *conflicts]), err=True)
    if output is not None and not broken:
        from ..formats.ir.writer import write

        try:
            write(loaded, output, inference)
        except ValueError as problem:
            raise click.UsageError(str(problem)) from None
    if broken:
        if output is not None:
            click.echo(f"irshape: '{output}' was not written", err=True)
        raise click.exceptions.Exit(1)


def _conflicts(inference: Inference, layer: Layer | None) -> list[str]:
    """Inputs of another rank than that of the file; else sizes of the inputs that contradict each
    other, and those that a layer takes part in."""
    from ..inference.conflicts import size_conflicts, sizes_of_inputs
    from ..inference.engine import infer

    written = infer(inference.model)
    ranks = [
        f"'{parameter.name}' has rank {given.shape.rank} here, and is {declared.shape} in the file"
        for parameter in inference.model.parameters
        for given, declared in zip(
            inference.outputs(parameter), written.outputs(parameter), strict=True
        )
        if declared.shape.rank not in (None, given.shape.rank)
    ]
    if ranks:
        return ranks
    conflicts = size_conflicts(inference.model, sizes_of_inputs(inference))
    return [*conflicts.of_inputs, *(() if layer is None else conflicts.of(layer))]


def written_shape(output: dict[str, Any]) -> str:
    """A shape, with expressions in the place of intervals where they are known."""
    known = output.get("symbols")
    if known is None:
        return str(output["shape"])
    dims = str(output["shape"])[1:-1].split(",") if known else []
    pairs = zip(known, dims, strict=True)
    return "[" + ",".join(dim if text is None else text for text, dim in pairs) + "]"


def _table(layers: list[dict[str, Any]]) -> list[str]:
    from ..diagnostics.renderers.common import plain

    rows = [("ID", "TYPE", "NAME", "PORT", "ELEMENT TYPE", "SHAPE")]
    for layer in layers:
        path, outputs = layer["path"], layer["outputs"]
        assert isinstance(path, list)
        assert isinstance(outputs, list)
        place = "/".join([*path, str(layer["id"])])
        for output in outputs or [{"port": "", "element_type": "", "shape": ""}]:
            rows.append(
                (
                    plain(place),
                    plain(str(layer["type"])),
                    plain(str(layer["name"])),
                    plain(output["port"]),
                    output["element_type"],
                    written_shape(output),
                )
            )
    name, kind, shape = 2, 1, 5
    return text_table(rows, [(name, 12), (kind, 12), (name, 4), (shape, 20)], terminal_width())
