"""Describes layers that differ even for equal inputs, and finds repeated patterns of layers.

A network consists of similar blocks, and a device merges the same layers in each of them. So it is
enough to run one layer of a pattern alone on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..model.graph import Layer
from ..model.wiring import OutputRef, Wiring
from ..numpy_types import Array

Pattern = tuple[object, ...]

REACH = 2
"""The pattern of a layer includes producers up to this many edges before the layer."""


class Suspect(NamedTuple):
    """An output that differs even if irshape computes it from the device's input values.

    number: the number of its row. given: for each input of its layer, the output that feeds it, and
    irshape's value if the device has no suitable value, otherwise None.
    """

    number: int
    given: tuple[tuple[OutputRef, Array | None], ...]


def pattern_of(
    layers: Sequence[Layer], wiring: Wiring, position: int, reach: int = REACH
) -> Pattern:
    """Returns a key of a layer: the types, attributes and edges of the layer and its producers,
    without the values of constants."""
    layer = layers[position]
    here = (
        layer.type,
        layer.version,
        () if layer.is_constant else tuple(layer.items),
        tuple(port.precision for port in layer.outputs),
    )
    if not reach:
        return here
    producers = tuple(
        None if source is None else (source[1], pattern_of(layers, wiring, source[0], reach - 1))
        for source in wiring.sources[position]
    )
    return (*here, producers)
