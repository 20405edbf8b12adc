"""Infers bodies: their layers in topological order, each from the outputs of those before it.

A layer that cannot be inferred is recorded once; its consumers go on from the ports that it
declares. Values are worked out only where some operation needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from ..demands import WIDER, Demand
from ..element_types import DYNAMIC_TYPE
from ..faults import Fault, Violation
from ..model.graph import Body, Layer, dims_of, heads_of
from ..model.ports import PortDims, PortHeads
from ..model.wiring import OutputRef, Wiring
from ..ops.declaration import Operation
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..rule_ids import UNKNOWN_ATTRIBUTE
from ..shapes import PartialShape
from .bodies import as_declared
from .declarations import Declaration, Declarations
from .layer import ALIKE, Alike, Kind, LayerEngine, More, is_place, kept_once
from .mismatches import Contradictions, mismatches, repeated, says_less
from .needed_values import needed_values
from .ports import declared, declared_outputs
from .remembered_bodies import Known
from .result import NO_DEMANDS, BodyResult, LayerResult, Mismatch, Observation, OutputCount

_MANY_KINDS = 4096
"""Of so many kinds of layers, where most have come only once, remembering takes longer than
inferring."""

_MANY_LAYERS = 1 << 14
"""Of so many layers, a quarter of these kinds tells it."""

_MANY_CONSTANTS = 512
"""Of so many kinds of constants, hardly any is one of another model."""

_WITHOUT_OUTPUTS = ("result", "assign")


class Engine(Protocol):
    """What a walk asks of the engine that infers the model: what it knows of layers, and bodies."""

    declarations: Declarations
    layers: LayerEngine

    def infer_around(
        self, layer: Layer, operation: Operation, inputs: tuple[Tensor, ...], *, compare: bool
    ) -> LayerResult: ...

    def infer_inner(
        self, body: Body, parameters: Mapping[str, Tensor], compare: bool
    ) -> BodyResult: ...


class Walk:
    """A pass over the layers of one body; `result` fills as it goes."""

    def __init__(
        self,
        engine: Engine,
        body: Body,
        wiring: Wiring,
        *,
        compare: bool,
        ports: tuple[list[PortHeads], list[PortDims]] | None = None,
        known: Known | None = None,
    ) -> None:
        """ports: those of all layers, where they have just been looked at. known: what is known of
        the body."""
        self.engine = engine
        self.result = BodyResult(body, wiring)
        self._known = known
        if known is None:
            self._declared = engine.declarations.of_all(body.layers)
        else:
            self._declared = known.declared
            ports = known.content.heads, known.content.dims
        self.declarations = self._declared.each
        if self._declared.all_constants:
            self.result.constants = self._declared.constants
        self.result.kinds = self._declared.kinds
        self.compare = compare
        self._ports = ports
        self.contradicted: Contradictions = {}
        """Those whose consumers may get something other than was inferred."""
        self.looser: set[OutputRef] = set()
        """The output ports that declare less than was inferred, and nothing else."""
        memory = engine.layers
        self.remembers = memory.lasting and memory.remembers
        """Whether layers of one declaration with the same inputs are inferred once."""
        self.passes = True
        """Whether layers may be passed without a call of `infer`."""
        self.order = wiring.order
        """The layers that are inferred, producers first."""
        self.needed: set[int] = set()
        """The layers whose values are needed."""
        self._remembered = 0
        self._many_kinds = _MANY_KINDS if len(body.layers) < _MANY_LAYERS else _MANY_KINDS // 4

    def run(self, parameters: Mapping[str, PartialShape | Tensor], result_values: bool) -> None:
        """Infers all layers, producers first."""
        result = self.result
        wiring, outputs = result.wiring, result.outputs
        self.needed = (
            self._known.content.needed
            if self._known is not None
            else needed_values(result.body, wiring, self._declared, result_values)
        )
        self._take_constants()
        order = iter([position for position in self.order if not outputs[position]])
        if self.remembers:
            self._run_remembering(order, parameters)
        if self.passes and not parameters and not wiring.cyclic:
            self._run_plainly(order)
        for position in order:
            outputs[position] = self._infer_at(position, None, parameters)
        result.doubtful = self.looser.union(self.contradicted)

    def _take_constants(self) -> None:
        """Infers constants that differ in nothing but where their bytes lie, all at once.

        Those are left to `infer` of which anything is to be reported.
        """
        memory, needed, outputs = self.engine.layers, self.needed, self.result.outputs
        if not self._declared.constants:
            return
        layers = self.result.body.layers
        heads, dims = self._ports or (heads_of(layers), dims_of(layers))
        lasting = len(self._declared.constants) < _MANY_CONSTANTS
        for declaration, items, offsets, positions in self._declared.constants:
            if lasting and len(positions) == 1 and positions[0] not in needed:
                continue  # remembered as any other layer is
            alike = memory.alike_constants(declaration, lasting=lasting)
            if alike is None:
                continue
            declared, precisions = alike.declared, alike.precisions
            places: list[int] = []
            valued: list[int] = []
            for position, offset in zip(positions, offsets, strict=True):
                if (
                    dims[position] != declared
                    or heads[position].output_precisions != precisions
                    or outputs[position]
                ):
                    continue
                if position in needed:
                    if is_place(offset):
                        valued.append(position)
                        places.append(int(offset))
                else:
                    outputs[position] = alike.without_value
            if valued:
                known = memory.valued(alike, items, places)
                for position, tensors in zip(valued, known, strict=True):
                    outputs[position] = tensors

    def _run_remembering(
        self, order: Iterator[int], parameters: Mapping[str, PartialShape | Tensor]
    ) -> None:
        """Infers layers alike once, until hardly any layer turns out to be like another.

        They are known by the `id` of their declaration (negative where their values are needed) and
        by those of their inputs; what is remembered holds all of these objects.
        """
        result, contradicted = self.result, self.contradicted
        outputs, given, sources = result.outputs, result.inputs, result.wiring.sources
        layers, kinds = result.body.layers, self._kinds(parameters)
        heads, dims = self._ports or (heads_of(layers), dims_of(layers))
        result.heads = heads
        alike = ALIKE.entries
        for position in order:
            row, kind = sources[position], kinds[position]
            known: Alike | None = None
            key: Kind | None = None
            try:
                if not row:
                    known = alike.get(key := (kind,))
                elif len(row) == 2:
                    (first, port), (second, its_port) = row  # type: ignore[misc]
                    key = kind, id(outputs[first][port]), id(outputs[second][its_port])
                    known = alike.get(key)
                elif len(row) == 1:
                    ((first, port),) = row  # type: ignore[misc]
                    known = alike.get(key := (kind, id(outputs[first][port])))
                elif len(row) == 3:
                    (first, port), (second, its_port), (third, third_port) = row  # type: ignore[misc]
                    key = (
                        kind,
                        id(outputs[first][port]),
                        id(outputs[second][its_port]),
                        id(outputs[third][third_port]),
                    )
                    known = alike.get(key)
                else:
                    key = kind, *[id(outputs[at][port]) for at, port in row]  # type: ignore[misc]
                    known = alike.get(key)
            except (TypeError, IndexError):  # nothing feeds an input, or no such output does
                key = None
            if contradicted and not {*row}.isdisjoint(contradicted):
                known = key = None
            if known is not None:
                _, given[position], outputs[position], its_heads, its_dims, more = known
                if heads[position] is its_heads and dims[position] is its_dims:
                    if more is not None:
                        self._take(position, more)
                    continue
                if self._take_like(position, key, known, (heads[position], dims[position])):
                    continue
            outputs[position] = self._infer_at(position, key, parameters)
            if not self.remembers:
                return

    def _take(self, position: int, more: More) -> None:
        """Notes of a layer what was noted of one like it that has the same ports."""
        tensors = self.result.outputs[position]
        if more.demands:
            self._demand(position, tensors, more.demands)
        if self.compare:
            self._note(position, more.mismatches)

    def _demand(
        self, position: int, tensors: tuple[Tensor, ...], demands: frozenset[Demand]
    ) -> None:
        """Notes what a layer demands of dynamic dimensions."""
        self.result.demands[id(tensors)] = demands
        self.result.demanding.append(position)

    def _take_like(
        self, position: int, key: Kind | None, known: Alike, ports: tuple[PortHeads, PortDims]
    ) -> bool:
        """The same of a layer whose ports may declare something else; False if it has more or
        fewer outputs."""
        declaration, inputs, tensors, its_heads, its_dims, more = known
        heads, dims = ports
        if len(heads.output_ids) != len(its_heads.output_ids):
            return False
        if (
            dims[heads.inputs :] == its_dims[its_heads.inputs :]
            and heads.output_precisions == its_heads.output_precisions
        ):
            if key in ALIKE.entries:  # those that come now will come again
                ALIKE.entries[key] = declaration, inputs, tensors, *ports, more
            if more is not None:
                self._take(position, more)
            return True
        if more is not None and more.demands:
            self._demand(position, tensors, more.demands)
        if self.compare and heads.output_ids:
            self.compare_ports(position, tensors)
        return True

    def _run_plainly(self, order: Iterator[int]) -> None:
        """Infers layers that are fed by layers before them.

        Most have nothing to report, and one output that they declare exactly: those are passed in
        few steps.
        """
        result, infer, needed = self.result, self.engine.layers.infer, self.needed
        outputs, given, sources = result.outputs, result.inputs, result.wiring.sources
        layers, declarations, contradicted = (
            result.body.layers,
            self.declarations,
            self.contradicted,
        )
        heads, dims = self._ports or (heads_of(layers), dims_of(layers))
        inputs: tuple[Tensor, ...]
        for position in order:
            row = sources[position]
            try:
                if not row:
                    inputs = ()
                elif len(row) == 2:
                    (first, port), (second, its_port) = row  # type: ignore[misc]
                    inputs = outputs[first][port], outputs[second][its_port]
                else:
                    inputs = tuple([outputs[producer][port] for producer, port in row])  # type: ignore[misc]
                operation, attribute_faults = declarations[position]  # type: ignore[misc]
            except (TypeError, IndexError):
                outputs[position] = self._infer_at(position, None, {})
                continue
            if (
                attribute_faults
                or operation.has_bodies
                or (contradicted and not {*row}.isdisjoint(contradicted))
            ):
                outputs[position] = self._infer_at(position, None, {})
                continue
            given[position] = inputs
            inferred = infer(layers[position], operation, inputs, position in needed)
            tensors, faults, _, unsure, demands = inferred
            if not (faults or unsure or demands) and tensors.__class__ is tuple:
                precisions = heads[position].output_precisions
                if len(precisions) == 1 == len(tensors):
                    (tensor,) = tensors
                    if (
                        dims[position][-1] == tensor.shape.declared
                        and precisions[0] == tensor.element_type.precision
                    ):
                        outputs[position] = tensors
                        continue
            outputs[position] = tensors = self._noted(position, inferred)
            if self.compare:
                self.compare_ports(position, tensors)

    def _kinds(self, parameters: Mapping[str, PartialShape | Tensor]) -> list[int]:
        """What tells the layers apart but for their inputs; 0 for one unlike all others."""
        kinds = list(map(id, self.declarations))
        for position in self.needed:
            kinds[position] = -kinds[position]
        for position in self.result.wiring.cyclic:
            kinds[position] = 0
        if parameters:
            for position, layer in enumerate(self.result.body.layers):
                if layer.id in parameters:
                    kinds[position] = 0
        return kinds

    def _infer_at(
        self,
        position: int,
        kind: Kind | None,
        parameters: Mapping[str, PartialShape | Tensor],
    ) -> tuple[Tensor, ...]:
        """The outputs of a layer whose inputs have been inferred.

        kind: what layers alike are known by; None for one that nothing is remembered of.
        """
        result, outputs = self.result, self.result.outputs
        row, layer = result.wiring.sources[position], result.body.layers[position]
        try:
            inputs = tuple([outputs[producer][port] for producer, port in row])  # type: ignore[misc]
        except (TypeError, IndexError):
            inputs = self._inputs(position, row)
            if None in row and not self._optional(position, row):
                return self._pass_over(position)  # a rule reports it
        else:
            if self.contradicted and not {*row}.isdisjoint(self.contradicted):
                inputs = self._inputs(position, row)
        if position in result.wiring.cyclic:
            return self._pass_over(position)  # a rule reports the cycle
        if parameters and layer.id in parameters and layer.is_parameter:
            return self._feed(position, inputs, parameters[layer.id])
        with_values = position in self.needed
        if kind is None or not kind[0] or not self.remembers:
            tensors = self.infer(position, inputs, with_values)
        else:
            tensors = self._first(kind, position, inputs, with_values)
        if self.compare:
            self.compare_ports(position, tensors)
        return tensors

    def _first(
        self, kind: Kind, position: int, inputs: tuple[Tensor, ...], with_values: bool
    ) -> tuple[Tensor, ...]:
        """The outputs of a layer; those of others like it are the same if nothing is reported."""
        declaration, result = self.declarations[position], self.result
        before = len(result.observations)
        tensors = self.infer(position, inputs, with_values)
        if len(result.observations) > before:
            return tensors
        assert not isinstance(declaration, UnknownOperation)
        operation = declaration[0]
        if operation.has_bodies or (with_values and operation.reads_weights):
            return tensors
        layer = result.body.layers[position]
        demands, differing = result.demands.get(id(tensors), NO_DEMANDS), mismatches(layer, tensors)
        more = More(demands, tuple(differing)) if demands or differing else None
        ports = layer.port_heads, layer.port_dims
        ALIKE.keep(kind, (declaration, inputs, tensors, *ports, more), inputs)
        self._remembered += 1
        if self._remembered == self._many_kinds > len(result.inputs) // 2:
            self.remembers = self.engine.layers.remembers = False
        return tensors

    def _feed(
        self, position: int, inputs: tuple[Tensor, ...], fed: PartialShape | Tensor
    ) -> tuple[Tensor, ...]:
        """The output of a Parameter that has something instead of what it declares."""
        tensors = self.infer(position, inputs, False, fed)
        if self.remembers:
            tensors = tuple(map(kept_once, tensors))
        if self.compare and self.result.body.layers[position].port_heads.output_ids:
            self._compare_parameter(position, tensors[0])
        return tensors

    def _inputs(self, position: int, row: list[OutputRef | None]) -> tuple[Tensor, ...]:
        """The inputs of a layer, where some may be in doubt or missing."""
        result, contradicted = self.result, self.contradicted
        layers = result.body.layers
        inputs: list[Tensor] = []
        for index, source in enumerate(row):
            if source is None:
                continue
            producer, port = source
            inferred = result.outputs[producer]
            if port < len(inferred):
                tensor = inferred[port]
            else:  # the layer declares more outputs than it has, which a rule reports
                tensor = declared(layers[producer].outputs[port])
            if contradicted and source in contradicted:
                tensor = repeated(layers[position].inputs[index], tensor, *contradicted[source])
            inputs.append(tensor)
        return tuple(inputs)

    def infer(
        self,
        position: int,
        inputs: tuple[Tensor, ...],
        with_values: bool,
        fed: PartialShape | Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """The outputs of one layer. `fed`: what a Parameter has instead of what it declares."""
        declaration, result = self.declarations[position], self.result
        if isinstance(declaration, UnknownOperation):
            return self._pass_over(position)
        operation, attribute_faults = declaration
        result.inputs[position] = inputs
        layer = result.body.layers[position]
        if attribute_faults:
            if not all(faulty.silent for faulty in attribute_faults):
                return self._pass_over(position)
            result.observations += [Observation(layer, faulty) for faulty in attribute_faults]
            if any(faulty.fault.rule != UNKNOWN_ATTRIBUTE for faulty in attribute_faults):
                result.faulty.add(position)
                result.believed.add(position)
        if fed is not None:
            return (fed if isinstance(fed, Tensor) else _of_shape(operation, fed),)
        if operation.has_bodies:
            inferred = self.engine.infer_around(layer, operation, inputs, compare=self.compare)
            result.inner[position] = dict(inferred.inner)
        else:
            inferred = self.engine.layers.infer(layer, operation, inputs, with_values)
        return self._noted(position, inferred)

    def _noted(self, position: int, inferred: LayerResult) -> tuple[Tensor, ...]:
        """The outputs of a layer, of which everything else that was inferred is noted."""
        result, tensors = self.result, inferred.outputs
        layer = result.body.layers[position]
        if inferred.faults:
            result.observations += [Observation(layer, fault) for fault in inferred.faults]
        if inferred.unsure or WIDER in inferred.demands:
            result.believed.add(position)
        if isinstance(tensors, Fault):
            result.observations.append(Observation(layer, tensors))
            result.faulty.add(position)
            result.believed.add(position)
            return declared_outputs(layer)
        if inferred.demands and tensors:
            self._demand(position, tensors, inferred.demands)
        ports = len(layer.port_heads.output_ids)
        if ports > len(tensors) or (
            tensors and not ports and layer.folded_type not in _WITHOUT_OUTPUTS
        ):
            count = OutputCount(ports, len(tensors))
            result.observations.append(Observation(layer, count))
        return tensors

    def compare_ports(
        self,
        position: int,
        tensors: tuple[Tensor, ...],
        passed_on: tuple[Tensor, ...] | None = None,
    ) -> None:
        """Notes the output ports of a layer that declare something other than these tensors.

        passed_on: what consumers get, where that is something else.
        """
        differing = mismatches(self.result.body.layers[position], tensors)
        self._note(position, differing, passed_on)

    def _note(
        self,
        position: int,
        differing: Sequence[Mismatch],
        passed_on: tuple[Tensor, ...] | None = None,
    ) -> None:
        """Notes the output ports of a layer that declare something else; see `compare_ports`."""
        layer = self.result.body.layers[position]
        for mismatch in differing:
            self.result.observations.append(Observation(layer, mismatch))
            index = mismatch.position
            if (
                mismatch.says_less
                if passed_on is None
                else says_less(mismatch.declared, passed_on[index])
            ):
                self.looser.add((position, index))
            else:
                dims = layer.port_dims[layer.port_heads.inputs + index]
                self.contradicted[position, index] = dims, mismatch.declared

    def _compare_parameter(self, position: int, fed: Tensor) -> None:
        """Compares the port of a Parameter that is fed something other than it declares.

        What it is fed may be narrower or wider: OpenVINO overwrites the declaration in silence.
        """
        own = own_tensor(self.declarations[position])
        if own is None:
            return
        if compatible(own, fed):
            self.compare_ports(position, (own,), (fed,))
        else:
            layer = self.result.body.layers[position]
            self.result.observations.append(Observation(layer, Mismatch(0, own, fed)))

    def _pass_over(self, position: int) -> tuple[Tensor, ...]:
        """The outputs of a layer that cannot be inferred, as declared; reports its attributes."""
        result = self.result
        layer = result.body.layers[position]
        result.believed.add(position)
        declaration = self.declarations[position]
        if isinstance(declaration, UnknownOperation):
            result.observations.append(Observation(layer, declaration))
        else:
            result.observations += [Observation(layer, faulty) for faulty in declaration[1]]
        inner = result.inner.setdefault(position, {})
        for tag, body in (layer.bodies or {}).items():
            try:
                inner[tag] = self.engine.infer_inner(body, {}, self.compare)
            except Violation as violation:
                result.observations.append(Observation(layer, violation.fault))
                inner[tag] = as_declared(body)
        return declared_outputs(layer)

    def _optional(self, position: int, row: list[OutputRef | None]) -> bool:
        """Whether the inputs that nothing feeds are optional ones at the end."""
        declaration = self.declarations[position]
        connected = sum(source is not None for source in row)
        if isinstance(declaration, UnknownOperation) or None in row[:connected]:
            return False
        operation = declaration[0]
        # a port map counts on every input
        return not operation.has_bodies and all(
            operand.optional for operand in operation.operands[connected:]
        )


def own_tensor(parameter: Declaration) -> Tensor | None:
    """What a Parameter declares; None for one that cannot be read."""
    if isinstance(parameter, UnknownOperation):
        return None
    own = parameter[0].infer()
    assert isinstance(own, Tensor)
    return own


def compatible(own: Tensor, fed: Tensor) -> bool:
    """Whether what a Parameter declares and what it is fed can be one tensor."""
    types = own.element_type, fed.element_type
    return (types[0] is types[1] or DYNAMIC_TYPE in types) and own.shape.compatible(fed.shape)


def _of_shape(operation: Operation, shape: PartialShape) -> Tensor:
    """A Parameter's output with another shape."""
    return Tensor(getattr(operation, "element_type", DYNAMIC_TYPE), shape)
