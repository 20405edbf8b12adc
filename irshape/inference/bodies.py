"""Infers If, Loop and TensorIterator: connects their bodies to the ports of the layer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from ..faults import Violation
from ..model.graph import PORT_MAPS, PURPOSES, Body, Layer, PortMap
from ..model.wiring import wire
from ..ops.bodies import BodyView, PortBinding, T
from ..ops.declaration import Operation, check_inputs
from ..ops.tensors import Tensor
from ..rule_ids import PORT_MAP
from ..spelling import counted
from .layer import infer_operation
from .ports import declared_outputs
from .result import BodyResult, LayerResult

InferBody = Callable[[Body, dict[str, Tensor], bool], BodyResult]
"""A function that infers a body. Its arguments are the body, the tensors of its Parameters by layer
id, and whether to compare the ports. Raises `Violation` if the inference takes too many steps."""


def infer_with_bodies(
    layer: Layer,
    operation: Operation,
    inputs: tuple[Tensor, ...],
    infer_body: InferBody,
    *,
    compare: bool,
) -> LayerResult:
    """Infers a layer with bodies. Its operation may infer each body several times.

    compare: record the ports in the bodies whose declarations differ from the last inference.
    """
    inner: dict[str, BodyResult] = {}
    fed: dict[str, dict[str, Tensor]] = {}

    def runner(tag: str, body: Body) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
        def run(parameters: dict[str, Tensor]) -> dict[str, Tensor]:
            result = infer_body(body, dict(parameters), False)
            if tag not in inner or not inner[tag].refusing():
                # what refuses the shapes of one iteration may take the wider ones of all
                fed[tag], inner[tag] = dict(parameters), result
            return {
                layer.id: tensors[0]
                for layer, tensors in zip(body.layers, result.outputs, strict=True)
                if layer.is_result and tensors
            }

        return run

    bodies = layer.bodies or {}
    try:
        views = {tag: bind(layer, tag, runner(tag, body)) for tag, body in bodies.items()}
    except Violation as violation:
        result = LayerResult(violation.fault)
    else:
        result = infer_operation(operation, inputs, bodies=views, outputs=len(layer.outputs))
    for tag, body in bodies.items():
        if compare or tag not in inner:
            try:
                inner[tag] = infer_body(body, fed.get(tag, {}), compare)
            except Violation as violation:
                result = LayerResult(violation.fault)
                inner[tag] = as_declared(body)
    unsure = result.unsure or any(map(_unsure, inner.values()))
    return result._replace(inner=inner, unsure=unsure)


def runs_surely(layer: Layer, operation: Operation, inputs: tuple[Tensor, ...], tag: str) -> bool:
    """Whether a body of a layer runs for all values of the inputs."""
    try:
        check_inputs(operation, inputs)
        return operation.runs_surely(bind(layer, tag), inputs)
    except Violation:
        return False  # nothing computes such a layer


def _unsure(result: BodyResult) -> bool:
    """Whether a Result of a body is among the unsure layers (see `BodyResult.unsure`)."""
    return any(result.body.layers[position].is_result for position in result.unsure)


def as_declared(body: Body) -> BodyResult:
    """Returns a result for a body that cannot be inferred: the tensors that its ports declare."""
    result = BodyResult(body, wire(body))
    result.outputs = [declared_outputs(layer) for layer in body.layers]
    result.believed = set(range(len(body.layers)))
    return result


def _never(parameters: dict[str, Any]) -> dict[str, Any]:
    raise AssertionError


def bind(
    layer: Layer, tag: str, run: Callable[[dict[str, T]], dict[str, T]] = _never
) -> BodyView[T]:
    """Resolves a port map: pairs a body's Parameters and Results with positions in the outer layer.

    run: a function that infers the body; not needed if the caller only reads the port map. Raises
    `Violation` if the port map names a port or a layer that does not exist.
    """
    assert layer.bodies is not None
    body = layer.bodies[tag]
    entries = (layer.port_maps or {}).get(PORT_MAPS[tag], [])
    numbered = [(_number(entry, "external_port_id"), entry) for entry in entries]
    inputs = [pair for pair in numbered if pair[1].direction == "input"]
    outputs = [pair for pair in numbered if pair[1].direction == "output"]
    outputs.sort(key=lambda pair: pair[0])
    if tag != "body":  # where two inputs of an If come to be one, OpenVINO writes an entry twice
        inputs = list(
            {tuple(entry.attributes.items()): (at, entry) for at, entry in inputs}.values()
        )
    _refuse_repeated(inputs, "internal_layer_id", "Parameter")
    _refuse_repeated(outputs, "external_port_id", "output port")
    # whatever their ids, OpenVINO counts the connected outputs in the order of these
    connected = sorted({number for number, _ in outputs if number >= 0})
    positions: dict[int, int | None] = {n: position for position, n in enumerate(connected)}
    return BodyView(
        tag,
        body,
        [_binding(body, entry, _input_position(layer, number)) for number, entry in inputs],
        [_binding(body, entry, positions.get(number)) for number, entry in outputs],
        _back_edges(tag, body),
        run,
    )


def _refuse_repeated(entries: list[tuple[int, PortMap]], name: str, what: str) -> None:
    """Raises `Violation` if two entries of a port map feed one Parameter or set one output port."""
    named = [entry.attributes.get(name) for _, entry in entries]
    if len(set(named)) == len(named):
        return
    twice = next(text for position, text in enumerate(named) if text in named[:position])
    many = f"{named.count(twice)} entries"
    raise _faulty(f"the port map has {many} for {what} {twice}", "one entry", many)


def _faulty(says: str, expected: str, actual: object) -> Violation:
    """Returns the error for a fault in a port map or a back edge."""
    return Violation(says, expected=expected, actual=actual, rule=PORT_MAP)


def _check_end(body: Body, id: str, kind: str, says: str) -> None:
    """Raises `Violation` unless the body has a layer with this id and of this kind.

    kind: `parameter` or `result`. says: how the message begins: `the port map refers to …`.
    """
    target = body.by_id.get(id)
    if target is None or target.folded_type != kind:
        seen = f"layer {id} is {target.type}" if target else f"the body has no layer {id}"
        expected = f"the id of a {kind} layer of the body"
        raise _faulty(f"{says} as a {kind}, but {seen}", expected, id)


def _back_edges(tag: str, body: Body) -> list[tuple[str, str]]:
    for edge in body.back_edges:
        for end, kind in ((edge.from_layer, "result"), (edge.to_layer, "parameter")):
            _check_end(body, end, kind, f"a back edge of `{tag}` refers to {end}")
    return [(edge.from_layer, edge.to_layer) for edge in body.back_edges]


def _input_position(layer: Layer, number: int) -> int | None:
    """Returns the position of the input that an `external_port_id` refers to; None if `number` < 0.

    `number` is the id of a port or, if no port has this id, a position: OpenVINO accepts both.
    """
    if number < 0:
        return None
    ids = [port.id for port in layer.inputs]
    if number < len(ids):
        return ids.index(str(number)) if str(number) in ids else number
    if str(number) in ids:
        reason = f"OpenVINO reads it as a position, and the layer has {counted(len(ids), 'input')}"
    else:
        reason = "the layer has no input port with that id"
    says = f"the port map refers to external_port_id {number}, but {reason}"
    raise _faulty(says, ", ".join(ids) or "none", number)


def _binding(body: Body, entry: PortMap, position: int | None) -> PortBinding:
    kind: Literal["parameter", "result"] = "parameter" if entry.direction == "input" else "result"
    internal = entry.attributes.get("internal_layer_id", "")
    says = f"the port map refers to internal_layer_id {internal or '(none)'}"
    _check_end(body, internal, kind, says)
    purpose = entry.attributes.get("purpose", "")
    if purpose not in ("", PURPOSES[entry.direction]):
        raise _faulty(
            f'the port map has purpose="{purpose[:40]}"; an <{entry.direction}> accepts only '
            f'"{PURPOSES[entry.direction]}"',
            PURPOSES[entry.direction],
            purpose[:40],
        )
    if "axis" not in entry.attributes:  # then OpenVINO reads no number of a slice
        return PortBinding(position, internal, None, 0, -1, 1, 1, purpose)
    axis = _number(entry, "axis", 0)
    if kind == "parameter" and axis < 0:
        raise _faulty(
            f'the port map slices Parameter {internal} along axis="{axis}"; '
            "OpenVINO accepts no negative axis here",
            ">= 0",
            axis,
        )
    start, end = _number(entry, "start", 0), _number(entry, "end", -1)
    stride, size = _number(entry, "stride", 1), _number(entry, "part_size", 1)
    return PortBinding(position, internal, axis, start, end, stride, size, purpose)


_WHOLE = re.compile(r"[ \t\r\n]*[+-]?[0-9]{1,40}")


def _number(entry: PortMap, name: str, default: int | None = None) -> int:
    """Returns an attribute of a port map entry as a number. Raises `Violation` for other text."""
    text = entry.attributes.get(name)
    if text is None and default is not None:
        return default
    number = int(text) if text and _WHOLE.fullmatch(text) else None
    if number is None or not -(2**63) <= number < 2**63:
        raise _faulty(
            f"an <{entry.direction}> of the port map has no {name}"
            if text is None
            else f'the port map has {name}="{text[:40]}"; OpenVINO reads a whole number of 64 bits',
            "a whole number",
            text and text[:40],
        )
    return number
