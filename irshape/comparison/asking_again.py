"""Runs the device again with fewer tensors as outputs, since the choice of outputs may change
values.

A device merges neighbouring layers into one, except where it has to return the tensor between them.
There its value can be wrong, although the device computes the model correctly when it returns only
the outputs. A tensor that the device no longer returns is judged by the tensors computed from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ..execution.feeds import by_id
from ..execution.session import ExecutionError
from ..model.graph import Layer
from ..model.wiring import OutputRef
from ..numpy_types import Array
from ..ops.registry import declaration_of
from .answers import Question, Unanswered
from .crosscheck_run import CrosscheckRun, device_name
from .explanations import UNASKED
from .result import Comparison, Row

RUNS_TO_COMPARE = 2
"""How often irshape runs the whole model again: once to compare it, and once for explanations."""


class FewerTensors:
    """Requests fewer tensors of a model from the device, and remembers which tensors are then
    right.

    right: for each row that differed, by its number: whether it is right when its tensor is not
    requested.
    """

    def __init__(self, run: CrosscheckRun) -> None:
        self.run = run
        self.right: dict[int, bool] = {}
        self._asked = 0
        self._last: _Question | None = None
        self._silent = False
        self._outputs = {producer for producer, _ in run.comparison.outputs}

    @property
    def cost(self) -> int:
        """The number of runs so far, plus those that `compared` will need."""
        return self._asked + RUNS_TO_COMPARE if self._asked else 0

    def explains(self, number: int, others: Iterable[int], limit: int) -> bool:
        """Returns whether the tensor of a row is right when it is not requested from the device.

        If it is not, irshape also leaves out the tensors next to it. If either attempt succeeds,
        the row is explained.

        others: further rows to test in the same runs.
        limit: the highest `cost` allowed.
        """
        suspects = list(dict.fromkeys([number, *others]))
        if number not in self.right and self._layer(number) not in self._outputs:
            numbers = self._apart(suspects)
            self._ask(numbers, {self._layer(each) for each in numbers}, limit)
        if not self.right.get(number):
            numbers = [each for each in suspects if not self.right.get(each)]
            self._ask(numbers, self._with_neighbours(numbers), limit)
        return self.right.get(number, False)

    def compared(self) -> CrosscheckRun | None:
        """Compares the whole model with the device's latest values.

        Returns None unless all tensors that were not requested are right.
        """
        if self._last is None or not all(self.right.get(each) for each in self._last.numbers):
            return None
        again = self._last.run
        again.compare()
        again.comparison = self.run.comparison
        again.comparison.rows = again.rows
        return again

    def explain_in(self, rows: list[Row]) -> None:
        """Replaces rows of another run by the rows that are right in this run."""
        for number, right in self.right.items():
            if right:
                rows[number] = self.run.rows[number]

    def _layer(self, number: int) -> Layer:
        return self.run.rows[number].layer

    def _apart(self, numbers: Iterable[int]) -> list[int]:
        """Selects rows whose layers are neither outputs nor neighbours of a selected layer.

        A tensor that is not requested is judged by its neighbours, so those must be requested.
        """
        apart: list[int] = []
        near: set[Layer] = set()
        for number in numbers:
            layer = self._layer(number)
            if number in self.right or layer in self._outputs or layer in near:
                continue
            apart.append(number)
            near |= self._neighbours(layer)
        return apart

    def _neighbours(self, layer: Layer) -> set[Layer]:
        """Returns the producers and the consumers of a layer."""
        position, wiring = self.run.positions[layer], self.run.wiring
        beside = {source[0] for source in wiring.sources[position] if source is not None}
        beside.update(user.position for user in wiring.users[position])
        return {self.run.layers[each] for each in beside}

    def _with_neighbours(self, numbers: list[int]) -> set[Layer]:
        """Returns the layers of some rows and the replaceable layers next to them.

        Outputs of the model are left out; so are neighbours whose values irshape's cannot replace.
        """
        layers = {self._layer(number) for number in numbers}
        beside = {each for layer in layers for each in self._neighbours(layer)}
        return (layers | {each for each in beside if self._is_replaceable(each)}) - self._outputs

    def _is_replaceable(self, layer: Layer) -> bool:
        """Whether irshape's value of a layer can replace the device's.

        It can if the two agree and the smallest error cannot turn into a whole step.
        """
        numbers = self.run.rows_of.get(layer, ())
        declared = declaration_of(layer)
        return (
            bool(numbers)
            and all(self.run.rows[number].own_verdict == "equal" for number in numbers)
            and declared is not None
            and not declared.stepwise
            and layer.folded_type != "fakequantize"
        )

    def _is_merged(self, layer: Layer) -> bool:
        """Whether the device merges a layer and has no tensor for it, according to its row."""
        return any(self.run.rows[number].merged for number in self.run.rows_of.get(layer, ()))

    def _ask(self, numbers: list[int], unasked: set[Layer], limit: int) -> None:
        """Requests all tensors, except the outputs of `unasked` and of layers that were right when
        they were left out before."""
        cost = self.cost + 1 if self._asked else 1 + RUNS_TO_COMPARE
        if self._silent or not unasked or cost > limit:
            return
        self._asked += 1
        known = [number for number, right in self.right.items() if right]
        if self._last is not None and known:
            unasked = unasked | self._last.run.unasked
        beside = {each for layer in unasked for each in self._neighbours(layer)}
        unasked = unasked | ({each for each in beside if self._is_merged(each)} - self._outputs)
        again = asked_without(self.run, sorted(unasked, key=self.run.positions.__getitem__))
        if again is None:
            self._silent = True
            return
        self._last = _Question([*known, *numbers], again)
        for number in numbers:
            self.right[number] = _is_right(self.run, again, number)
            if self.right[number]:
                self.run.rows[number] = self.run.rows[number]._replace(
                    remark=UNASKED, own_remark=UNASKED
                )


class _Question(NamedTuple):
    """numbers: of the rows to test. run: holds the device's answer."""

    numbers: list[int]
    run: CrosscheckRun


def asked_without(run: CrosscheckRun, unasked: Collection[Layer]) -> CrosscheckRun | None:
    """Requests all tensors from the device, except the outputs of some layers.

    Returns a run with its answer, not compared yet; None if the device gives no values.
    """
    circumstances, session = run.circumstances, run.session
    plural = "s" * (len(unasked) > 1)
    ids = ", ".join(layer.id for layer in unasked)
    without = f"without the tensor{plural} of layer{plural} {ids}"
    device = circumstances.options["device"]
    circumstances.progress.begin(f"{run.where}running the model on {device} {without}")
    options = {**circumstances.options, "unasked": [device_name(layer) for layer in unasked]}
    label = f"{circumstances.label}the model {without}"
    try:
        question = Question(label, session.model, by_id(run.fed), options)
        answer = circumstances.device.ask(question)
    except (Unanswered, ValueError, OSError):
        return None
    if not answer.values:
        return None
    rows = [
        Row(row.layer, row.port, row.inferred, row.runtime, row.shape_verdict) for row in run.rows
    ]
    comparison = Comparison(session.model, run.comparison.device, answer, rows, [])
    given = {name for name, _ in answer.values}  # a recording may have more than was asked for
    absent = frozenset(layer for layer in unasked if device_name(layer) not in given)
    return CrosscheckRun(session.sibling(), answer, comparison, circumstances, run.fed, absent)


def _is_right(run: CrosscheckRun, again: CrosscheckRun, number: int) -> bool:
    """Returns whether a tensor that differs is right in a run that requests fewer tensors.

    If the other run has the tensor, it must agree. Otherwise all layers computed from irshape's
    value of it must agree, and at least one must not agree when computed from the value that
    differs.
    """
    row = run.rows[number]
    departing = run.theirs(row.layer, row.port)
    if departing is None:
        return False
    try:
        if row.layer not in again.unasked:
            return _agrees(again, row.layer)
        return _leads_to_what_agrees(again, (run.positions[row.layer], row.port), departing)
    except (ExecutionError, KeyError):
        return False


def _leads_to_what_agrees(again: CrosscheckRun, source: OutputRef, departing: Array) -> bool:
    """Returns whether all consumers of a tensor agree, and one of them would not agree with another
    value.

    Raises `ExecutionError` if irshape cannot compute a layer, `KeyError` if the device lacks a
    value.
    """
    values: dict[OutputRef, Array] = {source: departing}
    told_apart = False
    for consumer in again.users_of(values):
        layer = again.layers[consumer]
        outputs = again.recompute(consumer, values, again.value_of)
        if layer in again.unasked:
            values |= {(consumer, port): value for port, value in enumerate(outputs)}
        elif not _agrees(again, layer):
            return False
        else:
            theirs = [again.theirs(layer, port) for port in range(len(outputs))]
            told_apart = told_apart or any(
                value is not None and not again.alike(layer, output, value, alone=False)
                for output, value in zip(outputs, theirs, strict=True)
            )
    return told_apart


def _agrees(run: CrosscheckRun, layer: Layer) -> bool:
    """Returns whether a layer agrees when computed from the device's inputs.

    Raises `ExecutionError` and `KeyError` as `_leads_to_what_agrees` does.
    """
    sources = run.wiring.sources[run.positions[layer]]
    inputs = tuple(run.value_of(each) for each in sources if each is not None)
    outputs = run.session.evaluate(layer, inputs)
    verdicts = []
    for number in run.rows_of[layer]:
        row = run.rows[number]
        theirs = run.theirs(layer, row.port)
        if theirs is not None:
            compared = run.compared_values(row, inputs, outputs[row.port], theirs, alone=True)
            verdicts.append(compared.value_verdict)
    return bool(verdicts) and all(verdict in ("equal", "explained") for verdict in verdicts)
