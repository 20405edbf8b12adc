"""What an IR has in which line, as writers lay it out: one tag a line, in one order.

It is stricter than the format: sections follow each other, and ids are counted on. So it decides
between texts of which each is well-formed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from .format_tables import BODIES, CHILDREN, KNOWN

_ATTRIBUTE = rb"""\s+[\w.:-]++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+')"""
_WHOLE = re.compile(
    rb"\s*<(?:dim\s*>\s*-?\d+\s*</dim"
    rb"|(?P<close>/)?(?P<name>[A-Za-z_][\w.-]*)(?P<attributes>(?:%s)*+)\s*(?P<empty>/)?)\s*>\s*"
    % _ATTRIBUTE
)
_LAYER_OR_BODY = re.compile(
    rb"""<layer\b[^<>]*?\sid\s*=\s*["'](\d{1,18})["']|<(/?)(?:%s)\b""" % "|".join(BODIES).encode()
)
_ID = re.compile(rb"""\sid\s*=\s*["'](\d{1,18})["']""")
_SECTIONS = {"data": 1, "input": 2, "output": 3}
_NAME = re.compile(_ATTRIBUTE.replace(b"[\\w.:-]++", b"([\\w.:-]++)"))
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "layer": ("id", "name", "type", "version", "output_names"),
    "port": ("id", "precision", "names"),
    "edge": ("from-layer", "from-port", "to-layer", "to-port"),
}
"""The attributes of elements, in the order in which they are written."""


class Tag(NamedTuple):
    """The tag of a line."""

    name: str
    closes: bool
    empty: bool
    number: int
    """The id, or -1."""
    is_complete: bool
    """Whether it has no attributes but its own, and those without which it says nothing."""


DIM = Tag("dim", False, True, -1, True)


NEUTRAL = Tag("", False, True, -1, True)
"""An empty line, or a comment."""
_PASSED = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<!--(?:(?!-->).)*-->|<\?[^<>]*\?>)?\s*", re.DOTALL)
_BETWEEN = re.compile(rb"(?<=>)(?=[ \t]*<)")


def lines_of(text: bytes) -> list[bytes]:
    """The lines of a text, of which none has two tags."""
    lines = text.splitlines(keepends=True)
    if not _BETWEEN.search(text):
        return lines
    return [piece for line in lines for piece in _BETWEEN.split(line)]


@lru_cache(maxsize=1 << 10)
def tag_of(line: bytes) -> Tag | None:
    """The tag of a line; None if it is not one whole tag, or one dimension."""
    match = _WHOLE.fullmatch(line)
    if match is None:
        return NEUTRAL if _PASSED.fullmatch(line) else None
    if match["name"] is None:
        return DIM
    name, attributes = match["name"].decode(), match["attributes"]
    number = _ID.search(attributes)
    complete = bool(match["close"]) or _is_complete(name, attributes)
    return Tag(
        name,
        bool(match["close"]),
        bool(match["empty"]),
        int(number[1]) if number is not None else -1,
        complete,
    )


def _is_complete(name: str, attributes: bytes) -> bool:
    known = ATTRIBUTES.get(name)
    if known is None:
        return True
    names = {match[1].decode() for match in _NAME.finditer(attributes)}
    if name == "edge":
        return len(names) > 1 and names <= set(known)
    return "id" in names and names <= set(known) and (name == "port" or "version" in names)


class Jumps:
    """The ids that stand behind each other in a text without being counted on.

    Where a layer stands behind another, and those with the ids between them elsewhere.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text

    def __contains__(self, ids: tuple[int, int]) -> bool:
        return ids in self._known

    @cached_property
    def _known(self) -> frozenset[tuple[int, int]]:
        bodies: list[list[int]] = [[]]
        open_bodies = bodies[:]
        for match in _LAYER_OR_BODY.finditer(self._text):
            if match[1] is not None:
                open_bodies[-1].append(int(match[1]))
            elif match[2]:
                open_bodies = open_bodies[:-1] or [[]]
            else:
                open_bodies.append([])
                bodies.append(open_bodies[-1])
        return frozenset(jump for ids in bodies for jump in _jumps(ids))


def _jumps(ids: list[int]) -> Iterator[tuple[int, int]]:
    far = [(one, later) for one, later in pairwise(ids) if later != one + 1]
    count = Counter(ids) if far else Counter[int]()
    for one, later in far:
        alone = count[one] == count[later] == 1
        if alone and one + 1 in count and (not later or later - 1 in count):
            yield one, later


class Place(NamedTuple):
    """What is known at the beginning of a line."""

    opened: tuple[str, ...]
    """The elements around it."""
    section: int = 0
    """The last section of the layer; -1 where that is not known."""
    port: int = 0
    """The id of the next port of the layer; -1 where that is not known."""
    layer: int = -1
    """The id of the next layer; -1 where that is not known."""
    outer: tuple[tuple[int, int, int], ...] = ()
    """The last three of the layers around the body."""
    jumps: Jumps = Jumps(b"")

    @property
    def parent(self) -> str:
        return self.opened[-1] if self.opened else ""


def step(place: Place, tag: Tag) -> Place | None:
    """What is known behind a tag; None where it may not stand."""
    if tag is NEUTRAL:
        return place
    if not tag.is_complete:
        return None
    if tag.closes:
        return _closed(place, tag)
    name, _, empty, number, _ = tag
    opened, section, port, layer, outer, jumps = place
    parent = opened[-1] if opened else ""
    if parent in CHILDREN:
        if name not in CHILDREN[parent]:
            return None
    elif name in KNOWN and opened:  # not as text of its own
        return None
    inner = opened if empty else (*opened, name)
    if name == "layer":
        if number >= 0 and layer >= 0 and number != layer and (layer - 1, number) not in jumps:
            return None
        return Place(inner, 0, 0, number + 1 if number >= 0 else -1, outer, jumps)
    if parent == "layer" and name in _SECTIONS:
        if 0 <= _SECTIONS[name] <= section:
            return None
        return Place(inner, _SECTIONS[name], port, layer, outer, jumps)
    if name == "port":
        if port >= 0 and number != port:
            return None
        return Place(inner, section, number + 1, layer, outer, jumps)
    if empty:
        return place
    if name in BODIES:
        return Place(inner, section, port, -1, (*outer, (section, port, layer)), jumps)
    return Place(inner, section, port, layer, outer, jumps)


def _closed(place: Place, tag: Tag) -> Place | None:
    opened, section, port, layer, outer, jumps = place
    if not opened or opened[-1] != tag.name:
        return None
    if tag.name in BODIES:
        section, port, layer = outer[-1] if outer else (-1, -1, -1)
        outer = outer[:-1]
    return Place(opened[:-1], section, port, layer, outer, jumps)


def walk(place: Place, tags: Sequence[Tag | None]) -> tuple[int, Place]:
    """How many tags may stand there, and what is known behind them."""
    for index, tag in enumerate(tags):
        behind = step(place, tag) if tag is not None else None
        if behind is None:
            return index, place
        place = behind
    return len(tags), place
