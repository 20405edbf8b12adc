"""IR1xx: ids, ports, edges, cycles: whether the file describes a graph at all."""

from __future__ import annotations

from collections.abc import Iterator

from ..inference import engine
from ..model import Layer, Problem
from ..types import ElementType
from .base import Context, Rule


class DuplicateId(Rule):
    """Two layers of one body have the same id."""

    code, name, severity = "IR101", "duplicate-id", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        if context.model.kind == "layers":
            return
        for body in context.bodies:
            if len(body.by_id) == len(body.layers):
                continue
            seen: dict[str, Layer] = {}
            for layer in body.layers:
                first = seen.setdefault(layer.id, layer)
                if first is not layer and layer.id:
                    line, _ = context.model.source.place(first.offset)
                    message = f"layer id {layer.id} is taken by {first.type} '{first.name}' in line {line}; in some such files OpenVINO keeps the last layer without a word"
                    yield Problem(
                        cls.name, message, layer.offset, layer, "an id of its own", layer.id, "give the layer an id that no other has, and its edges with it"
                    )


class MissingLayerAttribute(Rule):
    """A layer lacks its id, name, type or version."""

    code, name, severity = "IR102", "missing-layer-attribute", "error"


class MalformedId(Rule):
    """The id of a layer or port is no whole number."""

    code, name, severity = "IR103", "malformed-id", "error"


class MalformedDim(Rule):
    """A dimension is no whole number from -1 up."""

    code, name, severity = "IR104", "malformed-dim", "error"


class UnknownLayerAttribute(Rule):
    """A <layer> has an attribute that means nothing there."""

    code, name, severity = "IR105", "unknown-layer-attribute", "warning"


class UnknownPortAttribute(Rule):
    """A <port> has an attribute that means nothing there."""

    code, name, severity = "IR106", "unknown-port-attribute", "warning"


class DuplicatePort(Rule):
    """Two ports of one layer have the same id."""

    code, name, severity = "IR107", "duplicate-port", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        for layer in context.model.walk():
            for direction, ports in (("input", layer.inputs), ("output", layer.outputs)):
                if len(ports) < 2:
                    continue
                seen: set[str] = set()
                for port in ports:
                    if port.id in seen and port.id:
                        yield Problem(
                            cls.name,
                            f"two {direction} ports have the id {port.id}, so an edge cannot tell them apart",
                            port.offset,
                            layer,
                            "an id of its own",
                            port.id,
                            "number the ports through, inputs first",
                            (direction, port.id),
                        )
                    seen.add(port.id)


class DanglingEdge(Rule):
    """An edge names a layer or a port that is not there."""

    code, name, severity = "IR110", "dangling-edge", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        for body in context.bodies:
            by_id = body.by_id
            for edge in body.edges:
                for layer_id, port_id, side in ((edge.from_layer, edge.from_port, "from"), (edge.to_layer, edge.to_port, "to")):
                    layer = by_id.get(layer_id)
                    if layer is None:
                        if layer_id:
                            place = context.model.source.attribute(edge.offset, f"{side}-layer")
                            yield Problem(
                                cls.name,
                                f"the edge comes {'from' if side == 'from' else 'in at'} layer {layer_id}, which does not exist",
                                place,
                                None,
                                None,
                                layer_id,
                                _IDS,
                            )
                        continue
                    ports = layer.outputs if side == "from" else layer.inputs
                    for port in ports:
                        if port.id == port_id:
                            break
                    else:
                        if port_id:
                            kind = "output" if side == "from" else "input"
                            known = ", ".join(port.id for port in ports) or "none"
                            place = context.model.source.attribute(edge.offset, f"{side}-port")
                            message = f"the edge names {kind} port {port_id} of {layer.type} '{layer.name}', which has no such port (its {kind} ports: {known})"
                            yield Problem(cls.name, message, place, layer, known, port_id, _IDS)


_IDS = "edges name layers and ports by their ids"


class MalformedEdge(Rule):
    """An edge does not say where it comes from or goes to."""

    code, name, severity = "IR111", "malformed-edge", "error"


class DuplicateEdge(Rule):
    """Two edges lead into one input port."""

    code, name, severity = "IR112", "duplicate-edge", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        for body in context.bodies:
            seen: set[tuple[str, str]] = set()
            for edge in body.edges:
                target = (edge.to_layer, edge.to_port)
                if target in seen:
                    layer = body.by_id.get(edge.to_layer)
                    message = f"another edge leads into input port {edge.to_port} of layer {edge.to_layer} already"
                    yield Problem(
                        cls.name, message, edge.offset, layer, "one edge for each input port", None, "remove one of the two edges", ("input", edge.to_port)
                    )
                seen.add(target)


class MissingEdge(Rule):
    """Nothing feeds an input port."""

    code, name, severity = "IR113", "missing-edge", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        if context.model.kind == "layers":
            return
        for body in context.bodies:
            sources = context.wiring(body).sources
            for position, row in enumerate(sources):
                if None not in row:
                    continue
                layer = body.layers[position]
                reached = {edge.to_port for edge in body.edges if edge.to_layer == layer.id}
                for port, source in zip(layer.inputs, row, strict=True):
                    if source is None and port.id not in reached:
                        hint = f'add <edge from-layer="…" from-port="…" to-layer="{layer.id}" to-port="{port.id}"/>'
                        yield Problem(cls.name, f"no edge leads into input port {port.id}", port.offset, layer, "one edge", "none", hint, ("input", port.id))


class Cycle(Rule):
    """Layers feed each other in a circle."""

    code, name, severity = "IR114", "cycle", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        for body in context.bodies:
            cyclic = context.wiring(body).cyclic
            if cyclic:
                first = min(cyclic)
                circle = _circle(first, context.wiring(body).sources, cyclic)
                shown = " → ".join(body.layers[at].id for at in circle[:12]) + (" → …" if len(circle) > 12 else "")
                layer = body.layers[first]
                yield Problem(
                    cls.name, f"the layer depends on itself: {shown}", layer.offset, layer, "no cycles", shown, "remove or redirect one of the edges on the way"
                )


def _circle(start: int, sources: list[list[tuple[int, int] | None]], cyclic: frozenset[int]) -> list[int]:
    """A way round from a layer of the cycle back to itself, in the direction of the data."""
    trail: list[int] = [start]
    seen = {start: 0}
    while True:
        before = next(source[0] for source in sources[trail[-1]] if source is not None and source[0] in cyclic)
        if before in seen:
            circle = trail[seen[before] :]
            return [before, *reversed(circle)]
        seen[before] = len(trail)
        trail.append(before)


_SINKS = ("result", "assign")


class UnreachableLayer(Rule):
    """No path leads from the layer to a Result or an Assign."""

    code, name, severity = "IR115", "unreachable-layer", "warning"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        if context.model.kind == "layers":
            return
        for body in context.bodies:
            wiring = context.wiring(body)
            used = [layer.type.lower() in _SINKS for layer in body.layers]
            if not any(used) and not any(layer.type.lower() not in ("parameter", "const", "constant") for layer in body.layers):
                continue
            for position in reversed(wiring.order):
                if used[position]:
                    for source in wiring.sources[position]:
                        if source is not None:
                            used[source[0]] = True
            if wiring.cyclic:
                continue  # the order says nothing about reachability then
            for position, layer in enumerate(body.layers):
                if not used[position]:
                    parameter = layer.type.lower() == "parameter"
                    message = (
                        "the input is not used" if parameter else "no path leads from this layer to a Result or an Assign; OpenVINO drops it without a word"
                    )
                    yield Problem(
                        cls.name, message, layer.offset, layer, help=None if parameter else "connect it, or remove it", severity="info" if parameter else None
                    )


class OutputCount(Rule):
    """A layer declares more outputs than its operation has, or none though it has some."""

    code, name, severity = "IR116", "output-count", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        alone = context.model.kind == "layers"
        for layer, found in context.met(engine.OutputCount):
            has = f"the operation has {found.inferred} output{'' if found.inferred == 1 else 's'}"
            if not found.declared:
                yield Problem(
                    cls.name,
                    f"the layer has no output port; {has}",
                    layer.offset,
                    layer,
                    str(found.inferred),
                    "0",
                    "add its <output>",
                    severity=None if alone else "warning",
                )
                continue
            port = layer.outputs[found.inferred]
            message = f"the layer has {found.declared} output ports; {has}"
            yield Problem(
                cls.name, message, port.offset, layer, str(found.inferred), str(found.declared), "remove the ports that are too many", ("output", port.id)
            )


class MissingPrecision(Rule):
    """An output port has no precision."""

    code, name, severity = "IR117", "missing-precision", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        if context.model.kind == "layers":
            return
        for layer in context.model.walk():
            for port in layer.outputs:
                if port.precision is None:
                    yield Problem(
                        cls.name,
                        f"output port {port.id} has no precision",
                        port.offset,
                        layer,
                        "precision",
                        None,
                        'add precision="…", such as FP32',
                        ("output", port.id),
                    )


class UnknownPrecision(Rule):
    """The precision of a port is the name of no element type."""

    code, name, severity = "IR118", "unknown-precision", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        for layer in context.model.walk():
            for direction, ports in (("input", layer.inputs), ("output", layer.outputs)):
                for port in ports:
                    if port.precision is not None and port.element_type is None:
                        close = _close_precision(port.precision)
                        yield Problem(
                            cls.name,
                            f"'{port.precision}' is the precision of no element type" + ("" if direction == "output" else "; OpenVINO ignores it on an input"),
                            context.model.source.attribute(port.offset, "precision"),
                            layer,
                            close or "FP32, FP16, I64, I32, U8, BOOL …",
                            port.precision,
                            f'write precision="{close}"' if close else None,
                            (direction, port.id),
                            None if direction == "output" else "warning",
                        )


def _close_precision(text: str) -> str | None:
    folded = {"float32": "FP32", "float": "FP32", "float16": "FP16", "half": "FP16", "double": "FP64", "int64": "I64", "int32": "I32", "bool": "BOOL"}
    try:
        return ElementType.of(text).precision
    except ValueError:
        pass
    upper = ElementType.of_precision(text.upper())
    return upper.precision if upper else folded.get(text.lower())


class UnknownVariable(Rule):
    """An Assign names a variable that no ReadValue reads."""

    code, name, severity = "IR120", "unknown-variable", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        if context.model.kind == "layers":
            return
        read: set[str | None] = set()
        assigns: list[Layer] = []
        for layer in context.model.walk():
            folded = layer.type.lower()
            if folded == "readvalue":
                read.add(layer.attribute("variable_id"))
            elif folded == "assign":
                assigns.append(layer)
        for layer in assigns:
            variable = layer.attribute("variable_id")
            if variable is not None and variable not in read:
                place = context.model.source.attribute(layer.data_offset, "variable_id")
                known = ", ".join(sorted(name for name in read if name)) or "none"
                yield Problem(
                    cls.name,
                    f"no ReadValue reads the variable '{variable}' (those that are read: {known})",
                    place,
                    layer,
                    known,
                    variable,
                    "give both the same variable_id",
                )


class MissingBody(Rule):
    """A control-flow layer lacks a body, or another layer has one."""

    code, name, severity = "IR119", "missing-body", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        wanted = {"loop": ("body",), "tensoriterator": ("body",), "if": ("then_body", "else_body")}
        for layer in context.model.walk():
            expected = wanted.get(layer.type.lower(), ())
            held = layer.bodies or {}
            for tag in expected:
                if tag not in held and context.model.kind != "layers":
                    yield Problem(cls.name, f"the layer has no <{tag}>", layer.offset, layer, tag, None, f"add its <{tag}>")
            for tag, body in held.items():
                if tag not in expected and expected:
                    yield Problem(cls.name, f"{layer.type} has no use for a <{tag}>", body.offset, layer, " and ".join(expected), tag, "remove it")
