"""Describes layers that differ by themselves, and finds repeated patterns of layers.

A network consists of similar blocks, and a device merges the same layers in each of them. So one
layer of a pattern that is run alone on the device answers for the others.
"""

from __future__ import annotations

from typing import NamedTuple

from ..model.graph import Layer
from ..model.wiring import OutputRef, Wiring
from ..numpy_types import Array

Pattern = tuple[object, ...]

REACH = 2
"""How many edges away from a layer its pattern extends, in both directions."""


class Given(NamedTuple):
    """An input of a suspected layer.

    source: the output that feeds it. own: irshape's value, used if the device has none that fits.
    """

    source: OutputRef
    own: Array | None


class Suspect(NamedTuple):
    """An output that differs even when its layer is computed from the device's inputs.

    number: of its row. given: the inputs of its layer.
    """

    number: int
    given: tuple[Given, ...]


class Patterns:
    """Describes the structure around each layer of a body: types, attributes and edges.

    The values of constants are not part of it.
    """

    def __init__(self, layers: list[Layer], wiring: Wiring) -> None:
        self._layers = layers
        self._wiring = wiring

    def of(self, position: int) -> Pattern:
        """Returns the pattern of a layer. Layers in the same surroundings have equal patterns."""
        consumers = sorted(
            (user.input, self._layers[user.position].type, self._layers[user.position].version)
            for user in self._wiring.users[position]
        )
        return (*self.computed(position), tuple(consumers))

    def computed(self, position: int, reach: int = REACH) -> Pattern:
        """Returns the pattern of a layer and its producers, without its consumers."""
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
