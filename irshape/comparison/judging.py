"""Decides which layer is to blame, and which layers the device only merges."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from ..execution.session import ExecutionError, Session
from ..model.graph import Layer, Model
from ..model.wiring import OutputRef
from ..numpy_types import Array
from ..shapes import PartialShape
from . import reproducer
from .answers import Question, Unanswered, to_bytes
from .bodies import look_inside
from .crosscheck_run import CrosscheckRun
from .devices import written
from .explanations import (
    BEHIND_MERGED,
    MERGED,
    MERGED_SHAPE,
    MERGED_UNASKED,
    MERGED_WITHIN,
    UNASKED,
    Remark,
    fact,
)
from .fewer_outputs import with_fewer_tensors
from .result import Comparison, Row
from .suspects import Suspect, pattern_of

MAX_PROBES = 6
"""How many layers may be run alone on the device. Runs to find a part of the model that the device
can run count, too. At most two runs with fewer tensors follow."""

LOOKED_AT_BEHIND = 16
"""How many layers after a suspected layer are recomputed from the device's value of its output."""

Behind = Literal["agrees", "departs", "inherits"]


class Alone(NamedTuple):
    """A layer that was run alone on the device.

    outputs: irshape's outputs of the layer. theirs: the device's value of the suspected port, None
    if the device returned no value. right: whether `theirs` agrees with irshape's value.
    """

    cut: reproducer.Cut
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    theirs: Array | None
    right: bool


class Judge:
    """Decides whether layers that differ for equal inputs are wrong on the device or only merged.

    compared: the function `crosschecking.compared`, which compares bodies. known: patterns of
    layers that the device is known to merge. probes: how many of `MAX_PROBES` are used already.
    """

    def __init__(
        self,
        run: CrosscheckRun,
        compared: Callable[..., Comparison],
        known: Iterable[Hashable] = (),
        probes: int = 0,
    ) -> None:
        self.run = run
        self.compared = compared
        self.circumstances = run.circumstances
        self.session = run.session
        self.layers = run.layers
        self.wiring = run.wiring
        self.rows = run.rows
        self.merged: dict[OutputRef, Suspect] = {}
        """The outputs for which the device has no tensor, because it merges their layers."""
        self.recomputed: dict[OutputRef, Array] = {}
        """irshape's values of merged outputs that feed suspected layers."""
        self.known = {*known, *self.merged_by_shape()}
        self.probes = probes
        self.accused: dict[int, tuple[Suspect, Alone | None]] = {}
        """The unexplained suspects by row number, each with its result when run alone; None if it
        was not run alone."""
        for suspect in run.suspects:
            if self.rows[suspect.number].own_verdict == "differs":
                self.judge_one(suspect)

    @property
    def wrong(self) -> set[int]:
        """The row numbers of unexplained layers that also differ when run alone on the device."""
        return {number for number, (_, alone) in self.accused.items() if alone and not alone.right}

    def judge(self) -> CrosscheckRun:
        """Blames the layers without an explanation. Returns the run with the final verdicts.

        A layer that is not known to be wrong when run alone may be right if its tensor is not
        requested. So the model runs again without the tensors of all such layers. If this run
        accuses only layers known to be wrong, the others are explained, and this run is returned.
        """
        wrong = self.wrong
        rest = [suspect for number, (suspect, _) in self.accused.items() if number not in wrong]
        merged = MERGED
        for again in with_fewer_tensors(self.run, [self.rows[each.number].layer for each in rest]):
            judge = Judge(again, self.compared, self.known, self.probes)
            if judge.accused.keys() <= wrong:
                again.comparison, again.comparison.rows = self.run.comparison, again.rows
                for number, *_ in rest:
                    row = self.rows[number]
                    again.rows[number] = row._replace(remark=UNASKED, own_remark=UNASKED)
                judge.blame(merged)
                return again
            merged = MERGED_UNASKED
        self.blame(merged)
        return self.run

    def judge_one(self, suspect: Suspect) -> None:
        """Explains a suspected layer or adds it to `accused`. If necessary, runs only this layer on
        the device.

        If the suspect is right when run alone and no consumer inherits its difference, the device
        merges the layer with its neighbours, and does not use its tensor. Then later suspects of
        the same pattern need not be run. If their consumers agree, the pattern includes the types
        of consumers. If consumers differ, it includes the values of constants.
        """
        row = self.rows[suspect.number]
        position = self.run.positions[row.layer]
        inputs = self.device_inputs(suspect)
        if self.explains_given(suspect, inputs):
            return
        behind = self.behind(row)
        exists = self.has_inferred_shape(row)
        if behind == "departs" and exists and not self.accused and self.leads_on(row):
            behind = "inherits"
        keys = self.keys_of(row)
        remark = None
        if behind == "agrees" and not exists:
            remark = MERGED_SHAPE
        elif behind == "departs" and self.consumers_agree(suspect, inputs):
            remark = MERGED_WITHIN
        elif behind != "inherits" and keys[behind == "departs"] in self.known:
            remark = MERGED if exists else MERGED_SHAPE
        elif self.probes >= MAX_PROBES or (self.wrong and behind == "inherits"):
            self.accused[suspect.number] = suspect, None
        else:
            self.probes += 1
            alone = self.alone(suspect, inputs)
            if alone.right and behind != "inherits":
                self.known.update(keys)
                remark = MERGED
            else:
                self.accused[suspect.number] = suspect, alone
        if remark is not None:
            self.rows[suspect.number] = self.rows[suspect.number]._replace(own_remark=remark)
            self.merged[position, row.port] = suspect

    def merged_by_shape(self) -> set[Hashable]:
        """Returns the patterns of layers whose tensors on the device have other shapes than
        OpenVINO infers: the device merges these layers. Leaves out layers with consumers that
        differ."""
        known: set[Hashable] = set()
        for suspect in self.run.suspects:
            row = self.rows[suspect.number]
            if not self.has_inferred_shape(row) and self.behind(row) == "agrees":
                known.update(self.keys_of(row))
        return known

    def keys_of(self, row: Row) -> tuple[Hashable, Hashable]:
        """Returns two keys of an output. The first describes its layer, producers and consumers;
        the second its layer, producers and constants."""
        position = self.run.positions[row.layer]
        computed = pattern_of(self.layers, self.wiring, position)
        users = [(user.input, self.layers[user.position]) for user in self.wiring.users[position]]
        consumers = sorted((input, layer.type, layer.version) for input, layer in users)
        around = computed, tuple(consumers), row.port
        return around, (computed, row.port, self.constants_of(position))

    def explains_given(self, suspect: Suspect, inputs: tuple[Array, ...]) -> bool:
        """Returns whether a layer agrees if irshape's values replace the inputs whose producers the
        device merges. If the layer still differs, its row gets the remaining difference."""
        if not any(source in self.merged for source, _ in suspect.given):
            return False
        row = self.rows[suspect.number]
        try:
            mine = self.session.evaluate(row.layer, inputs)[row.port]
        except ExecutionError:
            return False
        own = self.run.compared_values(row, inputs, mine, alone=True)
        agrees = own.value_verdict != "differs"
        self.rows[suspect.number] = row._replace(
            own="differs",
            own_errors=own.errors,
            own_remark=own.remark or (BEHIND_MERGED if agrees else None),
            ranges=row.ranges if agrees else own.ranges,
        )
        return agrees

    def alone(self, suspect: Suspect, inputs: tuple[Array, ...]) -> Alone:
        """Runs only a suspected layer on the device and in irshape. Returns the results."""
        row = self.rows[suspect.number]
        outputs = self.session.evaluate(row.layer, inputs)
        cut = reproducer.cut(self.session.model, row.layer, inputs)
        theirs = self.asked_alone(cut, row.port)
        right = theirs is not None and self.run.alike(
            row.layer, outputs[row.port], theirs, alone=True
        )
        return Alone(cut, inputs, outputs, theirs, right)

    def blame(self, merged: Remark) -> None:
        """Adds to each unexplained layer that was run alone a note on the values that the device
        returned. Saves the first unexplained layer, and compares its bodies.
        merged: the note for layers that are right alone."""
        for number, (_, alone) in self.accused.items():
            row = self.rows[number]
            if alone is None:
                continue
            theirs = self.run.value_at(row)
            if alone.theirs is not None:
                same = self.run.alike(row.layer, alone.theirs, theirs, alone=True)
                which = "the same wrong" if same else "other wrong"
                text = f"alone on the device, with the same inputs, the layer gives {which} values"
                remark = row.own_remark or fact(text)
                if alone.right:
                    remark = merged._replace(explains=False)
                self.rows[number] = row._replace(own_remark=remark)
            if number == next(iter(self.accused)):
                self.keep(row.layer, alone, theirs if alone.theirs is None else alone.theirs)

    def device_inputs(self, suspect: Suspect) -> tuple[Array, ...]:
        """Returns the device's values of the inputs of a suspected layer.

        Returns irshape's value of an input if the device has no suitable value or merges the
        producer.
        """
        return tuple(
            own if own is not None and source not in self.merged else self.value_of(source)
            for source, own in suspect.given
        )

    def value_of(self, source: OutputRef) -> Array:
        """Returns the device's value of an output; irshape's for a constant, a model input or a
        layer that the device merges. Raises `KeyError` if the device returned none."""
        if source not in self.merged:
            return self.run.value_of(source)
        if source not in self.recomputed:
            inputs = self.device_inputs(self.merged[source])
            outputs = self.session.evaluate(self.layers[source[0]], inputs)
            self.recomputed[source] = outputs[source[1]]
        return self.recomputed[source]

    def has_inferred_shape(self, row: Row) -> bool:
        """Returns whether the device's tensor has the shape that OpenVINO infers."""
        return row.runtime.shape.encloses(PartialShape(self.run.value_at(row).shape))

    def constants_of(self, position: int) -> str:
        """Returns a digest of the constants that feed a layer."""
        digest = hashlib.sha256()
        for index, source in enumerate(self.wiring.sources[position]):
            if source is not None and self.layers[source[0]].is_constant:
                constant = self.session.constant(self.layers[source[0]])
                digest.update(f"{index} {constant.dtype} {constant.shape} ".encode())
                digest.update(to_bytes(constant))
        return digest.hexdigest()

    def keep(self, layer: Layer, alone: Alone, theirs: Array) -> None:
        """Saves a layer that is to blame, if the user requested it, and cross-checks its bodies."""
        save, max_memory = self.circumstances.save, self.circumstances.max_memory
        comparison = self.run.comparison
        if save is not None:
            comparison.saved = reproducer.save(
                alone.cut, save, {"irshape": alone.outputs, "device": [theirs]}
            )
        if layer.bodies:

            def compare_body(model: Model, inputs: Mapping[str, Array], name: str) -> Comparison:
                session = Session(model, max_memory=max_memory)
                fed = session.bind({model.net.by_id[id]: array for id, array in inputs.items()})
                inside = self.circumstances._replace(
                    options={**self.circumstances.options, "layers": "all"},
                    save=save and save / name,
                    label=f"{self.circumstances.label}{name}/",
                )
                return self.compared(session, fed, inside)

            comparison.inside = look_inside(self.session, layer, alone.inputs, compare_body)
            if comparison.inside is None:
                comparison.notes.append(
                    f"nothing inside {layer.label} is compared: with these inputs no body runs, or "
                    "no run can be compared"
                )

    def behind(self, row: Row) -> Behind:
        """Returns what the difference of an output does to its consumers.

        "agrees": all consumers agree. "departs": consumers differ, and each of these differs even
        for equal inputs. "inherits": a consumer inherits the difference, the output is an output of
        the model, or it has no consumers.
        """
        if (row.layer, row.port) in self.run.comparison.outputs:
            return "inherits"
        position = self.run.positions[row.layer]
        fed = [
            each
            for consumer in dict.fromkeys(user.position for user in self.wiring.users[position])
            for each in self.rows_at(consumer)
        ]
        departing = [each for each in fed if each.value_verdict not in ("equal", "explained")]
        if not self.has_inferred_shape(row):
            # compared by themselves, they were computed from irshape's value
            departing = [
                each for each in departing if each.own_verdict not in ("equal", "explained")
            ]
        if not fed or any(each.own_verdict != "differs" for each in departing):
            return "inherits"
        return "departs" if departing else "agrees"

    def consumers_agree(self, suspect: Suspect, inputs: tuple[Array, ...]) -> bool:
        """Returns whether all consumers agree if irshape's value replaces the suspected output."""
        row = self.rows[suspect.number]
        try:
            value = self.session.evaluate(row.layer, inputs)[row.port]
            values = {(self.run.positions[row.layer], row.port): value}
            for consumer in self.run.users_of(values):
                outputs = self.run.recompute(consumer, values, self.value_of)
                for fed in self.rows_at(consumer):
                    theirs = self.run.theirs(fed.layer, fed.port)
                    mine = outputs[fed.port]
                    if theirs is None or not self.run.alike(fed.layer, mine, theirs, alone=True):
                        return False
        except (ExecutionError, KeyError):
            return False
        return True

    def leads_on(self, row: Row) -> bool:
        """Returns whether the device uses its value of an output, perhaps in merged layers: irshape
        gets the device's wrong result of a later layer if it starts from the device's value."""
        values = {(self.run.positions[row.layer], row.port): self.run.value_at(row)}
        looked_at = (
            consumer
            for consumer in self.run.users_of(values)
            if self.run.stands_alone(self.layers[consumer])
            and any(row.value_verdict != "equal" for row in self.rows_at(consumer))
        )
        for consumer in islice(looked_at, LOOKED_AT_BEHIND):
            try:
                outputs = self.run.recompute(consumer, values, self.value_of)
            except (ExecutionError, KeyError):
                continue
            for each in self.rows_at(consumer):
                if each.value_verdict == "differs" and self.run.alike(
                    each.layer, outputs[each.port], self.run.value_at(each), alone=False
                ):
                    return True
            values |= {(consumer, port): computed for port, computed in enumerate(outputs)}
        return False

    def rows_at(self, position: int) -> list[Row]:
        """Returns the rows of the outputs of a layer."""
        return [self.rows[number] for number in self.run.rows_of.get(self.layers[position], ())]

    def asked_alone(self, cut: reproducer.Cut, port: int) -> Array | None:
        """Runs a single layer on the device. Returns its output; None if the device cannot run
        it."""
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
