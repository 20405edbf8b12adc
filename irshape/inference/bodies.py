"""The body of a control-flow layer as its operation sees it: what to feed, what comes out, by position instead of id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from ..model import Body, Layer, PortMap
from ..ops.declaration import Violation

T = TypeVar("T")


class PortBinding(NamedTuple):
    """A line of a port map. `external`: position among the layer's inputs or outputs, None for none (`external_port_id="-1"`).

    Where `axis` is not None, the input is sliced along it, or the output concatenated: `part_size` a step, from `start` to `end` by `stride`.
    """

    external: int | None
    internal: str
    axis: int | None
    start: int
    end: int
    stride: int
    part_size: int
    purpose: str


class BodyView(Generic[T]):
    """A body with its port map. `run` takes a value for each Parameter by layer id and gives one for each Result by layer id."""

    def __init__(self, body: Body, inputs: list[PortBinding], outputs: list[PortBinding], back_edges: list[tuple[str, str]], run: Callable[[dict[str, T]], dict[str, T]]) -> None:
        self.body = body
        self.inputs = inputs
        self.outputs = outputs
        self.back_edges = back_edges
        """From the Result of an iteration to the Parameter of the next, by layer id."""
        self.run = run

    @property
    def parameters(self) -> list[Layer]:
        return [layer for layer in self.body.layers if layer.type.lower() == "parameter"]

    @property
    def results(self) -> list[Layer]:
        return [layer for layer in self.body.layers if layer.type.lower() == "result"]


_PORT_MAP_OF = {"body": "port_map", "then_body": "then_port_map", "else_body": "else_port_map"}


def bind(layer: Layer, tag: str, run: Callable[[dict[str, T]], dict[str, T]]) -> BodyView[T]:
    """The view of one body of a layer. Raises `Violation` where the port map names a port or a layer that is not there."""
    assert layer.bodies is not None
    body = layer.bodies[tag]
    inputs: list[PortBinding] = []
    outputs: list[PortBinding] = []
    for entry in (layer.port_maps or {}).get(_PORT_MAP_OF[tag], []):
        (inputs if entry.direction == "input" else outputs).append(_binding(layer, body, entry))
    edges = []
    for edge in body.back_edges:
        for end, kind in ((edge.from_layer, "result"), (edge.to_layer, "parameter")):
            target = body.by_id.get(end)
            if target is None or target.type.lower() != kind:
                found = f"layer {end} is {target.type}" if target else f"there is no layer {end}"
                raise Violation(f"a back edge of `{tag}` names {end} as its {kind}, but {found} there", expected=f"the id of a {kind} layer", seen=end, rule="port-map")
        edges.append((edge.from_layer, edge.to_layer))
    return BodyView(body, inputs, outputs, edges, run)


def _binding(layer: Layer, body: Body, entry: PortMap) -> PortBinding:
    kind = "parameter" if entry.direction == "input" else "result"
    internal = entry.attributes.get("internal_layer_id", "")
    target = body.by_id.get(internal)
    if target is None or target.type.lower() != kind:
        found = f"layer {internal} is {target.type}" if target else f"the body has no layer {internal}"
        raise Violation(f"the port map names internal_layer_id {internal or '(none)'} as a {kind}, but {found}", expected=f"the id of a {kind} layer of the body", seen=internal, rule="port-map")
    ports = layer.inputs if entry.direction == "input" else layer.outputs
    external = entry.attributes.get("external_port_id", "")
    position: int | None = None
    if external != "-1":
        position = next((i for i, port in enumerate(ports) if port.id == external), None)
        if position is None:
            raise Violation(
                f"the port map names external_port_id {external or '(none)'}, but the layer has no {entry.direction} port of that id",
                expected=", ".join(port.id for port in ports) or "none",
                seen=external,
                rule="port-map",
            )
    axis = entry.number("axis", 0) if "axis" in entry.attributes else None
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
