"""Reads a part of a body with some edits as a model of its own.

Layers and edges that no edit touches are those of the whole: only the others are read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...formats.ir.edits import Edit
from ...formats.ir.reader import read
from ...formats.ir.regular import Window, read_edges, read_layers
from ...model.edges import Edge
from ...model.graph import Body, Finding, Layer, Model, NotReadable
from ...model.source import Source
from .scene import Scene

Span = tuple[int, int]


class ReadPart:
    """A part of a body with some edits."""

    def __init__(self, model: Model, positions: Sequence[int]) -> None:
        self.model = model
        self.positions = positions
        """Those that its layers have in the whole; layers that are new come behind them."""


def read_part(
    scene: Scene,
    positions: Sequence[int],
    inside: set[int],
    edges: Sequence[Edge],
    edits: Sequence[Edit],
) -> ReadPart | None:
    """The layers at some positions, those that are not inside without inputs, and some edges.

    None if they cannot be read.
    """
    try:
        model = _reusing(scene, positions, inside, edges, edits)
        if model is not None:
            return ReadPart(model, positions)
        return _anew(scene, positions, inside, edges, edits)
    except NotReadable:
        return None


def _anew(
    scene: Scene,
    positions: Sequence[int],
    inside: set[int],
    edges: Sequence[Edge],
    edits: Sequence[Edit],
) -> ReadPart:
    """Everything is read again. Raises `NotReadable`."""
    added = [edit for edit in edits if _adds_layer(scene, edit)]
    pending = sorted(set(edits).difference(added))
    parts: list[bytes] = []
    for at in positions:
        spans = (scene.span(at),) if at in inside else scene.boundary(at)
        parts += [_edited(scene, start, end, pending) for start, end in spans]
    parts += [edit.text for edit in added]
    model = _read(scene, parts, _edges_text(scene, edges, pending))
    gone = {at for at in positions if any(_covers(e, scene.layers[at]) for e in edits)}
    return ReadPart(model, [at for at in positions if at not in gone])


def _adds_layer(scene: Scene, edit: Edit) -> bool:
    """Whether an edit puts a layer beside those of the body, not into a body of one of them."""
    at = scene.layer_at(edit.start)
    inside = at is not None and edit.start < scene.end_tag(at)
    return edit.text.lstrip().startswith(b"<layer ") and not inside


def _read(scene: Scene, layers: list[bytes], edges: list[bytes]) -> Model:
    text = b"".join([scene.heading, *layers, b"</layers><edges>", *edges, b"</edges></net>"])
    source = Source(scene.source.path, text, scene.source.encoding)
    return _read_regular(scene, source) or read(source)


def _read_regular(scene: Scene, source: Source) -> Model | None:
    """A text in which all layers and edges are regular; without an XML parser, which takes longer
    to make than to use here."""
    if source.encoding.lower() != "utf-8":
        return None
    whole = scene.context.model
    model = Model(source, "", whole.version, format=whole.format)
    text = source.data
    end = read_layers(Window(text), len(scene.heading), model.net)
    between = b"</layers><edges>"
    start = text.find(between, end)
    if start < 0 or text[end:start].strip():
        return None
    start += len(between)
    behind = read_edges(text, start, model.net)
    return model if text.startswith(b"</edges></net>", behind) else None


def is_as_written(scene: Scene, position: int) -> bool:
    """Whether a layer is what its text says; a program may have changed it since it was read."""
    layer = scene.layers[position]
    try:
        (again,) = _read(scene, [_edited(scene, *scene.span(position), [])], []).net.layers
    except (NotReadable, ValueError):
        return False
    return (again.type, again.version, again.items) == (
        layer.type,
        layer.version,
        layer.items,
    ) and all(
        [(port.id, port.precision, port.dims) for port in read_again]
        == [(port.id, port.precision, port.dims) for port in ports]
        for read_again, ports in ((again.inputs, layer.inputs), (again.outputs, layer.outputs))
    )


def edges_with(scene: Scene, edges: Sequence[Edge], edits: Sequence[Edit]) -> list[Edge] | None:
    """Some edges with edits, all of which lie in them; None if one lies elsewhere."""
    pending = list(edits)
    parts = [_edited(scene, *scene.edge_span(edge), pending) for edge in edges]
    if pending:
        return None
    try:
        return _read(scene, [], parts).net.edges
    except NotReadable:
        return None


def _edges_text(scene: Scene, edges: Sequence[Edge], pending: list[Edit]) -> list[bytes]:
    parts = [_edited(scene, *scene.edge_span(edge), pending) for edge in edges]
    return parts + [edit.text for edit in pending if edit.text.lstrip().startswith(b"<edge ")]


def _edited(scene: Scene, start: int, end: int, pending: list[Edit]) -> bytes:
    """A piece of the text with the edits that lie in it, which are taken from `pending`."""
    data, parts, at = scene.source.data, [], start
    here = [
        edit
        for edit in pending
        if (start < edit.end and edit.start < end)
        or (edit.start == edit.end and start < edit.start < end)
    ]
    if not here:
        return data[start:end]
    for edit in here:
        parts += [data[at : max(at, edit.start)], edit.text]
        at = min(max(at, edit.end), end)
        pending.remove(edit)
        if edit.end > end:
            pending.append(Edit(end, edit.end, b""))
    parts.append(data[at:end])
    return b"".join(parts)


def _covers(edit: Edit, layer: Layer) -> bool:
    """Whether a layer is gone with an edit."""
    return edit.start <= layer.offset < edit.end and not edit.text


# what is not touched stays


def _reusing(
    scene: Scene,
    positions: Sequence[int],
    inside: set[int],
    edges: Sequence[Edge],
    edits: Sequence[Edit],
) -> Model | None:
    """The part, of which only what is touched is read again.

    None where the edits are no changes within layers and edges. Raises `NotReadable`.
    """
    touched: dict[int, list[Edit]] = {}
    edges_touched = False
    for edit in edits:
        at = scene.layer_at(edit.start)
        if at is not None:
            if not _within(edit, scene.span(at)) or b"<layer" in edit.text:
                return None
            touched.setdefault(at, []).append(edit)
        elif scene.edge_at(edit.start) is None and not edit.text.lstrip().startswith(b"<edge "):
            return None
        else:
            edges_touched = True
    here = set(positions)
    touched = {at: edits_of for at, edits_of in touched.items() if at in here}
    pending = sorted(edits)
    texts: list[bytes] = []
    inner: dict[int, dict[str, _Kept]] = {}
    for at in sorted(touched):
        spans = [scene.span(at)] if at in inside else list(scene.boundary(at))
        if at in inside and scene.layers[at].bodies:
            inner[at] = _kept_bodies(scene, scene.layers[at], touched[at])
            spans = _without(spans[0], [cut for kept in inner[at].values() for cut in kept.cuts])
        texts += [_edited(scene, start, end, pending) for start, end in spans]
    model = _read(scene, texts, _edges_text(scene, edges, pending) if edges_touched else [])
    again = model.net.layers
    if len(again) != len(touched):
        return None
    for at, layer in zip(sorted(touched), again, strict=True):
        if not all(kept.put_back(layer, tag) for tag, kept in inner.get(at, {}).items()):
            return None
    anew = dict(zip(sorted(touched), again, strict=True))
    model.net.layers = [
        anew.get(at) or (scene.layers[at] if at in inside else scene.without_inputs(at))
        for at in positions
    ]
    model.net.reindex()
    if not edges_touched:
        model.net.edges = list(edges)
    model.findings += _kept_findings(
        scene, inside.intersection(positions), set(touched), inner, edges, edges_touched
    )
    return model


def _within(edit: Edit, span: Span) -> bool:
    return span[0] < edit.start and edit.end <= span[1]


def _without(span: Span, cuts: Iterable[Span]) -> list[Span]:
    """A span without some spans in it."""
    at, spans = span[0], []
    for start, end in sorted(cuts):
        spans.append((at, start))
        at = end
    return [*spans, (at, span[1])]


class _Kept:
    """What stays of a body: all layers but those that are touched, and its edges.

    Of those that are touched, the bodies stay in the same way.
    """

    def __init__(self, scene: Scene, edits: Sequence[Edit]) -> None:
        self.body = scene.body
        spans = scene.spans
        self.touched = [
            at
            for at, (start, end) in enumerate(spans)
            if any(start < edit.end and edit.start < end for edit in edits)
        ]
        edges = self.body.edges
        self.edges: Span | None = None
        if edges:
            span = edges[0].offset, scene.edge_span(edges[-1])[1]
            if not any(span[0] <= edit.end and edit.start <= span[1] for edit in edits):
                self.edges = span
        changed = set(self.touched)
        self.cuts = list(_runs(spans, changed))
        self.cuts += [self.edges] if self.edges is not None else []
        self.inner = {
            at: _kept_bodies(scene, self.body.layers[at], edits)
            for at in self.touched
            if self.body.layers[at].bodies
        }
        self.cuts += [
            cut for bodies in self.inner.values() for k in bodies.values() for cut in k.cuts
        ]

    def put_back(self, holder: Layer, tag: str) -> bool:
        """Gives a body of a layer that was read without them what was kept."""
        body = (holder.bodies or {}).get(tag)
        if body is None or holder.bodies is None or len(body.layers) != len(self.touched):
            return False
        if not self.touched and self.edges is not None and _same_ends(body, self.body):
            holder.bodies[tag] = self.body  # what was inferred of it holds
            return True
        anew = dict(zip(self.touched, body.layers, strict=True))
        for at, bodies in self.inner.items():
            if not all(kept.put_back(anew[at], inner) for inner, kept in bodies.items()):
                return False
        body.layers = [anew.get(at, layer) for at, layer in enumerate(self.body.layers)]
        if self.edges is not None:
            body.edges = self.body.edges
        body.reindex()
        return True


def _runs(spans: Sequence[Span], changed: set[int]) -> Iterator[Span]:
    """The spans of all layers but some, those that follow each other as one."""
    start = -1
    for at, span in enumerate(spans):
        if at in changed:
            if start >= 0:
                yield start, spans[at - 1][1]
            start = -1
        elif start < 0:
            start = span[0]
    if start >= 0:
        yield start, spans[-1][1]


def _same_ends(body: Body, other: Body) -> bool:
    """Whether two bodies have the same path and back edges."""
    return body.path == other.path and [edge[:2] for edge in body.back_edges] == [
        edge[:2] for edge in other.back_edges
    ]


def _kept_bodies(scene: Scene, layer: Layer, edits: Sequence[Edit]) -> dict[str, _Kept]:
    """What stays of the bodies of a layer in which there are edits."""
    kept: dict[str, _Kept] = {}
    for tag, body in (layer.bodies or {}).items():
        inner = scene.inner(body)
        if inner is not None and body.layers:
            kept[tag] = _Kept(inner, edits)
    return kept


def _kept_findings(
    scene: Scene,
    inside: set[int],
    touched: set[int],
    inner: dict[int, dict[str, _Kept]],
    edges: Sequence[Edge],
    edges_touched: bool,
) -> list[Finding]:
    """What the reader has to say of the layers and edges that are not read again."""
    findings: list[Finding] = []
    for finding in scene.context.model.findings:
        edge = scene.edge_at(finding.offset)
        at = scene.layer_at(finding.offset)
        if edge is not None:
            keeps = not edges_touched and edge in edges
        elif at in touched and at in inner:
            cuts = [cut for kept in inner[at].values() for cut in kept.cuts]
            keeps = any(start <= finding.offset < end for start, end in cuts)
        else:
            keeps = at in inside and at not in touched
        if keeps:
            findings.append(finding)
    return findings
