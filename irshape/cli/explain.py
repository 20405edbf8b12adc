"""`irshape explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .arguments import Command, Whole, assume_option, given_shapes, shape_option
from .common import echo, echo_json, form_option, load_for_shapes, usage_errors, weights_option

if TYPE_CHECKING:
    from ..inference.result import Inference


@click.command("explain", cls=Command)
@click.argument("model", metavar="MODEL")
@click.argument("tensor", metavar="[TENSOR]", required=False)
@click.option("--axis", type=Whole(), help="Explain only this axis; -1 is the last one.")
@shape_option("The shape of an input, which may name dimensions: input_ids=[batch,seq].")
@assume_option
@form_option("text", "json", "html")
@weights_option
def command(
    model: str,
    tensor: str | None,
    axis: int | None,
    shapes: tuple[str, ...],
    assume: tuple[str, ...],
    form: str,
    weights: str,
) -> None:
    """Explain why dimensions are dynamic, and what determines them.

    TENSOR is a tensor name, a layer by name or id, or LAYER:INDEX. For a tensor inside a body, put
    the layers around it in front, as in loop/body/state. The output shows the layers that determine
    each dimension, back to inputs, constants or data. It also shows the input shapes that bound it.

    Without TENSOR, the dynamic dimensions of the model are grouped by their cause. The output also
    lists input shapes that give every dimension an upper bound, and input shapes that make every
    dimension static; irshape has inferred the model with these shapes, but OpenVINO may infer fewer
    bounds.

    Exit status: 0; 1 if a layer does not fit its inputs (stderr names the layer); 2 if a path
    cannot be opened, or the model has no such tensor or axis.
    """
    from ..inference.chain import refusal_in_brief
    from ..inference.engine import infer

    if tensor is None and axis is not None:
        raise click.UsageError("--axis needs a TENSOR")
    loaded = load_for_shapes(model, weights)
    with usage_errors():
        inference = infer(
            loaded, given_shapes(loaded, shapes, symbols=True), symbols=True, assume=assume
        )
        if tensor is None:
            overview = inference.overview()
            obstacle = _obstacle(inference)
            if obstacle:
                overview = overview.behind(obstacle)
            document, text = {**overview.to_dict(), "model": loaded.path}, str(overview)
        else:
            explanations = inference.explain(tensor, axis)
            rows = [explanation.to_dict() for explanation in explanations]
            document = {"version": 1, "model": loaded.path, "dimensions": rows}
            text = "\n".join(map(str, explanations))
    refusal = refusal_in_brief(inference)
    if refusal:
        click.echo("\n".join(refusal), err=True)
    if form == "json":
        echo_json(document)
    elif form == "html":
        echo(_page(loaded.path if tensor is None else f"{loaded.path}: {tensor}", text))
    else:
        echo(text)
    if refusal:
        raise click.exceptions.Exit(1)


def _obstacle(inference: Inference) -> str:
    """Returns the reason why `irshape edit` cannot change the model; empty if it can."""
    from ..commands import model_argument
    from ..diagnostics.report import LoadError
    from ..graph.checked import checked
    from ..graph.errors import GraphError

    model = inference.model
    try:
        checked(model)
    except LoadError:
        path = model_argument(model.path)
        return f"`irshape validate {path}` reports errors, which `irshape fix` may correct"
    except GraphError as problem:
        return str(problem)
    return "a layer does not accept these input shapes" if inference.refused else ""


def _page(title: str, content: str) -> str:
    """Returns an HTML page that shows a text of several lines."""
    from ..diagnostics.renderers.as_html.markup import html_page, text

    lines = "\n".join(map(text, content.split("\n")))
    body = f"<h1>{text(title)}</h1>\n<pre>{lines}</pre>\n"
    return html_page(title, "body { margin: 2em } pre { white-space: pre-wrap }", [body])
