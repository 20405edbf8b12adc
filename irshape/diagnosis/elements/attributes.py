"""Causes in `<data>`: attributes that are wrong, misspelt, missing or not meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from ...formats.ir.edits import Edit
from ...model.graph import Finding, Layer
from ...ops import registry
from ...ops.declaration import Attribute
from ...ops.kinds import (
    Boolean,
    Integer,
    Kind,
    ListOf,
    Real,
    ShapeText,
    TypeName,
)
from ...rule_ids import (
    ATTRIBUTE_VALUE,
    CONTRADICTED_ATTRIBUTE,
    MISSING_ATTRIBUTE,
    OUTPUT_TYPE_MISMATCH,
    UNKNOWN_ATTRIBUTE,
    RuleId,
)
from ..candidate import Candidate, Change
from ..rule_groups import BETWEEN_PORTS
from ..trials.ordering import Later
from ..trials.scene import Scene
from .attribute_texts import (
    COUNTERPARTS,
    MAX_LENGTH,
    likeness,
    nearest_texts,
    other_texts,
    reads,
    same_numbers,
)
from .writing import attribute_writer, comma_of, with_attribute, with_data, without_attribute

_OF_NO_TYPE = (Boolean, Integer, ListOf, Real)
"""Kinds of attributes on which no type of an output depends."""


MAX_SIBLINGS = 4
"""Of how many other layers the attributes are tried where a layer has none."""


_YES = ("yes", "y", "on", "1", "t")
_NO = ("no", "n", "off", "0", "f", "none")

NEAR = 0.6
"""How much alike two names are at least of which one may be a slip for the other."""
_ANY_TYPE = TypeName()


def attribute_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate | Later]:
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
    if not finding.rule.code.startswith(("IR2", "IR3", "IR4", "IR11")) or finding.rule.code in (
        "IR302",
        "IR402",
        "IR110",
        "IR111",
        "IR112",
        "IR113",
        "IR114",
        "IR115",
        "IR117",
        "IR118",
    ):
        return
    if finding.rule in BETWEEN_PORTS and finding.layer is layer:
        return  # no attribute decides what the ports at both ends of an edge declare
    declaration = registry.declaration_of(layer)
    if declaration is None or layer.is_constant:
        return
    at = finding.fault.at
    if layer.data_offset < 0 and finding.rule == MISSING_ATTRIBUTE:
        yield from _missing_data(scene, finding, position)
        return
    attributes = list(declaration.attributes.values())
    if finding.rule == OUTPUT_TYPE_MISMATCH:
        attributes = [a for a in attributes if not isinstance(a.kind, _OF_NO_TYPE)]
    named = [a for a in attributes if a.name == at]
    possible: list[_Possible] = []
    for attribute in named or attributes:
        possible += _values(scene, finding, position, attribute, bool(named))
    beside = bool(named) and finding.rule not in (ATTRIBUTE_VALUE, MISSING_ATTRIBUTE)
    for attribute in attributes if beside else ():
        if attribute not in named and isinstance(attribute.kind, ListOf):
            possible += _values(scene, finding, position, attribute, False)
    possible.sort(key=_cost_of)
    for each in possible:
        yield Later(each.cost)
        yield from each.value.candidates(each.cost, each.text)
    if not named:
        yield Later(1.5)
        yield from _data_of_another(scene, position)


def renamed_attribute_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An attribute that the operation does not have is one that is missing, its name cut or
    longer."""
    layer, source = scene.layers[position], scene.source
    if finding.layer is not layer or not finding.rule.code.startswith(("IR20", "IR3", "IR4")):
        return
    declaration = registry.declaration_of(layer)
    if declaration is None or layer.is_constant or layer.data_offset < 0:
        return
    known = {attribute.name: attribute for attribute in declaration.attributes.values()}
    for name, text in zip(layer.items[::2], layer.items[1::2], strict=True):
        if name in known or not name:
            continue
        for other, attribute in known.items():
            near = other.startswith(name) or name.startswith(other)
            if layer.attribute(other) is not None or reads(attribute.kind, text) is None:
                continue
            if not near and likeness(name, other) < NEAR:
                continue
            start = source.attribute(layer.data_offset, name)
            yield Candidate(
                (Edit(start, start + len(name.encode()), other.encode()),),
                f"{name} becomes {other}",
                f"{layer.type} has no attribute {name}, and lacks {other}",
                start,
                layer,
                (position,),
                cost=0.6 - 0.1 * len(name) / max(len(name), len(other)),
                rule=UNKNOWN_ATTRIBUTE,
            )


def _missing_data(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """The whole `<data>` is gone: others of the operation have one, or the ports tell."""
    layer, source = scene.layers[position], scene.source
    declaration = registry.declaration_of(layer)
    if declaration is None:
        return
    rows = Counter(
        tuple(zip(other.items[::2], other.items[1::2], strict=True))
        for other in scene.siblings.get((layer.type, layer.version), ())
        if other is not layer and other.items
    )
    choices = [row for row, _ in rows.most_common(MAX_SIBLINGS)]
    required = [a for a in declaration.attributes.values() if a.required or a.refused_when_absent]
    if len(required) == 1:
        texts = other_texts(scene, layer, required[0], None, Counter())[:MAX_SIBLINGS]
        choices += [((required[0].name, text),) for text in texts]
    for index, row in enumerate(dict.fromkeys(choices)):
        edits, element = with_data(source, layer.offset, row)
        if not edits:
            return
        yield Candidate(
            edits,
            f"{element} is added",
            finding.message,
            layer.offset,
            layer,
            (position,),
            cost=1.0 + 0.2 * index,
        )


def _data_of_another(scene: Scene, position: int) -> Iterator[Candidate]:
    """Several attributes are others: together those of another layer of the operation."""
    layer, source = scene.layers[position], scene.source
    names = layer.items[::2]
    if layer.data_offset < 0 or len(names) < 2:
        return
    rows = Counter(
        other.items[1::2]
        for other in scene.siblings.get((layer.type, layer.version), ())
        if other is not layer and other.items[::2] == names
    )
    own = layer.items[1::2]
    index = 0
    for row, _ in rows.most_common(MAX_SIBLINGS):
        changes = [(n, a) for n, a, b in zip(names, row, own, strict=True) if a != b]
        if len(changes) < 2:
            continue
        edits = [
            e
            for name, text in changes
            for e in with_attribute(source, layer.data_offset, name, text)
        ]
        shown = " and ".join(f'{name}="{text}"' for name, text in changes)
        yield Candidate(
            tuple(edits),
            shown,
            f"{len(changes)} attributes do not fit what surrounds the layer; {shown} do",
            source.attribute(layer.data_offset, changes[0][0]),
            layer,
            (position,),
            cost=1.5 + 0.05 * index,
            certain=False,
            rule=CONTRADICTED_ATTRIBUTE,
            bold=True,
        )
        index += 1


def _values(
    scene: Scene, finding: Finding, position: int, attribute: Attribute, named: bool
) -> Iterator[_Possible]:
    """The values that an attribute of a layer may have been meant to have, with their costs."""
    layer = scene.layers[position]
    text = layer.attribute(attribute.name)
    usual = _usual(scene, layer, attribute.name)
    expected = named or finding.rule == MISSING_ATTRIBUTE or attribute.required or usual
    if layer.data_offset < 0 or (text is None and not expected):
        return  # an attribute that is absent by right has its default
    if text is not None and len(text) > MAX_LENGTH:
        return
    texts = other_texts(scene, layer, attribute, text, usual)
    if not texts:
        return
    value = _Value(scene, position, attribute, text)
    kept = nearest_texts(attribute, text) if text else set()
    common = _common(attribute, usual)
    same = same_numbers(text) if text is not None else ()
    for index, other in enumerate(texts):
        cost = 1.0 + 0.01 * index + _unlikely(attribute, text, other, common)
        cost += _unlike_its_counterpart(layer, attribute, text, other)
        cost -= (0.35 if other in kept else 0.0) + (1.2 if other in same else 0.0)
        yield _Possible(cost, other, value)


class _Value:
    """An attribute of a layer that may have been meant to have another value."""

    def __init__(self, scene: Scene, position: int, attribute: Attribute, text: str | None) -> None:
        self.scene = scene
        self.position = position
        self.layer = scene.layers[position]
        self.name = attribute.name
        self.rule = _rule_of(attribute, text)
        self.written = f'{self.name}="{text}"' if text is not None else f"no {self.name}"

    @cached_property
    def comma(self) -> str:
        return comma_of(self.scene, self.layer, self.layer.attribute(self.name) or "")

    @cached_property
    def _edits_to(self) -> Callable[[str], tuple[Edit, ...]]:
        order = _order(self.scene, self.layer, self.name)
        return attribute_writer(self.scene.source, self.layer.data_offset, self.name, order)

    @cached_property
    def _offset(self) -> int:
        return self.scene.source.attribute(self.layer.data_offset, self.name)

    def candidates(self, cost: float, text: str) -> Iterator[Candidate]:
        """The attribute gets a value."""
        if self.comma == ", " and "," in text and ", " not in text:
            text = text.replace(",", ", ")
        elif self.comma == ",":
            text = text.replace(", ", ",")
        edits = self._edits_to(text)
        if not edits:
            return
        change = f'{self.name}="{text}"'
        yield Candidate(
            edits,
            change,
            f"{self.written} does not fit what surrounds the layer; {change} does",
            self._offset,
            self.layer,
            (self.position,),
            cost=cost,
            rule=self.rule,
            bold=self.rule == CONTRADICTED_ATTRIBUTE,
            becomes=Change("data", self.name, text),
        )


class _Possible(NamedTuple):
    """A value that an attribute may have been meant to have."""

    cost: float
    text: str
    value: _Value


def _cost_of(possible: _Possible) -> float:
    return possible.cost


def _rule_of(attribute: Attribute, text: str | None) -> RuleId:
    """Under which rule a value is wrong: it is none, there is none, or it does not fit."""
    if text is None:
        return MISSING_ATTRIBUTE
    return ATTRIBUTE_VALUE if reads(attribute.kind, text) is None else CONTRADICTED_ATTRIBUTE


def _common(attribute: Attribute, usual: Counter[str]) -> set[Any]:
    """The values that are seldom slips: what others of the operation have, or the default."""
    common = {reads(attribute.kind, word) for word, _ in usual.most_common(1)}
    if attribute.default is not None and (not usual or attribute.default in common):
        common.add(attribute.default)
    return common


def _unlikely(attribute: Attribute, text: str | None, other: str, common: set[Any]) -> float:
    """How little another value is to be expected in place of what is written.

    Common values are seldom slips; nor are lists of one number again and again, as strides and
    pads are.
    """
    kind = attribute.kind
    present, value = reads(kind, text) if text is not None else None, reads(kind, other)
    cost = 0.0
    if present is not None and not isinstance(kind, ShapeText):
        cost += 0.3 * (present in common) - 0.3 * (value in common)
    elif present is None:
        cost += 0.0 if value in common else 0.3
        cost += (
            0.0 if not text else 1.0 - max(likeness(text, other), _another_word(kind, text, value))
        )
    if isinstance(present, tuple) and isinstance(value, tuple) and present and value:
        cost += 0.2 * (len(set(value)) > 1) - 0.2 * (len(set(present)) > 1)
    return cost + (0.3 if other.startswith("-") and not (text or "").startswith("-") else 0.0)


def _another_word(kind: Kind, text: str, value: Any) -> float:
    """How near a text is to a value by what it means: another word for it, or another type."""
    if isinstance(kind, TypeName):
        return 0.6 * (reads(_ANY_TYPE, text) is not None)
    return float(value is _meant(text))


def _unlike_its_counterpart(
    layer: Layer, attribute: Attribute, text: str | None, other: str
) -> float:
    """How unlikely another value is beside the paddings of a layer, which are often the same at
    both ends, and only count where they are explicit."""
    if attribute.name == "auto_pad":
        return 0.4 if other != "explicit" and _is_padded(layer) else 0.0
    name = COUNTERPARTS.get(attribute.name)
    counterpart = layer.attribute(name) if name is not None else None
    if counterpart is None:
        return 0.0
    meant = reads(attribute.kind, counterpart)
    if reads(attribute.kind, other) == meant:
        return -0.5
    return 0.3 if text is not None and reads(attribute.kind, text) == meant else 0.0


def _is_padded(layer: Layer) -> bool:
    """Whether a layer has paddings, which only count where they are explicit."""
    return any(set(layer.attribute(name) or "") & set("123456789") for name in COUNTERPARTS)


def is_strange(scene: Scene, layer: Layer, name: str, text: str) -> bool:
    """Whether no other layer of the operation has such a list, and it is no default."""
    declaration = registry.declaration_of(layer)
    attribute = declaration.attributes.get(name) if declaration is not None else None
    if attribute is None or not isinstance(attribute.kind, ListOf):
        return False
    value = reads(attribute.kind, text)
    usual = _usual(scene, layer, name)
    return value != attribute.default and all(reads(attribute.kind, t) != value for t in usual)


def _meant(text: str) -> bool | None:
    """What another word for true or false means."""
    word = text.strip().lower()
    return True if word in _YES else False if word in _NO else None


def _usual(scene: Scene, layer: Layer, name: str) -> Counter[str]:
    """What other layers of the operation in the model have for an attribute, and how often."""
    texts: Counter[str] = Counter()
    for items, count in scene.items_of_others(layer).items():
        if name in items[::2]:
            texts[items[2 * items[::2].index(name) + 1]] += count
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
