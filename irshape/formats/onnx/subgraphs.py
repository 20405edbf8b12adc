"""Converts operators whose attributes contain graphs: If, Loop and Scan."""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap
from typing import Any, Final, Literal, NamedTuple

from ...element_types import ElementType
from ...faults import Violation
from ...model.graph import PORT_MAPS, BackEdge, Body, Layer, PortMap
from ...ops.tensors import Tensor
from ...rule_ids import INPUT_COUNT, INPUT_RANK, UNKNOWN_VERSION
from ...shapes import DYNAMIC_SHAPE, SCALAR, PartialShape
from ...spelling import counted
from ..builder import Builder, NodeOutput
from ..nodes import check_length, unknown
from .tensors import declared


class Subgraph(NamedTuple):
    """A graph that was read as a body, and the values from outside that it uses (`captured`)."""

    body: Body
    parameters: list[Layer]
    results: list[Layer]
    captured: list[tuple[NodeOutput, Layer]]


BodyReader = Callable[..., Subgraph]
"""Reads the graph in a node as a body, given the names, types and shapes of the graph's inputs.

sliced: maps the name of an input to the axis of size 1 to remove from it. stacked: maps the index
of an output to the axis of size 1 to add to it.
"""


def conditional(
    builder: Builder,
    read: BodyReader,
    inputs: list[NodeOutput | None],
    attributes: dict[str, Any],
) -> tuple[NodeOutput, ...]:
    """Converts If to two bodies. Outside values that the bodies use become inputs of the layer."""
    assert inputs[0] is not None
    fed = [inputs[0]]
    places: dict[tuple[Layer, int], int] = {}
    bodies, maps = {}, {}
    graphs = {
        tag: read(attributes[name].g, [])
        for tag, name in (("then_body", "then_branch"), ("else_body", "else_branch"))
    }
    for tag, graph in graphs.items():
        entries = []
        for value, layer in graph.captured:
            key = value.layer, value.port
            if key not in places:
                places[key] = len(fed)
                fed.append(value)
            entries.append(_port_map(builder, "input", places[key], layer))
        bodies[tag], maps[PORT_MAPS[tag]] = graph.body, entries
    for tag, graph in graphs.items():
        maps[PORT_MAPS[tag]] += [
            _port_map(builder, "output", len(fed) + index, layer)
            for index, layer in enumerate(graph.results)
        ]
    return builder.with_bodies("If", fed, bodies, maps, len(graphs["then_body"].results))


def loop(
    builder: Builder,
    read: BodyReader,
    inputs: list[NodeOutput | None],
    attributes: dict[str, Any],
) -> tuple[NodeOutput, ...]:
    """Converts a Loop.

    Back edges carry states to the next iteration. Scan outputs are joined along a new first axis.
    """
    graph = attributes["body"].g
    padded = [*inputs, *[None] * (2 - len(inputs))]
    states = [value for value in padded[2:] if value is not None]
    if (
        len(graph.input) != 2 + len(states)
        or len(graph.output) < 1 + len(states)
        or len(padded) != 2 + len(states)
    ):
        message = (
            f"the body has {counted(len(graph.input), 'input')} and "
            f"{counted(len(graph.output), 'output')}; "
            f"the Loop has {counted(len(padded) - 2, 'state')}"
        )
        raise Violation(
            message, rule=INPUT_COUNT, expected=2 + len(states), actual=len(graph.input)
        )
    trips, condition = (
        padded[0] or builder.numbers(-1),
        padded[1] or builder.numbers(True, "boolean"),
    )
    goes_on = DYNAMIC_SHAPE if condition.shape.rank else SCALAR  # [1] may be a scalar later
    given = [
        (graph.input[0].name, Tensor(ElementType.of("i64"), SCALAR)),
        (graph.input[1].name, Tensor(ElementType.of("boolean"), goes_on)),
    ]
    given += map(_state, graph.input[2:], states)
    inner = read(graph, given, stacked=dict.fromkeys(range(1 + len(states), len(graph.output)), 0))
    fed = [trips, condition, *states, *(value for value, _ in inner.captured)]
    entries = [
        _port_map(builder, "input", -1, inner.parameters[0], purpose="current_iteration"),
        _port_map(builder, "input", 1, inner.parameters[1]),
    ]
    inside = [*inner.parameters[2:], *(layer for _, layer in inner.captured)]
    entries += [_port_map(builder, "input", 2 + index, layer) for index, layer in enumerate(inside)]
    entries.append(
        _port_map(builder, "output", -1, inner.results[0], purpose="execution_condition")
    )
    for index, layer in enumerate(inner.results[1:]):
        joined = _along(0) if index >= len(states) else {}
        entries.append(_port_map(builder, "output", len(fed) + index, layer, **joined))
    ends = zip(inner.results, inner.parameters[1:], strict=False)
    inner.body.back_edges = [
        BackEdge(result.id, parameter.id, builder.offset) for result, parameter in ends
    ]
    return builder.with_bodies(
        "Loop", fed, {"body": inner.body}, {"port_map": entries}, len(inner.results) - 1
    )


def scan(
    builder: Builder,
    read: BodyReader,
    inputs: list[NodeOutput | None],
    attributes: dict[str, Any],
) -> tuple[NodeOutput, ...]:
    """Converts Scan to a TensorIterator with sliced inputs, joined outputs, and back edges."""
    graph = attributes["body"].g
    count = attributes["num_scan_inputs"].i
    values = [value for value in inputs if value is not None]
    number = len(values) - count
    outputs = len(graph.output) - number
    if "directions" in attributes or len(values) != len(inputs):
        raise Violation(
            "Scan of version 8 iterates over a batch; OpenVINO has no such operation",
            rule=UNKNOWN_VERSION,
            expected="opset 9 or later",
        )
    if count < 1 or number < 0 or len(graph.input) != len(values) or outputs < 0:
        message = (
            f"the body has {counted(len(graph.input), 'input')} and "
            f"{counted(len(graph.output), 'output')}; the Scan has {counted(number, 'state')} and "
            f"{counted(count, 'input')} to slice"
        )
        raise Violation(message, rule=INPUT_COUNT, expected=len(values), actual=len(graph.input))

    axes = _scan_axes(values[number:], _listed(attributes, "scan_input_axes", count))
    given = _scan_inputs(graph, values, axes)
    joins = _listed(attributes, "scan_output_axes", outputs)
    inner = read(
        graph,
        given,
        sliced={info.name: axis for info, axis in zip(graph.input[number:], axes, strict=True)},
        stacked={number + index: axis for index, axis in enumerate(joins)},
    )
    fed = [*values, *(value for value, _ in inner.captured)]
    slices = zip(axes, _listed(attributes, "scan_input_directions", count), strict=True)
    joined = zip(joins, _listed(attributes, "scan_output_directions", outputs), strict=True)
    whole: list[dict[str, str]] = [{}]
    captured = [layer for _, layer in inner.captured]
    cut = [*whole * number, *starmap(_along, slices), *whole * len(captured)]
    put = [*whole * number, *starmap(_along, joined)]
    entries = [
        _port_map(builder, "input", index, layer, **along)
        for index, (layer, along) in enumerate(
            zip([*inner.parameters, *captured], cut, strict=True)
        )
    ]
    entries += [
        _port_map(builder, "output", index, layer, **along)
        for index, (layer, along) in enumerate(zip(inner.results, put, strict=True), len(fed))
    ]
    ends = zip(inner.results[:number], inner.parameters[:number], strict=True)
    inner.body.back_edges = [
        BackEdge(result.id, parameter.id, builder.offset) for result, parameter in ends
    ]
    return builder.with_bodies(
        "TensorIterator", fed, {"body": inner.body}, {"port_map": entries}, len(inner.results)
    )


def _port_map(
    builder: Builder,
    direction: Literal["input", "output"],
    external: int,
    layer: Layer,
    **more: str,
) -> PortMap:
    return PortMap(
        direction,
        {"external_port_id": str(external), "internal_layer_id": layer.id, **more},
        builder.offset,
    )


def _listed(attributes: dict[str, Any], name: str, length: int) -> list[int]:
    """Returns a list in an attribute; by default zeros. Raises `Violation` for another length."""
    numbers = list(attributes[name].ints) if name in attributes else [0] * length
    check_length(name, numbers, length)
    return numbers


def _state(info: Any, value: NodeOutput) -> tuple[str, Tensor]:
    """Returns the name, type and shape of a state, as `info` declares them. If `value` has another
    type, returns its type and a dynamic shape."""
    said = declared(info.type)
    if said is None or said.element_type is not value.element_type:
        said = Tensor(value.element_type, DYNAMIC_SHAPE)
    return info.name, said


def _scan_axes(inputs: list[NodeOutput], listed: list[int]) -> list[int]:
    """Returns the axis along which each input of a Scan is sliced. Raises `Violation`."""
    axes = []
    for value, axis in zip(inputs, listed, strict=True):
        if axis < 0 and value.rank is None:
            condition = "the rank of its input is"
            raise unknown("Scan along a negative axis", condition, INPUT_RANK, "scan_input_axes")
        axes.append(axis + (value.rank or 0) if axis < 0 else axis)
    return axes


def _scan_inputs(graph: Any, values: list[NodeOutput], axes: list[int]) -> list[tuple[str, Tensor]]:
    """Returns names and tensors of the inputs of a Scan's body: first states, then slices."""
    number = len(values) - len(axes)
    given = [*map(_state, graph.input[:number], values[:number])]
    for info, value, axis in zip(graph.input[number:], values[number:], axes, strict=True):
        dims = value.shape.dims
        shape = (
            DYNAMIC_SHAPE
            if dims is None
            else PartialShape(1 if place == axis else dim for place, dim in enumerate(dims))
        )
        given.append((info.name, Tensor(value.element_type, shape)))
    return given


def _along(axis: int, backwards: int = 0) -> dict[str, str]:
    """Returns the attributes of a port map entry with one slice of `axis` for each iteration."""
    first, last, step = (-1, 0, -1) if backwards else (0, -1, 1)
    return {
        "axis": str(axis),
        "start": str(first),
        "end": str(last),
        "stride": str(step),
        "part_size": "1",
    }


HOLDING_BODIES: Final = {"If": conditional, "Loop": loop, "Scan": scan}
"""The operators whose attributes contain graphs, and the functions that convert them."""
