"""Loop: a body runs a number of times, or while its condition holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...faults import Fault, Violation, fault, require
from ...rule_ids import INPUT_SHAPES, INPUT_VALUE, PORT_MAP
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, SCALAR, UNBOUNDED, Dimension, PartialShape
from ..declaration import ANY, operand
from ..lazy import Array
from ..tensors import UNKNOWN, Tensor
from .base import body_of, connected, truth
from .iteration import Iteration

if TYPE_CHECKING:
    from ..bodies import BodyView, PortBinding


class Loop(Iteration):
    """Runs a body `trip_count` times, or as long as its own condition holds.

    Specification: Loop-5.
    """

    since = 5
    trip_count = operand(ANY, rank=(0, 1), value=True, packed=True)
    execution_condition = operand(ANY, rank=(0, 1), value=True, packed=True)
    inputs = operand(ANY, value=True, packed=True, optional=True, variadic=True)

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
