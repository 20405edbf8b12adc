"""`irshape merge`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..spelling import first_of
from .arguments import Command
from .common import pairs, second_weights_option
from .graphs import (
    check_outputs,
    graph_or_exit,
    output_options,
    refusals,
    write_graphs,
)

if TYPE_CHECKING:
    from ..graph.graph import Graph


@click.command("merge", cls=Command)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "--connect",
    "connections",
    multiple=True,
    metavar="OUT=IN...",
    help="Feed the input IN of B from the tensor OUT of A. [default: outputs of A and inputs of B "
    "of the same name; or the only output and the only input]",
)
@click.option(
    "--prefix",
    default="",
    metavar="TEXT",
    help="A prefix for the names of the layers and tensors of B, such as second/.",
)
@second_weights_option
@output_options
def command(
    first: str,
    second: str,
    connections: tuple[str, ...],
    prefix: str,
    second_weights: str,
    output: str,
    name: str | None,
    quiet: bool,
    overwrite: bool,
    weights: str,
) -> None:
    """Join two models: outputs of A feed inputs of B.

    The inputs of the result are those of A, then those of B that A does not feed. Its outputs are
    those of A that do not feed B, then those of B.

    \b
    Examples:
      irshape merge tokenizer.xml model.xml -o whole.xml
      irshape merge a.xml b.xml --connect hidden=x --prefix b/ -o whole.xml

    Exit status: 0; 1 if a model has errors, a tensor does not fit an input, or names clash; 2 if a
    name does not exist or a path cannot be opened. Files appear completely or not at all.
    """
    from ..graph.graph import merge

    if first == "-" and second == "-":
        raise click.UsageError("only one of the models can be standard input")
    check_outputs([(first, weights), (second, second_weights)], [output], overwrite)
    graphs = graph_or_exit(first, weights), graph_or_exit(second, second_weights)
    connected = pairs(connections, "--connect") or _by_default(*graphs)
    with refusals():
        whole = merge(*graphs, connected, prefix=prefix, name=name)
    write_graphs({output: whole}, quiet=quiet)


def _by_default(first: Graph, second: Graph) -> dict[str, str]:
    """Returns the connections to make without --connect. Raises `UsageError` if neither names nor
    numbers of inputs and outputs determine them."""
    outputs = {name for output in first.outputs for name in output.names}
    inputs = [name for output in second.inputs for name in output.names]
    same = {name: name for name in inputs if name in outputs}
    if same:
        return same
    ends = [(*each.names, each.layer.name)[0] for each in first.outputs]
    starts = [(*each.names, each.layer.name)[0] for each in second.inputs]
    if len(ends) == 1 and len(starts) == 1:
        return {ends[0]: starts[0]}
    raise click.UsageError(
        "no output of A has the name of an input of B; connect them with --connect OUT=IN: "
        f"A outputs {first_of(ends, 8) or 'nothing'}, B expects {first_of(starts, 8) or 'nothing'}"
    )
