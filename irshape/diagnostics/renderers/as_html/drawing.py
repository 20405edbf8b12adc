"""Draws the neighbourhood of a layer as inline SVG.

Producers are on the left, the layer in the middle, consumers on the right, and shapes on the lines.
Colours come from the page's style sheet, so that a drawing is as light or dark as the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ....model.graph import Layer
from ...neighbourhood import Connection, Neighbourhood
from ..common import shortened
from .markup import text

BOX, GAP, ROW, SPACE = 190, 260, 66, 12
"""Width of a box and of the gap between boxes, height of a row, space between two rows."""
MAX_ROWS = 8
LABEL, NAME = 36, 25
"""How many characters fit on a line between two boxes, and on a line of a box."""

Marker = Callable[[Layer], tuple[str, str]]
"""Returns the severity and the anchor of a layer with findings; empty texts for other layers."""


class _Row(NamedTuple):
    edge: Connection | None
    repeated: bool = False
    """Whether the line starts at the same port as the row above."""
    left_out: int = 0


def drawing(neighbourhood: Neighbourhood, mark: Marker) -> str:
    inputs, outputs = _rows(neighbourhood.inputs), _rows(neighbourhood.outputs)
    rows = max(len(inputs), len(outputs), 1)
    height = rows * ROW
    left = _breadth(inputs)
    width = left + BOX + _breadth(outputs)
    parts = [
        _side(inputs, left, height, mark, incoming=True),
        _side(outputs, left + BOX, height, mark, incoming=False),
    ]
    severity, _ = mark(neighbourhood.layer)
    parts.append(
        _box(neighbourhood.layer, left, SPACE / 2, height - SPACE, f"box centre {severity}", "")
    )
    title = (
        f"{neighbourhood.layer.type or 'A layer'} {neighbourhood.layer.name} with what feeds "
        "it and what it feeds"
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" viewBox="-2 0 '
        f'{width + 4} {height}" width="{width + 4}" height="{height}">'
        f"<title>{text(title)}</title>{''.join(parts)}</svg>"
    )


def _rows(edges: Sequence[Connection]) -> list[_Row]:
    rows = [
        _Row(edge, index > 0 and edges[index - 1].port == edge.port and edge.other is not None)
        for index, edge in enumerate(edges[:MAX_ROWS])
    ]
    return [*rows, _Row(None, left_out=len(edges) - MAX_ROWS)] if len(edges) > MAX_ROWS else rows


def _breadth(rows: list[_Row]) -> int:
    boxes = any(row.edge is not None and row.edge.other is not None for row in rows)
    return (GAP if rows else 0) + (BOX if boxes else 0)


def _side(rows: list[_Row], centre: int, height: int, mark: Marker, *, incoming: bool) -> str:
    """Draws one side. centre: the x position where the middle box begins or ends."""
    top = (height - len(rows) * ROW) / 2
    box_at, line_at = (centre - GAP - BOX, centre - GAP) if incoming else (centre + GAP, centre)
    parts = []
    for index, row in enumerate(rows):
        middle = top + (index + 0.5) * ROW
        if row.edge is None:
            parts.append(
                f'<text class="more" x="{line_at + GAP / 2}" y="{middle + 4}">… and '
                f"{row.left_out:,} more</text>"
            )
        else:
            parts.append(_line(row, line_at, middle, incoming))
    for first, count, layer in _runs(rows):
        severity, anchor = mark(layer)
        parts.append(
            _box(
                layer,
                box_at,
                top + first * ROW + SPACE / 2,
                count * ROW - SPACE,
                f"box {severity}",
                anchor,
            )
        )
    return "".join(parts)


def _runs(rows: Iterable[_Row]) -> list[tuple[int, int, Layer]]:
    """Returns the layers at the other ends, as boxes. Neighbouring rows to the same layer share one
    box."""
    runs: list[tuple[int, int, Layer]] = []
    for index, row in enumerate(rows):
        layer = None if row.edge is None else row.edge.other
        if layer is None:
            continue
        if runs and runs[-1][2] is layer and runs[-1][0] + runs[-1][1] == index:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1, layer)
        else:
            runs.append((index, 1, layer))
    return runs


def _line(row: _Row, start: float, y: float, incoming: bool) -> str:
    edge = row.edge
    assert edge is not None
    end = start + GAP
    loose = edge.other is None
    bad = edge.clash or edge.repeated is not None
    tip = (
        f'<path class="tip" d="M{end - 9} {y - 4.5}L{end} {y}L{end - 9} {y + 4.5}z"/>'
        if incoming or not loose
        else ""
    )
    first, last = (start + 20 if loose and incoming else start), (end - 8 if tip else end - 20)
    stop = (
        f'<circle class="stop" cx="{first if incoming else last}" cy="{y}" r="3.5"/>'
        if loose
        else ""
    )
    labels = _labels(edge, row.repeated)
    heights = [y - 7, y + 15, y + 28]
    if len(labels) == 2 and labels[0][0] == "shape":
        heights = [y - 7, y + 16]
    lines = [
        (
            f'<text class="{kind}" x="{start + GAP / 2}" '
            f'y="{height}">{text(shortened(label, LABEL))}'
            f"<title>{text(label)}</title></text>"
        )
        for (kind, label), height in zip(labels, heights, strict=False)
    ]
    port_x, side = (end - 7, "in") if incoming else (start + 7, "out")
    port = (
        (
            f'<text class="port {side}" x="{port_x}" y="{y - 21}">port '
            f"{text(shortened(edge.port, 12))}"
            "</text>"
        )
        if not row.repeated
        else ""
    )
    return (
        f'<g class="edge{" bad" if bad else ""}"><path class="line" d="M{first} '
        f'{y}H{last}"/>{tip}{stop}{"".join(lines)}{port}</g>'
    )


def _labels(edge: Connection, repeated: bool) -> list[tuple[str, str]]:
    """Returns the labels of a line, first those above it, each with its kind."""
    labels: list[tuple[str, str]] = []
    if not repeated:
        same = edge.declared == edge.inferred or edge.inferred is None
        if edge.declared is None and edge.inferred is None:
            labels.append(
                (
                    "absent",
                    "nothing feeds it" if edge.other is None and edge.clash else "declares nothing",
                )
            )
        elif edge.declared is None:
            labels.append(("shape", str(edge.inferred)))
        elif same:
            labels.append(("shape", edge.declared))
        else:
            labels += [
                ("declared" if edge.clash else "loose", f"declared {edge.declared}"),
                ("inferred", f"inferred {edge.inferred}"),
            ]
    if edge.repeated is not None:
        labels.append(
            (
                "inferred" if edge.repeated == edge.inferred else "declared",
                f"received as {edge.repeated}",
            )
        )
    elif edge.value is not None and not repeated:
        labels.append(("value", f"= {edge.value}"))
    return labels


def _box(layer: Layer, x: float, y: float, height: float, kind: str, anchor: str) -> str:
    middle = y + height / 2
    kind_line, name_line = layer.type or "no type", f"{layer.id or '?'} {layer.name}".strip()
    parts = (kind_line, layer.version, f"id {layer.id}", layer.name)
    title = " ".join(filter(None, parts))
    inside = (
        f'<rect x="{x}" y="{y}" width="{BOX}" height="{height}" rx="8"/>'
        f'<text class="type" x="{x + BOX / 2}" '
        f'y="{middle - 2}">{text(shortened(kind_line, NAME - 3))}</text>'
        f'<text class="name" x="{x + BOX / 2}" y="{middle + 15}">{text(shortened(name_line, NAME))}'
        "</text>"
        f"<title>{text(title)}</title>"
    )
    group = f'<g class="{kind.strip()}">{inside}</g>'
    return f'<a href="#{anchor}">{group}</a>' if anchor else group
