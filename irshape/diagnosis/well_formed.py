"""The single slip for which a text is not well-formed XML: a tag, a quote or a slash."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import chain
from xml.parsers import expat

from ..faults import Fault
from ..formats.ir.edits import Edit
from ..model.graph import Finding
from ..model.source import Source
from ..rule_ids import MALFORMED_XML, NOT_AN_IR
from .candidate import Candidate, Diagnosis
from .stray_text import Slip, in_characters, in_lines

_BODIES = ("body", "then_body", "else_body")
_PORT_MAPS = ("port_map", "then_port_map", "else_port_map")
_CHILDREN: dict[str, tuple[str, ...]] = {
    "net": ("layers", "edges", "rt_info", "meta_data"),
    "layers": ("layer",),
    "layer": ("data", "input", "output", "rt_info", "back_edges", *_BODIES, *_PORT_MAPS),
    "input": ("port",),
    "output": ("port",),
    "port": ("dim", "rt_info"),
    "edges": ("edge",),
    "back_edges": ("edge",),
    **dict.fromkeys(_BODIES, ("layers", "edges", "rt_info", "back_edges")),
    **dict.fromkeys(_PORT_MAPS, ("input", "output")),
    **dict.fromkeys(("dim", "data", "edge"), ()),
}
_KNOWN = {name for names in _CHILDREN.values() for name in names}
_WITHOUT_TEXT = ("data", "edge")
"""Elements that end with their start tag."""
_TAG = re.compile(rb"""<(/?)([A-Za-z_][\w.-]*)((?:[^<>"']|"[^"<>]*"|'[^'<>]*')*?)(/?)>""")
_VALUE = rb'"[^"<>]*+"'
_PORTS = (
    rb"(?:\s*+<port id=%s(?: precision=%s)?(?: names=%s)?"
    rb"(?:/>|>(?:\s*+<dim>[^<>]*+</dim>)*+\s*+</port>))++" % ((_VALUE,) * 3)
)
_LAYER = (
    rb"(?:\s*+<layer id=%s name=%s type=%s version=%s>(?:\s*+<data(?P<data>(?: \w++=%s)*+) ?/>)?+"
    rb"(?:\s*+<input>%s\s*+</input>)?+(?:\s*+<output>%s\s*+</output>)?+\s*+</layer>)"
    % (*(_VALUE,) * 5, _PORTS, _PORTS)
)
_EDGES = rb"(?:\s*+<edge from-layer=%s from-port=%s to-layer=%s to-port=%s ?/>)++" % ((_VALUE,) * 4)
_REGULAR = {
    name: re.compile(pattern)
    for name, pattern in (
        *(("layers", _LAYER), ("input", _PORTS), ("output", _PORTS), ("edges", _EDGES)),
    )
}
"""What elements contain as writers put it, with which nothing is wrong."""
_PASSED = re.compile(rb"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>", re.DOTALL)
_FREE = re.compile(
    rb"<(rt_info|meta_data)\b[^<>]*>(?<!/>)"
    rb"(?:[^<]|<(?!/?(?:layers?|edges?|port|net|rt_info|meta_data)\b))*</\1\s*>"
)
_NAME = re.compile(rb"<(/?)([A-Za-z_][\w.-]*)")
_OPEN_COMMENT = re.compile(rb"<!--\s*(?=<)")
_BROKEN = re.compile(rb"<[^<>\n]*>?")
_ATTRIBUTE = re.compile(rb"""\s+([\w.:-]+)\s*=\s*("[^"<>]*"|'[^'<>]*')""")
_OPEN_VALUE = re.compile(rb"""=\s*"([^"=<>]*?)(?=\s+[\w.:-]+\s*=\s*"|\s*/?>|\s*\?>|$)(?!")""")
_BARE_VALUE = re.compile(rb"""=\s*([^"'\s=<>/][^"'\s<>]*)(["'])""")
_NO_BLANK = re.compile(rb"""=\s*(?:"[^"<>]*"|'[^'<>]*')(?=[A-Za-z_])""")
_PORT_ID = re.compile(rb"""<port\b[^<>]*?\bid\s*=\s*["'](\d{1,9})["']""")
_PRECISION = re.compile(rb"""\s+precision\s*=\s*["'][^"'<>]*["']""")
_ENDED = ("no element found", "unclosed token", "unclosed CDATA section")
MAX_SIZE = 1 << 25
"""How many bytes a text may have in which the slip is looked for."""
ALIKE = 0.6
"""How alike two names must be for one to be a misspelling of the other."""


def malformed_cause(finding: Finding, source: Source) -> Diagnosis | None:
    """The slip for which a file is not well-formed, with what takes it back."""
    if source.raw is not None or len(source.data) > MAX_SIZE:
        return None
    if finding.rule not in (MALFORMED_XML, NOT_AN_IR):
        return None
    structure = finding.rule == NOT_AN_IR and is_well_formed(source.data)
    if finding.rule == NOT_AN_IR and not structure:
        finding = finding._replace(fault=Fault(MALFORMED_XML, finding.message))
    cause = slip(source, finding.offset, structure=structure)
    if cause is None:
        return _cut_off(finding) if finding.message.endswith(_ENDED) else None
    message, help = finding.message, f"likely meant: {cause.change}"
    if finding.offset != cause.offset or "not closed" not in message:
        message = cause.cause
        if not structure:
            message = f"the file is not well-formed XML: {message}"
    told = Finding(finding.fault._replace(message=message, help=help), cause.offset)
    candidate = Candidate(cause.edits, cause.change, cause.cause, cause.offset, None, ())
    return Diagnosis(told, (finding,), (candidate,), True)


def _cut_off(finding: Finding) -> Diagnosis:
    """The end of a file is missing."""
    message = "the file is not well-formed XML: it ends before its elements are closed"
    help = "get the whole file: this one was cut off here"
    return Diagnosis(
        finding._replace(fault=finding.fault._replace(message=message, help=help)),
        (finding,),
        (),
        False,
    )


def slip(source: Source, stopped: int = 0, *, structure: bool = False) -> Slip | None:
    """The slip after which the whole text is well-formed; None if no single one is it.

    stopped: where a parser stops. structure: each element has to be where it belongs, too.
    """
    tried = chain(
        in_characters(source.data), _candidates(source.data), in_lines(source.data, stopped)
    )
    for candidate in tried:
        text = source.data
        for edit in sorted(candidate.edits, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        if is_well_formed(text) and (
            not (candidate.doubtful or structure) or is_in_structure(text)
        ):
            return candidate
    return None


def is_well_formed(text: bytes) -> bool:
    """Whether a text is XML that can be read."""
    parser = expat.ParserCreate()
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, ValueError, LookupError):  # not decoded, or not well-formed
        return False
    return True


def is_in_structure(text: bytes) -> bool:
    """Whether every known element stands where it belongs."""
    return next(_candidates(text), None) is None


def _candidates(text: bytes) -> Iterator[Slip]:
    """What may be meant where the tags first go wrong."""
    opened: list[tuple[str, int, int]] = []
    at = 0
    while (start := text.find(b"<", at)) >= 0:
        regular = _regular(text, at, opened[-1][0]) if opened else 0
        if regular:
            at = regular
            continue
        passed = _PASSED.match(text, start)
        if passed is None and not (opened and _misplaced("rt_info", opened[-1][0])):
            passed = _FREE.match(text, start)
        if passed is not None:
            at = passed.end()
            continue
        tag = _TAG.match(text, start)
        if tag is None or _faulty(tag[3]):
            yield from _in_tag(text, start)
            return
        name = tag[2].decode()
        if tag[1]:
            if not opened or opened[-1][0] != name:
                yield from _at_end_tag(text, tag, opened)
                return
            opened.pop()
        else:
            if opened and _misplaced(name, opened[-1][0]):
                yield from _at_start_tag(text, tag, opened)
                return
            if not tag[4]:
                opened.append((name, start, tag.end()))
        at = tag.end()


def _regular(text: bytes, start: int, parent: str) -> int:
    """Where the regular children of an element end that begin at an offset; 0 for none."""
    pattern = _REGULAR.get(parent)
    children = pattern.match(text, start) if pattern is not None else None
    if children is None or (parent == "layers" and _faulty(children["data"] or b"")):
        return 0
    return children.end()


def _misplaced(name: str, parent: str) -> bool:
    return name in _KNOWN and parent in _CHILDREN and name not in _CHILDREN[parent]


def _unclosed(text: bytes, element: tuple[str, int, int], before: int) -> Iterator[Slip]:
    """An element has no end tag, or its start tag lacks the slash."""
    name, start, end = element
    if name in _WITHOUT_TEXT:
        yield Slip(
            (Edit(end - 1, end - 1, b"/"),),
            f"<{name} …> becomes <{name} …/>",
            f"<{name}> is not closed",
            start,
        )
        return
    lead = before
    if name not in _CHILDREN:  # whatever is known stands behind it
        tags = _NAME.finditer(text, end, before)
        lead = next((t.start() for t in tags if t[2].decode("ascii", "replace") in _KNOWN), before)
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
        yield from _unclosed(text, opened[-1], tag.start())
    if opened and SequenceMatcher(None, name, opened[-1][0]).ratio() >= ALIKE:
        wrong, start, _ = opened[-1]
        if name in _KNOWN and wrong not in _KNOWN:
            edit = Edit(start + 1, start + 1 + len(wrong), name.encode())
            cause = f"<{wrong}> is closed by </{name}>"
            yield Slip((edit,), f"<{wrong}> becomes <{name}>", cause, start)
        edit = Edit(tag.start(2), tag.end(2), opened[-1][0].encode())
        change = f"</{name}> becomes </{opened[-1][0]}>"
        cause = f"</{name}> closes no element, and <{opened[-1][0]}> is not closed"
        yield Slip((edit,), change, cause, tag.start())
    if opened and name in _CHILDREN.get(opened[-1][0], ()):
        first = _first_unknown(text, opened[-1][2], tag.start()) if name not in _CHILDREN else None
        if first is not None:
            yield _opened_before(text, first.start(), name, first[2].decode("ascii", "replace"))
        edit = Edit(tag.start(), tag.end(), b"")
        yield Slip((edit,), f"</{name}> is removed", f"</{name}> closes no element", tag.start())


def _first_unknown(text: bytes, start: int, end: int) -> re.Match[bytes] | None:
    """The first tag behind the last element that is known, as `<rt_info>` has them."""
    first = None
    for match in _NAME.finditer(text, start, end):
        if match[2].decode("ascii", "replace") in _KNOWN:
            first = None
        elif first is None and not match[1]:
            first = match
    return first


def _opened_before(text: bytes, place: int, name: str, child: str) -> Slip:
    """A start tag is missing before an element."""
    lead = place
    while text[lead - 1 : lead] in (b" ", b"\t"):
        lead -= 1
    opening = f"<{name}>".encode() if name != "port" else _port_before(text, place)
    edit = Edit(lead, lead, text[lead:place] + opening + b"\n")
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
    for between in _CHILDREN[parent]:
        close = text.find(f"</{between}".encode(), tag.start())
        near = text.find(f"</{parent}".encode(), tag.start())
        if name in _CHILDREN.get(between, ()) and 0 <= close < near:
            yield _opened_before(text, tag.start(), between, name)
            return
    for depth in range(2, min(4, len(opened) + 1)):
        if not _misplaced(name, opened[-depth][0]):
            yield from _unclosed(text, opened[-1], tag.start())
            return


def _faulty(attributes: bytes) -> bool:
    """Whether an attribute is there twice, or no blank stands between two."""
    names = [match[1] for match in _ATTRIBUTE.finditer(attributes)]
    return len(set(names)) < len(names) or _NO_BLANK.search(attributes) is not None


def _in_tag(text: bytes, start: int) -> Iterator[Slip]:
    """A tag that is none: a quote is missing, or an attribute is there twice."""
    comment = _OPEN_COMMENT.match(text, start)
    if comment is not None:
        edit = Edit(start, comment.end(), b"")
        yield Slip((edit,), "<!-- is removed", "a comment is not closed", start)
        return
    line = _BROKEN.match(text, start)
    if line is None:
        return
    name = re.sub(rb"[\s/<>].*", b"", line[0][1:], flags=re.DOTALL).decode("ascii", "replace")
    seen: dict[bytes, bytes] = {}
    for match in _ATTRIBUTE.finditer(text, start, line.end()):
        attribute = match[1].decode("ascii", "replace")
        if seen.get(match[1]) == match[2]:
            edit = Edit(match.start(), match.end(), b"")
            cause = f"<{name}> has the attribute {attribute} twice"
            yield Slip((edit,), f"the second {attribute} is removed", cause, start)
        seen.setdefault(match[1], match[2])
    for match in _NO_BLANK.finditer(text, start, line.end()):
        cause = f"no blank stands between two attributes of <{name}>"
        yield Slip((Edit(match.end(), match.end(), b" "),), "a blank is added", cause, start)
    change, cause = f"a quote is added in <{name}>", f"a value in <{name}> lacks a quote"
    for match in _OPEN_VALUE.finditer(text, start, line.end()):
        yield Slip((Edit(match.end(1), match.end(1), b'"'),), change, cause, start)
    for match in _BARE_VALUE.finditer(text, start, line.end()):
        yield Slip((Edit(match.start(1), match.start(1), match[2]),), change, cause, start)
    if not line[0].endswith(b">"):
        edit = Edit(line.end(), line.end(), b">")
        yield Slip((edit,), f"<{name} is closed", f"the tag <{name} is not closed", start)
        if text[line.end() :].strip():  # otherwise the file ends here
            yield from _half(text, start, line.end(), name)


def _half(text: bytes, start: int, end: int, name: str) -> Iterator[Slip]:
    """Of a tag the rest is lost: what is left of an attribute goes, and the tag is closed."""
    kept = max((match.end() for match in _ATTRIBUTE.finditer(text, start, end)), default=end)
    inner = _NAME.match(text, end + len(text[end:]) - len(text[end:].lstrip()))
    inside = inner is not None and (
        inner[2].decode("ascii", "replace") in _CHILDREN.get(name, ())
        if not inner[1]
        else inner[2].decode("ascii", "replace") == name
    )
    close = b">" if inside else b"/>"
    change = f"<{name} is closed behind its last whole attribute"
    yield Slip((Edit(kept, end, close),), change, f"the tag <{name} is cut off", start)
