"""The device asked again, for fewer tensors: what it gives may depend on what it is asked for.

A device merges layers with each other, but not where it is asked for the tensor between them. What
it gives then can be wrong although the model on its own, of which nobody wants inner tensors, is
computed right. A tensor that the device is not asked for is judged by what is computed from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ..execution.feeds import by_id
from ..execution.session import ExecutionError
from ..model.graph import Layer
from ..model.wiring import OutputRef
from ..ops.registry import declaration_of
from .answers import Question, Unanswered
from .crosscheck_run import CrosscheckRun, device_name
from .result import UNASKED, Array, Comparison, Row

RUNS_TO_COMPARE = 2
"""irshape's runs of the whole model that compare it again: one, and one for explanations."""


class FewerTensors:
    """Asks the device for fewer tensors of a model, and keeps what is right then.

    right: for rows whose tensors departed, whether they are right without the question.
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
        """The runs that it took, and those that `compared` will take."""
        return self._asked + RUNS_TO_COMPARE if self._asked else 0

    def explains(self, number: int, others: Iterable[int], limit: int) -> bool:
        """Whether the tensor of a row is right where the device is not asked for it, or else, where
        it is not asked for the tensors next to it either. The row is then explained.

        others: further rows of which the same is to be known. limit: of `cost`.
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
        """The whole comparison with what the device gave last, if all that it was not asked for is
        right."""
        if self._last is None or not all(self.right.get(each) for each in self._last.numbers):
            return None
        again = self._last.run
        again.compare()
        again.comparison = self.run.comparison
        again.comparison.rows = again.rows
        return again

    def explain_in(self, rows: list[Row]) -> None:
        """Puts the rows of this run into those of another, for what is right there."""
        for number, right in self.right.items():
            if right:
                rows[number] = self.run.rows[number]

    def _layer(self, number: int) -> Layer:
        return self.run.rows[number].layer

    def _apart(self, numbers: Iterable[int]) -> list[int]:
        """Those rows whose layers are no outputs of the model, and no neighbours of one before: a
        tensor that is not asked for is judged by the next ones."""
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
        """What feeds a layer, and what it feeds."""
        position, wiring = self.run.positions[layer], self.run.wiring
        beside = {source[0] for source in wiring.sources[position] if source is not None}
        beside.update(user.position for user in wiring.users[position])
        return {self.run.layers[each] for each in beside}

    def _with_neighbours(self, numbers: list[int]) -> set[Layer]:
        """The layers of some rows and those next to them, as far as irshape's values can stand for
        theirs and they are no outputs of the model."""
        layers = {self._layer(number) for number in numbers}
        beside = {each for layer in layers for each in self._neighbours(layer)}
        return (layers | {each for each in beside if self._is_replaceable(each)}) - self._outputs

    def _is_replaceable(self, layer: Layer) -> bool:
        """Whether irshape's value of a layer can stand for the device's: the two agree, and the
        least error cannot make a whole step."""
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
        """Whether the device has no tensor of a layer, as its row says."""
        return any(self.run.rows[number].merged for number in self.run.rows_of.get(layer, ()))

    def _ask(self, numbers: list[int], unasked: set[Layer], limit: int) -> None:
        """Asks for all tensors but those of some layers, and of what was right before without."""
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
    """numbers: of the rows that it is about. run: with what the device answered."""

    numbers: list[int]
    run: CrosscheckRun


def asked_without(run: CrosscheckRun, unasked: Collection[Layer]) -> CrosscheckRun | None:
    """A run, not compared yet, with what the device gives when it is not asked for the tensors of
    some layers; None where it gives nothing."""
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
    """Whether a tensor that departed in one run is right in another, with fewer questions.

    Either the other has it, and it agrees. Or all that is computed from it agrees, given irshape's
    value of it, and some of that would not, given the value that departed.
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
    """Whether all that is computed from a tensor agrees, and some would not, given another value.

    Raises `ExecutionError` and `KeyError` for what irshape cannot compute, or the device not give.
    """
    values: dict[OutputRef, Array] = {source: departing}
    told_apart = False
    for consumer in again.wiring.order:
        sources = [each for each in again.wiring.sources[consumer] if each is not None]
        layer = again.layers[consumer]
        if values.keys().isdisjoint(sources) or not again.rows_of.get(layer):
            continue
        given = [values[each] if each in values else again.value_of(each) for each in sources]
        outputs = again.session.evaluate(layer, given)
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
    """Whether a layer agrees by itself, given the device's inputs. Raises as above."""
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
