"""`irshape requires`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ..diagnostics.renderers.common import plain
from ..spelling import counted
from .arguments import Command
from .common import echo, echo_json, expand, form_option, load_each, usage_errors
from .tables import fitted, terminal_width

if TYPE_CHECKING:
    from ..inspection.requirements import Requirements

SHOWN = 5
"""How many layers the text lists for one reason."""


@click.command("requires", cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--ask",
    is_flag=True,
    help="Also compile the model with OpenVINO on this machine's devices.",
)
@form_option("text", "json")
def command(paths: tuple[str, ...], ask: bool, form: str) -> None:
    """Print the OpenVINO releases that read a model and the devices that compile it.

    PATH is a file, a folder (searched for IRs), a glob, or - for standard input. irshape concludes
    which releases read the model from the version of the IR, the operations with their opsets, the
    element types, and the inferred shapes. Measurements with CPU plugins show which releases run
    the model. docs/devices.md explains the verdicts on CPU, GPU and NPU. --ask also compiles the
    model on this machine's CPU, GPU and NPU, and prints what OpenVINO answers.

    For several models, irshape also prints one answer for all of them: the newest release that any
    of them needs, and the libraries that they need. The JSON then has `requires`, `libraries`,
    `unknown` (the models with operations that irshape does not know), `complete` (whether every
    file has a model), and a list `models` of the objects that a single model gives.

    Exit status: 0; 1 if a file contains no model, or a layer that OpenVINO refuses; 2 if a path
    cannot be opened or has another format than IR, or if --ask does not find OpenVINO.
    """
    from ..inference.chain import refusal_in_brief
    from ..inference.engine import infer
    from ..inspection.requirements import Requirements, together

    files = expand(paths)
    answers: list[Requirements] = []
    statuses: set[int] = set()
    for model in load_each(files, statuses):
        inference = infer(model)
        with usage_errors():
            answers.append(Requirements(inference))
        refused = [] if answers[-1].unknown else refusal_in_brief(inference)
        for line in refused:
            click.echo(line, err=True)
            statuses.add(1)
    if form == "json":
        if len(files) > 1:
            document = together(answers, len(answers) == len(files))
        elif answers:
            document = answers[0].to_dict()
        else:
            raise click.exceptions.Exit(max(statuses))
        for answer, each in zip(answers, document.get("models", [document]), strict=True):
            for name, said in _asked(answer, ask).items():
                each["devices"][name]["asked"] = said
        echo_json(document)
    else:
        for answer in answers:
            echo("\n".join(_text(answer, _asked(answer, ask))))
        if len(answers) > 1:
            strictest = max(answers, key=lambda answer: answer.oldest)
            lines = [f"all {len(answers)} models: OpenVINO {strictest.release} or newer"]
            for library in together(answers)["libraries"]:
                known = f"{library['install']}, {library['release']} or newer"
                what = known if library["install"] else "the one with their custom operations"
                models = counted(len(library["models"]), "model")
                lines.append(f"  library: {what}, for {models}")
            echo("\n".join(fitted(lines)))
    if statuses:
        raise click.exceptions.Exit(max(statuses))


def _asked(requirements: Requirements, ask: bool) -> dict[str, str]:
    """If `ask`, compiles the model on CPU, GPU and NPU, and returns OpenVINO's answers."""
    if not ask:
        return {}
    from ..comparison.devices import OpenVinoDevice

    with OpenVinoDevice() as openvino:
        try:
            return {
                name: openvino.compiles(requirements.model, name) for name in requirements.devices
            }
        except RuntimeError as problem:
            raise click.UsageError(str(problem)) from None


WIDTH = 80
"""The width of the table, in characters, if the output does not go to a terminal."""

_Row = tuple[str, str, str]
"""A row of the table: its subject, e.g. `GPU`, the release or verdict, and the reason.

The subject and the release are empty if they are the same as in the row before.
"""


def _text(requirements: Requirements, asked: dict[str, str]) -> list[str]:
    """Returns the table: releases that read and run the model, libraries, and devices."""
    answer = requirements.to_dict()
    rows = [*_reasons("read by", answer["reasons"]), *_reasons("run by", answer["running_reasons"])]
    for library in answer["libraries"]:
        types = ", ".join(sorted({layer["type"] for layer in library["layers"]}))
        known = f"{library['install']}, for {types}"
        own = f"custom: {types}; no release reads it without its library"
        rows.append(
            ("library", library["release"] or "unknown", known if library["install"] else own)
        )
    for layer in answer["unknown"]:
        place = f"{layer['why']}: '{layer['name']}', line {layer['line']}"
        rows.append(("library", "unknown", f"{place}; no release reads it without its library"))
    for name, device in answer["devices"].items():
        rows += _device(name, device, asked.get(name))
    return [*fitted([f"{plain(answer['model'])}: {requirements.releases}"]), *_table(rows)]


def _table(rows: list[_Row]) -> Iterator[str]:
    import textwrap

    first, second = (max(len(row[column]) for row in rows) + 2 for column in (0, 1))
    width = max((terminal_width() or WIDTH) - first - second - 2, 20)
    for subject, needed, why in rows:
        indent = " " * (len(why) - len(why.lstrip()))
        text = plain(why.strip())
        lines = textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent) or [""]
        yield f"  {subject:{first}}{needed:{second}}{lines[0]}".rstrip()
        yield from (f"  {'':{first + second}}{line}" for line in lines[1:])


def _reasons(subject: str, reasons: list[dict[str, Any]]) -> Iterator[_Row]:
    for reason in reasons:
        count = len(reason["layers"])
        layers = f", {counted(count, 'layer')}" if count else ""
        yield subject, reason["release"], f"{reason['reason']}{layers}"
        subject = ""
        if reason["forces"]:
            yield from _places(reason["layers"])


def _device(name: str, device: dict[str, Any], asked: str | None) -> Iterator[_Row]:
    verdict = device["verdict"]
    if not device["reasons"]:
        yield name, verdict, f"no obstacle known from {device['source']}"
    for reason in device["reasons"][:SHOWN]:
        again = "" if reason["verdict"] == verdict else f"{reason['verdict']}: "
        yield name, verdict, f"{again}{reason['reason']}, {counted(len(reason['layers']), 'layer')}"
        name, verdict = "", ""
        yield from _places(reason["layers"], 2)
        yield "", "", f"  {reason['cure']}"
    if len(device["reasons"]) > SHOWN:
        more = counted(len(device["reasons"]) - SHOWN, "more reason")
        yield "", "", f"and {more}; --format json lists them"
    if device["moved"]:
        moved = counted(len(device["moved"]), "layer")
        yield (
            "",
            "",
            f"HETERO:GPU,CPU would run {moved} on the CPU; no obstacle to this is known",
        )
    if asked is not None:
        yield "", "", f"asked: {asked}"


def _places(layers: list[dict[str, Any]], shown: int = SHOWN) -> Iterator[_Row]:
    for layer in layers[:shown]:
        place = "/".join([*layer["path"], layer["id"]])
        yield "", "", f"  {layer['type']} '{layer['name']}' (id {place}), line {layer['line']}"
    if len(layers) > shown:
        yield "", "", f"  and {len(layers) - shown} more; --format json lists them"
