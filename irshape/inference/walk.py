"""Infers bodies: their layers in topological order, each from the outputs of those before it.

A layer that cannot be inferred is recorded once; its consumers go on from the ports that it
declares. Values are worked out only where some operation needs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..faults import Fault, Violation
from ..model.graph import Body, Layer, Model
from ..model.wiring import OutputRef, Wiring, wire
from ..ops.declaration import Operation
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..rule_ids import PORT_MAP, UNKNOWN_ATTRIBUTE
from ..types import DYNAMIC_TYPE, PartialShape
from .bodies import as_declared, infer_with_bodies
from .declarations import FEW_LAYERS, Declaration, Declarations
from .layer import LayerEngine
from .mismatches import Contradictions, declares_exactly, mismatches, repeated
from .ports import declared, declared_outputs
from .result import BodyResult, LayerResult, Mismatch, Observation, OutputCount

MAX_WORK = 1_000_000
"""How many layers inside bodies are inferred, all runs of all bodies counted, before the bodies
are taken to be endless work."""

_MANY_KINDS = 4096
"""Of so many kinds of layers, where most have come only once, remembering takes longer than
inferring."""

_WITHOUT_OUTPUTS = ("result", "assign")


class BodyEngine:
    """Infers the bodies of one model, and layers added to it; remembers what may come again.

    lasting: see `LayerEngine`.
    """

    def __init__(self, model: Model, *, lasting: bool = False) -> None:
        self.model = model
        self.declarations = Declarations(model)
        self.layers = LayerEngine(model, lasting=lasting)
        self._wirings: dict[Body, Wiring] = {}
        self._results: dict[tuple[object, ...], BodyResult] = {}
        self._work = 0

    def serve(self, model: Model) -> None:
        """Goes on with another model that has the same bytes; what was worked out is kept."""
        self.model = self.layers.model = model
        self._work = 0

    def infer_layer(self, layer: Layer, inputs: tuple[Tensor, ...]) -> LayerResult:
        """One layer from its inputs, with the values of its outputs.

        Faulty attributes are not reported. Raises `UnknownOperation`.
        """
        declaration = self.declarations.of(layer)
        if isinstance(declaration, UnknownOperation):
            raise declaration
        operation, _ = declaration
        if operation.has_bodies:
            return self.infer_around(layer, operation, inputs, compare=False)
        return self.layers.infer(layer, operation, inputs, True)

    def infer_around(
        self, layer: Layer, operation: Operation, inputs: tuple[Tensor, ...], *, compare: bool
    ) -> LayerResult:
        """A layer with bodies; see `infer_with_bodies`."""
        return infer_with_bodies(layer, operation, inputs, self.infer_inner, compare=compare)

    def forget_bodies(self) -> None:
        """Forgets what was inferred of bodies, and how much work that was."""
        self._wirings.clear()
        self._results.clear()
        self._work = 0

    def infer_body(
        self,
        body: Body,
        parameters: Mapping[str, PartialShape | Tensor],
        *,
        compare: bool = False,
        result_values: bool = False,
    ) -> BodyResult:
        """One pass over a body.

        parameters: by layer id, the shape or the tensor that a Parameter has instead of the one
        it declares. compare: compare the declared ports, and go on behind a port that differs
        from what its consumer repeats. result_values: work out the values of the Results.
        """
        wiring = self._wirings.get(body)
        if wiring is None:
            wiring = self._wirings[body] = wire(body)
        walk = Walk(self, body, wiring, compare=compare)
        walk.run(parameters, result_values)
        return walk.result

    def infer_inner(
        self, body: Body, parameters: Mapping[str, Tensor], compare: bool
    ) -> BodyResult:
        """A body of a layer, once for the same parameters.

        Raises `Violation` where bodies within bodies make it endless work.
        """
        fed = frozenset(parameters.items())
        key = (body, compare, fed)
        result = self._results.get(key)
        if result is None and compare:
            plain = self._results.get((body, False, fed))
            if plain is not None and self._declares(plain, parameters):
                result = self._results[key] = plain
        if result is None:
            self._work += len(body.layers)
            if self._work > MAX_WORK:
                raise Violation(
                    f"the bodies within bodies take more than {MAX_WORK:,} steps to work out",
                    expected="bodies whose shapes settle",
                    rule=PORT_MAP,
                )
            result = self.infer_body(body, parameters, compare=compare, result_values=True)
            self._results[key] = result
        return result

    def _declares(self, result: BodyResult, parameters: Mapping[str, Tensor]) -> bool:
        """Whether all ports of a body declare what was inferred of it without a look at them.

        Then a comparison gives the same result.
        """
        if result.inner or result.unsure:
            return False
        for layer, tensors in zip(result.body.layers, result.outputs, strict=True):
            if not layer.outputs:
                continue
            fed = parameters.get(layer.id) if layer.is_parameter else None
            if fed is None:
                declared_tensors = tensors
            else:
                own = _own_tensor(self.declarations.of(layer))
                if own is None or not _compatible(own, fed):
                    return False
                declared_tensors = (own,)
            if mismatches(layer, declared_tensors):
                return False
        return True


Alike = tuple[tuple[Tensor, ...], int, tuple[int, ...] | None, str | None]
"""What layers alike have: their outputs, how many of them they declare, and the dimensions and
precision with which they declare the only one as inferred; None for several, or others."""


class Walk:
    """A pass over the layers of one body; `result` fills as it goes."""

    def __init__(self, engine: BodyEngine, body: Body, wiring: Wiring, *, compare: bool) -> None:
        self.engine = engine
        self.result = BodyResult(body, wiring)
        self.declarations = engine.declarations.of_all(body.layers)
        self.compare = compare
        self.contradicted: Contradictions = {}
        memory = engine.layers
        self.remembers = memory.lasting and memory.remembers and len(body.layers) >= FEW_LAYERS
        """Whether layers of one declaration with the same inputs are inferred once."""
        self.alike: dict[tuple[object, ...], Alike] = {}
        """Those of which nothing is reported, by what decides them: objects by id, constants whose
        values are needed by their attributes."""

    def run(self, parameters: Mapping[str, PartialShape | Tensor], result_values: bool) -> None:
        """Infers all layers, producers first."""
        result, contradicted = self.result, self.contradicted
        wiring, outputs, unsure = result.wiring, result.outputs, result.unsure
        layers, sources, declarations = result.body.layers, wiring.sources, self.declarations
        needed = needed_values(result.body, wiring, declarations, result_values)
        cyclic, compare, given, alike = wiring.cyclic, self.compare, result.inputs, self.alike
        for position in wiring.order:
            layer, row = layers[position], sources[position]
            try:
                inputs = (
                    tuple([outputs[producer][port] for producer, port in row])  # type: ignore[misc]
                    if len(row) > 1
                    else (outputs[row[0][0]][row[0][1]],)  # type: ignore[index]
                    if row
                    else ()
                )
            except (TypeError, IndexError):  # nothing feeds an input, or no such output does
                inputs = self._inputs(position, row)
                if None in row and not self._optional(position, row):
                    outputs[position] = self._pass_over(position)
                    continue  # a rule reports it
            else:
                if unsure or contradicted:
                    inputs = self._in_doubt(position, row, inputs)
            if cyclic and position in cyclic:
                outputs[position] = self._pass_over(position)
                continue  # a rule reports the cycle
            if parameters and layer.id in parameters and layer.is_parameter:
                outputs[position] = self._feed(position, inputs, parameters[layer.id])
                continue
            ports, with_values = layer.outputs, position in needed
            if not self.remembers:
                tensors = self.infer(position, inputs, with_values)
            else:
                # all of these objects stay in this result, so that no other gets the id of one
                key: tuple[object, ...] = (
                    (id(declarations[position]), with_values, *map(id, inputs))
                    if inputs or not with_values
                    else (id(declarations[position]), True, layer.items)
                )
                known = alike.get(key)
                if known is None or known[1] != len(ports):
                    tensors = self._first(key, position, inputs, with_values)
                else:
                    tensors, _, dims, precision = known
                    given[position] = inputs
                    if (
                        dims is not None
                        and ports[0].dims == dims
                        and ports[0].precision == precision
                    ):
                        outputs[position] = tensors
                        continue
            outputs[position] = tensors
            if compare and ports:
                for mismatch in mismatches(layer, tensors):
                    self._note_mismatch(position, mismatch)

    def _first(
        self, key: tuple[object, ...], position: int, inputs: tuple[Tensor, ...], with_values: bool
    ) -> tuple[Tensor, ...]:
        """The outputs of a layer; those of others like it are the same if nothing is reported."""
        declaration, before = self.declarations[position], len(self.result.observations)
        if with_values and not inputs:
            tensors = self._constant(key, position)
            if tensors is not None:
                return tensors
        tensors = self.infer(position, inputs, with_values)
        if len(self.result.observations) > before:
            return tensors
        assert not isinstance(declaration, UnknownOperation)
        operation = declaration[0]
        if with_values and operation.reads_weights and (inputs or position in self.result.unsure):
            return tensors
        if not operation.has_bodies:
            ports = self.result.body.layers[position].outputs
            alike: Alike = tensors, len(ports), None, None
            if len(ports) == 1 == len(tensors) and declares_exactly(ports[0], tensors[0]):
                alike = tensors, 1, ports[0].dims, ports[0].precision
            self.alike[key] = alike
            if len(self.alike) == _MANY_KINDS > len(self.result.inputs) // 2:
                self.remembers = self.engine.layers.remembers = False
        return tensors

    def _constant(self, key: tuple[object, ...], position: int) -> tuple[Tensor, ...] | None:
        """The output of a Const with its value, where one that differs in nothing but its value
        has been seen; else None, the next one's being seen with this one."""
        layer, declaration = self.result.body.layers[position], self.declarations[position]
        if isinstance(declaration, UnknownOperation) or not declaration[0].reads_weights:
            return None
        without_value = id(declaration), False
        known = self.alike.get(without_value)
        if known is None:
            before = len(self.result.observations)
            self._first(without_value, position, (), False)
            known = self.alike.get(without_value)
            if known is None:
                del self.result.observations[before:]
        if known is None or known[1] != len(layer.outputs):
            return None
        self.result.inputs[position] = ()
        tensor = self.engine.layers.constant(layer, known[0][0])
        if tensor.value is None:
            self.result.unsure.add(position)
        else:
            self.alike[key] = (tensor,), *known[1:]
        return (tensor,)

    def _feed(
        self, position: int, inputs: tuple[Tensor, ...], fed: PartialShape | Tensor
    ) -> tuple[Tensor, ...]:
        """The output of a Parameter that has something instead of what it declares."""
        tensors = self.infer(position, inputs, False, fed)
        if self.compare and self.result.body.layers[position].outputs:
            self._compare_parameter(position, tensors[0])
        return tensors

    def _in_doubt(
        self, position: int, row: list[OutputRef | None], inputs: tuple[Tensor, ...]
    ) -> tuple[Tensor, ...]:
        """The inputs of a layer, where those of some layer are in doubt; all are fed."""
        if not self.contradicted.keys().isdisjoint(row):
            return self._inputs(position, row)
        unsure = self.result.unsure
        for source in row:
            if source is not None and source[0] in unsure:
                unsure.add(position)
        return inputs

    def _inputs(self, position: int, row: list[OutputRef | None]) -> tuple[Tensor, ...]:
        """The inputs of a layer, where some may be in doubt or missing."""
        result, contradicted = self.result, self.contradicted
        layers, unsure = result.body.layers, result.unsure
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
                unsure.add(position)
            if producer in unsure:
                unsure.add(position)
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
                result.unsure.add(position)
        if fed is not None:
            return (fed if isinstance(fed, Tensor) else _of_shape(operation, fed),)
        if operation.has_bodies:
            inferred = self.engine.infer_around(layer, operation, inputs, compare=self.compare)
            result.inner[position] = dict(inferred.inner)
        else:
            inferred = self.engine.layers.infer(layer, operation, inputs, with_values)
        tensors = inferred.outputs
        if inferred.faults:
            result.observations += [Observation(layer, fault) for fault in inferred.faults]
        if inferred.unsure:
            result.unsure.add(position)
        if isinstance(tensors, Fault):
            result.observations.append(Observation(layer, tensors))
            result.faulty.add(position)
            result.unsure.add(position)
            return declared_outputs(layer)
        if inferred.demands and tensors:
            result.demands[id(tensors)] = inferred.demands
        if len(layer.outputs) > len(tensors) or (
            tensors and not layer.outputs and layer.folded_type not in _WITHOUT_OUTPUTS
        ):
            count = OutputCount(len(layer.outputs), len(tensors))
            result.observations.append(Observation(layer, count))
        return tensors

    def compare_ports(self, position: int, tensors: tuple[Tensor, ...]) -> None:
        """Notes the output ports of a layer that declare something other than these tensors."""
        layer = self.result.body.layers[position]
        for mismatch in mismatches(layer, tensors):
            self._note_mismatch(position, mismatch)

    def _note_mismatch(self, position: int, mismatch: Mismatch) -> None:
        layer = self.result.body.layers[position]
        self.result.observations.append(Observation(layer, mismatch))
        port = layer.outputs[mismatch.position]
        self.contradicted[position, mismatch.position] = (port.dims, mismatch.declared)

    def _compare_parameter(self, position: int, fed: Tensor) -> None:
        """Compares the port of a Parameter that is fed something other than it declares.

        What it is fed may be narrower or wider: OpenVINO overwrites the declaration in silence.
        """
        own = _own_tensor(self.declarations[position])
        if own is None:
            return
        if _compatible(own, fed):
            self.compare_ports(position, (own,))
        else:
            layer = self.result.body.layers[position]
            self.result.observations.append(Observation(layer, Mismatch(0, own, fed)))

    def _pass_over(self, position: int) -> tuple[Tensor, ...]:
        """The outputs of a layer that cannot be inferred, as declared; reports its attributes."""
        result = self.result
        layer = result.body.layers[position]
        result.unsure.add(position)
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


def _own_tensor(parameter: Declaration) -> Tensor | None:
    """What a Parameter declares; None for one that cannot be read."""
    if isinstance(parameter, UnknownOperation):
        return None
    own = parameter[0].infer()
    assert isinstance(own, Tensor)
    return own


def _compatible(own: Tensor, fed: Tensor) -> bool:
    """Whether what a Parameter declares and what it is fed can be one tensor."""
    types = own.element_type, fed.element_type
    return (types[0] is types[1] or DYNAMIC_TYPE in types) and own.shape.compatible(fed.shape)


def _of_shape(operation: Operation, shape: PartialShape) -> Tensor:
    """A Parameter's output with another shape."""
    return Tensor(getattr(operation, "element_type", DYNAMIC_TYPE), shape)


def needed_values(
    body: Body, wiring: Wiring, declarations: Sequence[Declaration], result_values: bool
) -> set[int]:
    """The layers whose output values some shape may depend on.

    Found backwards from the operands whose values inference needs.
    """
    needed: set[int] = set()
    layers, sources = body.layers, wiring.sources
    for position in reversed(wiring.order):
        row = sources[position]
        declaration = declarations[position]
        if not row or isinstance(declaration, UnknownOperation):
            continue
        operation = declaration[0]
        if position in needed:
            if not operation.value_of_shape:
                needed.update([source[0] for source in row if source is not None])
            continue
        if result_values and layers[position].is_result:
            needed.update([source[0] for source in row if source is not None])
        for index, operand in operation.valued:
            for source in row[index:] if operand.variadic else row[index : index + 1]:
                if source is not None:
                    needed.add(source[0])
    return needed
