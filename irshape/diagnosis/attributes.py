"""Causes in `<data>`: attributes that are wrong, misspelt, missing or not meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from ..model.graph import Finding, Layer
from ..ops import registry
from ..ops.declaration import Attribute
from ..ops.kinds import SHAPE, Boolean, Choice, Integer, ListOf, ShapeText, TypeName
from ..rule_ids import MISSING_ATTRIBUTE, MISSPELT_ATTRIBUTE, UNKNOWN_ATTRIBUTE
from ..types import PartialShape
from .candidate import Candidate
from .scene import Scene
from .writing import with_attribute, without_attribute

MAX_TEXTS = 12
"""How many values of one attribute are tried."""

MAX_LENGTH = 1024
"""Other values are tried for texts of at most so many characters."""


def attribute_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """Other values of the attributes of a layer, its default and those of its like first."""
    layer = scene.layers[position]
    if finding.rule == UNKNOWN_ATTRIBUTE and finding.actual:
        edits = without_attribute(scene.source, layer.data_offset, finding.actual)
        if edits:
            yield Candidate(
                edits,
                f"the attribute {finding.actual} is removed",
                finding.message,
                finding.offset,
                layer,
                (position,),
            )
        return
    declaration = registry.declaration_of(layer)
    if declaration is None or layer.is_constant or finding.rule == MISSPELT_ATTRIBUTE:
        return
    at = finding.fault.at
    named = [a for a in declaration.attributes.values() if a.name == at]
    for attribute in named or declaration.attributes.values():
        yield from _values(scene, finding, position, attribute, bool(named))


def _values(
    scene: Scene, finding: Finding, position: int, attribute: Attribute, named: bool
) -> Iterator[Candidate]:
    layer = scene.layers[position]
    text = layer.attribute(attribute.name)
    element, usual = layer.data_offset, _usual(scene, layer, attribute.name)
    expected = named or finding.rule == MISSING_ATTRIBUTE or attribute.required or usual
    if element < 0 or (text is None and not expected):
        return  # an attribute that is absent by right has its default
    if text is not None and len(text) > MAX_LENGTH:
        return
    order = _order(scene, layer, attribute.name)
    for index, other in enumerate(_texts(scene, layer, attribute, text, usual)):
        edits = with_attribute(scene.source, element, attribute.name, other, order)
        if not edits:
            continue
        offset = scene.source.attribute(element, attribute.name)
        written = f'{attribute.name}="{text}"' if text is not None else f"no {attribute.name}"
        yield Candidate(
            edits,
            f'{attribute.name}="{other}"',
            f'{written} does not fit what surrounds the layer; {attribute.name}="{other}" does',
            offset,
            layer,
            (position,),
            cost=1.0 + 0.01 * index + _unlike(attribute, text, other),
            bold=text is not None and _reads(attribute.kind, text) is not None,
        )


def _unlike(attribute: Attribute, text: str | None, other: str) -> float:
    """How little a value looks like what is written where that is no value at all."""
    if text is None:
        return 0.3
    return 0.0 if _reads(attribute.kind, text) is not None else 1.0 - _alike(text, other)


def _usual(scene: Scene, layer: Layer, name: str) -> Counter[str]:
    """What other layers of the operation in the model have for an attribute, and how often."""
    texts: Counter[str] = Counter()
    for other in scene.siblings.get((layer.type, layer.version), ()):
        if other is not layer:
            text = other.attribute(name)
            if text is not None:
                texts[text] += 1
    return texts


def _order(scene: Scene, layer: Layer, name: str) -> tuple[str, ...]:
    """The attributes behind which one is written: as another layer of the operation has them."""
    for other in scene.siblings.get((layer.type, layer.version), ()):
        names = other.items[::2]
        if other is not layer and name in names:
            return tuple(names[: names.index(name)])
    declaration = registry.declaration_of(layer)
    names = tuple(a.name for a in declaration.attributes.values()) if declaration else ()
    return names[: names.index(name)] if name in names else ()


def _texts(
    scene: Scene, layer: Layer, attribute: Attribute, text: str | None, usual: Counter[str]
) -> list[str]:
    """Values to try, the likeliest first, written as the file writes them."""
    kind = attribute.kind
    texts: list[str] = []
    if isinstance(kind, (Boolean, Choice)):
        words = ("true", "false") if isinstance(kind, Boolean) else kind.words
        known = {attribute.kind.read(word) for word in words}
        texts += [word for word, _ in usual.most_common() if _reads(kind, word) in known]
        if attribute.default is not None and not attribute.refused_when_absent:
            texts.append(kind.write(attribute.default))
        texts += words
        texts.sort(key=lambda word: -_alike(text, word) if text else 0.0)
    elif isinstance(kind, TypeName):
        ports = [port.element_type for port in layer.outputs if port.element_type]
        texts += [element_type.name for element_type in ports]
        texts += [word for word, _ in usual.most_common(3)]
        texts += kind.allowed[:4]
    elif isinstance(kind, ShapeText):
        texts += [word for word, _ in usual.most_common(2)]
        texts += _port_shapes(layer, text)
    else:
        texts += _numbers(attribute, text, usual)
    present = _reads(kind, text) if text is not None else None
    chosen: list[str] = []
    for other in texts:
        value = _reads(kind, other)
        if value is None or other in chosen or (present is not None and value == present):
            continue
        if value in [_reads(kind, before) for before in chosen]:
            continue
        chosen.append(other)
    return chosen[:MAX_TEXTS]


def _reads(kind: Any, text: str) -> Any:
    """The value of a text; None for one that is none."""
    from ..ops.kinds import Malformed

    try:
        return kind.read(text)
    except Malformed:
        return None


def _alike(text: str, other: str) -> float:
    return SequenceMatcher(None, text.lower(), other.lower()).ratio()


def _port_shapes(layer: Layer, text: str | None) -> list[str]:
    """The shapes that the output ports declare, in the style of the text."""
    comma = ", " if text is None or ", " in text or "," not in text else ","
    written = [part.strip() for part in text.split(",")] if text else []
    return [
        comma.join(
            _dimension(size, written[at : at + 1] * (len(written) == len(port.dims)))
            for at, size in enumerate(port.dims)
        )
        for port in layer.outputs
        if port.dims
    ]


def _dimension(size: int, written: list[str]) -> str:
    """A dimension that a port declares; what is written in its place stays if it may be so."""
    for text in written:
        dims = _reads(SHAPE, text)
        if dims is not None and dims.compatible(PartialShape((size,))):
            return text
    return "?" if size < 0 else str(size)


def _numbers(attribute: Attribute, text: str | None, usual: Counter[str]) -> list[str]:
    """Numbers near the one that is written, and those of other layers and the default."""
    texts = [word for word, _ in usual.most_common(3)]
    kind = attribute.kind
    if attribute.default is not None and not attribute.refused_when_absent:
        texts.append(kind.write(attribute.default))
    steps = (-1, 1, -2, 2, -3, 3)
    value = _reads(kind, text) if text is not None else None
    if isinstance(kind, Integer):
        near = value if isinstance(value, int) else 0
        texts += [str(near + step) for step in steps]
        texts += [str(number) for number in (0, 1, -1, 2, 3, 4)]
    elif isinstance(kind, ListOf) and isinstance(kind.item, Integer):
        comma = "," if text is not None and "," in text and ", " not in text else ", "
        if isinstance(value, tuple) and value:
            for at in range(len(value) - 1, -1, -1):
                for step in steps[:4]:
                    changed = [*value]
                    changed[at] += step
                    texts.append(comma.join(map(str, changed)))
        else:
            texts += [comma.join(number for _ in range(2)) for number in ("1", "0", "2")]
    return texts
