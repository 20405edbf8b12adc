"""Builds If, Loop and TensorIterator from Python functions: each function builds one body."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..model.graph import BackEdge, Layer
from ..ops.declaration import Operation
from ..shapes import PartialShape
from .errors import GraphError
from .nodes import GraphLayer, Input, Marker, Output
from .port_maps import FIXED_INPUTS, Line, line_of, lines_of, mapped


@dataclass(frozen=True, eq=False)
class _InParts:
    value: Any
    axis: int = 0
    _: KW_ONLY
    start: int = 0
    end: int = -1
    stride: int = 1
    part_size: int = 1

    @property
    def part(self) -> Mapping[str, int]:
        """The attributes of the port map entry for this input or output, such as `axis`."""
        names = ("axis", "start", "end", "stride", "part_size")
        return {name: getattr(self, name) for name in names}


class Sliced(_InParts, Marker):
    """Marks an input of a Loop or TensorIterator: each iteration gets one slice along an axis."""


class Stacked(_InParts):
    """Marks a value that a body returns: the layer concatenates the values of all iterations along
    an axis."""


@dataclass(frozen=True, eq=False)
class Carried(Marker):
    """Marks an input of a Loop or TensorIterator as the initial value of a state. The function of
    the body returns first the new value of each state, then its other values."""

    value: Any


class Iteration:
    """Stands for the number of the iteration, an i64 scalar from 0, among the inputs of a Loop."""


@dataclass(frozen=True, eq=False)
class RepeatWhile:
    """Marks a value that the body of a Loop returns: the condition for another iteration."""

    condition: Any


Given = tuple[Any, ...]
"""The inputs given to a layer with bodies: outputs, values, or markers such as `Sliced`."""


def built(
    graph: Any,
    operation: type[Operation],
    inputs: Given,
    name: str | None,
    given: Mapping[str, Any],
) -> GraphLayer:
    """Adds a layer with bodies, and returns it. Raises `GraphError`.
    given: the function that builds each body, by the tag of the body, such as `then_body`.
    """
    kind = operation.type_name()
    missing = [tag for tag in operation.bodies if not callable(given.get(tag))]
    if missing:
        raise GraphError(
            f"{kind}: `{missing[0]}` is missing",
            help=f"give {missing[0]}=…, a function of the inputs that returns the outputs",
        )
    with graph.changes:
        raw = Layer(graph._new_id(), "", kind, operation.version_name(), -1, graph._path)
        raw.name = graph._new_name(f"{kind}_{raw.id}") if name is None else graph._free(name)
        layer = GraphLayer(graph, raw, graph._declaration(raw, kind))
        layer.bodies = {tag: type(graph)(owner=layer, tag=tag) for tag in operation.bodies}
        fixed = FIXED_INPUTS[raw.folded_type]
        if len(inputs) < fixed:
            names = [operand.name for operand in operation.operands[:fixed]]
            raise GraphError(f"{kind} takes {' and '.join(names)} as its first inputs")
        own = inputs[:fixed]
        if kind == "Loop":  # without a limit of iterations, and with a condition that is true
            own = tuple(
                new if old is None else old for old, new in zip(own, (-1, True), strict=True)
            )
        sources = graph._sources(operation, own)
        layer._inputs = tuple(Input(layer, at, source) for at, source in enumerate(sources))
        markers = inputs[fixed:]
        _refuse_unfit(kind, markers)
        ends: list[Input | None] = []
        for marker in markers:
            if isinstance(marker, Iteration):
                ends.append(None)
                continue
            source = graph.as_output(marker.value if isinstance(marker, Marker) else marker)
            layer._inputs += (Input(layer, len(layer._inputs), source),)
            ends.append(layer._inputs[-1])
        counts = {
            tag: _Body(layer, tag, markers, ends).build(given[tag]) for tag in operation.bodies
        }
        if len(set(counts.values())) > 1:
            told = ", ".join(f"`{tag}` {number}" for tag, number in counts.items())
            raise GraphError(f"{kind}: the bodies return different numbers of values: {told}")
        count = next(iter(counts.values()))
        layer.raw = mapped(layer.raw, len(layer._inputs), count, lines_of(layer.raw))
        layer.raw.bodies = None
        tensors = graph._inferred(layer)[:count]
        layer._outputs = tuple(Output(layer, at, tensor) for at, tensor in enumerate(tensors))
        graph._attach(layer)
        return layer


def _refuse_unfit(kind: str, given: Sequence[Any]) -> None:
    """Raises `GraphError` for a marker that the layer does not allow, such as `Sliced` for an
    If."""
    for marker in given:
        if isinstance(marker, _UNFIT.get(kind, ())):
            raise GraphError(f"{kind} takes no op.{type(marker).__name__.lower()}")


_UNFIT: Mapping[str, tuple[type, ...]] = {
    "If": (Sliced, Carried, Iteration, Stacked),
    "TensorIterator": (Iteration,),
}


class _Body:
    """A body that a Python function is building."""

    def __init__(
        self, layer: GraphLayer, tag: str, markers: Given, ends: Sequence[Input | None]
    ) -> None:
        self.layer = layer
        self.tag = tag
        self.graph: Any = layer.bodies[tag]
        self.markers = markers
        self.ends = ends

    def build(self, function: Callable[..., Any]) -> int:
        """Calls the Python function. Returns how many of its values become outputs of the layer."""
        names = _argument_names(function)
        arguments = [
            self._parameter(marker, end, names[at] if at < len(names) else None)
            for at, (marker, end) in enumerate(zip(self.markers, self.ends, strict=True))
        ]
        # the body must not confuse a state with a tensor from outside, even with its initial value
        states = [
            argument.layer
            for argument, marker in zip(arguments, self.markers, strict=True)
            if isinstance(marker, Carried)
        ]
        self.graph.back_edges = tuple(BackEdge("", state.id, -1) for state in states)
        returned = function(*arguments)
        values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        values = [value for value in values if value is not None]
        conditions = [value for value in values if isinstance(value, RepeatWhile)]
        values = [value for value in values if not isinstance(value, RepeatWhile)]
        _refuse_unfit(self.layer.type, values)
        if len(conditions) > 1:
            raise GraphError(
                f"{self.layer.type}: the body returns two conditions",
                help="combine both conditions, as in op.repeat_while(a & b)",
            )
        if self.layer.type == "Loop":
            condition = conditions[0].condition if conditions else True
            result = self.graph.result(self.graph.as_output(condition))
            self._map(line_of(None, result, purpose="execution_condition"))
        elif conditions:
            raise GraphError(f"{self.layer.type} has no condition")
        if len(values) < len(states):
            raise GraphError(
                f"{self.layer.type}: the body returns only {len(values)} values for "
                f"{len(states)} states",
                help="return first the new value of each carried input",
            )
        results = []
        for at, value in enumerate(values):
            stacked = isinstance(value, Stacked)
            if stacked and at < len(states):
                raise GraphError(
                    f"{self.layer.type}: the state '{states[at].name}' gets a stacked value",
                    help="return first the new value of each state, then the stacked values",
                )
            source = self.graph.as_output(value.value if stacked else value)
            results.append(self.graph.result(source))
            self._map(line_of(at, results[-1], **(value.part if stacked else {})))
        self.graph.back_edges = tuple(
            BackEdge(result.id, state.id, -1)
            for result, state in zip(results, states, strict=False)
        )
        return len(values)

    def _parameter(self, marker: Any, end: Input | None, name: str | None) -> Output:
        if name is not None and name in self.graph.content.by_name:
            name = None
        if end is None:
            parameter: Output = self.graph.parameter("i64", "[]", name=name)
            self._map(line_of(None, parameter.layer, purpose="current_iteration"))
            return parameter
        shape = end.source.shape
        part: Mapping[str, int] = marker.part if isinstance(marker, Sliced) else {}
        if part and shape.dims is not None:
            dims = list(shape.dims)
            axis = part["axis"]
            if not -len(dims) <= axis < len(dims):
                raise GraphError(f"{self.layer.type}: {end.source!r} has no axis {axis} to slice")
            part = {**part, "axis": axis % len(dims)}
            dims[axis] = type(dims[axis])(part["part_size"])
            shape = PartialShape(tuple(dims))
        parameter = self.graph.parameter(end.source.element_type, shape, name=name)
        self._map(line_of(end.index, parameter.layer, **part))
        return parameter

    def _map(self, line: Line) -> None:
        """Appends an entry to the port map of the layer."""
        lines = lines_of(self.layer.raw)
        lines[self.tag].append(line)
        outputs = len(self.layer.raw.outputs)
        self.layer.raw = mapped(self.layer.raw, len(self.layer._inputs), outputs, lines)


def _argument_names(function: Callable[..., Any]) -> list[str]:
    """Returns the names of a function's arguments. The Parameters of a body get these names."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        each.name
        for each in parameters
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
