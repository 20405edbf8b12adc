"""Finds the layers that are needed: ends and begins are bisected, the rest is removed in chunks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from ..ops.tensors import Tensor
from .candidates import Candidate, StandIn, Workshop
from .net import Key, Net, Node, Source, computes, result
from .places import Place, at, inner_tensor, replaced
from .search import Search

FEW = 30
"""Up to so many layers, a tensor may be replaced by any that it depends on."""

Replacement = Callable[[Candidate, Source], StandIn]


def remove_layers(search: Search) -> None:
    """Removes layers of the net. What they fed becomes inputs of the model, or else constants."""
    workshop = search.workshop
    bisect_end(search)
    for replacement in (workshop.parameter_or_constant, workshop.with_values):
        bisect_begin(search, replacement)
        _remove_anywhere(search, replacement)
    bypass_each(search, ())
    keep_one_end(search)


def _remove_anywhere(search: Search, replacement: Replacement) -> None:
    def items() -> list[Key]:
        return search.best.net.computing()

    def edit(kept: set[Key]) -> Net | None:
        return cut(search.best, search.workshop, kept, replacement)

    remove_chunks(search, items, edit)


def bisect_end(search: Search) -> None:
    """Finds the first layer after which all others can be removed."""
    order = _order(search.best.net)
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        kept = set(order[:middle]) & set(search.best.net.nodes)
        net = _kept_only(search, kept, search.workshop.parameter_or_constant)
        if search.first([net]) is None:
            low = middle
        else:
            high = middle


def bisect_begin(search: Search, replacement: Replacement) -> None:
    """Finds the last layer before which all others can be removed."""
    order = _order(search.best.net)
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        kept = set(order[middle:]) & set(search.best.net.nodes)
        if search.first([_kept_only(search, kept, replacement)]) is None:
            high = middle
        else:
            low = middle


def _order(net: Net) -> list[Key]:
    return [key for key in net.order() if computes(net.nodes[key].layer)]


def _kept_only(search: Search, kept: set[Key], replacement: Replacement) -> Net | None:
    return cut(search.best, search.workshop, kept, replacement) if kept else None


def remove_chunks(
    search: Search,
    items: Callable[[], list[Key]],
    edit: Callable[[set[Key]], Net | None],
) -> None:
    """Delta debugging: removes halves, quarters … and single items until none can be removed.

    items: those that the best model has. edit: the best model with only these.
    """
    size = max(len(items()) // 2, 1)
    while True:
        removed = False
        start = 0
        while True:
            present = items()
            if start >= len(present):
                break
            chunks = [present[at : at + size] for at in range(start, len(present), size)]
            taken = search.first(_without(present, chunks, edit))
            if taken is None:
                break
            removed = True
            before = set(present[: start + taken * size])
            start = sum(item in before for item in items())
        if size > 1:
            size //= 2
        elif not removed:
            return


def _without(
    present: list[Key], chunks: list[list[Key]], edit: Callable[[set[Key]], Net | None]
) -> Iterator[Net | None]:
    for chunk in chunks:
        yield edit(set(present) - set(chunk))


def cut(
    base: Candidate,
    workshop: Workshop,
    kept: Collection[Key],
    replacement: Replacement,
    net: Net | None = None,
) -> Net | None:
    """The net of only these computing layers. None without any. net: that of a body.

    What feeds them from other layers is replaced. Results stay where they take something that
    stays; a layer whose outputs nothing takes any more gets a Result.
    """
    if not kept:
        return None
    is_body = net is not None
    net = base.net if net is None else net
    fresh = net.fresh_ids()
    crossing = net.crossing(kept)
    replaced_sources: dict[Source, Source] = {}
    nodes: dict[Key, Node] = {}
    by_producer: dict[Key, list[Source]] = {}
    for source in crossing:
        by_producer.setdefault(source.key, []).append(source)
    for key, node in net.nodes.items():
        layer = node.layer
        for source in by_producer.get(key, ()):
            alone = len(layer.outputs) == 1
            new_key = key if alone else f"{key}:{source.port}"
            name = layer.name if alone else f"{layer.name}:{source.port}"
            names = layer.outputs[source.port].names
            stand_in = replacement(base, source)
            id = layer.id if alone else next(fresh)
            nodes[new_key] = Node(workshop.layer(stand_in, id, name, names), ())
            replaced_sources[source] = Source(new_key, 0)
        if key in kept or layer.is_parameter or layer.is_constant or _still_fed(net, node, kept):
            nodes[key] = node
    nodes = {
        key: Node(node.layer, tuple(_moved(source, replaced_sources) for source in node.sources))
        for key, node in nodes.items()
    }
    if is_body:
        whole = Net(nodes, net.strays, net.back_edges)
        return whole.without_dead(net, spared=net.parameters())
    partial = Net(nodes, net.strays).without_dead(net, spared=kept)
    return _with_results(net, partial, kept)


def _still_fed(net: Net, node: Node, kept: Collection[Key]) -> bool:
    """Whether a layer is a Result of what stays."""
    return node.layer.is_result and all(
        source is not None and (source.key in kept or not computes(net.nodes[source.key].layer))
        for source in node.sources
    )


def _moved(source: Source | None, moved: dict[Source, Source]) -> Source | None:
    return None if source is None else moved.get(source, source)


def _with_results(original: Net, net: Net, kept: Collection[Key]) -> Net:
    """Adds a Result for each kept layer that nothing takes any more."""
    fresh = net.fresh_ids()
    nodes = dict(net.nodes)
    for key in net.nodes:
        layer = net.nodes[key].layer
        outputs = [Source(key, index) for index in range(len(layer.outputs))]
        if key not in kept or not outputs or any(source in net.users for source in outputs):
            continue
        used = [source for source in outputs if source in original.users]
        for source in used or outputs[:1]:
            id = next(fresh)
            while id in nodes:
                id = next(fresh)
            name = f"{layer.name}/result{source.port}"
            nodes[id] = Node(result(id, name, layer.outputs[source.port]), (source,))
    return Net(nodes, net.strays, net.back_edges)


def bypass_each(search: Search, place: Place) -> None:
    """Connects what a layer feeds to what feeds the layer, where type and shape allow it."""
    while search.first(_bypasses(search.best, place)) is not None:
        pass


def _bypasses(base: Candidate, place: Place) -> Iterator[Net | None]:
    net = at(base.net, place)
    layers = net.computing()
    for key in reversed(layers):
        own = Source(key, 0)
        if len(net.nodes[key].layer.outputs) != 1 or own not in net.users:
            continue
        tensor = inner_tensor(base, place, own)
        for source in _behind(net, key, far=len(layers) <= FEW):
            if _interchangeable(tensor, inner_tensor(base, place, source)):
                yield replaced(base.net, place, _bypassed(net, own, source, inside=bool(place)))


def _behind(net: Net, key: Key, far: bool) -> list[Source]:
    """The tensors that a layer depends on, the farthest first; only its own inputs unless far."""
    reached: dict[Source, None] = {}
    waiting = [key]
    while waiting:
        sources = [source for source in net.nodes[waiting.pop(0)].sources if source is not None]
        waiting += [source.key for source in sources if far and source not in reached]
        reached |= dict.fromkeys(sources)
    return list(reversed(reached))


def _bypassed(net: Net, old: Source, new: Source, *, inside: bool) -> Net:
    """A net in which one tensor takes the place of another. inside: it is a body."""
    nodes = {
        key: Node(node.layer, tuple(_moved(source, {old: new}) for source in node.sources))
        for key, node in net.nodes.items()
        if key != old.key
    }
    edited = Net(nodes, net.strays, net.back_edges)
    return edited.without_dead(net, spared=net.parameters() if inside else ())


def _interchangeable(one: Tensor, other: Tensor) -> bool:
    return one.element_type is other.element_type and one.shape.compatible(other.shape)


def keep_one_end(search: Search) -> None:
    """Removes Results, with what only led to them, and Parameters that nothing takes."""
    remove_chunks(
        search,
        lambda: _ends_of(search.best.net),
        lambda kept: _with_ends(search.best.net, kept),
    )
    remove_chunks(search, lambda: _unused(search.best.net), lambda kept: _used(search, kept))
    _only_an_input(search)


def _ends_of(net: Net) -> list[Key]:
    """The Results that nothing takes."""
    used = {source.key for source in net.users}
    return [key for key, node in net.nodes.items() if node.layer.is_result and key not in used]


def _with_ends(net: Net, kept: set[Key]) -> Net | None:
    dropped = set(_ends_of(net)) - kept
    nodes = {key: node for key, node in net.nodes.items() if key not in dropped}
    if not kept:
        return None
    return Net(nodes, net.strays, net.back_edges).without_dead(net)


def _unused(net: Net) -> list[Key]:
    used = {source.key for source in net.users}
    return [
        key
        for key, node in net.nodes.items()
        if key not in used and not node.layer.is_result and node.layer.folded_type != "assign"
    ]


def _used(search: Search, kept: set[Key]) -> Net | None:
    net = search.best.net
    unused = set(_unused(net)) - kept
    nodes = {key: node for key, node in net.nodes.items() if key not in unused}
    return Net(nodes, net.strays, net.back_edges)


def _only_an_input(search: Search) -> None:
    """Tries models that compute nothing: one Parameter or Constant, and its Result."""
    net = search.best.net
    if 0 < len(net.computing()) <= 5:
        search.first(
            Net({key: node, "result": _result_of(net, key)})
            for key, node in net.nodes.items()
            if not node.sources and not computes(node.layer) and node.layer.outputs
        )


def _result_of(net: Net, key: Key) -> Node:
    layer = net.nodes[key].layer
    id = next(net.fresh_ids())
    return Node(result(id, f"{layer.name}/result", layer.outputs[0]), (Source(key, 0),))
