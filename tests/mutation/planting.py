"""The places of a model at which faults can be planted, each with the text that a fault makes.

Places are repetitions of each other if the layer, its neighbours and the fault's place in it are
the same but for ids, names and offsets: a network of twelve equal blocks has each of them twelve
times.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Container, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from absence_faults import ABSENCES
from drawn_again import DRAWN_AGAIN
from drawn_faults import DRAWN_FAULTS
from drawn_last import DRAWN_LAST
from edit_faults import EDIT_FAULTS
from everyday_faults import EVERYDAY_FAULTS, EVERYDAY_SLIPS
from faults import FAULTS, Tree, Where, where
from hand_faults import HAND_FAULTS, HAND_SLIPS
from late_edit_faults import LAST_EDITS, LATE_EDITS
from layer_faults import LAYER_FAULTS
from lxml import etree
from misplacement_faults import MISPLACEMENTS
from rewiring_faults import REWIRINGS
from single_faults import SINGLE_FAULTS, bodies, declares, members
from slip_faults import CHARACTER_SLIPS, NUMBER_SLIPS, TREE_SLIPS
from structure_faults import STRUCTURE_FAULTS
from text_faults import TEXT_FAULTS, VALUE_FAULTS
from text_lines import TextLines, common_ends

TABLE = FAULTS | SINGLE_FAULTS | STRUCTURE_FAULTS | HAND_FAULTS | ABSENCES
EDITS = EDIT_FAULTS | REWIRINGS | LATE_EDITS | LAST_EDITS | LAYER_FAULTS
EDITS |= DRAWN_FAULTS | DRAWN_AGAIN | DRAWN_LAST
"""Kinds of scripts and tools."""
KINDS = TABLE | TREE_SLIPS | EDITS | EVERYDAY_FAULTS
"""Kinds that change the tree of an IR."""
SLIPS = TEXT_FAULTS | HAND_SLIPS | CHARACTER_SLIPS | MISPLACEMENTS | EVERYDAY_SLIPS
"""Kinds that change its text."""
VALUES = VALUE_FAULTS | NUMBER_SLIPS
"""Kinds that change the .bin."""
FORESEEN = (*TABLE, *TEXT_FAULTS, *HAND_SLIPS, *VALUE_FAULTS, *MISPLACEMENTS)
"""Kinds that the search was written for."""
UNFORESEEN = (
    *(*TREE_SLIPS, *CHARACTER_SLIPS, *NUMBER_SLIPS, *EDITS),
    *(*EVERYDAY_FAULTS, *EVERYDAY_SLIPS),
)
"""Kinds that were thought of afterwards."""
SMALL = 64
"""Of constants of at most so many bytes, the values count for what is the same."""


class Place(NamedTuple):
    """A fault at a place, as a change of the text or of the .bin."""

    kind: str
    index: int
    """The how many-eth place of its kind in the file."""
    where: Where | None
    start: int
    end: int
    """What is replaced: bytes of the text, or of the .bin."""
    content: bytes

    @property
    def in_weights(self) -> bool:
        return self.kind in VALUES

    def apply(self, data: bytes) -> bytes:
        return data[: self.start] + self.content + data[self.end :]


def serialised(tree: Tree) -> bytes:
    return bytes(etree.tostring(tree, encoding="utf-8", xml_declaration=True))


class Original:
    """A sound model in which faults are planted."""

    def __init__(self, model: Path) -> None:
        weights = model.with_suffix(".bin")
        self.path = model
        self.weights = weights.read_bytes() if weights.exists() else b""
        self.root: Tree = etree.parse(model).getroot()
        self.text = serialised(self.root)
        self.lines = TextLines(self.text)

    def places(
        self, kind: str, *, distinct: bool = False, chosen: Container[int] | None = None
    ) -> Iterator[Place | None]:
        """The places of a kind; None for each that repeats an earlier one if `distinct`.

        chosen: the only places whose text is wanted; that of the others may be missing.
        """
        seen: set[object] | None = set() if distinct else None
        if kind in KINDS:
            yield from self._of_tree(kind, seen, chosen)
        elif kind in SLIPS:
            for index, (start, end, content) in enumerate(SLIPS[kind](self.text)):
                if seen is not None and _again(seen, self._element_form(start)):
                    yield None
                else:
                    yield Place(kind, index, None, start, end, content)
        else:
            for index, (at, start, content) in enumerate(VALUES[kind](self.root, self.weights)):
                if seen is not None and _again(seen, self.forms.get(at)):
                    yield None
                else:
                    yield Place(kind, index, at, start, start + len(content), content)

    def _of_tree(
        self, kind: str, seen: set[object] | None, chosen: Container[int] | None
    ) -> Iterator[Place | None]:
        count: Counter[Where] = Counter()
        forms = self.forms if seen is not None else {}
        for index, at in enumerate(KINDS[kind](self.root)):
            count[at] += 1
            if seen is not None and at in forms and _again(seen, (forms[at], count[at])):
                yield None
                continue
            if chosen is not None and index not in chosen and (seen is None or at in forms):
                yield Place(kind, index, at, 0, 0, b"")
                continue
            changed = serialised(self.root)
            head, tail = common_ends(self.text, changed)
            start, end = head, len(self.text) - tail
            if seen is not None and at not in forms and _again(seen, self._element_form(start)):
                yield None
                continue
            yield Place(kind, index, at, start, end, changed[head : len(changed) - tail])

    @property
    def forms(self) -> dict[Where, object]:
        """What is the same for layers that repeat each other."""
        if not hasattr(self, "_forms"):
            self._forms = dict(_forms(self.root, self.weights))
        return self._forms

    def _element_form(self, start: int) -> object:
        """The form of the layer or edge in which an offset lies, and where in it that is."""
        row = self.lines.around(self.lines.line(start), ("layer", "edge"))
        if row is None:
            return object()
        first = self.text.rfind(b"<" + row.name.encode(), 0, self.lines.starts[row.first])
        before = self.text[max(first, self.lines.starts[row.first - 1]) : start]
        place = before.count(b"<"), before[before.rfind(b"<") :].count(b'"')
        if row.name == "layer":
            at = Where(self.lines.path(row), row.attributes.get("id"))
            return self.forms.get(at, object()), place
        ends = [
            (
                self.forms.get(Where(self.lines.path(row), row.attributes.get(f"{end}-layer"))),
                row.attributes.get(f"{end}-port"),
            )
            for end in ("from", "to")
        ]
        return (*ends, place)


def _again(seen: set[object], form: object) -> bool:
    if form in seen:
        return True
    seen.add(form)
    return False


def _forms(root: Tree, weights: bytes) -> Iterator[tuple[Where, object]]:
    sharing = Counter(data.get("offset") for data in root.iter("data") if data.get("offset"))
    for body in bodies(root):
        by_id = members(body)
        own = {number: _own(layer, weights, sharing) for number, layer in by_id.items()}
        near: dict[str, list[Any]] = {number: [] for number in by_id}
        for one, other in pairwise(by_id):
            near[one].append(("before", own[other]))
            near[other].append(("behind", own[one]))
        for edge in body.findall("edges/edge"):
            one, other = str(edge.get("from-layer")), str(edge.get("to-layer"))
            ports = edge.get("from-port"), edge.get("to-port")
            near[one].append(("feeds", own[other], ports))
            near[other].append(("fed", own[one], ports))
        for number, layer in by_id.items():
            yield where(layer), hash((own[number], tuple(sorted(near[number], key=repr))))


def _own(layer: Tree, weights: bytes, sharing: Counter[Any]) -> int:
    data = layer.find("data")
    items = [] if data is None else [i for i in data.attrib.items() if i[0] != "offset"]
    ports = [
        (port.getparent().tag, port.get("id"), declares(port))  # type: ignore[union-attr]
        for port in (*layer.findall("input/port"), *layer.findall("output/port"))
    ]
    rest: object = None
    if layer.get("type") == "Const" and data is not None:
        offset, size = int(str(data.get("offset"))), int(str(data.get("size")))
        rest = sharing[data.get("offset")] > 1, weights[offset : offset + min(size, SMALL)]
    elif layer.find(".//layers") is not None:
        rest = zlib.crc32(etree.tostring(layer))
    return hash((layer.get("type"), layer.get("version"), tuple(items), tuple(ports), rest))
