"""Causes in `<data>`: attributes that are wrong, misspelt, missing or not meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ...formats.ir.edits import Edit
from ...model.graph import Finding, Layer
from ...model.ids import is_number
from ...ops import registry
from ...ops.declaration import Attribute
from ...ops.kinds import (
    SHAPE,
    Boolean,
    Choice,
    Integer,
    Kind,
    ListOf,
    Malformed,
    Real,
    ShapeText,
    TypeName,
)
from ...rule_ids import (
    ATTRIBUTE_VALUE,
    CONTRADICTED_ATTRIBUTE,
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    MISSING_ATTRIBUTE,
    OUTPUT_TYPE_MISMATCH,
    UNKNOWN_ATTRIBUTE,
    RuleId,
)
from ...spelling import in_plain_digits
from ...types import PartialShape
from ..candidate import Candidate, Change
from ..trials.ordering import Later
from ..trials.scene import Scene
from .writing import attribute_writer, with_attribute, with_data, without_attribute

BETWEEN_PORTS = (INPUT_MISMATCH, INPUT_TYPE_MISMATCH)
"""Rules that compare what the ports at both ends of an edge declare."""
_OF_NO_TYPE = (Boolean, Integer, ListOf, Real)
"""Kinds of attributes on which no type of an output depends."""
MAX_TEXTS = 18
"""How many values of one attribute are tried."""

MAX_RANK = 12
"""Up to which rank a lost dimension is looked for."""

MAX_SIBLINGS = 4
"""Of how many other layers the attributes are tried where a layer has none."""

_SPELLINGS = re.compile(r"0[xX][0-9a-fA-F]{1,16}|\d(\.\d*)?[eE]\+?\d{1,2}|\d{1,3}(_\d{3})+")
MAX_DIGITS = 6
"""Of how many digits numbers are tried with one less."""
_COUNTERPARTS = {"pads_begin": "pads_end", "pads_end": "pads_begin"}

_YES = ("yes", "y", "on", "1", "t")
_NO = ("no", "n", "off", "0", "f", "none")

NEAR = 0.6
"""How much alike two names are at least of which one may be a slip for the other."""
_ANY_TYPE = TypeName()
MAX_LENGTH = 1024
"""Other values are tried for texts of at most so many characters."""


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
            if layer.attribute(other) is not None or _reads(attribute.kind, text) is None:
                continue
            if not near and _alike(name, other) < NEAR:
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
        texts = _texts(scene, layer, required[0], None, Counter())[:MAX_SIBLINGS]
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
    texts = _texts(scene, layer, attribute, text, usual)
    if not texts:
        return
    value = _Value(scene, position, attribute, text)
    kept = _nearest_texts(attribute, text) if text else set()
    common = _common(attribute, usual)
    same = _same_numbers(text) if text is not None else ()
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
    def _edits_to(self) -> Callable[[str], tuple[Edit, ...]]:
        order = _order(self.scene, self.layer, self.name)
        return attribute_writer(self.scene.source, self.layer.data_offset, self.name, order)

    @cached_property
    def _offset(self) -> int:
        return self.scene.source.attribute(self.layer.data_offset, self.name)

    def candidates(self, cost: float, text: str) -> Iterator[Candidate]:
        """The attribute gets a value."""
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
    return ATTRIBUTE_VALUE if _reads(attribute.kind, text) is None else CONTRADICTED_ATTRIBUTE


def _common(attribute: Attribute, usual: Counter[str]) -> set[Any]:
    """The values that are seldom slips: what others of the operation have, or the default."""
    common = {_reads(attribute.kind, word) for word, _ in usual.most_common(1)}
    if attribute.default is not None and (not usual or attribute.default in common):
        common.add(attribute.default)
    return common


def _unlikely(attribute: Attribute, text: str | None, other: str, common: set[Any]) -> float:
    """How little another value is to be expected in place of what is written.

    Common values are seldom slips; nor are lists of one number again and again, as strides and
    pads are.
    """
    kind = attribute.kind
    present, value = _reads(kind, text) if text is not None else None, _reads(kind, other)
    cost = 0.0
    if present is not None and not isinstance(kind, ShapeText):
        cost += 0.3 * (present in common) - 0.3 * (value in common)
    elif present is None:
        cost += 0.0 if value in common else 0.3
        cost += (
            0.0 if not text else 1.0 - max(_alike(text, other), _another_word(kind, text, value))
        )
    if isinstance(present, tuple) and isinstance(value, tuple) and present and value:
        cost += 0.2 * (len(set(value)) > 1) - 0.2 * (len(set(present)) > 1)
    return cost + (0.3 if other.startswith("-") and not (text or "").startswith("-") else 0.0)


def _another_word(kind: Kind, text: str, value: Any) -> float:
    """How near a text is to a value by what it means: another word for it, or another type."""
    if isinstance(kind, TypeName):
        return 0.6 * (_reads(_ANY_TYPE, text) is not None)
    return float(value is _meant(text))


def _unlike_its_counterpart(
    layer: Layer, attribute: Attribute, text: str | None, other: str
) -> float:
    """How unlikely another value is beside the paddings of a layer, which are often the same at
    both ends, and only count where they are explicit."""
    if attribute.name == "auto_pad":
        return 0.4 if other != "explicit" and _is_padded(layer) else 0.0
    name = _COUNTERPARTS.get(attribute.name)
    counterpart = layer.attribute(name) if name is not None else None
    if counterpart is None:
        return 0.0
    meant = _reads(attribute.kind, counterpart)
    if _reads(attribute.kind, other) == meant:
        return -0.5
    return 0.3 if text is not None and _reads(attribute.kind, text) == meant else 0.0


def _is_padded(layer: Layer) -> bool:
    """Whether a layer has paddings, which only count where they are explicit."""
    return any(set(layer.attribute(name) or "") & set("123456789") for name in _COUNTERPARTS)


def is_strange(scene: Scene, layer: Layer, name: str, text: str) -> bool:
    """Whether no other layer of the operation has such a list, and it is no default."""
    declaration = registry.declaration_of(layer)
    attribute = declaration.attributes.get(name) if declaration is not None else None
    if attribute is None or not isinstance(attribute.kind, ListOf):
        return False
    value = _reads(attribute.kind, text)
    usual = _usual(scene, layer, name)
    return value != attribute.default and all(_reads(attribute.kind, t) != value for t in usual)


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
    elif attribute.name == "variable_id":
        texts += _variables(scene, layer)
    elif isinstance(kind, TypeName):
        ports = [port.element_type for port in layer.outputs if port.element_type]
        texts += [element_type.name for element_type in ports]
        texts += [word for word, _ in usual.most_common(3)]
        texts += kind.allowed[:4]
    elif isinstance(kind, ShapeText):
        bare = [] if text is None else [text.strip(" []{}()<>,\"'")]
        texts += [*bare, *_near_shapes(layer, text), *_port_shapes(layer, text)]
        texts += _port_shapes(layer, text, keep=False)
        texts += [word for word, _ in usual.most_common(2)]
    else:
        texts += _numbers(attribute, text, usual)
        if text:
            near = (*_respelt(text), *_of_another_length(attribute, text), *_other_digits(text))
            texts = [*near, *_other_lists(layer, attribute, text), *texts]
    present = _reads(kind, text) if text is not None else None
    chosen: list[str] = []
    values: list[object] = []
    for other in dict.fromkeys(texts):
        value = _reads(kind, other)
        if value is None or (present is not None and value == present) or value in values:
            continue
        chosen.append(other)
        values.append(value)
        if len(chosen) == MAX_TEXTS:
            break
    return chosen


def _same_numbers(text: str) -> tuple[str, ...]:
    """How whole numbers are written that are written in another way: 16.0, or 0x10, for 16."""
    number = spelt_otherwise(text)
    same = () if number is None else (str(number),)
    return (*same, re.sub(r"\.0+(?!\d)", "", text)) if "." in text else same


def spelt_otherwise(text: str) -> int | None:
    """The whole number that a text is in hexadecimal, with an exponent or with separators, or with
    other digits."""
    plain = in_plain_digits(text.strip())
    if plain != text and is_number(plain):
        return int(plain)
    text = text.strip()
    if len(text) > MAX_LENGTH or not _SPELLINGS.fullmatch(text):
        return None
    if text[:2].lower() == "0x":
        return int(text, 16)
    value = float(text.replace("_", ""))
    return int(value) if value.is_integer() else None


@lru_cache(maxsize=256)
def _respelt(text: str) -> tuple[str, ...]:
    """The number or numbers in a text that is none: without a sign, brackets or a fraction."""
    return tuple(_respellings(text))


def _respellings(text: str) -> Iterator[str]:
    """The same, one after the other."""
    if "," in text and re.search(r"\d,\d", text):
        point = re.sub(r"(?<=\d),(?=\d)", ".", text, count=1)
        if point.count(".") == 1 or ", " in text:
            yield point  # a comma that stands for a point
    if "." in text and re.fullmatch(r"\s*-?\d+\.\d*(\s*,\s*-?\d+\.\d*)*\s*", text):
        yield re.sub(r"\.\d*", "", text).strip()
    number = spelt_otherwise(text)
    if number is not None:
        yield str(number)
    yield text.strip().removeprefix("-")
    yield text.strip(" []{}()<>\"'")
    if re.search(r"\d\s*[;xX:|/ ]\s*\d", text):
        yield re.sub(r"\s*[;xX:|/ ]\s*", ", " if "; " in text else ",", text.strip())
    if any(map(str.isdigit, text)):
        yield re.sub(r"[^0-9,.\- ]", "", text)


def _of_another_length(attribute: Attribute, text: str) -> Iterator[str]:
    """A list with an item less or more: the first or last is lost, or there twice."""
    if not isinstance(attribute.kind, ListOf) or ("," not in text and not text.strip()):
        return
    parts = [part.strip() for part in text.split(",")]
    comma = ", " if ", " in text or len(parts) == 1 else ","
    half = parts[: len(parts) // 2]
    if half and parts == half * 2:
        yield comma.join(half)
    for row in (parts[:-1], [*parts, parts[-1]], parts[1:], [parts[0], *parts]):
        if row:
            yield comma.join(row)
    if len(parts) == 1:
        yield comma.join(parts * 3)


def _other_digits(text: str) -> Iterator[str]:
    """A number of two digits or more with one less, or with two exchanged."""
    digits = text.strip()
    if not is_number(digits) or not 1 < len(digits) <= MAX_DIGITS:
        return
    for at in range(len(digits) - 1, -1, -1):
        less = digits[:at] + digits[at + 1 :]
        if less == "0" or not less.startswith("0"):
            yield less
    for at in range(len(digits) - 2, -1, -1):
        yield digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :]


def _other_lists(layer: Layer, attribute: Attribute, text: str) -> Iterator[str]:
    """What the counterpart of a list is: paddings are often the same at both ends."""
    name = _COUNTERPARTS.get(attribute.name)
    other = layer.attribute(name) if name is not None else None
    if other and other.count(",") == text.count(","):
        yield other


def _nearest_texts(attribute: Attribute, text: str) -> set[str]:
    """The texts from which a written one differs by a slip of the hand."""
    return {*_respelt(text), *_of_another_length(attribute, text), *_other_digits(text)}


def _variables(scene: Scene, layer: Layer) -> list[str]:
    """The variables that lack a layer of this type: those read and not assigned, or reverse."""
    named: dict[str, list[str]] = {"readvalue": [], "assign": []}
    for other in scene.context.every_layer:
        text = other.attribute("variable_id") if other.folded_type in named else None
        if text:
            named[other.folded_type].append(text)
    own = named.get(layer.folded_type, [])
    others = named["assign" if layer.folded_type == "readvalue" else "readvalue"]
    return [text for text in dict.fromkeys(others) if text not in own]


@lru_cache(maxsize=1024)
def _reads(kind: Kind, text: str) -> Any:
    """The value of a text; None for one that is none."""
    try:
        return kind.read(text)
    except Malformed:
        return None


@lru_cache(maxsize=1024)
def _alike(text: str, other: str) -> float:
    return SequenceMatcher(None, text.lower(), other.lower()).ratio()


def _near_shapes(layer: Layer, text: str | None) -> Iterator[str]:
    """The written dimensions in reverse order, one less or one more, as the output declares."""
    parts = [part.strip() for part in text.split(",")] if text else []
    if not parts or not layer.outputs or layer.outputs[0].dims is None:
        return
    comma = ", " if ", " in (text or "") else ","
    sizes = layer.outputs[0].dims
    rows = [parts[::-1]]
    rows += [[*parts[:at], *parts[at + 1 :]] for at in range(len(parts))]
    if len(parts) < len(sizes) <= MAX_RANK:
        rows += [
            [*parts[:at], "?" if sizes[at] < 0 else str(sizes[at]), *parts[at:]]
            for at in range(len(parts) + 1)
        ]
    rows.sort(key=lambda row: sum(_static(a) != (b >= 0) for a, b in zip(row, sizes, strict=False)))
    for row in rows:
        dims = _reads(SHAPE, ",".join(row)) if row else None
        if dims is not None and dims.compatible(PartialShape(sizes)) and len(row) == len(sizes):
            yield comma.join(row)


def _static(text: str) -> bool:
    """Whether a dimension as it is written has one size."""
    return is_number(text)


def _port_shapes(layer: Layer, text: str | None, *, keep: bool = True) -> list[str]:
    """The shapes that the output ports declare, in the style of the text.

    keep: what is written stays where it may be so.
    """
    comma = ", " if text is None or ", " in text or "," not in text else ","
    if text is None and layer.is_parameter:
        comma = ","  # as OpenVINO writes those
    written = [part.strip() for part in text.split(",")] if text else []
    return [
        comma.join(
            _dimension(size, written[at : at + 1] * (keep and len(written) == len(port.dims)))
            for at, size in enumerate(port.dims)
        )
        for port in layer.outputs
        if port.dims is not None and (port.dims or layer.is_parameter)
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
            if len(set(value)) > 1:  # strides, dilations and pads are often the same
                texts += [comma.join([str(item)] * len(value)) for item in dict.fromkeys(value)]
            if len(value) > 1:
                for step in (-1, 1):
                    texts.append(comma.join(str(number + step) for number in value))
            for at in range(len(value) - 1, -1, -1):
                for step in steps[:4]:
                    changed = [*value]
                    changed[at] += step
                    texts.append(comma.join(map(str, changed)))
        else:
            texts += [comma.join(number for _ in range(2)) for number in ("1", "0", "2")]
    # only an axis is often negative: elsewhere a minus is tried where some value here has one
    if "ax" not in attribute.name and not any("-" in word for word in (text or "", *texts[:4])):
        texts = [word for word in texts if "-" not in word]
    return texts
