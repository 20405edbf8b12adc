"""Layers that depart by themselves, and the patterns of layers that a model repeats.

A network is made of blocks that are alike, and what a device merges in one it merges in all. One
layer of a pattern that is run alone on the device answers for the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..model.graph import Layer
from ..model.wiring import OutputRef, Wiring

Array = np.ndarray[Any, np.dtype[Any]]
Pattern = tuple[object, ...]

REACH = 2
"""How many edges away from a layer its pattern goes, in both directions."""


class Given(NamedTuple):
    """What a suspected layer is given.

    source: the output that feeds it. own: irshape's value where the device has none that fits.
    """

    source: OutputRef
    own: Array | None


class Suspect(NamedTuple):
    """An output that departs though its layer is given the device's inputs.

    number: of its row. given: its inputs.
    """

    number: int
    given: tuple[Given, ...]


class Patterns:
    """The structure around each layer of a body: types, attributes and edges, without the values
    of constants."""

    def __init__(self, layers: list[Layer], wiring: Wiring) -> None:
        self._layers = layers
        self._wiring = wiring

    def of(self, position: int) -> Pattern:
        """The pattern of a layer; two layers in the same surroundings have equal ones."""
        consumers = sorted(
            (user.input, self._layers[user.position].type, self._layers[user.position].version)
            for user in self._wiring.users[position]
        )
        return (*self.computed(position), tuple(consumers))

    def computed(self, position: int, reach: int = REACH) -> Pattern:
        """What a layer computes and from what, whatever becomes of it."""
        layer = self._layers[position]
        here = (
            layer.type,
            layer.version,
            () if layer.is_constant else tuple(layer.items),
            tuple(port.precision for port in layer.outputs),
        )
        if not reach:
            return here
        producers = tuple(
            None if source is None else (source[1], self.computed(source[0], reach - 1))
            for source in self._wiring.sources[position]
        )
        return (*here, producers)
