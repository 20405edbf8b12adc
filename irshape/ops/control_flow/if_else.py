"""If, which runs one of two bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...demands import note_wider
from ...element_types import DYNAMIC_TYPE
from ...faults import require
from ...rule_ids import PORT_MAP
from ...shapes import Dimension
from ...spelling import counted
from ..declaration import ANY, operand
from ..lazy import Array
from ..tensors import UNKNOWN, Tensor
from .base import ControlFlow, body_of, connected, fed, truth

if TYPE_CHECKING:
    from ..bodies import BodyView


class If(ControlFlow):
    """Runs one of two bodies, as `condition` selects, and returns its results."""

    since = 8
    bodies = ("then_body", "else_body")
    condition = operand(ANY, rank=(0, 1), value=True, packed=True)
    inputs = operand(ANY, optional=True, variadic=True)

    def infer(
        self, condition: Tensor, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]], outputs: int
    ) -> tuple[Tensor, ...]:
        chosen = truth(condition, "condition")
        given = tuple(tensor.with_value(None) for tensor in (condition, *inputs))
        result: list[list[Tensor]] = []
        for tag, idle in zip(self.bodies, (chosen is False, chosen is True), strict=True):
            view = body_of(bodies, tag)
            # as in OpenVINO, a body that never runs keeps its declared types and shapes
            results = view.run({} if idle else fed(view, given))
            tensors = [results.get(binding.internal, UNKNOWN) for binding in connected(view)]
            result.append([tensor.with_value(None) for tensor in tensors])
        if chosen is not None:
            outcome = result[0 if chosen else 1]
            return (*outcome, *[UNKNOWN] * (outputs - len(outcome)))
        then = counted(len(result[0]), "output")
        says = f"`then_body` has {then}, but `else_body` has {len(result[1])}"
        require(len(result[0]) == len(result[1]), says, rule=PORT_MAP)
        return tuple(
            self.either(index, *pair) for index, pair in enumerate(zip(*result, strict=True))
        )

    def repetitions(
        self, inputs: Sequence[Tensor], bodies: Mapping[str, BodyView[Tensor]]
    ) -> dict[str, Dimension]:
        chosen = truth(inputs[0], "condition")
        if chosen is None:
            return dict.fromkeys(self.bodies, Dimension(0, 1))
        return {"then_body": Dimension(int(chosen)), "else_body": Dimension(int(not chosen))}

    def runs_surely(self, view: BodyView[Tensor], inputs: Sequence[Tensor]) -> bool:
        chosen = truth(inputs[0], "condition")
        return chosen is not None and view.tag == self.bodies[0 if chosen else 1]

    def either(self, index: int, then: Tensor, other: Tensor) -> Tensor:
        """Returns an output of the If. Its shape covers the shapes of both bodies' results."""
        element_type = other.element_type if then.element_type.is_dynamic else then.element_type
        fits = other.element_type in (element_type, DYNAMIC_TYPE)
        says = f"output {index} is {element_type} in one body, {other.element_type} in the other"
        require(fits, says, relation="type", help="insert a Convert")
        if {then.rank, other.rank} == {0, 1}:
            note_wider()  # OpenVINO treats a scalar as a vector of one element
        return Tensor(element_type, then.shape.union(other.shape))

    def evaluate(
        self, condition: Array, *inputs: Array, bodies: dict[str, BodyView[Array]], outputs: int
    ) -> tuple[Array, ...]:
        view = body_of(bodies, "then_body" if condition.ravel()[0] else "else_body")
        results = view.run(fed(view, (condition, *inputs)))
        return tuple(results[binding.internal] for binding in connected(view))
