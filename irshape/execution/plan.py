"""Plans the order in which the layers of a body run, and until when each tensor is needed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..model.graph import Body, Layer
from ..model.wiring import wire
from ..numpy_types import Array
from .errors import ExecutionError

COMPUTED, CONSTANT, PARAMETER, RESULT = range(4)


class Step(NamedTuple):
    """A layer in a plan.

    position: the position of the layer in its body. kind: one of `COMPUTED`, `CONSTANT`,
    `PARAMETER`, `RESULT`.
    sources: the outputs that feed the layer. ended: positions of the layers whose outputs no later
    step needs. wanted: for each output of the layer, whether another layer uses it.
    """

    position: int
    kind: int
    sources: tuple[tuple[int, int], ...]
    ended: tuple[int, ...]
    wanted: tuple[bool, ...]


class Plan(NamedTuple):
    """The plan of a body.

    steps: all layers, producers first. computed: the steps other than constants. results: the
    Results in file order.
    """

    steps: list[Step]
    computed: list[Step]
    results: list[int]


class Prepared(NamedTuple):
    """A plan without the layers whose outputs are kept from earlier runs, and these outputs."""

    plan: Plan
    tensors: list[tuple[Array, ...]]


def _kind(layer: Layer) -> int:
    if layer.is_constant:
        return CONSTANT
    if layer.is_parameter:
        return PARAMETER
    return RESULT if layer.is_result else COMPUTED


def plan(body: Body) -> Plan:
    """Plans the order of a body's layers. Raises `ExecutionError` if layers form a cycle."""
    wiring = wire(body)
    if wiring.cyclic:
        raise ExecutionError("the layer lies on a cycle", body.layers[min(wiring.cyclic)])
    kinds = [_kind(layer) for layer in body.layers]
    rows = [tuple(source for source in sources if source is not None) for sources in wiring.sources]
    return _planned(body, _reads_first(body, wiring.order, rows), kinds, rows)


def _reads_first(
    body: Body, order: Sequence[int], rows: list[tuple[tuple[int, int], ...]]
) -> Sequence[int]:
    """Returns an order that reads every variable before it is assigned, as OpenVINO does, if
    possible."""
    assigned: dict[str | None, int] = {}
    late: set[int] = set()
    for position in order:
        layer = body.layers[position]
        if layer.folded_type == "assign":
            assigned.setdefault(layer.attributes.get("variable_id"), position)
        elif layer.is_read_value:
            assign = assigned.get(layer.attributes.get("variable_id"))
            if assign is not None:
                late.add(assign)
    if not late:
        return order
    for position in order:
        if any(producer in late for producer, _ in rows[position]):
            if body.layers[position].is_read_value:
                return order  # what a variable begins with depends on what is assigned
            late.add(position)
    return [each for each in order if each not in late] + [each for each in order if each in late]


def without(body: Body, whole: Plan, settled: Collection[int], kept: Collection[int]) -> Plan:
    """Returns a plan that treats the outputs of the layers `kept` as constants. It omits the layers
    in `settled` whose outputs no remaining layer needs."""
    needed: set[int] = set()
    steps = []
    for step in reversed(whole.steps):
        if step.position in kept or (step.position in settled and step.position not in needed):
            continue
        needed.update(producer for producer, _ in step.sources)
        steps.append(step)
    kinds = [_kind(layer) for layer in body.layers]
    for position in kept:
        kinds[position] = CONSTANT
    rows: list[tuple[tuple[int, int], ...]] = [()] * len(kinds)
    for step in steps:
        rows[step.position] = step.sources
    order = [step.position for step in reversed(steps)]
    return _planned(body, order, kinds, rows)


def _planned(
    body: Body, order: Sequence[int], kinds: list[int], rows: list[tuple[tuple[int, int], ...]]
) -> Plan:
    wanted: dict[int, set[int]] = {}
    last_use: dict[int, int] = {}
    for position in order:
        for producer, port in rows[position]:
            wanted.setdefault(producer, set()).add(port)
            last_use[producer] = position
    ended: dict[int, list[int]] = {}
    for producer, position in last_use.items():
        if kinds[producer] != CONSTANT:
            ended.setdefault(position, []).append(producer)
    steps = [
        Step(
            position,
            kinds[position],
            rows[position],
            tuple(ended.get(position, ())),
            tuple(
                port in wanted.get(position, ())
                for port in range(max(len(body.layers[position].outputs), 1))
            ),
        )
        for position in order
    ]
    return Plan(
        steps,
        [step for step in steps if step.kind != CONSTANT],
        [position for position, kind in enumerate(kinds) if kind == RESULT],
    )
