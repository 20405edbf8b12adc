"""Causes in the type and the version of a layer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache

from ...model.graph import Finding, Layer, heads_of
from ...model.ids import is_number
from ...ops import registry
from ...rule_ids import (
    ATTRIBUTE_VALUE,
    CONTRADICTED_OPERATION,
    CUSTOM_OPERATION,
    MISSING_LAYER_ATTRIBUTE,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_TYPE,
    UNKNOWN_VERSION,
)
from ...rules import Context
from ..candidate import Candidate, Change
from ..rule_groups import BETWEEN_PORTS
from ..trials.ordering import Later
from ..trials.scene import Scene
from .writing import with_attribute

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
                parts = "attributes and ports"
                yield from _of_version(scene, finding, position, version, cost, parts)


def other_type_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate | Later]:
    """A layer has a type that its attributes and ports do not fit."""
    layer = scene.layers[position]
    if finding.rule in BETWEEN_PORTS and finding.layer is layer:
        return
    if finding.rule == ATTRIBUTE_VALUE or not finding.rule.code.startswith(_MISFITS):
        return
    alone = finding.rule == UNKNOWN_ATTRIBUTE and (
        sum(other.layer is layer for other in scene.findings) < 2
    )
    seen = {layer.type}
    for told in _other_types(scene, layer):
        if isinstance(told, Later):
            if alone:
                return  # an attribute too many tells less than the name of a layer
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
        yield from _of_version(scene, finding, position, version, cost, "attributes")


def _of_version(
    scene: Scene, finding: Finding, position: int, version: str, cost: float, parts: str
) -> Iterator[Candidate]:
    """The layer with another version, to which some parts of it belong."""
    layer = scene.layers[position]
    for candidate in _changed(scene, finding, position, "version", version, cost):
        yield candidate._replace(
            cause=f"the {parts} are those of {layer.type} of {version}, not of {layer.version}",
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
        lies_in_bin = layer.attribute("offset") is not None
        yield ("Const", 0.6) if lies_in_bin else ("Parameter", 1.0)
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
