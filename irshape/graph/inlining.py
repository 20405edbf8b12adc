"""Replaces layers with bodies by the layers of their bodies, and moves layers into a body."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..inference.bodies import bind
from ..ops.bodies import BodyView, PortBinding
from ..ops.control_flow.if_else import If
from ..ops.control_flow.iteration import Iteration
from ..ops.control_flow.loop import Loop
from ..ops.tensors import Tensor
from .control_flow import built
from .copying import transplant
from .editing import Editing
from .errors import GraphError, checked_count
from .nodes import GraphLayer, Output, by_rank, feeding

MAX_ITERATIONS = 64
"""The largest number of iterations that `Graph.inline` unrolls by default."""


def inline(
    graph: Editing, layer: str | GraphLayer, *, max_iterations: int = MAX_ITERATIONS
) -> None:
    """Replaces an If, Loop or TensorIterator by the layers of its bodies.

    The condition of an If, and the number of iterations of a Loop or TensorIterator, must be known.
    The layers of the body are copied once for each iteration.
    max_iterations: the largest number of iterations for which a layer is replaced.
    Raises `KeyError`, `GraphError`.
    """
    if isinstance(layer, str):
        layer = graph[layer]
    graph._own(layer)
    operation = layer.operation
    with graph.changes:
        if isinstance(operation, If):
            outputs = _branch(graph, layer)
        elif isinstance(operation, Iteration):
            most = checked_count(max_iterations, "max_iterations", 0)
            outputs = _Unrolling(graph, layer, most).outputs()
        else:
            raise GraphError(f"{graph.where(layer)} has no body")
        for old, new in zip(layer.outputs, outputs, strict=True):
            graph._take_over(old, new)
        graph._detach(layer)
        if graph.owner is not None:
            graph._settle(())


def _view(layer: GraphLayer, tag: str) -> BodyView[Tensor]:
    """Returns a body with its port map, as the `Operation.infer` of an If or Loop receives it."""
    layer.graph._write_bodies(layer)
    body = layer.bodies[tag]
    for result in body.results:
        body._know_value(result.inputs[0].source.layer)
    results = {result.id: result.inputs[0].source.tensor for result in body.results}
    return bind(layer.raw, tag, lambda parameters: results)


def _branch(graph: Editing, layer: GraphLayer) -> list[Output]:
    """Returns the outputs of the branch of an If whose condition is known."""
    condition = layer.inputs[0].source
    graph._know_value(condition.layer)
    known = condition.tensor.known
    if known is None:
        raise GraphError(
            f"{graph.where(layer)}: its condition is not known",
            help="give the input that determines the condition a value with bind(), or call fold()",
        )
    tag = "then_body" if known[0] else "else_body"
    view = _view(layer, tag)
    fed = {
        binding.internal: layer.inputs[binding.external].source
        for binding in view.inputs
        if binding.external is not None
    }
    results = _copied(graph, layer, tag, fed, "")
    places = {binding.external: results[binding.internal] for binding in view.outputs}
    return [places[output.index] for output in layer.outputs]


def _copied(
    graph: Editing, layer: GraphLayer, tag: str, fed: dict[str, Output], suffix: str
) -> dict[str, Output]:
    """Copies the layers of a body into the graph around it. Returns the outputs that replace the
    Results of the body. fed: the outputs that replace its Parameters. Both are given by id."""
    body = layer.bodies[tag]
    given = {body.content.by_id[id]._outputs[0]: output for id, output in fed.items()}
    inside = [
        each for each in body.sorted() if not each.raw.is_parameter and not each.raw.is_result
    ]
    copies = transplant(inside, graph, given, named=lambda name: f"{layer.name}/{name}{suffix}")
    return {result.id: copies[result.inputs[0].source] for result in body.results}


class _Unrolling:
    """Replaces a Loop or TensorIterator by copies of its body, one for each iteration."""

    def __init__(self, graph: Editing, layer: GraphLayer, max_iterations: int) -> None:
        self.graph = graph
        self.layer = layer
        self.view = _view(layer, "body")
        operation = layer.operation
        self.counter = operation.special(self.view)[1] if isinstance(operation, Loop) else None
        self.count = self._count()
        if not 0 < self.count <= max_iterations:
            raise GraphError(
                f"{graph.where(layer)} has {self.count} iterations",
                help="give max_iterations=…",
                argument="max_iterations",
            )

    def _count(self) -> int:
        """Returns the number of iterations. Raises `GraphError` if it is not known."""
        layer = self.layer
        for end in layer.inputs:
            self.graph._know_value(end.source.layer)
        given = [end.source.tensor for end in layer.inputs]
        times = layer.operation.repetitions(given, {"body": self.view})["body"]
        if not times.is_static:
            raise GraphError(
                f"{self.graph.where(layer)}: its number of iterations is not known",
                help="reshape the inputs, or give the input that determines this number a value "
                "with bind()",
            )
        return times.low

    def outputs(self) -> list[Output]:
        fed = {
            binding.internal: self.layer.inputs[binding.external].source
            for binding in self.view.inputs
            if binding.external is not None and binding.axis is None
        }
        states = {parameter: result for result, parameter in self.view.back_edges}
        parts: dict[str, list[Output]] = {
            binding.internal: [] for binding in self.view.outputs if binding.axis is not None
        }
        results: dict[str, Output] = {}
        for number in range(self.count):
            for binding in self.view.inputs:
                if binding.external is not None and binding.axis is not None:
                    fed[binding.internal] = self._part(binding, number)
            if self.counter is not None and (not number or self.counter.internal not in states):
                body = self.layer.bodies["body"]
                parameter = body.content.by_id[self.counter.internal].output
                value = number if parameter.shape.rank == 0 else [number]
                fed[self.counter.internal] = self.graph.constant(value, parameter.element_type)
            suffix = f"/{number}" if self.count > 1 else ""
            results = _copied(self.graph, self.layer, "body", fed, suffix)
            for internal, kept in parts.items():
                kept.append(results[internal])
            carried = {parameter for parameter in states if parameter in fed}
            fed.update({parameter: results[states[parameter]] for parameter in carried})
        places = {
            binding.external: results[binding.internal]
            if binding.axis is None
            else self._joined(binding, parts[binding.internal])
            for binding in self.view.outputs
        }
        return [places[output.index] for output in self.layer.outputs]

    def _part(self, binding: PortBinding, number: int) -> Output:
        """Returns the slice of a tensor that one iteration gets."""
        assert binding.external is not None
        assert binding.axis is not None
        source = self.layer.inputs[binding.external].source
        dims = source.shape.dims
        size = dims[binding.axis] if dims is not None else None
        if size is None or not (size.is_static or binding.start >= 0):
            raise GraphError(
                f"{self.graph.where(self.layer)}: the size of {source!r} along axis "
                f"{binding.axis} is not known"
            )
        start = binding.start + size.low if binding.start < 0 else binding.start
        first = start + number * binding.stride
        if binding.stride < 0:
            first -= binding.part_size - 1
        if size.is_static and size.low == binding.part_size and not first:
            return source
        stop = first + binding.part_size
        part: Output = self.graph.add("Slice", source, [first], [stop], [1], [binding.axis])
        return part

    def _joined(self, binding: PortBinding, parts: list[Output]) -> Output:
        """Returns the concatenation of the results of all iterations."""
        if parts[0].shape.rank == 0:
            parts = [self.graph.add("Unsqueeze", part, [0]) for part in parts]
        if len(parts) == 1:
            return parts[0]
        ordered = parts[::-1] if binding.stride < 0 else parts
        return self.graph.add_layer("Concat", *ordered, axis=binding.axis).output


def outline(
    graph: Editing, layers: Iterable[str | GraphLayer], *, name: str | None = None
) -> GraphLayer:
    """Moves layers into the body of a new Loop that runs once. Returns the Loop.

    Change its `trip_count` to run the layers more often. Copies constants that feed the layers.
    Raises `KeyError`, and `GraphError` if a path leads from these layers through another layer back
    to them.
    """
    chosen = {graph[each] if isinstance(each, str) else each for each in layers}
    for layer in chosen:
        graph._own(layer)
        if layer.raw.is_parameter or layer.raw.is_result:
            raise GraphError(f"{layer.label} must stay in the graph")
    inside = sorted(chosen, key=by_rank)
    constants = [
        source
        for layer in inside
        for source in layer.producers
        if source.raw.is_constant and source not in chosen
    ]
    inside = [*dict.fromkeys(constants), *inside]
    sources = feeding(inside, set(inside))
    ends = [
        output
        for layer in inside
        if layer in chosen
        for output in layer.outputs
        if any(user.layer not in chosen for user in output.users)
    ]

    def body(*arguments: Output) -> list[Output]:
        given = dict(zip(sources, arguments, strict=True))
        home: Any = arguments[0].layer.graph
        copies = transplant(inside, home, given)
        return [copies[end] for end in ends]

    if not sources or not ends:
        raise GraphError("the given layers have no input from other layers, or feed no other layer")
    with graph.changes:
        loop = built(graph, Loop, (1, True, *sources), name, {"body": body})
        with graph.batch():
            for old, new in zip(ends, loop.outputs, strict=True):
                graph._connect([user for user in old.users if user.layer not in chosen], new)
                graph._move_names(old, new)
        graph._remove_all(chosen)
    return loop
