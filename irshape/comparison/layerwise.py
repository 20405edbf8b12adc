"""Compares the layers of a model with a reference while the model runs.

Each layer is compared twice: in the whole run, where its outputs include the errors of its inputs,
and computed from the reference's values of its inputs. The cross-check with a device and the
comparison of two models both work this way. The cross-check with a runtime of another format
compares only the whole run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from ..execution.feeds import Fed
from ..execution.session import Observer, Session
from ..model.graph import Layer
from ..model.wiring import OutputRef, wire
from ..numbers.origins import has_nan, source_of_nan
from ..numpy_types import Array
from ..ops.registry import UnknownOperation


class ComputedLayer(NamedTuple):
    """A layer with its inputs and outputs in the run. sources: the outputs that feed it, in the
    order of `inputs`."""

    layer: Layer
    position: int
    sources: list[OutputRef]
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]


class LayerwiseRun(ABC):
    """Runs a model once, and compares the outputs of every layer with the reference's outputs, in
    the order of execution.

    notes: a list that gets a note on the origin of the first NaN. first_nan: how this note begins,
    e.g. "irshape's first NaN".
    """

    compares_constants = False

    def __init__(self, session: Session, notes: list[str], first_nan: str) -> None:
        self.session = session
        self._notes = notes
        self._first_nan = first_nan
        self.layers = session.model.net.layers
        self.wiring = wire(session.model.net)
        self.positions = {layer: position for position, layer in enumerate(self.layers)}
        self._nan_is_told = False

    def compare_run(self, inputs: Fed, progress: Observer | None) -> list[Array]:
        """Runs the model, compares all layers, and returns its outputs. Raises `ExecutionError`."""

        def observe(layer: Layer, given: tuple[Array, ...], computed: tuple[Array, ...]) -> None:
            if progress is not None:
                progress(layer, given, computed)
            if layer.is_result or layer.is_parameter:
                return
            if layer.is_constant and not self.compares_constants:
                return
            position = self.positions[layer]
            sources = [source for source in self.wiring.sources[position] if source is not None]
            outputs = self.outputs_of(layer, computed)
            if not self._nan_is_told and any(map(has_nan, outputs)):
                self._nan_is_told = True
                why = source_of_nan(layer, given, outputs) or "the inputs contain it"
                self._notes.append(f"{self._first_nan} comes from {layer.label}: {why}")
            self.compare_layer(ComputedLayer(layer, position, sources, given, outputs))

        return list(self.session.run(inputs, observe=observe).values())

    def alone(self, computed: ComputedLayer) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Returns the reference's inputs of a layer, and the outputs that irshape computes from
        them. Raises `ExecutionError` if that fails."""
        inputs = tuple(map(self.reference_input, computed.sources, computed.inputs))
        return inputs, self.session.evaluate(computed.layer, inputs)

    def stands_alone(self, layer: Layer) -> bool:
        """Whether a single layer can be computed: its operation is known and uses no variable."""
        operation = self.session.declarations.of(layer)
        return not isinstance(operation, UnknownOperation) and not operation[0].keeps_state

    def outputs_of(self, layer: Layer, computed: tuple[Array, ...]) -> tuple[Array, ...]:
        """Returns the outputs of a layer to compare: by default, all that the run computes."""
        return computed

    @abstractmethod
    def compare_layer(self, computed: ComputedLayer) -> None:
        """Compares a layer's outputs in the whole run, and its outputs for the reference's
        inputs."""

    def reference_input(self, source: OutputRef, own: Array) -> Array:
        """Returns the reference's value of an input; `own`, the run's value, if the reference has
        none."""
        return own
