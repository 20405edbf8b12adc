"""`irshape requires`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..spelling import counted
from .arguments import Command
from .common import echo, expand, form_option, load_among
from .tables import fitted

if TYPE_CHECKING:
    from ..inspection.requirements import Requirements

SHOWN = 5
"""How many layers of one reason are listed as text."""


@click.command("requires", cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@form_option("text", "json")
def command(paths: tuple[str, ...], form: str) -> None:
    """Print the oldest OpenVINO release that reads a model, and the oldest that runs it on the CPU.

    PATH is a file, a folder (searched for IRs), a glob, or - for standard input. The answer follows
    from the version of the IR, the operations with their opsets, the element types, and the
    inferred shapes; for the release that runs it, from what was measured on its CPU plugin.

    Several models also get one answer for all: the newest release that any of them needs, and the
    libraries that they need. The JSON then has `requires`, `libraries`, `unknown` (the models with
    operations that nobody has declared), `complete` (whether every file has a model), and a list
    `models` of the objects that a single model gives.

    Exit status: 0; 1 if a file contains no model; 2 if a path cannot be opened, or names an ONNX
    model or a oneDNN graph.
    """
    from ..inference.engine import infer
    from ..inspection.requirements import Requirements, together

    files = expand(paths)
    answers: list[Requirements] = []
    statuses: set[int] = set()
    for path in files:
        model = load_among(path, files, statuses)
        if model is None:
            continue
        try:
            answers.append(Requirements(infer(model)))
        except ValueError as problem:
            raise click.UsageError(str(problem)) from None
    if form == "json":
        from ..diagnostics.renderers.common import json_text

        if len(files) > 1:
            echo(json_text(together(answers, len(answers) == len(files)), 1))
        elif answers:
            echo(json_text(answers[0].to_dict(), 1))
    else:
        for answer in answers:
            echo("\n".join(fitted(_text(answer))))
        if len(answers) > 1:
            strictest = max(answers, key=lambda answer: answer.oldest)
            lines = [f"all {len(answers)} models: OpenVINO {strictest.release} or newer"]
            for library in together(answers)["libraries"]:
                lines.append(
                    f"  library: {library['install']}, {library['release']} or newer, "
                    f"for {len(library['models'])} of them"
                )
            echo("\n".join(fitted(lines)))
    if statuses:
        raise click.exceptions.Exit(max(statuses))


def _text(requirements: Requirements) -> list[str]:
    from ..diagnostics.renderers.common import plain

    answer = requirements.to_dict()
    lines = [f"{plain(answer['model'])}: {requirements.releases}"]
    for reason in answer["reasons"]:
        lines += _reason(reason, "")
    for reason in answer["running_reasons"]:
        lines += _reason(reason, "to run ")
    for library in answer["libraries"]:
        types = sorted({layer["type"] for layer in library["layers"]})
        lines.append(
            f"  library: {library['install']}, {library['release']} or newer, "
            f"for {plain(', '.join(types))}"
        )
    for layer in answer["unknown"]:
        lines.append(
            f"  unknown: {plain(layer['why'])}: '{plain(layer['name'])}', line {layer['line']}; "
            "no release reads it without its library"
        )
    return lines


def _reason(reason: dict[str, Any], purpose: str) -> list[str]:
    from ..diagnostics.renderers.common import plain

    count = len(reason["layers"])
    layers = f", {counted(count, 'layer')}" if count else ""
    lines = [f"  {reason['release']}  {purpose}{reason['reason']}{layers}"]
    for layer in reason["layers"][: SHOWN if reason["forces"] else 0]:
        place = "/".join([*layer["path"], layer["id"]])
        lines.append(
            f"          {plain(layer['type'])} '{plain(layer['name'])}' (id {plain(place)}), "
            f"line {layer['line']}"
        )
    if reason["forces"] and count > SHOWN:
        lines.append(f"          and {count - SHOWN} more; --format json lists them")
    return lines
