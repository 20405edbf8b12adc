"""Finds layers whose outputs are the same in every run, so that they are computed only once.

These depend on constants alone, such as the decompression of weights. Among runs with inputs of
equal shapes, they may also depend on those shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from ..model.graph import Body, Layer
from ..numpy_types import Array
from ..ops.declaration import Operation
from .plan import COMPUTED, Plan, without

_RANDOM = ("randomuniform", "multinomial")


def settled_layers(
    body: Body,
    plan: Plan,
    repeated: Callable[[Layer], Operation | None],
    known: Collection[Layer],
) -> set[int]:
    """Returns positions of layers that depend only on constants and shapes of `known` layers.

    repeated: returns the operation of a layer whose outputs depend on its inputs alone, else None.
    """
    layers = body.layers
    settled: set[int] = set()
    for step in plan.steps:
        if step.kind != COMPUTED or not step.sources:
            continue
        layer = layers[step.position]
        if layer.folded_type in _RANDOM or repeated(layer) is None:
            continue
        of_shape = layer.folded_type == "shapeof"
        if all(
            producer in settled
            or layers[producer].is_constant
            or (of_shape and layers[producer] in known)
            for producer, _ in step.sources
        ):
            settled.add(step.position)
    return settled


def frontier(plan: Plan, settled: Collection[int]) -> set[int]:
    """Returns the settled layers whose outputs feed layers that are not settled."""
    return {
        producer
        for step in plan.steps
        if step.position not in settled
        for producer, _ in step.sources
        if producer in settled
    }


def arranged(
    body: Body,
    plan: Plan,
    tensors: Sequence[tuple[Array, ...]],
    repeated: Callable[[Layer], Operation | None],
    limit: int,
) -> dict[int, tuple[Array, ...]]:
    """Returns copies of existing tensors in the memory layout that their consumers prefer.

    A tensor is copied only if all its consumers prefer the same layout. The copies take at most
    `limit` bytes in all.
    """
    takers: dict[int, list[Callable[[Array], Array] | None]] = {}
    for step in plan.steps:
        taker = repeated(body.layers[step.position]) if step.kind == COMPUTED else None
        for index, (producer, _) in enumerate(step.sources):
            if len(tensors[producer]) == 1:
                arrange = None if taker is None else taker.arranged
                takers.setdefault(producer, []).append(arrange and partial(arrange, index))
    copies: dict[int, tuple[Array, ...]] = {}
    for producer, wishes in takers.items():
        array = tensors[producer][0]
        if array.nbytes > limit or None in wishes:
            continue
        copy = next(filter(None, wishes))(array)
        if copy is not array:
            limit -= copy.nbytes
            copy.flags.writeable = False
            copies[producer] = (copy,)
    return copies


class Recorder:
    """Keeps the outputs of some layers as they are computed, up to a number of bytes."""

    def __init__(self, body: Body, positions: Collection[int], limit: int) -> None:
        self._wanted = {body.layers[position]: position for position in positions}
        self._room = limit
        self.outputs: dict[int, tuple[Array, ...]] = {}

    @property
    def waits(self) -> bool:
        """Whether there are layers whose outputs should be kept."""
        return bool(self._wanted)

    def note(self, layer: Layer, inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
        """Observes a run."""
        position = self._wanted.get(layer)
        if position is None:
            return
        size = sum(array.nbytes for array in outputs)
        if size > self._room:
            return
        self._room -= size
        for array in outputs:
            array.flags.writeable = False  # an output of the model may be a view of it
        self.outputs[position] = outputs


class Prepared:
    """A plan without the layers whose outputs are kept, and the tensors that it starts with."""

    __slots__ = ("plan", "tensors")

    def __init__(
        self,
        body: Body,
        plan: Plan,
        settled: Collection[int],
        tensors: list[tuple[Array, ...]],
        outputs: Mapping[int, tuple[Array, ...]],
    ) -> None:
        self.plan = without(body, plan, settled, outputs)
        self.tensors = tensors.copy()
        for position, arrays in outputs.items():
            self.tensors[position] = arrays
