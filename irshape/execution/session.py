"""Runs a model in NumPy, layer by layer.

Every layer is computed by the evaluation that its operation declares. A tensor is freed after its
last use; the values of variables stay from one run to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..byte_sizes import written_size
from ..faults import Violation
from ..inference.bodies import bind
from ..inference.declarations import Declarations
from ..model.graph import Body, Layer, Model
from ..model.snapshot import Snapshot
from ..model.wiring import wire
from ..numpy_types import element_type_of
from ..ops.bodies import BodyView
from ..ops.declaration import Operation, check_inputs
from ..ops.infrastructure import Parameter, ReadValue_6
from ..ops.kernels import Kernel, Kernels
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..spelling import counted
from ..types import ElementType, PartialShape
from .constants import Constants, Rounding
from .errors import ExecutionError
from .memory import default_max_memory, keep_freed_memory, least_bytes, peak_memory
from .plan import COMPUTED, CONSTANT, PARAMETER, RESULT, Plan, Step, plan
from .refusals import message, origin, shapes, valued_inputs
from .reuse import spare
from .settled import Prepared, Recorder, arranged, frontier, settled_layers
from .sizes import Fitter

Array = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array of any element type."""

Observer = Callable[[Layer, tuple[Array, ...], tuple[Array, ...]], None]
"""Called with a layer, its inputs and its outputs."""

MAX_ITERATIONS = 1_000_000
"""How often the body of one layer runs in one inference, unless the session says otherwise."""

_KEPT_SHARE = 4
"""One part in so many of `max_memory` may hold what constants alone decide."""
_KEPT_BYTES = 8 << 20
"""So much may hold what the shapes of one set of inputs decide."""

keep_freed_memory()


class _Refused(ExecutionError):
    """A layer refuses what reaches it in a run; the run adds where that comes from."""

    layer: Layer


class _Run:
    """What belongs to one run: the values of variables, the runs of each body so far, who looks on.

    known: the layers of the net whose outputs have sizes that are known before the run.
    """

    __slots__ = ("inner", "iterations", "known", "variables")

    def __init__(
        self,
        variables: dict[str, Array],
        inner: Observer | None = None,
        known: frozenset[Layer] = frozenset(),
    ) -> None:
        self.variables = variables
        self.inner = inner
        self.known = known
        self.iterations: dict[Body, int] = {}


class Session:
    """Runs a model; keeps the values of its variables from one call to the next, until `reset`.

    max_memory: bytes that the tensors alive at one time may take. It is estimated before anything
    runs; where sizes depend on values, before the layer that makes them runs.
    max_iterations: how often the body of one layer may run in one inference.
    rounding: applied to every constant, and to every tensor after the layer that computes it.
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
        self._replaced: Mapping[Layer, tuple[Array, ...]] = {}
        self._run = _Run(self.state)
        self._begin()

    _watches_ports = False
    """Whether a change of what the ports declare counts as one of the model."""

    def _begin(self) -> None:
        """Starts with nothing worked out; the variables stay."""
        model = self.model
        self._snapshot = Snapshot(model, ports=self._watches_ports)
        self.declarations = Declarations(model)
        self.constants = Constants(model, self.rounding)
        self._plans: dict[Body, Plan] = {}
        self._templates: dict[Body, list[tuple[Array, ...]]] = {}
        self._parameters = model.parameters
        self._input_names = input_names(model)
        self._result_names: list[str] | None = None
        self._variables: dict[str, Tensor] | None = None
        self._operations: dict[Layer, tuple[Operation, Kernel]] = {}
        self._absent: dict[tuple[object, ...], int] = {}
        """How many optional inputs an operation is not given, by operation, types and ranks."""
        self._fitter = Fitter(model)
        self._fitted: dict[tuple[tuple[int, ...], ...], frozenset[Layer]] = {}
        self._known: frozenset[Layer] = frozenset()
        self._largest: tuple[tuple[int, ...], ...] | None = None
        self._peak = 0
        self._seen: set[tuple[tuple[int, ...], ...]] = set()
        self._settled: dict[int, tuple[Array, ...]] | None = None
        self._prepared: dict[tuple[tuple[int, ...], ...] | None, Prepared] = {}

    def _notice_changes(self) -> None:
        """Forgets what was worked out if the model has changed since."""
        if not self._snapshot.matches(self.model):
            self._change()

    def _change(self) -> None:
        """Called where the model has changed."""
        self.model.net.reindex()
        self._begin()

    def sibling(
        self,
        *,
        rounding: Rounding | None = None,
        replaced: Mapping[Layer, tuple[Array, ...]] | None = None,
    ) -> Session:
        """A session of the same model and limits whose variables are empty.

        Constants that this session has read are not read again, unless the two round differently.
        replaced: outputs that take the place of what a layer would compute.
        """
        session = Session(
            self.model,
            max_memory=self.max_memory,
            max_iterations=self.max_iterations,
            rounding=rounding,
            kernels=self.kernels,
        )
        if rounding is self.rounding:
            session.constants = self.constants
        session._replaced = replaced or {}
        return session

    def limit_memory(self, max_memory: int | None) -> None:
        """Sets `max_memory`; sizes that were found to fit are looked at again if there is less."""
        limit = default_max_memory() if max_memory is None else max_memory
        if limit < self.max_memory:
            self._forget_sizes()
            self._settled = None
            self._prepared.clear()
            self._largest = None
        self.max_memory = limit

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
        """One inference. `outputs`: `results`, or `all` for every layer's.

        observe: called with each layer of the net, its inputs and its outputs; with `inside` also
        with the layers of bodies, in each of their runs.
        A run that fails leaves the variables as they were. Raises `ExecutionError`.
        """
        self._notice_changes()
        fed = self.bind(inputs)
        self.check_state()
        self.check_fit(fed)
        kept: dict[str, Array] = {}

        def note(layer: Layer, inputs: tuple[Array, ...], results: tuple[Array, ...]) -> None:
            if outputs == "all" and not layer.is_result:
                for index, array in enumerate(results):
                    kept[_output_name(layer, index, kept)] = array
            if observe is not None:
                observe(layer, inputs, results)

        self._run = _Run(self.state, observe if inside else None, self._known)
        before = dict(self.state)
        try:
            if outputs == "all" or observe is not None:
                results = self.run_body(self.model.net, fed, note)
            else:
                results = self._run_net(fed)
        except BaseException as problem:
            self.state.clear()
            self.state.update(before)
            if isinstance(problem, _Refused):
                where = origin(self.model.net, problem.layer, fed, before)
                raise ExecutionError(f"{problem.reason}; {where}", problem.layer) from problem
            raise
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
            ids = {layer.id: layer for layer in parameters}
            if inputs and ids.keys() == inputs.keys() and len({*map(names.get, ids)}) < len(ids):
                names = ids  # the name of one input is the id of another
            for name, array in (inputs or {}).items():
                if name not in names:
                    known = ", ".join(layer.name for layer in parameters) or "none"
                    raise ExecutionError(f"the model has no input '{name}' (its inputs: {known})")
                fed[names[name].id] = _as_array(array, names[name])
        else:
            if isinstance(inputs, np.ndarray) or not isinstance(inputs, Sequence):
                raise ExecutionError(
                    "inputs are arrays by name or a list of arrays, "
                    f"but {_a(type(inputs).__name__)} was given"
                )
            if len(inputs) != len(parameters):
                raise ExecutionError(
                    f"the model has {counted(len(parameters), 'input')}, "
                    f"but {counted(len(inputs), 'array')} "
                    f"{'was' if len(inputs) == 1 else 'were'} given"
                )
            fed = {
                layer.id: _as_array(array, layer)
                for layer, array in zip(parameters, inputs, strict=True)
            }
        for layer in parameters:
            if layer.id not in fed:
                raise ExecutionError("this input was not given", layer)
            self.check_input(layer, fed[layer.id])
        return fed

    def check_input(self, layer: Layer, array: Array) -> None:
        """Whether a Parameter takes an array. Raises `ExecutionError`."""
        operation = self.declarations.of(layer)
        if isinstance(operation, UnknownOperation):
            raise ExecutionError(str(operation), layer)
        if not isinstance(operation[0], Parameter):
            raise ExecutionError("the layer is no Parameter", layer)
        declared = operation[0].infer()
        given = _type_given(array, layer)
        if not declared.element_type.is_dynamic and given is not declared.element_type:
            raise ExecutionError(
                f"the input takes {declared.element_type}, but the array is {array.dtype}", layer
            )
        if not declared.shape.encloses(PartialShape(array.shape)):
            raise ExecutionError(
                f"the input has shape {declared.shape}, "
                f"but the array has shape {list(array.shape)}",
                layer,
            )

    def check_state(self) -> None:
        """Whether the variables take the values that they have. Raises `ExecutionError`."""
        if not self.state:
            return
        if self._variables is None:
            self._variables = variables(self.model, self.declarations)
        for name, array in self.state.items():
            declared = self._variables.get(name)
            if not isinstance(array, np.ndarray):
                raise ExecutionError(
                    f"the variable '{name}' holds {_a(type(array).__name__)} where an array belongs"
                )
            if declared is None:
                continue
            try:
                kept = element_type_of(array)
            except ValueError as problem:
                raise ExecutionError(f"the variable '{name}': {problem}") from None
            fits = declared.element_type.is_dynamic or kept is declared.element_type
            if not fits or not declared.shape.encloses(PartialShape(array.shape)):
                raise ExecutionError(
                    f"the variable '{name}' is {declared.element_type}{declared.shape}, "
                    f"but holds {kept}{list(array.shape)}"
                )

    def check_fit(self, fed: Mapping[str, Array]) -> None:
        """Whether every layer takes what these sizes lead to and memory suffices, by inference.

        A decoder comes with a new size for each token: after some sets of sizes, one that is not
        much larger is left to the run, where memory cannot become scarce.
        Raises `ExecutionError` that names the layer and its dimensions.
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
            self._forget_sizes()
            self._fitter = Fitter(self.model)
        result = self._fitter.infer(sizes)
        refusal = self._fitter.refusal(sizes, result)
        if refusal is not None:
            from ..inference.conflicts import size_conflicts

            conflicts = size_conflicts(self.model, sizes)
            said = [
                shapes(self.model.net, fed, self.state),
                *conflicts.of_inputs,
                *conflicts.of(refusal.layer),
            ]
            raise ExecutionError(f"{refusal.message}; {'; '.join(said)}", refusal.layer)
        peak, layer = peak_memory(result)
        if layer is not None and peak > self.max_memory:
            raise ExecutionError(f"the tensors alive here take {self._too_much(peak)}", layer)
        self._peak = max(self._peak, peak)
        self._largest = (
            key
            if self._largest is None or not near
            else tuple(tuple(map(max, a, b)) for a, b in zip(key, self._largest, strict=True))
        )
        self._known = self._fitted[key] = frozenset(
            layer
            for layer, tensors in zip(result.body.layers, result.outputs, strict=True)
            if all(tensor.shape.is_static for tensor in tensors)
        )

    def _forget_sizes(self) -> None:
        self._fitted.clear()
        self._seen.clear()
        self._prepared = {
            sizes: prepared for sizes, prepared in self._prepared.items() if sizes is None
        }

    def _too_much(self, size: int) -> str:
        allowed = written_size(self.max_memory)
        return f"{written_size(size)}, more than the {allowed} allowed (--max-memory)"

    def _guard(self, layer: Layer, operation: Operation, inputs: Sequence[Array]) -> None:
        """Checks the memory of outputs whose sizes depend on values, before they are computed.

        Raises `ExecutionError`.
        """
        try:
            inferred = operation.infer(*check_inputs(operation, valued_inputs(operation, inputs)))
        except (Violation, ValueError, OverflowError):
            return  # the evaluation itself says what is wrong
        total = sum(map(least_bytes, inferred if isinstance(inferred, tuple) else (inferred,)))
        if total > self.max_memory:
            raise ExecutionError(f"its outputs would take {self._too_much(total)}", layer)

    def _run_net(self, fed: dict[str, Array]) -> dict[str, Array]:
        """Runs the net without an observer; what is the same in every run is computed once.

        The first run leaves everything as it is. The second keeps what constants decide, and the
        second with inputs of the same shapes what these decide.
        """
        net = self.model.net
        if self._replaced or self.rounding is not None:
            return self.run_body(net, fed)
        sizes = tuple(array.shape for array in fed.values())
        prepared = self._prepared.get(sizes)
        if prepared is not None:
            return self.run_body(net, fed, prepared=prepared)
        again = sizes in self._seen and sizes in self._fitted
        if not self._seen or (self._settled is not None and not again):
            results = self.run_body(net, fed, prepared=self._prepared.get(None))
        else:
            results = self._recorded(fed, sizes if again else None)
        self._seen.add(sizes)
        return results

    def _recorded(
        self, fed: dict[str, Array], sizes: tuple[tuple[int, ...], ...] | None
    ) -> dict[str, Array]:
        """A run that keeps what constants decide, and with `sizes` what these decide."""
        net = self.model.net
        plan = self._plan(net)
        always = settled_layers(net, plan, self._repeated, ())
        settled = settled_layers(net, plan, self._repeated, self._known) if sizes else always
        limit = min(self.max_memory // _KEPT_SHARE, max(self.max_memory - self._peak, 0))
        recorder = Recorder(net, frontier(plan, always) if self._settled is None else (), limit)
        of_sizes = Recorder(net, frontier(plan, settled) - frontier(plan, always), _KEPT_BYTES)

        def note(layer: Layer, inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
            recorder.note(layer, inputs, outputs)
            of_sizes.note(layer, inputs, outputs)

        results = self.run_body(net, fed, note if recorder.waits or of_sizes.waits else None)
        tensors = self._with_constants(net, plan)
        if self._settled is None:
            for position, outputs in recorder.outputs.items():
                tensors[position] = outputs
            limit -= sum(array.nbytes for outputs in recorder.outputs.values() for array in outputs)
            copies = arranged(net, plan, tensors, self._repeated, limit)
            self._settled = {**recorder.outputs, **copies}
            self._prepared[None] = Prepared(net, plan, always, tensors, self._settled)
        if sizes:
            kept = {**of_sizes.outputs, **self._settled}
            self._prepared[sizes] = Prepared(net, plan, settled, tensors, kept)
        return results

    def _repeated(self, layer: Layer) -> Operation | None:
        """The operation of a layer that computes the same from the same inputs."""
        declared = self.declarations.of(layer)
        if isinstance(declared, UnknownOperation):
            return None
        operation = declared[0]
        impure = operation.keeps_state or operation.has_bodies or operation in self.kernels
        return None if impure else operation

    def run_body(
        self,
        body: Body,
        parameters: Mapping[str, Array],
        note: Observer | None = None,
        *,
        prepared: Prepared | None = None,
    ) -> dict[str, Array]:
        """Runs a body; the arrays of its Results by layer id. prepared: a part of its plan."""
        plan = self._plan(body) if prepared is None else prepared.plan
        layers = body.layers
        if prepared is not None:
            tensors, steps = prepared.tensors.copy(), plan.computed
        elif note is None:
            # nobody looks at constants as they come: they are there from the beginning, and stay
            tensors, steps = self._with_constants(body, plan), plan.computed
        else:
            tensors, steps = [()] * len(layers), plan.steps
        plain = note is None and not self._replaced and self.rounding is None
        results: dict[str, Array] = {}
        with np.errstate(all="ignore"):
            for step in steps:
                position, kind, sources, ended, wanted = step
                layer = layers[position]
                try:
                    inputs = tuple([tensors[producer][port] for producer, port in sources])
                except IndexError:
                    raise ExecutionError(
                        "an input comes from an output that its producer does not have", layer
                    ) from None
                for producer in ended:
                    tensors[producer] = ()
                if plain and kind == COMPUTED:
                    outputs = self._evaluate(layer, inputs, wanted, reuse=bool(ended))
                else:
                    outputs = self._outputs(layer, step, inputs, parameters, note is not None)
                if kind == RESULT:
                    results[layer.id] = outputs[0]
                if True in wanted:
                    tensors[position] = outputs
                if note is not None:
                    note(layer, inputs, outputs)
                del inputs, outputs
        if len(results) < len(plan.results):
            raise ExecutionError("several Results have the same id")
        return {layers[position].id: results[layers[position].id] for position in plan.results}

    def _plan(self, body: Body) -> Plan:
        known = self._plans.get(body)
        if known is None:
            known = self._plans[body] = plan(body)
        return known

    def _with_constants(self, body: Body, plan: Plan) -> list[tuple[Array, ...]]:
        """The outputs of each layer of a body before its run: those of the constants."""
        template = self._templates.get(body)
        if template is None:
            template = self._templates[body] = [()] * len(body.layers)
            for step in plan.steps:
                if step.kind == CONSTANT:
                    template[step.position] = (self.constant(body.layers[step.position]),)
        return template.copy()

    def _outputs(
        self,
        layer: Layer,
        step: Step,
        inputs: tuple[Array, ...],
        parameters: Mapping[str, Array],
        observed: bool,
    ) -> tuple[Array, ...]:
        """What a layer puts out in a run."""
        outputs: tuple[Array, ...]
        if step.kind == CONSTANT:
            return (self.constant(layer),)
        if step.kind == PARAMETER:
            if layer.id not in parameters:
                raise ExecutionError("nothing feeds this Parameter", layer)
            outputs = (parameters[layer.id],)
        elif self._replaced and layer in self._replaced:
            outputs = self._replaced[layer]
        elif observed:
            outputs = self._evaluate(layer, inputs)
        else:
            outputs = self._evaluate(layer, inputs, step.wanted, reuse=bool(step.ended))
        if self.rounding is not None and step.kind in (PARAMETER, COMPUTED):
            outputs = tuple(self.rounding(array) for array in outputs)
        return outputs

    def evaluate(
        self, layer: Layer, inputs: Sequence[Array], observe: Observer | None = None
    ) -> tuple[Array, ...]:
        """The outputs of one layer by itself, for inputs in the order of its fed ports.

        Its variables are empty; a run that is under way is not disturbed.
        observe: called with the layers of its bodies in each of their runs.
        Raises `ExecutionError`.
        """
        under_way, self._run = self._run, _Run({}, observe)
        try:
            with np.errstate(all="ignore"):
                return self._evaluate(layer, tuple(inputs))
        finally:
            self._run = under_way

    def _evaluate(
        self,
        layer: Layer,
        inputs: tuple[Array, ...],
        wanted: tuple[bool, ...] | None = None,
        *,
        reuse: bool = False,
    ) -> tuple[Array, ...]:
        """The outputs of one layer; without `wanted` all of them.

        With `reuse`, an input that nothing else holds may be overwritten.
        """
        operation, kernel = self._operations.get(layer) or self._operation(layer)
        try:
            absent = self._absent_inputs(operation, inputs)
            if reuse and operation.overwrite is not None and operation not in self.kernels:
                reused = spare(inputs)
                if reused is not None:
                    operation.overwrite(reused, *inputs)
                    return (reused,)
            if (
                operation.valued
                and not operation.has_bodies
                and not operation.never_larger
                and layer not in self._run.known
            ):
                self._guard(layer, operation, inputs)
            if operation.has_bodies or operation.keeps_state or operation.spares_outputs:
                context = self._context(layer, operation, wanted)
                outputs = kernel(*inputs, *[None] * absent, **context)
            else:
                outputs = kernel(*inputs, *[None] * absent)
        except ExecutionError:
            raise  # by a layer of a body
        except Violation as violation:
            raise _Refused(violation.fault.message, layer) from None
        except Exception as problem:  # whatever the evaluation trips over: its inputs do not fit
            raise _Refused(message(operation, inputs, problem), layer) from problem
        if isinstance(outputs, tuple):
            return tuple(np.asarray(array) for array in outputs)
        return (np.asarray(outputs),)

    def _operation(self, layer: Layer) -> tuple[Operation, Kernel]:
        """The operation of a layer, and what computes it. Raises `ExecutionError`."""
        declared = self.declarations.of(layer)
        if isinstance(declared, UnknownOperation):
            raise ExecutionError(str(declared), layer)
        operation, faults = declared
        for attribute in faults:
            if not attribute.silent:
                raise ExecutionError(attribute.fault.message, layer)
        kernel = self.kernels.of(operation)
        if kernel is None:
            raise ExecutionError(
                f"irshape cannot evaluate {operation.type_name()} of {layer.version}", layer
            )
        self._operations[layer] = operation, kernel
        return operation, kernel

    def _absent_inputs(self, operation: Operation, inputs: tuple[Array, ...]) -> int:
        """How many optional inputs are not given. Types and ranks are all that this depends on."""
        key = (
            operation,
            *[
                (
                    array.dtype.metadata["element_type"] if array.dtype.metadata else array.dtype,
                    array.ndim,
                )
                for array in inputs
            ],
        )
        absent = self._absent.get(key)
        if absent is None:
            abstract = tuple(
                Tensor(element_type_of(array), PartialShape(array.shape)) for array in inputs
            )
            absent = self._absent[key] = len(check_inputs(operation, abstract)) - len(inputs)
        return absent

    def _context(
        self, layer: Layer, operation: Operation, wanted: tuple[bool, ...] | None
    ) -> dict[str, Any]:
        """What an operation's evaluation is given beside its inputs."""
        context: dict[str, Any] = {}
        if operation.has_bodies:
            context["bodies"] = {tag: self._view(layer, tag) for tag in layer.bodies or {}}
            context["outputs"] = len(layer.outputs)
        if operation.keeps_state:
            context["state"] = self._run.variables
        if operation.spares_outputs and wanted is not None:
            context["wanted"] = wanted
        return context

    def _view(self, layer: Layer, tag: str) -> BodyView[Array]:
        """A body as its operation runs it, with the number of runs and their memory limited."""
        assert layer.bodies is not None
        body, current = layer.bodies[tag], self._run
        gathered_bytes = 0

        def run(parameters: dict[str, Array]) -> dict[str, Array]:
            nonlocal gathered_bytes
            current.iterations[body] = current.iterations.get(body, 0) + 1
            if current.iterations[body] > self.max_iterations:
                raise ExecutionError(
                    f"its <{tag}> has run {self.max_iterations:,} times, "
                    "the limit (--max-iterations)",
                    layer,
                )
            results = self.run_body(body, parameters, current.inner)
            gathered_bytes += sum(results[id].nbytes for id in gathered if id in results)
            if gathered_bytes > self.max_memory:
                raise ExecutionError(
                    "the results of its iterations take more than the "
                    f"{written_size(self.max_memory)} allowed (--max-memory)",
                    layer,
                )
            return results

        view = bind(layer, tag, run)
        gathered = {binding.internal for binding in view.outputs if binding.axis is not None}
        return view

    def constant(self, layer: Layer) -> Array:
        """The array of a Const layer. Raises `ExecutionError` where its bytes are not there."""
        return self.constants[layer]


def _as_array(given: object, layer: Layer) -> Array:
    try:
        return np.asarray(given)
    except (ValueError, TypeError) as problem:
        raise ExecutionError(f"what was given is no array: {problem}", layer) from None


def _type_given(array: Array, layer: Layer) -> ElementType:
    try:
        return element_type_of(array)
    except ValueError as problem:
        raise ExecutionError(
            f"the array given is of no type that OpenVINO has: {problem}", layer
        ) from None


def _a(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


def variables(model: Model, declarations: Declarations) -> dict[str, Tensor]:
    """The type and shape that each variable declares, where it declares any."""
    declared: dict[str, Tensor] = {}
    for layer in model.walk():
        if layer.folded_type == "readvalue":
            declaration = declarations.of(layer)
            if not isinstance(declaration, UnknownOperation):
                operation = declaration[0]
                if isinstance(operation, ReadValue_6):
                    declared[operation.variable_id] = Tensor(
                        operation.variable_type, operation.variable_shape
                    )
    return declared


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
    """The names of the outputs, in the order of the Results.

    An output is named by the first tensor name of the port that feeds it, else by the layer's name
    (with the index of the port where it has several).
    """
    wiring = wire(model.net)
    names: list[str] = []
    for position, layer in enumerate(model.net.layers):
        if not layer.is_result:
            continue
        row = wiring.sources[position]
        source = row[0] if row else None
        name = layer.name
        if source is not None:
            producer = model.net.layers[source[0]]
            tensor_names = producer.outputs[source[1]].tensor_names
            name = tensor_names[0] if tensor_names else _port_name(producer, source[1])
        while name in names:
            name = layer.name if layer.name not in names else f"{name}:{layer.id}"
        names.append(name)
    return names


def _port_name(layer: Layer, index: int) -> str:
    return layer.name if len(layer.outputs) <= 1 else f"{layer.name}:{index}"


def _output_name(layer: Layer, index: int, taken: Mapping[str, object]) -> str:
    name = _port_name(layer, index)
    return name if name not in taken else f"{name}#{layer.id}"


def supported(operation: type[Operation]) -> bool:
    """Whether the interpreter can run an operation."""
    return operation.evaluate is not None or operation.type_name() in ("Parameter", "Const")


__all__ = [
    "Array",
    "ExecutionError",
    "Observer",
    "Rounding",
    "Session",
    "input_names",
    "result_names",
    "supported",
]
