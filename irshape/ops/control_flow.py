"""Control flow: operations that run a network inside themselves, once (If) or many times (Loop,
TensorIterator).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..faults import Fault, Violation, fault, require
from ..rule_ids import INPUT_ELEMENT_TYPE, INPUT_SHAPES, INPUT_VALUE, PORT_MAP
from ..types import DYNAMIC, DYNAMIC_SHAPE, DYNAMIC_TYPE, SCALAR, UNBOUNDED, Dimension, PartialShape
from .declaration import ANY, Operation, operand
from .lazy import Array, np
from .tensors import UNKNOWN, Tensor

if TYPE_CHECKING:
    from .bodies import BodyView, PortBinding

MAX_ITERATIONS = 10_000_000
"""Where a loop that may run for ever is taken to do so."""


def truth(tensor: Tensor, what: str, at: str) -> bool | None:
    """A condition where it is known; the rank is the operand's business."""
    known = tensor.known
    require(
        known is None or len(known) == 1,
        f"{what} has shape {tensor.shape}; expected a single value",
        at=at,
        expected="one element",
        actual=tensor.shape,
        rule=INPUT_SHAPES,
    )
    return None if known is None or tensor.value is None else bool(tensor.value.lower[0])


def body_of(bodies: dict[str, BodyView[Any]], tag: str) -> BodyView[Any]:
    require(tag in bodies, f"the layer has no <{tag}>", expected=f"<{tag}>", rule=PORT_MAP)
    return bodies[tag]


def fed(view: BodyView[Any], inputs: tuple[Any, ...]) -> dict[str, Any]:
    """What the port map gives to each Parameter, unsliced."""
    return {
        binding.internal: inputs[binding.external]
        for binding in view.inputs
        if binding.external is not None
    }


def connected(view: BodyView[Any]) -> list[PortBinding]:
    """The lines of the port map for the layer's outputs, in their order."""
    lines = {
        binding.external: binding
        for binding in reversed(view.outputs)
        if binding.external is not None
    }
    return [lines[position] for position in sorted(lines)]


class ControlFlow(Operation):
    """What If, Loop and TensorIterator share."""

    bodies: ClassVar[tuple[str, ...]] = ("body",)

    def check(self, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]]) -> Iterator[Fault]:
        for view in bodies.values():
            used = {edge.from_layer for edge in view.body.edges}
            lines: dict[int, str] = {}
            feeding = {binding.internal for binding in view.inputs if binding.external is None}
            for binding in view.inputs:
                if (
                    binding.external is not None
                    and lines.setdefault(binding.external, binding.internal) == binding.internal
                ):
                    feeding.add(binding.internal)
            for parameter in view.parameters:
                if parameter.id in used and parameter.id not in feeding:
                    twice = next(
                        (
                            binding.external
                            for binding in view.inputs
                            if binding.internal == parameter.id
                        ),
                        None,
                    )
                    yield fault(
                        f"nothing feeds Parameter {parameter.id} of `{view.tag}`"
                        + (
                            f": of the entries of the port map for input {twice} OpenVINO keeps "
                            "the "
                            f"first, which feeds Parameter {lines[twice]}"
                            if twice is not None
                            else "; OpenVINO uses its declared type and shape, and zeros"
                        ),
                        expected="an entry of its own in the port map",
                        rule=PORT_MAP,
                        help="feed it, or let one Parameter feed all layers that use the input",
                    )


class If(ControlFlow):
    """The results of one of two bodies, as `condition` says. Specification: If-8."""

    since = 8
    bodies = ("then_body", "else_body")
    condition = operand(ANY, rank=(0, 1), value=True)
    inputs = operand(ANY, optional=True, variadic=True)

    def infer(
        self, condition: Tensor, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]], outputs: int
    ) -> tuple[Tensor, ...]:
        chosen = truth(condition, "the condition", "condition")
        given = tuple(tensor.with_value(None) for tensor in (condition, *inputs))
        result: list[list[Tensor]] = []
        for tag, idle in zip(self.bodies, (chosen is False, chosen is True), strict=True):
            view = body_of(bodies, tag)
            results = view.run(
                {} if idle else fed(view, given)
            )  # like OpenVINO's, a body that never runs stays as it is declared
            result.append(
                [
                    results.get(binding.internal, UNKNOWN).with_value(None)
                    for binding in connected(view)
                ]
            )
        if chosen is not None:
            outcome = result[0 if chosen else 1]
            return (*outcome, *[UNKNOWN] * (outputs - len(outcome)))
        require(
            len(result[0]) == len(result[1]),
            f"`then_body` gives {len(result[0])} outputs, `else_body` {len(result[1])}; which of "
            "them runs is known only at run time, so each must give every output",
            expected=len(result[0]),
            actual=len(result[1]),
            rule=PORT_MAP,
        )
        return tuple(
            self.either(index, *pair) for index, pair in enumerate(zip(*result, strict=True))
        )

    def repetitions(
        self, inputs: Sequence[Tensor], bodies: Mapping[str, BodyView[Tensor]]
    ) -> dict[str, Dimension]:
        chosen = truth(inputs[0], "the condition", "condition")
        if chosen is None:
            return dict.fromkeys(self.bodies, Dimension(0, 1))
        return dict(
            zip(self.bodies, (Dimension(int(chosen)), Dimension(int(not chosen))), strict=True)
        )

    def runs_surely(self, view: BodyView[Tensor], inputs: Sequence[Tensor]) -> bool:
        chosen = truth(inputs[0], "the condition", "condition")
        return chosen is not None and view.tag == self.bodies[0 if chosen else 1]

    def either(self, index: int, then: Tensor, other: Tensor) -> Tensor:
        """What holds for an output whichever body makes it."""
        element_type = other.element_type if then.element_type.is_dynamic else then.element_type
        require(
            other.element_type in (element_type, DYNAMIC_TYPE),
            f"output {index} has element type {then.element_type} from `then_body`, but "
            f"{other.element_type} from `else_body`; they must be the same",
            expected=then.element_type,
            actual=other.element_type,
            rule=INPUT_ELEMENT_TYPE,
            help="insert a Convert",
        )
        if {then.rank, other.rank} == {0, 1}:
            vector = then.shape if then.rank else other.shape
            return Tensor(
                element_type, vector if vector[0] == 1 else [DYNAMIC]
            )  # OpenVINO takes a scalar for a vector of one
        return Tensor(element_type, then.shape.union(other.shape))

    def evaluate(
        self, condition: Array, *inputs: Array, bodies: dict[str, BodyView[Array]], outputs: int
    ) -> tuple[Array, ...]:
        view = body_of(bodies, "then_body" if condition.ravel()[0] else "else_body")
        results = view.run(fed(view, (condition, *inputs)))
        return tuple(results[binding.internal] for binding in connected(view))


class Iteration(ControlFlow):
    """What Loop and TensorIterator share: slices in, states along the back edges, concatenations
    out.
    """

    def sliced_shape(self, binding: PortBinding, tensor: Tensor) -> PartialShape:
        """The shape of one slice of an input."""
        axis, rank = binding.axis, tensor.rank
        assert axis is not None
        require(
            binding.part_size > 0,
            f"the port map slices input {binding.external} into parts of {binding.part_size}",
            expected="part_size >= 1",
            actual=binding.part_size,
            rule=PORT_MAP,
        )
        if rank is None:
            return DYNAMIC_SHAPE
        require(
            axis < rank,
            f"the port map slices input {binding.external}, of shape {tensor.shape}, along axis "
            f"{axis}; expected an axis below its rank",
            expected=f"0 to {rank - 1}" if rank else "an input with axes",
            actual=axis,
            rule=PORT_MAP,
        )
        return PartialShape((*tensor.shape[:axis], binding.part_size, *tensor.shape[axis + 1 :]))

    def output_axis(self, binding: PortBinding, result: Tensor) -> int:
        """The axis along which an output is concatenated; scalars make a vector."""
        rank, axis = result.rank or 1, binding.axis
        assert axis is not None
        require(
            -rank <= axis < rank,
            f"the port map concatenates the results of shape {result.shape} in output "
            f"{binding.external} along axis {axis}; expected {-rank} to {rank - 1}",
            expected=f"[{-rank}, {rank - 1}]",
            actual=axis,
            rule=PORT_MAP,
        )
        return axis % rank

    def require_all_connected(self, view: BodyView[Any], first: int, inputs: int) -> None:
        mapped = {binding.external for binding in view.inputs}
        for position in range(first, inputs):
            require(
                position in mapped,
                f"no entry of the port map passes input {position} to the body; every input needs "
                "one",
                expected=f"{inputs - first} inputs in the port map",
                actual=len(mapped - {None, *range(first)}),
                rule=PORT_MAP,
            )

    def check(self, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]]) -> Iterator[Fault]:
        yield from super().check(*inputs, bodies=bodies)
        view = bodies["body"]
        states = {parameter for _, parameter in view.back_edges}
        for binding in view.inputs:
            if binding.axis is not None and binding.internal in states:
                yield fault(
                    f"Parameter {binding.internal} gets slices of input {binding.external} and a "
                    "back edge; OpenVINO ignores the back edge",
                    expected="either slices or a state",
                    rule=PORT_MAP,
                )
            if binding.axis is not None and abs(binding.stride) != binding.part_size:
                yield fault(
                    f"the port map slices input {binding.external} into parts of "
                    f"{binding.part_size}, {binding.stride} apart; OpenVINO counts iterations as "
                    "if `stride` were ±`part_size`, and cannot run others",
                    expected=f"stride {binding.part_size} or {-binding.part_size}",
                    actual=binding.stride,
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
        """Runs the body `count` times, or until its condition fails."""
        parameters: dict[str, Array] = fed(view, inputs)
        slices = [
            binding
            for binding in view.inputs
            if binding.axis is not None and binding.external is not None
        ]
        outputs = connected(view)
        parts: dict[int, list[Array]] = {
            index: [] for index, binding in enumerate(outputs) if binding.axis is not None
        }
        results: dict[str, Array] = {}
        iteration = 0
        while count is None or iteration < count:
            if iteration == MAX_ITERATIONS:
                raise ValueError(f"the loop has not ended after {MAX_ITERATIONS} iterations")
            self.prepare(view, parameters, slices, inputs, counter, iteration)
            results = view.run(parameters)
            for index, part in parts.items():
                part.append(results[outputs[index].internal])
            iteration += 1
            parameters.update(
                {
                    parameter: results[result]
                    for result, parameter in view.back_edges
                    if parameter in parameters
                }
            )
            if condition is not None and not results[condition].ravel()[0]:
                break
        if not iteration:
            return self.nothing_ran(view, parameters, slices, inputs, counter)
        return tuple(
            joined(parts[index], binding) if binding.axis is not None else results[binding.internal]
            for index, binding in enumerate(outputs)
        )

    def prepare(
        self,
        view: BodyView[Array],
        parameters: dict[str, Array],
        slices: list[PortBinding],
        inputs: tuple[Array, ...],
        counter: PortBinding | None,
        iteration: int,
    ) -> None:
        """Puts the slices and the number of an iteration among the parameters."""
        for binding in slices:
            assert binding.external is not None
            parameters[binding.internal] = part(inputs[binding.external], binding, iteration)
        if (
            counter is not None
            and counter.external is None
            and counter.internal not in {parameter for _, parameter in view.back_edges if iteration}
        ):
            from ..numpy_types import dtype_of

            shape = view.declared_shape(counter.internal)
            parameters[counter.internal] = np.full(
                () if shape.rank == 0 else (1,),
                iteration,
                dtype_of(view.declared_type(counter.internal)),
            )

    def nothing_ran(
        self,
        view: BodyView[Array],
        parameters: dict[str, Array],
        slices: list[PortBinding],
        inputs: tuple[Array, ...],
        counter: PortBinding | None,
    ) -> tuple[Array, ...]:
        """The outputs of no iteration: states as they came, concatenations of nothing, zeros for
        what no iteration has made.

        A trial run shows the shapes.
        """
        padded = tuple(
            array if array.size else np.zeros([max(size, 1) for size in array.shape], array.dtype)
            for array in inputs
        )
        trial = dict(parameters)
        self.prepare(view, trial, slices, padded, counter, 0)
        results = view.run(trial)
        states = dict(view.back_edges)
        arrays: list[Array] = []
        for binding in connected(view):
            result = results[binding.internal]
            if binding.axis is not None:
                arrays.append(joined([result], binding).take([], axis=binding.axis))
            else:
                state = states.get(binding.internal)
                arrays.append(
                    parameters[state]
                    if state in parameters and state is not None
                    else np.zeros_like(result)
                )
        return tuple(arrays)


def part(array: Array, binding: PortBinding, iteration: int) -> Array:
    """The slice of an iteration: forwards from `start`, or, with a negative stride, backwards from
    the part that ends with it.
    """
    axis, size = binding.axis or 0, array.shape[binding.axis or 0]
    start = binding.start + size if binding.start < 0 else binding.start
    first = (
        start + iteration * binding.stride - (binding.part_size - 1 if binding.stride < 0 else 0)
    )
    if not 0 <= first <= first + binding.part_size <= size:
        raise ValueError(
            f"iteration {iteration} takes {first} to {first + binding.part_size - 1} of axis "
            f"{axis} of input {binding.external}, which has {size}"
        )
    return array[(slice(None),) * axis + (slice(first, first + binding.part_size),)]


def joined(parts: list[Array], binding: PortBinding) -> Array:
    """The results of all iterations along an axis, the last first for a negative stride."""
    shaped = [result if result.ndim else result.reshape(1) for result in parts]
    return np.concatenate(shaped[::-1] if binding.stride < 0 else shaped, axis=binding.axis or 0)


class Loop(Iteration):
    """Runs a body `trip_count` times, or as long as its own condition holds.

    Specification: Loop-5.
    """

    since = 5
    trip_count = operand(ANY, rank=(0, 1), value=True)
    execution_condition = operand(ANY, rank=(0, 1), value=True)
    inputs = operand(ANY, value=True, optional=True, variadic=True)

    def special(self, view: BodyView[Any]) -> tuple[str, PortBinding | None]:
        """The Result that decides on going on, and where the number of the iteration goes."""
        condition = next(
            (
                binding.internal
                for binding in view.outputs
                if binding.purpose == "execution_condition"
            ),
            None,
        )
        if condition is None:
            raise Violation(
                'no <output> of the port map has purpose="execution_condition"; the body must '
                "return whether to continue",
                expected='purpose="execution_condition"',
                rule=PORT_MAP,
                help=(
                    'add <output external_port_id="-1" internal_layer_id="…" '
                    'purpose="execution_condition"/>'
                ),
            )
        return condition, next(
            (binding for binding in view.inputs if binding.purpose == "current_iteration"), None
        )

    def infer(
        self,
        trip_count: Tensor,
        execution_condition: Tensor,
        *inputs: Tensor,
        bodies: dict[str, BodyView[Tensor]],
        outputs: int,
    ) -> tuple[Tensor, ...]:
        view = body_of(bodies, "body")
        condition, counter = self.special(view)
        counter_shape = SCALAR if counter is None else view.declared_shape(counter.internal)
        require(
            counter_shape.rank in (None, 0, 1),
            f"the Parameter for the current iteration has shape {counter_shape}; expected a "
            "scalar or one element",
            expected="rank 0 or 1",
            actual=counter_shape,
            rule=PORT_MAP,
        )
        starts = truth(execution_condition, "`execution_condition`", "execution_condition")
        given = (trip_count, execution_condition, *inputs)
        self.require_all_connected(view, 2, len(given))
        parameters: dict[str, Tensor] = {}
        for binding in reversed(view.inputs):
            if binding.external is not None:
                tensor = given[binding.external].with_value(None)
                parameters[binding.internal] = (
                    tensor
                    if binding.axis is None
                    else Tensor(tensor.element_type, self.sliced_shape(binding, tensor))
                )
        results = view.run(parameters)
        count = self.count(trip_count, self.goes_on(view, condition, results, given))
        results = self.settled(view, parameters, results, count)
        times: Dimension | int | None = count
        if (
            count is None
            and trip_count.known_by_name
            and self.goes_on(view, condition, results, given)
        ):
            assert trip_count.value is not None
            times = trip_count.value.dimension(0)
        return tuple(
            self.collected(
                binding, results.get(binding.internal, UNKNOWN), times, never=starts is False
            )
            for binding in connected(view)
        )

    def repetitions(
        self, inputs: Sequence[Tensor], bodies: Mapping[str, BodyView[Tensor]]
    ) -> dict[str, Dimension]:
        view = bodies["body"]
        starts = truth(inputs[1], "`execution_condition`", "execution_condition")
        if starts is False:
            return {"body": Dimension(0)}
        given = tuple(inputs)
        goes_on = self.goes_on(view, self.special(view)[0], view.run({}), given)
        count = self.count(inputs[0], goes_on)
        if count is not None:
            return {"body": Dimension(count if starts else 0, count)}
        known = inputs[0].known
        most = None if known is None or known[0] < 0 else known[0]
        return {"body": DYNAMIC if most is None else Dimension(0, most)}

    def runs_surely(self, view: BodyView[Tensor], inputs: Sequence[Tensor]) -> bool:
        starts = truth(inputs[1], "`execution_condition`", "execution_condition")
        trips = inputs[0].value
        if not starts or trips is None or len(trips) != 1:
            return False
        return trips.lower[0] > 0 or trips.upper[0] == -1

    def goes_on(
        self,
        view: BodyView[Tensor],
        condition: str,
        results: dict[str, Tensor],
        given: tuple[Tensor, ...],
    ) -> bool | None:
        """The body's condition, where it is the same in every iteration: a constant of the body, or
        one that comes in from outside.
        """
        result = results.get(condition, UNKNOWN)
        require(
            result.rank in (None, 0, 1),
            f"the body's condition has shape {result.shape}; expected a scalar or one element",
            expected="rank 0 or 1",
            actual=result.shape,
            rule=PORT_MAP,
        )
        feeder = view.feeder(condition)
        if feeder is not None and feeder.is_parameter:
            outside = next(
                (
                    given[binding.external]
                    for binding in view.inputs
                    if binding.internal == feeder.id and binding.external is not None
                ),
                UNKNOWN,
            )
            return truth(outside, "the body's condition, which comes in from outside,", "")
        return truth(result, "the body's condition", "")

    def count(self, trip_count: Tensor, goes_on: bool | None) -> int | None:
        """The number of iterations, where it is known. A negative trip count is none."""
        known = trip_count.known
        require(
            known is None or len(known) == 1,
            f"`trip_count` has shape {trip_count.shape}; expected a single value",
            at="trip_count",
            expected="one element",
            actual=trip_count.shape,
            rule=INPUT_SHAPES,
        )
        if goes_on is False:
            return 1
        return known[0] if goes_on and known is not None and known[0] >= 0 else None

    def settled(
        self,
        view: BodyView[Tensor],
        parameters: dict[str, Tensor],
        results: dict[str, Tensor],
        count: int | None,
    ) -> dict[str, Tensor]:
        """The results that hold for every iteration: what a back edge brings that its Parameter
        does not allow for makes the Parameter dynamic, until nothing does.

        Like OpenVINO it looks only at states that are outputs of the layer as well.
        """
        states = dict(
            reversed(
                [
                    (result, parameter)
                    for result, parameter in reversed(view.back_edges)
                    if parameter in parameters
                ]
            )
        )
        watched = [
            (binding.internal, states[binding.internal])
            for binding in connected(view)
            if binding.axis is None and binding.internal in states
        ]
        for _ in range(min(UNBOUNDED if count is None else count, 1000)):
            wider = False
            for result, parameter in watched:
                before, brought = parameters[parameter].shape, results.get(result, UNKNOWN).shape
                if before.encloses(brought):
                    continue
                if (
                    before.dims is None
                    or brought.dims is None
                    or len(before.dims) != len(brought.dims)
                ):
                    shape = DYNAMIC_SHAPE
                else:
                    shape = PartialShape(
                        a if a.encloses(b) else DYNAMIC
                        for a, b in zip(before.dims, brought.dims, strict=True)
                    )
                parameters[parameter] = Tensor(parameters[parameter].element_type, shape)
                wider = True
            if not wider:
                break
            results = view.run(parameters)
        return results

    def collected(
        self, binding: PortBinding, result: Tensor, count: Dimension | int | None, *, never: bool
    ) -> Tensor:
        """An output: the result of the last iteration, or of all of them one after the other.

        `never`: the loop does not start.
        """
        shape = result.shape
        if binding.axis is None:
            if never and shape.static:
                shape = PartialShape((0, *shape[1:]))
            return Tensor(result.element_type, shape)
        if never:
            return Tensor(result.element_type, [0])
        if shape.dims is None:
            return Tensor(result.element_type, shape)
        axis = self.output_axis(binding, result)
        dims = list(shape.dims) or [Dimension(1)]
        dims[axis] = DYNAMIC if count is None else dims[axis] * count
        return Tensor(result.element_type, dims)

    def check(self, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]]) -> Iterator[Fault]:
        yield from super().check(*inputs, bodies=bodies)
        known = inputs[0].known
        if known is not None and known[0] < -1:
            yield fault(
                f"`trip_count` is {known[0]}; expected a number of iterations, or -1 for no limit",
                at="trip_count",
                expected=">= -1",
                actual=known[0],
                rule=INPUT_VALUE,
            )

    def evaluate(
        self,
        trip_count: Array,
        execution_condition: Array,
        *inputs: Array,
        bodies: dict[str, BodyView[Array]],
        outputs: int,
    ) -> tuple[Array, ...]:
        view = body_of(bodies, "body")
        condition, counter = self.special(view)
        trips = int(trip_count.ravel()[0])
        count = trips if trips >= 0 else None
        if not execution_condition.ravel()[0]:
            count = 0
        return self.iterate(
            view, (trip_count, execution_condition, *inputs), count, condition, counter
        )


class TensorIterator(Iteration):
    """Runs a body for each slice of its inputs. Specification: TensorIterator-1."""

    since = 1
    inputs = operand(ANY, optional=True, variadic=True)

    def infer(
        self, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]], outputs: int
    ) -> tuple[Tensor, ...]:
        view = body_of(bodies, "body")
        require(
            all(layer.folded_type != "tensoriterator" for layer in view.body.layers),
            "the body contains another TensorIterator; OpenVINO does not support nesting them",
            expected="no TensorIterator in the body",
            rule=PORT_MAP,
            help="use Loop",
        )
        self.require_all_connected(view, 0, len(inputs))
        parameters: dict[str, Tensor] = {}
        for binding in reversed(view.inputs):
            if binding.external is not None:
                tensor = inputs[binding.external]
                shape = tensor.shape if binding.axis is None else self.sliced_shape(binding, tensor)
                parameters[binding.internal] = Tensor(view.declared_type(binding.internal), shape)
        results = view.run(parameters)
        count: Dimension | int | None = self.count(view, inputs)
        if count is None:
            count = self.symbolic_count(view, inputs)
        return tuple(
            self.collected(binding, results.get(binding.internal, UNKNOWN), count)
            for binding in connected(view)
        )

    def counts(
        self, view: BodyView[Any], inputs: tuple[Tensor, ...]
    ) -> list[tuple[PortBinding, int]]:
        """The number of parts of each sliced input for which it is known; `start` and `end` are
        both among them.
        """
        counts = []
        for binding in view.inputs:
            size = (
                None
                if binding.axis is None
                or binding.external is None
                or inputs[binding.external].rank is None
                else inputs[binding.external].shape[binding.axis]
            )
            if size is not None and size.is_static:
                start, end = (
                    place + size.low if place < 0 else place
                    for place in (binding.start, binding.end)
                )
                counts.append((binding, (abs(end - start) + 1) // binding.part_size))
        return counts

    def count(self, view: BodyView[Any], inputs: tuple[Tensor, ...]) -> int | None:
        """The number of iterations, where it is known: that of the last sliced input, or, with none
        sliced, what an output says.
        """
        known = self.counts(view, inputs)
        if known:
            return max(known, key=lambda pair: pair[0].external or 0)[1]
        output = next((binding for binding in connected(view) if binding.axis is not None), None)
        if output is None or any(binding.axis is not None for binding in view.inputs):
            return None
        require(
            output.part_size > 0,
            f"the port map concatenates output {output.external} of parts of {output.part_size}",
            expected="part_size >= 1",
            actual=output.part_size,
            rule=PORT_MAP,
        )
        return abs(output.end - output.start) // output.part_size

    def repetitions(
        self, inputs: Sequence[Tensor], bodies: Mapping[str, BodyView[Tensor]]
    ) -> dict[str, Dimension]:
        count = self.count(bodies["body"], tuple(inputs))
        return {"body": DYNAMIC if count is None else Dimension(max(count, 0))}

    def runs_surely(self, view: BodyView[Tensor], inputs: Sequence[Tensor]) -> bool:
        sizes = [
            inputs[binding.external].shape[binding.axis].low
            for binding in view.inputs
            if binding.axis is not None
            and binding.external is not None
            and self.sliced_shape(binding, inputs[binding.external]).rank is not None
        ]
        return min(sizes) > 0 if sizes else (self.count(view, tuple(inputs)) or 0) > 0

    def symbolic_count(self, view: BodyView[Any], inputs: tuple[Tensor, ...]) -> Dimension | None:
        """The number of iterations, where it is known as an expression of named sizes."""
        sliced = [
            binding
            for binding in view.inputs
            if binding.axis is not None
            and binding.external is not None
            and inputs[binding.external].rank is not None
        ]
        if not sliced:
            return None
        last = max(sliced, key=lambda binding: binding.external or 0)
        size = inputs[last.external or 0].shape[last.axis or 0]
        first, end = sorted((last.start, last.end))
        if first >= 0 or end < 0:  # both count from the same end of the axis
            return None
        return size.followed(
            DYNAMIC,
            lambda whole: (
                (whole + first - end + 1) // last.part_size
                if whole.facts.assume_at_least(whole + first, whole.facts.number(end))
                else None
            ),
        )

    def collected(
        self, binding: PortBinding, result: Tensor, count: Dimension | int | None
    ) -> Tensor:
        """An output: the result of the last iteration, or of all of them one after the other."""
        if binding.axis is None or result.shape.dims is None:
            return Tensor(result.element_type, result.shape)
        axis = self.output_axis(binding, result)
        dims = list(result.shape.dims) or [DYNAMIC]
        if count is None:
            dims[axis] = DYNAMIC
        elif isinstance(count, int):
            dims[axis] = Dimension(max(count * binding.part_size, 0))
        else:
            dims[axis] = count * max(binding.part_size, 0) if count.symbolic else DYNAMIC
        return Tensor(result.element_type, dims)

    def check(self, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]]) -> Iterator[Fault]:
        yield from super().check(*inputs, bodies=bodies)
        view = bodies["body"]
        for binding in view.inputs:
            if binding.external is None:
                continue
            seen, declared = (
                inputs[binding.external].element_type,
                view.declared_type(binding.internal),
            )
            if seen is not declared and not seen.is_dynamic and not declared.is_dynamic:
                yield fault(
                    f"input {binding.external} has element type {seen}, but Parameter "
                    f"{binding.internal} of the body declares {declared}; OpenVINO uses that of "
                    "the "
                    "Parameter",
                    expected=declared,
                    actual=seen,
                    rule=INPUT_ELEMENT_TYPE,
                )
        known = self.counts(view, inputs)
        for binding, count in known[1:]:
            if count != known[0][1]:
                yield fault(
                    f"input {binding.external} has slices for {count} iterations, but input "
                    f"{known[0][0].external} for {known[0][1]}",
                    expected=known[0][1],
                    actual=count,
                    rule=PORT_MAP,
                )

    def evaluate(
        self, *inputs: Array, bodies: dict[str, BodyView[Array]], outputs: int
    ) -> tuple[Array, ...]:
        from ..numpy_types import element_type_of

        view = body_of(bodies, "body")
        count = self.count(
            view, tuple(Tensor(element_type_of(array), array.shape) for array in inputs)
        )
        return self.iterate(view, inputs, 1 if count is None else count, None, None)
