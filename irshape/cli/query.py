"""`irshape query`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from ..diagnostics.renderers.common import plain
from ..spelling import counted
from .arguments import Command, Real
from .common import echo_json, expand, form_option, load_each

if TYPE_CHECKING:
    from ..model.graph import Layer, Model
    from ..xpath.evaluator import Evaluator

FUNCTIONS = ("shape", "element-type")
"""The XPath functions that need the inferred element types and shapes."""


@click.command("query", cls=Command)
@click.argument("xpath", metavar="XPATH")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@form_option("text", "json", "jsonl")
@click.option(
    "--timeout",
    type=Real(0.1),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="The longest time that the expression may take on one file.",
)
def command(xpath: str, paths: tuple[str, ...], form: str, timeout: float) -> None:
    """List the layers that an XPath 1.0 expression selects.

    \b
    Examples:
      irshape query '//layer[@type="Convert"]' models/
      irshape query '//data/@auto_pad[. != "explicit"]' model.xml
      irshape query '//layer[producer(.)/@type="FakeQuantize"]' model.xml
      irshape query 'count(//layer[@type="Const"])' models/*.xml

    If the expression selects elements, attributes or texts, irshape lists the layers that contain
    them. If it gives a number, a text or a truth value, irshape prints this value for each file.

    Besides the functions of XPath, there are producer(NODES), the layers that feed the nodes, and
    consumers(NODES), the layers that the nodes feed; shape(NODES) and element-type(NODES), inferred
    for the first port; and re:test(TEXT, PATTERN) of EXSLT.

    Exit status: 0, even if nothing matches; 1 if a file contains no model or the expression could
    not be evaluated on it; 2 for a malformed expression or a path that cannot be opened.
    """
    from ..xpath.evaluator import Evaluator, XPathError

    files = expand(paths, foreign=True)
    nothing = True
    statuses: set[int] = set()
    rows: list[dict[str, Any]] = []
    with closing(Evaluator(timeout)) as evaluator:
        try:
            evaluator.check(xpath)
        except XPathError as problem:
            raise click.UsageError(f"the expression cannot be used: {problem}") from None
        for model in load_each(files, statuses):
            try:
                matched = list(matches(model, xpath, evaluator))
            except XPathError as problem:
                click.echo(
                    f"{model.path}: the expression could not be evaluated: {problem}", err=True
                )
                statuses.add(1)
                continue
            nothing = nothing and not matched
            if form == "json":
                rows += matched
            else:
                for line in _lines(matched, form):
                    click.echo(line)
    if form == "json":
        echo_json({"version": 1, "xpath": xpath, "matches": rows})
    if nothing and not statuses and form == "text":
        click.echo(f"irshape: nothing matches in {counted(len(files), 'file')}", err=True)
    if statuses:
        raise click.exceptions.Exit(max(statuses))


def matches(model: Model, xpath: str, evaluator: Evaluator) -> Iterator[dict[str, Any]]:
    """Yields the nodes that an expression selects, in document order; or its single value.

    Nodes of a layer with the same attribute name and text appear once. Raises `XPathError`.
    """
    from ..inference.engine import infer
    from ..xpath.document import Document, ports

    document = Document(model)
    inferred = None
    if any(f"{name}(" in xpath.replace(" ", "") for name in FUNCTIONS):
        inferred = ports(infer(model))
    evaluator.load(document.data, inferred, document.encoding)
    result = evaluator.find(xpath)
    if result.value is not None:
        yield {"path": model.path, "value": result.value}
        return
    if not result.nodes:
        return
    inferred = inferred if inferred is not None else ports(infer(model))
    seen: set[tuple[Layer | None, str | None, str | None]] = set()
    for match, (offset, layer) in zip(result.nodes, document.places(result.nodes), strict=True):
        key = (layer, match.attribute, match.text)
        if layer is not None and key in seen:
            continue
        seen.add(key)
        line, column = model.source.place(offset)
        yield {
            "path": model.path,
            "line": line,
            "column": column,
            "layer": None if layer is None else layer.reference,
            "attribute": match.attribute,
            "text": match.text,
            "outputs": [] if layer is None else _outputs(layer, inferred),
        }


def _outputs(layer: Layer, inferred: dict[str, list[list[str]]]) -> list[dict[str, Any]]:
    rows = {row[0]: row for row in inferred.get("/".join((*layer.path, layer.id)), ())}
    outputs = []
    for port in layer.inputs[:1] if layer.is_result else layer.outputs:
        _, element_type, shape = rows.get(port.id, (port.id, None, None))
        declared = {
            "element_type": port.element_type.name if port.element_type else port.precision,
            "shape": None if port.dims is None else _shape(port.dims),
        }
        outputs.append(
            {
                "port": port.id,
                "declared": declared,
                "inferred": {"element_type": element_type, "shape": shape},
            }
        )
    return outputs


def _shape(dims: tuple[int, ...]) -> str:
    return f"[{','.join('?' if size < 0 else str(size) for size in dims)}]"


def _lines(matched: list[dict[str, Any]], form: str) -> Iterator[str]:
    """Yields the lines to print for one file."""
    import json

    for match in matched:
        if form == "jsonl":
            yield json.dumps(match)
        elif "value" in match:
            yield f"{plain(match['path'])}: {_value(match['value'])}"
        else:
            yield plain(_text(match))


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _text(match: dict[str, Any]) -> str:
    """Returns a match as one line: its place, its layer, the matched text, and the layer's
    outputs."""
    layer = match["layer"]
    parts = [f"{match['path']}:{match['line']}:{match['column']}:"]
    if layer is not None:
        inside = f" in {'/'.join(layer['path'])}" if layer["path"] else ""
        parts.append(f"{layer['type']} '{layer['name']}' (id {layer['id']}){inside}")
    if match["attribute"] is not None:
        parts.append(f'{match["attribute"]}="{match["text"]}"')
    elif match["text"] is not None:
        parts.append(match["text"].strip())
    shown = []
    for output in match["outputs"]:
        declared = " ".join(part for part in output["declared"].values() if part)
        inferred = " ".join(part for part in output["inferred"].values() if part)
        same = declared == inferred or not declared
        shown.append(inferred if same else f"{declared} (inferred {inferred or 'nothing'})")
    return " ".join(parts) + (f"  {', '.join(shown)}" if shown else "")
