"""If, which runs one of two bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...demands import note_wider
from ...element_types import DYNAMIC_TYPE
from ...faults import require
from ...rule_ids import PORT_MAP
from ...shapes import Dimension
from ..declaration import ANY, operand
from ..differences import (
    WIDER,
    Site,
    dimensions,
    facts,
    inferred,
    is_known,
    read_at_all,
    refused,
    unused_outputs,
)
from ..lazy import Array
from ..tensors import UNKNOWN, Tensor
from .base import ControlFlow, body_of, connected, fed, truth

if TYPE_CHECKING:
    from ..bodies import BodyView


def _united(site: Site) -> bool:
    """Returns whether one branch returns a scalar and the other a vector, and an output size is
    known."""
    branches = [
        [
            inner.inputs[position][0]
            for position, layer in enumerate(inner.body.layers)
            if layer.is_result and inner.inputs.get(position)
        ]
        for inner in site.inner.values()
    ]
    ranks = [
        {tensor.shape.rank for tensor in pair if tensor} for pair in zip(*branches, strict=False)
    ]
    return {0, 1} in ranks and any(any(map(is_known, dimensions(o.shape))) for o in site.outputs)


def _branch_inputs(site: Site) -> bool:
    """Returns whether a branch declares another shape for an input than it receives."""
    return any(
        one != other
        for given, taken, _ in site.entering
        for one, other in zip(dimensions(given.shape), dimensions(taken.shape), strict=False)
    )


class If(ControlFlow):
    """The results of one of two bodies, which `condition` selects."""

    since = 8
    differs = facts(
        refused(
            "2024.2", "an axis or a condition that is a constant of u2, u3 or u6", read_at_all(0)
        ),
        inferred(
            "2023.2",
            "a body whose outputs are not all used",
            "omits the unused outputs",
            unused_outputs,
        ),
        inferred("2025.0", "an If that gives a scalar or a tensor of one axis", WIDER, _united),
        inferred(
            "2023.1",
            "an If whose branch declares wider inputs",
            "infers from what is given",
            _branch_inputs,
        ),
    )
    bodies = ("then_body", "else_body")
    condition = operand(ANY, rank=(0, 1), value=True, packed=True)
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
            )  # as in OpenVINO, a body that never runs keeps its declared types and shapes
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
            f"`then_body` gives {len(result[0])} outputs, but `else_body` {len(result[1])}; the "
            "condition chooses the body at run time, so each must give every output",
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
        """Returns the type and shape of an output that hold for either body."""
        element_type = other.element_type if then.element_type.is_dynamic else then.element_type
        require(
            other.element_type in (element_type, DYNAMIC_TYPE),
            f"output {index} has element type {then.element_type} from `then_body`, but "
            f"{other.element_type} from `else_body`; they must be the same",
            relation="type",
            expected=then.element_type,
            actual=other.element_type,
            help="insert a Convert",
        )
        if {then.rank, other.rank} == {0, 1}:
            note_wider()  # OpenVINO treats a scalar as a vector of one element
        return Tensor(element_type, then.shape.union(other.shape))

    def evaluate(
        self, condition: Array, *inputs: Array, bodies: dict[str, BodyView[Array]], outputs: int
    ) -> tuple[Array, ...]:
        view = body_of(bodies, "then_body" if condition.ravel()[0] else "else_body")
        results = view.run(fed(view, (condition, *inputs)))
        return tuple(results[binding.internal] for binding in connected(view))
