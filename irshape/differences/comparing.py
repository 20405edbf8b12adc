"""Lists the differences of two models, once their layers are matched."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import zip_longest

from ..garbage_collection import collection_paused
from ..inference.result import BodyResult
from ..model import rt_info
from ..model.graph import PORT_MAPS, Body, Layer, Model
from ..model.names import end_names
from ..model.weights import Constant, small_values
from ..model.wiring import OutputRef, wire
from ..ops.tensors import Tensor
from ..spelling import counted
from .content import Side, same_bytes, sides_of
from .matching import matched, twins
from .result import DEFAULT, Change, LayerDiff, ModelDiff, Unmatched

_SHOWN_ELEMENTS = 16
_SHOWN_TEXT = 120


@collection_paused()
def diff(first: Model, second: Model, aspects: Collection[str] = DEFAULT) -> ModelDiff:
    """Returns the structural difference of two models. aspects: what to compare, e.g. attributes;
    see `ASPECTS`."""
    result = ModelDiff(first, second)
    comparison = _Comparison(result, frozenset(aspects))
    comparison.models()
    comparison.bodies(*sides_of(first, second))
    if comparison.bytes_missing:
        result.notes.append(
            f"the bytes of {counted(comparison.bytes_missing, 'pair')} of constants could not be "
            "compared: a .bin is missing or too short"
        )
    return result


class _Comparison:
    def __init__(self, result: ModelDiff, aspects: frozenset[str]) -> None:
        self.result = result
        self.aspects = aspects
        self.bytes_missing = 0

    def models(self) -> None:
        """Compares the IR version, the name and the rt_info of the models."""
        first, second = self.result.first, self.result.second
        if first.format.is_ir and second.format.is_ir:
            self._note("version", "IR version", str(first.version), str(second.version))
        self._note("names", "name", first.name, second.name)
        self.result.changes += self.infos(first, second)

    def _note(self, aspect: str, what: str, old: str, new: str) -> None:
        if aspect in self.aspects and old != new:
            self.result.changes.append(Change(aspect, what, old, new))

    def bodies(self, first: Side, second: Side) -> dict[int, int]:
        """Compares two bodies and their inner bodies. Returns the partner of each matched layer."""
        pair = _Pair(self, first, second, matched(first, second))
        partner = pair.partner
        for a, layer in enumerate(first.layers):
            if a not in partner:
                self.result.removed.append(pair.alone(a, removed=True))
                self._inner_alone(first, a, self.result.removed)
                continue
            b = partner[a]
            self.result.pairs.append((layer, second.layers[b]))
            at = len(self.result.changed)
            changes = [change for change in pair.changes(a, b) if change.aspect in self.aspects]
            changes += self._inside(pair, a, b)
            if changes:
                each = LayerDiff(layer, second.layers[b], tuple(changes), pair.inherits(a, changes))
                self.result.changed.insert(at, each)
        for b in range(len(second.layers)):
            if b not in pair.origin:
                self.result.added.append(pair.alone(b, removed=False))
                self._inner_alone(second, b, self.result.added)
        if "order" in self.aspects:
            self.result.changes += pair.orders()
        return partner

    def _inner_alone(self, side: Side, position: int, alone: list[Unmatched]) -> None:
        """Adds to the result the layers in the bodies of a layer without a counterpart."""
        for body in side.result.inner.get(position, {}).values():
            inner = side.inner(body)
            for at in range(len(inner.layers)):
                alone.append(_alone(inner, at, set()))
                self._inner_alone(inner, at, alone)

    def _inside(self, pair: _Pair, a: int, b: int) -> list[Change]:
        """Compares the bodies of two matched layers. Returns what changed in the port maps and back
        edges."""
        outer = (pair.first, a), (pair.second, b)
        ours, theirs = (side.result.inner.get(position, {}) for side, position in outer)
        changes: list[Change] = []
        for tag in dict.fromkeys((*ours, *theirs)):
            one = pair.first.inner(ours.get(tag) or _empty(pair.first.result))
            other = pair.second.inner(theirs.get(tag) or _empty(pair.second.result))
            partner = self.bodies(one, other)
            if "edges" in self.aspects:
                names = {layer.id: layer.label for layer in other.layers}
                new = _connections(pair.second.layers[b], tag, names)
                names = {
                    layer.id: other.layers[partner[at]].label
                    if at in partner
                    else f"{layer.label}, removed"
                    for at, layer in enumerate(one.layers)
                }
                old = _connections(pair.first.layers[a], tag, names)
                if old != new:
                    what = f"connections of {tag}"
                    changes.append(Change("edges", what, _listed(old - new), _listed(new - old)))
        return changes

    def infos(self, first: Layer | Model, second: Layer | Model) -> Iterator[Change]:
        """Compares the rt_info of two layers, or of the models."""
        if "rt-info" not in self.aspects:
            return
        old = _flat(_parsed(self.result.first, first.rt_info_span))
        new = _flat(_parsed(self.result.second, second.rt_info_span))
        for key in dict.fromkeys((*old, *new)):
            if old.get(key) != new.get(key):
                yield Change("rt-info", f"rt_info {key}", old.get(key), new.get(key))


class _Pair:
    """Two bodies whose layers are matched."""

    def __init__(
        self, comparison: _Comparison, first: Side, second: Side, partner: dict[int, int]
    ) -> None:
        self.comparison = comparison
        self.first, self.second = first, second
        self.partner = partner
        self.origin = {b: a for a, b in partner.items()}
        self.merged = twins(first, second, partner)
        self.copies = twins(second, first, self.origin)
        self.weights: tuple[set[int], set[int]] = set(), set()
        """For each body, the layers without a partner that decompress a matched constant."""
        for a, b in partner.items():
            for _, old, new in self._other_sources(a, b):
                if old is not None and new is not None:
                    ours = _decompression(first, old[0], partner)
                    theirs = _decompression(second, new[0], self.origin)
                    if partner.get(ours[-1]) == theirs[-1]:
                        self.weights[0].update(ours[:-1])
                        self.weights[1].update(theirs[:-1])

    def _other_sources(
        self, a: int, b: int
    ) -> Iterator[tuple[int, OutputRef | None, OutputRef | None]]:
        """Yields the inputs of two matched layers whose producers are not matched with each
        other."""
        both = zip_longest(self.first.sources[a], self.second.sources[b])
        for index, (old, new) in enumerate(both):
            same = (
                old == new
                if old is None or new is None
                else old[1] == new[1]
                and (
                    self.partner.get(old[0], self.merged.get(old[0])) == new[0]
                    or self.copies.get(new[0]) == old[0]
                )
            )
            if not same:
                yield index, old, new

    def alone(self, position: int, *, removed: bool) -> Unmatched:
        """Describes a layer without a partner."""
        side, other = (self.first, self.second) if removed else (self.second, self.first)
        known, equals = (self.partner, self.merged) if removed else (self.origin, self.copies)
        alone = _alone(side, position, known.keys(), self.weights[not removed])
        equal = equals.get(position)
        return alone if equal is None else alone._replace(same_as=other.layers[equal])

    def changes(self, a: int, b: int) -> Iterator[Change]:
        """Returns the differences of two layers, except inside their bodies."""
        one, other = self.first.layers[a], self.second.layers[b]
        if one.folded_type != other.folded_type or one.version != other.version:
            kinds = [f"{layer.type} of {layer.version}" for layer in (one, other)]
            yield Change("type", "operation", *kinds)
        yield from self._attributes(a, b)
        yield from self._tensors(a, b)
        yield from self._constants(a, b)
        for index, old, new in self._other_sources(a, b):
            yield Change(
                "edges",
                f"input {index}",
                self._source(self.first, old, self.partner, "removed"),
                self._source(self.second, new, self.origin, "added"),
            )
        if one.name != other.name:
            yield Change("names", "name", one.name, other.name)
        yield from self._tensor_names(a, b)
        yield from self.comparison.infos(one, other)

    def _attributes(self, a: int, b: int) -> Iterator[Change]:
        one, other = self.first.layers[a], self.second.layers[b]
        if one.is_constant or other.is_constant or one.is_parameter:
            return  # what they declare is compared as types, shapes and bytes
        old, new = self.first.attributes(a), self.second.attributes(b)
        texts, others = one.attributes, other.attributes
        for name in dict.fromkeys((*old, *new)):
            if old.get(name) != new.get(name):
                yield Change(
                    "attributes",
                    f"attribute {name}",
                    _text(texts.get(name), old.get(name)),
                    _text(others.get(name), new.get(name)),
                )

    def _tensors(self, a: int, b: int) -> Iterator[Change]:
        """Compares the element types and shapes of the outputs."""
        if self.first.layers[a].is_result:
            return  # those of what feeds it
        ours, theirs = self.first.result.outputs[a], self.second.result.outputs[b]
        for index, (old, new) in enumerate(zip_longest(ours, theirs)):
            if old is None or new is None:
                yield Change("shapes", f"output {index}", _tensor(old), _tensor(new))
                continue
            if old.element_type is not new.element_type:
                yield Change(
                    "element-types",
                    f"element type of output {index}",
                    str(old.element_type),
                    str(new.element_type),
                )
            if old.shape != new.shape:
                yield Change("shapes", f"shape of output {index}", str(old.shape), str(new.shape))

    def _constants(self, a: int, b: int) -> Iterator[Change]:
        old, new = self.first.constants[a], self.second.constants[b]
        if old is None or new is None or "constants" not in self.comparison.aspects:
            return
        same = same_bytes(old, new)
        if same is None:
            self.comparison.bytes_missing += 1
        elif not same:
            before, after = _values(old, new)
            # of equal numbers in two types, the change of the type says all
            if before != after or old.element_type is new.element_type:
                yield Change("constants", "value", before, after)

    def _source(
        self, side: Side, source: OutputRef | None, known: dict[int, int], word: str
    ) -> str | None:
        if source is None:
            return None
        layer = side.layers[source[0]]
        port = f", output {source[1]}" if len(layer.outputs) > 1 else ""
        return f"{layer.label}{port}{'' if source[0] in known else f', {word}'}"

    def _tensor_names(self, a: int, b: int) -> Iterator[Change]:
        """Compares the tensor names of the model's inputs and outputs and, if requested, of all
        other outputs."""
        one, other = self.first.layers[a], self.second.layers[b]
        if one.path:
            return
        if one.is_result and one.output_names != other.output_names:
            before = set(end_names(self.first.layers, self.first.sources, a))
            after = set(end_names(self.second.layers, self.second.sources, b))
            if before != after:
                yield Change("tensor-names", "names", _listed(before), _listed(after))
        for index, (old, new) in enumerate(zip(one.outputs, other.outputs, strict=False)):
            outer = (
                one.is_parameter
                or _is_output(self.first, a, index)
                or _is_output(self.second, b, index)
            )
            before, after = set(old.tensor_names), set(new.tensor_names)
            if before != after:
                yield Change(
                    "tensor-names" if outer else "names",
                    f"names of output {index}",
                    _listed(before),
                    _listed(after),
                )

    def inherits(self, a: int, changes: list[Change]) -> bool:
        """Whether all changes of a layer follow from changes of its producers: only its types and
        shapes changed, or other layers decompress its constant."""
        follow = {"shapes", "element-types"}
        if all(
            (old and old[0]) in self.weights[0] or (new and new[0]) in self.weights[1]
            for _, old, new in self._other_sources(a, self.partner[a])
        ):
            follow.add("edges")
        return any(source is not None for source in self.first.sources[a]) and all(
            change.aspect in follow for change in changes
        )

    def orders(self) -> Iterator[Change]:
        """Returns which inputs or outputs of the model are in another order."""
        if self.first.result.body.path:
            return
        for what, kind in (("order of inputs", "is_parameter"), ("order of outputs", "is_result")):
            ours = [at for at in self.partner if getattr(self.first.layers[at], kind)]
            ours.sort()
            theirs = [self.partner[at] for at in ours]
            if theirs != sorted(theirs):
                yield Change(
                    "order",
                    what,
                    ", ".join(_end(self.first, at) for at in ours),
                    ", ".join(_end(self.second, at) for at in sorted(theirs)),
                )


def _alone(
    side: Side, position: int, known: Collection[int], weights: Collection[int] = ()
) -> Unmatched:
    users = list(dict.fromkeys(user for user, _, _ in side.users[position]))
    hidden = position in weights or not any(user in known for user in users)
    return Unmatched(
        side.layers[position],
        tuple(side.layers[source[0]] for source in side.sources[position] if source is not None),
        tuple(side.layers[user] for user in users),
        position in side.fixed and bool(users) and hidden,
    )


def _decompression(side: Side, position: int, known: Collection[int]) -> list[int]:
    """Follows the first input of each layer from a layer that depends only on constants back to a
    layer in `known`. Returns all layers on the way, including the first and the last."""
    chain = [position]
    while position not in known and position in side.fixed and side.sources[position]:
        source = side.sources[position][0]
        assert source is not None
        position = source[0]
        chain.append(position)
    return chain


def _empty(like: BodyResult) -> BodyResult:
    """Returns a body without layers, to compare with a body that only one of the models has."""
    body = Body(like.body.path)
    return BodyResult(body, wire(body))


def _connections(layer: Layer, tag: str, names: dict[str, str]) -> set[str]:
    """Returns the port map entries and back edges of a body as texts. names: layer names, by id."""
    ports = {
        direction: [port.id for port in ports]
        for direction, ports in (("input", layer.inputs), ("output", layer.outputs))
    }
    lines = set()
    for entry in (layer.port_maps or {}).get(PORT_MAPS[tag], []):
        given = dict(entry.attributes)
        external = given.pop("external_port_id", "")
        internal = given.pop("internal_layer_id", "")
        known = ports[entry.direction]
        place = str(known.index(external)) if external in known else external
        more = "".join(f" {key}={value}" for key, value in sorted(given.items()))
        lines.add(
            f"{entry.direction} {place} with {names.get(internal, f'layer {internal}')}{more}"
        )
    if layer.bodies and tag in layer.bodies:
        lines |= {
            " back to ".join(
                names.get(id, f"layer {id}") for id in (edge.from_layer, edge.to_layer)
            )
            for edge in layer.bodies[tag].back_edges
        }
    return lines


def _end(side: Side, position: int) -> str:
    """Returns the name of an input or output of a model: its tensor name or, without one, its
    layer's name."""
    return next(iter(end_names(side.layers, side.sources, position)), side.layers[position].name)


def _is_output(side: Side, position: int, index: int) -> bool:
    return any(
        port == index and side.layers[user].is_result for user, _, port in side.users[position]
    )


def _tensor(tensor: Tensor | None) -> str | None:
    return None if tensor is None else f"{tensor.element_type} {tensor.shape}"


def _text(written: str | None, meant: str | None) -> str | None:
    """Returns the value of an attribute as text: as written in the file, otherwise the default."""
    if written is not None:
        return written if len(written) <= _SHOWN_TEXT else written[:_SHOWN_TEXT] + "…"
    return None if meant is None else f"{meant} (default)"


def _values(old: Constant, new: Constant) -> tuple[str, str]:
    """Describes two constants with different bytes. Lists the elements if they are few."""
    shown = [_elements(constant) for constant in (old, new)]
    if shown[0] is not None and shown[1] is not None:
        return shown[0], shown[1]
    if old.element_type is new.element_type and old.shape == new.shape:
        from ..numbers.statistics import errors

        with suppress(ValueError):  # of a file that is broken
            arrays = old.array(), new.array()
            count = int((arrays[0] != arrays[1]).sum())
            much = errors(*arrays).extent() if old.element_type.name != "string" else ""
            return f"{old.elements:,} elements", f"{count:,} of them different{much}"
    return tuple(
        f"{each.element_type} {each.partial_shape}, {each.size:,} bytes" for each in (old, new)
    )  # type: ignore[return-value]


def _elements(constant: Constant) -> str | None:
    if constant.elements > _SHOWN_ELEMENTS or constant.element_type.name == "string":
        return None
    try:
        values = small_values(constant)
    except ValueError:
        return None
    if values is None:
        return None
    texts = [f"{value:.9g}" if isinstance(value, float) else str(value) for value in values]
    return texts[0] if not constant.shape and texts else f"[{', '.join(texts)}]"


def _parsed(model: Model, span: tuple[int, int] | None) -> dict[str, object]:
    try:
        return rt_info.parse(model.source, span)
    except ValueError:
        return {}


def _flat(info: dict[str, object], prefix: str = "") -> dict[str, str]:
    """Returns the entries of nested dictionaries by their paths, such as `a/b`."""
    entries: dict[str, str] = {}
    for key, value in info.items():
        if isinstance(value, dict):
            entries |= _flat(value, f"{prefix}{key}/") or {f"{prefix}{key}": ""}
        else:
            entries[f"{prefix}{key}"] = str(value)
    return entries


def _listed(texts: set[str]) -> str | None:
    return ", ".join(sorted(texts)) or None
