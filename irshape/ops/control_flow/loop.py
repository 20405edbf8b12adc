"""Loop, which runs a body a number of times, or while its condition is true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...demands import note_wider
from ...faults import Between, Fault, Violation, fault, require
from ...rule_ids import PORT_MAP
from ...shapes import DYNAMIC, SCALAR, UNBOUNDED, Dimension, PartialShape
from ..conditions import count
from ..declaration import ANY, operand
from ..differences import Site, dimensions, facts, inferred
from ..lazy import Array
from ..tensors import UNKNOWN, Tensor
from .base import body_of, connected, fed, truth
from .iteration import Iteration

if TYPE_CHECKING:
    from ..bodies import BodyView, PortBinding


def _states(site: Site) -> bool:
    """Returns whether a dynamic dimension of an initial state has other bounds inside the body."""
    return any(
        state and one != other and one.is_dynamic
        for given, taken, state in site.entering
        for one, other in zip(dimensions(given.shape), dimensions(taken.shape), strict=False)
    )


class Loop(Iteration):
    """Runs a body up to `trip_count` times (-1: no limit), as long as its condition is true."""

    since = 5
    differs = facts(
        inferred(
            "2026.3",
            "a Loop with a state whose shape changes",
            "keeps the shape of the first iteration",
            _states,
        ),
    )
    trip_count = operand(ANY, rank=(0, 1), value=True, packed=True)
    execution_condition = operand(ANY, rank=(0, 1), value=True, packed=True)
    inputs = operand(ANY, value=True, packed=True, optional=True, variadic=True)

    def special(self, view: BodyView[Any]) -> tuple[str, PortBinding | None]:
        """Returns the id of the condition's Result, and the iteration number's entry or None."""
        outputs = {binding.purpose: binding for binding in reversed(view.outputs)}
        inputs = {binding.purpose: binding for binding in reversed(view.inputs)}
        if "execution_condition" not in outputs:
            raise Violation(
                'no <output> of the port map has purpose="execution_condition"; the body must '
                "return whether to continue",
                rule=PORT_MAP,
                help='add <output external_port_id="-1" internal_layer_id="…" '
                'purpose="execution_condition"/>',
            )
        return outputs["execution_condition"].internal, inputs.get("current_iteration")

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
        says = f"the iteration number has shape {counter_shape}; expected a scalar or one element"
        require(counter_shape.rank in (None, 0, 1), says, rule=PORT_MAP)
        starts = truth(execution_condition, "execution_condition")
        given = (trip_count, execution_condition, *inputs)
        self.require_all_connected(view, 2, len(given))
        parameters = self.entering(view, given)
        first = dict(parameters)
        results = view.run(parameters)
        times = self.times(trip_count, starts, self.goes_on(view, condition, results, given))
        for binding in connected(view):
            result = results.get(binding.internal, UNKNOWN)
            if binding.axis is not None and result.rank is not None:
                self.output_axis(binding, result)
        results = self.settled(view, parameters, results, times.high)
        times = self.times(trip_count, starts, self.goes_on(view, condition, results, given))
        if not times.low:
            note_wider()
        states = dict(view.back_edges)
        return tuple(
            self.collected(
                binding,
                results.get(binding.internal, UNKNOWN),
                times,
                first.get(states.get(binding.internal, "")),
                never=starts is False,
            )
            for binding in connected(view)
        )

    def repetitions(
        self, inputs: Sequence[Tensor], bodies: Mapping[str, BodyView[Tensor]]
    ) -> dict[str, Dimension]:
        view, given = bodies["body"], tuple(inputs)
        starts = truth(inputs[1], "execution_condition")
        if starts is False:
            return {"body": Dimension(0)}
        goes_on = self.goes_on(view, self.special(view)[0], view.run({}), given)
        return {"body": self.times(inputs[0], starts, goes_on)}

    def runs_surely(self, view: BodyView[Tensor], inputs: Sequence[Tensor]) -> bool:
        starts = truth(inputs[1], "execution_condition")
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
        """Returns the body's condition if its value is the same in every iteration, else None.

        This is known if the condition is a constant of the body or an input of the Loop.
        """
        result = results.get(condition, UNKNOWN)
        says = f"the body's condition has shape {result.shape}; expected a scalar or one element"
        require(result.rank in (None, 0, 1), says, rule=PORT_MAP)
        feeder = view.feeder(condition)
        if feeder is not None and feeder.is_parameter:
            return truth(fed(view, given).get(feeder.id, UNKNOWN), "")
        return truth(result, "")

    def times(self, trip_count: Tensor, starts: bool | None, goes_on: bool | None) -> Dimension:
        """Returns the number of iterations. A negative trip count means no limit."""
        trips = DYNAMIC
        if trip_count.value is not None:
            count(len(trip_count.value), 1, at="trip_count")
            trips = trip_count.value.dimension(0) or Dimension(1, UNBOUNDED)
            if trip_count.value.lower[0] < 0 and not trips.symbolic:
                trips = Dimension(min(trips.low, 1), UNBOUNDED)
        if starts and goes_on:
            return trips
        most = min(trips.high, 1) if goes_on is False else trips.high
        return Dimension(min(trips.low, 1) if starts else 0, most)

    def collected(
        self,
        binding: PortBinding,
        result: Tensor,
        times: Dimension,
        first: Tensor | None,
        *,
        never: bool,
    ) -> Tensor:
        """Returns the tensor of an output: the last result, or all results, concatenated.

        first: if the output is a state, its tensor before the first iteration.
        never: whether no iteration runs. As in OpenVINO, the shape must then cover an empty tensor.
        """
        shape = result.shape
        if binding.axis is None:
            if first is not None and not times.low:
                shape = shape.union(first.shape)
            if never and shape.dims:
                shape = shape.union(PartialShape((0, *shape[1:])))
            return Tensor(result.element_type, shape)
        if shape.dims is None:
            return Tensor(result.element_type, shape)
        axis = self.output_axis(binding, result)
        dims = list(shape.dims) or [Dimension(1)]
        unlimited = times.high == UNBOUNDED and not times.symbolic
        dims[axis] = DYNAMIC if unlimited else dims[axis] * times
        shape = PartialShape(dims)
        return Tensor(result.element_type, shape.union(PartialShape([0])) if never else shape)

    def check(self, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]]) -> Iterator[Fault]:
        yield from super().check(*inputs, bodies=bodies)
        known = inputs[0].known
        if known is not None and known[0] < -1:
            limit, seen = Between(-1, None), known[0]
            yield fault(at="trip_count", relation="at least", expected=limit, actual=seen)

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
