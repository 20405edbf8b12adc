"""Shrinks the bodies of control-flow layers, or makes one of them the whole model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..comparison.reproducer import parameter
from ..model.graph import Body
from ..model.wiring import OutputRef, wire
from ..numpy_types import Array, dtype_of
from .candidates import Candidate, exact_value
from .edits import computing, crossing, edited
from .layers import bypass_each, cut, remove_chunks
from .places import Place, at, places
from .search import Search


def shrink_bodies(search: Search) -> None:
    """Takes bodies out of their layers, or removes layers inside them."""
    while search.first(_hoisted(search)) is not None:
        pass
    for place in list(places(search.best.net)):
        if place not in places(search.best.net):
            continue
        _remove_inside(search, place)
        bypass_each(search, place)


def _remove_inside(search: Search, place: Place) -> None:
    def items() -> list[str]:
        return computing(at(search.best.net, place))

    remove_chunks(search, items, lambda kept: _kept_inside(search, place, kept))


def _hoisted(search: Search) -> Iterator[Body | None]:
    """Yields each body of the net as a whole net."""
    base = search.best
    for place in places(base.net):
        if len(place) > 1:
            continue
        body = at(base.net, place)
        layers = list(body.layers)
        for position, layer in enumerate(layers):
            if layer.is_parameter and layer.outputs:
                port = layer.outputs[0]
                tensor = base.tensor((position, 0), place)
                layers[position] = parameter(layer.id, layer.name, tensor, port.names)
                layers[position].outputs[0].id = port.id
        whole = edited(body, layers)
        whole.back_edges, whole.path = [], ()
        yield whole


def _kept_inside(search: Search, place: Place, kept: set[str]) -> Body | None:
    """Returns the best model with only these layers inside a body; constants replace the others."""
    base = search.best
    inner = at(base.net, place)
    kept = kept | {layer.id for layer in inner.layers if layer.is_result}  # the port map needs them
    if any(_ones(base, place, source) is None for source in crossing(inner, wire(inner), kept)):
        return None
    return cut(base, search.workshop, kept, lambda base, source: _ones(base, place, source), place)


def _ones(base: Candidate, place: Place, source: OutputRef) -> Array | None:
    """Returns the known value of an output in a body, or ones; None without a known shape."""
    tensor = base.tensor(source, place)
    shape = tensor.shape.static
    if shape is None or tensor.element_type.is_dynamic or tensor.element_type.name == "string":
        return None
    exact = exact_value(tensor)
    return np.ones(shape, dtype_of(tensor.element_type)) if exact is None else exact
