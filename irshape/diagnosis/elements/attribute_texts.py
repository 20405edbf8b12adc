"""Other texts that may be meant for the value of an attribute."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from ...model.graph import Layer
from ...model.ids import is_number
from ...ops.declaration import Attribute
from ...ops.kinds import (
    SHAPE,
    Boolean,
    Choice,
    Integer,
    Kind,
    ListOf,
    Malformed,
    ShapeText,
    TypeName,
)
from ...shapes import PartialShape
from ...spelling import in_plain_digits
from ..trials.scene import Scene

MAX_TEXTS = 18
"""How many values of one attribute are tried."""
MAX_RANK = 12
"""Up to which rank a lost dimension is looked for."""
_SPELLINGS = re.compile(r"0[xX][0-9a-fA-F]{1,16}|\d(\.\d*)?[eE]\+?\d{1,2}|\d{1,3}(_\d{3})+")
MAX_DIGITS = 6
"""Of how many digits numbers are tried with one less."""
COUNTERPARTS = {"pads_begin": "pads_end", "pads_end": "pads_begin"}
MAX_LENGTH = 1024
"""Other values are tried for texts of at most so many characters."""


def other_texts(
    scene: Scene, layer: Layer, attribute: Attribute, text: str | None, usual: Counter[str]
) -> list[str]:
    """Values to try, the likeliest first, written as the file writes them."""
    kind = attribute.kind
    texts: list[str] = []
    if isinstance(kind, (Boolean, Choice)):
        words = ("true", "false") if isinstance(kind, Boolean) else kind.words
        known = {attribute.kind.read(word) for word in words}
        texts += [word for word, _ in usual.most_common() if reads(kind, word) in known]
        if attribute.default is not None and not attribute.refused_when_absent:
            texts.append(kind.write(attribute.default))
        texts += words
        texts.sort(key=lambda word: -likeness(text, word) if text else 0.0)
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
    present = reads(kind, text) if text is not None else None
    chosen: list[str] = []
    values: list[object] = []
    for other in dict.fromkeys(texts):
        value = reads(kind, other)
        if value is None or (present is not None and value == present) or value in values:
            continue
        chosen.append(other)
        values.append(value)
        if len(chosen) == MAX_TEXTS:
            break
    return chosen


def same_numbers(text: str) -> tuple[str, ...]:
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
    name = COUNTERPARTS.get(attribute.name)
    other = layer.attribute(name) if name is not None else None
    if other and other.count(",") == text.count(","):
        yield other


def nearest_texts(attribute: Attribute, text: str) -> set[str]:
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
def reads(kind: Kind, text: str) -> Any:
    """The value of a text; None for one that is none."""
    try:
        return kind.read(text)
    except Malformed:
        return None


@lru_cache(maxsize=1024)
def likeness(text: str, other: str) -> float:
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
        dims = reads(SHAPE, ",".join(row)) if row else None
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
        dims = reads(SHAPE, text)
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
    value = reads(kind, text) if text is not None else None
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
