"""Single faults in the text of an IR that leave an element, a tag or a word in the wrong place.

An end tag stands too early or too late, an element in a comment or in the wrong parent, text where
only elements belong, and characters that look like others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from slip_faults import lines
from text_faults import Slip, TextFault, matches

MISPLACEMENTS: dict[str, TextFault] = {}
_LEAF = r"(?s)<layer [^<>]*>(?:(?!</?layer).)*?</layer>"
_TAGS = "layer|port|dim|edge|data|input|output"
_HEADER = 200
"""So many bytes from the beginning are left alone."""
_LOOKALIKES = dict(zip("ACEHKMOPTXaceopxy", "АСЕНКМОРТХасеорху", strict=True))


def misplacement(planted: TextFault) -> TextFault:
    MISPLACEMENTS[planted.__name__.replace("_", "-")] = planted
    return planted


def wrapped(pattern: str, data: bytes) -> Iterator[Slip]:
    """What matches stands in a comment."""
    for match in matches(pattern, data):
        yield match.start(), match.end(), b"<!-- " + match[0] + b" -->"


def exchanged(pattern: str, data: bytes) -> Iterator[Slip]:
    """The two groups of a match stand in each other's place."""
    for match in matches(pattern, data):
        yield match.start(), match.end(), match[2] + match[1]


@misplacement
def layer_in_a_comment(data: bytes) -> Iterator[Slip]:
    yield from wrapped(_LEAF, data)


@misplacement
def edge_in_a_comment(data: bytes) -> Iterator[Slip]:
    yield from wrapped("<edge [^<>]*/>", data)


@misplacement
def port_in_a_comment(data: bytes) -> Iterator[Slip]:
    yield from wrapped(r"<port [^<>/]*>(?:\s*<dim>[^<>]*</dim>)*\s*</port>", data)


@misplacement
def layer_that_ends_early(data: bytes) -> Iterator[Slip]:
    """The end tag of a layer stands before its `<output>`."""
    for match in matches(_LEAF, data):
        output = match[0].find(b"<output>")
        if output > 0:
            rest = match[0][output : -len(b"</layer>")]
            yield match.start(), match.end(), match[0][:output] + b"</layer>\n" + rest


@misplacement
def input_that_ends_early(data: bytes) -> Iterator[Slip]:
    yield from exchanged(r"(?s)(<port (?:(?!<port).)*</port>\s*)(</input>)", data)


@misplacement
def port_that_ends_early(data: bytes) -> Iterator[Slip]:
    yield from exchanged(r"(<dim>[^<>]*</dim>\s*)(</port>)", data)


@misplacement
def layer_that_ends_late(data: bytes) -> Iterator[Slip]:
    """The end tag of a layer stands behind the next layer."""
    yield from exchanged(r"(?s)(</layer>)(\s*<layer (?:(?!</?layer).)*?</layer>)", data)


@misplacement
def data_in_the_input(data: bytes) -> Iterator[Slip]:
    yield from exchanged(r"(<data [^<>]*/>\s*)(<input>)", data)


@misplacement
def edge_among_the_layers(data: bytes) -> Iterator[Slip]:
    for match in matches(r"\s*<edge [^<>]*/>", data):
        at = data.rfind(b"</layers>", 0, match.start())
        yield at, match.end(), match[0] + data[at : match.start()]


@misplacement
def other_quote_at_the_end(data: bytes) -> Iterator[Slip]:
    for match in matches('="[^"<>]*(")', data):
        if match.start() > _HEADER:
            yield match.start(1), match.end(1), b"'"


@misplacement
def slash_too_many(data: bytes) -> Iterator[Slip]:
    for match in matches(r"<(?:layer|port|input|output)\b[^<>/]*(>)", data):
        yield match.start(1), match.end(1), b"/>"


@misplacement
def lost_opening_bracket(data: bytes) -> Iterator[Slip]:
    for match in matches(rf"</?(?:{_TAGS})\b", data):
        yield match.start(), match.start() + 1, b""


@misplacement
def lost_closing_bracket(data: bytes) -> Iterator[Slip]:
    for match in matches(rf"</?(?:{_TAGS})\b[^<>]*(>)", data):
        yield match.start(1), match.end(1), b""


@misplacement
def lost_equals_sign(data: bytes) -> Iterator[Slip]:
    for match in matches('(=)"[^"<>]*"', data):
        if match.start() > _HEADER:
            yield match.start(1), match.end(1), b""


@misplacement
def word_between_elements(data: bytes) -> Iterator[Slip]:
    for match in matches(r">(\s*\n\s*)<", data):
        if match.start() > _HEADER:
            yield match.end(1), match.end(1), b"todo\n"


@misplacement
def line_number_before_a_line(data: bytes) -> Iterator[Slip]:
    for number, (start, _) in enumerate(lines(data), 3):
        yield start, start, b"%d: " % number


@misplacement
def sign_of_a_diff(data: bytes) -> Iterator[Slip]:
    for number, (start, _) in enumerate(lines(data)):
        yield start, start, b"+" if number % 2 else b"-"


@misplacement
def conflict_with_both_sides(data: bytes) -> Iterator[Slip]:
    """One side of a merge conflict is the original, the other has another number."""
    for index, (start, end) in enumerate(lines(data)):
        line = data[start:end]
        number = re.search(rb"\d+", line)
        if number is not None:
            other = b"%d" % (int(number[0]) + 1)
            sides = [line, line[: number.start()] + other + line[number.end() :]]
            ours, theirs = sides if index % 2 else sides[::-1]
            conflict = b"<<<<<<< HEAD\n" + ours + b"=======\n" + theirs + b">>>>>>> other\n"
            yield start, end, conflict


@misplacement
def escaped_bracket(data: bytes) -> Iterator[Slip]:
    for match in matches(rf"</?(?:{_TAGS})\b", data):
        yield match.start(), match.start() + 1, b"&lt;"


@misplacement
def unknown_entity(data: bytes) -> Iterator[Slip]:
    pattern = r'(?<=<dim>)|(?<=")(?=[\w/.]+" (?:type|version|precision)=)'
    for match in matches(pattern, data):
        yield match.start(), match.start(), b"&nbsp;"


@misplacement
def hard_blank_between_attributes(data: bytes) -> Iterator[Slip]:
    for match in matches(r'(?<=") (?=[\w-]+=")', data):
        if match.start() > _HEADER:
            yield match.start(), match.end(), "\u00a0".encode()


@misplacement
def zero_width_blank(data: bytes) -> Iterator[Slip]:
    pattern = r'(?:<dim>|(?:id|type|version|shape|from-layer|to-port|precision)=")'
    for match in matches(pattern, data):
        if match.start() > _HEADER:
            yield match.end(), match.end(), "\u200b".encode()


@misplacement
def lookalike_letter(data: bytes) -> Iterator[Slip]:
    for match in matches(rf' type="[^"]*?([{"".join(_LOOKALIKES)}])', data):
        yield match.start(1), match.end(1), _LOOKALIKES[match[1].decode()].encode()


@misplacement
def text_before_the_declaration(data: bytes) -> Iterator[Slip]:
    for text in (b"\n", b" ", b"\xef\xbb\xbf\xef\xbb\xbf"):
        yield 0, 0, text


@misplacement
def text_behind_the_end(data: bytes) -> Iterator[Slip]:
    for text in (b"</net>", b"\n```\n", b"\x1a", b"\nend of file", b"\n<layer>"):
        yield len(data), len(data), text


@misplacement
def line_pasted_over_the_next(data: bytes) -> Iterator[Slip]:
    for (start, middle), (_, end) in pairwise(lines(data)):
        if data[start:middle].strip() != data[middle:end].strip():
            yield middle, end, data[start:middle]


@misplacement
def line_broken_in_a_number(data: bytes) -> Iterator[Slip]:
    pattern = r'(?:<dim>|id="|from-layer="|to-layer="|offset="|size=")\d()\d+["<]'
    for match in matches(pattern, data):
        yield match.start(1), match.start(1), b"\n"


_NOTATIONS = {
    "bare-value": (r'="([\w.]+)"', r"=\1"),
    "comma-between-attributes": (r'(?<=") (?=[\w-]+=")', ", "),
    "colon-for-equals": ('(?<=[a-z])=(?=")', ":"),
    "escaped-quotes": ('="([^"<>]*)"', r'=\\"\1\\"'),
    "doubled-quotes": ('="([^"<>]+)"', r'=""\1""'),
    "entity-quotes": ('="([^"<>]+)"', r"=&quot;\1&quot;"),
    "quote-in-a-value": (r'((?:name|names|type)="\w)(\w+")', r'\1"\2'),
    "name-of-a-tag-twice": ("<(port|edge|data|layer) ", r"<\1 \1 "),
    "end-tag-without-slash": ("</(dim|port|input|output|layer)>", r"<\1>"),
    "section-twice": (r"(?s)(<(input|output)>.*?</\2>\s*)", r"\1\1"),
    "tag-of-another-language": ("(?=<(?:layer|edge) )", "<br>"),
    "declaration-in-the-middle": ("(?=<(?:layer|edge) )", '<?xml version="1.0"?>'),
    "open-section": ("(?=<(?:layer|edge|port) )", "<![CDATA["),
    "two-values": (' (id|to-port|version|from-layer)="([^"]*)"', r' \1="\2" \1="7"'),
    "double-bracket": (r"(</?dim)>", r"\1>>"),
}
"""What is found, and what it becomes."""


def _respelt(pattern: str, instead: str) -> TextFault:
    def planted(data: bytes) -> Iterator[Slip]:
        for match in matches(pattern, data):
            if match.start() > _HEADER:
                yield match.start(), match.end(), match.expand(instead.encode())

    return planted


MISPLACEMENTS.update((kind, _respelt(*row)) for kind, row in _NOTATIONS.items())
