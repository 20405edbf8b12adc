"""Compares the layers of a model with a reference while the model runs.

Each layer is compared twice: in the whole run, where its outputs include the errors of its inputs,
and by itself, computed from the reference's values of its inputs. The cross-check with a device and
the comparison of two models both work this way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, NamedTuple, TypeVar

from ..execution.feeds import Fed
from ..execution.session import ExecutionError, Observer, Session
from ..model.graph import Layer
from ..model.wiring import OutputRef, wire
from ..numbers.origins import has_nan, source_of_nan
from ..numpy_types import Array
from ..ops.registry import UnknownOperation

T = TypeVar("T")
"""Identifies the comparison of an output: the index of a row, or the row itself."""


class ComputedLayer(NamedTuple):
    """A layer as the run computes it. sources: the outputs that feed it, in the order of
    `inputs`."""

    layer: Layer
    position: int
    sources: list[OutputRef]
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]


class LayerwiseRun(ABC, Generic[T]):
    """Runs a model once, and compares every layer in the order of execution.

    notes: gets a note about the layer where the first NaN comes from. first_nan: its beginning.
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
            self._compare(ComputedLayer(layer, position, sources, given, outputs))

        return list(self.session.run(inputs, observe=observe).values())

    def _compare(self, computed: ComputedLayer) -> None:
        """Compares a layer in the whole run, and then by itself unless that cannot add anything."""
        if not self._nan_is_told and any(map(has_nan, computed.outputs)):
            self._nan_is_told = True
            reason = source_of_nan(computed.layer, computed.inputs, computed.outputs)
            why = reason or "the inputs contain it"
            self._notes.append(f"{self._first_nan} comes from {computed.layer.label}: {why}")
        outputs = self.compare_outputs(computed)
        if not outputs:
            return
        if self.agrees(computed, outputs):
            self.agree_alone(computed, outputs)
        elif not self.stands_alone(computed.layer):
            self.skip_alone(outputs)
        else:
            inputs = tuple(map(self.reference_input, computed.sources, computed.inputs))
            try:
                alone = self.session.evaluate(computed.layer, inputs)
            except ExecutionError as problem:
                self.fail_alone(outputs, problem)
            else:
                self.compare_alone(computed, outputs, inputs, alone)

    def stands_alone(self, layer: Layer) -> bool:
        """Whether a layer can be computed by itself: it is known and has no variable."""
        operation = self.session.declarations.of(layer)
        return not isinstance(operation, UnknownOperation) and not operation[0].keeps_state

    def outputs_of(self, layer: Layer, computed: tuple[Array, ...]) -> tuple[Array, ...]:
        """Returns the outputs of a layer to compare; by default those that the run computes."""
        return computed

    def skip_alone(self, outputs: list[T]) -> None:
        """Called when a layer that differs cannot be computed by itself."""

    @abstractmethod
    def compare_outputs(self, computed: ComputedLayer) -> list[T]:
        """Compares the outputs of the whole run that the reference has too."""

    @abstractmethod
    def agrees(self, computed: ComputedLayer, outputs: list[T]) -> bool:
        """Whether inputs and outputs agree. If so, the layer agrees by itself too."""

    @abstractmethod
    def agree_alone(self, computed: ComputedLayer, outputs: list[T]) -> None:
        """Called when `agrees` returns true."""

    @abstractmethod
    def reference_input(self, source: OutputRef, own: Array) -> Array:
        """Returns the reference's value of an input, or `own`, the run's value, if there is
        none."""

    @abstractmethod
    def fail_alone(self, outputs: list[T], problem: ExecutionError) -> None:
        """Called when a layer cannot be computed from the reference's inputs."""

    @abstractmethod
    def compare_alone(
        self,
        computed: ComputedLayer,
        outputs: list[T],
        inputs: tuple[Array, ...],
        alone: tuple[Array, ...],
    ) -> None:
        """Compares what a layer computes from the reference's inputs with the reference's
        outputs."""
