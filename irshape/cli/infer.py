"""`irshape infer`."""

from __future__ import annotations

import click

from .common import load_or_exit, pairs, weights_option


@click.command("infer", short_help="Print the element type and shape of every output port.")
@click.argument("model", metavar="MODEL")
@click.option(
    "-s",
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=SHAPE",
    help="Shape of an input, by tensor name, layer name or id: x=[1,3,?,?].",
)
@click.option(
    "--value",
    "values",
    multiple=True,
    metavar="PORT=[…]",
    help="Value of an input of a layer on its own, by port id or position.",
)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Form of the listing.",
)
@click.option(
    "-o",
    "--output",
    metavar="NEW.xml",
    help="Write the model with these shapes there (with its .bin beside it).",
)
@weights_option
def command(
    model: str,
    shapes: tuple[str, ...],
    values: tuple[str, ...],
    form: str,
    output: str | None,
    weights: str,
) -> None:
    """Prints the element type and shape of every output port: what they are, or would be with other input shapes.

    Exit status 1 where some layer does not fit; it is named, with the way back to the input or the constant that pins it.
    """
    from ..formats.ir.fragments import give_values
    from ..inference.chain import refusals
    from ..inference.engine import infer

    loaded = load_or_exit(model, weights)
    try:
        if values:
            give_values(loaded, pairs(values, "--value"))
        inference = infer(loaded, pairs(shapes, "--shape"))
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    if form == "json":
        from ..diagnostics.renderers.common import json_text

        click.echo(json_text(inference.to_dict(), 1))
    else:
        for line in _table(inference.to_dict()["layers"]):
            click.echo(line)
    broken = refusals(inference)
    for refusal in broken:
        click.echo(refusal, err=True)
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


def _table(layers: list[dict[str, object]]) -> list[str]:
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
                    output["shape"],
                )
            )
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    widths[2] = min(widths[2], 60)
    return [
        "  ".join(
            [*(cell[:60].ljust(width) for cell, width in zip(row[:5], widths, strict=True)), row[5]]
        ).rstrip()
        for row in rows
    ]
