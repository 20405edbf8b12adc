"""Removes layers as long as the model keeps the property, in chunks from the end of the model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from ..comparison.reproducer import fresh_ids, parameter, with_result
from ..model.graph import Body, Layer
from ..model.names import port_name
from ..model.wiring import OutputRef, wire
from ..numpy_types import Array
from ..ops.tensors import UNKNOWN
from .candidates import Candidate, Workshop
from .edits import End, computing, edited, end_of, unused, without_dead
from .search import Search

Replacement = Callable[[Candidate, OutputRef], Array | None]
"""A function that returns the value of the Constant that replaces an output; None to replace it by
a Parameter."""


def remove_layers(search: Search) -> None:
    """Removes layers of the net. Their consumers get new inputs of the model or, if that fails,
    constants. Also bypasses layers, and removes Results with the layers that only they need."""
    workshop = search.workshop
    for replacement in (Candidate.constant_values, Candidate.any_values):
        remove_chunks(
            search,
            # what comes last is needed least
            lambda: [layer.id for layer in computing(search.best.net.layers)[::-1]],
            lambda kept, by=replacement: cut(search.best, workshop, kept, by),  # type: ignore[misc]
        )
    while search.first(_bypasses(search.best)) is not None:
        pass
    remove_chunks(
        search,
        lambda: _ends_of(search.best.net),
        lambda kept: _with_ends(search.best.net, kept),
    )


def remove_chunks(
    search: Search,
    items: Callable[[], list[str]],
    edit: Callable[[set[str]], Body | None],
) -> None:
    """Removes halves of the items, then quarters, down to single items, until none can be removed
    (delta debugging). items: the items of the best model so far, e.g. its layers. edit: a function
    that returns this model with only the given items."""
    size = max(len(items()) // 2, 1)
    while True:
        removed = False
        start = 0
        while True:
            present = items()
            if start >= len(present):
                break
            chunks = [present[at : at + size] for at in range(start, len(present), size)]
            index = search.first(edit(set(present).difference(chunk)) for chunk in chunks)
            if index is None:
                break
            removed = True
            before = set(present[: start + index * size])
            start = sum(item in before for item in items())
        if size > 1:
            size //= 2
        elif not removed:
            return


def cut(
    base: Candidate,
    workshop: Workshop,
    kept: Collection[str],
    replacement: Replacement,
) -> Body | None:
    """Returns the net of `base` without the layers (other than Parameters, Constants and Results)
    that are not in `kept`; None if `kept` is empty. Parameters or Constants replace the outputs of
    removed layers. A Result stays if its producer stays. A layer in `kept` whose outputs become
    unused gets a Result."""
    if not kept:
        return None
    before = base.net
    wiring = wire(before)
    fresh = fresh_ids(before)
    gone = {layer for layer in before.layers if layer.computes and layer.id not in kept}
    layers: list[Layer] = []
    moved: dict[End, End] = {}
    for position, layer in enumerate(before.layers):
        if layer in gone:
            users = wiring.users[position]
            for port in sorted({port for user, _, port in users if before.layers[user].id in kept}):
                source = position, port
                id = layer.id if len(layer.outputs) == 1 else next(fresh)
                tensor, value = base.tensor(source), replacement(base, source)
                name, names = port_name(layer, port), layer.outputs[port].names
                layers.append(workshop.layer(tensor, value, id, name, names))
                moved[end_of(before, source)] = id, "0"
        elif not layer.is_result or all(
            source is not None and before.layers[source[0]] not in gone
            for source in wiring.sources[position]
        ):
            layers.append(layer)
    part = without_dead(edited(before, layers, moved), before, spared=kept)
    fresh, alone = fresh_ids(part), unused(part).intersection(kept)
    for layer in [each for each in part.layers if each.id in alone]:
        for index in range(len(layer.outputs)):
            with_result(part, layer, index, next(fresh))
    return part


def _bypasses(base: Candidate) -> Iterator[Body]:
    """Yields nets in which one layer is bypassed: its consumers are connected to one of its
    producers, if type and shape allow it."""
    body, wiring = base.net, base.wiring
    positions = [position for position, layer in enumerate(body.layers) if layer.computes]
    for position in reversed(positions):
        if len(body.layers[position].outputs) != 1 or not wiring.users[position]:
            continue
        tensor = base.tensor((position, 0))
        others = [layer for at, layer in enumerate(body.layers) if at != position]
        for source in [each for each in wiring.sources[position] if each is not None]:
            given = base.tensor(source)
            if tensor.element_type is given.element_type and tensor.shape.compatible(given.shape):
                moved = {end_of(body, (position, 0)): end_of(body, source)}
                yield without_dead(edited(body, others, moved), body)


def _ends_of(net: Body) -> list[str]:
    """Returns the Results and the other layers without consumers, except Assigns."""
    alone = unused(net)
    ends = [layer for layer in net.layers if layer.id in alone]
    return [layer.id for layer in ends if layer.is_result or not layer.is_sink]


def _with_ends(net: Body, kept: set[str]) -> Body | None:
    """Returns the net without the layers of `_ends_of` that are not in `kept`, and without the
    layers that only these layers need. Returns None if no Result would stay."""
    dropped = set(_ends_of(net)) - kept
    part = edited(net, [layer for layer in net.layers if layer.id not in dropped])
    return without_dead(part, net) if any(layer.is_result for layer in part.layers) else None


def hoist_bodies(search: Search) -> None:
    """Tries to replace the whole model by the body of one of its layers."""
    while search.first(_hoisted(search.best)) is not None:
        pass


def _hoisted(base: Candidate) -> Iterator[Body]:
    """Yields the bodies of the net's layers, each as a whole net."""
    for part in base.inference.result.walk():
        if len(part.body.path) != 2:
            continue
        layers = list(part.body.layers)
        for position, layer in enumerate(layers):
            if layer.is_parameter and layer.outputs:
                port, tensors = layer.outputs[0], part.outputs[position] or (UNKNOWN,)
                layers[position] = parameter(layer.id, layer.name, tensors[0], port.names)
                layers[position].outputs[0].id = port.id
        whole = edited(part.body, layers)
        whole.back_edges, whole.path = [], ()
        yield whole
