"""Runs a model once and compares it with the device's values, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..execution.feeds import Fed
from ..execution.ranges import rounding, unrounded
from ..execution.session import ExecutionError, Session
from ..model.graph import Layer
from ..model.wiring import OutputRef
from ..numbers.statistics import errors
from ..numbers.tolerance import Hint, Tolerance
from ..numpy_types import Array
from .answers import Answer, Device
from .explanations import (
    AT_TIES,
    CUT_TO_16_BITS,
    DECOMPRESSED,
    FROM_NARROW,
    FROM_OPEN,
    LEFT_OUT,
    ON_LEVELS,
    Kind,
    Remark,
    fact,
)
from .layerwise import ComputedLayer, LayerwiseRun
from .narrowing import (
    Difference,
    decompressed_in_f32,
    explanation,
    leaves_out,
    next_to_a_step,
)
from .precision import Rounded
from .progress import Progress
from .result import Comparison, Row
from .suspects import Suspect

SIMULATED_FACTOR = 4.0
"""The largest error of a model output that precision explains, as a multiple of a simulated error.
If the device computes in f16 or bf16, irshape simulates the error by rounding every tensor to that
precision. If the device computes in f32, irshape simulates it by rounding no tensor to f16 or bf16.
"""

UNROUNDED = "computed in f32 throughout"


class Circumstances(NamedTuple):
    """The conditions of a cross-check.

    options: those of `Question`. rtol, atol: the user's tolerances.
    save: the folder in which the blamed layer is saved. max_memory: in bytes.
    label: names the layer or body that was cut out; "" for a whole model. precision: the precision
    in which the device computes.
    """

    device: Device
    options: Mapping[str, Any]
    progress: Progress
    rtol: float | None = None
    atol: float | None = None
    save: Path | None = None
    max_memory: int | None = None
    label: str = ""
    precision: Hint = "f32"


def device_name(layer: Layer) -> str:
    """Returns the unique name of a layer on a device: the path of ids, such as `12/body/3`."""
    return "/".join([*layer.path, layer.id])


class CrosscheckRun(LayerwiseRun):
    """Compares the run of a model in irshape and on a device. An output's number is its index in
    `rows`."""

    def __init__(
        self,
        session: Session,
        answer: Answer,
        comparison: Comparison,
        circumstances: Circumstances,
        fed: Fed,
        unasked: frozenset[Layer] = frozenset(),
    ) -> None:
        super().__init__(session, comparison.notes, "irshape's first NaN")
        self.answer = answer
        self.comparison = comparison
        self.rows = comparison.rows
        self.circumstances = circumstances
        self.progress = circumstances.progress
        self.fed = fed
        self.tolerance = Tolerance(circumstances.rtol, circumstances.atol, circumstances.precision)
        """The tolerance for values that are computed from f32 tensors."""
        self.rounded = Rounded(self.layers, self.wiring)
        self.rows_of: dict[Layer, list[int]] = {}
        for number, row in enumerate(self.rows):
            self.rows_of.setdefault(row.layer, []).append(number)
        self.numbers: dict[OutputRef, int] = {
            (self.positions[row.layer], row.port): number
            for number, row in enumerate(self.rows)
            if row.layer in self.positions
        }
        self.suspects: list[Suspect] = []
        self.results: list[Array] = []
        self.unasked = unasked
        """Layers whose tensors were not requested from the device."""
        self._computed_unasked: dict[Layer, tuple[Array, ...]] = {}

    def compare(self) -> None:
        """Compares all layers, and explains differences by more runs of the model in irshape."""
        self.progress.begin(f"{self.where}comparing layers", len(self.layers))
        try:
            self.results = self.compare_run(self.fed, self.progress.layer)
        except ExecutionError as problem:
            self.comparison.problems.append(f"irshape cannot run the model: {problem}")
        self.explain_inherited()
        self.explain_unrounded()

    @property
    def where(self) -> str:
        """A prefix for messages that names the compared layer or body; empty for a whole model."""
        label = self.circumstances.label.rstrip("/")
        return f"{label}: " if label else ""

    # the comparison of a layer

    def theirs(self, layer: Layer, port: int) -> Array | None:
        """Returns the device's value of an output; None if there is none. If the output was not
        requested, returns irshape's value. If the device leaves out a FakeQuantize, returns its
        input."""
        tensor = self.answer.values.get((device_name(layer), port))
        if tensor is not None:
            return tensor.array()
        if layer in self.unasked:
            return self.instead_of(layer, port)
        return self.passed_on(layer) if layer in self.left_out else None

    def instead_of(self, layer: Layer, port: int) -> Array | None:
        """Returns irshape's value of an output that was not requested from the device, computed
        from the device's values of the layer's inputs. Returns None if that fails."""
        if layer not in self._computed_unasked:
            try:
                computed = self.recompute(self.positions[layer], {}, self.value_of)
                self._computed_unasked[layer] = computed
            except (ExecutionError, KeyError):
                self._computed_unasked[layer] = ()
        outputs = self._computed_unasked[layer]
        return outputs[port] if port < len(outputs) else None

    def value_of(self, source: OutputRef) -> Array:
        """Returns the value of an output: irshape's for a constant or an input of the model,
        otherwise the device's. Raises `KeyError` if the device returned none."""
        layer = self.layers[source[0]]
        if layer.is_constant:
            return self.session.constant(layer)
        if layer.is_parameter:
            return self.fed[layer]
        theirs = self.theirs(layer, source[1])
        if theirs is None:
            raise KeyError(source)
        return theirs

    def users_of(self, values: Mapping[OutputRef, Array]) -> Iterator[int]:
        """Yields the positions of the compared layers that use one of `values`, in order of
        execution. The caller may add to `values` while it iterates."""
        for position in self.wiring.order:
            used = not values.keys().isdisjoint(self.wiring.sources[position])
            if used and self.rows_of.get(self.layers[position]):
                yield position

    def recompute(
        self,
        position: int,
        values: Mapping[OutputRef, Array],
        value_of: Callable[[OutputRef], Array],
    ) -> tuple[Array, ...]:
        """Returns irshape's outputs of a layer, computed from `values` and, for inputs not in
        `values`, from `value_of`.

        Raises `ExecutionError` if irshape cannot compute the layer, and any error of `value_of`.
        """
        inputs = [
            values[source] if source in values else value_of(source)
            for source in self.wiring.sources[position]
            if source is not None
        ]
        return self.session.evaluate(self.layers[position], inputs)

    @cached_property
    def left_out(self) -> set[Layer]:
        """The FakeQuantize layers that the device leaves out. The device returns no tensors for
        these."""
        quantizing = [layer for layer in self.layers if layer.folded_type == "fakequantize"]
        return {layer for layer in quantizing if leaves_out(layer, self.limits_of(layer))}

    def limits_of(self, layer: Layer) -> list[Array]:
        """Returns those limits (inputs 1 to 4) of a FakeQuantize that are constants."""
        sources = self.wiring.sources[self.positions[layer]][1:]
        limits = [self.layers[source[0]] for source in sources if source is not None]
        try:
            return [self.session.constant(limit) for limit in limits if limit.is_constant]
        except ExecutionError:
            return []

    def passed_on(self, layer: Layer) -> Array | None:
        """Returns the device's value of the input of a FakeQuantize that the device leaves out."""
        source = self.wiring.sources[self.positions[layer]][0]
        try:
            return None if source is None else self.value_of(source)
        except KeyError:
            return None

    def compare_layer(self, computed: ComputedLayer) -> None:
        numbers = []
        for number in self.rows_of.get(computed.layer, ()):
            row = self.rows[number]
            if row.port < len(computed.outputs) and self.theirs(row.layer, row.port) is not None:
                self.rows[number] = self.compared_values(
                    row, computed.inputs, computed.outputs[row.port], alone=False
                )
                numbers.append(number)
        if not numbers or not self.stands_alone(computed.layer):
            return
        if all(
            self.rows[number].value_verdict in ("equal", "not compared")
            for number in map(self.numbers.get, computed.sources)
            if number is not None
        ) and all(self.rows[number].value_verdict == "equal" for number in numbers):
            for number in numbers:
                self.rows[number] = self.rows[number]._replace(own="equal")
            return
        try:
            inputs, alone = self.alone(computed)
        except ExecutionError as problem:
            remark = fact(f"irshape cannot compute the layer from the device's inputs: {problem}")
            for number in numbers:
                self.rows[number] = self.rows[number]._replace(own_remark=remark)
            return
        for number in numbers:
            self.compare_alone(number, computed, inputs, alone)

    def tolerance_of(self, layer: Layer, *, alone: bool) -> Tolerance:
        """Returns the tolerance for the outputs of a layer. alone: whether irshape computes the
        layer from the device's input values. If so, only rounding in the layer counts."""
        rounded = self.rounded.given if alone else self.rounded.behind
        return self.tolerance._replace(rounded=rounded[layer])

    def alike(self, layer: Layer, mine: Array, theirs: Array, *, alone: bool) -> bool:
        """Returns whether two values of an output agree within the tolerance of its layer."""
        tolerance = self.tolerance_of(layer, alone=alone)
        return mine.shape == theirs.shape and tolerance.alike(mine, theirs)

    def stands_alone(self, layer: Layer) -> bool:
        return self.circumstances.options["layers"] == "all" and super().stands_alone(layer)

    def reference_input(self, source: OutputRef, own: Array) -> Array:
        """Returns the device's value of an input.

        Returns `own`, irshape's value, if the device returned no value, or a value that cannot be
        the input because it has another shape or type.
        """
        theirs = self.theirs(self.layers[source[0]], source[1])
        if theirs is None or theirs.shape != own.shape or theirs.dtype != own.dtype:
            return own
        return theirs

    def compare_alone(
        self,
        number: int,
        computed: ComputedLayer,
        inputs: tuple[Array, ...],
        alone: tuple[Array, ...],
    ) -> None:
        """Compares the device's output with irshape's for the device's input values."""
        row = self.rows[number]
        own = self.compared_values(row, inputs, alone[row.port], alone=True)
        if own.value_verdict == "equal" and row.value_verdict == "differs":
            row = self.explained_next_to_a_step(row, computed, inputs)
        row = row._replace(own=own.value, own_errors=own.errors, own_remark=own.remark)
        if own.value_verdict == "differs":
            row = row._replace(ranges=own.ranges)
            given = tuple(
                (source, own if theirs_of_it is own else None)
                for source, own, theirs_of_it in zip(
                    computed.sources, computed.inputs, inputs, strict=True
                )
            )
            self.suspects.append(Suspect(number, given))
        self.rows[number] = row

    def explained_next_to_a_step(
        self, row: Row, computed: ComputedLayer, inputs: tuple[Array, ...]
    ) -> Row:
        """Explains an output that is a whole step off because its layer, e.g. a Round, magnifies a
        small error of its input. If this is not the reason, returns the row unchanged."""
        source = self.numbers.get(computed.sources[0]) if computed.sources else None
        if source is not None and self.rows[source].value_verdict not in ("equal", "explained"):
            return row
        given = computed.inputs[0], inputs[0]
        results = computed.outputs[row.port], self.value_at(row)
        remark = next_to_a_step(computed.layer, inputs[1:], given, results)
        return row if remark is None else row._replace(remark=remark)

    def value_at(self, row: Row) -> Array:
        """Returns the device's value of the output in a row that has been compared."""
        theirs = self.theirs(row.layer, row.port)
        assert theirs is not None
        return theirs

    def compared_values(
        self, row: Row, inputs: tuple[Array, ...], mine: Array, *, alone: bool
    ) -> Row:
        """Compares an output of a layer, computed from `inputs`, with the device's. Returns the
        output's row with only this result. alone: see `tolerance_of`."""
        theirs, tolerance = self.value_at(row), self.tolerance_of(row.layer, alone=alone)
        untold = row._replace(value="not compared", remark=None)
        row = untold.measured(inputs, mine, theirs, tolerance)
        if row.value != "differs" or mine.shape != theirs.shape:
            return row
        place = self.session, row.layer, row.port
        here = Difference(*place, inputs, mine, theirs, tolerance, alone, lambda: self.decompressed)
        return row._replace(remark=explanation(here))

    # explanations that take another run

    def explain_precision(self) -> None:
        """Tests whether rounding explains differing outputs, by another run of the model in
        irshape. This run rounds every tensor to the device's precision; if that is f32, it rounds
        no tensor to f16 or bf16. An output of the model is explained if the device's error is at
        most `SIMULATED_FACTOR` times the error of this run."""
        precision = self.tolerance.precision
        is_exact = all(hint == "f32" for hint in self.rounded.behind.values())
        if (precision == "f32" and is_exact) or not any(
            row.inherited and self.comparison.counts(row) for row in self.rows
        ):
            return
        change: Callable[[Array], Array]
        if precision == "f32":
            how, change = UNROUNDED, unrounded
        else:
            how, change = f"rounded to {precision} after every layer", rounding(precision)
        session = self.session.sibling(rounding=change)
        phase = f"running the model {how}"
        rounded = self.explain_again(session, set(), phase, lambda row, *_: row)
        if not rounded:
            return
        results = [position for position, layer in enumerate(self.layers) if layer.is_result]
        for position, mine, other in zip(results, self.results, rounded, strict=True):
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
            departs = errors(mine, theirs)
            simulated = errors(mine, other.astype(mine.dtype, copy=False))
            if (
                departs.max_abs is not None
                and simulated.max_abs is not None
                and departs.max_abs <= SIMULATED_FACTOR * simulated.max_abs
                and departs.nan[0] == departs.nan[1]
                and departs.inf[0] == departs.inf[1]
            ):
                reason = (
                    f"{how}, irshape's own result changes by up to {simulated.max_abs:.3g} here, "
                    f"and the device's result differs from irshape's by {departs.max_abs:.3g}"
                )
                self.rows[number] = row._replace(remark=Remark(Kind.PRECISION, reason))

    @cached_property
    def decompressed(self) -> dict[Layer, tuple[Array, ...]]:
        return decompressed_in_f32(self.session)

    def explained_as(self, kind: Kind) -> set[Layer]:
        """Returns the layers that differ for equal inputs and have this kind of explanation."""
        return {
            row.layer
            for row in self.rows
            if row.own_remark is not None and row.own_remark.kind is kind
        }

    def explain_inherited(self) -> None:
        """Explains inherited differences by another run of the model in irshape.

        This run decompresses weights in f32. For layers that differ for a known reason, e.g.
        because the device cuts sums to 16 bits, it uses the device's values. Outputs that agree in
        this run are explained. Layers to blame keep irshape's values, so outputs that depend on
        these layers still differ.
        """
        if not any(row.inherited for row in self.rows):
            return
        causes = {
            AT_TIES: self.next_to_ties(),
            CUT_TO_16_BITS: self.explained_as(Kind.SATURATION),
            LEFT_OUT: {each for each in self.left_out if self.theirs(each, 0) is not None},
            ON_LEVELS: self.explained_as(Kind.LEVELS),
            FROM_OPEN: self.explained_as(Kind.LEFT_OPEN),
            FROM_NARROW: self.explained_as(Kind.NARROWING) | self.explained_as(Kind.WRAPPING),
        }
        levels = set[Layer]().union(*causes.values())
        causes[DECOMPRESSED] = set(self.decompressed)
        reasons = [cause for cause, layers in causes.items() if layers]
        if not reasons:
            return
        shared = Remark(Kind.INHERITED, "; ".join(each.text for each in reasons))

        def explained(row: Row, inputs: tuple[Array, ...], mine: Array, theirs: Array) -> Row:
            if row.layer in levels:
                own = self.session.evaluate(row.layer, inputs)[row.port]
                judged = self.compared_values(row, inputs, own, alone=False)
                if judged.value_verdict not in ("equal", "explained"):
                    return row
                return row._replace(remark=row.own_remark or shared)
            agrees = row.own_verdict == "equal" and self.alike(row.layer, mine, theirs, alone=False)
            return row._replace(remark=shared) if agrees else row

        def replaced(layer: Layer) -> tuple[Array, ...] | None:
            if layer not in levels:
                return self.decompressed.get(layer)
            values = (self.theirs(layer, port) for port, _ in enumerate(layer.outputs))
            return tuple(value for value in values if value is not None)

        numbers = {number for number, row in enumerate(self.rows) if row.inherited}
        session = self.session.sibling(replaced=replaced)
        self.explain_again(session, numbers, "explaining what is inherited", explained)

    def explain_unrounded(self) -> None:
        """Explains differences by another run that rounds nothing to f16 or bf16, if the device
        computes in f32. Outputs that agree in this run are explained. Rounding may decide, for
        example, which of two boxes with nearly equal scores is kept."""
        suspects = {
            suspect.number
            for suspect in self.suspects
            if self.rows[suspect.number].own_verdict == "differs"
            and self.rounded.behind[self.rows[suspect.number].layer] != "f32"
        }
        if not suspects or self.tolerance.precision != "f32":
            return
        text = f"{UNROUNDED}, irshape's values agree, so the device computes in f32 too"
        remark = Remark(Kind.PRECISION, text)

        def explained(row: Row, inputs: tuple[Array, ...], mine: Array, theirs: Array) -> Row:
            agrees = self.alike(
                row.layer, mine.astype(theirs.dtype, copy=False), theirs, alone=True
            )
            return row._replace(remark=remark, own_remark=remark) if agrees else row

        session = self.session.sibling(rounding=unrounded)
        phase = f"running the model {UNROUNDED}"
        self.explain_again(session, suspects, phase, explained)

    def explain_again(
        self,
        session: Session,
        numbers: set[int],
        phase: str,
        explained: Callable[[Row, tuple[Array, ...], Array, Array], Row],
    ) -> list[Array]:
        """Runs the model once more in another session. Returns the outputs of the model; an empty
        list if the run fails.

        numbers: the rows to replace by what `explained` returns. `explained` is called with the
        row, the inputs of the layer in this run, irshape's output and the device's output.
        """
        self.progress.begin(f"{self.where}{phase}", len(self.layers))

        def observe(layer: Layer, inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
            if self.progress.layer is not None:
                self.progress.layer(layer, inputs, outputs)
            for number in numbers.intersection(self.rows_of.get(layer, ())):
                row = self.rows[number]
                theirs = self.theirs(layer, row.port) if row.port < len(outputs) else None
                if theirs is not None:
                    self.rows[number] = explained(row, inputs, outputs[row.port], theirs)

        try:
            return list(session.run(self.fed, observe=observe).values())
        except ExecutionError:
            return []

    def next_to_ties(self) -> set[Layer]:
        """Returns the layers that agree or are explained for equal inputs, but may turn small input
        errors into a whole step: FakeQuantize, and layers such as Round that did so in this run.
        Returns no layers if none of these has an explained difference."""
        rows = [
            row
            for row in self.rows
            if (
                row.layer.folded_type == "fakequantize"
                or (row.remark is not None and row.remark.kind is Kind.STEPS)
            )
            and row.layer in self.positions
            and row.own_verdict in ("equal", "explained")
            and row.layer not in self.left_out
            and self.answer.values.get((device_name(row.layer), row.port)) is not None
        ]
        at_ties = any("explained" in (row.value_verdict, row.own_verdict) for row in rows)
        return {row.layer for row in rows} if at_ties else set()
