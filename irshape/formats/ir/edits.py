"""Edits a file by byte offset. Everything else stays unchanged, including white space."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from ...model.source import Source
from .grammar import tags

_START_TAG = re.compile(rb"""<[^\s<>/="'!?]+(?:[^<>"'/]++|"[^"]*+"|'[^']*+'|/(?!>))*+(/?)>""")
_IN_PORT = re.compile(
    rb"<!--.*?-->|<rt_info\b[^>]*>.*?</rt_info\s*>|(?P<close></port\s*>)|(?P<odd><port\b|<!\[CDATA\[)"
    rb"|(?P<dim><dim\b[^<>]*?(?:/>|>\s*+(?P<text>[^<]*?)\s*</dim\s*>))",
    re.DOTALL,
)
"""Matches the markup after a port's start tag: a dimension, a comment, `</port>` and others."""
_SPACE = b" \t\r\n"
_NAME = re.compile(rb"</?([A-Za-z_][\w.-]*)")


class Edit(NamedTuple):
    """An edit that replaces the bytes from `start` to `end` by `text`."""

    start: int
    end: int
    text: bytes


_Piece = tuple[int, memoryview]


class Edited:
    """A text that can be edited repeatedly, and that maps offsets back to the original text."""

    def __init__(self, original: bytes) -> None:
        self.original = original
        self.data = original
        self._pieces: list[_Piece] = [(0, memoryview(original))]
        """The text in pieces, each with its offset in the original; -1 for inserted text."""
        self._starts = [0]
        """The offset of each piece in the current text."""

    def apply(self, edits: Iterable[Edit]) -> None:
        """Applies edits to the current text. Of two edits that overlap, drops the later one in the
        text. Insertions at the same place keep their order."""
        pieces: list[_Piece] = []
        waiting = list(reversed(self._pieces))

        def take(until: int, at: int) -> list[_Piece]:
            taken: list[_Piece] = []
            while at < until:
                origin, run = waiting.pop()
                if len(run) > until - at:
                    cut = until - at
                    waiting.append((origin + cut if origin >= 0 else -1, run[cut:]))
                    run = run[:cut]
                taken.append((origin, run))
                at += len(run)
            return taken

        at = 0
        for edit in sorted(edits, key=itemgetter(0, 1)):
            if edit.start < at:
                continue
            pieces += take(edit.start, at)
            take(edit.end, edit.start)
            if edit.text:
                pieces.append((-1, memoryview(edit.text)))
            at = edit.end
        pieces += reversed(waiting)
        self._pieces = pieces or [(-1, memoryview(b""))]
        self._starts = [0, *accumulate(len(run) for _, run in self._pieces[:-1])]
        self.data = b"".join(run for _, run in pieces)

    def origin(self, offset: int) -> int:
        """Maps an offset in the current text to an offset in the original.

        Inserted text maps to the place where it was inserted.
        """
        index = bisect_right(self._starts, max(offset, 0)) - 1
        origin, run = self._pieces[index]
        if origin >= 0:
            return origin + min(max(offset - self._starts[index], 0), len(run))
        while index and self._pieces[index][0] < 0:
            index -= 1
        origin, run = self._pieces[index]
        return origin + len(run) if origin >= 0 else 0

    @property
    def edits(self) -> list[Edit]:
        """All changes so far as edits of the original text."""
        edits: list[Edit] = []
        at, text = 0, b""
        for origin, run in [*self._pieces, (len(self.original), memoryview(b""))]:
            if origin < 0:
                text += bytes(run)
                continue
            if origin > at or text:
                edits.append(_trimmed(self.original, Edit(at, origin, text)))
            at, text = origin + len(run), b""
        return [edit for edit in edits if self.original[edit.start : edit.end] != edit.text]


def _trimmed(original: bytes, edit: Edit) -> Edit:
    """Returns an edit without the unchanged bytes at its start and end."""
    start, end, text = edit
    while start < end and text and original[start] == text[0]:
        start, text = start + 1, text[1:]
    while start < end and text and original[end - 1] == text[-1]:
        end, text = end - 1, text[:-1]
    return Edit(start, end, text)


def with_edits(original: bytes, edits: Iterable[Edit]) -> bytes:
    """Returns `original` with the edits applied; see `Edited.apply`."""
    edited = Edited(original)
    edited.apply(edits)
    return edited.data


# attributes


def element_end(text: bytes, start: int) -> int:
    """Returns the offset of the end of the element that starts at `start`; -1 if it has no end."""
    name = _NAME.match(text, start)
    depth = 0
    for tag in tags(text, start):
        if name is None or tag["name"] != name[1]:
            continue
        depth += -1 if tag["close"] else not tag[0].endswith(b"/>")
        if depth <= 0:
            return tag.end()
    return -1


def set_attribute(
    source: Source, element: int, name: str, text: str, *, after: str | None = None
) -> Edit | None:
    """Returns the edit that sets an attribute of an element.

    Adds a missing attribute behind the attribute `after` or, if the element lacks `after` too,
    behind the element's name. If the attribute is missing and `after` is None, returns None.
    """
    quote, place = b'"', -1
    for attribute, _, start, end in source.attributes(element):
        if attribute == name:
            return Edit(start, end, text.encode())
        if attribute == after:
            quote, place = source.data[end : end + 1], end + 1
    if place < 0:
        match = _NAME.match(source.data, element)
        place = -1 if match is None else match.end()
    if after is None or place < 0:
        return None
    return Edit(place, place, b" " + name.encode() + b"=" + quote + text.encode() + quote)


def rename_attribute(source: Source, offset: int, old: str, new: str) -> Edit | None:
    """Returns the edit that renames the attribute whose name is at `offset`."""
    before = old.encode(source.encoding)
    return (
        Edit(offset, offset + len(before), new.encode("ascii"))
        if source.data.startswith(before, offset)
        else None
    )


# dimensions


class _Dim(NamedTuple):
    """A `<dim>` in the file, and the span of its text without white space."""

    start: int
    end: int
    text: tuple[int, int] | None


class _Inside(NamedTuple):
    """A port in the file: the end of its start tag, its dimensions, and the span of its end tag.

    `<port/>` has no end tag: `close` and `end` are -1.
    """

    opened: int
    dims: list[_Dim]
    close: int
    end: int


def _inside(data: bytes, port: int) -> _Inside | None:
    start = _START_TAG.match(data, port)
    if start is None:
        return None
    if start[1]:
        return _Inside(start.end(), [], -1, -1)
    dims: list[_Dim] = []
    for match in _IN_PORT.finditer(data, start.end()):
        kind = match.lastgroup
        if kind == "dim":
            text = match.span("text")
            dims.append(_Dim(match.start(), match.end(), text if text[0] >= 0 else None))
        elif kind == "close":
            return _Inside(start.end(), dims, *match.span())
        elif kind == "odd":
            return None
    return None


def set_dims(source: Source, port: int, wanted: Sequence[int]) -> list[Edit]:
    """Returns the edits that set the dimensions of the port at offset `port`.

    If the number of dimensions stays the same, edits only the dimensions that differ. Otherwise
    rewrites all dimensions from the first difference on, indented as in the file.
    """
    data = source.data
    inside = _inside(data, port)
    if inside is None:
        return []
    there = [data[slice(*dim.text)] if dim.text else b"" for dim in inside.dims]
    texts = [str(size).encode() for size in wanted]
    if len(texts) == len(there):
        return [
            Edit(*dim.text, text) if dim.text else Edit(dim.start, dim.end, _dim(text))
            for dim, before, text in zip(inside.dims, there, texts, strict=True)
            if before != text
        ]
    if not texts:
        return _without_dims(data, inside)
    if not there:
        return _first_dims(data, port, inside, texts)
    dims = inside.dims
    gap = (
        data[dims[0].end : dims[1].start] if len(dims) > 1 else data[inside.opened : dims[0].start]
    )
    gap = b"" if gap.strip(_SPACE) else gap
    fewest = min(len(there), len(texts))
    same = next((at for at in range(fewest) if there[at] != texts[at]), fewest)
    start = dims[same - 1].end if same else dims[0].start
    new = gap.join(map(_dim, texts[same:]))
    if same and new:
        new = gap + new
    return [_trimmed(data, Edit(start, dims[-1].end, new))]


def _dim(text: bytes) -> bytes:
    return b"<dim>" + text + b"</dim>"


def _without_dims(data: bytes, inside: _Inside) -> list[Edit]:
    if not inside.dims:
        return []
    left = data[inside.opened : inside.dims[0].start] + b"".join(
        data[one.end : other]
        for one, other in zip(
            inside.dims, [*(dim.start for dim in inside.dims[1:]), inside.close], strict=True
        )
    )
    if left.strip(_SPACE):
        return [Edit(dim.start, dim.end, b"") for dim in inside.dims]
    blank = (
        b" "
        if b'" />' in data and not data[inside.opened - 2 : inside.opened - 1].isspace()
        else b""
    )
    return [Edit(inside.opened - 1, inside.end, blank + b"/>")]


def _first_dims(data: bytes, port: int, inside: _Inside, texts: list[bytes]) -> list[Edit]:
    line = data.rfind(b"\n", 0, port) + 1
    indent = data[line:port]
    deeper = closing = b""
    if not indent.strip(b" \t") and line:
        end = b"\r\n" if data[line - 2 : line] == b"\r\n" else b"\n"
        above = data[data.rfind(b"\n", 0, line - len(end)) + 1 : line - len(end)]
        outer = above[: len(above) - len(above.lstrip(b" \t"))]
        unit = (
            indent[len(outer) :]
            if indent.startswith(outer) and len(outer) < len(indent)
            else b"\t"
            if indent[:1] == b"\t"
            else b"  "
        )
        deeper, closing = end + indent + unit, end + indent
    new = b"".join(deeper + _dim(text) for text in texts)
    if inside.close >= 0:
        last = b"" if data[inside.opened : inside.close].endswith((b" ", b"\t", b"\n")) else closing
        return [Edit(inside.opened, inside.opened, new + last)]
    tag = len(data[port : inside.opened - 2].rstrip(_SPACE)) + port
    return [Edit(tag, inside.opened, b">" + new + closing + b"</port>")]
