"""Causes in copies: a port or a layer that stands in the file twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model.graph import Finding
from ..rule_ids import DUPLICATE_ID, DUPLICATE_PORT, MISSING_EDGE
from .candidate import Candidate
from .scene import Scene
from .writing import without_element

_BLANK = re.compile(rb">\s+<")
_ID = re.compile(rb"""\bid\s*=\s*["'][^"']*["']""")
_PORT = re.compile(rb"<port\b[^<>]*/>|<port\b[^<>]*>.*?</port\s*>", re.DOTALL)


def copy_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """A port or a layer is there twice, and one of the two is too many."""
    if finding.rule == DUPLICATE_PORT:
        yield from _port(scene, finding, position)
    elif finding.rule in (DUPLICATE_ID, MISSING_EDGE):
        yield from _layer(scene, position)


def _port(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    layer = scene.layers[position]
    data = scene.source.data
    for direction, ports in (("input", layer.inputs), ("output", layer.outputs)):
        texts: dict[str, bytes] = {}
        for port in ports:
            match = _PORT.match(data, port.offset)
            if match is None:
                continue
            text = _BLANK.sub(b"><", match[0])
            if port.id not in texts:
                texts[port.id] = text
                continue
            consumers = [at for _, at, _ in scene.consumers[position]]
            yield Candidate(
                without_element(scene.source, port.offset, match.end()),
                f"the second {direction} port {port.id} is removed",
                f"{direction} port {port.id} is declared twice"
                + (", both times alike" if texts[port.id] == text else ""),
                port.offset,
                layer,
                (position, *dict.fromkeys(consumers)),
                port=(direction, port.id),
                cost=0.4 if texts[port.id] == text else 1.0,
            )


def _layer(scene: Scene, position: int) -> Iterator[Candidate]:
    """The layer is a copy of another: but for its id, and nothing leads to it or from it."""
    layer = scene.layers[position]
    own = _content(scene, position)
    for at, other in enumerate(scene.layers):
        if at == position or other.type != layer.type or other.name != layer.name:
            continue
        if _content(scene, at) != own:
            continue
        same_id = other.id == layer.id
        if not same_id and (scene.edges_from.get(layer.id) or scene.edges_to.get(layer.id)):
            continue
        start, _ = scene.span(position)
        yield Candidate(
            without_element(scene.source, start, scene.element_end(position)),
            "the copy is removed",
            f"the layer is a copy of {other.label}"
            + ("" if same_id else ", and no edge leads to it or from it"),
            layer.offset,
            layer,
            tuple(sorted({position, at, *(c for _, c, _ in scene.consumers[at])})),
            cost=0.3,
        )
        return


def _content(scene: Scene, position: int) -> bytes:
    """The text of a layer without its id and without white space between elements."""
    data = scene.source.data[scene.layers[position].offset : scene.element_end(position)]
    return _BLANK.sub(b"><", _ID.sub(b"", data, count=1))
