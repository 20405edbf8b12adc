"""Infers the layers of a body in topological order, each from the outputs of its producers.

A layer that cannot be inferred is recorded once; its consumers use the output ports that it
declares. Values are computed only where an operation needs them. The results of inner bodies are
cached.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..element_types import DYNAMIC_TYPE
from ..faults import Fault, Violation
from ..model.graph import Body, Layer, Model
from ..model.wiring import OutputRef, Wiring, wire
from ..ops.declaration import Operation
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..rule_ids import PORT_MAP, UNKNOWN_ATTRIBUTE
from ..shapes import PartialShape
from .bodies import as_declared, infer_with_bodies
from .declarations import Declaration, Declarations
from .layer import LayerEngine
from .mismatches import Contradictions, compatible, mismatches, repeated, says_less
from .ports import declared, declared_outputs
from .result import BodyResult, Inference, LayerResult, Mismatch, Observation, OutputCount, Reusable

MAX_WORK = 1_000_000
"""The maximum number of layers to infer in inner bodies, repeated runs included. If a model needs
more, the layer with the bodies is refused."""


class BodyEngine(LayerEngine):
    """Infers the bodies of one model, each inner body once for each set of inputs.

    known: an engine for the same model, whose declarations, connections and constants are reused.
    """

    def __init__(self, model: Model, known: Reusable | None = None) -> None:
        super().__init__(model)
        self.declarations = Declarations(model)
        self.wirings: dict[Body, Wiring] = {}
        """The resolved edges of each body that was inferred."""
        if known is not None:
            self.declarations, self.wirings = known.declarations, known.wirings
            self.constants = known.constants
        self._results: dict[tuple[Body, bool, frozenset[tuple[str, Tensor]]], BodyResult] = {}
        self._work = 0

    def infer_layer(self, layer: Layer, inputs: tuple[Tensor, ...]) -> LayerResult:
        """Infers one layer from its inputs, with the values of its outputs if they are known.

        If OpenVINO refuses an attribute, the result is the fault of the attribute. Attribute faults
        that OpenVINO accepts are ignored. Raises `UnknownOperation`.
        """
        declaration = self.declarations.of(layer)
        if isinstance(declaration, UnknownOperation):
            raise declaration
        operation, faulty = declaration
        refused = next((each.fault for each in faulty if not each.silent), None)
        if refused is not None:
            return LayerResult(refused)
        return self.infer(layer, operation, inputs, with_values=True)

    def infer(
        self,
        layer: Layer,
        operation: Operation,
        inputs: tuple[Tensor, ...],
        *,
        with_values: bool,
        compare: bool = False,
    ) -> LayerResult:
        """Infers a layer, which may have bodies.

        compare: compare the ports inside the bodies; see `infer_with_bodies`.
        """
        if operation.bodies:
            return infer_with_bodies(layer, operation, inputs, self.infer_inner, compare=compare)
        return super().infer(layer, operation, inputs, with_values=with_values)

    def forget_bodies(self) -> None:
        """Clears the cached results of bodies, and resets the count of inferred layers."""
        self.wirings.clear()
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
        """Infers each layer of a body once.

        parameters: shapes or tensors that replace the declared ones of Parameters, by layer id.
        compare: record each output port whose declaration differs from the inferred tensor. A
        consumer whose input port repeats this declaration is inferred from the declared tensor.
        result_values: also compute the values of the Results.
        """
        wiring = self.wirings.get(body)
        if wiring is None:
            wiring = self.wirings[body] = wire(body)
        walk = Walk(self, body, wiring, compare=compare)
        walk.run(parameters, result_values)
        return walk.result

    def infer_inner(
        self, body: Body, parameters: Mapping[str, Tensor], compare: bool
    ) -> BodyResult:
        """Infers the body of a layer. Caches the result by body and parameters.

        Raises `Violation` after more than `MAX_WORK` layers in nested bodies.
        """
        key = (body, compare, frozenset(parameters.items()))
        result = self._results.get(key)
        if result is None:
            self._work += len(body.layers)
            if self._work > MAX_WORK:
                raise Violation(
                    f"the inference of nested bodies takes more than {MAX_WORK:,} steps",
                    expected="bodies whose shapes no longer change after some iterations",
                    rule=PORT_MAP,
                )
            result = self._results[key] = self.infer_body(
                body, parameters, compare=compare, result_values=True
            )
        return result


class Walk:
    """Infers each layer of a body once, and stores the outputs and the faults in `result`."""

    def __init__(
        self,
        engine: BodyEngine,
        body: Body,
        wiring: Wiring,
        *,
        compare: bool,
    ) -> None:
        self.engine = engine
        self.result = BodyResult(body, wiring)
        self.declarations = engine.declarations.of_all(body.layers)
        self.compare = compare
        self.contradicted: Contradictions = {}
        """The output ports that contradict the inferred tensor, or are more specific."""
        self.looser: set[OutputRef] = set()
        """The output ports whose declaration is less specific than the inferred tensor."""
        self.needed: set[int] = set()
        """The positions of the layers whose output values are needed."""

    def run(self, parameters: Mapping[str, PartialShape | Tensor], result_values: bool) -> None:
        """Infers all layers of the body, producers first."""
        result = self.result
        wiring, outputs = result.wiring, result.outputs
        self.needed = needed_values(result.body, wiring, self.declarations, result_values)
        fed = {
            position: parameters[layer.id]
            for position, layer in enumerate(result.body.layers if parameters else ())
            if layer.id in parameters and layer.is_parameter
        }
        for position in wiring.order:
            outputs[position] = self._infer_at(position, fed)
        result.doubtful = self.looser.union(self.contradicted)

    def _infer_at(
        self, position: int, fed: Mapping[int, PartialShape | Tensor]
    ) -> tuple[Tensor, ...]:
        """Infers the layer at a position, after its producers."""
        outputs, wiring = self.result.outputs, self.result.wiring
        row = wiring.sources[position]
        try:
            inputs = tuple([outputs[producer][port] for producer, port in row])  # type: ignore[misc]
        except (TypeError, IndexError):  # nothing feeds an input, or no such output does
            inputs = self._inputs(position, row)
            if None in row and not self._optional(position, row):
                return self._pass_over(position)  # a rule reports it
        else:
            if self.contradicted and not self.contradicted.keys().isdisjoint(row):
                inputs = self._inputs(position, row)
        if position in wiring.cyclic:
            return self._pass_over(position)  # a rule reports the cycle
        if position in fed:
            tensors = self.infer(position, inputs, False, fed[position])
            if self.compare and self.result.body.layers[position].outputs:
                self._compare_parameter(position, tensors[0])
            return tensors
        tensors = self.infer(position, inputs, position in self.needed)
        if self.compare:
            self.compare_ports(position, tensors)
        return tensors

    def _inputs(self, position: int, row: list[OutputRef | None]) -> tuple[Tensor, ...]:
        """Returns the tensor of each connected input of a layer. For an output port that
        contradicts inference, `repeated` chooses the declared or the inferred tensor."""
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
        """Infers one layer. `fed`: the shape or tensor that replaces a Parameter's declared one."""
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
        inferred = self.engine.infer(
            layer, operation, inputs, with_values=with_values, compare=self.compare
        )
        if operation.bodies:
            result.inner[position] = dict(inferred.inner)
        return self._noted(position, inferred)

    def _noted(self, position: int, inferred: LayerResult) -> tuple[Tensor, ...]:
        """Records a layer's faults and conditions on dimensions. Returns the layer's outputs."""
        result, tensors = self.result, inferred.outputs
        layer = result.body.layers[position]
        if inferred.faults:
            result.observations += [Observation(layer, fault) for fault in inferred.faults]
        if inferred.unsure:
            result.believed.add(position)
        if isinstance(tensors, Fault):
            result.believed.add(position)
            if not (self._lacks_constants() and _may_fit(tensors)):
                result.observations.append(Observation(layer, tensors))
                result.faulty.add(position)
            return declared_outputs(layer)
        if inferred.demands and tensors:
            result.demands[position] = inferred.demands
        ports = len(layer.outputs)
        if ports > len(tensors) or (tensors and not ports and not layer.is_sink):
            count = OutputCount(ports, len(tensors))
            result.observations.append(Observation(layer, count))
        return tensors

    def _lacks_constants(self) -> bool:
        """Whether the body has Const layers, and the model has no bytes for them."""
        weights = self.engine.model.weights
        lacks = weights is None or weights.data is None
        return lacks and any(layer.is_constant for layer in self.result.body.layers)

    def compare_ports(
        self,
        position: int,
        tensors: tuple[Tensor, ...],
        passed_on: tuple[Tensor, ...] | None = None,
    ) -> None:
        """Records each output port of a layer whose declaration differs from the inferred tensor.

        tensors: the inferred tensors. passed_on: the tensors that consumers get, if different.
        """
        layer = self.result.body.layers[position]
        for mismatch in mismatches(layer, tensors):
            self.result.observations.append(Observation(layer, mismatch))
            index = mismatch.position
            if (
                mismatch.says_less
                if passed_on is None
                else says_less(mismatch.declared, passed_on[index])
            ):
                self.looser.add((position, index))
            else:
                dims = layer.outputs[index].dims
                self.contradicted[position, index] = dims, mismatch.declared

    def _compare_parameter(self, position: int, fed: Tensor) -> None:
        """Compares the type and shape in a Parameter's attributes with its port and with `fed`.

        fed: the tensor that OpenVINO silently uses instead of the attributes.
        """
        declaration = self.declarations[position]
        if isinstance(declaration, UnknownOperation):
            return
        own = declaration[0].infer()
        assert isinstance(own, Tensor)
        if compatible(own, fed):
            self.compare_ports(position, (own,), (fed,))
        else:
            layer = self.result.body.layers[position]
            self.result.observations.append(Observation(layer, Mismatch(0, own, fed)))

    def _pass_over(self, position: int) -> tuple[Tensor, ...]:
        """Returns the declared outputs of a layer that cannot be inferred, and records the faults
        of its attributes."""
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
        """Whether the operation allows each unconnected input of the layer to be left out."""
        declaration = self.declarations[position]
        connected = sum(source is not None for source in row)
        if isinstance(declaration, UnknownOperation) or None in row[:connected]:
            return False
        operation = declaration[0]
        # a port map counts on every input
        return not operation.bodies and all(
            operand.optional for operand in operation.operands[connected:]
        )


def needed_values(
    body: Body, wiring: Wiring, declarations: list[Declaration], result_values: bool
) -> set[int]:
    """Returns the layers whose output values may decide a shape.

    The search runs backwards from the inputs whose values inference needs.
    """
    sources, needed = wiring.sources, set[int]()
    for row, declaration in zip(sources, declarations, strict=True):
        if isinstance(declaration, UnknownOperation):
            continue
        for index, operand in declaration[0].signature.valued:
            if operand.variadic:
                needed.update([source[0] for source in row[index:] if source is not None])
            elif index < len(row):
                source = row[index]
                if source is not None:
                    needed.add(source[0])
    if result_values:
        results = [at for at, layer in enumerate(body.layers) if layer.is_result]
        needed.update(source[0] for at in results for source in sources[at] if source is not None)
    waiting = [position for position in needed if sources[position]]
    while waiting:
        position = waiting.pop()
        declaration = declarations[position]
        if isinstance(declaration, UnknownOperation) or declaration[0].value_of_shape:
            continue
        for source in sources[position]:
            if source is not None and source[0] not in needed:
                needed.add(source[0])
                if sources[source[0]]:
                    waiting.append(source[0])
    return needed


def declarations_of(inference: Inference) -> Declarations:
    """Returns the operations that an inference kept, otherwise an empty `Declarations`."""
    known = inference.engine
    return Declarations(inference.model) if known is None else known.declarations


def _of_shape(operation: Operation, shape: PartialShape) -> Tensor:
    """Returns the output tensor of a Parameter that gets `shape` in place of its declared shape."""
    return Tensor(getattr(operation, "element_type", DYNAMIC_TYPE), shape)


def _may_fit(fault: Fault) -> bool:
    """Whether a fault is about a shape that is compatible with the expected shape."""
    expected, actual = fault.expected, fault.actual
    shapes = isinstance(expected, PartialShape) and isinstance(actual, PartialShape)
    return shapes and bool(expected.compatible(actual))
