"""The engine: works through a model in topological order and gives every output port an element type, a partial shape and, where a shape depends on it, a value.

One pass. Results of identical layers are reused (same operation and attributes, same inputs). A layer that cannot be inferred is recorded once; its consumers go on from
the ports that it declares. Values are worked out only where some operation says that it looks at one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from ..faults import Fault, Violation, fault
from ..model.graph import Body, Layer, Model, Port
from ..model.weights import Constant
from ..model.wiring import OutputRef, Wiring, wire
from ..ops import registry
from ..ops.bodies import BodyView
from ..ops.declaration import AttributeFault, Operation, check_inputs, check_specified
from ..ops.tensors import MAX_VALUE_ELEMENTS, Tensor, Value
from ..rule_ids import INPUT_ELEMENT_TYPE, INTERNAL_ERROR, LEFT_OUT, PORT_MAP, UNKNOWN_ATTRIBUTE
from ..types import DYNAMIC_TYPE, PartialShape, ShapeLike
from .bodies import bind
from .declarations import Declaration, Declarations
from .folding import fold
from .ports import declared, declared_outputs, input_tensors, with_assumed_types
from .result import BodyResult, Inference, Mismatch, Observation, OutputCount

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_WORK = 1_000_000
"""How many layers inside bodies are inferred, all runs of all bodies counted, before a model is taken to be endless work."""


_WITHOUT_OUTPUTS = ("result", "assign")


def infer(
    model: Model, shapes: Mapping[str, ShapeLike] | None = None, *, compare: bool = False
) -> Inference:
    """Infers a model. `shapes` replaces the shapes of inputs, by tensor name, layer name or id.

    compare: record declared ports that differ from what is inferred, and, behind such a port, go on from what the consumer itself repeats.
    Raises `ValueError` for a name in `shapes` that no input has.
    """
    engine = Engine(model, compare=compare)
    if model.kind == "layers":
        return Inference(model, engine.infer_layers())
    overrides = _overrides(model, shapes or {})
    return Inference(model, engine.infer_body(model.net, overrides))


def _overrides(model: Model, shapes: Mapping[str, ShapeLike]) -> dict[str, PartialShape]:
    named: dict[str, str] = {}
    parameters = model.parameters
    for layer in parameters:
        named.setdefault(layer.id, layer.id)
    for layer in parameters:
        named[layer.name] = layer.id
    for layer in parameters:
        for port in layer.outputs:
            named.update(dict.fromkeys(port.tensor_names, layer.id))
    found = {}
    for name, shape in shapes.items():
        if name not in named:
            known = ", ".join(sorted({layer.name for layer in parameters})) or "none"
            raise ValueError(f"the model has no input '{name}' (its inputs: {known})")
        found[named[name]] = PartialShape.of(shape)
    return found


_Memo = tuple[tuple[Tensor, ...] | Fault, tuple[Fault, ...]]


class Engine:
    """Infers the bodies of one model; keeps what it worked out for layers that come again."""

    def __init__(self, model: Model, *, compare: bool = False) -> None:
        self.model = model
        self.compare = compare
        self.memo: dict[tuple[object, ...], _Memo] = {}
        self.declarations = Declarations(model)
        self.constants: dict[tuple[tuple[str, ...], Tensor], Tensor] = {}
        """Constants with their values, by what their layers say of them."""
        self.forms: dict[PartialShape, tuple[int, ...]] = {}
        self.wirings: dict[int, Wiring] = {}
        self.runs: dict[tuple[object, ...], BodyResult] = {}
        self.work = 0

    def operation(self, layer: Layer) -> Declaration:
        return self.declarations.of(layer)

    # bodies

    def infer_layers(self) -> BodyResult:
        """Layers on their own: the inputs of each are its own input ports."""
        body = self.model.net
        left_out = {
            id(finding.layer) for finding in self.model.findings if finding.rule == LEFT_OUT
        }
        result = BodyResult(
            body,
            Wiring(
                [[None] * len(layer.inputs) for layer in body.layers],
                list(range(len(body.layers))),
                frozenset(),
            ),
        )
        for position, layer in enumerate(body.layers):
            found = self.operation(layer)
            inputs = input_tensors(
                layer, () if isinstance(found, registry.UnknownOperation) else found[0].operands
            )
            before = len(result.observations)
            tensors = self.infer_layer(result, position, found, inputs, needed=False)
            subjects = [finding.subject for finding in result.observations[before:]]
            if any(
                isinstance(subject, Fault) and subject.rule == INPUT_ELEMENT_TYPE
                for subject in subjects
            ):
                assumed = with_assumed_types(
                    layer,
                    () if isinstance(found, registry.UnknownOperation) else found[0].operands,
                    inputs,
                )
                if (
                    assumed is not None
                ):  # the document does not say which type it is, and the operation wants to know
                    del result.observations[before:]
                    tensors = self.infer_layer(result, position, found, assumed, needed=False)
            result.outputs[position] = tensors
            if id(layer) in left_out:
                result.unsure.add(position)  # nothing can be said of ports that are not there
                result.observations = [
                    found
                    for found in result.observations
                    if found.layer is not layer or isinstance(found.subject, AttributeFault)
                ]
            if not isinstance(found, registry.UnknownOperation) and any(
                index < len(inputs) and inputs[index].value is None for index, _ in found[0].valued
            ):
                result.unsure.add(
                    position
                )  # a value that nobody gave leaves the result wider than it is meant
            if self.compare:
                self.hold_declared(result, position, layer, tensors, {})
        return result

    def infer_body(
        self,
        body: Body,
        parameters: Mapping[str, PartialShape | Tensor],
        *,
        value_of_results: bool = False,
    ) -> BodyResult:
        """One pass over a body. `parameters`: by layer id, the shape or the whole tensor that a Parameter has instead of what it declares."""
        wiring = self.wirings.get(id(body))
        if wiring is None:
            wiring = self.wirings[id(body)] = wire(body)
        result = BodyResult(body, wiring)
        layers, outputs = body.layers, result.outputs
        operations = [self.operation(layer) for layer in layers]
        needed = self.needed(body, wiring, operations, value_of_results)
        contradicted: dict[OutputRef, tuple[tuple[int, ...] | None, Tensor]] = {}
        for position in wiring.order:
            layer = layers[position]
            row = wiring.sources[position]
            inputs: list[Tensor] = []
            for index, source in enumerate(row):
                if source is None:
                    continue
                inferred = outputs[source[0]]
                if source[1] < len(inferred):
                    tensor = inferred[source[1]]
                else:  # the layer declares more outputs than it has, which a rule reports
                    tensor = declared(layers[source[0]].outputs[source[1]])
                if contradicted and source in contradicted:
                    tensor = believed(layer.inputs[index], tensor, *contradicted[source])
                    result.unsure.add(position)
                if source[0] in result.unsure:
                    result.unsure.add(position)
                inputs.append(tensor)
            if position in wiring.cyclic or (None in row and not self.can_do_without(layer, row)):
                outputs[position] = self.pass_over(
                    result, position
                )  # a rule reports the cycle, or the input that nothing feeds
                continue
            override = (
                parameters.get(layer.id)
                if parameters and layer.type.lower() == "parameter"
                else None
            )
            tensors = self.infer_layer(
                result,
                position,
                operations[position],
                tuple(inputs),
                needed=position in needed,
                override=override,
            )
            outputs[position] = tensors
            if override is not None:
                if self.compare:
                    self.hold_parameter(result, position, layer, tensors[0], contradicted)
            elif self.compare and layer.outputs:
                self.hold_declared(result, position, layer, tensors, contradicted)
        return result

    def needed(
        self, body: Body, wiring: Wiring, operations: Sequence[Declaration], value_of_results: bool
    ) -> set[int]:
        """The layers whose output values some shape may depend on: backwards from the operands that inference looks at."""
        needed: set[int] = set()
        layers, sources = body.layers, wiring.sources
        for position in reversed(wiring.order):
            found = operations[position]
            if isinstance(found, registry.UnknownOperation):
                continue
            operation = found[0]
            row = sources[position]
            if position in needed:
                if not operation.value_of_shape:
                    needed.update(source[0] for source in row if source is not None)
                continue
            if value_of_results and layers[position].type.lower() == "result":
                needed.update(source[0] for source in row if source is not None)
            for index, operand in operation.valued:
                for source in row[index:] if operand.variadic else row[index : index + 1]:
                    if source is not None:
                        needed.add(source[0])
        return needed

    def can_do_without(self, layer: Layer, row: list[OutputRef | None]) -> bool:
        """Whether the inputs that nothing feeds are optional ones at the end."""
        found = self.operation(layer)
        fed = sum(source is not None for source in row)
        if (
            isinstance(found, registry.UnknownOperation) or None in row[:fed] or found[0].has_bodies
        ):  # a port map counts on every input
            return False
        return all(declared.optional for declared in found[0].operands[fed:])

    # one layer

    def pass_over(self, result: BodyResult, position: int) -> tuple[Tensor, ...]:
        """A layer that cannot be inferred: what can be said of it all the same, and its outputs as declared."""
        layer = result.body.layers[position]
        result.unsure.add(position)
        found = self.operation(layer)
        if isinstance(found, registry.UnknownOperation):
            result.observations.append(Observation(layer, found))
        else:
            result.observations += [Observation(layer, problem) for problem in found[1]]
        inner = result.inner.setdefault(position, {})
        for tag, body in (layer.bodies or {}).items():
            try:
                inner[tag] = self.run_body(body, {})
            except Violation as violation:
                result.observations.append(Observation(layer, violation.fault))
                inner[tag] = self.as_declared(body)
        return declared_outputs(layer)

    def infer_layer(
        self,
        result: BodyResult,
        position: int,
        found: Declaration,
        inputs: tuple[Tensor, ...],
        *,
        needed: bool,
        override: PartialShape | Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        layer = result.body.layers[position]
        if isinstance(found, registry.UnknownOperation):
            return self.pass_over(result, position)
        operation, faults = found
        result.inputs[position] = inputs
        if faults:
            if not all(met.silent for met in faults):
                return self.pass_over(result, position)
            result.observations += [Observation(layer, met) for met in faults]
            if any(met.fault.rule != UNKNOWN_ATTRIBUTE for met in faults):
                result.unsure.add(position)
        if override is not None:
            tensor = (
                override
                if isinstance(override, Tensor)
                else Tensor(getattr(operation, "element_type", DYNAMIC_TYPE), override)
            )
            return (tensor,)
        if operation.has_bodies:
            outcome: _Memo = self.infer_with_bodies(result, position, operation, inputs, needed)
        else:
            key = (operation, needed, *inputs)
            kept = self.memo.get(key)
            if kept is None:
                kept = self.memo[key] = self.work_out(
                    operation, inputs, needed and not operation.reads_weights
                )
            outcome = kept
        tensors, checks = outcome
        if checks:
            result.observations += [Observation(layer, fault) for fault in checks]
        if isinstance(tensors, Fault):
            result.observations.append(Observation(layer, tensors))
            result.unsure.add(position)
            return declared_outputs(layer)
        if needed and operation.reads_weights:
            tensors = (self.with_constant(layer, tensors[0]),)
            if tensors[0].value is None:
                result.unsure.add(
                    position
                )  # without its value some shape is wider than it is meant
        if len(layer.outputs) > len(tensors) or (
            tensors and not layer.outputs and layer.type.lower() not in _WITHOUT_OUTPUTS
        ):
            result.observations.append(
                Observation(layer, OutputCount(len(layer.outputs), len(tensors)))
            )
        return tensors

    def work_out(self, operation: Operation, inputs: tuple[Tensor, ...], needed: bool) -> _Memo:
        """Inference of one layer, apart from where it stands."""
        try:
            ordered = check_inputs(operation, inputs)
            made = operation.infer(*ordered)
            tensors = made if isinstance(made, tuple) else (made,)
            if needed:
                tensors = self.valued(operation, ordered, tensors)
            return tensors, (*check_specified(operation, ordered), *operation.check(*ordered))
        except Violation as violation:
            return violation.fault, ()
        except Exception as error:
            return internal_error(operation, error), ()

    def valued(
        self, operation: Operation, inputs: tuple[Tensor | None, ...], outputs: tuple[Tensor, ...]
    ) -> tuple[Tensor, ...]:
        """The outputs with bounds of their values, where anything is known of them."""
        if operation.infer_value is not None:
            if any(output.shape.size.low > MAX_VALUE_ELEMENTS for output in outputs):
                return outputs
            found = operation.infer_value(*inputs, outputs=outputs)
            values: tuple[Value | None, ...] = found if isinstance(found, tuple) else (found,)
        else:
            values = fold(operation, inputs, outputs)
        made = []
        for output, value in zip(outputs, values, strict=True):
            size = output.shape.static
            fits = value is not None and size is not None and len(value) == prod(size)
            made.append(output.with_value(value) if fits else output)
        return tuple(made)

    def with_constant(self, layer: Layer, tensor: Tensor) -> Tensor:
        found = self.constants.get((layer.items, tensor))
        if found is None:
            numbers = self.small_values(layer, tensor)
            found = self.constants[layer.items, tensor] = (
                tensor if numbers is None else tensor.with_value(Value(numbers))
            )
        return found

    def small_values(self, layer: Layer, tensor: Tensor) -> tuple[int | float, ...] | None:
        """The elements of a Const; None where there are many, or none to read."""
        shape = tensor.shape.static
        if shape is None or prod(shape) > MAX_VALUE_ELEMENTS or self.model.weights is None:
            return None
        from ..model.weights import small_values

        try:
            return small_values(Constant.of(layer.items, self.model.weights))
        except ValueError:
            return None

    def infer_with_bodies(
        self,
        result: BodyResult,
        position: int,
        operation: Operation,
        inputs: tuple[Tensor, ...],
        needed: bool,
    ) -> _Memo:
        """One layer with bodies. Its operation runs them as often as it needs; only the last run is held against what the layers inside declare."""
        layer = result.body.layers[position]
        inner: dict[str, BodyResult] = {}
        given: dict[str, dict[str, Tensor]] = {}
        result.inner[position] = inner

        def runner(tag: str, body: Body) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
            def run(parameters: dict[str, Tensor]) -> dict[str, Tensor]:
                given[tag] = dict(parameters)
                compare, self.compare = self.compare, False
                try:
                    inner[tag] = self.run_body(body, given[tag])
                finally:
                    self.compare = compare
                return {
                    at.id: tensors[0]
                    for at, tensors in zip(body.layers, inner[tag].outputs, strict=True)
                    if at.type.lower() == "result" and tensors
                }

            return run

        bodies = layer.bodies or {}
        outcome: _Memo
        try:
            views: dict[str, BodyView[Tensor]] = {
                tag: bind(layer, tag, runner(tag, body)) for tag, body in bodies.items()
            }
            ordered = check_inputs(operation, inputs)
            made = operation.infer(*ordered, bodies=views, outputs=len(layer.outputs))
            outcome = (
                (made if isinstance(made, tuple) else (made,)),
                tuple(operation.check(*ordered, bodies=views)),
            )
        except Violation as violation:
            outcome = violation.fault, ()
        except Exception as error:
            outcome = internal_error(operation, error), ()
        for tag, body in bodies.items():
            if self.compare or tag not in inner:
                try:
                    inner[tag] = self.run_body(body, given.get(tag, {}))
                except Violation as violation:
                    outcome = violation.fault, ()
                    inner[tag] = self.as_declared(body)
        if any(
            at.type.lower() == "result" and index in found.unsure
            for found in inner.values()
            for index, at in enumerate(found.body.layers)
        ):
            result.unsure.add(position)
        return outcome

    def run_body(self, body: Body, parameters: dict[str, Tensor]) -> BodyResult:
        """A body of a layer, once for the same parameters. Raises `Violation` where bodies within bodies make it endless work."""
        key = (id(body), self.compare, frozenset(parameters.items()))
        found = self.runs.get(key)
        if found is None:
            self.work += len(body.layers)
            if self.work > MAX_WORK:
                raise Violation(
                    f"the bodies within bodies take more than {MAX_WORK:,} steps to work out",
                    expected="bodies whose shapes settle",
                    rule=PORT_MAP,
                )
            found = self.runs[key] = self.infer_body(body, parameters, value_of_results=True)
        return found

    # what the file declares

    def as_declared(self, body: Body) -> BodyResult:
        """A body of which nothing could be inferred."""
        result = BodyResult(body, wire(body))
        result.outputs = [declared_outputs(layer) for layer in body.layers]
        result.unsure = set(range(len(body.layers)))
        return result

    def hold_declared(
        self,
        result: BodyResult,
        position: int,
        layer: Layer,
        tensors: tuple[Tensor, ...],
        contradicted: dict[OutputRef, tuple[tuple[int, ...] | None, Tensor]],
    ) -> None:
        for index, (port, tensor) in enumerate(zip(layer.outputs, tensors, strict=False)):
            shape = tensor.shape
            form = self.forms.get(shape)
            if form is None:
                form = self.forms[shape] = (
                    ()
                    if shape.dims is None
                    else tuple(dim.low if dim.low == dim.high else -1 for dim in shape.dims)
                )
            same = port.dims == form
            precision = port.precision
            if same and (
                precision is None
                or precision == tensor.element_type.precision
                or port.element_type is tensor.element_type
            ):
                continue
            given = declared(port, tensor)
            result.observations.append(Observation(layer, Mismatch(index, given, tensor)))
            contradicted[position, index] = (port.dims, given)

    def hold_parameter(
        self,
        result: BodyResult,
        position: int,
        layer: Layer,
        fed: Tensor,
        contradicted: dict[OutputRef, tuple[tuple[int, ...] | None, Tensor]],
    ) -> None:
        """A Parameter that gets something else than it declares. What it gets may be narrower or wider: OpenVINO overwrites it in silence."""
        found = self.operation(layer)
        if isinstance(found, registry.UnknownOperation) or not layer.outputs:
            return
        own = found[0].infer()
        assert isinstance(own, Tensor)
        types = (
            own.element_type is fed.element_type
            or own.element_type.is_dynamic
            or fed.element_type.is_dynamic
        )
        if not types or not own.shape.compatible(fed.shape):
            result.observations.append(Observation(layer, Mismatch(0, own, fed)))
        else:
            self.hold_declared(result, position, layer, (own,), contradicted)


def internal_error(operation: Operation, error: Exception) -> Fault:
    """A bug in the declaration of an operation, told as a finding about the layer that brought it out; with IRSHAPE_DEBUG set, raised."""
    if os.environ.get("IRSHAPE_DEBUG"):
        raise error
    kind = type(operation)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return fault(
        f"irshape failed on this layer ({said}); what its ports declare is taken",
        rule=INTERNAL_ERROR,
        help=f"a bug in irshape's {kind.type_name()} of {kind.version_name()}: please report it with this layer; IRSHAPE_DEBUG=1 shows where it happens",
    )


def believed(port: Port, inferred: Tensor, dims: tuple[int, ...] | None, given: Tensor) -> Tensor:
    """What to go on with behind an output port that declares something else (`dims`, `given`) than was inferred: what the consumer's port repeats.

    Then the fault lies behind the port, and has been reported there; a consumer held against the rest would only report it again.
    """
    shape = given.shape if port.dims == dims else inferred.shape
    element_type = inferred.element_type
    if given.element_type is not element_type:
        here = port.element_type
        element_type = (
            given.element_type
            if here is given.element_type
            else DYNAMIC_TYPE
            if here is None
            else element_type
        )
    if shape == inferred.shape and element_type is inferred.element_type:
        return inferred
    return Tensor(element_type, shape)
