"""Runs a model in NumPy: every layer by the evaluation of its operation, tensors freed after their last use, variables kept by the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .inference.bodies import BodyView, bind
from .inference.engine import Engine, Inference, infer
from .model import Body, Constant, Layer, Model
from .numpy_types import dtype_of, element_type_of
from .ops.declaration import Operation, Violation, check_inputs
from .ops.registry import UnknownOperation
from .ops.tensors import Tensor
from .types import PartialShape
from .wiring import Wiring, wire

Array = np.ndarray[Any, np.dtype[Any]]


Observer = Callable[[Layer, tuple[Array, ...], tuple[Array, ...]], None]
"""Called with a layer, its inputs and its outputs."""


class ExecutionError(RuntimeError):
    """A model cannot be run, or not with these inputs; `layer` is the one to blame."""

    def __init__(self, message: str, layer: Layer | None = None) -> None:
        super().__init__(message if layer is None else f"{layer.type} '{layer.name}' (id {layer.id}): {message}")
        self.layer = layer


class Session:
    """Runs a model; keeps the values of its variables from one call to the next, until `reset`."""

    def __init__(self, model: Model) -> None:
        if model.kind == "layers":
            raise ExecutionError("layers on their own cannot be run; give a whole model")
        self.model = model
        self.state: dict[str, Array] = {}
        self.engine = Engine(model)
        self._plans: dict[int, Wiring] = {}
        self._constants: dict[int, Array] = {}

    def reset(self) -> None:
        """Forgets the values of all variables."""
        self.state.clear()

    def run(
        self, inputs: Mapping[str, Array] | Sequence[Array] | None = None, *, outputs: str = "results", observe: Observer | None = None
    ) -> dict[str, Array]:
        """One inference. `outputs`: `results`, or `all` for every layer's. `observe` is called with each layer of the net, its inputs and what it made. Raises `ExecutionError`."""
        fed = self.bind(inputs)
        kept: dict[str, Array] = {}

        def note(layer: Layer, inputs: tuple[Array, ...], made: tuple[Array, ...]) -> None:
            if outputs == "all" and layer.type.lower() != "result":
                for index, array in enumerate(made):
                    kept[_output_name(self.model, layer, index, kept)] = array
            if observe is not None:
                observe(layer, inputs, made)

        results = self.run_body(self.model.net, fed, note)
        if outputs == "all":
            return kept
        return dict(zip(result_names(self.model), results.values(), strict=True))

    def bind(self, inputs: Mapping[str, Array] | Sequence[Array] | None) -> dict[str, Array]:
        """The arrays by the id of their Parameter, checked against its type and shape."""
        parameters = self.model.parameters
        fed: dict[str, Array] = {}
        if inputs is None or isinstance(inputs, Mapping):
            names = input_names(self.model)
            for name, array in (inputs or {}).items():
                if name not in names:
                    raise ExecutionError(f"the model has no input '{name}' (its inputs: {', '.join(layer.name for layer in parameters) or 'none'})")
                fed[names[name].id] = np.asarray(array)
        else:
            if len(inputs) != len(parameters):
                raise ExecutionError(f"the model has {len(parameters)} inputs, {len(inputs)} were given")
            fed = {layer.id: np.asarray(array) for layer, array in zip(parameters, inputs, strict=True)}
        for layer in parameters:
            if layer.id not in fed:
                raise ExecutionError("this input was not given", layer)
            self.check_input(layer, fed[layer.id])
        return fed

    def check_input(self, layer: Layer, array: Array) -> None:
        found = self.engine.operation(layer)
        if isinstance(found, UnknownOperation):
            raise ExecutionError(str(found), layer)
        declared = found[0].infer()
        assert isinstance(declared, Tensor)
        if not declared.element_type.is_dynamic and element_type_of(array) is not declared.element_type:
            raise ExecutionError(f"the input takes {declared.element_type}, the array given is {array.dtype}", layer)
        if not declared.shape.encloses(PartialShape(array.shape)):
            raise ExecutionError(f"the input has shape {declared.shape}, the array given {list(array.shape)}", layer)

    def run_body(self, body: Body, parameters: Mapping[str, Array], note: Observer | None = None) -> dict[str, Array]:
        """Runs a body; the arrays of its Results by layer id."""
        wiring = self._plans.get(id(body))
        if wiring is None:
            wiring = self._plans[id(body)] = wire(body)
        if wiring.cyclic:
            raise ExecutionError("the layer lies on a cycle", body.layers[min(wiring.cyclic)])
        uses = [0] * len(body.layers)
        for row in wiring.sources:
            for source in row:
                if source is not None:
                    uses[source[0]] += 1
        made: list[tuple[Array, ...]] = [()] * len(body.layers)
        results: dict[str, Array] = {}
        for position in wiring.order:
            layer = body.layers[position]
            row = wiring.sources[position]
            try:
                inputs = tuple(made[source[0]][source[1]] for source in row if source is not None)
            except IndexError:
                raise ExecutionError("an input comes from an output that its producer does not have", layer) from None
            folded = layer.type.lower()
            if folded == "parameter":
                if layer.id not in parameters:
                    raise ExecutionError("nothing feeds this Parameter", layer)
                outputs: tuple[Array, ...] = (parameters[layer.id],)
            elif folded in ("const", "constant"):
                outputs = (self.constant(layer),)
            else:
                outputs = self.evaluate(layer, inputs)
            made[position] = outputs
            if folded == "result":
                results[layer.id] = outputs[0]
            if note is not None:
                note(layer, inputs, outputs)
            for source in row:
                if source is not None:
                    uses[source[0]] -= 1
                    if not uses[source[0]]:
                        made[source[0]] = ()
        return {layer.id: results[layer.id] for layer in body.layers if layer.type.lower() == "result"}

    def evaluate(self, layer: Layer, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """The outputs of one layer. Raises `ExecutionError`."""
        found = self.engine.operation(layer)
        if isinstance(found, UnknownOperation):
            raise ExecutionError(str(found), layer)
        operation, problems = found
        for problem in problems:
            if not problem.silent:
                raise ExecutionError(problem.message, layer)
        if operation.evaluate is None:
            raise ExecutionError(f"irshape cannot evaluate {operation.type_name()} of {layer.version}", layer)
        try:
            abstract = tuple(Tensor(element_type_of(array), PartialShape(array.shape)) for array in inputs)
            ordered = check_inputs(operation, abstract)
            arrays = [*inputs, *[None] * (len(ordered) - len(inputs))]
            context: dict[str, Any] = {}
            if operation.has_bodies:
                context = {"bodies": {tag: self.view(layer, tag) for tag in layer.bodies or {}}, "outputs": len(layer.outputs)}
            if operation.keeps_state:
                context["state"] = self.state
            with np.errstate(all="ignore"):
                made = operation.evaluate(*arrays, **context)
        except Violation as violation:
            raise ExecutionError(violation.message, layer) from None
        except (MemoryError, NotImplementedError, ValueError, IndexError, TypeError, ArithmeticError) as problem:
            raise ExecutionError(f"{type(problem).__name__}: {problem}", layer) from problem
        return tuple(np.asarray(array) for array in made) if isinstance(made, tuple) else (np.asarray(made),)

    def view(self, layer: Layer, tag: str) -> BodyView[Array]:
        assert layer.bodies is not None
        body = layer.bodies[tag]
        return bind(layer, tag, lambda parameters: self.run_body(body, parameters))

    def constant(self, layer: Layer) -> Array:
        from .formats.weights import array

        found = self._constants.get(id(layer))
        if found is None:
            try:
                constant = Constant.of(layer, self.model.weights)
            except ValueError as problem:
                raise ExecutionError(f"its attributes describe no constant: {problem}", layer) from None
            made = array(constant)
            if made is None:
                weights = self.model.weights
                state = weights.state if weights is not None else "absent"
                why = "its bytes do not lie inside the .bin" if state == "ready" else f"there are no weights ({state})"
                raise ExecutionError(why, layer)
            found = self._constants[id(layer)] = made
        return found


def input_names(model: Model) -> dict[str, Layer]:
    """Every name by which an input can be given: tensor names, layer name, id."""
    names: dict[str, Layer] = {}
    for layer in model.parameters:
        for port in layer.outputs:
            for name in port.tensor_names:
                names.setdefault(name, layer)
    for layer in model.parameters:
        names.setdefault(layer.name, layer)
    for layer in model.parameters:
        names.setdefault(layer.id, layer)
    return names


def result_names(model: Model) -> list[str]:
    """The names of the outputs, in the order of the Results: the first tensor name of the port that feeds it, else the layer's name (with its port where it has several)."""
    wiring = wire(model.net)
    names: list[str] = []
    for position, layer in enumerate(model.net.layers):
        if layer.type.lower() != "result":
            continue
        row = wiring.sources[position]
        source = row[0] if row else None
        name = layer.name
        if source is not None:
            producer = model.net.layers[source[0]]
            tensor_names = producer.outputs[source[1]].tensor_names
            name = tensor_names[0] if tensor_names else producer.name if len(producer.outputs) == 1 else f"{producer.name}:{source[1]}"
        while name in names:
            name = layer.name if layer.name not in names else f"{name}:{layer.id}"
        names.append(name)
    return names


def _output_name(model: Model, layer: Layer, index: int, taken: Mapping[str, object]) -> str:
    name = layer.name if len(layer.outputs) <= 1 else f"{layer.name}:{index}"
    return name if name not in taken else f"{name}#{layer.id}"


def inferred_with(model: Model, inputs: Mapping[str, Array]) -> Inference:
    """Inference with the shapes of the arrays that will be fed."""
    return infer(model, {name: PartialShape(array.shape) for name, array in inputs.items()})


def supported(operation: type[Operation]) -> bool:
    """Whether the interpreter can run an operation."""
    return operation.evaluate is not None or operation.type_name() in ("Parameter", "Const")


__all__ = ["Array", "ExecutionError", "Session", "dtype_of", "inferred_with", "input_names", "result_names", "supported"]
