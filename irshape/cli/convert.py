"""`irshape convert`."""

from __future__ import annotations

import click

from .common import (
    load_or_exit,
    overwrite_option,
    pairs,
    refuse_overwriting,
    weights_option,
)
from .running import force_option, sound_or_exit


@click.command("convert", short_help="Write an ONNX model or a oneDNN graph as an OpenVINO IR.")
@click.argument("model", metavar="MODEL")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT.xml",
    help="The IR to write; its .bin goes beside it.",
)
@click.option(
    "-s",
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=SHAPE",
    help="The shape of an input, by tensor name, layer name, position or id (id:3): x=[1,3,?,?].",
)
@overwrite_option
@weights_option
@force_option
def command(
    model: str,
    output: str,
    shapes: tuple[str, ...],
    overwrite: bool,
    weights: str,
    force: bool,
) -> None:
    """Write a model as an OpenVINO IR.

    MODEL is an ONNX model, a oneDNN graph, or an IR. The ports of the new IR declare the element
    types and shapes that are inferred.

    Exit status: 0; 1 if a node cannot be read or does not fit its inputs, in which case each is
    named and nothing is written; 2 if a path cannot be opened.
    """
    from ..formats.identities import leave_out_identities
    from ..formats.ir.writer import write
    from ..inference.chain import refusals
    from ..inference.engine import infer

    refuse_overwriting(model, output, weights, overwrite)
    loaded = load_or_exit(model, weights)
    if not loaded.format.layers_as_written:
        leave_out_identities(loaded)
    sound_or_exit(loaded, force)
    try:
        inference = infer(loaded, pairs(shapes, "--shape"))
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    broken = refusals(inference)
    for message in broken:
        click.echo(message, err=True)
    if broken:
        click.echo(f"irshape: '{output}' was not written", err=True)
        raise click.exceptions.Exit(1)
    try:
        write(loaded, output, inference)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
