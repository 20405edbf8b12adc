"""Cross-check: every layer's element type, shape and value, held against OpenVINO's."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..execution.inputs import random_inputs
from ..execution.session import ExecutionError, Observer, Session
from ..inference.engine import infer
from ..inference.result import BodyResult
from ..model.graph import Layer, Model
from ..model.wiring import wire
from ..numbers.origins import has_nan, source_of_nan
from ..numbers.statistics import errors, range_of
from ..numbers.tolerance import Hint, Tolerance
from ..numpy_types import dtype_of, element_type_of, pack
from ..ops.registry import UnknownOperation
from ..types import ElementType, PartialShape
from .narrowing import decompressed_in_f32, explanation
from .result import Array, Comparison, Row, Verdict
from .runtime import Answer, ask

if TYPE_CHECKING:
    from . import reproducer


MAX_SUSPECTS = 16
"""How many layers that depart by themselves are looked at more closely."""

SIMULATED_FACTOR = 4.0
"""Where the device computes in f16 or bf16, an output of the model may depart by so many times as much as it does when irshape rounds every tensor to that precision."""

DECOMPRESSED = "the device decompresses weights in f32, where the IR rounds them to f16 on the way; computed that way, irshape's values agree"


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
    max_memory: int | None = None,
    progress: Observer | None = None,
) -> Comparison:
    """`irshape.crosscheck`. Without inputs they are drawn at random from `seed`. rtol, atol: instead of `TOLERANCE`; atol is then absolute.

    hint: the precision in which the device is to compute, f32 without one; the tolerance is that of the precision in which it says that it does. layers: `outputs` compares those of the model
    only, and blames no layer. save: a folder for the blamed layer as an IR of its own with its inputs and outputs. progress: called for each layer.
    Raises `RuntimeError` where OpenVINO is not installed, `ExecutionError` for inputs that do not fit.
    """
    if model.format.runtimes:
        from .foreign import crosscheck as crosscheck_foreign

        if hint is not None or save is not None or config or layers != "all":
            raise ValueError(
                "--hint, --layers and --save are for OpenVINO's devices: `irshape convert` the model, and cross-check the IR"
            )
        return crosscheck_foreign(model, inputs, device=device, rtol=rtol, atol=atol, seed=seed)
    session = Session(model, max_memory=max_memory)
    fed = session.bind(inputs if inputs is not None else random_inputs(model, seed))
    session.check_fit(fed)
    problems: list[str] = []
    request = {"device": device, "config": dict(config or {}), "layers": layers, "hint": hint}
    with tempfile.TemporaryDirectory(prefix="irshape-") as name:
        folder = Path(name)
        answer = _asked(model, fed, request, folder)
        if answer.refused:
            problems.append(f"OpenVINO {answer.version} refuses the model: {answer.refused}")
        if answer.crashed:
            problems.append(f"OpenVINO {answer.version} crashed: {answer.crashed}")
        if answer.problem:
            problems.append(
                f"OpenVINO {answer.version} cannot run the model on {device}: {answer.problem}"
            )
        comparison = Comparison(model, device, answer, _shape_rows(model, answer), problems)
        comparison.hint = hint
        precision = _precision(answer.precision, hint)
        if precision != (hint or "f32"):
            comparison.notes.append(
                f"the device computes in {precision}, where {hint or 'f32'} was asked for"
            )
        if answer.values:
            run = _Run(session, answer, comparison, Tolerance(rtol, atol, precision), request, save)
            run.compare(fed, progress)
    return comparison


def _precision(said: str | None, hint: Hint | None) -> Hint:
    """The precision in which the device computes: as it says itself, else as it was asked for."""
    return next((known for known in ("f32", "f16", "bf16") if known == said), hint or "f32")


def _asked(
    model: Model, fed: Mapping[str, Array], request: Mapping[str, Any], folder: Path
) -> Answer:
    """What OpenVINO makes of a model, in a process of its own; the values lie in `folder`."""
    (folder / "model.xml").write_bytes(renamed(model))
    weights = model.weights
    usable = weights is not None and weights.state == "ready" and weights.path is not None
    stored = {
        layer.id: _stored(folder, number, fed[layer.id])
        for number, layer in enumerate(model.parameters)
    }
    where = (
        str(Path(weights.path).resolve())
        if usable and weights is not None and weights.path
        else None
    )
    return ask(
        folder, {**request, "xml": str(folder / "model.xml"), "bin": where, "inputs": stored}
    )


def renamed(model: Model) -> bytes:
    """The bytes of the model with every layer named by the ids that lead to it: OpenVINO's nodes are found again by their names, which in a file may repeat.

    The version becomes 11: reading IR v10, OpenVINO rewrites the graph.
    """
    source = model.source
    edits: list[tuple[int, int, str]] = []
    for layer in model.walk():
        found = {name: (start, end) for name, _, start, end in source.attributes(layer.offset)}
        if "name" in found:
            edits.append((*found["name"], "/".join([*layer.path, layer.id])))
    root = source.data.find(b"<net")
    for name, _, start, end in source.attributes(root):
        if name == "version":
            edits.append((start, end, "11"))
    parts, at = [], 0
    for start, end, text in sorted(edits):
        parts += [source.data[at:start], text.encode()]
        at = end
    return b"".join([*parts, source.data[at:]])


def _stored(folder: Path, number: int, array: Array) -> tuple[str, list[int], str]:
    element_type = element_type_of(array)
    file = f"input{number}.bin"
    if element_type.name == "string":
        (folder / file).write_text(
            json.dumps(
                [
                    item.hex() if isinstance(item, bytes) else str(item).encode().hex()
                    for item in array.ravel()
                ]
            )
        )
    else:
        (folder / file).write_bytes(pack(array, element_type))
    return element_type.name, list(array.shape), file


def _shape_rows(model: Model, answer: Answer) -> list[Row]:
    rows: list[Row] = []

    def visit(result: BodyResult) -> None:
        for position in result.wiring.order:
            layer = result.body.layers[position]
            for inner in result.inner.get(position, {}).values():
                visit(inner)
            given = answer.shapes.get("/".join([*layer.path, layer.id]))
            if given is None:
                continue
            for port, tensor in enumerate(result.outputs[position]):
                mine = f"{tensor.element_type} {tensor.shape}"
                if port >= len(given):
                    continue
                element_type, shape = given[port]
                verdict = _shape_verdict(
                    mine,
                    f"{element_type} {shape}",
                    tensor.element_type,
                    tensor.shape,
                    element_type,
                    shape,
                )
                rows.append(
                    Row(
                        layer,
                        port,
                        mine,
                        f"{element_type} {shape}",
                        verdict,
                        "not compared",
                        None,
                        None,
                        None,
                        {},
                    )
                )

    visit(infer(model).result)
    return rows


def _shape_verdict(
    mine: str,
    theirs: str,
    element_type: ElementType,
    shape: PartialShape,
    their_type: str,
    their_shape: str,
) -> Verdict:
    if mine == theirs:
        return "equal"
    if element_type.name != their_type and their_type != "dynamic":
        return "differs"
    parsed = PartialShape.parse(their_shape)
    if parsed == shape:
        return "equal"
    return "tighter" if parsed.encloses(shape) else "differs"


class _Run:
    """Holds the values of one run against the device's, layer by layer."""

    def __init__(
        self,
        session: Session,
        answer: Answer,
        comparison: Comparison,
        tolerance: Tolerance,
        request: Mapping[str, Any],
        save: str | Path | None,
    ) -> None:
        self.session = session
        self.answer = answer
        self.comparison = comparison
        self.rows = comparison.rows
        self.tolerance = tolerance
        self.request = request
        self.save = save
        self.options = {
            **{name: request[name] for name in ("device", "hint", "config")},
            "rtol": tolerance.rtol,
            "atol": tolerance.atol,
            "save": save,
            "max_memory": session.max_memory,
        }
        self.probe = Session(session.model, max_memory=session.max_memory)
        self.probe._constants = session._constants
        self.wiring = wire(session.model.net)
        self.positions = {
            id(layer): position for position, layer in enumerate(session.model.net.layers)
        }
        self.by_layer: dict[int, list[int]] = {}
        for number, row in enumerate(self.rows):
            self.by_layer.setdefault(id(row.layer), []).append(number)
        self.numbers = {
            (self.positions[id(row.layer)], row.port): number
            for number, row in enumerate(self.rows)
            if id(row.layer) in self.positions
        }
        self.consumers: dict[int, set[int]] = {}
        for position, sources in enumerate(self.wiring.sources):
            for source in sources:
                if source is not None:
                    self.consumers.setdefault(source[0], set()).add(position)
        self.suspects: list[tuple[int, tuple[Array, ...], tuple[Array, ...], Array]] = []
        """Rows of layers that depart by themselves, with the device's inputs, irshape's outputs for them, and the device's output."""
        self.nan_told = False

    def compare(self, fed: dict[str, Array], progress: Observer | None) -> None:
        def observe(layer: Layer, inputs: tuple[Array, ...], made: tuple[Array, ...]) -> None:
            if progress is not None:
                progress(layer, inputs, made)
            if layer.type.lower() not in ("result", "parameter", "const", "constant"):
                self.layer(layer, inputs, made)

        results: list[Array] = []
        try:
            results = list(self.session.run(fed, observe=observe).values())
        except ExecutionError as problem:
            self.comparison.problems.append(f"irshape cannot run the model: {problem}")
        self.judge()
        if self.tolerance.precision in ("f16", "bf16") and any(
            row.inherited and self.comparison.counts(row) for row in self.rows
        ):
            self.explain_precision(fed, results, self.tolerance.precision)
        if any(row.inherited and row.own_verdict == "equal" for row in self.rows):
            self.explain_weights(fed)

    def explain_precision(
        self, fed: dict[str, Array], exact: list[Array], precision: Literal["f16", "bf16"]
    ) -> None:
        """Runs once more with every tensor rounded as the device may round it; outputs of the model that depart no more than by some times what that makes are explained."""
        from ..execution.ranges import rounding

        model = self.session.model
        try:
            rounded = list(
                Session(model, max_memory=self.session.max_memory, rounding=rounding(precision))
                .run(fed)
                .values()
            )
        except ExecutionError:
            return
        results = [
            position
            for position, layer in enumerate(model.net.layers)
            if layer.type.lower() == "result"
        ]
        for position, mine, other in zip(results, exact, rounded, strict=True):
            source = next(
                (source for source in self.wiring.sources[position] if source is not None), None
            )
            number = None if source is None else self.numbers.get(source)
            theirs = (
                None
                if number is None
                else self.theirs(self.rows[number].layer, self.rows[number].port)
            )
            if (
                number is None
                or theirs is None
                or not self.rows[number].inherited
                or not mine.shape == other.shape == theirs.shape
            ):
                continue
            departs, simulated = errors(mine, theirs), errors(mine, other)
            within = (
                departs.max_abs is not None
                and simulated.max_abs is not None
                and departs.max_abs <= SIMULATED_FACTOR * simulated.max_abs
            )
            if within and departs.nan[0] == departs.nan[1] and departs.inf[0] == departs.inf[1]:
                reason = f"rounded to {precision} after every layer, irshape's own result departs here by up to {simulated.max_abs:.3g}; the device's by {departs.max_abs:.3g}"
                self.rows[number] = self.rows[number]._replace(
                    value_verdict="explained", reason=reason
                )

    @cached_property
    def decompressed(self) -> dict[int, tuple[Array, ...]]:
        return decompressed_in_f32(self.session)

    def decompresses(self, layer: Layer, port: int, theirs: Array) -> bool:
        """Whether the device gives the weights that a layer is the last to decompress as they are without rounding on the way."""
        made = self.decompressed.get(id(layer), ())
        return (
            port < len(made)
            and made[port].shape == theirs.shape
            and self.tolerance.alike(made[port], theirs)
        )

    def explain_weights(self, fed: dict[str, Array]) -> None:
        """Runs once more with weights decompressed as the device does it; rows that then agree are explained."""
        if not self.decompressed:
            return
        session = Session(self.session.model, max_memory=self.session.max_memory)
        session._constants, session.instead = self.session._constants, self.decompressed

        def observe(layer: Layer, inputs: tuple[Array, ...], made: tuple[Array, ...]) -> None:
            for number in self.by_layer.get(id(layer), ()):
                row = self.rows[number]
                theirs = (
                    self.theirs(layer, row.port)
                    if row.inherited and row.own_verdict == "equal" and row.port < len(made)
                    else None
                )
                if (
                    theirs is not None
                    and theirs.shape == made[row.port].shape
                    and self.tolerance.alike(made[row.port], theirs)
                ):
                    self.rows[number] = row._replace(value_verdict="explained", reason=DECOMPRESSED)

        try:
            session.run(fed, observe=observe)
        except ExecutionError:
            return

    def theirs(self, layer: Layer, port: int) -> Array | None:
        given = self.answer.values.get(("/".join([*layer.path, layer.id]), port))
        return None if given is None else _array(*given)

    def layer(self, layer: Layer, inputs: tuple[Array, ...], made: tuple[Array, ...]) -> None:
        """Compares the outputs of a layer, in the whole runs and by itself."""
        if not self.nan_told and any(has_nan(array) for array in made):
            why = source_of_nan(layer, inputs, made)
            self.nan_told = True
            self.comparison.notes.append(
                f"irshape's first NaN comes from {_place(layer)}: {why or 'it came in with the inputs'}"
            )
        numbers = [
            number
            for number in self.by_layer.get(id(layer), ())
            if self.rows[number].port < len(made)
        ]
        found = {
            number: given
            for number in numbers
            if (given := self.theirs(layer, self.rows[number].port)) is not None
        }
        for number, theirs in found.items():
            self.rows[number] = self.compared(
                self.rows[number], inputs, made[self.rows[number].port], theirs
            )
        operation = self.session.declarations.of(layer)
        if (
            not found
            or self.request["layers"] != "all"
            or isinstance(operation, UnknownOperation)
            or operation[0].keeps_state
        ):
            return
        sources = [
            source
            for source in self.wiring.sources[self.positions[id(layer)]]
            if source is not None
        ]
        agree = all(
            source not in self.numbers
            or self.rows[self.numbers[source]].value_verdict in ("equal", "not compared")
            for source in sources
        )
        if agree and all(self.rows[number].value_verdict == "equal" for number in found):
            for number in found:
                self.rows[number] = self.rows[number]._replace(own_verdict="equal")
            return
        device_inputs = tuple(
            self.device_input(source, array) for source, array in zip(sources, inputs, strict=True)
        )
        self.probe.state = {}
        self.probe._runs.clear()
        try:
            own = self.probe.evaluate(layer, device_inputs)
        except ExecutionError as problem:
            for number in found:
                self.rows[number] = self.rows[number]._replace(
                    own_reason=f"irshape cannot compute it from the device's inputs: {problem}"
                )
            return
        for number, theirs in found.items():
            row = self.rows[number]
            held = self.compared(
                row._replace(value_verdict="not compared", reason=None),
                device_inputs,
                own[row.port],
                theirs,
            )
            if held.value_verdict == "differs" and self.decompresses(layer, row.port, theirs):
                held = held._replace(value_verdict="explained", reason=DECOMPRESSED)
                row = row._replace(value_verdict="explained", reason=DECOMPRESSED)
            self.rows[number] = row._replace(
                own_verdict=held.value_verdict, own_errors=held.errors, own_reason=held.reason
            )
            if held.value_verdict == "differs":
                self.rows[number] = self.rows[number]._replace(ranges=held.ranges)
                if len(self.suspects) < MAX_SUSPECTS:
                    self.suspects.append((number, device_inputs, own, theirs))

    def device_input(self, source: tuple[int, int], mine: Array) -> Array:
        """The device's value of an input; irshape's own where the device gives none, or something of another shape, which it cannot itself have used."""
        producer = self.session.model.net.layers[source[0]]
        theirs = self.theirs(producer, source[1])
        return (
            mine
            if theirs is None or theirs.shape != mine.shape or theirs.dtype != mine.dtype
            else theirs
        )

    def compared(self, row: Row, inputs: tuple[Array, ...], mine: Array, theirs: Array) -> Row:
        if mine.shape != theirs.shape:
            reason = f"irshape computes {list(mine.shape)}, OpenVINO {list(theirs.shape)}"
            return row._replace(
                value_verdict="differs", reason=reason, ranges=_ranges(inputs, mine, theirs)
            )
        error, allowed, same = self.tolerance.difference(mine, theirs)
        row = row._replace(error=error, allowed=allowed, errors=errors(mine, theirs))
        if same:
            return row._replace(value_verdict="equal")
        why = explanation(
            self.session, row.layer, row.port, inputs, mine, theirs, self.tolerance.alike
        )
        return row._replace(
            value_verdict="explained" if why else "differs",
            reason=why,
            ranges=_ranges(inputs, mine, theirs),
        )

    def judge(self) -> None:
        """Runs the suspected layers alone on the device, until one departs there too: that one is to blame, looked into, and saved."""
        from . import reproducer
        from .inside import look_inside

        for number, inputs, own, theirs in self.suspects:
            row = self.rows[number]
            position = self.positions[id(row.layer)]
            harmless = self.harmless(position, row.port)
            if runtime_expects(row, theirs) is False and harmless:
                merged = "the device merges this layer with those behind it: what it gives under this name has not even the shape that OpenVINO infers, and nothing behind it departs"
                self.rows[number] = row._replace(own_verdict="explained", own_reason=merged)
                continue
            cut = reproducer.cut(self.session.model, row.layer, inputs)
            alone = self.alone(cut, row.port)
            if (
                alone is not None
                and alone.shape == own[row.port].shape
                and self.tolerance.alike(own[row.port], alone)
            ):
                merged = "alone on the device, with the same inputs, the layer gives irshape's values: it is the device's merging with its neighbours that changes them"
                self.rows[number] = row._replace(
                    own_verdict="explained" if harmless else "differs", own_reason=merged
                )
                if harmless:
                    continue
            elif alone is not None:
                same = alone.shape == theirs.shape and self.tolerance.alike(alone, theirs)
                said = "the same" if same else "other wrong"
                self.rows[number] = row._replace(
                    own_reason=row.own_reason
                    or f"alone on the device, with the same inputs, the layer gives {said} values"
                )
            if self.save is not None:
                self.comparison.saved = reproducer.save(
                    cut, self.save, {"irshape": own, "device": [theirs if alone is None else alone]}
                )
            if row.layer.bodies:
                self.comparison.inside = look_inside(
                    self.probe, row.layer, inputs, self.options, crosscheck
                )
            break

    def harmless(self, position: int, port: int) -> bool:
        """Whether nothing behind an output departs, and it is no output of the model."""
        if (id(self.session.model.net.layers[position]), port) in self.comparison.outputs:
            return False
        behind = [
            number
            for consumer in self.consumers.get(position, ())
            for number in self.by_layer.get(id(self.session.model.net.layers[consumer]), ())
        ]
        return bool(behind) and all(
            self.rows[number].value_verdict in ("equal", "explained") for number in behind
        )

    def alone(self, cut: reproducer.Cut, port: int) -> Array | None:
        """What the device gives for a layer by itself; None where it cannot."""
        from ..formats.ir.writer import write
        from ..formats.loading import load

        with tempfile.TemporaryDirectory(prefix="irshape-") as name:
            folder = Path(name)
            try:
                write(cut.model, folder / "layer.xml", infer(cut.model))
                found = _asked(
                    load(folder / "layer.xml"),
                    cut.inputs,
                    {**self.request, "layers": "outputs"},
                    folder,
                )
            except (ValueError, OSError):
                return None
            given = found.values.get((cut.layer.id, port))
            return None if given is None else _array(*given)


def runtime_expects(row: Row, theirs: Array) -> bool | None:
    """Whether the device's tensor has the shape that OpenVINO itself infers."""
    if row.runtime is None:
        return None
    return PartialShape.parse(row.runtime.partition(" ")[2]).encloses(PartialShape(theirs.shape))


def _place(layer: Layer) -> str:
    return f"{layer.type} '{layer.name}' (id {layer.id})"


def _array(element_type: str, shape: list[int], file: Path) -> Array:
    if element_type == "string":
        found: Array = np.array(
            [bytes.fromhex(item) for item in json.loads(file.read_text())], dtype=object
        ).reshape(shape)
        return found
    raw = file.read_bytes()
    declared = ElementType.of(element_type)
    if declared.is_packed:
        from ..numpy_types import unpack

        count = int(np.prod(shape))
        return unpack(np.frombuffer(raw, np.uint8), declared, count).reshape(shape)
    return np.frombuffer(raw, dtype_of(declared)).reshape(shape)


def _ranges(inputs: tuple[Array, ...], mine: Array, theirs: Array) -> dict[str, str]:
    found = {f"input {index}": range_of(array) for index, array in enumerate(inputs)}
    return {**found, "irshape": range_of(mine), "OpenVINO": range_of(theirs)}
