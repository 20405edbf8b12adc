"""`irshape requires`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .common import echo, expand, form_option, load_among

if TYPE_CHECKING:
    from ..inference.requirements import Requirements

SHOWN = 5
"""How many layers of one reason are listed as text."""


@click.command("requires", short_help="Tell the oldest OpenVINO release that reads a model.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@form_option("text", "json")
def command(paths: tuple[str, ...], form: str) -> None:
    """Tell the oldest OpenVINO release that reads a model, and the layers that require it.

    PATH is a file, a folder (searched for IRs), a glob, or - for standard input. The answer follows
    from the version of the IR, the operations with their opsets, the element types, and the
    inferred shapes.

    Several models also get one answer for all: the newest release that any of them needs, and the
    libraries that they need. The JSON then has `requires`, `libraries`, `unknown` (the models with
    operations that nobody has declared), `complete` (whether every file has a model), and a list
    `models` of the objects that a single model gives.

    Exit status: 0; 1 if a file contains no model; 2 if a path cannot be opened, or names an ONNX
    model or a oneDNN graph.
    """
    from ..inference.engine import infer
    from ..inference.requirements import Requirements, together

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
            echo("\n".join(_text(answer.to_dict())))
        if len(answers) > 1:
            strictest = max(answers, key=lambda answer: answer.oldest)
            echo(f"all {len(answers)} models: OpenVINO {strictest.release} or newer")
            for library in together(answers)["libraries"]:
                echo(
                    f"  library: {library['install']}, {library['release']} or newer, "
                    f"for {len(library['models'])} of them"
                )
    if statuses:
        raise click.exceptions.Exit(max(statuses))


def _text(answer: dict[str, Any]) -> list[str]:
    from ..diagnostics.renderers.common import plain

    lines = [f"{plain(answer['model'])}: OpenVINO {answer['requires']} or newer"]
    for reason in answer["reasons"]:
        count = len(reason["layers"])
        layers = f", {count} layer{'' if count == 1 else 's'}" if count else ""
        lines.append(f"  {reason['release']}  {reason['reason']}{layers}")
        if not reason["forces"]:
            continue
        for layer in reason["layers"][:SHOWN]:
            place = "/".join([*layer["path"], layer["id"]])
            lines.append(
                f"          {plain(layer['type'])} '{plain(layer['name'])}' (id {plain(place)}), "
                f"line {layer['line']}"
            )
        if count > SHOWN:
            lines.append(f"          and {count - SHOWN} more; --format json lists them")
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
