"""Infers again the types and shapes of only those layers that a change affects.

Raises a `GraphError` if an operation refuses its inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from heapq import heappop, heappush

from ..faults import Fault, Violation
from ..inference.declarations import read_once
from ..inference.result import BodyResult
from ..model.graph import Body, Edge, Layer
from ..ops import registry
from ..ops.declaration import AttributeFault, Operation
from ..ops.infrastructure import check_assigned
from ..ops.tensors import Tensor
from .errors import GraphError
from .nodes import GraphLayer
from .structure import Structure


class Inferring(Structure):
    """The methods of `Graph` that keep its element types and shapes up to date."""

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Collects the changes in a `with` block, checks them together at its end, and applies all
        or none. Inside the block, the graph still has the shapes from before the first change."""
        changes = self.changes
        with changes:
            if changes.deferred is not None:
                yield
                return
            changes.deferred = {}
            try:
                yield
                deferred = changes.deferred
            finally:
                changes.deferred = None
            self._settle_all(deferred)

    def _settle(self, dirty: Iterable[GraphLayer]) -> None:
        """Infers layers again, then the consumers of outputs that changed. During a `batch`,
        postpones this inference to the end of the batch. Raises `GraphError`.
        """
        deferred = self.changes.deferred
        layers = dict.fromkeys(dirty)
        if deferred is not None:
            deferred.setdefault(self, {}).update(layers)
            self._stale()
        else:
            self._settle_all({self: layers})

    def _settle_all(self, dirty: dict[Structure, dict[GraphLayer, None]]) -> None:
        """Infers layers of several graphs again, beginning with the innermost bodies."""
        fresh = False
        while dirty:
            graph = max(dirty, key=lambda graph: graph.depth)
            layers = dirty.pop(graph)
            assert isinstance(graph, Inferring)
            if graph.owner is not None:
                # its Parameters depend on the layer around it, so that layer infers all of it
                graph._stale()
                dirty.setdefault(graph.owner.graph, {})[graph.owner] = None
                continue
            if not fresh:
                graph.engine.forget_bodies()
                fresh = True
            graph._infer_from(layers)

    def _infer_from(self, dirty: Iterable[GraphLayer]) -> None:
        waiting: list[tuple[int, GraphLayer]] = []
        queued: set[GraphLayer] = set()

        def push(layer: GraphLayer) -> None:
            if layer not in queued and layer in self.content.layers:
                queued.add(layer)
                heappush(waiting, (layer.rank, layer))

        for layer in dirty:
            push(layer)
        while waiting:
            layer = heappop(waiting)[1]
            queued.discard(layer)
            tensors = self._inferred(layer)
            if len(tensors) < len(layer._outputs):
                raise GraphError(
                    f"{self.where(layer)}: the change would give the layer {len(tensors)} "
                    f"outputs, but it has {len(layer._outputs)}"
                )
            for output, tensor in zip(layer._outputs, tensors, strict=False):
                if tensor != output.tensor:
                    if layer.operation.keeps_state:
                        self.changes.at_end = self._check_variables
                    self.changes.set(output, "tensor", tensor)
                    for user in output._users:
                        push(user.layer)

    def _inferred(self, layer: GraphLayer) -> tuple[Tensor, ...]:
        """Returns the output tensors of a layer, inferred from its inputs."""
        operation = layer.operation
        every = layer.valued and not operation.value_of_shape
        if every or operation.signature.valued:
            for end in layer._inputs:
                operand = operation.operand_at(end.index)
                if every or (operand is not None and operand.value):
                    self._know_value(end._source.layer)
        return self._infer(layer)

    def _check_variables(self) -> None:
        """Raises `GraphError` for an Assign whose variable is not read, or is read by a ReadValue
        of another element type or shape."""
        held = by_variable(self.states, "readvalue")
        for assign in self._unread():
            known = ", ".join(f"'{name}'" for name in held) or "none"
            raise GraphError(
                f"{assign.graph.where(assign)}: nothing reads the variable '{variable_of(assign)}'"
                ": no Result or Assign of the same body depends on its ReadValue",
                help="connect a ReadValue of the variable, or remove the Assign first "
                f"(variables that are read: {known})",
            )
        for variable, assigns in by_variable(self.states, "assign").items():
            for assign in assigns:
                faults = []
                for read in held.get(variable, ()):
                    try:
                        given = assign._inputs[0]._source.tensor
                        check_assigned(variable, read._outputs[0].tensor, given)
                    except Violation as violation:
                        faults.append(violation.fault)
                if faults and len(faults) == len(held[variable]):
                    where = assign.graph.where(assign)
                    raise GraphError.of(faults[0], assign.type, where, assign.place)

    def _unread(self) -> list[GraphLayer]:
        """Returns the Assigns, in the net and its bodies, whose variable OpenVINO does not read.

        OpenVINO finds a ReadValue only in the body of the Assign, and only if a Result or an Assign
        depends on the ReadValue. OpenVINO ignores a body if nothing depends on the layer that
        contains the body.
        """
        read = {
            (layer.graph, variable)
            for variable, layers in by_variable(self.states, "readvalue").items()
            for layer in layers
            if layer.is_used
        }
        return [
            layer
            for variable, layers in by_variable(self.states, "assign").items()
            for layer in layers
            if (layer.graph, variable) not in read and layer.is_used
        ]

    def _know_value(self, layer: GraphLayer) -> None:
        """Computes the values of a layer's outputs, as far as shape inference can. First computes
        the outputs of other layers on which these values depend."""
        waiting = [layer]
        while waiting:
            at = waiting[-1]
            if at.valued:
                waiting.pop()
                continue
            behind = (
                []
                if at.operation.value_of_shape
                else [each for each in at.producers if not each.valued]
            )
            if behind:
                waiting += behind
                continue
            waiting.pop()
            self.changes.set(at, "valued", True)
            if at.raw.is_parameter or at.bodies:
                continue
            for output, tensor in zip(at._outputs, self._infer(at), strict=False):
                self.changes.set(output, "tensor", tensor)

    def _infer(self, layer: GraphLayer) -> tuple[Tensor, ...]:
        """Infers one layer. Returns its output tensors, and stores the types and shapes in its
        bodies. Raises `GraphError` if the operation refuses the inputs or attributes."""
        raw, operation = layer.raw, layer.operation
        inputs = tuple([end._source.tensor for end in layer._inputs])
        if layer.bodies:
            self._write_bodies(layer)
        result = self.engine.infer(raw, operation, inputs, with_values=layer.valued)
        for tag, inner in result.inner.items():
            layer.bodies[tag]._take(inner)
        if result.faults or isinstance(result.outputs, Fault):
            fault = result.outputs if isinstance(result.outputs, Fault) else result.faults[0]
            added = layer.place if layer in self.content.layers else None
            raise GraphError.of(fault, layer.type, self.where(layer), added)
        return result.outputs

    # declarations

    def _declaration(self, raw: Layer, where: str) -> Operation:
        """Returns the operation of a layer. Raises `GraphError` for faulty attributes."""
        try:
            return operation_of(registry.find(raw.type, raw.version), raw.items, where)
        except registry.UnknownOperation as unknown:
            raise GraphError(str(unknown)) from None

    # bodies

    def _write_bodies(self, layer: GraphLayer) -> None:
        if layer.raw.bodies is None:
            layer.raw.bodies = {tag: body.as_body() for tag, body in layer.bodies.items()}

    def as_body(self) -> Body:
        """Returns the layers and edges as a `Body` of a model. Its ports declare no types or
        shapes."""
        body = Body(self._path)
        for layer in self.content.layers:
            if layer.bodies:
                self._write_bodies(layer)
            body.layers.append(layer.raw)
            body.edges += edges_into(layer)
        body.back_edges = list(self.back_edges)
        return body

    def _take(self, result: BodyResult) -> None:
        """Stores the types and shapes that inference of the layer around this body has found.

        Raises `GraphError` if a layer of the body refuses its inputs or attributes.
        """
        layers = {layer.raw: layer for layer in self.content.layers}
        fed: list[GraphLayer] = []
        for raw, subject in result.observations:
            fault = subject.fault if isinstance(subject, AttributeFault) else subject
            if isinstance(fault, Fault) and raw in layers:
                layer = layers[raw]
                raise GraphError.of(fault, raw.type, self.where(layer), layer.place)
        for position, raw in enumerate(result.body.layers):
            layer = layers[raw]
            for output, tensor in zip(layer._outputs, result.outputs[position], strict=False):
                if tensor == output.tensor:
                    continue
                if raw.is_constant and tensor.value is None:
                    continue  # inference did not need the value
                self.changes.set(output, "tensor", tensor)
                if layer.valued and tensor.value is None:
                    self.changes.set(layer, "valued", False)
                if raw.is_parameter:
                    fed.append(layer)
            for tag, inner in result.inner.get(position, {}).items():
                layer.bodies[tag]._take(inner)
        for layer in fed:
            raw = copy(layer.raw)
            declare(raw, layer._outputs[0].tensor)
            self._redeclare(layer, raw, self._declaration(raw, self.where(layer)))
        if fed:
            self._stale()


def operation_of(declared: type[Operation], items: tuple[str, ...], where: str) -> Operation:
    """Returns an operation with its attributes. Raises `GraphError` for faulty attributes."""
    operation, faults = read_once(declared, items)
    if faults:
        raise GraphError.of(faults[0].fault, declared.type_name(), where)
    return operation


def declare(parameter: Layer, tensor: Tensor) -> None:
    """Sets the element type and shape of a Parameter."""
    wanted = {"shape": tensor.shape.text, "element_type": str(tensor.element_type)}
    parameter.attributes = {**parameter.attributes, **wanted}


def edges_into(layer: GraphLayer) -> list[Edge]:
    """Returns the edges that end at an input of a layer."""
    return [
        Edge(
            end.source.layer.id,
            end.source.layer.raw.outputs[end.source.index].id,
            layer.id,
            layer.raw.inputs[end.index].id,
            -1,
        )
        for end in layer._inputs
    ]


def by_variable(layers: Iterable[GraphLayer], kind: str) -> dict[str, list[GraphLayer]]:
    """Returns the layers of a kind, `readvalue` or `assign`, by the name of their variable."""
    groups: dict[str, list[GraphLayer]] = {}
    for layer in layers:
        if layer.operation.keeps_state and layer.raw.folded_type == kind:
            groups.setdefault(variable_of(layer), []).append(layer)
    return groups


def variable_of(layer: GraphLayer) -> str:
    """Returns the name of the variable of a ReadValue or Assign."""
    return str(getattr(layer.operation, "variable_id", ""))
