"""`irshape view`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ..garbage_collection import collection_paused
from ..spelling import counted
from .arguments import Command, device_option, target_option
from .common import echo, keep_apart, unjudged, weights_option
from .pages import not_a_result, read_result, write_view

if TYPE_CHECKING:
    from ..releases import Release
    from ..view.overlays import Overlay
    from ..view.showing import Subject


@click.command("view", cls=Command)
@click.argument("model", metavar="MODEL")
@click.option(
    "-o",
    "--output-file",
    metavar="FILE",
    help="The page; - for stdout. [default: the name of the model, with .html, in this folder]",
)
@click.option(
    "--beside", metavar="MODEL", help="Draw this model beside MODEL, with the changes marked."
)
@click.option(
    "--crosscheck",
    metavar="FILE",
    help="Show the errors that `irshape crosscheck --format json` has written.",
)
@click.option(
    "--stats",
    metavar="FILE",
    help="Show the ranges that `irshape run --stats --format json` has written.",
)
@click.option(
    "--compare",
    metavar="FILE",
    help="With --beside: show the errors in a result of `irshape compare --format json`.",
)
@click.option(
    "--node-data",
    metavar="FILE",
    multiple=True,
    help="Show values of layers from a JSON file in the node data format of Model Explorer.",
)
@target_option
@device_option
@click.option(
    "--histograms", is_flag=True, help="Read the .bin, and show a histogram of each constant."
)
@click.option(
    "--symbols/--no-symbols",
    default=True,
    show_default=True,
    help="Name dynamic dimensions after the dimensions of inputs.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@weights_option
@collection_paused()
def command(
    model: str,
    output_file: str | None,
    beside: str | None,
    crosscheck: str | None,
    stats: str | None,
    compare: str | None,
    node_data: tuple[str, ...],
    target: Release | None,
    devices: tuple[str, ...],
    weights: str,
    opens: bool,
    **shown: bool,
) -> None:
    """Draw a model as one HTML page that needs no network.

    The page shows the graph with the inferred types and shapes, what `irshape validate` reports,
    and each layer with its attributes, ports, constants and lines of XML. irshape
    draws a broken model as far as it can read it.

    \b
    Examples:
      irshape view model.xml --open
      irshape view before.xml --beside after.xml
      irshape view model.xml --crosscheck result.json

    Exit status: 0; 2 if a file cannot be opened, or is not what its option expects.
    """
    if compare and not beside:
        raise click.UsageError("--compare needs --beside, which names the other model")
    if opens and output_file == "-":
        raise click.UsageError("--open cannot open standard output: name a file with -o")
    from ..rules.settings import PLAIN, Devices
    from ..view.overlays import crosscheck_overlays, stats_overlays
    from ..view.showing import Subject

    settings = PLAIN._replace(target=target, devices=Devices(devices))
    subject = Subject(model, weights, settings=settings, **shown)

    if crosscheck:
        _lay_over(subject, crosscheck_overlays, crosscheck, "crosscheck")
    if stats:
        _lay_over(subject, stats_overlays, stats, "run --stats")
    for path in reversed(node_data):
        _lay_over_node_data(subject, path)
    stem = os.path.splitext(os.path.basename(model))[0]
    output = output_file or f"{stem if stem != '-' else 'model'}.html"
    keep_apart([model], output, weights=weights)
    if beside is None:
        write_view(output, subject)
    else:
        other = Subject(beside, "beside", settings=settings, **shown)
        write_view(output, subject, other, beside=_beside(subject, other, compare))
    shown_models = [subject.model] if beside is None else [subject.model, other.model]
    foreign = sum(each is not None and not each.format.is_ir for each in shown_models)
    if foreign and (target or devices):
        click.echo(f"irshape: {unjudged(foreign)}", err=True)
    if output != "-":
        echo(output)
    if opens:
        _open(output)


def _open(page: str) -> None:
    import webbrowser
    from pathlib import Path

    if not webbrowser.open(Path(page).resolve().as_uri()):
        click.echo("no browser could be started; open the page yourself", err=True)


_UNFIT = (ValueError, LookupError, TypeError, AttributeError)
"""The exceptions that a JSON document of an unexpected structure can raise."""


def _lay_over(subject: Subject, reader: Any, path: str, command: str) -> None:
    result = read_result(path, command)
    try:
        if subject.model is not None:
            subject.lay_over(reader(result, subject.numbering))
    except _UNFIT:
        raise not_a_result(path, command) from None


def _lay_over_node_data(subject: Subject, path: str) -> None:
    import json

    from ..view.node_data import node_data_overlays

    try:
        with open(path, "rb") as file:
            data = json.load(file)
        if subject.model is not None:
            overlays = node_data_overlays(path, data, subject.numbering)
            subject.lay_over(overlays)
            for overlay in overlays:
                _note_unmatched(path, overlay)
    except (*_UNFIT, RecursionError):
        raise click.UsageError(f"'{path}' is not node data as Model Explorer reads it") from None


def _note_unmatched(path: str, overlay: Overlay) -> None:
    count = len(overlay.unmatched)
    if count:
        listed = ", ".join(f"'{key}'" for key in overlay.unmatched[:3]) + ", …" * (count > 3)
        names = "name no layer, tensor or id" if count > 1 else "names no layer, tensor or id"
        click.echo(f"{path}: {counted(count, 'key')} {names}: {listed}", err=True)


def _beside(first: Subject, second: Subject, compare: str | None) -> dict[str, Any]:
    from ..view.side_by_side import beside_document

    compared = None if compare is None else read_result(compare, "compare")
    try:
        return beside_document(first, second, compared)
    except _UNFIT:
        raise not_a_result(str(compare), "compare") from None
