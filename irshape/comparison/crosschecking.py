"""Cross-check: every layer's element type, shape and value beside OpenVINO's."""

from __future__ import annotations

import hashlib
import tempfile
from collections import ChainMap
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from ..execution.inputs import random_inputs
from ..execution.ranges import rounding
from ..execution.session import ExecutionError, Observer, Session
from ..inference.engine import infer
from ..inference.result import BodyResult
from ..model.graph import Layer, Model
from ..model.wiring import OutputRef
from ..numbers.statistics import errors, range_of
from ..numbers.tolerance import Hint, Tolerance
from ..types import ElementType, PartialShape
from . import reproducer
from .answers import Answer, Device, Question, Unanswered, to_bytes
from .devices import OpenVinoDevice, written
from .inside import look_inside
from .layerwise import ComputedLayer, LayerwiseRun
from .narrowing import decompressed_in_f32, explanation
from .recording import Recorder, Recording
from .result import BEHIND_MERGED, MERGED, MERGED_SHAPE, Array, Comparison, Row, Verdict
from .suspects import Patterns, Suspect

MAX_PROBES = 6
"""How many layers are run alone on the device. With two runs of the whole model, and two more of
irshape's for explanations, a cross-check takes at most ten runs."""

LOOKED_AT_BEHIND = 16
"""How many layers behind a suspected one are computed from the device's value of it."""

SIMULATED_FACTOR = 4.0
"""How far an output of the model may depart where the device computes in f16 or bf16, as a multiple
of how far it departs when irshape rounds every tensor to that precision."""

DECOMPRESSED = (
    "the device decompresses weights in f32, where the IR rounds them to f16 on the way; "
    "computed that way, irshape's values agree"
)


AT_TIES = (
    "inherited from FakeQuantize layers that are one level off where their input lies halfway "
    "between two levels; with the device's values of those, irshape's values agree"
)

Behind = Literal["agrees", "departs", "inherits"]


class Limits(NamedTuple):
    """What a cross-check is told beside the model, its inputs and the device.

    rtol, atol: of the user. save: a folder for the blamed layer.
    """

    rtol: float | None = None
    atol: float | None = None
    save: Path | None = None
    max_memory: int | None = None


def crosscheck(
    model: Model,
    inputs: Mapping[str, Array] | Sequence[Array] | None = None,
    *,
    device: str = "CPU",
    hint: Hint | None = None,
    layers: Literal["all", "outputs"] = "all",
    config: Mapping[str, str] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    save: str | Path | None = None,
    record: str | Path | None = None,
    replay: str | Path | None = None,
    max_memory: int | None = None,
    progress: Observer | None = None,
) -> Comparison:
    """The cross-check of an IR with a device of OpenVINO, or with a recording of one.

    The options are those of `by_format.crosscheck`.
    """
    limits = Limits(rtol, atol, None if save is None else Path(save), max_memory)
    options = {"device": device, "config": dict(config or {}), "layers": layers, "hint": hint}
    if replay is not None:
        if inputs is not None or record is not None:
            raise ValueError("a recording includes its inputs, and cannot be recorded again")
        return _replayed(model, replay, options, limits, progress)
    session = Session(model, max_memory=max_memory)
    if inputs is None:
        inputs = random_inputs(model, seed, max_memory=max_memory)
    fed = session.bind(inputs)
    with ExitStack() as stack:
        live: Device = stack.enter_context(OpenVinoDevice())
        recorder = None if record is None else stack.enter_context(Recorder(live))
        comparison = compared(session, fed, recorder or live, options, limits, progress)
        if recorder is not None and record is not None:
            recorder.save(record)
    return comparison


def _replayed(
    model: Model,
    path: str | Path,
    options: Mapping[str, Any],
    limits: Limits,
    progress: Observer | None,
) -> Comparison:
    with Recording(path, limits.max_memory) as recording:
        for name, default in (("device", "CPU"), ("hint", None), ("layers", "all"), ("config", {})):
            if options[name] not in (default, recording.options[name]):
                raise ValueError(
                    f"'{path}' was recorded with {name} {recording.options[name]!r}, "
                    f"not {options[name]!r}"
                )
        session = Session(model, max_memory=limits.max_memory)
        fed = session.bind(recording.inputs)
        comparison = compared(session, fed, recording, recording.options, limits, progress)
        if not recording.is_of(model):
            comparison.notes.append(
                f"'{path}' was recorded from another model: its layers or constants differ"
            )
        comparison.notes += [
            f"'{path}' does not say what the device makes of {label}"
            for label in dict.fromkeys(recording.unanswered)
        ]
    return comparison


def compared(
    session: Session,
    fed: Mapping[str, Array],
    device: Device,
    options: Mapping[str, Any],
    limits: Limits,
    progress: Observer | None = None,
    label: str = "",
) -> Comparison:
    """Compares a model with what a device answers. label: what the model was cut out of, if it was.

    Raises `ExecutionError` for inputs that do not fit, `Unanswered` where a recording is silent.
    """
    model, asked_of = session.model, options["device"]
    session.check_fit(fed)
    answer = device.ask(Question(label, model, fed, options))
    problems: list[str] = []
    if answer.refused:
        problems.append(f"OpenVINO {answer.version} refuses the model: {answer.refused}")
    if answer.crashed:
        problems.append(f"OpenVINO {answer.version} crashed: {answer.crashed}")
    if answer.problem:
        problems.append(
            f"OpenVINO {answer.version} cannot run the model on {asked_of}: {answer.problem}"
        )
    comparison = Comparison(model, asked_of, answer, _shape_rows(model, answer), problems)
    hint: Hint | None = options["hint"]
    comparison.hint = hint
    precision = _precision(answer.precision, hint)
    if precision != (hint or "f32"):
        comparison.notes.append(
            f"the device computes in {precision}, where {hint or 'f32'} was asked for"
        )
    if answer.values:
        run = CrosscheckRun(session, answer, comparison, device, options, limits, precision, label)
        run.compare(fed, progress)
    return comparison


def _precision(said: str | None, hint: Hint | None) -> Hint:
    """The precision in which the device computes: as it says itself, else as it was asked for."""
    return next((known for known in ("f32", "f16", "bf16") if known == said), hint or "f32")


def _shape_rows(model: Model, answer: Answer) -> list[Row]:
    """A row for every output that OpenVINO knows too, with both types and shapes."""
    rows: list[Row] = []

    def visit(result: BodyResult) -> None:
        for position in result.wiring.order:
            layer = result.body.layers[position]
            for inner in result.inner.get(position, {}).values():
                visit(inner)
            theirs = answer.shapes.get(device_name(layer), ())
            for port, (tensor, (element_type, shape)) in enumerate(
                zip(result.outputs[position], theirs, strict=False)
            ):
                verdict = _shape_verdict(tensor.element_type, tensor.shape, element_type, shape)
                inferred = f"{tensor.element_type} {tensor.shape}"
                rows.append(Row(layer, port, inferred, f"{element_type} {shape}", verdict))

    visit(infer(model).result)
    return rows


def device_name(layer: Layer) -> str:
    """The name that a layer has in what the device is asked: the ids that lead to it."""
    return "/".join([*layer.path, layer.id])


def _shape_verdict(
    element_type: ElementType, shape: PartialShape, their_type: str, their_shape: str
) -> Verdict:
    if element_type.name == their_type and str(shape) == their_shape:
        return "equal"
    if element_type.name != their_type and their_type != "dynamic":
        return "differs"
    parsed = PartialShape.parse(their_shape)
    if parsed == shape:
        return "equal"
    return "tighter" if parsed.encloses(shape) else "differs"


class DeviceOutputs(Mapping[Layer, tuple[Array, ...]]):
    """The device's values of the outputs of some layers, read each time they are asked for."""

    def __init__(self, answer: Answer, layers: Iterable[Layer]) -> None:
        self._answer = answer
        self._layers = dict.fromkeys(layers)

    def __getitem__(self, layer: Layer) -> tuple[Array, ...]:
        if layer not in self._layers:
            raise KeyError(layer)
        name = device_name(layer)
        return tuple(
            self._answer.values[name, port].array() for port, _ in enumerate(layer.outputs)
        )

    def __contains__(self, layer: object) -> bool:
        return layer in self._layers

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)


class CrosscheckRun(LayerwiseRun[int]):
    """One run compared with the device's values; the outputs are numbers of rows."""

    def __init__(
        self,
        session: Session,
        answer: Answer,
        comparison: Comparison,
        device: Device,
        options: Mapping[str, Any],
        limits: Limits,
        precision: Hint,
        label: str,
    ) -> None:
        super().__init__(session)
        self.answer = answer
        self.comparison = comparison
        self.rows = comparison.rows
        self.device = device
        self.options = options
        self.limits = limits
        self.tolerance = Tolerance(limits.rtol, limits.atol, precision)
        self.label = label
        self.rows_of: dict[Layer, list[int]] = {}
        for number, row in enumerate(self.rows):
            self.rows_of.setdefault(row.layer, []).append(number)
        self.numbers: dict[OutputRef, int] = {
            (self.positions[row.layer], row.port): number
            for number, row in enumerate(self.rows)
            if row.layer in self.positions
        }
        self.fed: Mapping[str, Array] = {}
        self.suspects: list[Suspect] = []
        self.merged: dict[OutputRef, Suspect] = {}
        """The outputs whose tensors the device does not have, for it merges their layers."""
        self.recomputed: dict[OutputRef, Array] = {}
        """irshape's values of merged outputs that suspected layers are given."""

    def compare(self, fed: Mapping[str, Array], progress: Observer | None) -> None:
        """Compares all layers, looks closer at those that depart, and explains what can be."""
        self.fed = fed
        results: list[Array] = []
        try:
            results = self.compare_run(fed, progress)
        except ExecutionError as problem:
            self.comparison.problems.append(f"irshape cannot run the model: {problem}")
        self.explain_inherited(fed)
        self.judge()
        if self.tolerance.precision in ("f16", "bf16") and any(
            row.inherited and self.comparison.counts(row) for row in self.rows
        ):
            self.explain_precision(fed, results, self.tolerance.precision)

    # the comparison of a layer

    def tell_first_nan(self, layer: Layer, reason: str) -> None:
        self.comparison.notes.append(f"irshape's first NaN comes from {layer.label}: {reason}")

    def theirs(self, layer: Layer, port: int) -> Array | None:
        """The device's value of an output; None where it gives none."""
        tensor = self.answer.values.get((device_name(layer), port))
        return None if tensor is None else tensor.array()

    def compare_outputs(self, computed: ComputedLayer) -> list[int]:
        numbers = []
        for number in self.rows_of.get(computed.layer, ()):
            row = self.rows[number]
            if row.port >= len(computed.outputs):
                continue
            theirs = self.theirs(computed.layer, row.port)
            if theirs is not None:
                self.rows[number] = self.compared_values(
                    row, computed.inputs, computed.outputs[row.port], theirs
                )
                numbers.append(number)
        return numbers

    def stands_alone(self, layer: Layer) -> bool:
        return self.options["layers"] == "all" and super().stands_alone(layer)

    def agrees(self, computed: ComputedLayer, outputs: list[int]) -> bool:
        return (
            self.stands_alone(computed.layer)
            and all(
                source not in self.numbers
                or self.rows[self.numbers[source]].value_verdict in ("equal", "not compared")
                for source in computed.sources
            )
            and all(self.rows[number].value_verdict == "equal" for number in outputs)
        )

    def agree_alone(self, computed: ComputedLayer, outputs: list[int]) -> None:
        for number in outputs:
            self.rows[number] = self.rows[number]._replace(own_verdict="equal")

    def reference_input(self, source: OutputRef, own: Array) -> Array:
        """The device's value of an input.

        irshape's own where the device gives none, or something of another shape or type, which it
        cannot itself have used.
        """
        theirs = self.theirs(self.layers[source[0]], source[1])
        if theirs is None or theirs.shape != own.shape or theirs.dtype != own.dtype:
            return own
        return theirs

    def fail_alone(self, outputs: list[int], problem: ExecutionError) -> None:
        for number in outputs:
            self.rows[number] = self.rows[number]._replace(
                own_reason=f"irshape cannot compute it from the device's inputs: {problem}"
            )

    def compare_alone(
        self,
        computed: ComputedLayer,
        outputs: list[int],
        inputs: tuple[Array, ...],
        alone: tuple[Array, ...],
    ) -> None:
        for number in outputs:
            row = self.rows[number]
            theirs = self.theirs(computed.layer, row.port)
            assert theirs is not None
            untold = row._replace(value_verdict="not compared", reason=None)
            own = self.compared_values(untold, inputs, alone[row.port], theirs)
            if own.value_verdict == "differs" and computed.layer in self.decompressed:
                if self.decompresses(computed.layer, row.port, theirs):
                    own = own._replace(value_verdict="explained", reason=DECOMPRESSED)
                    row = row._replace(value_verdict="explained", reason=DECOMPRESSED)
                elif departs_by_rounding(inputs[0], alone[row.port], theirs):
                    own = own._replace(value_verdict="explained", reason=DECOMPRESSED)
            row = row._replace(
                own_verdict=own.value_verdict, own_errors=own.errors, own_reason=own.reason
            )
            if own.value_verdict == "differs":
                row = row._replace(ranges=own.ranges)
                given = tuple(
                    own if theirs_of_it is own else source
                    for source, own, theirs_of_it in zip(
                        computed.sources, computed.inputs, inputs, strict=True
                    )
                )
                self.suspects.append(Suspect(number, given))
            self.rows[number] = row

    def compared_values(
        self, row: Row, inputs: tuple[Array, ...], mine: Array, theirs: Array
    ) -> Row:
        """A row with the verdict on two values."""
        if mine.shape != theirs.shape:
            reason = f"irshape computes {list(mine.shape)}, OpenVINO {list(theirs.shape)}"
            return row._replace(
                value_verdict="differs", reason=reason, ranges=_ranges(inputs, mine, theirs)
            )
        error, allowed, same = self.tolerance.difference(mine, theirs)
        row = row._replace(error=error, allowed=allowed, errors=errors(mine, theirs))
        if same:
            return row._replace(value_verdict="equal")
        why = explanation(self.session, row.layer, row.port, inputs, mine, theirs, self.tolerance)
        return row._replace(
            value_verdict="explained" if why else "differs",
            reason=why,
            ranges=_ranges(inputs, mine, theirs),
        )

    # a closer look at what departs

    def judge(self) -> None:
        """Runs the suspected layers alone on the device, until one departs there too.

        That one is to blame; it is looked into, and saved. A layer that does not, and from which
        nothing inherits a departure, is merged with its neighbours: its tensor on the device is not
        what those behind it are computed from. It speaks for all in the same surroundings behind
        which nothing departs, and for those that have its constants too.
        """
        patterns = Patterns(self.layers, self.wiring)
        known: set[Hashable] = set()
        probes, blamed = 0, False
        for suspect in self.suspects:
            row = self.rows[suspect.number]
            position = self.positions[row.layer]
            inputs = self.device_inputs(suspect)
            if self.explains_given(suspect, inputs):
                continue
            theirs = self.theirs(row.layer, row.port)
            assert theirs is not None
            behind = self.behind(position, row.port)
            if behind == "departs" and not blamed and self.leads_on((position, row.port), theirs):
                behind = "inherits"
            pattern = patterns.of(position), row.port
            exact = (*pattern, self.constants_of(position))
            reason = None
            if behind == "agrees" and runtime_expects(row, theirs) is False:
                reason = MERGED_SHAPE
            elif behind != "inherits" and (pattern if behind == "agrees" else exact) in known:
                reason = MERGED
            elif probes < MAX_PROBES and not (blamed and behind == "inherits"):
                probes += 1
                if self.right_alone(suspect, inputs, theirs, behind, blamed):
                    known |= {pattern, exact}
                    reason = MERGED
                else:
                    blamed = True
            if reason is not None:
                row = self.rows[suspect.number]
                self.rows[suspect.number] = row._replace(own_verdict="explained", own_reason=reason)
                self.merged[position, row.port] = suspect

    def explains_given(self, suspect: Suspect, inputs: tuple[Array, ...]) -> bool:
        """Whether a layer agrees that is given what the device merges; else its row says by how
        much it departs then."""
        if not any(given in self.merged for given in suspect.given if isinstance(given, tuple)):
            return False
        row = self.rows[suspect.number]
        theirs = self.theirs(row.layer, row.port)
        try:
            mine = self.session.evaluate(row.layer, inputs)[row.port]
        except ExecutionError:
            return False
        assert theirs is not None
        untold = row._replace(value_verdict="not compared", reason=None)
        own = self.compared_values(untold, inputs, mine, theirs)
        agrees = own.value_verdict != "differs"
        self.rows[suspect.number] = row._replace(
            own_verdict="explained" if agrees else "differs",
            own_errors=own.errors,
            own_reason=own.reason or (BEHIND_MERGED if agrees else None),
            ranges=row.ranges if agrees else own.ranges,
        )
        return agrees

    def right_alone(
        self,
        suspect: Suspect,
        inputs: tuple[Array, ...],
        theirs: Array,
        behind: Behind,
        blamed: bool,
    ) -> bool:
        """Whether a suspected layer is right on the device when it runs alone, and nothing inherits
        its departure.

        Where it is not, it is to blame. The first of those is saved, and looked into; blamed: that
        has been done.
        """
        row = self.rows[suspect.number]
        outputs = self.session.evaluate(row.layer, inputs)
        cut = reproducer.cut(self.session.model, row.layer, inputs)
        alone = self.alone(cut, row.port)
        if alone is not None:
            right = self.alike(outputs[row.port], alone)
            if right and behind != "inherits":
                return True
            which = "the same" if self.alike(alone, theirs) else "other wrong"
            reason = f"alone on the device, with the same inputs, the layer gives {which} values"
            self.rows[suspect.number] = row._replace(
                own_reason=MERGED if right else row.own_reason or reason
            )
        if not blamed:
            self.keep(row.layer, cut, inputs, outputs, theirs if alone is None else alone)
        return False

    def device_inputs(self, suspect: Suspect) -> tuple[Array, ...]:
        """The inputs of a suspected layer as the device has them.

        Of what it merges, and has not, irshape's values.
        """
        return tuple(
            self.device_value(given) if isinstance(given, tuple) else given
            for given in suspect.given
        )

    def device_value(self, source: OutputRef) -> Array:
        """The device's value of an output that it has answered; irshape's of one it merges."""
        if source in self.merged:
            if source not in self.recomputed:
                inputs = self.device_inputs(self.merged[source])
                outputs = self.session.evaluate(self.layers[source[0]], inputs)
                self.recomputed[source] = outputs[source[1]]
            return self.recomputed[source]
        theirs = self.theirs(self.layers[source[0]], source[1])
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

    def alike(self, mine: Array, theirs: Array) -> bool:
        return mine.shape == theirs.shape and self.tolerance.alike(mine, theirs)

    def keep(
        self,
        layer: Layer,
        cut: reproducer.Cut,
        inputs: tuple[Array, ...],
        outputs: tuple[Array, ...],
        theirs: Array,
    ) -> None:
        """Saves the blamed layer where that is asked for, and looks into its bodies."""
        if self.limits.save is not None:
            self.comparison.saved = reproducer.save(
                cut, self.limits.save, {"irshape": outputs, "device": [theirs]}
            )
        if layer.bodies:

            def compare_body(model: Model, inputs: Mapping[str, Array], name: str) -> Comparison:
                save = self.limits.save
                limits = self.limits._replace(save=None if save is None else save / name)
                session = Session(model, max_memory=limits.max_memory)
                options = {**self.options, "layers": "all"}
                label = f"{self.label}{name}/"
                fed = session.bind(inputs)
                return compared(session, fed, self.device, options, limits, label=label)

            self.comparison.inside = look_inside(self.session, layer, inputs, compare_body)

    def behind(self, position: int, port: int) -> Behind:
        """What becomes of an output in the layers that it feeds: they agree, those that depart do
        so by themselves, or one inherits a departure, as the outputs of the model do."""
        if (self.layers[position], port) in self.comparison.outputs:
            return "inherits"
        rows = [
            self.rows[number]
            for consumer, sources in enumerate(self.wiring.sources)
            if any(source is not None and source[0] == position for source in sources)
            for number in self.rows_of.get(self.layers[consumer], ())
        ]
        departing = [row for row in rows if row.value_verdict not in ("equal", "explained")]
        if not rows or any(row.own_verdict != "differs" for row in departing):
            return "inherits"
        return "departs" if departing else "agrees"

    def leads_on(self, output: OutputRef, value: Array) -> bool:
        """Whether a layer not far behind an output is as wrong on the device as `value` makes it.

        Then the device did compute with that value. The layers between may be merged ones, whose
        tensors it does not have.
        """
        values, evaluated = {output: value}, 0
        for consumer in self.wiring.order[self.wiring.order.index(output[0]) :]:
            if evaluated == LOOKED_AT_BEHIND:
                break
            sources = [source for source in self.wiring.sources[consumer] if source is not None]
            numbers = self.rows_of.get(self.layers[consumer], [])
            if values.keys().isdisjoint(sources) or not self.stands_alone(self.layers[consumer]):
                continue
            if all(self.rows[number].value_verdict == "equal" for number in numbers):
                continue
            evaluated += 1
            try:
                inputs = tuple(
                    values[source] if source in values else self.value_of(source)
                    for source in sources
                )
                outputs = self.session.evaluate(self.layers[consumer], inputs)
            except (ExecutionError, KeyError):
                continue
            for number in numbers:
                row = self.rows[number]
                theirs = self.theirs(row.layer, row.port)
                if theirs is None or row.value_verdict != "differs":
                    continue
                if self.alike(outputs[row.port], theirs):
                    return True
            values |= {(consumer, port): computed for port, computed in enumerate(outputs)}
        return False

    def value_of(self, source: OutputRef) -> Array:
        """A constant, or the device's value of an output. Raises `KeyError` where it gives none."""
        layer = self.layers[source[0]]
        if layer.is_constant:
            return self.session.constant(layer)
        if layer.is_parameter:
            return self.fed[layer.id]
        if self.theirs(layer, source[1]) is None:
            raise KeyError(source)
        return self.device_value(source)

    def alone(self, cut: reproducer.Cut, port: int) -> Array | None:
        """What the device gives for a layer by itself; None where it cannot."""
        with tempfile.TemporaryDirectory(prefix="irshape-") as name:
            try:
                model = written(cut.model, Path(name))
                label = f"{self.label}layer {cut.layer.id} alone"
                options = {**self.options, "layers": "outputs"}
                answer = self.device.ask(Question(label, model, cut.inputs, options))
            except (Unanswered, ValueError, OSError):
                return None
            tensor = answer.values.get((cut.layer.id, port))
            return None if tensor is None else tensor.array()

    # explanations that take another run

    def explain_precision(
        self, fed: Mapping[str, Array], exact: list[Array], precision: Literal["f16", "bf16"]
    ) -> None:
        """Runs once more with every tensor rounded as the device may round it.

        Outputs of the model that depart by no more than some times what that makes are explained.
        """
        try:
            session = self.session.sibling(rounding=rounding(precision))
            rounded = list(session.run(fed).values())
        except ExecutionError:
            return
        results = [position for position, layer in enumerate(self.layers) if layer.is_result]
        for position, mine, other in zip(results, exact, rounded, strict=True):
            source = next(
                (source for source in self.wiring.sources[position] if source is not None), None
            )
            number = None if source is None else self.numbers.get(source)
            if number is None or not self.rows[number].inherited:
                continue
            row = self.rows[number]
            theirs = self.theirs(row.layer, row.port)
            if theirs is None or not mine.shape == other.shape == theirs.shape:
                continue
            departs, simulated = errors(mine, theirs), errors(mine, other)
            if (
                departs.max_abs is not None
                and simulated.max_abs is not None
                and departs.max_abs <= SIMULATED_FACTOR * simulated.max_abs
                and departs.nan[0] == departs.nan[1]
                and departs.inf[0] == departs.inf[1]
            ):
                reason = (
                    f"rounded to {precision} after every layer, irshape's own result departs here "
                    f"by up to {simulated.max_abs:.3g}; the device's by {departs.max_abs:.3g}"
                )
                self.rows[number] = row._replace(value_verdict="explained", reason=reason)

    @cached_property
    def decompressed(self) -> dict[Layer, tuple[Array, ...]]:
        return decompressed_in_f32(self.session)

    def decompresses(self, layer: Layer, port: int, theirs: Array) -> bool:
        """Whether the device gives what a layer decompresses without rounding on the way."""
        outputs = self.decompressed.get(layer, ())
        return port < len(outputs) and self.alike(outputs[port], theirs)

    def explain_inherited(self, fed: Mapping[str, Array]) -> None:
        """Runs once more with weights decompressed as the device does it, and with the device's
        values of FakeQuantize layers, if some of those are one level off at a tie.

        Rows that then agree are explained. Every layer has been compared by itself before: those
        that are to blame keep irshape's values, and what they lead to goes on departing.
        """
        if not any(row.inherited for row in self.rows):
            return
        levels = self.levels_of_the_device()
        reasons = [AT_TIES] if levels else []
        reasons += [DECOMPRESSED] if self.decompressed else []
        if not reasons:
            return
        reason = "; ".join(reasons)

        def observe(layer: Layer, inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
            for number in self.rows_of.get(layer, ()):
                row = self.rows[number]
                if not row.inherited or row.port >= len(outputs):
                    continue
                theirs = self.theirs(layer, row.port)
                if theirs is None:
                    continue
                if layer in levels:
                    if self.agrees_at_ties(layer, inputs, theirs):
                        why = row.own_reason or reason
                        self.rows[number] = row._replace(value_verdict="explained", reason=why)
                elif row.own_verdict == "equal" and self.alike(outputs[row.port], theirs):
                    self.rows[number] = row._replace(value_verdict="explained", reason=reason)

        replaced = ChainMap(dict(self.decompressed), levels)  # type: ignore[arg-type]
        try:
            self.session.sibling(replaced=replaced).run(fed, observe=observe)
        except ExecutionError:
            return

    def levels_of_the_device(self) -> DeviceOutputs:
        """The device's values of all FakeQuantize layers that are right by themselves.

        None where no one of them is explained, so that there is nothing that others may inherit.
        """
        rows = [
            row
            for row in self.rows
            if row.layer.folded_type == "fakequantize"
            and row.layer in self.positions
            and row.own_verdict in ("equal", "explained")
            and self.answer.values.get((device_name(row.layer), row.port)) is not None
        ]
        at_ties = any("explained" in (row.value_verdict, row.own_verdict) for row in rows)
        return DeviceOutputs(self.answer, (row.layer for row in rows) if at_ties else ())

    def agrees_at_ties(self, layer: Layer, inputs: tuple[Array, ...], theirs: Array) -> bool:
        """Whether a FakeQuantize gives the device's values, but for one level at ties."""
        mine = self.session.evaluate(layer, inputs)[0]
        return self.alike(mine, theirs) or (
            mine.shape == theirs.shape
            and explanation(self.session, layer, 0, inputs, mine, theirs, self.tolerance)
            is not None
        )


def departs_by_rounding(narrow: Array, mine: Array, theirs: Array) -> bool:
    """Whether what is made of f16 or bf16 numbers departs by no more than two of their roundings.

    A constant further up may be another one than the device's: then the layer by itself has what
    the device's decompression came to with its constants, only rounded.
    """
    unit = {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(narrow.dtype.name)
    if unit is None or mine.shape != theirs.shape:
        return False
    exact = mine.astype(np.float64)
    return bool(np.all(np.abs(exact - theirs) <= 2 * unit * np.abs(exact) + 2.0**-24))


def runtime_expects(row: Row, theirs: Array) -> bool | None:
    """Whether the device's tensor has the shape that OpenVINO itself infers."""
    if row.runtime is None:
        return None
    return PartialShape.parse(row.runtime.partition(" ")[2]).encloses(PartialShape(theirs.shape))


def _ranges(inputs: tuple[Array, ...], mine: Array, theirs: Array) -> dict[str, str]:
    ranges = {f"input {index}": range_of(array) for index, array in enumerate(inputs)}
    return {**ranges, "irshape": range_of(mine), "OpenVINO": range_of(theirs)}
