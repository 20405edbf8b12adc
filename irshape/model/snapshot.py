"""Detects whether a model has changed since a result was computed from it."""

from __future__ import annotations

import os
from itertools import chain
from operator import attrgetter

from .graph import Body, Model, PortMap

_OF_LAYER = tuple(map(attrgetter, ("type", "items", "version", "id", "name", "output_names")))
_OF_PORT = tuple(map(attrgetter, ("dims", "precision", "id", "names")))
_INPUTS, _OUTPUTS = attrgetter("inputs"), attrgetter("outputs")


class Snapshot:
    """The state of a model at one time: layers, attributes, edges, bytes and, if wanted, ports.

    A snapshot shares texts and tuples with the model, so that `matches` mostly compares identities
    if nothing changed. This takes little time compared with a run of the model.

    The bytes of constants count as unchanged if the model has the same `Weights` object, and the
    .bin has the same size and modification time.

    ports: whether a changed port counts as a change. Findings depend on declared ports; computed
    values do not.
    """

    __slots__ = ("_ports", "_state")

    def __init__(self, model: Model, *, ports: bool = True) -> None:
        self._ports = ports
        self._state = self._state_of(model)

    def matches(self, model: Model) -> bool:
        """Whether the model is still in the state of the snapshot."""
        return self._state == self._state_of(model)

    def _state_of(self, model: Model) -> list[object]:
        return [model.kind, model.version, *_bytes(model), *_of_body(model.net, self._ports)]


def _bytes(model: Model) -> tuple[object, ...]:
    """Returns a key that changes if the bytes of the constants may have changed."""
    weights = model.weights
    if weights is None:
        return ()
    stamp = None
    if weights.path is not None:
        try:
            status = os.stat(weights.path)
            stamp = (status.st_mtime_ns, status.st_size)
        except OSError:
            pass
    # bytes are compared by identity: they may be gigabytes
    return (id(weights), id(weights.data), weights.state, stamp)


def _of_body(body: Body, with_ports: bool) -> list[object]:
    """Returns the state of a body. Each list has one field of all layers, which saves memory."""
    layers, edges = body.layers, body.edges
    state: list[object] = [body, list(layers), list(edges), list(body.back_edges)]
    state += [list(map(field, layers)) for field in _OF_LAYER]
    if with_ports:
        inputs, outputs = list(map(_INPUTS, layers)), list(map(_OUTPUTS, layers))
        ports = list(chain(chain.from_iterable(inputs), chain.from_iterable(outputs)))
        state += [list(map(len, inputs)), list(map(len, outputs))]
        state += [list(map(field, ports)) for field in _OF_PORT]
    for layer in layers:
        if layer.bodies:
            state.append([list(layer.bodies), _port_maps(layer.port_maps)])
            state += [_of_body(inner, with_ports) for inner in layer.bodies.values()]
    return state


def _port_maps(port_maps: dict[str, list[PortMap]] | None) -> object:
    return {
        tag: [(entry.direction, dict(entry.attributes)) for entry in entries]
        for tag, entries in (port_maps or {}).items()
    }
