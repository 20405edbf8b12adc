"""Proposes changes of edges and ids: other producers for an input, and other ids of layers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ..formats.ir.edits import Edit, element_end, set_attribute
from ..inference.alternatives import Fit, arriving
from ..inference.result import BodyResult
from ..model.graph import Edge, Finding, Layer
from ..model.ids import lenient_id
from ..model.ports import Port
from ..model.wiring import OutputRef
from ..rules import Context
from .change import Change
from .site import Site, Sites
from .spellings import likeness

MOST_SOURCES = 4
"""The largest number of outputs that are tried for an input."""
MOST_EXCHANGED = 16
"""irshape tries exchanges only among the first inputs of a layer, up to this number."""
MOST_UNFED = 4
"""If more inputs than this have no edge, irshape proposes no edges: many were probably lost."""
MOST_CYCLIC = 32
"""irshape tries other outputs for the inputs of at most this many layers of a cycle."""


class Outputs:
    """The outputs of a body, grouped by the declarations of their ports."""

    def __init__(self, context: Context, result: BodyResult) -> None:
        self.by_declaration: dict[tuple[object, ...], list[OutputRef]] = {}
        layers = result.body.layers
        for position, layer in enumerate(layers):
            for out, port in enumerate(() if layer.is_result else layer.outputs):
                key = port.dims, port.precision
                self.by_declaration.setdefault(key, []).append((position, out))
        self.used = {source for row in result.wiring.sources for source in row}

    def alike(self, port: Port) -> list[OutputRef]:
        """Returns the outputs that declare the same shape and precision as an input port. If the
        port has no precision, compares only the shape that it declares."""
        if port.precision is not None:
            return self.by_declaration.get((port.dims, port.precision), [])
        return [
            ref
            for (dims, _), refs in self.by_declaration.items()
            for ref in refs
            if port.dims in ((), dims)
        ]


def sources(sites: Sites, finding: Finding) -> Iterator[Change]:
    """Yields changes that exchange two inputs. If there are none, yields other outputs for each
    input that declares another type or shape than the output that feeds it."""
    site = sites.of(finding.layer)
    if site is None:
        return
    exchanges = list(_exchanges(sites, site))
    yield from exchanges
    if exchanges:
        return  # another source for one of the two inputs would leave the other one wrong
    for index, (port, source) in enumerate(zip(site.layer.inputs, site.sources, strict=True)):
        about = finding.port is None or finding.port[0] == "output" or finding.port[1] == port.id
        if source is None or not about:
            continue
        feeding = site.result.body.layers[source[0]].outputs[source[1]]
        if port.dims != feeding.dims or port.precision != feeding.precision:
            edge = _edge_into(site.result, site.layer, port)
            if edge is not None:
                yield from _fed_by(sites, site, index, edge)


def _exchanges(sites: Sites, site: Site) -> Iterator[Change]:
    """Yields exchanges of two inputs, where each port declares what the other one gets."""
    layer, layers = site.layer, site.result.body.layers
    fed = [
        (index, port, layers[source[0]].outputs[source[1]])
        for index, (port, source) in enumerate(zip(layer.inputs, site.sources, strict=True))
        if source is not None
    ]
    for (first, one, source), (second, other, other_source) in combinations(
        fed[:MOST_EXCHANGED], 2
    ):
        if not (_declares(one, other_source) and _declares(other, source)):
            continue
        if _declares(one, source) and _declares(other, other_source) and site.fit():
            continue
        inputs = list(site.inputs)
        inputs[first], inputs[second] = inputs[second], inputs[first]
        fit = site.fit(inputs=tuple(inputs))
        edges = [_edge_into(site.result, layer, port) for port in (one, other)]
        edits = [
            set_attribute(sites.source, edge.offset, "to-port", port.id)
            for edge, port in zip(edges, (other, one), strict=True)
            if edge is not None
        ]
        known = tuple(edit for edit in edits if edit is not None)
        if fit and edges[0] is not None and len(known) == 2:
            yield Change(
                "exchange", known, edges[0].offset, layer, "", one.id, other.id, cost=0.0,
                exact=fit is Fit.EXACT, guess=_declares(one, other),
            )  # fmt: skip


def _declares(port: Port, output: Port) -> bool:
    """Returns whether an output port declares everything that an input port declares."""
    if port.precision is None:
        return port.dims in ((), output.dims)
    return port.precision == output.precision and port.dims == output.dims


def _edge_into(result: BodyResult, layer: Layer, port: Port) -> Edge | None:
    for edge in result.body.edges:
        if edge.to_port == port.id and edge.to_layer == layer.id:
            return edge
    return None


def _fed_by(sites: Sites, site: Site, index: int, edge: Edge | None) -> Iterator[Change]:
    """Yields changes that connect an input to another output that declares the same type and shape.

    No change closes a cycle. edge: the wrong edge into the input, or None. Skips an output that
    feeds another input and has neither the `from-layer` nor the `from-port` of this edge.
    """
    result, port = site.result, site.layer.inputs[index]
    layers, outputs = result.body.layers, sites.context.shared(Outputs, result)
    alike = [ref for ref in outputs.alike(port) if ref != site.sources[index]]
    if not alike:
        return
    behind = _behind(result, site.position)
    fitting: list[tuple[float, OutputRef]] = []
    alike = [ref for ref in alike if ref[0] not in behind]
    for ref in alike:
        producer = layers[ref[0]]
        far = (site.position - ref[0]) / (len(layers) + 1)
        cost = 1.0 + (ref in outputs.used) + (0.3 * far if far > 0 else 1)
        if edge is not None:
            same = edge.from_layer == producer.id
            port_id = producer.outputs[ref[1]].id
            if not same and ref in outputs.used and edge.from_port != port_id:
                continue  # both ends of its start would be wrong
            cost -= 0.9 if same else 0.4 * likeness(edge.from_layer, producer.id)
        fitting.append((cost, ref))
    unused = [ref for _, ref in fitting if ref not in outputs.used]
    missing = edge is not None and edge.from_layer not in result.body.by_id
    for cost, ref in sorted(fitting)[:MOST_SOURCES]:
        fed = list(site.inputs)
        fed[index] = arriving(result, ref)
        fit = site.fit(inputs=tuple(fed))
        if not fit:
            continue
        producer, output = layers[ref[0]], layers[ref[0]].outputs[ref[1]]
        decided = ""
        same = edge is not None and edge.from_layer == producer.id
        alone = same or (missing and len(fitting) == 1)
        if same and len(fitting) == 1:
            decided = f"no other output of {producer.label} fits"
        elif [ref] == unused == alike:
            decided = "no other output has this type and shape, and no edge uses this output"
        change = (
            _edge_change(
                sites,
                edge,
                site.layer,
                (
                    ("from-layer", edge.from_layer, producer.id),
                    ("from-port", edge.from_port, output.id),
                ),
                cost,
            )
            if edge is not None
            else _added(sites, site, port, producer, output, cost)
        )
        if change is not None:
            yield change._replace(
                exact=fit is Fit.EXACT,
                decided=decided,
                guess=ref in outputs.used and not alone,
            )


def _behind(result: BodyResult, position: int) -> set[int]:
    """Returns the positions of a layer and of layers outside cycles that depend on it."""
    behind, cyclic = {position}, result.wiring.cyclic
    for at in result.wiring.order:
        row = result.wiring.sources[at]
        if at not in cyclic and any(each is not None and each[0] in behind for each in row):
            behind.add(at)
    return behind


def _edge_change(
    sites: Sites, edge: Edge, layer: Layer, wanted: tuple[tuple[str, str, str], ...], cost: float
) -> Change | None:
    changed = [each for each in wanted if each[1] != each[2]]
    edits = [set_attribute(sites.source, edge.offset, name, after) for name, _, after in changed]
    known = tuple(edit for edit in edits if edit is not None)
    if not changed or len(known) < len(changed):
        return None
    subject, before, after = ("/".join(each[at] for each in changed) for at in range(3))
    return Change("edge", known, edge.offset, layer, subject, before, after, cost=cost)


def _added(
    sites: Sites, site: Site, port: Port, producer: Layer, output: Port, cost: float
) -> Change | None:
    """Returns the change that adds an edge, at the place where OpenVINO writes it.

    OpenVINO sorts edges by `from-layer`, then by `to-layer`.
    """
    body, layer, data = site.result.body, site.layer, sites.source.data
    orders = {each.id: at for at, each in enumerate(body.layers)}
    if not body.edges:
        return None
    here, first, last = (orders[producer.id], site.position), body.edges[0].offset, None
    for edge in body.edges:
        if (orders.get(edge.from_layer, -1), orders.get(edge.to_layer, -1)) <= here:
            last = edge.offset
    text = (
        f'<edge from-layer="{producer.id}" from-port="{output.id}" '
        f'to-layer="{layer.id}" to-port="{port.id}"/>'
    ).encode()
    if data.endswith(b" />", 0, element_end(data, first)):
        text = text[:-2] + b" />"
    if last is not None:
        at = element_end(data, last)
        edit = Edit(at, at, data[data.rfind(b">", 0, last) + 1 : last] + text)
    else:
        edit = Edit(first, first, text + data[data.rfind(b">", 0, first) + 1 : first])
    shown = f"an edge from {producer.label}, port {output.id}, to port {port.id}"
    return Change("edge", (edit,), layer.offset, layer, "edge", None, shown, cost=cost)


def edges(sites: Sites, finding: Finding) -> Iterator[Change]:
    """Yields changes of a faulty edge or of a cycle's edges, and edges for unconnected inputs."""
    at_edge = sites.edge_of(finding)
    if at_edge is None:
        site = sites.of(finding.layer)
        if site is None:
            return
        lost = sum(row.count(None) for row in site.result.wiring.sources) > MOST_UNFED
        for index, source in enumerate(() if lost else site.sources):
            if source is None and finding.port in (None, ("input", site.layer.inputs[index].id)):
                yield from _fed_by(sites, site, index, None)
        if site.position in site.result.wiring.cyclic:
            yield from _on_cycle(sites, site.result)
        return
    result, edge = at_edge
    if result.wiring.cyclic:
        yield from _on_cycle(sites, result)
    layers, by_id = result.body.layers, result.body.by_id
    site = sites.of(by_id.get(edge.to_layer))
    ports = [] if site is None else [port.id for port in site.layer.inputs]
    if site is not None and edge.to_port in ports:
        yield from _fed_by(sites, site, ports.index(edge.to_port), edge)
    producer = by_id.get(edge.from_layer)
    outputs = [] if producer is None else [p for p in producer.outputs if p.id == edge.from_port]
    unfed = [
        (layers[position], layers[position].inputs[index])
        for position, row in enumerate(result.wiring.sources if outputs else ())
        for index, source in enumerate(row)
        if source is None
    ]
    for layer, port in unfed:
        if port.dims == outputs[0].dims and port.precision == outputs[0].precision:
            wanted = ("to-layer", edge.to_layer, layer.id), ("to-port", edge.to_port, port.id)
            ends = sum(before != after for _, before, after in wanted)
            change = _edge_change(sites, edge, layer, wanted, 0.5 + 0.4 * ends)
            if change is not None:
                only = "every other input has an edge" if len(unfed) == 1 else ""
                yield change._replace(decided=only)
    yield _removed(sites, result, edge, finding)


def _removed(sites: Sites, result: BodyResult, edge: Edge, finding: Finding) -> Change:
    data = sites.source.data
    edit = Edit(data.rfind(b">", 0, edge.offset) + 1, element_end(data, edge.offset), b"")
    count = sum(each.ends == edge.ends for each in result.body.edges)
    decided = "another edge connects the same ports" if count > 1 else ""
    return Change(
        "edge", (edit,), edge.offset, finding.layer, "edge", "the edge", None,
        cost=1.6, decided=decided,
    )  # fmt: skip


def _on_cycle(sites: Sites, result: BodyResult) -> Iterator[Change]:
    """Yields changes that connect an input in a cycle to another output."""
    cyclic = result.wiring.cyclic
    for position in sorted(cyclic)[:MOST_CYCLIC]:
        site = Site(sites, result, position)
        for index, source in enumerate(site.sources):
            if source is not None and source[0] in cyclic:
                edge = _edge_into(result, site.layer, site.layer.inputs[index])
                if edge is not None:
                    yield from _fed_by(sites, site, index, edge)


def ids(sites: Sites, finding: Finding) -> Iterator[Change]:
    """Yields changes that give a layer an id that edges name but no layer has.

    Changes only layers that share an id or, if an edge is faulty, layers that no edge names.
    """
    at_edge, site = sites.edge_of(finding), sites.of(finding.layer)
    body = at_edge[0].body if at_edge else site.result.body if site else None
    if body is None:
        return
    named = {id for edge in body.edges for id in (edge.from_layer, edge.to_layer)}
    missing = sorted(named - {layer.id for layer in body.layers})[:3]
    shared = None if at_edge or finding.layer is None else _number(finding.layer)
    wrong = [
        layer
        for layer in body.layers
        if (layer.id not in named if shared is None else _number(layer) == shared)
    ]
    if shared is None and len(wrong) > len(missing):
        return
    only = "edges name no other missing layer" if len(missing) == 1 else ""
    for text in missing:
        for layer in wrong:
            offset = sites.source.attribute(layer.offset, "id")
            edit = set_attribute(sites.source, layer.offset, "id", text)
            if edit is not None:
                yield Change("id", (edit,), offset, layer, "id", layer.id, text, decided=only)


def _number(layer: Layer) -> str:
    return lenient_id(layer.id) or layer.id
