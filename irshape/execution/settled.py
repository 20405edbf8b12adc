"""Layers whose outputs are the same in every run of a session, and need computing only once.

Those that nothing but constants lead to, such as the decompression of weights; and among runs with
inputs of the same shapes, those that nothing but such shapes and constants lead to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..model.graph import Body, Layer
from ..ops.declaration import Operation
from .plan import COMPUTED, Plan, without

Array = np.ndarray[Any, np.dtype[Any]]

_RANDOM = ("randomuniform", "multinomial")


def settled_layers(
    body: Body,
    plan: Plan,
    repeated: Callable[[Layer], Operation | None],
    known: Collection[Layer],
) -> set[int]:
    """The positions of the layers that the constants decide, and the shapes of the layers `known`.

    repeated: the operation of a layer that computes the same from the same inputs, else None.
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
    """Those of the settled layers whose outputs other layers take."""
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
    """The tensors that are there before a run, in the order in memory that their takers like.

    A copy is made only for what all takers like so, and of at most `limit` bytes in all.
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
        """Whether there is anything to keep."""
        return bool(self._wanted)

    def note(self, layer: Layer, inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
        """An observer of a run."""
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

    __slots__ = ("bytes", "plan", "tensors")

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
        self.bytes = sum(array.nbytes for arrays in outputs.values() for array in arrays)
