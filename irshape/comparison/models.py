"""Two models side by side: tensors matched by name, the first that diverges, and why it does."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..byte_sizes import written_size
from ..execution.inputs import random_inputs
from ..execution.session import (
    Array,
    ExecutionError,
    Observer,
    Session,
    input_names,
)
from ..model.graph import Layer, Model
from ..model.ids import is_number
from ..model.weights import array
from ..model.wiring import OutputRef
from ..numbers.statistics import Errors, errors
from ..numbers.tolerance import TOLERANCE, difference
from ..numpy_types import dtype_of
from ..spelling import counted
from .foreign import asked
from .layerwise import ComputedLayer, LayerwiseRun
from .result import Verdict

Runtime = Literal["onnxruntime", "irshape"]
"""What computes the values of an ONNX model."""

COARSE = {
    "f16": TOLERANCE["f16"],
    "bf16": TOLERANCE["bf16"],
    "int8": (0.1, 0.03),
    "int4": (0.4, 0.1),
}
"""As `TOLERANCE`, where the weights of only one of two models are rounded or quantized."""
_NEVER_UNMATCHED = ("const", "result", "parameter", "assign")
"""Types of layers that need no counterpart, as `Layer.folded_type` writes them."""
_COARSE_NAMES = {
    **dict.fromkeys(("i4", "u4", "nf4", "f4e2m1", "u2"), "int4"),
    **dict.fromkeys(("i8", "u8", "f8e4m3", "f8e5m2"), "int8"),
}
"""The key in `COARSE` of element types that are not in it by their name."""


class Pair(NamedTuple):
    """A tensor of both models.

    name: the tensor name or layer name by which they were matched.
    verdict: of two whole runs. own_verdict: of B's layer, given A's inputs.
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
        """Whether it differs only by what it inherits from its inputs."""
        return self.verdict == "differs" and self.own_verdict == "equal"


class ModelComparison:
    """What `irshape compare` finds: pairs in the order in which the second model computes them."""

    def __init__(self, first: Model, second: Model, precision: str | None) -> None:
        self.first = first
        self.second = second
        self.precision = precision
        """The precision of weights that only one of the two has; it decides on the tolerance."""
        self.pairs: list[Pair] = []
        self.unmatched: tuple[list[str], list[str]] = ([], [])
        """Layers of each model, constants left out, none of whose outputs has a counterpart."""
        self.altered: list[str] = []
        """Constants that are not the same in both, beyond rounding."""
        self.notes: list[str] = []
        self.runtimes: tuple[str, str] = ("irshape", "irshape")
        """What has run each of the two."""
        self.outputs: set[Layer] = set()
        """The layers of the second model that feed its Results."""

    def __str__(self) -> str:
        """What was compared, how many tensors differ, and the first or the blamed one."""
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
        """The first tensor that departs though its layer is given the first model's inputs."""
        return next(
            (pair for pair in self.pairs if pair.own_verdict == "differs" and not pair.constant),
            None,
        )

    @property
    def ok(self) -> bool:
        """Whether no layer departs by itself, and no output of the model at all."""
        return self.blamed is None and not any(
            pair.verdict == "differs" and pair.second in self.outputs for pair in self.pairs
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
    """`irshape.compare`: runs both with the inputs of the first.

    inputs: drawn at random from `seed` where none are given.
    rtol, atol: instead of those of the precision.
    runtime: what runs an ONNX model, by default onnxruntime where it is installed. A layer is
    blamed by what irshape computes for it in any case.
    Raises `ExecutionError` where one of them cannot be run, `ValueError` where their inputs do not
    go together, `RuntimeError` where the runtime asked for is not installed.
    """
    session, other = Session(first, max_memory=max_memory), Session(second, max_memory=max_memory)
    if inputs is None:
        inputs = random_inputs(first, seed, max_memory=max_memory)
    fed = session.bind(inputs)
    handed = _handed(first, second, fed)
    comparison = ModelComparison(first, second, coarser(first, second))
    of_first, of_second = (
        _by_runtime(comparison, first, fed, runtime),
        _by_runtime(comparison, second, handed, runtime),
    )
    comparison.runtimes = (of_first[0], of_second[0])
    kept = _kept(session, fed, of_first[1], progress)
    run = ModelRun(comparison, other, kept, of_second[1], rtol, atol)
    run.compare_run(handed, progress)
    run.finish()
    return comparison


def _kept(
    session: Session,
    fed: Mapping[str, Array],
    values: Mapping[str, Array],
    progress: Observer | None,
) -> dict[str, tuple[Array, ...]]:
    """The outputs of every layer of the first model by layer id, those of its runtime first.

    Raises `ExecutionError` where they take more memory than the session may.
    """
    kept: dict[str, tuple[Array, ...]] = {}
    taken = 0

    def keep(layer: Layer, given: tuple[Array, ...], computed: tuple[Array, ...]) -> None:
        nonlocal taken
        if progress is not None:
            progress(layer, given, computed)
        if not layer.is_result:
            kept[layer.id] = _replaced(layer, computed, values)
            taken += 0 if layer.is_constant else sum(array.nbytes for array in computed)
        if taken > session.max_memory:
            raise ExecutionError(
                "the tensors of the whole run take more than the "
                f"{written_size(session.max_memory)} allowed (--max-memory)",
                layer,
            )

    session.run(fed, observe=keep)
    return kept


def _by_runtime(
    comparison: ModelComparison, model: Model, fed: dict[str, Array], runtime: Runtime | None
) -> tuple[str, dict[str, Array]]:
    """What runs a model, and the values that it gives by tensor name: none if that is irshape."""
    native = model.format.comparing_runtime
    if native is None or runtime == "irshape" or not os.path.isfile(model.path):
        return "irshape", {}
    try:
        answer, values = asked(model, fed, native)
    except RuntimeError as absent:
        if runtime is not None:
            raise
        comparison.notes.append(f"{model.path} is run by irshape: {absent}")
        return "irshape", {}
    if answer.crashed or answer.problem:
        comparison.notes.append(
            f"{model.path} is run by irshape: "
            f"{answer.version} cannot run it: {answer.crashed or answer.problem}"
        )
        return "irshape", {}
    return answer.version, values


def _replaced(
    layer: Layer, computed: tuple[Array, ...], values: Mapping[str, Array]
) -> tuple[Array, ...]:
    """The outputs of a layer: those of the runtime that has run the model, else irshape's."""
    if not values or layer.is_constant or layer.is_parameter:
        return computed
    named = [
        next((values[name] for name in port.tensor_names if name in values), None)
        for port in layer.outputs
    ]
    return tuple(
        array if other is None else other for array, other in zip(computed, named, strict=False)
    )


def _handed(first: Model, second: Model, fed: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs of the second model: those of the first by tensor name, by layer name, or else by
    their order."""
    names = input_names(second)
    theirs = {layer.id: layer for layer in second.parameters}
    if len(theirs) != len(first.parameters):
        raise ValueError(
            f"{first.path} has {counted(len(first.parameters), 'input')}, "
            f"{second.path} has {len(theirs)}"
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
    for id, given in handed.items():
        wanted = theirs[id].outputs[0].element_type if theirs[id].outputs else None
        if wanted is None or wanted.is_dynamic or given.dtype.kind == "O":
            continue
        if given.dtype != dtype_of(wanted):
            handed[id] = given.astype(dtype_of(wanted))
    return handed


def coarser(first: Model, second: Model) -> str | None:
    """The lowest precision of large constants that only one of two models has, a key of `COARSE`.

    None where both have the same.
    """
    kinds = [_kinds_of_constants(first), _kinds_of_constants(second)]
    lowest_first = ("int4", "int8", "bf16", "f16")
    return next((kind for kind in lowest_first if (kind in kinds[0]) != (kind in kinds[1])), None)


def _kinds_of_constants(model: Model) -> set[str]:
    """The precisions of the constants of 16 elements or more."""
    kinds = set()
    for layer in model.walk():
        if layer.is_constant:
            name, shape = layer.attribute("element_type") or "", layer.attribute("shape") or ""
            sizes = [int(size) for size in shape.split(",") if is_number(size.strip())]
            if math.prod(sizes) >= 16:
                kinds.add(_COARSE_NAMES.get(name, name))
    return kinds


class ModelRun(LayerwiseRun["Pair"]):
    """A run of the second model, compared with what the first has computed.

    kept: the outputs of the first model by layer id.
    values: what another runtime than irshape computes for the second, by tensor name.
    """

    compares_constants = True

    def __init__(
        self,
        comparison: ModelComparison,
        session: Session,
        kept: dict[str, tuple[Array, ...]],
        values: Mapping[str, Array],
        rtol: float | None,
        atol: float | None,
    ) -> None:
        super().__init__(session)
        self.comparison = comparison
        self.kept = kept
        self.values = values
        self.coarse = COARSE.get(comparison.precision or "")
        self.rtol = rtol
        self.atol = atol
        self.tensors, self.names = _outputs(comparison.first)
        self.layers_of_first = {layer.id: layer for layer in reversed(comparison.first.net.layers)}
        self.matched: dict[OutputRef, tuple[str, int]] = {}
        """For an output of the second model, that of the first by id and port."""
        self.verdicts: dict[OutputRef, Verdict] = {}
        self.constant: set[int] = set()
        """Positions of the layers that are computed from constants alone."""
        comparison.outputs = {
            self.layers[source[0]]
            for layer, sources in zip(self.layers, self.wiring.sources, strict=True)
            if layer.is_result
            for source in sources
            if source is not None
        }
        for position, layer in enumerate(self.layers):
            match = self.counterpart(layer, 0) if layer.is_parameter else None
            if match is not None:
                self.matched[position, 0] = match[1:]
        self.constants_in_bodies = {
            (layer.path[1:], layer.name): layer
            for layer in comparison.first.walk()
            if layer.path and layer.is_constant
        }

    def counterpart(self, layer: Layer, port: int) -> tuple[str, str, int] | None:
        """The name, and the layer and port of the first model that carry it too."""
        for name in layer.outputs[port].tensor_names if port < len(layer.outputs) else ():
            if name in self.tensors:
                return name, *self.tensors[name]
        match = self.names.get((layer.name, port))
        return None if match is None else (layer.name, *match)

    def difference(self, first: Array, second: Array) -> tuple[float, bool]:
        """The error as a multiple of what is allowed, and whether all elements are within."""
        if first.shape != second.shape:
            return math.inf, False
        if first.dtype != second.dtype and first.dtype.kind != "O":
            first = first.astype(np.float64 if first.dtype.kind == "f" else first.dtype)
            second = second.astype(first.dtype)
        error, allowed, same = difference(first, second, self.rtol, self.atol, coarse=self.coarse)
        if same:
            return (error or 0.0) / allowed if allowed else 0.0, True
        return error / allowed if error and allowed else math.inf, False

    # the comparison of a layer

    def outputs_of(self, layer: Layer, computed: tuple[Array, ...]) -> tuple[Array, ...]:
        return _replaced(layer, computed, self.values)

    def stands_alone(self, layer: Layer) -> bool:
        """An Assign too: it passes on what it is given, whatever the variable holds."""
        return layer.folded_type == "assign" or super().stands_alone(layer)

    def skip_alone(self, outputs: list[Pair]) -> None:
        self.comparison.pairs += outputs

    def tell_first_nan(self, layer: Layer, reason: str) -> None:
        self.comparison.notes.append(
            f"the first NaN of {self.comparison.second.path} comes from {layer.label}: {reason}"
        )

    def compare_outputs(self, computed: ComputedLayer) -> list[Pair]:
        layer, position = computed.layer, computed.position
        constant = layer.is_constant or (
            bool(computed.sources)
            and all(source[0] in self.constant for source in computed.sources)
        )
        if constant:
            self.constant.add(position)
        pairs = []
        for port, output in enumerate(computed.outputs):
            match = self.counterpart(layer, port)
            theirs = None if match is None else self.kept.get(match[1])
            if match is None or theirs is None or match[2] >= len(theirs):
                continue
            name, id, port_of_first = match
            self.matched[position, port] = (id, port_of_first)
            reference = theirs[port_of_first]
            excess, same = self.difference(reference, output)
            reason = None
            if reference.shape != output.shape:
                reason = f"A has shape {list(reference.shape)}, B {list(output.shape)}"
                if constant or self.layers_of_first[id].type != layer.type:
                    continue  # names that only happen to be the same
            verdict: Verdict = "equal" if same else "differs"
            self.verdicts[position, port] = verdict
            pairs.append(
                Pair(
                    name=name,
                    first=self.layers_of_first[id],
                    first_port=port_of_first,
                    second=layer,
                    second_port=port,
                    verdict=verdict,
                    errors=_errors(reference, output) or Errors(),
                    excess=excess,
                    own_verdict="not compared",
                    own_errors=None,
                    constant=constant,
                    reason=reason,
                )
            )
        return pairs

    def agrees(self, computed: ComputedLayer, outputs: list[Pair]) -> bool:
        return outputs[0].constant or (
            all(
                self.verdicts.get(source, "equal") == "equal"
                for source in computed.sources
                if source[0] not in self.constant
            )
            and all(pair.verdict == "equal" for pair in outputs)
        )

    def agree_alone(self, computed: ComputedLayer, outputs: list[Pair]) -> None:
        self.comparison.pairs += [pair._replace(own_verdict=pair.verdict) for pair in outputs]

    def reference_input(self, source: OutputRef, own: Array) -> Array:
        """The first model's value of an input; constants are the second's own."""
        match = None if source[0] in self.constant else self.matched.get(source)
        if match is None:
            return own
        theirs = self.kept[match[0]][match[1]]
        if theirs.shape != own.shape:
            return own
        if theirs.dtype == own.dtype or own.dtype.kind == "O":
            return theirs
        return theirs.astype(own.dtype)

    def fail_alone(self, outputs: list[Pair], problem: ExecutionError) -> None:
        self.comparison.pairs += [
            pair._replace(reason=pair.reason or f"B's layer does not take A's inputs: {problem}")
            for pair in outputs
        ]

    def compare_alone(
        self,
        computed: ComputedLayer,
        outputs: list[Pair],
        inputs: tuple[Array, ...],
        alone: tuple[Array, ...],
    ) -> None:
        pairs = []
        for pair in outputs:
            reference, own = self.kept[pair.first.id][pair.first_port], alone[pair.second_port]
            same = self.difference(reference, own)[1]
            pairs.append(
                pair._replace(
                    own_verdict="equal" if same else "differs", own_errors=_errors(reference, own)
                )
            )
        if any(pair.own_verdict == "differs" for pair in pairs):
            causes = tuple(self.causes(computed.position, computed.layer, pairs[0].first))
            pairs = [pair._replace(causes=causes) for pair in pairs]
        self.comparison.pairs += pairs

    # what is not the same about a layer

    def causes(self, position: int, layer: Layer, counterpart: Layer) -> list[str]:
        """Its type, attributes, constants, and the constants in its bodies."""
        causes: list[str] = []
        if (layer.type, layer.version) != (counterpart.type, counterpart.version):
            causes.append(
                f"A has {counterpart.type} of {counterpart.version}, "
                f"B {layer.type} of {layer.version}"
            )
        else:
            mine, theirs = layer.attributes, counterpart.attributes
            for name in dict.fromkeys((*theirs, *mine)):
                if mine.get(name) != theirs.get(name):
                    causes.append(
                        f"`{name}` is {theirs.get(name, '(absent)')!r} in A, "
                        f"{mine.get(name, '(absent)')!r} in B"
                    )
        causes += self.altered_constants(position)
        for inner in (inner for body in (layer.bodies or {}).values() for inner in body.walk()):
            other = self.constants_in_bodies.get((inner.path[1:], inner.name))
            if inner.is_constant and other is not None and self.altered(other, inner):
                causes.append(
                    f"the constant '{inner.name}' (id {inner.id}) in its {inner.path[1]} differs"
                )
        return causes

    def altered_constants(self, position: int) -> list[str]:
        """The constants that a layer is computed from and that are not those of the first model."""
        altered: list[str] = []
        waiting = [source for source in self.fed_by(position) if source in self.constant]
        seen: set[int] = set()
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            inner = self.fed_by(at)
            waiting += inner
            if self.verdicts.get((at, 0)) != "differs" or any(
                self.verdicts.get((source, 0)) == "differs" for source in inner
            ):
                continue
            constant = self.layers[at]
            id, port = self.matched[at, 0]
            apart = Errors()
            if not inner:
                apart = errors(self.kept[id][port], self.session.constant(constant))
            much = "" if apart.max_abs is None else f", by up to {apart.max_abs:.4g}"
            much += f" at {list(apart.place)}" if apart.place else ""
            altered.append(f"its constant '{constant.name}' (id {constant.id}) differs{much}")
        return altered

    def fed_by(self, position: int) -> list[int]:
        """The positions of the layers that feed one."""
        return [source[0] for source in self.wiring.sources[position] if source is not None]

    def altered(self, first: Layer, second: Layer) -> bool:
        """Whether two constants differ beyond rounding."""
        try:
            one = array(self.comparison.first.constant(first))
            other = array(self.comparison.second.constant(second))
        except ValueError:
            return False
        return one is not None and other is not None and not self.difference(one, other)[1]

    def finish(self) -> None:
        """Fills in what is known once all layers have run."""
        comparison = self.comparison
        comparison.altered = [
            pair.second.name
            for pair in comparison.pairs
            if pair.constant and pair.verdict == "differs" and pair.second.is_constant
            # of other types the numbers mean something else
            if pair.first.attribute("element_type") == pair.second.attribute("element_type")
        ]
        first = {pair.first.id for pair in comparison.pairs}
        second = {pair.second.id for pair in comparison.pairs}
        constant = {self.layers[position] for position in self.constant}
        comparison.unmatched = (
            [
                layer.name
                for layer in comparison.first.net.layers
                if layer.id not in first and layer.folded_type not in _NEVER_UNMATCHED
            ],
            [
                layer.name
                for layer in self.layers
                if layer.id not in second
                and layer.folded_type not in _NEVER_UNMATCHED
                and layer not in constant
            ],
        )


def _errors(reference: Array, other: Array) -> Errors | None:
    """The errors of an array; None where it has another shape."""
    return errors(reference, other) if reference.shape == other.shape else None


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
