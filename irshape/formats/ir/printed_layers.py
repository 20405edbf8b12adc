"""Repairs layers that documents print as incomplete XML, if the meaning of the text is clear.

Most repairs keep the offsets of the other text: `...` and backslashes inside a tag become blanks,
and the `/>` of a port that contains dimensions loses its slash. Missing text is inserted.
`Repaired.edited` maps an offset in the repaired text back to the file, for exact diagnostics.

Four repairs are not reported, since documents often need them: `...` inside a tag, an XML
declaration and backslashes become blanks, and `--` inside a comment loses a hyphen.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...faults import Fault
from ...model.graph import Finding
from ...rule_ids import LEFT_OUT, REPAIRED_XML, RuleId
from .edits import Edit, Edited
from .grammar import CHILDREN, PORT_MAP_TAGS

_KNOWN = frozenset[str]().union(*CHILDREN.values())

_DECLARATION = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*<\?xml\b.*?\?>", re.DOTALL)
_TAG = re.compile(rb"""<(/?)([^\s<>/="'\\]*)((?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>""")
_DOTS = re.compile(rb"\.{3,}|\xe2\x80\xa6|\\")
_QUOTED = re.compile(rb"""("[^"]*"|'[^']*')""")
_ATTRIBUTE = re.compile(
    rb"""(?<![^\s=/>"'])([^\s=/>"']+)\s*=\s*(?:("[^"]*"|'[^']*')|([^\s"'=<>/]+(?:/[^\s"'=<>/]+)*))"""
)
_MAX_DEPTH = 300
_MAX_LINE = 4096
_HALF_END = re.compile(rb"/([a-z_]+)\s*>")
_ATTRIBUTES = re.compile(rb"""(?:\s*[A-Za-z_][\w.-]*\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))+\s*""")


class Comment(NamedTuple):
    """A comment inside an `<input>` or `<output>`, with the offset of the port that it
    describes."""

    port: int
    text: str
    at_dim: bool
    """Whether a `<dim>` precedes the comment in the line; the comment may describe it."""


class _Element(NamedTuple):
    name: str
    offset: int
    end: int
    """The offset at which the element's start tag ends."""
    children: tuple[str, ...] | None
    """The elements that the element may contain; None if it may contain any."""


class Repaired:
    """The repaired text of a document, the findings about repairs, and the comments at ports.

    The constructor goes through the tags once, and keeps a stack of open elements.
    """

    def __init__(self, data: bytes) -> None:
        self.plain = bytearray(data)
        """The text with some bytes replaced by blanks. All bytes keep their offsets."""
        self.problems: list[Finding] = []
        self.comments: list[Comment] = []
        self.vague: set[int] = set()
        """The offsets of ports with `...` in place of dimensions."""
        self.put: list[tuple[int, bytes]] = []
        """The texts to insert, each with the offset at which it is inserted."""
        self.open: list[_Element] = [_Element("", 0, 0, CHILDREN["layers"])]
        self.closed: _Element | None = None
        """The element of the previous tag if this tag is self-closing (`/>`), or else None."""
        self.port = -1
        """The offset of the latest port in the current `<input>` or `<output>`."""
        self.waiting: list[str] = []
        """The comments after the latest port. If another port follows, they describe that port."""
        self.ended: tuple[_Element, int, int] | None = None
        """The `<input>` or `<output>` that the previous tag closed, and the span of that tag."""
        self.walk()
        self.edited = Edited(bytes(self.plain))
        """The repaired text for an XML parser. It maps offsets to the file."""
        self.edited.apply(Edit(offset, offset, piece) for offset, piece in self.put)

    def walk(self) -> None:
        plain, position = self.plain, 0
        declaration = _DECLARATION.match(plain)
        if declaration:
            position = declaration.end()
            plain[:position] = b" " * position
        while (start := plain.find(b"<", position)) >= 0:
            self.between(position, start)
            if plain.startswith(b"<!--", start):
                end = plain.find(b"-->", start + 4)
                if end < 0:
                    return  # nothing behind it can be read; the parser says so
                self.comment(start, end)
                position = end + 3
            elif plain.startswith((b"<!", b"<?"), start):
                end = plain.find(b"]]>" if plain.startswith(b"<![CDATA[", start) else b">", start)
                if end < 0:
                    return
                position = end + 1
            elif match := _TAG.match(plain, start):
                position = match.end()
                self.tag(match)
                if len(self.open) > _MAX_DEPTH:
                    return
            else:
                position = start + 1
        self.between(position, len(plain))
        while len(self.open) > 1:
            self.close(len(plain), "the end of the file")

    def report(
        self,
        message: str,
        offset: int,
        expected: str | None,
        actual: str | None,
        help: str,
        rule: RuleId = REPAIRED_XML,
    ) -> None:
        fault = Fault(rule, message, expected=expected, actual=actual, help=help)
        self.problems.append(Finding(fault, offset))

    def between(self, start: int, end: int) -> None:
        """Repairs the text between two tags: completes an end tag without `<`, and replaces
        backslashes by blanks. Notes a port with `...`, and reports `...` in place of ports."""
        plain, top = self.plain, self.open[-1]
        if end - start < 2:
            return
        half = _HALF_END.search(plain, start, end)
        if half is not None and half[1].decode() == top.name:
            at, seen = half.start(), half[0].decode()
            plain[at : half.end()] = b" " * len(seen)
            self.put.append((at, f"</{top.name}>".encode()))
            self.report(
                f"the end tag of <{top.name}> has no `<`",
                at,
                f"</{top.name}>",
                seen,
                f"write </{top.name}>",
            )
            self.open.pop()
            self.closed = None
        if (dots := _DOTS.search(plain, start, end)) is not None:
            if dots[0] == b"\\":
                plain[start:end] = plain[start:end].replace(b"\\", b" ")
            elif top.name in ("port", "dim"):
                self.vague.add(self.port)
            elif top.name in ("input", "output"):
                self.report(
                    f"`{dots[0].decode()}` stands in place of ports",
                    dots.start(),
                    f"the ports of the <{top.name}>",
                    "...",
                    "write the ports, so that the layer can be checked",
                    LEFT_OUT,
                )

    # tags

    def tag(self, match: re.Match[bytes]) -> None:
        start, end = match.span()
        name = match[2].decode("utf-8", "replace")
        if match[1]:
            self.end_tag(name, start, end)
            return
        ended, self.ended = self.ended, None
        closes = match[3].rstrip().endswith(b"/")
        attributes = (match.start(3), match.end(3))
        name = self.tag_name(name, match.start(2), attributes)
        if name in ("input", "output") and not closes and self.goes_on(name, start, end, ended):
            return
        self.make_room(name, start)
        self.attributes(*attributes)
        top = self.open[-1]
        children = None if top.children is None else CHILDREN.get(name)
        if top.name in PORT_MAP_TAGS:
            children = ()
        element = _Element(name, start, end, children)
        if name == "port" and top.name in ("input", "output"):
            self.port = start
            self.comments += [Comment(start, text, False) for text in self.waiting]
        elif name in ("input", "output"):
            self.port = -1
        self.waiting = []
        if closes:
            self.closed = element
        else:
            self.open.append(element)
            self.closed = None

    def goes_on(
        self, name: str, start: int, end: int, ended: tuple[_Element, int, int] | None
    ) -> bool:
        """Returns whether an `<input>` or `<output>` directly follows another element `name`, or
        lies in it. If so, merges the two: some documents have an `<input>` for each port.

        ended: as `self.ended`.
        """
        if ended is not None and ended[0].name == name:
            self.plain[ended[1] : ended[2]] = b" " * (ended[2] - ended[1])
            self.open.append(ended[0])
        elif self.open[-1].name != name:
            return False
        self.plain[start:end] = b" " * (end - start)
        self.report(
            f"a second <{name}>; irshape reads its ports as if they were in the first",
            start,
            f"one <{name}>",
            f"<{name}>",
            f"put all ports into one <{name}>",
        )
        return True

    def tag_name(self, name: str, start: int, attributes: tuple[int, int]) -> str:
        """Returns the name of a start tag; `layer` for a tag with a type but `...` as its name."""
        end = start + len(name.encode())
        if name.strip(".…") == "" and (name or b"\\" in self.plain[start : start + 1]):
            self.plain[start:end] = b" " * (end - start)
            if b"type" in self.plain[slice(*attributes)] and "layer" in (
                self.open[-1].children or ()
            ):
                self.put.append((start, b"layer"))
                self.report(
                    "the element has no name; irshape reads it as <layer>, because it has a type "
                    "and is where a layer can be",
                    start - 1,
                    "<layer",
                    f"<{name}",
                    "write <layer",
                )
                return "layer"
        return name

    def make_room(self, name: str, start: int) -> None:
        """Closes open elements that may not contain the element `name`, which begins at `start`.

        If the element is a `<dim>` after a self-closing `<port/>`, reopens the port instead.
        """
        if name not in _KNOWN:
            return
        top, last = self.open[-1], self.closed
        if name == "dim" and last is not None and last.name == "port" and last.children is not None:
            slash = self.plain.rfind(b"/", last.offset, last.end)
            self.plain[slash : slash + 1] = b" "
            self.report(
                "the port is self-closing (`/>`), but dimensions follow; irshape reads them as "
                "if they were inside the port",
                last.offset,
                "<port …>",
                "<port …/>",
                "write > instead of />",
            )
            self.open.append(last)
            return
        if top.children is None or name in top.children:
            return
        holders = [
            i
            for i, element in enumerate(self.open)
            if element.children is not None and name in element.children
        ]
        if not holders:
            return
        while len(self.open) - 1 > holders[-1]:
            self.close(start, f"<{name}>")

    def close(self, at: int, before: str) -> None:
        """Inserts the missing end tag of the innermost element. before: what follows, in words."""
        element = self.open.pop()
        self.put.append((at, f"</{element.name}>".encode()))
        self.report(
            f"<{element.name}> is not closed; irshape reads it as if </{element.name}> came before "
            f"{before}",
            element.offset,
            f"</{element.name}>",
            None,
            f"add </{element.name}>",
        )
        self.closed = None

    def end_tag(self, name: str, start: int, end: int) -> None:
        self.closed = self.ended = None
        if self.port >= 0 and name in ("input", "output"):
            self.comments += [Comment(self.port, text, False) for text in self.waiting]
        self.waiting = []
        if name and name == self.open[-1].name:
            element = self.open.pop()
            if name in ("input", "output"):
                self.ended = (element, start, end)
            elif name == "data" and _ATTRIBUTES.fullmatch(self.plain, element.end, start):
                self.plain[element.end - 1 : element.end] = b" "
                self.plain[start:end] = b"/>".ljust(end - start)
                self.report(
                    "the attributes follow <data>; irshape reads them as if they were inside the "
                    "tag",
                    element.offset,
                    "<data …/>",
                    "<data>…</data>",
                    "put them inside the tag",
                )
            return
        if name and any(element.name == name for element in self.open):
            while self.open[-1].name != name:
                self.close(start, f"</{name}>")
            self.open.pop()
            return
        self.plain[start:end] = b" " * (end - start)
        self.report(
            f"</{name}> closes no element; irshape ignores it",
            start,
            None,
            f"</{name}>",
            "remove it",
        )

    def attributes(self, start: int, end: int) -> None:
        """Replaces `...` and backslashes outside quotes by blanks, and inserts missing quotes."""
        plain = self.plain
        inside = bytes(plain[start:end])
        if b"..." in inside or b"\\" in inside or b"\xe2" in inside:
            inside = b"".join(
                piece
                if piece[:1] in (b'"', b"'")
                else _DOTS.sub(lambda dots: b" " * len(dots[0]), piece)
                for piece in _QUOTED.split(inside)
            )
        plain[start:end] = inside
        for match in _ATTRIBUTE.finditer(inside):
            name = match[1].decode("utf-8", "replace")
            if match[3] is not None:
                value = match[3].decode("utf-8", "replace")
                self.put += [(start + match.start(3), b'"'), (start + match.end(3), b'"')]
                self.report(
                    f"the value of `{name}` has no quotes",
                    start + match.start(),
                    f'{name}="{value}"',
                    f"{name}={value}",
                    f'write {name}="{value}"',
                )

    # comments

    def comment(self, start: int, end: int) -> None:
        plain = self.plain
        text = plain[start + 4 : end].decode("utf-8", "replace")
        if b"--" in plain[start + 4 : end + 1]:  # not allowed inside a comment
            plain[start + 4 : end] = (
                plain[start + 4 : end].replace(b"--", b"- ").rstrip(b"-").ljust(end - start - 4)
            )
        names = [element.name for element in self.open[-2:]]
        if names[-1] == "port" or names[0] == "port":
            self.comments.append(Comment(self.port, text, b"<dim>" in self.line_before(start)))
        elif names[-1] in ("input", "output"):
            if self.line_before(start).strip():
                if self.port >= 0:
                    self.comments.append(Comment(self.port, text, False))
            else:
                self.waiting.append(text)

    def line_before(self, start: int) -> bytes:
        """Returns the text from the beginning of the line to an offset."""
        before = bytes(self.plain[max(0, start - _MAX_LINE) : start])
        return before[before.rfind(b"\n") + 1 :]
