"""`irshape convert`."""

from __future__ import annotations

import click

from .arguments import Command, given_shapes, shape_option
from .common import (
    load_or_exit,
    overwrite_option,
    quiet_option,
    refuse_overwriting,
    usage_errors,
    weights_option,
)
from .graphs import account
from .running import force_option, sound_or_exit


@click.command("convert", cls=Command)
@click.argument("model", metavar="MODEL")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT.xml",
    help="The IR to write; its .bin goes beside it.",
)
@shape_option()
@quiet_option
@overwrite_option
@weights_option
@force_option
def command(
    model: str,
    output: str,
    shapes: tuple[str, ...],
    quiet: bool,
    overwrite: bool,
    weights: str,
    force: bool,
) -> None:
    """Write an ONNX model or a oneDNN graph as an OpenVINO IR.

    MODEL is an ONNX model, a oneDNN graph, or an IR. The ports of the new IR declare the inferred
    element types and shapes.

    Exit status: 0; 1 if MODEL cannot be read, has errors, or has nodes that do not fit their inputs
    (stderr names the errors, and nothing is written); 2 if a path cannot be opened.
    """
    from ..formats.ir.writer import write
    from ..inference.chain import refusals
    from ..inference.engine import infer
    from ..inspection.inspection import Inspection

    refuse_overwriting(model, output, weights, overwrite)
    loaded = load_or_exit(model, weights)
    sound_or_exit(loaded, force)
    with usage_errors():
        inference = infer(loaded, given_shapes(loaded, shapes))
    broken = refusals(inference)
    for message in broken:
        click.echo(message, err=True)
    if broken:
        click.echo(f"irshape: '{output}' was not written", err=True)
        raise click.exceptions.Exit(1)
    with usage_errors():
        write(loaded, output, inference)
    if not quiet:
        inspection = Inspection(inference)
        inputs, outputs = (
            [(port.names or (port.layer.name,), port.tensor) for port in ports]
            for ports in (inspection.inputs, inspection.outputs)
        )
        layers = sum(1 for _ in loaded.walk())
        click.echo(account(output, layers, input=inputs, output=outputs), err=True)
