"""Causes in `<layer>`: its id, its type and its version; and elements that are misspelt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache

from ...formats.ir.edits import Edit, rename_attribute
from ...model.graph import Edge, Finding, Layer, heads_of
from ...model.ids import is_number, lenient_id
from ...ops import registry
from ...rule_ids import (
    ATTRIBUTE_VALUE,
    CONTRADICTED_OPERATION,
    CUSTOM_OPERATION,
    DANGLING_EDGE,
    DUPLICATE_ID,
    MALFORMED_ID,
    MISSING_EDGE,
    MISSING_LAYER_ATTRIBUTE,
    MISSPELT_ELEMENT,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_ELEMENT,
    UNKNOWN_TYPE,
    UNKNOWN_VERSION,
    UNREACHABLE_LAYER,
)
from ...rules import Context, rule_of
from ..candidate import Candidate, Change
from ..trials.ordering import Later
from ..trials.scene import Scene
from .attributes import BETWEEN_PORTS
from .shared_ids import edges_renamed
from .writing import renamed_element, with_attribute, with_edge

MAX_TYPES = 6
"""How many other operations a layer is tried as."""

_ORDER = ("id", "name", "type", "version")
MAX_KIN = 2
"""Of how many words of a name, from the last on, types that are spelt alike are tried."""
SHORT = 3
"""Fewer letters say nothing of a type."""
_DIGITS = re.compile(r"_?\d+d?$")
_WORDS = re.compile(r"[A-Za-z]+[0-9]*[A-Za-z]*")


def operation_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate | Later]:
    """A layer has a type or a version that no operation has, or a version that it does not fit."""
    layer = scene.layers[position]
    if finding.rule in BETWEEN_PORTS and finding.layer is layer:
        return
    unknown = finding.rule in (UNKNOWN_TYPE, UNKNOWN_VERSION, CUSTOM_OPERATION)
    lacks = finding.expected if finding.rule == MISSING_LAYER_ATTRIBUTE else None
    if lacks == "type" or (unknown and finding.rule == UNKNOWN_TYPE):
        for name, cost in _type_names(scene, layer):
            yield from _changed(scene, finding, position, "type", name, cost)
    elif lacks == "version" or unknown:
        versions = _versions(scene, layer)
        for index, version in enumerate(versions):
            yield from _changed(scene, finding, position, "version", version, 1.0 + 0.1 * index)
    elif finding.rule == UNKNOWN_ATTRIBUTE:
        yield from _versions_with(scene, finding, position)
    elif finding.rule.code.startswith(_MISFITS):
        yield Later(1.5)
        given = set(layer.items[::2])
        having = {
            operation.version_name()
            for operation in registry.versions(layer.type)
            if given <= operation.attributes.keys()
        }
        for index, version in enumerate(_versions(scene, layer)):
            if version != layer.version:
                cost = 1.5 + 0.1 * index + (0.0 if version in having else 0.4)
                for candidate in _changed(scene, finding, position, "version", version, cost):
                    yield candidate._replace(
                        cause=f"the attributes and ports are those of {layer.type} of {version}, "
                        f"not of {layer.version}",
                        offset=scene.source.attribute(layer.offset, "version"),
                        rule=CONTRADICTED_OPERATION,
                    )


def other_type_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate | Later]:
    """A layer has a type that its attributes and ports do not fit."""
    layer = scene.layers[position]
    if finding.rule in BETWEEN_PORTS and finding.layer is layer:
        return
    if finding.rule == UNKNOWN_ATTRIBUTE:
        if sum(other.layer is layer for other in scene.findings) < 2:
            return
    elif finding.rule == ATTRIBUTE_VALUE or not finding.rule.code.startswith(_MISFITS):
        return
    seen = {layer.type}
    for told in _other_types(scene, layer):
        if isinstance(told, Later):
            yield told
            continue
        name, cost = told
        if name in seen or len(seen) > MAX_TYPES:
            continue
        seen.add(name)
        for candidate in _of_type(scene, finding, position, name, cost):
            yield candidate._replace(
                cause=f"the attributes and ports are those of {name}, not of {layer.type}",
                offset=scene.source.attribute(layer.offset, "type"),
                rule=CONTRADICTED_OPERATION,
            )


def _of_type(
    scene: Scene, finding: Finding, position: int, name: str, cost: float
) -> Iterator[Candidate]:
    """A layer of another type, and of the version that it has in the model or at all."""
    layer, source = scene.layers[position], scene.source
    version = _version_of(scene, layer, name)
    if version == layer.version:
        yield from _changed(scene, finding, position, "type", name, cost)
        return
    edits = (
        *with_attribute(source, layer.offset, "type", name, _ORDER[:2]),
        *with_attribute(source, layer.offset, "version", version, _ORDER[:3]),
    )
    change = f'type="{name}" and version="{version}"'
    yield Candidate(
        edits,
        change,
        finding.message,
        finding.offset,
        layer,
        (position,),
        cost=cost,
    )


def _version_of(scene: Scene, layer: Layer, name: str) -> str:
    """The version that layers of a type have in the model; else one with the attributes."""
    used = Counter({v: len(row) for (n, v), row in scene.siblings.items() if n == name})
    if layer.version in used:
        return layer.version
    if used:
        return used.most_common(1)[0][0]
    given = set(layer.items[::2])
    fitting = [
        operation.version_name()
        for operation in registry.versions(name)
        if given <= operation.attributes.keys()
    ]
    newest = scene.context.shared(_newest_opset)
    fitting.sort(key=lambda v: (v != layer.version, _number(v) > newest, -_number(v)))
    return fitting[0] if fitting else layer.version


def _versions_with(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """The versions of an operation that have an attribute that the one of the layer lacks."""
    layer = scene.layers[position]
    having = {
        operation.version_name(): operation
        for operation in registry.versions(layer.type)
        if finding.actual in operation.attributes
    }
    versions = [version for version in _versions(scene, layer) if version in having]
    newest = scene.context.shared(_newest_opset)
    for index, version in enumerate(versions):
        later = 0.5 if _number(version) > newest else 0.0
        cost = 0.7 + 0.1 * index + later
        for candidate in _changed(scene, finding, position, "version", version, cost):
            yield candidate._replace(
                cause=f"the attributes are those of {layer.type} of {version}, not of "
                f"{layer.version}",
                offset=scene.source.attribute(layer.offset, "version"),
                rule=CONTRADICTED_OPERATION,
            )


def _changed(
    scene: Scene, finding: Finding, position: int, name: str, text: str, cost: float
) -> Iterator[Candidate]:
    layer = scene.layers[position]
    edits = with_attribute(scene.source, layer.offset, name, text, _ORDER[: _ORDER.index(name)])
    if edits:
        yield Candidate(
            edits,
            f'{name}="{text}"',
            finding.message,
            finding.offset,
            layer,
            (position,),
            cost=cost,
            becomes=Change("layer", name, text),
        )


def _type_names(scene: Scene, layer: Layer) -> Iterator[tuple[str, float]]:
    """Types that a layer may have been meant to be, each with its cost.

    Those that are spelt much like the one that is written, else what name, attributes and ports
    tell of.
    """
    near = _near_types(scene, layer) if layer.type else []
    for index, name in enumerate(near):
        yield name, 1.0 + 0.1 * index
    others = [*_kin(layer.type.lower()), *_types_by_form(scene, layer)]
    left = [name for name in dict.fromkeys(others) if name not in near]
    for index, name in enumerate(left[:MAX_TYPES]):
        yield name, (1.3 if near else 1.0) + 0.1 * index


def _near_types(scene: Scene, layer: Layer) -> list[str]:
    """The types that are spelt much like that of a layer."""
    used = Counter(other.type for other in scene.context.every_layer if other is not layer)
    close = get_close_matches(layer.type.lower(), _with_such_pairs(layer.type.lower()), 6, 0.6)
    names = [name for folded in close for name in _spelt(folded)]
    names.sort(
        key=lambda name: (
            -round(SequenceMatcher(None, layer.type.lower(), name.lower()).ratio(), 2),
            -used[name],
        )
    )
    return names


@lru_cache(maxsize=512)
def _kin(word: str) -> tuple[str, ...]:
    """The types whose name a word begins or ends, or with which it begins: as `Conv`."""
    word = _DIGITS.sub("", word)
    if len(word) < SHORT:
        return ()
    kin = [
        known
        for known in registry.known_types()
        if known != word
        and (known.startswith(word) or known.endswith(word) or _starts_with(word, known))
    ]
    kin.sort(key=lambda known: abs(len(known) - len(word)))
    return tuple(name for known in kin[:MAX_TYPES] for name in _spelt(known))


def _starts_with(word: str, known: str) -> bool:
    return len(known) >= SHORT and word.startswith(known)


def _types_by_form(scene: Scene, layer: Layer) -> list[str]:
    """The types that name, attributes and ports of a layer tell of, the likeliest first."""
    names: list[str] = []
    words = [word.lower() for word in _WORDS.findall(layer.name)]
    known = set(registry.known_types())
    for word in reversed(words):
        names += [name for name in _spelt(word) if word in known]
    if layer.data_offset < 0 and not layer.outputs:
        names.append("Result")
    elif not layer.inputs:
        names.append("Const" if layer.attribute("offset") is not None else "Parameter")
    alike = [
        other.type
        for other in _of_form(scene, layer)
        if other is not layer and other.version == layer.version
    ]
    names += [name for name, _ in Counter(alike).most_common(6)]
    return list(dict.fromkeys(names))


NEAREST = 16
"""How many names are compared in full with one that is misspelt."""


def _with_such_pairs(name: str) -> list[str]:
    """The types that have most pairs of letters with a name in common."""
    pairs = _pairs(name)
    common = {
        known: shared for known, own in _pairs_of_types().items() if (shared := len(pairs & own))
    }
    return sorted(common, key=lambda known: -common[known])[:NEAREST]


def _pairs(name: str) -> frozenset[str]:
    return frozenset(map("".join, zip(f"^{name}", f"{name}$", strict=True)))


@lru_cache(maxsize=1)
def _pairs_of_types() -> dict[str, frozenset[str]]:
    return {known: _pairs(known) for known in registry.known_types()}


@lru_cache(maxsize=1)
def _known_types() -> frozenset[str]:
    return frozenset(registry.known_types())


def _spelt(folded: str, version: str = "") -> list[str]:
    known = registry.versions(folded)
    same = [operation for operation in known if operation.version_name() == version]
    return [(same or known)[0].type_name()] if known else []


_MISFITS = ("IR3", "IR4", "IR116", "IR20")
"""Rules that tell of a layer that is not what its type and version say."""


def _types_alike(scene: Scene, layer: Layer) -> Counter[str]:
    """The other types of layers with the same attributes and as many ports, and their number."""
    own = layer.type.lower()
    return Counter(other.type for other in _of_form(scene, layer) if other.type.lower() != own)


def _of_form(scene: Scene, layer: Layer) -> Iterator[Layer]:
    """The layers with the same attributes and as many ports."""
    given = set(layer.items[::2])
    items, heads = len(layer.items), layer.port_heads
    inputs, outputs = heads.inputs, len(heads.output_ids)
    layers = scene.context.every_layer
    for other, form in zip(layers, heads_of(layers), strict=True):
        if (
            len(other.items) == items
            and form.inputs == inputs
            and len(form.output_ids) == outputs
            and set(other.items[::2]) == given
        ):
            yield other


def _other_types(scene: Scene, layer: Layer) -> Iterator[tuple[str, float] | Later]:
    """The operations that a layer may have been meant to be, with their costs.

    They are named in its name, or are those of layers with the same attributes and as many ports.
    Some come again.
    """
    known, own = _known_types(), layer.type.lower()
    words = _WORDS.findall(layer.name)
    for word in reversed([word.lower() for word in words]):
        if word != own and word in known:
            here = [name for name in _types_alike(scene, layer) if name.lower() == word]
            for name in here or _spelt(word, layer.version):
                if name.lower() != own:
                    yield name, 0.7
    heads = layer.port_heads
    if not heads.input_ids:
        yield "Const" if layer.attribute("offset") is not None else "Parameter", 0.6
    elif not heads.output_ids:
        yield "Result", 0.6
    given = set(layer.items[::2])
    least = 1.1 if given else 1.4
    yield Later(least)
    used = _types_alike(scene, layer)
    for index, (name, _) in enumerate(used.most_common(MAX_TYPES)):
        yield name, least + 0.05 * index
    for word in words[-MAX_KIN:] if given and not used else ():
        for name in _kin(word.lower()):
            if any(given <= operation.attributes.keys() for operation in registry.versions(name)):
                yield name, 1.2


def _versions(scene: Scene, layer: Layer) -> list[str]:
    """The versions of an operation: those of its like in the model, then as they are written."""
    used = Counter(
        {
            version: len(layers) - (version == layer.version)
            for (name, version), layers in scene.siblings.items()
            if name == layer.type
        }
    )
    names = [version for version, count in used.most_common() if count > 0]
    written = [operation.version_name() for operation in registry.versions(layer.type)]
    if layer.version:
        digits = "".join(filter(str.isdigit, layer.version))
        written.sort(key=lambda name: name.removeprefix("opset") != digits)
        names.sort(key=lambda name: name.removeprefix("opset") != digits)
    known = set(written)
    newest = scene.context.shared(_newest_opset)
    written.sort(key=lambda name: (_number(name) > newest, -_number(name)))
    if layer.version:
        written.sort(key=lambda name: name.removeprefix("opset") != digits)
    return list(dict.fromkeys([*(n for n in names if n in known), *written]))


def _newest_opset(context: Context) -> int:
    versions = {layer.version for layer in context.every_layer}
    return max(map(_number, versions), default=0)


def _number(version: str) -> int:
    digits = version.removeprefix("opset")
    return int(digits) if is_number(digits) and len(digits) < 3 else 0


# ids


def id_causes(scene: Scene, finding: Finding, position: int | None) -> Iterator[Candidate]:
    """A layer has an id that is taken or that no edge names, and edges name one that is free."""
    if finding.rule not in (
        DUPLICATE_ID,
        DANGLING_EDGE,
        MALFORMED_ID,
        MISSING_EDGE,
        MISSING_LAYER_ATTRIBUTE,
        UNREACHABLE_LAYER,
    ):
        return
    missing = scene.missing_ids
    doubled = finding.rule == DUPLICATE_ID and position is not None
    if missing:
        suspects = scene.suspect_ids
        if doubled and position is not None:
            near = scene.layers[position].id
            suspects = [at for at in suspects if scene.layers[at].id == near]
        for number in missing[:4]:
            for at in suspects[:8]:
                yield from _meant_by(scene, at, number)
            yield from _half_renumbered(scene, number)
    elif doubled and position is not None:
        free = _free_number(scene, position)
        candidate = _renumbered(scene, position, free)
        if candidate is not None:
            yield candidate._replace(cost=1.5)


def _meant_by(scene: Scene, at: int, number: str) -> Iterator[Candidate]:
    """The layer has the id that edges name, or these edges name the layer."""
    candidate = _renumbered(scene, at, number)
    if candidate is None:
        return
    own = scene.layers[at].id
    named = scene.edges_from.keys() | scene.edges_to.keys()
    if own not in named and _continues(scene, at, own):
        renamed = edges_renamed(scene, at, number)
        if renamed is not None and not _in_order(scene, at, number):
            yield renamed
    yield candidate


def _half_renumbered(scene: Scene, number: str) -> Iterator[Candidate]:
    """The layer that stands where an id belongs has another one, which some of its edges name."""
    before = scene.by_id.get(str(int(number) - 1), ()) if is_number(number) else ()
    at = before[0] + 1 if len(before) == 1 else 0 if number == "0" else len(scene.layers)
    if at == len(scene.layers):
        return
    layer = scene.layers[at]
    named = [*scene.edges_from.get(layer.id, ()), *scene.edges_to.get(layer.id, ())]
    candidate = _renumbered(scene, at, number)
    alone = len(scene.by_id[layer.id]) == 1 and not _in_order(scene, at, layer.id)
    if not named or candidate is None or not alone or not _in_order(scene, at, number):
        return
    edits = list(candidate.edits)
    for edge in named:
        ends = {"from-layer": edge.from_layer, "to-layer": edge.to_layer}
        edits += with_edge(scene, edge, {n: number for n, text in ends.items() if text == layer.id})
    yield candidate._replace(
        edits=tuple(edits),
        change=f'id="{number}", in its edges, too',
        cause=f"the layer stands where the id {number} belongs, which other edges name; it and "
        f"{len(named)} of its edges have {layer.id}",
        touched=tuple(sorted({*candidate.touched, *(a for e in named for a in _ends(scene, e))})),
        cost=0.1,
        rule=DANGLING_EDGE,
    )


def _ends(scene: Scene, edge: Edge) -> Iterator[int]:
    for number in (edge.from_layer, edge.to_layer):
        yield from scene.by_id.get(number, ())


def _free_number(scene: Scene, position: int) -> str:
    """An id that no layer has: the one after the layer before, if it is free."""
    numbers = {int(number) for number in scene.by_id if is_number(number)}
    before = scene.layers[position - 1].id if position else "-1"
    after = int(before) + 1 if is_number(before.removeprefix("-")) else 0
    return str(after if after not in numbers else max(numbers, default=-1) + 1)


def _renumbered(scene: Scene, position: int, number: str) -> Candidate | None:
    """A layer with the id that some edges name, if it has the ports that they name."""
    layer = scene.layers[position]
    outgoing, incoming = scene.edges_from.get(number, []), scene.edges_to.get(number, [])
    outputs = {port.id for port in layer.outputs}
    inputs = {port.id for port in layer.inputs}
    if (
        not {e.from_port for e in outgoing} <= outputs
        or not {e.to_port for e in incoming} <= inputs
    ):
        return None
    continues, stays = (_continues(scene, position, text) for text in (number, layer.id))
    likely = _in_order(scene, position, number) and (continues or not stays)
    sure = 0.3 * (likely and continues and not stays)
    touched = {position, *scene.by_id.get(layer.id, ())}
    for edge in (*outgoing, *scene.edges_from.get(layer.id, ())):
        touched.update(scene.by_id.get(edge.to_layer, ()))
    for edge in incoming:
        touched.update(scene.by_id.get(edge.from_layer, ()))
    edges = len(outgoing) + len(incoming)
    name = "1 edge of it names" if edges == 1 else f"{edges} edges of it name"
    whole = {e.to_port for e in incoming} == inputs
    source = scene.source
    return Candidate(
        with_attribute(source, layer.offset, "id", number),
        f'id="{number}"',
        f"the layer has id {layer.id}, but {name} {number}, which no layer has",
        layer.offset,
        layer,
        tuple(sorted(touched)),
        cost=0.7 - sure + (0.0 if likely else 0.5 + 0.3 * (edges == 1)) + (0.0 if whole else 0.3),
        rule=DUPLICATE_ID if len(scene.by_id.get(layer.id, ())) > 1 else DANGLING_EDGE,
    )


def _in_order(scene: Scene, position: int, number: str) -> bool:
    """Whether an id lies between those of the layers before and behind."""
    ordered = [layer.id for layer in scene.layers[max(0, position - 1) : position + 2]]
    ordered[min(1, position)] = number
    return all(is_number(text) for text in ordered) and ordered == sorted(ordered, key=int)


def _continues(scene: Scene, position: int, number: str) -> bool:
    """Whether an id is the one after that of the layer before; the last layer has none behind."""
    before = scene.layers[position - 1].id if position else "-1"
    return (
        is_number(number) and is_number(before.removeprefix("-")) and int(number) == int(before) + 1
    )


# names and elements


def cured_causes(scene: Scene, finding: Finding, position: int | None) -> Iterator[Candidate]:
    """What the rule of a finding knows to be meant: names that are misspelt, ids with a sign."""
    rule = rule_of(finding.rule)
    if rule is None or rule.phase not in ("ids", "names"):
        return
    edits = [cure.edits for cure in rule.cures(scene.context, [finding])]
    edge = scene.edge_at(finding.offset)
    touched = _edge_ends(scene, edge) if edge is not None else ()
    for edit in edits or _names_of_nearly_the_same_letters(scene, finding):
        yield Candidate(
            edit,
            _renaming(scene, edit) if rule.phase == "names" else finding.help or "",
            finding.message,
            finding.offset,
            finding.layer,
            touched or (() if position is None else (position, *_named_by(scene, finding))),
            touched,
            cost=0.3,
        )


def _renaming(scene: Scene, edits: Sequence[Edit]) -> str:
    """What edits of names come to."""
    first = edits[0]
    written = scene.source.data[first.start : first.end].decode("utf-8", "replace")
    return f"`{written}` becomes `{first.text.decode('utf-8', 'replace')}`"


def _edge_ends(scene: Scene, edge: Edge) -> tuple[int, ...]:
    """The layers whose ids an edge has, under whatever names."""
    texts = dict.fromkeys(
        scene.source.data[start:end].decode("ascii", "replace")
        for name, _, start, end in scene.source.attributes(edge.offset)
        if "p" not in name  # a port
    )
    return tuple(
        at
        for text in (*texts, edge.from_layer, edge.to_layer)
        for at in scene.by_id.get(lenient_id(text) or "", ())
    )


def _names_of_nearly_the_same_letters(scene: Scene, finding: Finding) -> Iterator[tuple[Edit, ...]]:
    """An attribute whose letters are those of one that the element lacks, in another order, or with
    one more or less."""
    written, known = finding.actual, (finding.expected or "").split(", ")
    if written is None or finding.rule.code not in ("IR105", "IR106", "IR121", "IR301", "IR302"):
        return
    element = scene.source.data.rfind(b"<", 0, finding.offset)
    present = {name for name, *_ in scene.source.attributes(element)}
    for name in known:
        if name not in present and _nearly_the_same_letters(name, written):
            edit = rename_attribute(scene.source, finding.offset, written, name)
            if edit is not None:
                yield (edit,)


def _nearly_the_same_letters(one: str, other: str) -> bool:
    if sorted(one) == sorted(other):
        return True
    short, long = sorted((one, other), key=len)
    return len(long) == len(short) + 1 and any(
        long[:at] + long[at + 1 :] == short for at in range(len(long))
    )


def _named_by(scene: Scene, finding: Finding) -> Iterator[int]:
    """The layers at the edges that name what an attribute of a layer says."""
    element = scene.source.data.rfind(b"<", 0, finding.offset)
    for _, offset, start, end in scene.source.attributes(element):
        if offset != finding.offset:
            continue
        text = scene.source.data[start:end].decode("ascii", "replace")
        for edge in scene.edges_from.get(text, ()):
            yield from scene.by_id.get(edge.to_layer, ())
        for edge in scene.edges_to.get(text, ()):
            yield from scene.by_id.get(edge.from_layer, ())


def element_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An element whose name is misspelt."""
    if finding.rule not in (MISSPELT_ELEMENT, UNKNOWN_ELEMENT) or not finding.expected:
        return
    if finding.rule == MISSPELT_ELEMENT:
        edits = renamed_element(scene.source, finding.offset, finding.expected)
        if edits:
            touched = {position, *(at for _, at, _ in scene.consumers[position])}
            for edge in scene.edges_from.get(scene.layers[position].id, ()):
                touched.update(scene.by_id.get(edge.to_layer, ()))
            yield Candidate(
                edits,
                f"<{finding.actual}> becomes <{finding.expected}>",
                finding.message,
                finding.offset,
                scene.layers[position],
                tuple(touched),
                cost=0.5,
            )
