"""Holds the bytes of a file, and finds the line and column of an offset in them."""

from __future__ import annotations

import re
from collections.abc import Iterator


class Source:
    """The bytes of a file. Converts offsets in them to lines and columns."""

    __slots__ = (
        "_column",
        "_counted",
        "_element",
        "_line",
        "_starts",
        "data",
        "encoding",
        "path",
        "raw",
    )

    def __init__(
        self, path: str, data: bytes, encoding: str = "utf-8", raw: bytes | None = None
    ) -> None:
        self.path = path
        self.data = data
        self.encoding = encoding
        self.raw = raw
        """The bytes on disk, if `data` differs from them, e.g. for a file in UTF-16."""
        self._begin()

    def _begin(self) -> None:
        """Clears the caches of lines and columns."""
        self._counted = (0, 1)
        """The last offset and its line, from which the lines of other offsets are counted."""
        self._column = (0, 0, 0)
        """The start of a line, an offset in the line, and the number of characters between them.

        `place` continues to count from this offset, which is faster in a very long line.
        """
        self._line = (0, "")
        """The number and the text of the line that `line` returned last."""
        self._starts: dict[int, int] = {}
        self._element: tuple[int, dict[str, int]] = (-1, {})
        """The offset of the element for which `attribute` was last called, and the offsets of the
        names of its attributes."""

    def line_number(self, offset: int) -> int:
        """Returns the line of a byte offset; lines start at 1."""
        at, line = self._counted
        if offset >= at:
            line += self.data.count(b"\n", at, offset)
        elif at - offset < offset:
            line -= self.data.count(b"\n", offset, at)
        else:
            line = 1 + self.data.count(b"\n", 0, offset)
        self._counted = (offset, line)
        return line

    def place(self, offset: int) -> tuple[int, int]:
        """Returns the line and column of a byte offset. Both start at 1; the column counts
        characters."""
        line = self.line_number(offset)
        start, done, characters = self._column
        if not start <= offset or self.data.find(b"\n", done, offset) >= 0:
            start = done = self.data.rfind(b"\n", 0, offset) + 1
            characters = 0
        self._starts[line] = start
        between = len(
            self.data[min(done, offset) : max(done, offset)].decode(self.encoding, "replace")
        )
        characters += between if done <= offset else -between
        self._column = (start, offset, characters)
        return line, characters + 1

    def line(self, number: int) -> str:
        """Returns the text of a line, without its line break; empty for a line past the end."""
        if number != self._line[0]:
            start = self._starts.get(number, 0)
            if not start:
                for _ in range(number - 1):
                    start = self.data.find(b"\n", start) + 1
                    if not start:
                        return ""
            end = self.data.find(b"\n", start)
            raw = self.data[start : end if end >= 0 else len(self.data)]
            self._line = (number, raw.decode(self.encoding, "replace").rstrip("\r"))
        return self._line[1]

    def attribute(self, element: int, name: str) -> int:
        """Returns the offset of the attribute `name` in the element at offset `element`.

        If the element has no such attribute, returns the offset of the element.
        """
        if element != self._element[0]:
            places: dict[str, int] = {}
            for other, start, _, _ in self.attributes(element):
                places.setdefault(other, start)
            self._element = (element, places)
        return self._element[1].get(name, element)

    def attributes(self, element: int) -> Iterator[tuple[str, int, int, int]]:
        """Yields each attribute of an element: its name, the offset of the name, and the start and
        end of the value."""
        position = element + 1
        while match := _ATTRIBUTE.match(self.data, position):
            group = match.lastindex or 0
            yield (
                match[2].decode(self.encoding, "replace"),
                match.start(2),
                match.start(group),
                match.end(group),
            )
            position = match.end()


_ATTRIBUTE = re.compile(
    rb"""((?:[^\s<>/="']*+\s++)+?)([^\s=<>/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>/]+))"""
)
"""Matches an attribute after the element's name, or after another attribute.

In single layers, values may have no quotes.
"""


class Passage(tuple[int, int]):
    """A span (start and end) in `source`, a file or text other than the model's own."""

    source: Source

    @classmethod
    def of(cls, span: tuple[int, int], source: Source) -> Passage:
        """Returns a span as a `Passage` in `source`; a `Passage` stays as it is."""
        if isinstance(span, Passage):
            return span
        passage = cls(span)
        passage.source = source
        return passage

    @classmethod
    def text(cls, text: str) -> Passage:
        """Wraps a text in a new source. Returns the passage that covers all of it."""
        data = text.encode()
        return cls.of((0, len(data)), Source("", data))


def passage_bytes(source: Source, span: tuple[int, int]) -> bytes:
    """Returns the bytes of a span in `source`; for a `Passage`, in the source of the passage."""
    data = span.source.data if isinstance(span, Passage) else source.data
    return data[span[0] : span[1]]
