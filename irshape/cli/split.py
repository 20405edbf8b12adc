"""`irshape split`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .arguments import Command, Whole
from .common import (
    echo,
    echo_json,
    form_option,
    overwrite_option,
    weights_option,
)
from .graphs import (
    check_outputs,
    graph_account,
    graph_or_exit,
    paths_of_parts,
    refusals,
    write_graphs,
)

if TYPE_CHECKING:
    from ..graph.graph import Graph
    from ..graph.nodes import Output


@click.command("split", cls=Command)
@click.argument("model", metavar="MODEL")
@click.option(
    "--at",
    "cuts",
    multiple=True,
    metavar="NAME...",
    help="A tensor where one part ends and the next begins. Give several, in the order in which "
    "the model computes them, for several cuts. Write NAME+NAME to cut through several tensors "
    "at once.",
)
@click.option(
    "--parts",
    type=Whole(2),
    metavar="N",
    help="Let irshape choose the cuts: N parts with weights of similar size, and few cut tensors.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT.xml",
    help="The IRs to write: OUT_1.xml, OUT_2.xml …, with their .bin beside them.",
)
@form_option("text", "json", help="The format of the list of parts.")
@click.option("-q", "--quiet", is_flag=True, help="Do not list the parts.")
@overwrite_option
@weights_option
def command(
    model: str,
    cuts: tuple[str, ...],
    parts: int | None,
    output: str,
    form: str,
    quiet: bool,
    overwrite: bool,
    weights: str,
) -> None:
    """Split a model into parts that run one after the other.

    The inputs of a part are the model inputs and the tensors of earlier parts that it needs, under
    their names. Its outputs are the model outputs that it computes and the tensors that later parts
    need. Constants are in every part that needs them. Standard output lists the parts.

    \b
    Examples:
      irshape split model.xml --parts 3 -o part.xml
      irshape split model.xml --at block6 -o part.xml
      irshape split model.xml --at encoder decoder -o part.xml --format json
      irshape split model.xml --at boxes+scores -o part.xml

    Exit status: 0; 1 if the model has errors, or a variable is read in one part and assigned in
    another; 2 if a name does not exist or a path cannot be opened. All files appear or none does.
    """
    if bool(cuts) == (parts is not None):
        raise click.UsageError("choose where to split by --at NAME or --parts N")
    graph = graph_or_exit(model, weights)
    with refusals():
        graphs = graph.split(*(_stage(graph, cut) for cut in cuts), parts=parts)
    paths = paths_of_parts(output, len(graphs))
    check_outputs([(model, weights)], paths, overwrite)
    by_path = dict(zip(paths, graphs, strict=True))
    write_graphs(by_path, quiet=True)
    if quiet:
        return
    if form == "json":
        echo_json(_document(model, by_path))
    else:
        echo("\n".join(graph_account(path, part) for path, part in by_path.items()))


def _stage(graph: Graph, cut: str) -> list[str]:
    """Returns the tensors of one cut. `a+b` means `a` and `b`, if no tensor is called `a+b`."""
    try:
        graph.tensor(cut)
    except KeyError:
        return cut.split("+")
    return [cut]


def _document(model: str, parts: dict[str, Graph]) -> dict[str, Any]:
    return {
        "version": 1,
        "model": model,
        "parts": [
            {
                "path": path,
                "layers": sum(1 for _ in part.walk()),
                "inputs": [_tensor(tensor) for tensor in part.inputs],
                "outputs": [_tensor(tensor) for tensor in part.outputs],
            }
            for path, part in parts.items()
        ],
    }


def _tensor(tensor: Output) -> dict[str, Any]:
    return {
        "name": tensor.names[0] if tensor.names else tensor.layer.name,
        "names": list(tensor.names),
        "element_type": str(tensor.element_type),
        "shape": str(tensor.shape),
    }
