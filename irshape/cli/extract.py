"""`irshape extract`."""

from __future__ import annotations

import click

from .arguments import Command, Whole
from .graphs import (
    check_outputs,
    graph_or_exit,
    output_options,
    refusals,
    write_graphs,
)


@click.command("extract", cls=Command)
@click.argument("model", metavar="MODEL")
@click.option(
    "--from",
    "starts",
    multiple=True,
    metavar="NAME...",
    help="Where the part begins: tensors that become its inputs. "
    "[default: the inputs of MODEL that the outputs need]",
)
@click.option(
    "--to",
    "ends",
    multiple=True,
    metavar="NAME...",
    help="Where the part ends: tensors that become its outputs. [default: the outputs of MODEL]",
)
@click.option(
    "--around",
    metavar="LAYER",
    help="In place of --from and --to: take this layer and the layers near it.",
)
@click.option(
    "--distance",
    type=Whole(0),
    metavar="N",
    help="How many connections to follow from the layer of --around. [default: 2]",
)
@output_options
def command(
    model: str,
    starts: tuple[str, ...],
    ends: tuple[str, ...],
    around: str | None,
    distance: int | None,
    output: str,
    name: str | None,
    quiet: bool,
    overwrite: bool,
    weights: str,
) -> None:
    """Write the layers between tensors as a model of its own.

    NAME is the name of a tensor, the name or the id of a layer with one output, or LAYER:INDEX.
    Options that are repeatable take several names: --from a b. MODEL is an IR, an ONNX model or a
    oneDNN graph; - is standard input.

    \b
    Examples:
      irshape extract model.xml --from embeddings --to encoder/mean -o part.xml
      irshape extract model.xml --to logits -o without_heads.xml
      irshape extract model.xml --around conv_17 --distance 3 -o report.xml

    Exit status: 0; 1 if the model has errors, or a tensor of --to needs an input that --from leaves
    out; 2 if a name does not exist or a path cannot be opened. Files appear completely or not at
    all.
    """
    if around is None and not starts and not ends:
        raise click.UsageError("name the part to extract by --from, --to or --around")
    if around is not None and (starts or ends):
        raise click.UsageError("--around cannot be combined with --from or --to")
    if around is None and distance is not None:
        raise click.UsageError("--distance needs --around")
    check_outputs([(model, weights)], [output], overwrite)
    graph = graph_or_exit(model, weights)
    with refusals():
        part = (
            graph.extract(starts or None, ends or None)
            if around is None
            else graph.around(around, 2 if distance is None else distance)
        )
    if name is not None:
        part.name = name
    write_graphs({output: part}, quiet=quiet)
