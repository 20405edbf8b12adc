"""Computes the layers of a body one after the other, in the order of a plan.

A layer is computed by the `evaluate` of its operation, or by a kernel that replaces it. A tensor is
freed after its last use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..faults import Violation
from ..inference.bodies import bind
from ..model.graph import Body, Layer
from ..numpy_types import Array
from ..ops.bodies import BodyView
from ..ops.declaration import Operation
from .computing import LayerKernels
from .constants import Constants
from .errors import ExecutionError, LayerRefusal
from .memory import too_much
from .plan import COMPUTED, CONSTANT, PARAMETER, RESULT, Plan, Prepared, Step, plan
from .refusals import message

Observer = Callable[[Layer, tuple[Array, ...], tuple[Array, ...]], None]
"""A function that is called with each layer, its inputs and its outputs."""

Replaced = Callable[[Layer], tuple[Array, ...] | None]
"""A function that returns outputs to use instead of computing a layer; None to compute the
layer."""

MAX_ITERATIONS = 1_000_000
"""By default, the body of one layer may run this often in one run of the model."""


@dataclass(slots=True)
class Run:
    """The state of one run: the values of variables, how often each body has run, and the
    observer."""

    variables: dict[str, Array]
    inner: Observer | None = None
    iterations: dict[Body, int] = field(default_factory=dict)


class Interpreter:
    """Computes bodies and single layers. `current`: the run in progress.
    max_memory: how many bytes may be taken by outputs whose sizes depend on values, and by the
    results of all iterations of a body.
    max_iterations: how often the body of one layer may run in one run of the model.
    replaced: a function that returns outputs to use instead of computing a layer."""

    def __init__(
        self,
        kernels: LayerKernels,
        constants: Constants,
        *,
        max_memory: int,
        max_iterations: int,
        replaced: Replaced | None,
    ) -> None:
        self.kernels = kernels
        self.constants = constants
        self.max_memory = max_memory
        self.max_iterations = max_iterations
        self.replaced = replaced
        self.current = Run({})
        self._plans: dict[Body, Plan] = {}

    @property
    def is_plain(self) -> bool:
        """Whether all outputs are computed and unchanged: none is replaced or rounded."""
        return self.replaced is None and self.constants.rounding is None

    def plan(self, body: Body) -> Plan:
        """Returns the plan with all layers of a body."""
        known = self._plans.get(body)
        if known is None:
            known = self._plans[body] = plan(body)
        return known

    def with_constants(self, body: Body) -> list[tuple[Array, ...]]:
        """Returns a tuple of arrays for each layer of a body: the array of a constant, else
        empty."""
        tensors: list[tuple[Array, ...]] = [()] * len(body.layers)
        for step in self.plan(body).steps:
            if step.kind == CONSTANT:
                tensors[step.position] = (self.constants[body.layers[step.position]],)
        return tensors

    def run_body(
        self,
        body: Body,
        parameters: Mapping[str, Array],
        note: Observer | None = None,
        *,
        prepared: Prepared | None = None,
    ) -> dict[str, Array]:
        """Runs a body. Returns the arrays of its Results by layer id. prepared: a plan without the
        layers whose outputs are kept from earlier runs."""
        plan = self.plan(body) if prepared is None else prepared.plan
        layers = body.layers
        if prepared is not None:
            tensors, steps = prepared.tensors.copy(), plan.computed
        elif note is None:
            # without an observer, constants are in place from the beginning
            tensors, steps = self.with_constants(body), plan.computed
        else:
            tensors, steps = [()] * len(layers), plan.steps
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

    def _outputs(
        self,
        layer: Layer,
        step: Step,
        inputs: tuple[Array, ...],
        parameters: Mapping[str, Array],
        observed: bool,
    ) -> tuple[Array, ...]:
        """Returns the outputs of a layer: a constant, the array of a Parameter, outputs from
        `replaced`, or computed outputs. Rounds them if the session rounds."""
        outputs: tuple[Array, ...]
        if step.kind == CONSTANT:
            return (self.constants[layer],)
        if step.kind == PARAMETER:
            if layer.id not in parameters:
                if True not in step.wanted:
                    return ()  # OpenVINO accepts it, since nothing uses it
                raise ExecutionError("nothing feeds this Parameter", layer)
            outputs = (parameters[layer.id],)
        elif self.replaced is not None and (known := self.replaced(layer)) is not None:
            outputs = known
        else:
            outputs = self._evaluate(layer, inputs, None if observed else step.wanted)
        rounding = self.constants.rounding
        if rounding is not None and step.kind in (PARAMETER, COMPUTED):
            outputs = tuple(rounding(array) for array in outputs)
        return outputs

    def evaluate(
        self, layer: Layer, inputs: Sequence[Array], observe: Observer | None = None
    ) -> tuple[Array, ...]:
        """Computes one layer outside of a run; see `Session.evaluate`."""
        under_way, self.current = self.current, Run({}, observe)
        try:
            with np.errstate(all="ignore"):
                return self._evaluate(layer, tuple(inputs))
        finally:
            self.current = under_way

    def _evaluate(
        self,
        layer: Layer,
        inputs: tuple[Array, ...],
        wanted: tuple[bool, ...] | None = None,
    ) -> tuple[Array, ...]:
        """Returns the outputs of one layer. `wanted`: which outputs to compute; None for all."""
        operation, kernel = self.kernels.of(layer)
        try:
            absent, total = self.kernels.checked(operation, inputs)
            if total > self.max_memory:
                reason = f"its outputs would take {too_much(total, self.max_memory)}"
                raise ExecutionError(reason, layer)
            if operation.bodies or operation.keeps_state or operation.spares_outputs:
                context = self._context(layer, operation, wanted)
                outputs = kernel(*inputs, *[None] * absent, **context)
            else:
                outputs = kernel(*inputs, *[None] * absent)
        except ExecutionError:
            raise  # by a layer of a body
        except Violation as violation:
            raise LayerRefusal(violation.fault.message, layer) from None
        except Exception as problem:  # whatever the evaluation trips over: its inputs do not fit
            raise LayerRefusal(message(operation, inputs, problem), layer) from problem
        if isinstance(outputs, tuple):
            return tuple(np.asarray(array) for array in outputs)
        return (np.asarray(outputs),)

    def _context(
        self, layer: Layer, operation: Operation, wanted: tuple[bool, ...] | None
    ) -> dict[str, Any]:
        """Returns the arguments, other than the inputs, for the `evaluate` of an operation."""
        context: dict[str, Any] = {}
        if operation.bodies:
            context["bodies"] = {tag: self._view(layer, tag) for tag in layer.bodies or {}}
            context["outputs"] = len(layer.outputs)
        if operation.keeps_state:
            context["state"] = self.current.variables
        if operation.spares_outputs and wanted is not None:
            context["wanted"] = wanted
        return context

    def _view(self, layer: Layer, tag: str) -> BodyView[Array]:
        """Returns a body in the form that its operation expects, with a `run` function that limits
        the number of runs and the memory of the results."""
        assert layer.bodies is not None
        body, current = layer.bodies[tag], self.current
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
            observer = current.inner
            current.inner = observer if view.observed else None
            try:
                results = self.run_body(body, parameters, current.inner)
            finally:
                current.inner = observer
            gathered_bytes += sum(results[id].nbytes for id in gathered if id in results)
            if gathered_bytes > self.max_memory:
                raise ExecutionError(
                    "the results of its iterations take "
                    f"{too_much(gathered_bytes, self.max_memory)}",
                    layer,
                )
            return results

        view = bind(layer, tag, run)
        gathered = {binding.internal for binding in view.outputs if binding.axis is not None}
        return view
