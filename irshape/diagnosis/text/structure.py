"""Where the tags of a text first go wrong, and the single slips that may be meant."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import count
from typing import NamedTuple

from ...formats.ir.edits import Edit
from ...formats.ir.regular import Window, read_layers
from ...model.graph import Body, Layer, Model
from .between_elements import lost_brackets, text_between
from .format_tables import CHILDREN, FREE, KNOWN, NAME, PASSED, REGULAR, TAG, WITHOUT_TEXT
from .in_tags import in_tag, is_faulty
from .line_grammar import Jumps, Place
from .out_of_place import Opened, closed_at_once, misplaced, out_of_place
from .slip import Slip

_PORT_ID = re.compile(rb"""<port\b[^<>]*?\bid\s*=\s*["'](\d{1,9})["']""")
_PRECISION = re.compile(rb"""\s+precision\s*=\s*["'][^"'<>]*["']""")
MARGIN = 1 << 12
"""So many bytes before a place where something is wrong may have to do with it."""
ALIKE = 0.6
"""How alike two names must be for one to be a misspelling of the other."""
_END_TAG = re.compile(rb"\s*</([A-Za-z_]+)\s*>")
IN_RUNS = {"layers": b"<layer ", "edges": b"<edge "}
"""How the elements begin that follow each other in others."""


class Structure:
    """The elements of a text, as far as each stands where it belongs, and of texts edited from it.

    Of an edited text, only what stands behind a place before the first edit is looked at.
    """

    def __init__(
        self,
        text: bytes,
        begin: int = 0,
        opened: tuple[Opened, ...] = (),
        jumps: Jumps | None = None,
    ) -> None:
        """begin: a place before which nothing is wrong. opened: the elements around it."""
        self.text = text
        self.jumps = Jumps(text) if jumps is None else jumps
        self._begin = begin
        self._opened = opened
        self._runs: list[_Run] = []
        self._known: list[Slip] = []
        self._rest = _slips(text, begin, list(opened), self._runs)

    @classmethod
    def behind(cls, model: Model, place: int) -> Structure:
        """The elements of a text from some layers before a place on, before which nothing is wrong.

        model: what was read from the text.
        """
        data, layers = model.source.data, model.net.layers
        at = bisect_left(layers, place - MARGIN, key=_offset_of) - 1
        if at < 0 or model.kind != "net":
            return cls(data)
        opened: list[Opened] = []
        start = layers[0].offset
        for name in ("layers", "net"):
            start = data.rfind(f"<{name}".encode(), 0, start)
            opened.append((name, start, data.find(b">", start) + 1))
        return cls(data, layers[at].offset, tuple(reversed(opened)))

    def slips(self) -> Iterator[Slip]:
        """What may be meant where the tags first go wrong; the text is passed once."""
        for at in count():
            if at == len(self._known):
                slip = next(self._rest, None)
                if slip is None:
                    return
                self._known.append(slip)
            yield self._known[at]

    @cached_property
    def is_sound(self) -> bool:
        """Whether every known element stands where it belongs."""
        return next(self.slips(), None) is None

    def opened_at_the_end(self) -> list[str]:
        """The elements that are open where the text ends or goes wrong."""
        opened = list(self._opened)
        first_slip(self.text, self._begin, opened)
        return [name for name, _, _ in opened]

    def slips_after(self, edits: Sequence[Edit], after: bytes) -> Iterator[Slip]:
        """The same as `slips` for the text with some edits."""
        at, opened = self.before(min(edits).start)
        yield from _slips(after, at, list(opened), [])

    def is_sound_after(self, edits: Sequence[Edit], after: bytes) -> bool:
        """Whether every known element of the text with some edits stands where it belongs."""
        return next(self.slips_after(edits, after), None) is None

    def place(self, opened: Iterable[Opened]) -> Place:
        """What is known inside some elements, before the first line."""
        return Place(tuple(name for name, _, _ in opened), jumps=self.jumps)

    def outside(self, place: int) -> tuple[bytes, int]:
        """A place before another as in `before_as_seen`, and what opens the elements around it."""
        at, opened = self.before_as_seen(place)
        return (self.opening(opened), at) if opened else (b"", 0)

    def opening(self, opened: Sequence[Opened]) -> bytes:
        """What opens some elements, with what stands before the first."""
        tags = (self.text[start:end] for _, start, end in opened)
        return b"".join((self.text[: opened[0][1]], *tags))

    def before(self, place: int) -> tuple[int, tuple[Opened, ...]]:
        """A place between two layers or two edges before another, and the elements around it.

        It lies before the first tag that goes wrong.
        """
        _ = self.is_sound  # which looks at the text
        return self.before_as_seen(place)

    def before_as_seen(self, place: int) -> tuple[int, tuple[Opened, ...]]:
        """The same as far as the text has been looked at; to look at all of it takes long."""
        index = bisect_right(self._runs, place - 1, key=_start_of) - 1
        if index < 0:
            return (self._begin, self._opened) if self._begin < place else (0, ())
        start, end, tag, opened = self._runs[index]
        return max(start, self.text.rfind(tag, start, min(end, place - 1))), opened


def first_slip(text: bytes, at: int, opened: list[Opened]) -> Slip | None:
    """What may be meant where the tags from a place on first go wrong; None where they do not.

    opened: the elements around the place; then those around the end, or what goes wrong.
    """
    return next(_slips(text, at, opened, []), None)


def is_sound_inside(piece: bytes, around: Sequence[str], ends: str) -> bool:
    """Whether every known element of a piece stands where it belongs.

    around: the elements around its beginning, from the net on. ends: the part of the net in which
    it ends.
    """
    opened = [(name, 0, 0) for name in around]
    wrong = first_slip(piece + f"</{ends}>".encode(), 0, opened)
    return wrong is None and [name for name, _, _ in opened] == ["net"]


class _Run(NamedTuple):
    """Layers or edges that follow each other, as writers lay them out."""

    start: int
    end: int
    tag: bytes
    """How each of them begins."""
    opened: tuple[Opened, ...]


def _start_of(run: _Run) -> int:
    return run.start


def _offset_of(layer: Layer) -> int:
    return layer.offset


def _slips(text: bytes, at: int, opened: list[Opened], runs: list[_Run]) -> Iterator[Slip]:
    """What may be meant where the tags first go wrong. at: where to begin, inside what is opened.

    runs: takes the layers and edges that follow each other.
    """
    window = Window(text)
    while (start := text.find(b"<", at)) >= 0:
        if opened:
            parent = opened[-1][0]
            if parent not in CHILDREN:  # of what is unknown, the children are passed as well
                parent = next((name for name in IN_RUNS if _begins(text, start, name)), parent)
            regular = _regular(window, at, parent)
            if regular > at:
                begin = IN_RUNS.get(parent)
                if begin is not None:
                    runs.append(_Run(at, regular, begin, tuple(opened)))
                at = regular
                continue
        passed = PASSED.match(text, start)
        if passed is None and not (opened and misplaced("rt_info", opened[-1][0])):
            passed = FREE.match(text, start)
        if passed is not None:
            at = passed.end()
            continue
        if opened and text[at:start].strip():
            yield from _in_text(text, at, start, opened[-1][0])
        tag = TAG.match(text, start)
        if tag is None or is_faulty(tag[3]):
            yield from in_tag(text, start)
            return
        name = tag[2].decode()
        if tag[1]:
            if not opened or opened[-1][0] != name:
                yield from _at_end_tag(text, tag, opened)
                return
            opened.pop()
        else:
            if opened and misplaced(name, opened[-1][0]):
                yield from _at_start_tag(text, tag, opened)
                return
            if opened and _begins(text, start, opened[-1][0]):
                runs.append(_Run(start, tag.end(), IN_RUNS[opened[-1][0]], tuple(opened)))
            if not tag[4]:
                opened.append((name, start, tag.end()))
        at = tag.end()


def _begins(text: bytes, start: int, name: str) -> bool:
    return name in IN_RUNS and text.startswith(IN_RUNS[name], start)


def _in_text(text: bytes, start: int, end: int, parent: str) -> Iterator[Slip]:
    """What may be meant by text between two tags."""
    yield from lost_brackets(text, start, end, parent)
    yield from text_between(text, start, end, parent)


def _regular(window: Window, at: int, parent: str) -> int:
    """Where the regular children of an element end that begin at a place, or the place itself."""
    if parent == "layers" and (end := read_layers(window, at, Body())) > at:
        return end
    pattern = REGULAR.get(parent)
    children = pattern.match(window.data, at) if pattern is not None else None
    if children is None or (parent == "layers" and is_faulty(children["data"] or b"")):
        return at
    return children.end()


def _unclosed(text: bytes, element: tuple[str, int, int], before: int) -> Iterator[Slip]:
    """An element has no end tag, or its start tag lacks the slash."""
    name, start, end = element
    if name in WITHOUT_TEXT:
        yield Slip(
            (Edit(end - 1, end - 1, b"/"),),
            f"<{name} …> becomes <{name} …/>",
            f"<{name}> is not closed",
            start,
        )
        return
    lead = before
    if name not in CHILDREN:  # whatever is known stands behind it
        tags = NAME.finditer(text, end, before)
        lead = next((t.start() for t in tags if t[2].decode("ascii", "replace") in KNOWN), before)
    while text[lead - 1 : lead].isspace():
        lead -= 1
    if name in ("dim", "port") and not text[end:lead].strip():
        lead = end
    line = text.rfind(b"\n", 0, start)
    indent = text[line:start] if line >= 0 and not text[line:start].strip() else b""
    indent = b"" if name == "dim" or lead == end else indent
    edit = Edit(lead, lead, indent + f"</{name}>".encode())
    yield Slip((edit,), f"</{name}> is added", f"<{name}> is not closed", start)


def _at_end_tag(
    text: bytes, tag: re.Match[bytes], opened: list[tuple[str, int, int]]
) -> Iterator[Slip]:
    name = tag[2].decode()
    if len(opened) > 1 and opened[-2][0] == name:
        behind = _END_TAG.match(text, tag.end())
        if behind is not None and behind[1].decode() == opened[-1][0]:
            edits = Edit(*tag.span(2), behind[1]), Edit(*behind.span(1), tag[2])
            cause = f"</{name}> and </{opened[-1][0]}> stand in each other's place"
            yield Slip(edits, "they are exchanged", cause, tag.start())
    if len(opened) > 1 and opened[-1][0] not in KNOWN and opened[-2][0] in CHILDREN:
        wrong, start, end = opened[-1]
        cause = f"<{wrong}> is no element of an IR, and not closed"
        yield Slip((Edit(start, end, b""),), f"<{wrong}> is removed", cause, start)
    if len(opened) > 1 and opened[-2][0] == name:
        yield from _unclosed(text, opened[-1], tag.start())
    if opened and SequenceMatcher(None, name, opened[-1][0]).ratio() >= ALIKE:
        wrong, start, _ = opened[-1]
        if name in KNOWN and wrong not in KNOWN:
            edit = Edit(start + 1, start + 1 + len(wrong), name.encode())
            cause = f"<{wrong}> is closed by </{name}>"
            yield Slip((edit,), f"<{wrong}> becomes <{name}>", cause, start)
        edit = Edit(tag.start(2), tag.end(2), opened[-1][0].encode())
        change = f"</{name}> becomes </{opened[-1][0]}>"
        cause = f"</{name}> closes no element, and <{opened[-1][0]}> is not closed"
        yield Slip((edit,), change, cause, tag.start())
    if opened and name in CHILDREN.get(opened[-1][0], ()):
        first = _first_unknown(text, opened[-1][2], tag.start()) if name not in CHILDREN else None
        if first is not None:
            yield _opened_before(text, first.start(), name, first[2].decode("ascii", "replace"))
        edit = Edit(tag.start(), tag.end(), b"")
        yield Slip((edit,), f"</{name}> is removed", f"</{name}> closes no element", tag.start())


def _first_unknown(text: bytes, start: int, end: int) -> re.Match[bytes] | None:
    """The first tag behind the last element that is known, as `<rt_info>` has them."""
    first = None
    for match in NAME.finditer(text, start, end):
        if match[2].decode("ascii", "replace") in KNOWN:
            first = None
        elif first is None and not match[1]:
            first = match
    return first


def _opened_before(text: bytes, place: int, name: str, child: str) -> Slip:
    """A start tag is missing before an element: it is indented as its end tag is."""
    lead = place
    while text[lead - 1 : lead] in (b" ", b"\t"):
        lead -= 1
    close = text.find(f"</{name}".encode(), place)
    indent = text[text.rfind(b"\n", 0, close) + 1 : close]
    indent = text[lead:place] if indent.strip() else indent
    opening = f"<{name}>".encode() if name != "port" else _port_before(text, place)
    edit = Edit(lead, lead, indent + opening + b"\n")
    return Slip((edit,), f"<{name}> is added", f"<{name}> is missing before <{child}>", place)


def _port_before(text: bytes, place: int) -> bytes:
    """The start tag of a port that is lost: numbered on, with the precision of one near by."""
    layer = text.rfind(b"<layer ", 0, place)
    ids = [int(match[1]) for match in _PORT_ID.finditer(text, layer, place)]
    before = text.rfind(b"<port ", layer, place)
    after = text.find(b"<port ", place, text.find(b"</layer", place))
    near = before if before >= 0 else after
    tag = text[near : text.find(b">", near)] if near >= 0 else b""
    precision = _PRECISION.search(tag)
    number = max(ids, default=-1) + 1
    return b'<port id="%d"' % number + (precision[0] if precision is not None else b"") + b">"


def _at_start_tag(
    text: bytes, tag: re.Match[bytes], opened: list[tuple[str, int, int]]
) -> Iterator[Slip]:
    name = tag[2].decode()
    parent, start, end = opened[-1]
    if text[start:end] == tag[0] and not text[end : tag.start()].strip():
        edit = Edit(end, tag.end(), b"")
        cause = f"<{name}> is there twice"
        yield Slip((edit,), f"the second <{name}> is removed", cause, tag.start())
    if name == parent and not tag[3].strip() and not tag[4]:
        edit = Edit(tag.start() + 1, tag.start() + 1, b"/")
        cause = f"the end tag of <{name}> lacks its slash"
        yield Slip((edit,), f"<{name}> becomes </{name}>", cause, start)
    yield from closed_at_once(text, tag)
    for between in CHILDREN[parent]:
        close = text.find(f"</{between}".encode(), tag.start())
        near = text.find(f"</{parent}".encode(), tag.start())
        if name in CHILDREN.get(between, ()) and 0 <= close < near:
            yield _opened_before(text, tag.start(), between, name)
            break
    for depth in range(2, min(4, len(opened) + 1)):
        if not misplaced(name, opened[-depth][0]):
            yield from _unclosed(text, opened[-1], tag.start())
            break
    yield from out_of_place(text, tag, opened)
