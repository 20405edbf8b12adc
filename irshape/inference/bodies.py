"""The body of a control-flow layer as its operation sees it: what to feed, what comes out, by position instead of id."""

from __future__ import annotations

from collections.abc import Callable

from ..faults import Violation
from ..model.graph import Body, Layer, PortMap
from ..ops.bodies import BodyView, PortBinding, T
from ..rule_ids import PORT_MAP

_PORT_MAP_OF = {"body": "port_map", "then_body": "then_port_map", "else_body": "else_port_map"}


def bind(layer: Layer, tag: str, run: Callable[[dict[str, T]], dict[str, T]]) -> BodyView[T]:
    """The view of one body of a layer. Raises `Violation` where the port map names a port or a layer that is not there."""
    assert layer.bodies is not None
    body = layer.bodies[tag]
    entries = (layer.port_maps or {}).get(_PORT_MAP_OF[tag], [])
    numbers = {id(entry): _external(entry) for entry in entries}
    outputs = sorted(
        (entry for entry in entries if entry.direction == "output"),
        key=lambda entry: numbers[id(entry)],
    )
    connected = sorted({number for entry in outputs if (number := numbers[id(entry)]) >= 0})
    places = {
        number: position for position, number in enumerate(connected)
    }  # whatever their ids, OpenVINO counts the outputs in the order of these
    bound: dict[str, list[PortBinding]] = {"input": [], "output": []}
    for entry in (*(entry for entry in entries if entry.direction == "input"), *outputs):
        number = numbers[id(entry)]
        position = (
            None
            if number < 0
            else places[number]
            if entry.direction == "output"
            else _input_position(layer, number)
        )
        bound[entry.direction].append(_binding(body, entry, position))
    edges = []
    for edge in body.back_edges:
        for end, kind in ((edge.from_layer, "result"), (edge.to_layer, "parameter")):
            target = body.by_id.get(end)
            if target is None or target.type.lower() != kind:
                found = f"layer {end} is {target.type}" if target else f"there is no layer {end}"
                raise Violation(
                    f"a back edge of `{tag}` names {end} as its {kind}, but {found} there",
                    expected=f"the id of a {kind} layer",
                    actual=end,
                    rule=PORT_MAP,
                )
        edges.append((edge.from_layer, edge.to_layer))
    return BodyView(tag, body, bound["input"], bound["output"], edges, run)


def _external(entry: PortMap) -> int:
    text = entry.attributes.get("external_port_id")
    try:
        return int(text or "")
    except ValueError:
        seen = (
            "a line of the port map has no external_port_id"
            if text is None
            else f"the port map has external_port_id {text!r}"
        )
        raise Violation(
            f"{seen}; expected the id of an {entry.direction} port, or -1",
            expected="a whole number",
            actual=text,
            rule=PORT_MAP,
        ) from None


def _input_position(layer: Layer, number: int) -> int:
    """By the id of the port, or, where no port has it, by the position, which is how OpenVINO reads it."""
    ids = [port.id for port in layer.inputs]
    if number < len(ids):
        return ids.index(str(number)) if str(number) in ids else number
    raise Violation(
        f"the port map names external_port_id {number}, but "
        + (
            f"OpenVINO counts the {len(ids)} inputs from 0 here, whatever their ids"
            if str(number) in ids
            else "the layer has no input port of that id"
        ),
        expected=", ".join(ids) or "none",
        actual=number,
        rule=PORT_MAP,
    )


def _binding(body: Body, entry: PortMap, position: int | None) -> PortBinding:
    kind = "parameter" if entry.direction == "input" else "result"
    internal = entry.attributes.get("internal_layer_id", "")
    target = body.by_id.get(internal)
    if target is None or target.type.lower() != kind:
        found = (
            f"layer {internal} is {target.type}" if target else f"the body has no layer {internal}"
        )
        raise Violation(
            f"the port map names internal_layer_id {internal or '(none)'} as a {kind}, but {found}",
            expected=f"the id of a {kind} layer of the body",
            actual=internal,
            rule=PORT_MAP,
        )
    axis = entry.number("axis", 0) if "axis" in entry.attributes else None
    if kind == "parameter" and axis is not None and axis < 0:
        raise Violation(
            f'the port map slices Parameter {internal} along axis="{axis}"; OpenVINO reads no negative axis here',
            expected=">= 0",
            actual=axis,
            rule=PORT_MAP,
        )
    return PortBinding(
        position,
        internal,
        axis,
        entry.number("start", 0),
        entry.number("end", -1),
        entry.number("stride", 1),
        entry.number("part_size", 1),
        entry.attributes.get("purpose", ""),
    )


AbstractBody = BodyView
