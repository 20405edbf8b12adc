"""`irshape convert`."""

from __future__ import annotations

import click

from .common import load_or_exit, pairs, weights_option


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
    help="Shape of an input, by tensor name, layer name or id: x=[1,3,?,?].",
)
@weights_option
def command(model: str, output: str, shapes: tuple[str, ...], weights: str) -> None:
    """Writes a model as an OpenVINO IR: an ONNX model, a oneDNN graph, or an IR once more, with the ports that are inferred.

    Exit status 1, and nothing written, where a node could not be read or does not fit; each is named.
    """
    from ..formats.ir.writer import write
    from ..inference.chain import refusals
    from ..inference.engine import infer

    loaded = load_or_exit(model, weights)
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
