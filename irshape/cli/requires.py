"""`irshape requires`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .common import load_or_exit

if TYPE_CHECKING:
    from ..model.graph import Model

SHOWN = 5
"""How many layers of one reason are listed as text."""


@click.command("requires", short_help="Tell the oldest OpenVINO release that can read a model.")
@click.argument("model", metavar="MODEL")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the answer.",
)
def command(model: str, form: str) -> None:
    """Tells the oldest OpenVINO release that can read a model, and the layers that force it.

    It goes by the version of the IR, the opsets and the element types that the file names. Exit status 1 where the file cannot be read.
    """
    loaded = load_or_exit(model, "none")
    if not loaded.format.layers_as_written:
        raise click.UsageError(f"'{model}' is no OpenVINO IR: its operations are of another format")
    found = required(loaded)
    if form == "json":
        from ..diagnostics.renderers.common import json_text

        click.echo(json_text(found, 1))
    else:
        click.echo("\n".join(_text(found)))


def required(model: Model) -> dict[str, Any]:
    """What `irshape requires --format json` prints."""
    from ..diagnostics.report import layer_reference
    from ..ops.registry import UnknownOperation, find
    from ..ops.requirements import requirements
    from ..releases import FIRST, written

    groups: dict[tuple[tuple[int, int], str], list[dict[str, Any]]] = {}
    for need in requirements(model):
        layers = groups.setdefault((need.release, need.what), [])
        if need.layer is not None:
            layers.append(
                layer_reference(need.layer) | {"line": model.source.place(need.layer.offset)[0]}
            )
    newest = max((release for release, _ in groups), default=FIRST)
    reasons = [
        {"release": written(release), "reason": what, "forces": release == newest, "layers": layers}
        for (release, what), layers in sorted(
            groups.items(), key=lambda item: (item[0][0], item[0][1]), reverse=True
        )
    ]
    unknown = []
    for layer in model.walk():
        try:
            find(layer.type, layer.version)
        except UnknownOperation as problem:
            unknown.append(
                layer_reference(layer)
                | {"line": model.source.place(layer.offset)[0], "why": str(problem)}
            )
    return {
        "version": 1,
        "model": model.path,
        "requires": written(newest),
        "reasons": reasons,
        "unknown": unknown,
    }


def _text(found: dict[str, Any]) -> list[str]:
    from ..diagnostics.renderers.common import plain

    lines = [f"{plain(found['model'])}: OpenVINO {found['requires']} or newer"]
    for reason in found["reasons"]:
        count = len(reason["layers"])
        layers = f", {count} layer{'' if count == 1 else 's'}" if count else ""
        lines.append(f"  {reason['release']}  {reason['reason']}{layers}")
        if reason["forces"]:
            for layer in reason["layers"][:SHOWN]:
                place = "/".join([*layer["path"], layer["id"]])
                lines.append(
                    f"          {plain(layer['type'])} '{plain(layer['name'])}' (id {plain(place)}), line {layer['line']}"
                )
            if count > SHOWN:
                lines.append(f"          and {count - SHOWN} more; --format json lists them")
    for layer in found["unknown"]:
        lines.append(
            f"  unknown: {plain(layer['why'])}: '{plain(layer['name'])}', line {layer['line']}; no release reads it without its library"
        )
    return lines
