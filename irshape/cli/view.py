"""`irshape view`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from .common import echo, weights_option


@click.command("view", short_help="Draw a model as a page to open in a browser.")
@click.argument("model", metavar="MODEL")
@click.option(
    "-o",
    "--output-file",
    metavar="FILE",
    help="The page; - for stdout. [default: the name of the model, with .html, in this folder]",
)
@click.option(
    "--histograms", is_flag=True, help="Read the .bin, and show how each constant is spread."
)
@click.option(
    "--symbols/--no-symbols",
    default=True,
    show_default=True,
    help="Name dynamic dimensions after those of the inputs.",
)
@weights_option
def command(
    model: str, output_file: str | None, histograms: bool, symbols: bool, weights: str
) -> None:
    """Draw a model as one HTML page that makes no request.

    The page shows the graph with the inferred types and shapes, what `irshape validate` reports,
    and each layer with its attributes, ports, constants and lines of XML. A model that is broken is
    drawn as far as it can be read.

    Exit status: 0; 2 if the file cannot be opened or the page cannot be written.
    """
    from ..view.page import page
    from ..view.showing import Subject

    subject = Subject(model, weights, symbols=symbols, histograms=histograms)
    name = os.path.basename(model)
    text = page({"models": [subject.document]}, f"{name} · irshape view")
    write_page(text, output_file, model)


def write_page(text: str, output_file: str | None, model: str) -> None:
    """Writes a page, whole or not at all, and says where it is."""
    from ..formats.atomic import write_atomically

    if output_file == "-":
        echo(text, newline=False)
        return
    stem = os.path.splitext(os.path.basename(model))[0]
    path = Path(output_file or f"{stem if stem != '-' else 'model'}.html")
    write_atomically(path, text.encode())
    echo(str(path))
