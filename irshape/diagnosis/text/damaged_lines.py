"""Lines of which a part is lost, or in which something else stands: what they may have been."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from .format_tables import CHILDREN
from .line_grammar import ATTRIBUTES, NEUTRAL, Place, Tag, tag_of

_NAMES: dict[str, tuple[str, ...]] = {
    **ATTRIBUTES,
    "entry": (
        *("axis", "external_port_id", "internal_layer_id"),
        *("start", "end", "stride", "part_size", "purpose"),
    ),
}
_ATTRIBUTE = re.compile(rb"(?<![\w.-])([A-Za-z_][\w.-]*)=\"([^\"<>=]*)\"(?=[\s/>]|$)")
_NAME = re.compile(rb"</?[A-Za-z_]+|(?<=[\s\"])[A-Za-z_-]+(?==\")")
_LENIENT = re.compile(rb"([^\s=\"'`]*)\s*=?\s*([^\s=]*(?:,\s*[^\s=,]+)*)")
_ODD = b"\"'`\\~|^ \t\r\n/>" + "«»“”„″′‘’".encode()
_START = re.compile(rb"<([a-z_]+)(?=[\s/>])")
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?![\w.])")
_CONTAINERS = {name for name in CHILDREN if CHILDREN[name]} - {"layer", "port", "net"}
_WITH_SLASH = ("edge", "data", "entry")
_END_OF_DIM = re.compile(rb"(?:^|[>\s])(-?\d+)\s*</dim>$")
SHORTEST_END = 3
"""So many bytes of the end of a tag tell which it is."""
_UNKNOWN = b"<dim>-1</dim>"
SHORT = 8
"""Of a line that is shorter, nothing may be meant."""
ALIKE = 0.7
"""How alike a damaged name has to be to that of an attribute."""
_NUMBERS = ("id", "from-layer", "from-port", "to-layer", "to-port")
_OF_LAYERS = re.compile(rb'type="([^"]*)"')


class Around(NamedTuple):
    """What is known around a damaged line."""

    place: Place
    """What is known before it."""
    following: Tag | None
    """The next tag, if that is whole."""
    text: bytes
    start: int
    """Where the line begins in the text."""


def mended(damaged: bytes, around: Around) -> Iterator[list[bytes]]:
    """The lines that a damaged one may have been, the likeliest first."""
    line = damaged.translate(None, b"\0").strip()
    joined = re.sub(rb"\s*\r?\n\s*", b"", line)
    spaced = re.sub(rb"\s*\r?\n\s*", b" ", line)
    for whole in dict.fromkeys((joined, spaced, *_respelt(joined))):
        if whole != line and tag_of(whole) is not None:
            yield [whole]
    place = around.place
    yield from ([text] for text in _literals(joined, place))
    names = [match[1] for match in _ATTRIBUTE.finditer(spaced)]
    if len(set(names)) < len(names):
        yield from _two_tags(spaced, around)
    for name in CHILDREN.get(place.parent, ()):
        key = _key(name, place.parent)
        rendered = _rendered(spaced, name, key, around) if key is not None else None
        if rendered is not None:
            yield [rendered]
    yield from _two_tags(spaced, around)
    if len(line) < SHORT or not _ATTRIBUTE.search(line):
        yield []


def _respelt(line: bytes) -> Iterator[bytes]:
    """A line without the escapes of a text, and with names in small letters."""
    if b"&lt;" in line or b"&gt;" in line or b"&quot;" in line:
        line = line.replace(b"&lt;", b"<").replace(b"&gt;", b">").replace(b"&quot;", b'"')
        yield line.replace(b"&amp;", b"&")
    yield _NAME.sub(lambda match: match[0].lower(), line)


def _key(name: str, parent: str) -> str | None:
    if name in ("input", "output"):
        return "entry" if parent.endswith("port_map") else None
    return name if name in (*_NAMES, "data") else None


# tags without attributes


def _literals(line: bytes, place: Place) -> Iterator[bytes]:
    """Tags without attributes, and dimensions, of which a piece is lost, added or replaced."""
    parent = place.parent
    known = _plain_tags(parent)
    if parent == "port":
        known += [b"<dim>%s</dim>" % n for n in dict.fromkeys(_NUMBER.findall(line))]
        known += [b"<dim>%s</dim>" % n for n in dict.fromkeys(re.findall(rb"\d+", line))]
        known += [] if re.search(rb"\d", line) else [_UNKNOWN]  # which is then inferred
        line = re.sub(rb"\s+", b"", line)
    scored = [(score, text) for text in known if (score := _changes(line, text)) is not None]
    for _, text in sorted(scored):
        yield text


def _common(one: bytes, other: bytes) -> int:
    """How many bytes two texts have in common at their beginning."""
    both = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(both) if a != b), min(len(one), len(other)))


def _changes(line: bytes, text: bytes) -> int | None:
    """How many characters differ if one piece was lost, added or replaced; None if more was."""
    head = _common(line, text)
    tail = _common(line[head:][::-1], text[head:][::-1])
    kept = head + tail
    lost, more = len(text) - kept, len(line) - kept
    if kept >= 2 and (not more or not lost or (lost <= 2 and more <= 2 and kept >= 4)):
        return lost + more
    return None


# tags with attributes


def _rendered(line: bytes, name: str, key: str, around: Around) -> bytes | None:
    """A damaged line as a tag with the attributes that are left of it; None if it is no such."""
    known = _NAMES.get(key) or _names_of_data(around, line)
    opening = _START.match(line)
    if opening is not None and opening[1].decode() != name:
        return None
    at = opening.end() if opening is not None else 0
    whole: dict[str, tuple[int, int, bytes]] = {}
    for match in _ATTRIBUTE.finditer(line, at):
        attribute = match[1].decode()
        if attribute in known and attribute not in whole:
            whole[attribute] = (match.start(), match.end(), match[2])
    if opening is None and not whole:
        return None
    values = {attribute: span[2] for attribute, span in whole.items()}
    gaps = _gaps(line, at, sorted(whole.values()))
    for low, high in gaps:
        piece = line[low:high]
        before = [a for a in known if a in whole and whole[a][1] <= low]
        behind = [a for a in known if a in whole and whole[a][0] >= high]
        first = known.index(before[-1]) + 1 if before else 0
        last = known.index(behind[0]) if behind else len(known)
        lost = [a for a in known[first:last] if a not in values]
        values |= _of_piece(piece, lost, is_last=high == len(line))
    if len(values) < (1 if opening is None else 0):
        return None
    if opening is None and not _is_telling(values, key):
        return None
    words = b"".join(b' %s="%s"' % (a.encode(), values[a]) for a in known if a in values)
    closed = key in _WITH_SLASH or (key == "port" and _is_empty(around.following))
    return b"<" + name.encode() + words + (b"/>" if closed else b">")


def _is_telling(values: dict[str, bytes], key: str) -> bool:
    """Whether attributes tell of which element they are, where its name is lost."""
    own = {"layer": {"version", "type"}, "port": {"precision", "names", "id"}}
    return key not in own or bool(own[key] & values.keys())


def _is_empty(following: Tag | None) -> bool:
    """Whether a port has no dimensions: what follows does not stand in it."""
    if following is None or following.name == "dim":
        return False
    return not (following.closes and following.name == "port")


def _gaps(line: bytes, at: int, spans: list[tuple[int, int, bytes]]) -> list[tuple[int, int]]:
    """What stands between whole attributes."""
    gaps = []
    for begin, end, _ in spans:
        gaps.append((at, begin))
        at = end
    gaps.append((at, len(line)))
    return [(low, high) for low, high in gaps if line[low:high].strip(b" \t\r\n/>")]


def _of_piece(piece: bytes, lost: list[str], *, is_last: bool) -> dict[str, bytes]:
    """The attribute that a damaged piece of a tag is, with its value if that is left."""
    cleaned = piece.strip(b" \t\r\n")
    if is_last:
        cleaned = re.sub(rb"\s*/?>?$", b"", cleaned)
    if not lost or not cleaned:
        return {}
    match = _LENIENT.match(cleaned)
    name, value = (match[1], match[2]) if match is not None else (b"", b"")
    if match is not None and match.end() < len(cleaned):
        value = cleaned[match.start(2) :]
    plain = re.sub(rb"[^\w.-]", b"", name).decode("ascii", "replace")
    value = value.strip(_ODD)
    ends = cleaned.endswith((b'"', b"'")) or any(
        cleaned.endswith(mark.encode()) for mark in "»”″’`"
    )
    attribute = _attribute_like(plain, lost)
    if attribute is None or not value or b"=" in value or b'"' in value:
        return {}
    if not ends and attribute not in ("name", "type"):
        return {}  # its end may be lost
    if attribute in _NUMBERS and not value.isdigit():
        return {}
    return {attribute: value}


def _attribute_like(name: str, lost: list[str]) -> str | None:
    if name in lost:
        return name
    if not name:
        return lost[-1] if len(lost) == 1 else None
    near = [a for a in lost if SequenceMatcher(None, a, name).ratio() >= ALIKE]
    if len(near) == 1:
        return near[0]
    ends = [a for a in lost if a.endswith(name)] or [a for a in lost if a.startswith(name)]
    return ends[-1] if ends else None


def _names_of_data(around: Around, line: bytes) -> tuple[str, ...]:
    """The attributes of `<data>`, as another layer of the type has them; else those left."""
    text = around.text
    head = text.rfind(b"<layer ", 0, around.start)
    kind = _OF_LAYERS.search(text, head, around.start) if head >= 0 else None
    own = [m[1].decode() for m in _ATTRIBUTE.finditer(line)]
    if kind is not None:
        pattern = re.compile(
            rb'<layer [^<>]*type="%s"[^<>]*>\s*<data((?: [\w.]+="[^"<>]*")+)' % re.escape(kind[1])
        )
        for match in pattern.finditer(text):
            if match.start() != head:
                names = [m[1].decode() for m in _ATTRIBUTE.finditer(match[1])]
                if set(own) <= set(names):
                    return tuple(names)
    return tuple(dict.fromkeys(own))


# two tags of which what was between them is lost


def _two_tags(line: bytes, around: Around) -> Iterator[list[bytes]]:
    """The beginning of one tag and the end of another, between which tags may be lost."""
    for text in _plain_tags(around.place.parent):
        kept = _common(line, text)
        if kept >= 2:
            yield from ([text, second] for second in _seconds(line[kept:].strip(), around))
    opening = _START.match(line)
    name = opening[1].decode() if opening is not None else ""
    parent = around.place.parent
    key = _key(name, parent)
    if opening is None or key is None or name not in CHILDREN.get(parent, ()):
        return
    names = _NAMES.get(key) or _names_of_data(around, line)
    end, seen = opening.end(), set()
    for match in _ATTRIBUTE.finditer(line, end):
        if match[1].decode() not in names or match[1] in seen:
            break
        seen.add(match[1])
        end = match.end()
    for second in _seconds(line[end:].strip(), around):
        first = _rendered(line[:end], name, key, around._replace(following=tag_of(second)))
        if first is not None:
            yield [first, second]


def _plain_tags(parent: str) -> list[bytes]:
    """The tags without attributes that may stand in an element, its end tag first."""
    inner = CHILDREN.get(parent, ()) if not parent.endswith("port_map") else ()
    return [f"</{parent}>".encode(), *(f"<{n}>".encode() for n in inner if n in _CONTAINERS)]


def _seconds(rest: bytes, around: Around) -> Iterator[bytes]:
    """The tags of which what is left may be the end."""
    size = _END_OF_DIM.search(rest)
    if size is not None:
        yield b"<dim>%s</dim>" % size[1]
    last = rest[max(rest.rfind(b"<"), 0) :]
    if tag_of(last) not in (None, NEUTRAL):
        yield last
    if len(rest) >= SHORTEST_END:
        plain = (f"<{name}>".encode() for name in sorted(_CONTAINERS))
        closing = (f"</{name}>".encode() for name in (*sorted(_CONTAINERS), "port", "layer"))
        yield from (text for text in (*closing, *plain) if text.endswith(rest) and text != rest)
    for name in ("port", "layer", "edge", "data"):
        text = _rendered(rest, name, name, around)
        if text is not None:
            yield text
