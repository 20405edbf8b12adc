"""Shared parts of the commands that change models: names, paths, and messages on the result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..diagnostics.renderers.common import plain
from ..spelling import counted
from .common import (
    echo,
    load_or_exit,
    options,
    overwrite_option,
    quiet_option,
    refuse_overwriting,
    weights_option,
)

if TYPE_CHECKING:
    from ..graph.errors import GraphError
    from ..graph.graph import Graph
    from ..graph.nodes import Output
    from ..ops.tensors import Tensor

MOST_ERRORS = 10
"""The largest number of errors to print for a model that cannot be changed."""

output_options = options(
    click.option(
        "-o",
        "--output",
        required=True,
        metavar="OUT.xml",
        help="The IR to write; its .bin goes beside it. With -, the .xml goes to standard output "
        "and no .bin is written: the original .bin must contain all constants.",
    ),
    click.option(
        "--name",
        metavar="NAME",
        help="The name of the new model. [default: the name of MODEL or A]",
    ),
    quiet_option,
    overwrite_option,
    weights_option,
)
"""The options of commands that write one model."""


def graph_or_exit(path: str, weights: str) -> Graph:
    """Loads a model as a graph. If that fails, prints the diagnostics on stderr and exits with
    status 1."""
    from ..diagnostics.report import LoadError
    from ..graph.errors import GraphError
    from ..graph.graph import Graph

    model = load_or_exit(path, weights)
    try:
        return Graph(model)
    except LoadError as problem:
        told = set[str]()
        for diagnostic in problem.diagnostics[:MOST_ERRORS]:
            click.echo(plain(f"{problem.path}:{diagnostic}"), err=True)
            if diagnostic.help and diagnostic.code not in told:
                click.echo(plain(f"  help: {diagnostic.help}"), err=True)
            told.add(diagnostic.code)
        count = len(problem.diagnostics)
        if count > MOST_ERRORS:
            click.echo(f"… and {count - MOST_ERRORS} more", err=True)
        click.echo(
            f"irshape: '{plain(path)}' has {counted(count, 'error')}, but irshape changes only "
            "models without errors; `irshape validate` names the causes",
            err=True,
        )
    except GraphError as problem:
        click.echo(f"irshape: '{path}': {problem}", err=True)
    raise click.exceptions.Exit(1)


@contextmanager
def refusals(
    flags: Sequence[str] = (), why: Callable[[], str | None] | None = None
) -> Iterator[None]:
    """Ends the command, without writing a file, if the code in this context cannot make a change.

    The exit status is 2 for an unknown name or an unreadable value, 1 if an operation refuses the
    change.
    flags: the options that ask for the change. why: returns a further line to print, or None.
    """
    from ..graph.errors import GraphError

    def prefix(argument: str | None = None) -> str:
        at_fault = [flag for flag in flags if argument and flag.endswith(f"-{argument}")]
        return f"{', '.join(at_fault or flags)}: " if flags else ""

    try:
        yield
    except KeyError as problem:
        raise click.UsageError(plain(f"{prefix()}{problem.args[0]}")) from None
    except GraphError as problem:
        click.echo(plain(f"irshape: {prefix(problem.argument)}{_advised(problem)}"), err=True)
        further = None if why is None else why()
        if further is not None:
            click.echo(plain(f"irshape: {further}"), err=True)
        click.echo("irshape: nothing was written", err=True)
        raise click.exceptions.Exit(1) from None
    except ValueError as problem:
        raise click.UsageError(plain(f"{prefix()}{problem}")) from None


_HELP = {
    "outputs": "add it to --from, or name the outputs of the part with --to",
    "prefix": "give --prefix for the names of the second model, as in --prefix second/",
    "batch_from": "name with --batch-from an input that has the batch size",
    "max_iterations": "give --max-iterations",
    "bypass": "name the input that replaces the layer, as LAYER:INPUT",
}
"""Maps arguments of methods of `Graph` to advice that names the matching options."""


def _advised(problem: GraphError) -> str:
    """Returns the message of an error, with advice that names options, not Python arguments."""
    advice = _HELP.get(problem.argument or "")
    return str(problem) if advice is None else f"{problem.message}; {advice}"


def check_outputs(
    sources: Sequence[tuple[str, str]], outputs: Sequence[str], overwrite: bool
) -> None:
    """Raises `UsageError` for outputs that are not .xml files or would replace a source model.

    sources: the path of each model, and its `--weights`.
    """
    for output in outputs:
        if output == "-":
            continue
        for source, weights in sources:
            refuse_overwriting(source, output, weights, overwrite)


def write_graphs(graphs: Mapping[str, Graph], *, quiet: bool) -> None:
    """Writes graphs to their paths, all of them or none, and reports each new model on stderr."""
    from ..formats.atomic import Content, write_together
    from ..graph.writing import files_of

    files: dict[Path, Content] = {}
    with refusals():
        for path, graph in graphs.items():
            if path == "-":
                echo(_text_alone(graph), newline=False)
            else:
                files |= files_of(graph, path)
    if files:
        write_together(files)
    if not quiet:
        for path, graph in graphs.items():
            click.echo(graph_account("<stdout>" if path == "-" else path, graph), err=True)


def graph_account(path: str, graph: Graph) -> str:
    """Describes a written graph: its number of layers, its inputs and its outputs."""
    inputs, outputs = (
        [(each.names or (each.layer.name,), each) for each in ends]
        for ends in (graph.inputs, graph.outputs)
    )
    return account(path, sum(1 for _ in graph.walk()), input=inputs, output=outputs)


def _text_alone(graph: Graph) -> bytes:
    """Returns the .xml of a graph. Raises `GraphError` if the original .bin lacks a constant."""
    from ..graph.errors import GraphError
    from ..graph.writing import text_of
    from ..model.weights import Constant

    source = graph.source
    weights = None if source is None or not source.format.is_ir else source.weights
    there = 0 if weights is None or weights.data is None else len(weights.data)
    for layer in graph.walk():
        if layer.raw.is_constant:
            constant = Constant.of(layer.raw.items, None)
            if constant.size and constant.offset + constant.size > there:
                raise GraphError(
                    f"{layer.label} is not in the original .bin, so the .xml alone is not enough",
                    help="write to a file, as in -o OUT.xml",
                )
    return text_of(graph)


def account(path: str, layers: int, **ends: Iterable[tuple[Sequence[str], Output | Tensor]]) -> str:
    """Describes a written model: its number of layers, and the names and types of inputs and
    outputs."""
    lines = [f"{plain(path)}: {counted(layers, 'layer')}"]
    for word, tensors in ends.items():
        lines += [
            f"  {word:6} {plain(', '.join(names))}  {tensor.element_type} {tensor.shape}"
            for names, tensor in tensors
        ]
    return "\n".join(lines)


def paths_of_parts(output: str, count: int) -> list[str]:
    """Returns `OUT_1.xml`, `OUT_2.xml` … for `OUT.xml`; `OUT_01.xml` … for 10 parts or more."""
    stem, extension = os.path.splitext(output)
    width = len(str(count))
    return [f"{stem}_{number:0{width}}{extension}" for number in range(1, count + 1)]
