"""Slips within one tag: a quote, an equals sign or a bracket is missing, or an attribute is there
twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...formats.ir.edits import Edit
from .format_tables import CHILDREN, NAME
from .slip import Slip

_OPEN_COMMENT = re.compile(rb"<!--\s*(?=<)")
_BROKEN = re.compile(rb"<[^<>\n]*>?")
_ATTRIBUTE = re.compile(rb"""\s+([\w.:-]+)\s*=\s*("[^"<>]*"|'[^'<>]*')""")
_PLAIN = re.compile(rb"""(?: [\w.:-]++="[^"<>]*+")*+ ?+""")
"""Attributes as writers lay them out."""
_PLAIN_NAME = re.compile(rb""" ([\w.:-]++)="[^"]*+\"""")
_OPEN_VALUE = re.compile(rb"""=\s*"([^"=<>]*?)(?=\s+[\w.:-]+\s*=\s*"|\s*/?>|\s*\?>|$)(?!")""")
_BARE_VALUE = re.compile(rb"""=\s*([^"'\s=<>/][^"'\s<>]*)(["'])""")
_FREE = b" \t\r\n/"
_LOST_EQUALS = re.compile(rb"""\s([A-Za-z_][\w:-]*)(?=["'])""")
_OTHER_QUOTE = re.compile(rb"""=\s*(?:"[^"'<>=]*(')|(')[^"'<>=]*")(?=\s|/?>)""")
_QUOTE = rb"""(?:\\?["'`]|&quot;|&#34;|\xc2[\xab\xbb]|\xe2\x80[\x98-\x9f\xb2\xb3])"""
_LENIENT = re.compile(
    rb"""[\s,;]*([A-Za-z_][\w.-]*)(?:\s*[=:]?\s*(?:""(?=[\s,;/>])|%s+([^"'<>\\&]*?)%s+)"""
    rb"""|\s*[=:]\s*([^\s"'<>,;/\\&=:]+))""" % (_QUOTE, _QUOTE)
)
"""An attribute as other languages and hasty hands write it."""
_NO_VALUE = re.compile(rb"(?<!\s)\s+([A-Za-z_][\w.-]*)\s*=(?=\s+[A-Za-z_][\w.-]*\s*=|\s*/?>)")
_INNER_QUOTE = re.compile(rb"""=\s*"[^"<>=\s]+(")[^"<>=\s]+"(?=\s|/?>)""")
_REST = re.compile(rb"[\s,;]*(/?)>$")
_NAME_TWICE = re.compile(rb"<([A-Za-z_]\w*)(\s+\1)(?=\s)")
_DIM_WITHOUT_BRACKET = re.compile(rb"<dim()\s*[-+]?\d+\s*</dim>")


def is_faulty(attributes: bytes) -> bool:
    """Whether an attribute is there twice, or anything is there but attributes and blanks."""
    names = _PLAIN_NAME.findall(attributes) if _PLAIN.fullmatch(attributes) else None
    if names is not None:
        return len(set(names)) < len(names)
    names = [match[1] for match in _ATTRIBUTE.finditer(attributes)]
    return len(set(names)) < len(names) or bool(_ATTRIBUTE.sub(b"", attributes).strip(_FREE))


def in_tag(text: bytes, start: int) -> Iterator[Slip]:
    """A tag that is none: a quote is missing, or an attribute is there twice."""
    comment = _OPEN_COMMENT.match(text, start)
    if comment is not None:
        edit = Edit(start, comment.end(), b"")
        yield Slip((edit,), "<!-- is removed", "a comment is not closed", start)
        return
    twice = _NAME_TWICE.match(text, start)
    if twice is not None:
        shown = twice[1].decode()
        edit = Edit(twice.start(2), twice.end(2), b"")
        yield Slip((edit,), "the second is removed", f"the name <{shown} stands twice", start)
    size = _DIM_WITHOUT_BRACKET.match(text, start)
    if size is not None:
        edit = Edit(size.start(1), size.end(1), b">")
        yield Slip((edit,), "<dim is closed", "the tag <dim is not closed", start)
    line = _BROKEN.match(text, start)
    if line is None:
        return
    name = re.sub(rb"[\s/<>].*", b"", line[0][1:], flags=re.DOTALL).decode("ascii", "replace")
    yield from _of_attributes(text, start, line.end(), name)
    change, cause = f"a quote is added in <{name}>", f"a value in <{name}> lacks a quote"
    for match in _OTHER_QUOTE.finditer(text, start, line.end()):
        at = match.start(match.lastindex or 0)
        straight = f"a value in <{name}> begins and ends with different quotes"
        yield Slip((Edit(at, at + 1, b'"'),), 'both become "', straight, start)
    for match in _LOST_EQUALS.finditer(text, start, line.end()):
        attribute = match[1].decode("ascii", "replace")
        lacking = f"the attribute {attribute} of <{name}> lacks its ="
        yield Slip((Edit(match.end(), match.end(), b"="),), "it is added", lacking, start)
    for match in _OPEN_VALUE.finditer(text, start, line.end()):
        yield Slip((Edit(match.end(1), match.end(1), b'"'),), change, cause, start)
    for match in _BARE_VALUE.finditer(text, start, line.end()):
        yield Slip((Edit(match.start(1), match.start(1), match[2]),), change, cause, start)
    if not line[0].endswith(b">"):
        edit = Edit(line.end(), line.end(), b">")
        yield Slip((edit,), f"<{name} is closed", f"the tag <{name} is not closed", start)


def _of_attributes(text: bytes, start: int, end: int, name: str) -> Iterator[Slip]:
    """An attribute is there twice, or has no value; or characters between attributes are wrong."""
    seen: dict[bytes, bytes] = {}
    for match in _ATTRIBUTE.finditer(text, start, end):
        attribute = match[1].decode("ascii", "replace")
        if seen.get(match[1]) == match[2]:
            edit = Edit(match.start(), match.end(), b"")
            cause = f"<{name}> has the attribute {attribute} twice"
            yield Slip((edit,), f"the second {attribute} is removed", cause, start)
        seen.setdefault(match[1], match[2])
    for match in _NO_VALUE.finditer(text, start, end):
        shown = match[1].decode("ascii", "replace")
        lacking = f"the attribute {shown} of <{name}> has no value"
        yield Slip((Edit(*match.span(), b""),), "it is removed", lacking, start)
    for match in _INNER_QUOTE.finditer(text, start, end):
        inner = f"a value in <{name}> has a quote inside"
        yield Slip((Edit(*match.span(1), b""),), "it is removed", inner, start)
    yield from _in_another_notation(text, start, end, name)


def _in_another_notation(text: bytes, start: int, end: int, name: str) -> Iterator[Slip]:
    """All attributes are there, but not as XML has them: bare, escaped, or with commas between."""
    at, edits = start + 1 + len(name), []
    while (match := _LENIENT.match(text, at, end)) is not None:
        value = match[2] if match[2] is not None else match[3] or b""
        plain = b' %s="%s"' % (match[1], value)
        if match[0].split() != plain.split():
            edits.append(Edit(match.start(), match.end(), plain))
        at = match.end()
    if edits and _REST.match(text, at, end) is not None:
        written = text[edits[0].start : edits[0].end].decode("utf-8", "replace").strip()
        cause = f"an attribute of <{name}> is not written as XML has it: `{written}`"
        change = edits[0].text.decode("utf-8", "replace").strip()
        yield Slip(tuple(edits), change, cause, start)


def half_a_tag(text: bytes, start: int) -> Iterator[Slip]:
    """Of a tag the rest is lost: what is left of an attribute goes, and the tag is closed."""
    tag, line = NAME.match(text, start), _BROKEN.match(text, start)
    if tag is None or tag[1] or line is None or line[0].endswith(b">"):
        return
    end, name = line.end(), tag[2].decode("ascii", "replace")
    if not text[end:].strip():  # the file ends here
        return
    kept = max((match.end() for match in _ATTRIBUTE.finditer(text, start, end)), default=end)
    inner = NAME.match(text, end + len(text[end:]) - len(text[end:].lstrip()))
    inside = inner is not None and (
        inner[2].decode("ascii", "replace") in CHILDREN.get(name, ())
        if not inner[1]
        else inner[2].decode("ascii", "replace") == name
    )
    close = b">" if inside else b"/>"
    change = f"<{name} is closed behind its last whole attribute"
    yield Slip((Edit(kept, end, close),), change, f"the tag <{name} is cut off", start)


def doubled_attributes(text: bytes, start: int) -> Iterator[Slip]:
    """Of two values of one attribute in a tag, one goes: the first or the second."""
    tag = _BROKEN.match(text, start)
    seen: dict[bytes, re.Match[bytes]] = {}
    for match in _ATTRIBUTE.finditer(text, start, tag.end()) if tag is not None else ():
        first = seen.setdefault(match[1], match)
        if first is match or first[2] == match[2]:
            continue
        shown = match[1].decode("ascii", "replace")
        cause = f"the attribute {shown} stands there twice, with two values"
        for gone, kept in ((match, first), (first, match)):
            change = f"{kept[0].strip().decode('utf-8', 'replace')} is kept"
            yield Slip((Edit(*gone.span(), b""),), change, cause, start)
        return
