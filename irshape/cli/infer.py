"""`irshape infer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..diagnostics.renderers.common import plain
from ..spelling import counted
from .arguments import Command, assume_option, given_shapes, shape_option, value_option
from .common import (
    echo,
    echo_json,
    form_option,
    load_for_shapes,
    overwrite_option,
    pairs,
    refuse_overwriting,
    usage_errors,
    weights_option,
)
from .tables import text_table

if TYPE_CHECKING:
    from ..inference.result import Inference
    from ..model.graph import Layer

Marks = dict[tuple[str, ...], str]
"""The mark (! or ?) of each layer, by its path and id."""


@click.command("infer", cls=Command)
@click.argument("model", metavar="MODEL")
@shape_option()
@value_option
@click.option(
    "--symbols",
    is_flag=True,
    help="Also print dynamic dimensions in terms of input dimensions, such as past+seq.",
)
@assume_option
@click.option("--outputs", is_flag=True, help="Print only the outputs of the model.")
@click.option(
    "--constants", is_flag=True, help="Also list constants in the table. JSON always contains them."
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
    help="Print the chain of layers that leads to each layer that does not fit its inputs.",
)
@overwrite_option
@weights_option
def command(
    model: str,
    shapes: tuple[str, ...],
    values: tuple[str, ...],
    symbols: bool,
    assume: tuple[str, ...],
    outputs: bool,
    constants: bool,
    form: str,
    output: str | None,
    verbose: bool,
    overwrite: bool,
    weights: str,
) -> None:
    """Print the element type and shape of every output port.

    --shape gives an input another shape than the file declares. On a terminal, the table fits the
    width, and long names are shortened. The table marks a layer that does not fit its inputs with !
    and shows the shapes that its ports declare; ? marks shapes inferred from declared shapes.

    With --symbols, the table shows expressions such as past+seq instead of intervals. --shape may
    name dimensions: --shape 'input_ids=[batch,seq]'.

    Exit status: 0; 1 if a layer does not fit its inputs (stderr names the layer, and the input
    dimensions or the constant that cause this); 2 if a path cannot be opened.
    """
    from ..formats.ir.fragments import give_values
    from ..inference.engine import infer
    from ..model.names import outputs_of

    if output is not None:
        refuse_overwriting(model, output, weights, overwrite)
    loaded = load_for_shapes(model, weights)
    with usage_errors():
        if values:
            give_values(loaded, pairs(values, "--value"))
        named = symbols or bool(assume)
        given = given_shapes(loaded, shapes, symbols=named)
        inference = infer(loaded, given, symbols=named, assume=assume)
    broken = inference.refused
    if broken:
        # with names, the refusal itself says which sizes differ
        click.echo("\n".join(_reasons(inference, verbose, named)), err=True)
    document = inference.to_dict()
    if outputs:
        document["layers"] = [
            row for row in document["layers"] if row["type"] == "Result" and not row["path"]
        ]
    if form == "json":
        echo_json(document)
    else:
        marks = _marks(inference, [refusal.layer for refusal in broken])
        names = outputs_of(loaded).names if outputs and loaded.kind == "net" else None
        echo("\n".join(_table(document["layers"], marks, constants, names)))
    if output is not None and not broken:
        from ..formats.ir.writer import write

        with usage_errors():
            write(loaded, output, inference)
    if broken:
        if output is not None:
            click.echo(f"irshape: '{output}' was not written", err=True)
        raise click.exceptions.Exit(1)


def _conflicts(inference: Inference, layer: Layer | None) -> list[str]:
    """Describes the inputs that have another rank than in the file. Without such inputs, describes
    input sizes that are in conflict, and contradictions between `layer` and other layers."""
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
    return [
        *(text for _, text in conflicts.of_inputs),
        *(() if layer is None else conflicts.of(layer)),
    ]


def written_shape(output: dict[str, Any]) -> str:
    """Returns a shape as text, with expressions instead of intervals where they are known."""
    known = output.get("symbols")
    if known is None:
        return str(output["shape"])
    dims = str(output["shape"])[1:-1].split(",") if known else []
    pairs = zip(known, dims, strict=True)
    return "[" + ",".join(dim if text is None else text for text, dim in pairs) + "]"


def _reasons(inference: Inference, verbose: bool, named: bool) -> list[str]:
    """Says why layers do not fit their inputs: only the first layer, in a few lines; with
    `verbose`, each layer, with the chain of layers before it."""
    from ..inference.chain import refusal_in_brief, refusals

    layer = None if named else inference.refused[0].layer
    conflicts = _conflicts(inference, layer)
    if verbose:
        return [*refusals(inference), *(f"irshape: {conflict}" for conflict in conflicts)]
    return refusal_in_brief(inference, conflicts)


def _marks(inference: Inference, refusing: list[Layer]) -> Marks:
    """Maps layers to their marks: ! if a layer does not fit its inputs, ? if its outputs are
    inferred from the declared shapes of such a layer."""
    if not refusing:
        return {}
    unsure = [
        result.body.layers[at] for result in inference.result.walk() for at in sorted(result.unsure)
    ]
    marked = dict.fromkeys(unsure, "?") | dict.fromkeys(refusing, "!")
    return {(*layer.path, layer.id): mark for layer, mark in marked.items()}


def _table(
    layers: list[dict[str, Any]], marks: Marks, constants: bool, names: list[str] | None
) -> list[str]:
    """Returns a table with a row for each output, and lines that explain its marks.

    names: the names of the model's outputs if `layers` has only the Results. The names replace the
    columns about the layer.
    """
    rows = []
    hidden = 0
    for at, layer in enumerate(layers):
        if layer["type"].lower() == "const" and not constants:
            hidden += 1
            continue
        path = [*layer["path"], str(layer["id"])]
        for output in layer["outputs"] or [{"port": "", "element_type": "", "shape": ""}]:
            place = ("/".join(path), str(layer["type"]), str(layer["name"]), output["port"])
            columns = map(plain, place if names is None else names[at : at + 1])
            mark = marks.get(tuple(path), "")
            rows.append((mark, *columns, output["element_type"], written_shape(output)))
    head = ("ID", "TYPE", "NAME", "PORT") if names is None else ("OUTPUT",)
    unmarked = 0 if marks else 1
    lines = text_table(
        ("", *head, "ELEMENT TYPE", "SHAPE")[unmarked:],
        [row[unmarked:] for row in rows],
        shrinking={"NAME": 12, "TYPE": 12, "OUTPUT": 12, "SHAPE": 20, "ID": 8},
        dropped=("PORT",),
    )
    if marks:
        lines.append(
            "! does not fit: declared shapes are shown; ? is inferred from declared shapes"
        )
    if hidden:
        lines.append(f"{counted(hidden, 'constant')} not shown; --constants shows them")
    return lines
