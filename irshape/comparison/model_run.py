"""Runs a model once and compares it with the values of another model, layer by layer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import dropwhile

import numpy as np

from ..differences.comparing import diff
from ..differences.result import LayerDiff
from ..execution.session import ExecutionError, Session
from ..model.graph import Layer
from ..model.wiring import OutputRef, wire
from ..numbers.statistics import Errors, errors
from ..numbers.tolerance import TOLERANCE, difference, doubtful
from ..numpy_types import Array
from ..spelling import counted, first_of
from .layerwise import ComputedLayer, LayerwiseRun
from .model_pairs import ModelComparison, Pair
from .pairing import Match, Pairing, paired_inputs

COARSE = {
    "f16": TOLERANCE["f16"],
    "bf16": TOLERANCE["bf16"],
    "int8": (0.1, 0.03),
    "int4": (0.4, 0.1),
}
"""Tolerances, as in `TOLERANCE`, if only one of the two models has rounded or quantized weights."""
_NEVER_UNMATCHED = ("const", "result", "parameter", "assign")
"""Types of layers that need no counterpart, in the spelling of `Layer.folded_type`."""


def with_values_of_runtime(
    layer: Layer, computed: tuple[Array, ...], values: Mapping[str, Array]
) -> tuple[Array, ...]:
    """Returns the outputs of a layer: the runtime's values or, where it has none, irshape's."""
    if not values or layer.is_constant or layer.is_parameter:
        return computed
    named = [
        next((values[name] for name in port.tensor_names if name in values), None)
        for port in layer.outputs
    ]
    return tuple(
        array if other is None else other for array, other in zip(computed, named, strict=False)
    )


class ModelRun(LayerwiseRun):
    """Runs the second model and compares its tensors with those of the first. kept: the outputs of
    the first model by layer id. values: if another runtime runs the second model, its values by
    tensor name."""

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
        super().__init__(session, comparison.notes, f"the first NaN of {comparison.second.path}")
        self.comparison = comparison
        self.kept = kept
        self.values = values
        self.coarse = COARSE.get(comparison.precision or "")
        self.exact = comparison.precision is None and comparison.runtimes == ("irshape", "irshape")
        self.rtol = rtol
        self.atol = atol
        self.pairing = Pairing(comparison.first, comparison.second)
        comparison.unpaired_outputs = self.pairing.unpaired_outputs
        comparison.notes += self.pairing.notes
        self.layers_of_first = comparison.first.net.layers
        wiring = wire(comparison.first.net)
        self.sources_of_first = wiring.sources
        self.matched: dict[OutputRef, OutputRef] = {}
        """Maps each output of the second model to the matching output of the first."""
        self.differing: set[OutputRef] = set()
        """The outputs of the second model that differ from the matching output of the first."""
        self.fixed, self.fixed_of_first = _Fixed(), _Fixed()
        self.constant = self.fixed.positions
        self.reshaped: list[str] = []
        """Describes the tensors that are not compared because their shapes differ."""
        for at in wiring.order:
            layer, row = self.layers_of_first[at], wiring.sources[at]
            given = [source for source in row if source is not None]
            self.fixed_of_first.add(layer, at, given, kept.get(layer.id, ()))
        for one, other, _ in paired_inputs(comparison.first, comparison.second):
            self.matched[self.positions[other], 0] = (self.layers_of_first.index(one), 0)

    def difference(self, first: Array, second: Array) -> tuple[float, bool]:
        """Returns the error as a multiple of the tolerance, and whether no error exceeds the
        tolerance."""
        if first.shape != second.shape:
            return math.inf, False
        if first.dtype != second.dtype and first.dtype.kind != "O":
            first = first.astype(np.float64 if first.dtype.kind == "f" else first.dtype)
            second = second.astype(first.dtype)
        error, allowed, same = difference(
            first, second, self.rtol, self.atol, coarse=self.coarse, exact=self.exact
        )
        if same:
            return (error or 0.0) / allowed if allowed else 0.0, True
        return error / allowed if error and allowed else math.inf, False

    # the comparison of a layer

    def outputs_of(self, layer: Layer, computed: tuple[Array, ...]) -> tuple[Array, ...]:
        return with_values_of_runtime(layer, computed, self.values)

    def stands_alone(self, layer: Layer) -> bool:
        """Whether a single layer can be computed. An Assign can, since its output is its input."""
        return layer.folded_type == "assign" or super().stands_alone(layer)

    def compare_layer(self, computed: ComputedLayer) -> None:
        pairs = self.compared_outputs(computed)
        if not pairs:
            return
        if computed.position in self.constant or (
            all(pair.verdict == "equal" for pair in pairs)
            and not any(
                source in self.differing
                for source in computed.sources
                if source[0] not in self.constant
            )
        ):
            pairs = [pair._replace(own_verdict=pair.verdict) for pair in pairs]
        elif not self.takes_inputs_of_first(computed):
            causes = tuple(self.causes(computed, pairs[0].first))
            pairs = [pair._replace(causes=causes) for pair in pairs]
        elif self.stands_alone(computed.layer):
            try:
                pairs = self.compared_alone(computed, pairs, self.alone(computed)[1])
            except ExecutionError as problem:
                text = f"B's layer cannot be computed from A's inputs: {problem}"
                pairs = [pair._replace(reason=pair.reason or text) for pair in pairs]
        self.comparison.pairs += pairs

    def compared_outputs(self, computed: ComputedLayer) -> list[Pair]:
        """Returns a `Pair` for each output of a layer with a counterpart in the first model."""
        layer, position = computed.layer, computed.position
        self.fixed.add(layer, position, computed.sources, computed.outputs)
        pairs = []
        taken = {port for _, _, port in self.wiring.users[position]} or {0}
        for port, output in enumerate(computed.outputs):
            if port not in taken:
                continue
            match = self.pairing.of(layer, position, port)
            reference = None if match is None else self.value_of_first(match.source)
            if match is None or reference is None:
                continue
            if not match.is_output:
                reference = _as_shaped(reference, output)
            excess, same = self.difference(reference, output)
            if not same and not self.corresponds(match, computed, reference, output):
                if position not in self.constant:
                    shapes = f"{list(reference.shape)} in A, {list(output.shape)} in B"
                    self.reshaped.append(f"'{match.name}' ({shapes})")
                continue
            self.matched[position, port] = match.source
            reason = None
            if reference.shape != output.shape:
                reason = f"A has shape {list(reference.shape)}, B {list(output.shape)}"
            if not same:
                self.differing.add((position, port))
            pairs.append(
                Pair(
                    name=match.name,
                    means=match.means,
                    first=self.layers_of_first[match.source[0]],
                    first_port=match.source[1],
                    second=layer,
                    second_port=port,
                    verdict="equal" if same else "differs",
                    errors=_errors(reference, output) or Errors(),
                    excess=excess,
                    constant=position in self.constant
                    and (layer.is_constant or not match.is_output),
                    reason=reason,
                    empty=not output.size,
                )
            )
        return pairs

    def value_of_first(self, source: OutputRef) -> Array | None:
        """Returns the first model's value of an output; None if its layer has no such port."""
        outputs = self.kept.get(self.layers_of_first[source[0]].id, ())
        return outputs[source[1]] if source[1] < len(outputs) else None

    def corresponds(
        self, match: Match, computed: ComputedLayer, reference: Array, output: Array
    ) -> bool:
        """Returns whether tensors with different values really are counterparts. Tensors of
        different shapes are counterparts only if they are outputs of the models, or if their layers
        have the same type and matching inputs."""
        if match.is_output or reference.shape == output.shape:
            return True
        counterpart = self.layers_of_first[match.source[0]]
        others = [each for each in self.sources_of_first[match.source[0]] if each is not None]
        return (
            counterpart.type == computed.layer.type
            and computed.position not in self.constant
            and self.takes_inputs_of_first(computed)
            and all(
                source[0] in self.constant or self.matched.get(source) == other
                for source, other in zip(computed.sources, others, strict=False)
            )
        )

    def takes_inputs_of_first(self, computed: ComputedLayer) -> bool:
        """Returns whether the first model has a value for each input of a layer but constants."""
        return all(
            source[0] in self.constant or self.input_of_first(source, own) is not None
            for source, own in zip(computed.sources, computed.inputs, strict=True)
        )

    def reference_input(self, source: OutputRef, own: Array) -> Array:
        """Returns the first model's value of an input; `own`, the second model's, for a constant or
        if the first model has none."""
        theirs = None if source[0] in self.constant else self.input_of_first(source, own)
        return own if theirs is None else theirs

    def input_of_first(self, source: OutputRef, own: Array) -> Array | None:
        """Returns the first model's value of an input, in the shape and type of the second model;
        None if no value fits."""
        match = self.matched.get(source)
        theirs = None if match is None else self.value_of_first(match)
        theirs = None if theirs is None else _as_shaped(theirs, own)
        if theirs is None or theirs.shape != own.shape:
            return None
        return theirs if own.dtype.kind == "O" else theirs.astype(own.dtype, copy=False)

    def compared_alone(
        self, computed: ComputedLayer, outputs: list[Pair], alone: tuple[Array, ...]
    ) -> list[Pair]:
        """Adds to each pair whether its output agrees if computed from the first model's inputs."""
        pairs = []
        for pair in outputs:
            reference, own = self.kept[pair.first.id][pair.first_port], alone[pair.second_port]
            if pair.errors.max_abs is not None:  # the whole runs were compared in one shape
                reference = _as_shaped(reference, own)
            same = self.difference(reference, own)[1]
            pairs.append(
                pair._replace(
                    own_verdict="equal" if same else "differs", own_errors=_errors(reference, own)
                )
            )
        if any(pair.own_verdict == "differs" for pair in pairs):
            causes = tuple(self.causes(computed, pairs[0].first))
            pairs = [pair._replace(causes=causes) for pair in pairs]
        return pairs

    # what is not the same about a layer

    def causes(self, computed: ComputedLayer, counterpart: Layer) -> list[str]:
        """Describes what differs between two matched layers.

        It looks at the type, the attributes, the producers of the inputs, the constants, and the
        layers in bodies.
        """
        causes: list[str] = []
        layer = computed.layer
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
        others = self.sources_of_first[self.layers_of_first.index(counterpart)]
        given = [other for other in others if other is not None]
        for index, (source, its) in enumerate(zip(computed.sources, given, strict=False)):
            if source[0] not in self.constant and self.matched.get(source) != its:
                producers = _label(self.layers_of_first, its), _label(self.layers, source)
                unknown = "" if source in self.matched else ", which has no counterpart in A"
                text = f"input {index} comes from {producers[0]} in A, from {producers[1]} in B"
                causes.append(text + unknown)
        causes += self.altered_constants(computed, given)
        causes += [
            f"in its {each.second.path[1]}, {each.second.label}: {change}"
            for each in (self.changes_in_bodies if layer.bodies else ())
            if each.second.path[:1] == (layer.id,)
            for change in each.changes
        ]
        return causes

    def altered_constants(self, computed: ComputedLayer, others: Sequence[OutputRef]) -> list[str]:
        """Describes the constants of a layer that have other values in the first model.

        others: the outputs that feed the layer in the first model. If a constant has another
        element type or no counterpart there, the input of the layer that is computed from the
        constant is compared.
        """
        altered: list[str] = []
        pairs = {self.positions[pair.second]: pair for pair in self.comparison.pairs}
        seen: set[int] = set()
        inputs = zip(computed.sources, computed.inputs, others, strict=False)
        for index, (source, value, other) in enumerate(inputs):
            if source[0] not in self.constant:
                continue
            known, waiting = len(altered), [source[0]]
            fixed = other[0] in self.fixed_of_first.positions
            reference = self.value_of_first(other) if fixed else None
            reference = value if reference is None else _as_shaped(reference, value)
            text = f"differs{(_errors(reference, value) or Errors()).extent()}"
            while waiting:
                at = waiting.pop()
                if at in seen:
                    continue
                seen.add(at)
                inner = self.fed_by(at)
                waiting += inner
                if (at, 0) not in self.differing or any(
                    (source, 0) in self.differing for source in inner
                ):
                    continue
                pair = pairs[at]
                label = f"its constant '{pair.second.name}' (id {pair.second.id})"
                if not pair.second.is_constant:
                    label = f"{pair.second.label}, from which its input is computed,"
                kinds = [each.attribute("element_type") for each in (pair.first, pair.second)]
                if kinds[0] == kinds[1]:
                    altered.append(f"{label} differs{pair.extent}")
                else:
                    altered.append(
                        f"{label} is {kinds[0]} in A, {kinds[1]} in B; input {index}, which is "
                        f"computed from this constant, {text}"
                    )
            if len(altered) == known and not self.difference(reference, value)[1]:
                altered.append(f"input {index}, which is computed from constants, {text}")
        return altered

    def fed_by(self, position: int) -> list[int]:
        """Returns the positions of the constant layers that feed the layer at `position`."""
        sources = self.wiring.sources[position]
        return [source[0] for source in sources if source and source[0] in self.constant]

    @cached_property
    def changes_in_bodies(self) -> list[LayerDiff]:
        """Describes what differs in the layers of bodies."""
        aspects = ("type", "attributes", "constants", "edges")
        changed = diff(self.comparison.first, self.comparison.second, aspects).changed
        return [each for each in changed if each.second.path and not each.inherited]

    def finish(self) -> None:
        """Fills in the parts of the comparison that are known only after all layers have run."""
        comparison = self.comparison
        harmless = self.harmless()
        comparison.pairs = [
            pair
            for pair in comparison.pairs
            if not pair.constant
            or pair.verdict == "equal"
            or self.positions[pair.second] not in harmless
        ]
        if self.reshaped:
            comparison.notes.append(
                f"{counted(len(self.reshaped), 'tensor')} not compared, because their shapes "
                f"differ: {first_of(self.reshaped, 5)}"
            )
        comparison.altered = [
            pair.second.name
            for pair in comparison.pairs
            if pair.constant and pair.verdict == "differs" and pair.second.is_constant
            # numbers of another type have another meaning
            if pair.first.attribute("element_type") == pair.second.attribute("element_type")
        ]
        equal = [
            (each.name, each.errors, (each.errors.max_abs or 0.0) / (each.excess or 1.0))
            for each in comparison.pairs
            if each.verdict == "equal"
            and not (each.constant or self.kept[each.first.id][each.first_port].dtype.kind == "O")
        ]
        comparison.notes += doubtful(equal, self.atol, exact=self.exact)
        first = {pair.first.id for pair in comparison.pairs}
        second = {pair.second.id for pair in comparison.pairs}
        comparison.unmatched = (
            [
                layer.name
                for at, layer in enumerate(self.layers_of_first)
                if layer.id not in first
                and layer.folded_type not in _NEVER_UNMATCHED
                and at not in self.fixed_of_first.positions
            ],
            [
                layer.name
                for at, layer in enumerate(self.layers)
                if layer.id not in second
                and layer.folded_type not in _NEVER_UNMATCHED
                and at not in self.constant
            ],
        )

    def harmless(self) -> set[int]:
        """Returns the positions of the layers that compute shapes, and of their constants, except
        those that affect a layer that differs even for equal inputs.

        Two converters may compute a shape in different ways, so a difference in it is harmless.
        """
        harmful = {
            self.positions[pair.second]
            for pair in self.comparison.pairs
            if pair.own_verdict == "differs" and not pair.constant
        }
        harmless: set[int] = set()
        for at in reversed(self.wiring.order):
            users = {user.position for user in self.wiring.users[at]}
            if users & harmful and at in self.constant:
                harmful.add(at)
            elif at in self.fixed.shapes or (at in self.constant and users <= harmless):
                harmless.add(at)
        return harmless


class _Fixed:
    """The positions of the layers of a model that depend only on constants and shapes."""

    def __init__(self) -> None:
        self.positions: set[int] = set()
        self.shapes: set[int] = set()
        """The positions of the layers that compute scalars and vectors from shapes."""

    def add(
        self,
        layer: Layer,
        position: int,
        sources: Sequence[OutputRef],
        outputs: Sequence[Array],
    ) -> None:
        """Adds a layer if it depends only on constants or shapes. Call it for producers first."""
        fed = {source[0] for source in sources}
        known = bool(fed) and fed <= self.positions
        if layer.folded_type == "shapeof" or (known and fed & self.shapes):
            # a table of embeddings indexed by positions is no shape
            if any(output.ndim > 1 for output in outputs):
                return
            self.shapes.add(position)
        elif not known and not layer.is_constant:
            return
        self.positions.add(position)


def _as_shaped(array: Array, like: Array) -> Array:
    """Returns an array in the shape of `like`, if the shapes differ only by leading axes of size 1,
    such as `[]` and `[1]`; otherwise, returns the array unchanged."""
    sizes = [[*dropwhile((1).__eq__, each.shape)] for each in (array, like)]
    return array.reshape(like.shape) if sizes[0] == sizes[1] else array


def _label(layers: Sequence[Layer], source: OutputRef) -> str:
    """Describes an output: its layer, and its port if it has several."""
    layer = layers[source[0]]
    return layer.label + (f" output {source[1]}" if len(layer.outputs) > 1 else "")


def _errors(reference: Array, other: Array) -> Errors | None:
    """Returns the errors of `other`; None if the shapes differ."""
    return errors(reference, other) if reference.shape == other.shape else None
