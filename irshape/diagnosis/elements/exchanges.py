"""Causes in two places at once: two elements have what belongs to each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ...formats.ir.edits import Edit, element_end
from ...model.edges import Edge
from ...model.graph import Finding, Layer
from ...model.ids import is_number
from ...model.ports import Port
from ...rule_ids import (
    CONTRADICTED_ATTRIBUTE,
    CONTRADICTED_CONSTANT,
    CONTRADICTED_OPERATION,
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    MALFORMED_EDGE,
    MISDIRECTED_EDGE,
    MISSING_EDGE,
    UNKNOWN_EDGE_ATTRIBUTE,
    UNKNOWN_LAYER_ATTRIBUTE,
    UNKNOWN_PORT_ATTRIBUTE,
)
from ...rules.links import alike
from ..candidate import Candidate
from ..rule_groups import BETWEEN_PORTS
from ..trials.scene import Scene
from .constant_places import Const
from .writing import encoded, with_attribute, with_edge, with_exchanged

_OF_OTHERS = (
    *(DANGLING_EDGE, DUPLICATE_EDGE, MALFORMED_EDGE, MISSING_EDGE),
    *(UNKNOWN_EDGE_ATTRIBUTE, UNKNOWN_LAYER_ATTRIBUTE, UNKNOWN_PORT_ATTRIBUTE),
    *BETWEEN_PORTS,
)
"""Rules whose findings are there whatever operations the layers are."""
_TAG = b"<layer"
NEAR = 2
"""How many places apart two layers may stand whose ids were exchanged."""
MAX_PARTNERS = 6
"""With how many other layers one may have exchanged something."""
MAX_EDGES = 6
"""Among how many edges into a layer one is looked for that was exchanged."""


def exchange_causes(
    scene: Scene, finding: Finding, flagged: set[int], position: int
) -> Iterator[Candidate]:
    """A layer and another one at which something is wrong have something of each other's.

    flagged: the layers with errors or warnings.
    """
    wired = finding.rule in _OF_OTHERS
    if scene.exchanged_ids is not None:
        yield from _exchanged_ids(scene, *scene.exchanged_ids, ordered=True)
    others = sorted(flagged - {position}, key=lambda at: abs(at - position))[:MAX_PARTNERS]
    near = range(max(0, position - NEAR), min(len(scene.layers), position + NEAR + 1))
    for other in dict.fromkeys((*others, *near)):
        yield from _exchanged_ids(scene, position, other)
        if other in near:
            yield from _exchanged_layers(scene, position, other)
    for source in dict.fromkeys(scene.sources[position]):
        for step in (-1, 1):
            if source is not None and 0 <= source[0] + step < len(scene.layers):
                pair = (source[0], source[0] + step)
                if _disordered(scene, *pair):
                    yield from _exchanged_ids(scene, *pair)
    for other in others:
        yield from _exchanged_sources(scene, position, other)
    for other in () if wired else others:
        if not finding.rule.code.startswith("IR50"):
            yield from _exchanged_types(scene, position, other)
        yield from _exchanged_attributes(scene, position, other)
        yield from _exchanged_constants(scene, position, other)


def exchanged_port_ids(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """Two ports of a layer have each other's ids, or the ports stand in another order than those.

    An input is the first, the second and so on by where it stands, whatever its id.
    """
    layer = scene.layers[position]
    if finding.layer is layer:
        yield from _disordered_ports(scene, position)
    for one, other in combinations(layer.inputs[:8], 2):
        numbers = [port.id for port in layer.inputs]
        if not all(is_number(text) for text in numbers) or int(one.id) <= int(other.id):
            continue
        edits = (
            *with_attribute(scene.source, one.offset, "id", other.id),
            *with_attribute(scene.source, other.offset, "id", one.id),
        )
        yield Candidate(
            edits,
            f"the ids of the input ports {one.id} and {other.id} are exchanged",
            f"the input ports {one.id} and {other.id} have each other's ids: each is fed what the "
            "other declares",
            one.offset,
            layer,
            (position,),
            port=("input", one.id),
            cost=0.2,
            rule=MISDIRECTED_EDGE,
        )


def _disordered_ports(scene: Scene, position: int) -> Iterator[Candidate]:
    """The input ports stand in another order than that of their ids."""
    layer, source = scene.layers[position], scene.source
    ports = layer.inputs
    if len(ports) < 2 or not all(is_number(port.id) for port in ports):
        return
    ordered = sorted(ports, key=lambda port: int(port.id))
    if ordered == ports:
        return
    spans = {port.offset: (port.offset, element_end(source.data, port.offset)) for port in ports}
    edits = tuple(
        Edit(*spans[port.offset], source.data[slice(*spans[other.offset])])
        for port, other in zip(ports, ordered, strict=True)
        if port is not other
    )
    numbers = ", ".join(port.id for port in ports)
    yield Candidate(
        edits,
        "the input ports are put in the order of their ids",
        f"the input ports stand in the order {numbers}, so that each is taken for another input",
        ports[0].offset,
        layer,
        (position,),
        port=("input", ports[0].id),
        cost=0.2,
        rule=MISDIRECTED_EDGE,
    )


def _both(scene: Scene, one: int, other: int) -> str:
    """How messages name two layers."""
    return f"{scene.layers[one].label} and {scene.layers[other].label}"


def _exchanged_ids(
    scene: Scene, one: int, other: int, *, ordered: bool = False
) -> Iterator[Candidate]:
    """ordered: whether all ids are in order then."""
    here, there = scene.layers[one], scene.layers[other]
    if here.id == there.id or not here.id or not there.id:
        return
    if not ordered and not (_takes(scene, here, there.id) and _takes(scene, there, here.id)):
        return
    disordered = ordered or _disordered(scene, one, other)
    if not disordered and _takes(scene, here, here.id) and _takes(scene, there, there.id):
        return
    touched = {one, other}
    for number in (here.id, there.id):
        for edge in scene.edges_from.get(number, ()):
            touched.update(scene.by_id.get(edge.to_layer, ()))
    if not disordered:  # the layers stand in the order of their ids: those in edges are wrong
        yield _renamed(scene, one, other, tuple(sorted(touched)))
        return
    edits = (
        *with_attribute(scene.source, here.offset, "id", there.id),
        *with_attribute(scene.source, there.offset, "id", here.id),
    )
    yield Candidate(
        edits,
        f'id="{there.id}", and id="{here.id}" at {there.label}',
        f"{_both(scene, one, other)} have each other's ids: the edges fit once those are exchanged",
        here.offset,
        here,
        tuple(sorted(touched)),
        cost=0.2 if ordered else 0.3,
        rule=MISDIRECTED_EDGE,
    )


def _renamed(scene: Scene, one: int, other: int, touched: tuple[int, ...]) -> Candidate:
    """Every edge names one layer where it named the other."""
    here, there = scene.layers[one], scene.layers[other]
    meant = {here.id: there.id, there.id: here.id}
    edges = {
        edge.offset: edge
        for number in meant
        for edge in (*scene.edges_from.get(number, ()), *scene.edges_to.get(number, ()))
    }
    edits: list[Edit] = []
    for _, edge in sorted(edges.items()):
        ends = {"from-layer": edge.from_layer, "to-layer": edge.to_layer}
        edits += with_edge(scene, edge, {n: meant[t] for n, t in ends.items() if t in meant})
    return Candidate(
        tuple(edits),
        f"layers {here.id} and {there.id} are exchanged in {len(edges)} edges",
        f"{len(edges)} edges name {_both(scene, one, other)} by each other's ids",
        edits[0].start if edits else here.offset,
        here,
        touched,
        cost=0.6,
        rule=MISDIRECTED_EDGE,
    )


def _exchanged_layers(scene: Scene, one: int, other: int) -> Iterator[Candidate]:
    """Two layers have each other's contents but for the id: each is fed what the other declares."""
    here, there = scene.layers[one], scene.layers[other]
    if not (here.id and there.id) or here.id == there.id or _disordered(scene, one, other):
        return
    if not (_takes(scene, here, there.id) and _takes(scene, there, here.id)):
        return
    meant = {here.id: there, there.id: here}
    if all(_is_fed(scene, layer, layer.id, {}) for layer in (here, there)):
        return
    if not all(_is_fed(scene, layer, number, meant) for number, layer in meant.items()):
        return
    edits: list[Edit] = []
    for at, by in ((one, other), (other, one)):
        start, end = scene.span(at)
        text = _with_id(scene, by, scene.layers[at].id)
        if text is None:
            return
        edits.append(Edit(start + len(_TAG), end, text[len(_TAG) :]))
    touched = {one, other}
    for at in (one, other):
        touched.update(consumer for _, consumer, _ in scene.consumers[at])
    yield Candidate(
        tuple(edits),
        f"the contents of layers {here.id} and {there.id} are exchanged",
        f"{_both(scene, one, other)} have each other's contents: each is fed what the other "
        "declares",
        here.offset,
        here,
        tuple(sorted(touched)),
        cost=0.35,
        rule=CONTRADICTED_OPERATION,
    )


def _with_id(scene: Scene, position: int, number: str) -> bytes | None:
    """The element of a layer with another id."""
    start, end = scene.span(position)
    data = scene.source.data
    for name, _, first, last in scene.source.attributes(start):
        if name == "id" and data.startswith(_TAG, start):
            return data[start:first] + encoded(scene.source, number) + data[last:end]
    return None


def _is_fed(scene: Scene, layer: Layer, number: str, holders: dict[str, Layer]) -> bool:
    """Whether the edges that lead to an id come from what the inputs of a layer declare.

    holders: the layers that are meant to have some of the ids.
    """
    ports = {port.id: port for port in layer.inputs}
    for edge in scene.edges_to.get(number, ()):
        target, output = ports.get(edge.to_port), _output(scene, edge)
        if edge.from_layer in holders:
            outputs = holders[edge.from_layer].outputs
            output = next((port for port in outputs if port.id == edge.from_port), None)
        if target is None or output is None or not alike(target, output):
            return False
    return True


def _disordered(scene: Scene, one: int, other: int) -> bool:
    """Whether two layers would stand in the order of ids if they had each other's."""
    low, high = sorted((one, other))
    swap = {low: scene.layers[high].id, high: scene.layers[low].id}
    places = [at for at in (low - 1, low, high, high + 1) if 0 <= at < len(scene.layers)]
    texts = [swap.get(at, scene.layers[at].id) for at in places]
    now = [scene.layers[at].id for at in places]
    if not all(is_number(text) for text in texts):
        return False
    return texts == sorted(texts, key=int) and now != sorted(now, key=int)


def _takes(scene: Scene, layer: Layer, number: str) -> bool:
    """Whether the edges that name an id name the ports of a layer, every input once."""
    edges, heads = scene.edges_to.get(number, ()), layer.port_heads
    if len(edges) != heads.inputs:
        return False
    if sorted([edge.to_port for edge in edges]) != sorted(heads.input_ids):
        return False
    return all(edge.from_port in heads.output_ids for edge in scene.edges_from.get(number, ()))


def _exchanged_types(scene: Scene, one: int, other: int) -> Iterator[Candidate]:
    here, there = scene.layers[one], scene.layers[other]
    if here.type == there.type:
        return
    edits: tuple[Edit, ...] = ()
    for name in ("type", "version"):
        texts = getattr(here, name), getattr(there, name)
        if texts[0] != texts[1]:
            edits += with_exchanged(
                scene.source, name, (here.offset, texts[0]), (there.offset, texts[1])
            )
    yield Candidate(
        edits,
        f'type="{there.type}", and type="{here.type}" at {there.label}',
        f"{_both(scene, one, other)} have each other's types: what each has fits the other",
        scene.source.attribute(here.offset, "type"),
        here,
        (one, other),
        (one, other) if here.is_result or there.is_result else (),
        cost=0.6,
        rule=CONTRADICTED_OPERATION,
        bold=True,
    )


def _exchanged_attributes(scene: Scene, one: int, other: int) -> Iterator[Candidate]:
    here, there = scene.layers[one], scene.layers[other]
    if here.type != there.type or here.data_offset < 0 or there.data_offset < 0:
        return
    for name, text in zip(here.items[::2], here.items[1::2], strict=True):
        value = there.attribute(name)
        if value is None or value == text:
            continue
        yield Candidate(
            with_exchanged(
                scene.source, name, (here.data_offset, text), (there.data_offset, value)
            ),
            f'{name}="{value}", and {name}="{text}" at {there.label}',
            f"{_both(scene, one, other)} have each other's {name}: what each has fits the other",
            scene.source.attribute(here.data_offset, name),
            here,
            (one, other),
            cost=0.8,
            rule=CONTRADICTED_ATTRIBUTE,
            bold=True,
        )


def _exchanged_constants(scene: Scene, one: int, other: int) -> Iterator[Candidate]:
    """Two constants have each other's `<data>`: each says what the port of the other does."""
    here, there = Const(scene, one), Const(scene, other)
    if not (here.layer.is_constant and there.layer.is_constant and here.port and there.port):
        return
    for const, port in ((here, there.port), (there, here.port)):
        if (const.type, const.shape) != (port.element_type, port.dims):
            return
    edits: tuple[Edit, ...] = ()
    changed: list[str] = []
    for name, text in zip(here.layer.items[::2], here.layer.items[1::2], strict=True):
        value = there.layer.attribute(name)
        if value is not None and value != text:
            ours, theirs = (here.layer.data_offset, text), (there.layer.data_offset, value)
            edits += with_exchanged(scene.source, name, ours, theirs)
            changed.append(name)
    if changed:
        yield Candidate(
            edits,
            f"{', '.join(changed)} of {_both(scene, one, other)} are exchanged",
            f"{_both(scene, one, other)} have each other's {', '.join(changed)}: the port of each "
            "declares what the other says",
            scene.source.attribute(here.layer.data_offset, changed[0]),
            here.layer,
            (one, other),
            cost=0.3,
            rule=CONTRADICTED_CONSTANT,
        )


def _exchanged_sources(scene: Scene, one: int, other: int) -> Iterator[Candidate]:
    """Two layers are fed by each other's producers."""
    edges = [scene.edges_to.get(scene.layers[at].id, [])[:MAX_EDGES] for at in (one, other)]
    for first in edges[0]:
        for second in edges[1]:
            ends = _input(scene, one, first), _input(scene, other, second)
            sources = _output(scene, first), _output(scene, second)
            fits = [
                end is not None and output is not None and alike(end, output)
                for end, output in zip((*ends, *ends), (*sources, *sources[::-1]), strict=True)
            ]
            if not all(fits[:2]) and all(fits[2:]):
                crossed = _crossed(scene, (one, other), first, second)
                yield crossed._replace(cost=0.8) if any(fits[:2]) else crossed


def _crossed(scene: Scene, positions: tuple[int, int], one: Edge, other: Edge) -> Candidate:
    targets = [{"to-layer": edge.to_layer, "to-port": edge.to_port} for edge in (other, one)]
    edits: tuple[Edit, ...] = ()
    for edge, ends in zip((one, other), targets, strict=True):
        before = {"to-layer": edge.to_layer, "to-port": edge.to_port}
        edits += with_edge(scene, edge, {k: v for k, v in ends.items() if before[k] != v})
    by_id = scene.by_id
    sources = (*by_id.get(one.from_layer, ()), *by_id.get(other.from_layer, ()))
    return Candidate(
        edits,
        "the targets of two edges are exchanged",
        f"{_both(scene, *positions)} are fed by each other's producers",
        scene.source.attribute(one.offset, "to-layer"),
        scene.layers[positions[0]],
        positions,
        sources,
        cost=0.5,
        rule=MISDIRECTED_EDGE,
    )


def _input(scene: Scene, position: int, edge: Edge) -> Port | None:
    ports = scene.layers[position].inputs
    return next((port for port in ports if port.id == edge.to_port), None)


def _output(scene: Scene, edge: Edge) -> Port | None:
    return next(
        (
            port
            for at in scene.by_id.get(edge.from_layer, ())
            for port in scene.layers[at].outputs
            if port.id == edge.from_port
        ),
        None,
    )
