"""The base class of Loop and TensorIterator: slices, back edges and concatenations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...faults import Fault, fault, require
from ...rule_ids import PORT_MAP
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from ..lazy import Array, dtype_of, np
from ..tensors import UNKNOWN, Tensor
from .base import ControlFlow, connected, fed

if TYPE_CHECKING:
    from ..bodies import BodyView, PortBinding


MAX_ITERATIONS = 10_000_000
"""The number of iterations after which a loop is assumed to be endless."""


class Iteration(ControlFlow):
    """The base class of Loop and TensorIterator. It slices inputs, passes states along back edges,
    and concatenates outputs."""

    def sliced_shape(self, binding: PortBinding, tensor: Tensor) -> PartialShape:
        """Returns the shape of one slice of an input."""
        axis, rank = binding.axis, tensor.rank
        assert axis is not None
        says = f"input {binding.external} has part_size={binding.part_size}; expected 1 or more"
        require(binding.part_size > 0, says, rule=PORT_MAP)
        if rank is None:
            return DYNAMIC_SHAPE
        says = f"input {binding.external} {tensor.shape} has no axis {axis} along which to slice it"
        require(axis < rank, says, rule=PORT_MAP)
        return PartialShape((*tensor.shape[:axis], binding.part_size, *tensor.shape[axis + 1 :]))

    def entering(self, view: BodyView[Any], inputs: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """Returns, for each Parameter of the body, the input that feeds it, or a slice of it."""
        parameters: dict[str, Tensor] = {}
        for binding in reversed(view.inputs):
            if binding.external is not None:
                tensor = inputs[binding.external]
                shape = tensor.shape if binding.axis is None else self.sliced_shape(binding, tensor)
                parameters[binding.internal] = Tensor(tensor.element_type, shape)
        return parameters

    def output_axis(self, binding: PortBinding, result: Tensor) -> int:
        """Returns the axis (0 or more) along which results are concatenated; 0 for scalars."""
        rank, axis = result.rank or 1, binding.axis
        assert axis is not None
        says = f"results {result.shape} have no axis {axis} along which to concatenate them"
        require(-rank <= axis < rank, says, rule=PORT_MAP)
        return axis % rank

    def require_all_connected(self, view: BodyView[Any], first: int, inputs: int) -> None:
        mapped = {binding.external for binding in view.inputs}
        for position in range(first, inputs):
            says = f"no entry of the port map passes input {position} to the body"
            require(position in mapped, says, rule=PORT_MAP)

    def settled(
        self,
        view: BodyView[Tensor],
        parameters: dict[str, Tensor],
        results: dict[str, Tensor],
        times: int,
    ) -> dict[str, Tensor]:
        """Returns the types and shapes of the body's results, valid for every iteration.

        A back edge may pass a dimension that the shape of its Parameter does not cover. This shape
        then becomes less specific, and the body is inferred again, until all shapes fit.
        """
        for _ in range(min(times - 1, 1000)):
            wider = False
            for result, parameter in view.back_edges:
                if parameter not in parameters:
                    continue
                state, value = parameters[parameter], results.get(result, UNKNOWN)
                kind, other = state.element_type, value.element_type
                fits = kind.is_dynamic or other.is_dynamic or other is kind
                says = f"a back edge feeds {other} to Parameter {parameter} of element type {kind}"
                require(fits, says, rule=PORT_MAP, help="insert a Convert before the Result")
                before, brought = state.shape, value.shape
                if before.encloses(brought):
                    continue
                shape = DYNAMIC_SHAPE
                if before.rank is not None and before.rank == brought.rank:
                    shape = PartialShape(map(_widened, before, brought))
                parameters[parameter] = Tensor(kind, shape)
                wider = True
            if not wider:
                break
            results = view.run(parameters)
        return results

    def check(self, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]]) -> Iterator[Fault]:
        yield from super().check(*inputs, bodies=bodies)
        view = bodies["body"]
        states = {parameter for _, parameter in view.back_edges}
        for binding in view.inputs:
            if binding.axis is not None and binding.internal in states:
                yield fault(
                    f"Parameter {binding.internal} gets slices of input {binding.external}; "
                    "OpenVINO ignores the back edge to this Parameter",
                    rule=PORT_MAP,
                )
            if binding.axis is not None and abs(binding.stride) != binding.part_size:
                yield fault(
                    f"the port map slices input {binding.external} with "
                    f"part_size={binding.part_size} and stride={binding.stride}; OpenVINO runs "
                    "only strides of ±`part_size`",
                    rule=PORT_MAP,
                )

    def iterate(
        self,
        view: BodyView[Array],
        inputs: tuple[Array, ...],
        count: int | None,
        condition: str | None,
        counter: PortBinding | None,
    ) -> tuple[Array, ...]:
        """Runs the body `count` times, or until its condition is false; returns the outputs.

        Without iterations, the outputs are initial states, empty tensors, or zeros. Their shapes
        come from a single run of the body, for which no observer is called.
        """
        initial: dict[str, Array] = fed(view, inputs)
        parameters, outputs = dict(initial), connected(view)
        idle = count is not None and count <= 0
        if idle:
            view.observed = False
            inputs = tuple(
                array if array.size else np.zeros(np.maximum(array.shape, 1), array.dtype)
                for array in inputs
            )
        parts: list[list[Array]] = [[] for _ in outputs]
        for iteration in range(MAX_ITERATIONS):
            self.prepare(view, parameters, inputs, counter, iteration)
            results = view.run(parameters)
            for past, binding in zip(parts, outputs, strict=True):
                if binding.axis is not None:
                    past.append(results[binding.internal])
            states = {to: results[result] for result, to in view.back_edges if to in parameters}
            parameters.update(states)
            ended = condition is not None and not results[condition].ravel()[0]
            if idle or ended or iteration + 1 == count:
                break
        else:
            raise ValueError(f"the loop has not ended after {MAX_ITERATIONS} iterations")
        targets = dict(view.back_edges)
        given: list[Array] = []
        for past, binding in zip(parts, outputs, strict=True):
            last = results[binding.internal]
            if idle:
                last = initial.get(targets.get(binding.internal, ""), np.zeros_like(last))
            if binding.axis is not None:
                last = joined(past, binding)
                last = last.take([], axis=binding.axis) if idle else last
            given.append(last)
        return tuple(given)

    def prepare(
        self,
        view: BodyView[Array],
        parameters: dict[str, Array],
        inputs: tuple[Array, ...],
        counter: PortBinding | None,
        iteration: int,
    ) -> None:
        """Sets the Parameters that get a slice of an input or the iteration number."""
        for binding in view.inputs:
            if binding.axis is not None and binding.external is not None:
                whole = inputs[binding.external]
                parameters[binding.internal] = part(whole, binding, iteration)
        states = {parameter for _, parameter in view.back_edges if iteration}
        if counter and counter.external is None and counter.internal not in states:
            shape = () if view.declared_shape(counter.internal).rank == 0 else (1,)
            dtype = dtype_of(view.declared_type(counter.internal))
            parameters[counter.internal] = np.full(shape, iteration, dtype)


def _widened(before: Dimension, brought: Dimension) -> Dimension:
    """Returns a dimension that covers two sizes of a state: `before`, and `brought` by a back edge.

    The result is `before` (without its expression if only its bounds cover `brought`), or `?`.
    """
    if before.encloses(brought):
        return before
    interval = Dimension(before.low, before.high)
    return interval if interval.encloses(brought) else DYNAMIC


def part(array: Array, binding: PortBinding, iteration: int) -> Array:
    """Returns the slice of an input that an iteration gets.

    The first slice begins at element `start` or, if the stride is negative, ends at this element.
    """
    axis, size = binding.axis or 0, array.shape[binding.axis or 0]
    start = binding.start + size if binding.start < 0 else binding.start
    first = (
        start + iteration * binding.stride - (binding.part_size - 1 if binding.stride < 0 else 0)
    )
    if not 0 <= first <= first + binding.part_size <= size:
        raise ValueError(
            f"iteration {iteration} takes elements {first} to {first + binding.part_size - 1} "
            f"along axis {axis} of input {binding.external}, which has only {size}"
        )
    return array[(slice(None),) * axis + (slice(first, first + binding.part_size),)]


def joined(parts: list[Array], binding: PortBinding) -> Array:
    """Returns the results of all iterations, concatenated; in reverse order if `stride` < 0."""
    shaped = [result if result.ndim else result.reshape(1) for result in parts]
    return np.concatenate(shaped[::-1] if binding.stride < 0 else shaped, axis=binding.axis or 0)
