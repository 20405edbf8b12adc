"""Runs a model in NumPy: every layer by the evaluation of its operation, tensors freed after their last use, variables kept by the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..byte_sizes import written_size
from ..faults import Violation
from ..inference.bodies import bind
from ..inference.declarations import Declarations
from ..inference.engine import infer
from ..inference.result import BodyResult, Inference
from ..model.graph import Body, Layer, Model
from ..model.weights import Constant
from ..model.wiring import wire
from ..numpy_types import dtype_of, element_type_of
from ..ops.bodies import BodyView
from ..ops.declaration import Operation, check_inputs
from ..ops.kernels import Kernels
from ..ops.registry import UnknownOperation
from ..ops.tensors import MAX_VALUE_ELEMENTS, Tensor, Value
from ..types import PartialShape
from .reuse import spare
from .sizes import Fitter

Array = np.ndarray[Any, np.dtype[Any]]


Observer = Callable[[Layer, tuple[Array, ...], tuple[Array, ...]], None]
"""Called with a layer, its inputs and its outputs."""


class ExecutionError(RuntimeError):
    """A model cannot be run, or not with these inputs; `layer` is the one to blame."""

    def __init__(self, message: str, layer: Layer | None = None) -> None:
        super().__init__(
            message if layer is None else f"{layer.type} '{layer.name}' (id {layer.id}): {message}"
        )
        self.layer = layer


Rounding = Callable[[Array], Array]
"""What a device of lower precision makes of a tensor, given back in the tensor's own type."""

MAX_ITERATIONS = 1_000_000
"""How often the body of one layer runs in one inference, unless the session says otherwise."""


def default_max_memory() -> int:
    """Bytes: three quarters of the machine's memory, 16 GiB where that cannot be told."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
    except (AttributeError, ValueError, OSError):
        return 16 << 30


_COMPUTED, _CONSTANT, _PARAMETER, _RESULT = range(4)
_KINDS = {"const": _CONSTANT, "constant": _CONSTANT, "parameter": _PARAMETER, "result": _RESULT}


class _Step(NamedTuple):
    """position, kind and sources of a layer; the producers whose last use it is; which of its outputs somebody takes."""

    position: int
    kind: int
    row: tuple[tuple[int, int], ...]
    ended: tuple[int, ...]
    wanted: tuple[bool, ...]


class _Plan(NamedTuple):
    """steps: producers first. computed: the steps without constants. results: positions of the Results, in file order."""

    steps: list[_Step]
    computed: list[_Step]
    results: list[int]


class Session:
    """Runs a model; keeps the values of its variables from one call to the next, until `reset`.

    max_memory: bytes that the tensors alive at one time may take; it is estimated before anything runs, where sizes depend on values before the layer runs
    that makes them. max_iterations: how often the body of one layer may run in one inference. rounding: applied to every tensor after the layer that makes it.
    kernels: functions that compute operations in place of the evaluation that these declare.
    """

    def __init__(
        self,
        model: Model,
        *,
        max_memory: int | None = None,
        max_iterations: int = MAX_ITERATIONS,
        rounding: Rounding | None = None,
        kernels: Kernels | None = None,
    ) -> None:
        if model.kind == "layers":
            raise ExecutionError("layers on their own cannot be run; give a whole model")
        self.model = model
        self.max_memory = default_max_memory() if max_memory is None else max_memory
        self.max_iterations = max_iterations
        self.rounding = rounding
        self.kernels = Kernels() if kernels is None else kernels
        self.state: dict[str, Array] = {}
        self.declarations = Declarations(model)
        self._plans: dict[int, _Plan] = {}
        self._templates: dict[int, list[tuple[Array, ...]]] = {}
        self._parameters = model.parameters
        self._input_names = input_names(model)
        self._checked: dict[tuple[object, ...], int] = {}
        self._result_names: list[str] | None = None
        self._constants: dict[int, Array] = {}
        self._fitted: dict[tuple[tuple[int, ...], ...], frozenset[int]] = {}
        self._known: frozenset[int] = frozenset()
        """The layers of the net whose outputs have sizes known before the run, for the inputs at hand."""
        self._fitter = Fitter(model)
        self._largest: tuple[tuple[int, ...], ...] | None = None
        self._peak = 0
        self._runs: dict[int, list[int]] = {}
        self.instead: dict[int, tuple[Array, ...]] = {}
        """Outputs that take the place of what a layer would compute, by the layer's identity."""
        self._inner: Observer | None = None
        """Called with each layer of a body in each of its runs."""

    def reset(self) -> None:
        """Forgets the values of all variables."""
        self.state.clear()

    def run(
        self,
        inputs: Mapping[str, Array] | Sequence[Array] | None = None,
        *,
        outputs: str = "results",
        observe: Observer | None = None,
        inside: bool = False,
    ) -> dict[str, Array]:
        """One inference. `outputs`: `results`, or `all` for every layer's. Raises `ExecutionError`.

        observe: called with each layer of the net, its inputs and what it made; with `inside`, also with the layers of bodies, in each of their runs.
        """
        fed = self.bind(inputs)
        self.check_fit(fed)
        self._runs.clear()
        kept: dict[str, Array] = {}

        def note(layer: Layer, inputs: tuple[Array, ...], made: tuple[Array, ...]) -> None:
            if outputs == "all" and layer.type.lower() != "result":
                for index, array in enumerate(made):
                    kept[_output_name(self.model, layer, index, kept)] = array
            if observe is not None:
                observe(layer, inputs, made)

        self._inner = observe if inside else None
        results = self.run_body(
            self.model.net, fed, note if outputs == "all" or observe is not None else None
        )
        if outputs == "all":
            return kept
        if self._result_names is None:
            self._result_names = result_names(self.model)
        return dict(zip(self._result_names, results.values(), strict=True))

    def bind(self, inputs: Mapping[str, Array] | Sequence[Array] | None) -> dict[str, Array]:
        """The arrays by the id of their Parameter, checked against its type and shape."""
        parameters = self._parameters
        fed: dict[str, Array] = {}
        if inputs is None or isinstance(inputs, Mapping):
            names = self._input_names
            for name, array in (inputs or {}).items():
                if name not in names:
                    raise ExecutionError(
                        f"the model has no input '{name}' (its inputs: {', '.join(layer.name for layer in parameters) or 'none'})"
                    )
                fed[names[name].id] = np.asarray(array)
        else:
            if len(inputs) != len(parameters):
                raise ExecutionError(
                    f"the model has {len(parameters)} inputs, {len(inputs)} were given"
                )
            fed = {
                layer.id: np.asarray(array) for layer, array in zip(parameters, inputs, strict=True)
            }
        for layer in parameters:
            if layer.id not in fed:
                raise ExecutionError("this input was not given", layer)
            self.check_input(layer, fed[layer.id])
        return fed

    def check_input(self, layer: Layer, array: Array) -> None:
        found = self.declarations.of(layer)
        if isinstance(found, UnknownOperation):
            raise ExecutionError(str(found), layer)
        declared = found[0].infer()
        assert isinstance(declared, Tensor)
        if (
            not declared.element_type.is_dynamic
            and element_type_of(array) is not declared.element_type
        ):
            raise ExecutionError(
                f"the input takes {declared.element_type}, the array given is {array.dtype}", layer
            )
        if not declared.shape.encloses(PartialShape(array.shape)):
            raise ExecutionError(
                f"the input has shape {declared.shape}, the array given {list(array.shape)}", layer
            )

    def check_fit(self, fed: Mapping[str, Array]) -> None:
        """Whether every layer takes what these sizes lead to, and memory suffices, by inference. Raises `ExecutionError` that names the layer and its dimensions.

        A decoder comes with a new size for each token: after some sets of sizes, one that is not much larger is left to the run, where memory cannot become scarce.
        """
        sizes = {id: array.shape for id, array in fed.items()}
        key = tuple(sizes.values())
        if key in self._fitted:
            self._known = self._fitted[key]
            return
        near = self._largest is not None and all(
            len(shape) == len(known)
            and all(size <= 2 * most for size, most in zip(shape, known, strict=True))
            for shape, known in zip(key, self._largest, strict=True)
        )
        if len(self._fitted) >= 4 and near and self._peak * 8 <= self.max_memory:
            return
        if len(self._fitted) >= 16:
            self._fitted.clear()
            self._fitter = Fitter(self.model)
        result = self._fitter.infer(sizes)
        refusal = self._fitter.refusal(sizes, result)
        if refusal is not None:
            given = ", ".join(
                f"{layer.name}={list(fed[layer.id].shape)}" for layer in self.model.parameters
            )
            raise ExecutionError(
                f"{refusal.message}; the inputs do not fit: {given}", refusal.layer
            )
        peak, layer = peak_memory(result)
        if layer is not None and peak > self.max_memory:
            raise ExecutionError(
                f"the tensors alive here take {written_size(peak)}, more than the {written_size(self.max_memory)} allowed (--max-memory)",
                layer,
            )
        self._peak = max(self._peak, peak)
        self._largest = (
            key
            if self._largest is None or not near
            else tuple(tuple(map(max, a, b)) for a, b in zip(key, self._largest, strict=True))
        )
        known = (
            id(layer)
            for layer, tensors in zip(result.body.layers, result.outputs, strict=True)
            if all(tensor.shape.is_static for tensor in tensors)
        )
        self._known = self._fitted[key] = frozenset(known)

    def guard(self, layer: Layer, operation: Operation, inputs: Sequence[Array]) -> None:
        """Memory for outputs whose sizes depend on the values of inputs, before they are made. Raises `ExecutionError`."""
        looked_at = {index for index, declared in operation.valued} | (
            {len(inputs) - 1} if operation.valued and operation.valued[-1][1].variadic else set()
        )
        tensors = []
        for index, array in enumerate(inputs):
            tensor = Tensor(element_type_of(array), PartialShape(array.shape))
            if (
                index in looked_at
                and array.size <= MAX_VALUE_ELEMENTS
                and array.dtype.kind in "iufb"
            ):
                tensor = tensor.with_value(Value(array.ravel().tolist()))
            tensors.append(tensor)
        try:
            made = operation.infer(*check_inputs(operation, tuple(tensors)))
        except (Violation, ValueError, OverflowError):
            return  # the evaluation itself says what is wrong
        total = sum(_bytes(tensor) for tensor in (made if isinstance(made, tuple) else (made,)))
        if total > self.max_memory:
            raise ExecutionError(
                f"its outputs would take {written_size(total)}, more than the {written_size(self.max_memory)} allowed (--max-memory)",
                layer,
            )

    def run_body(
        self, body: Body, parameters: Mapping[str, Array], note: Observer | None = None
    ) -> dict[str, Array]:
        """Runs a body; the arrays of its Results by layer id."""
        plan = self.plan(body)
        layers = body.layers
        steps = plan.steps
        made: list[tuple[Array, ...]] = [()] * len(layers)
        if (
            note is None
        ):  # nobody looks at constants as they come: they are there from the beginning, and stay
            template = self._templates.get(id(body))
            if template is None:
                template = self._templates[id(body)] = made
                for step in steps:
                    if step.kind == _CONSTANT:
                        template[step.position] = (self.constant(layers[step.position]),)
            made = template.copy()
            steps = plan.computed
        results: dict[str, Array] = {}
        with np.errstate(all="ignore"):
            for position, kind, row, ended, wanted in steps:
                layer = layers[position]
                try:
                    inputs = tuple([made[producer][port] for producer, port in row])
                except IndexError:
                    raise ExecutionError(
                        "an input comes from an output that its producer does not have", layer
                    ) from None
                for producer in ended:
                    made[producer] = ()
                outputs: tuple[Array, ...]
                if kind == _CONSTANT:
                    outputs = (self.constant(layer),)
                elif kind == _PARAMETER:
                    if layer.id not in parameters:
                        raise ExecutionError("nothing feeds this Parameter", layer)
                    outputs = (parameters[layer.id],)
                elif self.instead and id(layer) in self.instead:
                    outputs = self.instead[id(layer)]
                elif note is None:
                    outputs = self._evaluate(layer, inputs, wanted, reuse=bool(ended))
                else:
                    outputs = self._evaluate(layer, inputs)
                if self.rounding is not None and kind in (_PARAMETER, _COMPUTED):
                    outputs = tuple(self.rounding(array) for array in outputs)
                if kind == _RESULT:
                    results[layer.id] = outputs[0]
                if True in wanted:
                    made[position] = outputs
                if note is not None:
                    note(layer, inputs, outputs)
                del inputs, outputs
        return {layers[position].id: results[layers[position].id] for position in plan.results}

    def plan(self, body: Body) -> _Plan:
        """What to do in which order for a body, worked out once."""
        found = self._plans.get(id(body))
        if found is None:
            wiring = wire(body)
            if wiring.cyclic:
                raise ExecutionError("the layer lies on a cycle", body.layers[min(wiring.cyclic)])
            kinds = [_KINDS.get(layer.type.lower(), _COMPUTED) for layer in body.layers]
            rows = [
                tuple(source for source in sources if source is not None)
                for sources in wiring.sources
            ]
            wanted: dict[int, set[int]] = {}
            last: dict[int, int] = {}
            for position in wiring.order:
                for producer, port in rows[position]:
                    wanted.setdefault(producer, set()).add(port)
                    last[producer] = position
            ended: dict[int, list[int]] = {}
            for producer, position in last.items():
                if kinds[producer] != _CONSTANT:
                    ended.setdefault(position, []).append(producer)
            steps = [
                _Step(
                    position,
                    kinds[position],
                    rows[position],
                    tuple(ended.get(position, ())),
                    tuple(
                        port in wanted.get(position, ())
                        for port in range(max(len(body.layers[position].outputs), 1))
                    ),
                )
                for position in wiring.order
            ]
            computed = [step for step in steps if step.kind != _CONSTANT]
            found = self._plans[id(body)] = _Plan(
                steps,
                computed,
                [position for position, kind in enumerate(kinds) if kind == _RESULT],
            )
        return found

    def evaluate(
        self, layer: Layer, inputs: tuple[Array, ...], observe: Observer | None = None
    ) -> tuple[Array, ...]:
        """The outputs of one layer. observe: called with the layers of its bodies in each of their runs. Raises `ExecutionError`."""
        self._inner = observe
        with np.errstate(all="ignore"):
            return self._evaluate(layer, inputs)

    def _evaluate(
        self,
        layer: Layer,
        inputs: tuple[Array, ...],
        wanted: tuple[bool, ...] | None = None,
        *,
        reuse: bool = False,
    ) -> tuple[Array, ...]:
        """The outputs of one layer; without `wanted` all of them. With `reuse`, an input that nothing else holds may be overwritten."""
        found = self.declarations.of(layer)
        if isinstance(found, UnknownOperation):
            raise ExecutionError(str(found), layer)
        operation, faults = found
        for met in faults:
            if not met.silent:
                raise ExecutionError(met.fault.message, layer)
        kernel = self.kernels.of(operation)
        if kernel is None:
            raise ExecutionError(
                f"irshape cannot evaluate {operation.type_name()} of {layer.version}", layer
            )
        try:
            key = (
                operation,
                *[
                    (
                        array.dtype.metadata["element_type"]
                        if array.dtype.metadata
                        else array.dtype,
                        array.ndim,
                    )
                    for array in inputs
                ],
            )
            absent = self._checked.get(key)  # types and ranks are all that is checked
            if absent is None:
                abstract = tuple(
                    Tensor(element_type_of(array), PartialShape(array.shape)) for array in inputs
                )
                absent = self._checked[key] = len(check_inputs(operation, abstract)) - len(inputs)
            if reuse and operation.overwrite is not None and operation not in self.kernels:
                reused = spare(inputs)
                if reused is not None:
                    operation.overwrite(reused, *inputs)
                    return (reused,)
            arrays = [*inputs, *[None] * absent]
            context: dict[str, Any] = {}
            if operation.has_bodies:
                context = {
                    "bodies": {tag: self.view(layer, tag) for tag in layer.bodies or {}},
                    "outputs": len(layer.outputs),
                }
            if operation.keeps_state:
                context["state"] = self.state
            if (
                operation.valued
                and not operation.has_bodies
                and not operation.never_larger
                and id(layer) not in self._known
            ):
                self.guard(layer, operation, inputs)
            if operation.spares_outputs and wanted is not None:
                context["wanted"] = wanted
            made = kernel(*arrays, **context)
        except Violation as violation:
            raise ExecutionError(violation.fault.message, layer) from None
        except (
            MemoryError,
            NotImplementedError,
            ValueError,
            IndexError,
            TypeError,
            ArithmeticError,
        ) as problem:
            raise ExecutionError(f"{type(problem).__name__}: {problem}", layer) from problem
        return (
            tuple(np.asarray(array) for array in made)
            if isinstance(made, tuple)
            else (np.asarray(made),)
        )

    def view(self, layer: Layer, tag: str) -> BodyView[Array]:
        assert layer.bodies is not None
        body = layer.bodies[tag]
        counted = self._runs.setdefault(id(body), [0])
        gathered_bytes = 0

        def run(parameters: dict[str, Array]) -> dict[str, Array]:
            nonlocal gathered_bytes
            counted[0] += 1
            if counted[0] > self.max_iterations:
                raise ExecutionError(
                    f"its <{tag}> has run {self.max_iterations:,} times, more is not allowed (--max-iterations)",
                    layer,
                )
            results = self.run_body(body, parameters, self._inner)
            gathered_bytes += sum(results[id].nbytes for id in gathered if id in results)
            if gathered_bytes > self.max_memory:
                raise ExecutionError(
                    f"what its iterations give takes more than the {written_size(self.max_memory)} allowed (--max-memory)",
                    layer,
                )
            return results

        made = bind(layer, tag, run)
        gathered = {binding.internal for binding in made.outputs if binding.axis is not None}
        return made

    def constant(self, layer: Layer) -> Array:
        from ..model.weights import array

        found = self._constants.get(id(layer))
        if found is None:
            try:
                constant = Constant.of(layer.items, self.model.weights)
            except ValueError as problem:
                raise ExecutionError(
                    f"its attributes describe no constant: {problem}", layer
                ) from None
            made = array(constant)
            if made is None:
                weights = self.model.weights
                state = weights.state if weights is not None else "absent"
                why = (
                    "its bytes do not lie inside the .bin"
                    if state == "ready"
                    else f"there are no weights ({state})"
                )
                raise ExecutionError(why, layer)
            if (
                not made.flags.aligned
            ):  # BLAS takes no such arrays, and NumPy's own loops are an order slower
                made = made.copy()
                _forget(constant)
            found = self._constants[id(layer)] = (
                made if self.rounding is None else self.rounding(made)
            )
        return found


def _forget(constant: Constant) -> None:
    """Lets the system reclaim the pages of the .bin that a copied constant lies in.

    Reading them again maps them again.
    """
    import mmap

    data = None if constant.weights is None else constant.weights.data
    first = -(-constant.offset // mmap.PAGESIZE) * mmap.PAGESIZE
    end = min(constant.offset + constant.size, 0 if data is None else len(data))
    length = end // mmap.PAGESIZE * mmap.PAGESIZE - first
    if isinstance(data, mmap.mmap) and length > 0 and hasattr(mmap, "MADV_DONTNEED"):
        data.madvise(mmap.MADV_DONTNEED, first, length)


def peak_memory(result: BodyResult) -> tuple[int, Layer | None]:
    """The bytes of the tensors alive when most are, and the layer that runs then. Constants that are mapped take none; a dimension that is not known counts with
    its lower bound, what a layer needs for itself not at all."""
    layers, wiring = result.body.layers, result.wiring
    last: dict[int, int] = {}
    for turn, position in enumerate(wiring.order):
        last.update({source[0]: turn for source in wiring.sources[position] if source is not None})
    ending: dict[int, list[int]] = {}
    for position, turn in last.items():
        ending.setdefault(turn, []).append(position)
    live, peak, at = 0, 0, None
    sizes: dict[int, int] = {}
    for turn, position in enumerate(wiring.order):
        layer = layers[position]
        folded = layer.type.lower()
        if folded in ("const", "constant"):
            packed = any(tensor.element_type.is_packed for tensor in result.outputs[position])
            live += sum(_bytes(tensor) for tensor in result.outputs[position]) if packed else 0
        elif folded != "result":
            sizes[position] = sum(_bytes(tensor) for tensor in result.outputs[position])
            live += sizes[position]
        if live > peak:
            peak, at = live, layer
        if position not in last:
            live -= sizes.get(position, 0)
        live -= sum(sizes.get(source, 0) for source in ending.get(turn, ()))
    return peak, at


def _bytes(tensor: Tensor) -> int:
    """At least so many: an element takes a byte where several are packed into one."""
    if tensor.shape.dims is None:
        return 0
    total = 1
    for dim in tensor.shape.dims:
        total *= dim.low
    return total * max(tensor.element_type.bits // 8, 1)


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
            name = (
                tensor_names[0]
                if tensor_names
                else producer.name
                if len(producer.outputs) == 1
                else f"{producer.name}:{source[1]}"
            )
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


__all__ = [
    "Array",
    "ExecutionError",
    "Session",
    "dtype_of",
    "inferred_with",
    "input_names",
    "result_names",
    "supported",
]
