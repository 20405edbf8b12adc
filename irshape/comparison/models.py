"""Two models side by side: tensors matched by name, the first that diverges, and what of its layer is not the same."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..byte_sizes import written_size
from ..execution.inputs import random_inputs
from ..execution.session import Array, ExecutionError, Observer, Session
from ..model.graph import Layer, Model
from ..model.wiring import wire
from ..numbers.origins import has_nan, source_of_nan
from ..numbers.statistics import Errors, errors
from ..numbers.tolerance import TOLERANCE, difference
from ..ops.registry import UnknownOperation
from .result import Verdict

Runtime = Literal["onnxruntime", "irshape"]

COARSE = {
    "f16": TOLERANCE["f16"],
    "bf16": TOLERANCE["bf16"],
    "int8": (0.1, 0.03),
    "int4": (0.4, 0.1),
}
"""As `TOLERANCE`, where the weights of one model are rounded or quantized and those of the other are not."""
_CONSTANT = ("const", "constant")


class Pair(NamedTuple):
    """A tensor of both models. `name`: the tensor name or layer name by which they were matched. verdict: of two whole runs; own_verdict: B's layer given A's inputs.

    causes: what is not the same about the layer: constants, attributes.
    """

    name: str
    first: Layer
    first_port: int
    second: Layer
    second_port: int
    verdict: Verdict
    errors: Errors
    excess: float
    own_verdict: Verdict
    own_errors: Errors | None
    constant: bool
    """Whether it is computed from constants alone."""
    reason: str | None
    causes: tuple[str, ...] = ()

    @property
    def inherited(self) -> bool:
        return self.verdict == "differs" and self.own_verdict == "equal"


class ModelComparison:
    """What `irshape compare` finds: pairs in the order in which the second model computes them."""

    def __init__(self, first: Model, second: Model, precision: str | None) -> None:
        self.first = first
        self.second = second
        self.precision = precision
        """The precision of the weights that only one of the two has, by which the tolerance is chosen."""
        self.pairs: list[Pair] = []
        self.unmatched: tuple[list[str], list[str]] = ([], [])
        """Layers of each model, constants left out, none of whose outputs has a counterpart."""
        self.altered: list[str] = []
        """Constants that are not the same in both, beyond rounding."""
        self.notes: list[str] = []
        self.runtimes: tuple[str, str] = ("irshape", "irshape")
        """What has run each of the two."""
        self.outputs: set[int] = set()

    def __str__(self) -> str:
        """What was compared, how many tensors differ, and the layer to blame or the first tensor."""
        pairs = [pair for pair in self.pairs if not pair.constant]
        different = sum(pair.verdict == "differs" for pair in pairs)
        lines = [
            f"{self.first.path} and {self.second.path}: {len(pairs)} tensors matched, "
            f"{different} different"
        ]
        for what, pair in (("to blame", self.blamed), ("first to diverge", self.diverging)):
            if pair is not None:
                lines.append(f"{what}: {pair.second.label} output {pair.second_port}")
                break
        return "\n".join(lines)

    @property
    def diverging(self) -> Pair | None:
        """The first tensor that diverges in two whole runs, constants left out."""
        return next(
            (pair for pair in self.pairs if pair.verdict == "differs" and not pair.constant), None
        )

    @property
    def blamed(self) -> Pair | None:
        """The first tensor whose layer, in the second model, departs from the first though it is given the first's inputs."""
        return next(
            (pair for pair in self.pairs if pair.own_verdict == "differs" and not pair.constant),
            None,
        )

    @property
    def ok(self) -> bool:
        """Whether no layer departs by itself, and no output of the model at all."""
        return self.blamed is None and not any(
            pair.verdict == "differs" and id(pair.second) in self.outputs for pair in self.pairs
        )

    def worst(self, count: int = 5) -> list[Pair]:
        """The tensors of the largest errors, measured by what is allowed."""
        return sorted(
            (pair for pair in self.pairs if pair.excess > 0 and not pair.constant),
            key=lambda pair: pair.excess,
            reverse=True,
        )[:count]

    def to_dict(self) -> dict[str, Any]:
        """What `irshape compare --format json` prints."""

        def reference(pair: Pair) -> dict[str, Any]:
            return {
                "tensor": pair.name,
                "a": {
                    "id": pair.first.id,
                    "name": pair.first.name,
                    "type": pair.first.type,
                    "port": pair.first_port,
                },
                "b": {
                    "id": pair.second.id,
                    "name": pair.second.name,
                    "type": pair.second.type,
                    "port": pair.second_port,
                },
            }

        blamed, diverging = self.blamed, self.diverging
        return {
            "version": 1,
            "a": self.first.path,
            "b": self.second.path,
            "runtimes": {"a": self.runtimes[0], "b": self.runtimes[1]},
            "precision": self.precision,
            "ok": self.ok,
            "blamed": None
            if blamed is None
            else {**reference(blamed), "causes": list(blamed.causes)},
            "diverging": None if diverging is None else reference(diverging),
            "altered_constants": self.altered,
            "unmatched": {"a": self.unmatched[0], "b": self.unmatched[1]},
            "notes": self.notes,
            "tensors": [
                {
                    **reference(pair),
                    "constant": pair.constant,
                    "verdict": pair.verdict,
                    "errors": pair.errors.to_dict(),
                    "own_verdict": pair.own_verdict,
                    "own_errors": None if pair.own_errors is None else pair.own_errors.to_dict(),
                    "reason": pair.reason,
                }
                for pair in self.pairs
            ],
        }


def compare(
    first: Model,
    second: Model,
    inputs: Mapping[str, Array] | Sequence[Array] | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    max_memory: int | None = None,
    runtime: Runtime | None = None,
    progress: Observer | None = None,
) -> ModelComparison:
    """`irshape.compare`: runs both with the inputs of the first, drawn at random from `seed` where none are given. rtol, atol: instead of those of the precision.

    runtime: what runs an ONNX model; without it onnxruntime where it is installed. Layers are blamed by what irshape makes of them in any case.
    Raises `ExecutionError` where one of them cannot be run, `ValueError` where their inputs do not go together, `RuntimeError` where the runtime asked for is not installed.
    """
    session, other = Session(first, max_memory=max_memory), Session(second, max_memory=max_memory)
    fed = session.bind(inputs if inputs is not None else random_inputs(first, seed))
    handed = _handed(first, second, fed)
    found = ModelComparison(first, second, coarser(first, second))
    of_first, of_second = (
        _by_runtime(found, first, fed, runtime),
        _by_runtime(found, second, handed, runtime),
    )
    found.runtimes = (of_first[0], of_second[0])
    kept: dict[str, tuple[Array, ...]] = {}
    taken = 0

    def keep(layer: Layer, given: tuple[Array, ...], made: tuple[Array, ...]) -> None:
        nonlocal taken
        if progress is not None:
            progress(layer, given, made)
        if layer.type.lower() != "result":
            kept[layer.id] = _replaced(layer, made, of_first[1])
            taken += 0 if layer.type.lower() in _CONSTANT else sum(array.nbytes for array in made)
        if taken > session.max_memory:
            raise ExecutionError(
                f"the tensors of the whole run take more than the {written_size(session.max_memory)} allowed (--max-memory)",
                layer,
            )

    session.run(fed, observe=keep)
    run = _Run(found, other, kept, rtol, atol)

    def observe(layer: Layer, given: tuple[Array, ...], made: tuple[Array, ...]) -> None:
        if progress is not None:
            progress(layer, given, made)
        if layer.type.lower() not in ("result", "parameter"):
            run.layer(layer, given, _replaced(layer, made, of_second[1]))

    other.run(handed, observe=observe)
    run.finish()
    return found


def _by_runtime(
    found: ModelComparison, model: Model, fed: dict[str, Array], runtime: Runtime | None
) -> tuple[str, dict[str, Array]]:
    """What runs a model, and the values that it gives by tensor name; none where irshape runs it."""
    native = model.format.comparing_runtime
    if native is None or runtime == "irshape" or not os.path.isfile(model.path):
        return "irshape", {}
    from .foreign import asked

    try:
        answer, values = asked(model, fed, native)
    except RuntimeError as absent:
        if runtime is not None:
            raise
        found.notes.append(f"{model.path} is run by irshape: {absent}")
        return "irshape", {}
    if answer.crashed or answer.problem:
        found.notes.append(
            f"{model.path} is run by irshape: {answer.version} cannot run it: {answer.crashed or answer.problem}"
        )
        return "irshape", {}
    return answer.version, values


def _replaced(
    layer: Layer, made: tuple[Array, ...], values: Mapping[str, Array]
) -> tuple[Array, ...]:
    """The outputs of a layer, in the place of irshape's those of the runtime that has run the model."""
    if not values or layer.type.lower() in (*_CONSTANT, "parameter"):
        return made
    named = [
        next((values[name] for name in port.tensor_names if name in values), None)
        for port in layer.outputs
    ]
    return tuple(
        array if other is None else other for array, other in zip(made, named, strict=False)
    )


def _handed(first: Model, second: Model, fed: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs of the second model: those of the first by tensor name, by layer name, or else by their order."""
    from ..execution.session import input_names
    from ..numpy_types import dtype_of

    names = input_names(second)
    theirs = {layer.id: layer for layer in second.parameters}
    if len(theirs) != len(first.parameters):
        raise ValueError(
            f"{first.path} has {len(first.parameters)} inputs, {second.path} {len(theirs)}"
        )
    handed: dict[str, Array] = {}
    for layer in first.parameters:
        known = [name for port in layer.outputs for name in port.tensor_names] + [layer.name]
        match = next(
            (names[name] for name in known if name in names and names[name].id not in handed), None
        )
        if match is not None:
            handed[match.id] = fed[layer.id]
    rest = [
        layer
        for layer in first.parameters
        if not any(array is fed[layer.id] for array in handed.values())
    ]
    for layer, into in zip(
        rest, (layer for layer in second.parameters if layer.id not in handed), strict=False
    ):
        handed[into.id] = fed[layer.id]
    for id, array in handed.items():
        wanted = theirs[id].outputs[0].element_type if theirs[id].outputs else None
        if (
            wanted is not None
            and not wanted.is_dynamic
            and array.dtype.kind != "O"
            and array.dtype != dtype_of(wanted)
        ):
            handed[id] = array.astype(dtype_of(wanted))
    return handed


def coarser(first: Model, second: Model) -> str | None:
    """The lowest precision of large constants that only one of two models has; None where both have the same."""
    kinds = []
    for model in (first, second):
        found = set()
        for layer in model.walk():
            if layer.type.lower() in _CONSTANT:
                name, shape = layer.attribute("element_type") or "", layer.attribute("shape") or ""
                if (
                    math.prod(int(size) for size in shape.split(",") if size.strip().isdigit())
                    >= 16
                ):
                    found.add(
                        {
                            "i4": "int4",
                            "u4": "int4",
                            "nf4": "int4",
                            "f4e2m1": "int4",
                            "u2": "int4",
                            "i8": "int8",
                            "u8": "int8",
                            "f8e4m3": "int8",
                            "f8e5m2": "int8",
                        }.get(name, name)
                    )
        kinds.append(found)
    return next(
        (
            kind
            for kind in ("int4", "int8", "bf16", "f16")
            if (kind in kinds[0]) != (kind in kinds[1])
        ),
        None,
    )


class _Run:
    """Holds the layers of the second model against what the first has computed."""

    def __init__(
        self,
        found: ModelComparison,
        session: Session,
        kept: dict[str, tuple[Array, ...]],
        rtol: float | None,
        atol: float | None,
    ) -> None:
        self.found = found
        self.session = session
        self.kept = kept
        self.probe = Session(session.model, max_memory=session.max_memory)
        self.probe._constants = session._constants
        self.coarse = COARSE.get(found.precision or "")
        self.rtol = rtol
        self.atol = atol
        self.tensors, self.names = _outputs(found.first)
        self.layers = {layer.id: layer for layer in reversed(found.first.net.layers)}
        self.wiring = wire(session.model.net)
        self.positions = {
            id(layer): position for position, layer in enumerate(session.model.net.layers)
        }
        self.matched: dict[tuple[int, int], tuple[str, int]] = {}
        """Output of the second model, by position and port: that of the first, by id and port."""
        self.verdicts: dict[tuple[int, int], Verdict] = {}
        self.constant: set[int] = set()
        self.nan_told = False
        layers = session.model.net.layers
        results = [
            position for position, layer in enumerate(layers) if layer.type.lower() == "result"
        ]
        found.outputs = {
            id(layers[source[0]])
            for position in results
            for source in self.wiring.sources[position]
            if source is not None
        }
        for position, layer in enumerate(layers):
            if layer.type.lower() == "parameter":
                match = self.counterpart(layer, 0)
                if match is not None:
                    self.matched[position, 0] = match[1:]
        self.bodies = {
            (layer.path[1:], layer.name): layer
            for layer in found.first.walk()
            if layer.path and layer.type.lower() in _CONSTANT
        }

    def counterpart(self, layer: Layer, port: int) -> tuple[str, str, int] | None:
        """The name, and the layer and port of the first model that carry it too."""
        for name in layer.outputs[port].tensor_names if port < len(layer.outputs) else ():
            if name in self.tensors:
                return name, *self.tensors[name]
        match = self.names.get((layer.name, port))
        return None if match is None else (layer.name, *match)

    def difference(self, first: Array, second: Array) -> tuple[float, bool]:
        """By how much the error exceeds what is allowed, as a factor, and whether all is within."""
        if first.shape != second.shape:
            return math.inf, False
        if first.dtype != second.dtype and first.dtype.kind != "O":
            first = first.astype(np.float64 if first.dtype.kind == "f" else first.dtype)
            second = second.astype(first.dtype)
        error, allowed, same = difference(first, second, self.rtol, self.atol, coarse=self.coarse)
        if same:
            return (error or 0.0) / allowed if allowed else 0.0, True
        return error / allowed if error and allowed else math.inf, False

    def layer(self, layer: Layer, given: tuple[Array, ...], made: tuple[Array, ...]) -> None:
        position = self.positions[id(layer)]
        sources = [source for source in self.wiring.sources[position] if source is not None]
        folded = layer.type.lower()
        constant = folded in _CONSTANT or (
            bool(sources) and all(source[0] in self.constant for source in sources)
        )
        if constant:
            self.constant.add(position)
        if not self.nan_told and any(has_nan(array) for array in made):
            self.nan_told = True
            why = source_of_nan(layer, given, made) or "it came in with the inputs"
            self.found.notes.append(
                f"the first NaN of {self.found.second.path} comes from {layer.type} '{layer.name}' (id {layer.id}): {why}"
            )
        rows = []
        for port, array in enumerate(made):
            match = self.counterpart(layer, port)
            theirs = None if match is None else self.kept.get(match[1])
            if match is None or theirs is None or match[2] >= len(theirs):
                continue
            self.matched[position, port] = match[1:]
            reference = theirs[match[2]]
            excess, same = self.difference(reference, array)
            reason = None
            if reference.shape != array.shape:
                reason = f"A has shape {list(reference.shape)}, B {list(array.shape)}"
                if constant or self.layers[match[1]].type != layer.type:
                    continue  # names that only happen to be the same
            self.verdicts[position, port] = "equal" if same else "differs"
            found = errors(reference, array) if reference.shape == array.shape else Errors()
            rows.append(
                Pair(
                    match[0],
                    self.layers[match[1]],
                    match[2],
                    layer,
                    port,
                    self.verdicts[position, port],
                    found,
                    excess,
                    "not compared",
                    None,
                    constant,
                    reason,
                )
            )
        if rows:
            self.found.pairs += self.own(position, layer, given, rows, sources)

    def own(
        self,
        position: int,
        layer: Layer,
        given: tuple[Array, ...],
        rows: list[Pair],
        sources: list[tuple[int, int]],
    ) -> list[Pair]:
        """The rows with what the layer gives for the first model's inputs."""
        operation = self.session.declarations.of(layer)
        agree = all(
            self.verdicts.get(source, "equal") == "equal"
            for source in sources
            if source[0] not in self.constant
        )
        if rows[0].constant or (agree and all(row.verdict == "equal" for row in rows)):
            rows = [row._replace(own_verdict=row.verdict) for row in rows]
        elif not isinstance(operation, UnknownOperation) and not operation[0].keeps_state:
            inputs = tuple(
                self.handed_on(source, array) for source, array in zip(sources, given, strict=True)
            )
            self.probe.state = {}
            self.probe._runs.clear()
            try:
                made = self.probe.evaluate(layer, inputs)
            except ExecutionError as problem:
                return [
                    row._replace(
                        reason=row.reason or f"B's layer does not take A's inputs: {problem}"
                    )
                    for row in rows
                ]
            replaced = []
            for row in rows:
                reference = self.kept[row.first.id][row.first_port]
                same = self.difference(reference, made[row.second_port])[1]
                own = (
                    errors(reference, made[row.second_port])
                    if reference.shape == made[row.second_port].shape
                    else None
                )
                replaced.append(
                    row._replace(own_verdict="equal" if same else "differs", own_errors=own)
                )
            rows = replaced
        if any(row.own_verdict == "differs" for row in rows) and not rows[0].constant:
            causes = tuple(self.causes(position, layer, rows[0].first))
            rows = [row._replace(causes=causes) for row in rows]
        return rows

    def handed_on(self, source: tuple[int, int], own: Array) -> Array:
        """The first model's value of an input; constants are the second's own."""
        match = None if source[0] in self.constant else self.matched.get(source)
        if match is None:
            return own
        theirs = self.kept[match[0]][match[1]]
        if theirs.shape != own.shape:
            return own
        return (
            theirs
            if theirs.dtype == own.dtype or own.dtype.kind == "O"
            else theirs.astype(own.dtype)
        )

    def causes(self, position: int, layer: Layer, counterpart: Layer) -> list[str]:
        """What is not the same about a layer: its type, attributes, constants, and the constants in its bodies."""
        found: list[str] = []
        if (layer.type, layer.version) != (counterpart.type, counterpart.version):
            found.append(
                f"A has {counterpart.type} of {counterpart.version}, B {layer.type} of {layer.version}"
            )
        else:
            mine, theirs = layer.attributes, counterpart.attributes
            for name in dict.fromkeys((*theirs, *mine)):
                if mine.get(name) != theirs.get(name):
                    found.append(
                        f"`{name}` is {theirs.get(name, '(absent)')!r} in A, {mine.get(name, '(absent)')!r} in B"
                    )
        waiting = [
            source[0]
            for source in self.wiring.sources[position]
            if source is not None and source[0] in self.constant
        ]
        seen: set[int] = set()
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            inner = [source[0] for source in self.wiring.sources[at] if source is not None]
            waiting += inner
            constant = self.session.model.net.layers[at]
            if self.verdicts.get((at, 0)) == "differs" and not any(
                self.verdicts.get((source, 0)) == "differs" for source in inner
            ):
                match = self.matched[at, 0]
                apart = (
                    errors(self.kept[match[0]][match[1]], self.session.constant(constant))
                    if not inner
                    else Errors()
                )
                much = (
                    ""
                    if apart.max_abs is None
                    else f", by up to {apart.max_abs:.4g}"
                    + (f" at {list(apart.place)}" if apart.place else "")
                )
                found.append(
                    f"its constant '{constant.name}' (id {constant.id}) is another one{much}"
                )
        for inner_layer in (
            inner_layer for body in (layer.bodies or {}).values() for inner_layer in body.walk()
        ):
            if inner_layer.type.lower() in _CONSTANT:
                other = self.bodies.get((inner_layer.path[1:], inner_layer.name))
                if other is not None and self.altered(other, inner_layer):
                    found.append(
                        f"the constant '{inner_layer.name}' (id {inner_layer.id}) in its {inner_layer.path[1]} is another one"
                    )
        return found

    def altered(self, first: Layer, second: Layer) -> bool:
        from ..model.weights import array

        try:
            one, other = (
                array(self.found.first.constant(first)),
                array(self.found.second.constant(second)),
            )
        except ValueError:
            return False
        return one is not None and other is not None and not self.difference(one, other)[1]

    def finish(self) -> None:
        found = self.found
        found.altered = [
            pair.second.name
            for pair in found.pairs
            if pair.constant and pair.verdict == "differs" and pair.second.type.lower() in _CONSTANT
            if pair.first.attribute("element_type")
            == pair.second.attribute("element_type")  # else the numbers mean something else
        ]
        first = {pair.first.id for pair in found.pairs}
        second = {pair.second.id for pair in found.pairs}
        skipped = (*_CONSTANT, "result", "parameter", "assign")
        constant = {id(self.session.model.net.layers[position]) for position in self.constant}
        found.unmatched = (
            [
                layer.name
                for layer in found.first.net.layers
                if layer.id not in first and layer.type.lower() not in skipped
            ],
            [
                layer.name
                for layer in found.second.net.layers
                if layer.id not in second
                and layer.type.lower() not in skipped
                and id(layer) not in constant
            ],
        )


def _outputs(
    model: Model,
) -> tuple[dict[str, tuple[str, int]], dict[tuple[str, int], tuple[str, int]]]:
    """The outputs of the net by tensor name, and by layer name and port."""
    tensors: dict[str, tuple[str, int]] = {}
    names: dict[tuple[str, int], tuple[str, int]] = {}
    for layer in model.net.layers:
        for index, port in enumerate(layer.outputs):
            names.setdefault((layer.name, index), (layer.id, index))
            for name in port.tensor_names:
                tensors.setdefault(name, (layer.id, index))
    return tensors, names
