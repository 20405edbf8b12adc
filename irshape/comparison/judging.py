"""Which of the layers that depart by themselves is to blame, and which the device only merges."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from ..execution.session import ExecutionError, Session
from ..model.graph import Layer, Model
from ..model.wiring import OutputRef
from ..shapes import PartialShape
from . import reproducer
from .answers import Question, Unanswered, to_bytes
from .asking_again import FewerTensors
from .crosscheck_run import CrosscheckRun
from .devices import written
from .inside import look_inside
from .result import (
    BEHIND_MERGED,
    MERGED,
    MERGED_SHAPE,
    MERGED_UNASKED,
    MERGED_WITHIN,
    Array,
    Comparison,
    Row,
    fact,
)
from .suspects import Patterns, Suspect

MAX_PROBES = 6
"""How many layers are run alone on the device, runs with fewer tensors included. With two runs of
the whole model, and two more of irshape's for explanations, a cross-check takes at most ten."""

LOOKED_AT_BEHIND = 16
"""How many layers behind a suspected one are computed from the device's value of it."""

Behind = Literal["agrees", "departs", "inherits"]


class Alone(NamedTuple):
    """A layer that was run alone on the device.

    outputs: irshape's. theirs: the device's of the suspected port, None where it gave none.
    right: whether that one agrees.
    """

    cut: reproducer.Cut
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    theirs: Array | None
    right: bool


class Judge:
    """Judges the suspects of a run. compared: `crosschecking.compared`, for bodies."""

    def __init__(self, run: CrosscheckRun, compared: Callable[..., Comparison]) -> None:
        self.run = run
        self.compared = compared
        self.circumstances = run.circumstances
        self.session = run.session
        self.layers = run.layers
        self.wiring = run.wiring
        self.rows = run.rows
        self.merged: dict[OutputRef, Suspect] = {}
        """The outputs whose tensors the device does not have, for it merges their layers."""
        self.recomputed: dict[OutputRef, Array] = {}
        """irshape's values of merged outputs that suspected layers are given."""
        self.patterns = Patterns(self.layers, self.wiring)
        self.known: set[Hashable] = set()
        """The patterns of merged layers."""
        self.probes = run.circumstances.runs
        self.blamed: set[int] = set()
        """The rows of layers that are to blame."""
        self.fewer = FewerTensors(run)
        self.asks_again = True

    def judge(self) -> CrosscheckRun:
        """Runs the suspected layers alone on the device, until one departs there too.

        That one is to blame; it is looked into, and saved. A layer that does not, and from which
        nothing inherits a departure, is merged with its neighbours: its tensor on the device is not
        what those behind it are computed from. It speaks for all in the same surroundings behind
        which nothing departs, and for those that have its constants too.

        A layer that is right alone, and from which others inherit a departure, is to blame unless
        it is right where the device is not asked for its tensor. Returns the run whose verdicts
        hold: without that question, if there is nothing else to blame for.
        """
        self.known |= self.merged_by_shape()
        for suspect in self.run.suspects:
            if self.rows[suspect.number].own_verdict == "differs":
                self.judge_one(suspect)
        again = None if self.blamed else self.fewer.compared()
        return self.run if again is None else self.judge_again(again)

    def judge_again(self, again: CrosscheckRun) -> CrosscheckRun:
        """Judges a run with fewer questions, with what is known and the runs that are left."""
        judge = Judge(again, self.compared)
        judge.known, judge.asks_again = self.known, False
        judge.probes = self.probes + self.fewer.cost
        settled = judge.judge()
        self.fewer.explain_in(settled.rows)
        return settled

    def judge_one(self, suspect: Suspect) -> None:
        """Blames a suspected layer, or explains it, or leaves it as it is."""
        row = self.rows[suspect.number]
        position = self.run.positions[row.layer]
        inputs = self.device_inputs(suspect)
        if self.explains_given(suspect, inputs):
            return
        theirs = self.device_value_of(row)
        behind = self.behind(row)
        exists = runtime_expects(row, theirs)
        if behind == "departs" and exists and not self.blamed and self.leads_on(row, theirs):
            behind = "inherits"
        keys = self.keys_of(row)
        remark = None
        if behind == "agrees" and not exists:
            remark = MERGED_SHAPE
        elif behind == "departs" and self.consumers_agree(suspect, inputs):
            remark = MERGED_WITHIN
        elif behind != "inherits" and keys[behind == "departs"] in self.known:
            remark = MERGED if exists else MERGED_SHAPE
        elif self.blamed and behind == "inherits":
            self.right_unasked(suspect)
        elif self.probes + self.fewer.cost < MAX_PROBES:
            self.probes += 1
            alone = self.alone(suspect, inputs)
            if alone.right and behind != "inherits":
                self.known.update(keys)
                remark = MERGED
            elif not (alone.right and self.right_unasked(suspect)):
                self.blame(suspect, alone)
        if remark is not None:
            self.rows[suspect.number] = self.rows[suspect.number]._replace(own_remark=remark)
            self.merged[position, row.port] = suspect

    def merged_by_shape(self) -> set[Hashable]:
        """The patterns of what is merged as its shape tells, if nothing behind it departs."""
        known: set[Hashable] = set()
        for suspect in self.run.suspects:
            row = self.rows[suspect.number]
            if not runtime_expects(row, self.device_value_of(row)) and self.behind(row) == "agrees":
                known.update(self.keys_of(row))
        return known

    def keys_of(self, row: Row) -> tuple[Hashable, Hashable]:
        """What an output is known again by: its surroundings; what it is computed from, with the
        values of constants."""
        position = self.run.positions[row.layer]
        computed = self.patterns.computed(position), row.port, self.constants_of(position)
        return (self.patterns.of(position), row.port), computed

    def explains_given(self, suspect: Suspect, inputs: tuple[Array, ...]) -> bool:
        """Whether a layer agrees that is given what the device merges; else its row says by how
        much it departs then."""
        if not any(given.source in self.merged for given in suspect.given):
            return False
        row = self.rows[suspect.number]
        theirs = self.device_value_of(row)
        try:
            mine = self.session.evaluate(row.layer, inputs)[row.port]
        except ExecutionError:
            return False
        untold = row._replace(value="not compared", remark=None)
        own = self.run.compared_values(untold, inputs, mine, theirs, alone=True)
        agrees = own.value_verdict != "differs"
        self.rows[suspect.number] = row._replace(
            own="differs",
            own_errors=own.errors,
            own_remark=own.remark or (BEHIND_MERGED if agrees else None),
            ranges=row.ranges if agrees else own.ranges,
        )
        return agrees

    def alone(self, suspect: Suspect, inputs: tuple[Array, ...]) -> Alone:
        """A suspected layer run alone on the device."""
        row = self.rows[suspect.number]
        outputs = self.session.evaluate(row.layer, inputs)
        cut = reproducer.cut(self.session.model, row.layer, inputs)
        theirs = self.asked_alone(cut, row.port)
        right = theirs is not None and self.run.alike(
            row.layer, outputs[row.port], theirs, alone=True
        )
        return Alone(cut, inputs, outputs, theirs, right)

    def blame(self, suspect: Suspect, alone: Alone) -> None:
        """Says in the row of a layer that is to blame what it gives alone. The first of those is
        saved, and looked into."""
        row = self.rows[suspect.number]
        theirs = self.device_value_of(row)
        if alone.theirs is not None:
            same = self.run.alike(row.layer, alone.theirs, theirs, alone=True)
            which = "the same" if same else "other wrong"
            text = f"alone on the device, with the same inputs, the layer gives {which} values"
            merged = MERGED_UNASKED if suspect.number in self.fewer.right else MERGED
            self.rows[suspect.number] = row._replace(
                own_remark=merged._replace(explains=False)
                if alone.right
                else row.own_remark or fact(text)
            )
        if not self.blamed:
            self.keep(row.layer, alone, theirs if alone.theirs is None else alone.theirs)
        self.blamed.add(suspect.number)

    def right_unasked(self, suspect: Suspect) -> bool:
        """Whether the tensor of a suspect is right where the device is not asked for it, though
        others inherit its departure where it is. Its row is then explained."""
        others = (
            each.number
            for each in self.run.suspects
            if self.rows[each.number].own_verdict == "differs"
            and each.number not in self.blamed
            and self.behind(self.rows[each.number]) == "inherits"
        )
        limit = MAX_PROBES - self.probes if self.asks_again else 0
        return self.fewer.explains(suspect.number, others, limit)

    def device_inputs(self, suspect: Suspect) -> tuple[Array, ...]:
        """The inputs of a suspected layer as the device has them.

        Of what it merges, and has not, irshape's values.
        """
        return tuple(
            given.own
            if given.own is not None and given.source not in self.merged
            else self.device_value(given.source)
            for given in suspect.given
        )

    def device_value(self, source: OutputRef) -> Array:
        """The device's value of an output that it has answered; irshape's of one it merges."""
        if source not in self.merged:
            return self._answered(self.layers[source[0]], source[1])
        if source not in self.recomputed:
            inputs = self.device_inputs(self.merged[source])
            outputs = self.session.evaluate(self.layers[source[0]], inputs)
            self.recomputed[source] = outputs[source[1]]
        return self.recomputed[source]

    def device_value_of(self, row: Row) -> Array:
        """The device's value of the output of a row that has been compared."""
        return self._answered(row.layer, row.port)

    def _answered(self, layer: Layer, port: int) -> Array:
        theirs = self.run.theirs(layer, port)
        assert theirs is not None
        return theirs

    def constants_of(self, position: int) -> str:
        """A digest of the constants that a layer is given."""
        digest = hashlib.sha256()
        for index, source in enumerate(self.wiring.sources[position]):
            if source is not None and self.layers[source[0]].is_constant:
                constant = self.session.constant(self.layers[source[0]])
                digest.update(f"{index} {constant.dtype} {constant.shape} ".encode())
                digest.update(to_bytes(constant))
        return digest.hexdigest()

    def keep(self, layer: Layer, alone: Alone, theirs: Array) -> None:
        """Saves the blamed layer where that is asked for, and looks into its bodies."""
        limits = self.circumstances.limits
        comparison = self.run.comparison
        if limits.save is not None:
            comparison.saved = reproducer.save(
                alone.cut, limits.save, {"irshape": alone.outputs, "device": [theirs]}
            )
        if layer.bodies:

            def compare_body(model: Model, inputs: Mapping[str, Array], name: str) -> Comparison:
                inner = limits._replace(save=None if limits.save is None else limits.save / name)
                session = Session(model, max_memory=limits.max_memory)
                return self.compared(
                    session,
                    session.bind({model.net.by_id[id]: array for id, array in inputs.items()}),
                    self.circumstances.device,
                    {**self.circumstances.options, "layers": "all"},
                    inner,
                    self.circumstances.progress,
                    label=f"{self.circumstances.label}{name}/",
                )

            comparison.inside = look_inside(self.session, layer, alone.inputs, compare_body)

    def behind(self, row: Row) -> Behind:
        """What becomes of an output in the layers that it feeds.

        They agree; those that depart do so by themselves; or one inherits a departure, as the
        outputs of the model do.
        """
        if (row.layer, row.port) in self.run.comparison.outputs:
            return "inherits"
        position = self.run.positions[row.layer]
        fed = [
            self.rows[number]
            for consumer in dict.fromkeys(user.position for user in self.wiring.users[position])
            for number in self.run.rows_of.get(self.layers[consumer], ())
        ]
        departing = [each for each in fed if each.value_verdict not in ("equal", "explained")]
        if not runtime_expects(row, self.device_value_of(row)):
            # by themselves, they were given irshape's value
            departing = [
                each for each in departing if each.own_verdict not in ("equal", "explained")
            ]
        if not fed or any(each.own_verdict != "differs" for each in departing):
            return "inherits"
        return "departs" if departing else "agrees"

    def consumers_agree(self, suspect: Suspect, inputs: tuple[Array, ...]) -> bool:
        """Whether all that an output feeds agrees with the device, given irshape's value of it."""
        row = self.rows[suspect.number]
        output = self.run.positions[row.layer], row.port
        try:
            value = self.session.evaluate(row.layer, inputs)[row.port]
            users = self.wiring.users[output[0]]
            for consumer in {user.position for user in users if user.output == row.port}:
                if not self.run.rows_of.get(self.layers[consumer]):
                    continue
                given = [
                    value if source == output else self.value_of(source)
                    for source in self.wiring.sources[consumer]
                    if source is not None
                ]
                outputs = self.session.evaluate(self.layers[consumer], given)
                for number in self.run.rows_of[self.layers[consumer]]:
                    port = self.rows[number].port
                    theirs = self.run.theirs(self.layers[consumer], port)
                    if theirs is None or not self.run.alike(
                        self.layers[consumer], outputs[port], theirs, alone=True
                    ):
                        return False
        except (ExecutionError, KeyError):
            return False
        return True

    def leads_on(self, row: Row, value: Array) -> bool:
        """Whether a layer not far behind an output is as wrong on the device as `value` makes it.

        Then the device did compute with that value. The layers between may be merged ones, whose
        tensors it does not have.
        """
        position, evaluated = self.run.positions[row.layer], 0
        values = {(position, row.port): value}
        for consumer in self.wiring.order[self.wiring.order.index(position) :]:
            layer = self.layers[consumer]
            sources = [source for source in self.wiring.sources[consumer] if source is not None]
            rows = [self.rows[number] for number in self.run.rows_of.get(layer, ())]
            if (
                values.keys().isdisjoint(sources)
                or not self.run.stands_alone(layer)
                or all(row.value_verdict == "equal" for row in rows)
            ):
                continue
            evaluated += 1
            if evaluated > LOOKED_AT_BEHIND:
                break
            try:
                inputs = [
                    values[source] if source in values else self.value_of(source)
                    for source in sources
                ]
                outputs = self.session.evaluate(layer, inputs)
            except (ExecutionError, KeyError):
                continue
            if any(self.agrees(row, outputs[row.port]) for row in rows):
                return True
            values |= {(consumer, port): computed for port, computed in enumerate(outputs)}
        return False

    def agrees(self, row: Row, value: Array) -> bool:
        """Whether a value is the device's of an output where irshape's departs."""
        theirs = self.run.theirs(row.layer, row.port)
        return (
            row.value_verdict == "differs"
            and theirs is not None
            and self.run.alike(row.layer, value, theirs, alone=False)
        )

    def value_of(self, source: OutputRef) -> Array:
        """A constant, an input, or the device's value of an output.

        Raises `KeyError` where it gives none.
        """
        value = self.run.value_of(source)
        return self.device_value(source) if source in self.merged else value

    def asked_alone(self, cut: reproducer.Cut, port: int) -> Array | None:
        """What the device gives for a layer by itself; None where it cannot."""
        with tempfile.TemporaryDirectory(prefix="irshape-") as name:
            try:
                model = written(cut.model, Path(name))
                label = f"{self.circumstances.label}layer {cut.layer.id} alone"
                options = {**self.circumstances.options, "layers": "outputs"}
                self.circumstances.progress.begin(
                    f"{self.run.where}running layer {cut.layer.id} ({cut.layer.type}) alone on "
                    f"{options['device']}"
                )
                answer = self.circumstances.device.ask(Question(label, model, cut.inputs, options))
            except (Unanswered, ValueError, OSError):
                return None
            tensor = answer.values.get((cut.layer.id, port))
            return None if tensor is None else tensor.array()


def runtime_expects(row: Row, theirs: Array) -> bool:
    """Whether the device's tensor has the shape that OpenVINO itself infers."""
    return row.runtime.shape.encloses(PartialShape(theirs.shape))
