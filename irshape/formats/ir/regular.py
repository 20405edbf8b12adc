"""Reads layers and edges that are laid out as writers lay them out, without an XML parser.

The layers of a model differ in id, name and tensor names, and constants in the place of their
bytes. Without these, what a `<layer>` contains is one of a few texts, each of which is a `Form` and
is read once. This is what makes the reader fast.

Only text that is certainly well-formed is accepted, character by character: anything else is left
to the XML parser, and so is a text that anything is to be said about.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ...model.graph import NO_ATTRIBUTES, Body, EdgeTexts, Layer, Port

_NAMES = ' names="'
_OFFSET = ' offset="'


class PortForm(NamedTuple):
    """A port: `place` is its distance from the beginning of the form."""

    id: str
    precision: str | None
    place: int
    dims: tuple[int, ...]
    named: bool


class Form(NamedTuple):
    """What is between `<layer …>` and `</layer>`, but for tensor names and offsets in the .bin.

    Places are distances from the beginning, and count no text that is left out.
    """

    items: tuple[str, ...]
    offset_at: int
    """The index of the offset in the .bin among the items; -1 where the form has all items."""
    data: int
    """The place of `<data>`, -1 where there is none."""
    inputs: tuple[PortForm, ...] | None
    outputs: tuple[PortForm, ...] | None
    rt_info: tuple[int, int] | None


def read_layers(text: str, at: int, body: Body) -> int:
    """Adds the regular layers that begin at `at` to a body; returns where they end.

    text: the file, a character a byte.
    """
    layers, path = body.layers, body.path
    match = _LAYER.match
    while head := match(text, at):
        begun = head.end()
        end = text.find("</layer>", begun)
        if end < 0:
            return at
        pieces = text[begun:end].split(_NAMES)
        names: list[str] = []
        for index in range(1, len(pieces)):
            name, _, pieces[index] = pieces[index].partition('"')
            if not name.isprintable() or not name.isascii() or "<" in name or "&" in name:
                return at
            names.append(name)
        id, name, type, version, output_names = head.groups()
        if type == "Const":
            before, _, behind = pieces[0].partition(_OFFSET)
            offset, _, behind = behind.partition('"')
            pieces[:1] = before, behind
        else:
            offset = ""
        form = (form_of if end - begun < _SHORT else _read_form)(type == "Const", *pieces)
        if (
            form is None
            or not (offset.isdecimal() if form.offset_at >= 0 else not offset)
            or (output_names is not None and type != "Result")
        ):
            return at
        layer = Layer(id, name, type, version, head.start(1) - len('<layer id="'), path)
        layer.output_names = output_names
        _fill(layer, form, begun, offset, names)
        layers.append(layer)
        at = end + len("</layer>")
    return at


def _fill(layer: Layer, form: Form, begun: int, offset: str, names: list[str]) -> None:
    """Gives a layer what its form says. names: the texts that the form leaves out, in order."""
    items, offset_at, data, inputs, outputs, rt_info = form
    if offset_at >= 0:
        items = (*items[:offset_at], offset, *items[offset_at + 1 :])
    layer.items = items
    if data >= 0:
        layer.data_offset = begun + data
    begun += len(offset)
    if rt_info is not None:
        layer.rt_info_span = (begun + rt_info[0], begun + rt_info[1])
    if inputs is not None:
        layer.inputs = [
            Port(id, precision, None, begun + place, dims)
            for id, precision, place, dims, _ in inputs
        ]
    if outputs is not None:
        left = iter(names)
        layer.outputs = ports = []
        for id, precision, place, dims, named in outputs:
            name = next(left) if named else None
            ports.append(Port(id, precision, name, begun + place, dims))
            if name is not None:
                begun += len(name)


def _read_form(constant: bool, *pieces: str) -> Form | None:
    """The form of a text; None where it is not laid out as writers lay it out.

    pieces: the text, cut where tensor names are left out; of a constant first where its offset is.
    """
    text = pieces[0]
    if constant:
        text += _OFFSET + '"' + pieces[1]
        pieces = pieces[1:]
    text = (_NAMES + '"').join((text, *pieces[1:]))
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    attributes, rt_info, incoming, outgoing = match.group("data", "rt_info", "input", "output")
    items: tuple[str, ...] = NO_ATTRIBUTES
    if attributes:
        items = tuple(part for pair in _ATTRIBUTE.findall(attributes) for part in pair)
    inputs = None if incoming is None else _ports(text, *match.span("input"))
    outputs = None if outgoing is None else _ports(text, *match.span("output"))
    named = sum(port.named for port in outputs or ())
    if (
        len(set(items[::2])) * 2 != len(items)
        or named != len(pieces) - 1
        or any(port.named for port in inputs or ())
        or (rt_info is not None and not _distinct(rt_info))
    ):
        return None
    offset_at = -1
    if constant:
        if "offset" not in items[::2]:
            return None
        offset_at = items[::2].index("offset") * 2 + 1
    return Form(
        items,
        offset_at,
        match.start("data") - len("<data") if attributes is not None else -1,
        inputs,
        outputs,
        None if rt_info is None else match.span("rt_info"),
    )


form_of = lru_cache(maxsize=4096)(_read_form)
"""The same, remembered from one model to the next: a form depends on nothing but its text."""
_SHORT = 4096
"""Longer texts are not remembered, which bounds the memory that this takes."""


def _ports(text: str, start: int, end: int) -> tuple[PortForm, ...]:
    return tuple(
        PortForm(
            match[1],
            match[3],
            match.start(),
            tuple(map(int, _SIZE.findall(match[5]))) if match[5] else (),
            match[2] is not None or match[4] is not None,
        )
        for match in _PORT.finditer(text, start, end)
    )


def _distinct(rt_info: str) -> bool:
    """Whether no element of an <rt_info> has an attribute twice."""
    return all(
        len(names) == len(set(names))
        for element in rt_info.split("<attribute")
        if (names := [name for name, _ in _ATTRIBUTE.findall(element)])
    )


def read_edges(text: str, at: int, body: Body, data: bytes) -> int:
    """Gives a body the edges that begin at `at`; returns where they end.

    Where one of them is irregular, none is read.
    """
    edges = _EDGES.match(text, at)
    if edges is None:
        return at
    end = edges.end()
    parts = text[at:end].split('"')
    body.edges = EdgeTexts(parts[1::8], parts[3::8], parts[5::8], parts[7::8], data, at, end)
    return end


# The texts below are ASCII, and no `"`, `<` or `&` is in a value. A repetition gives nothing back,
# so that a match takes linear time.
_SPACE = r"[ \t\r\n]*+"
_VALUE = r"[ !#-%'-;=-~]*+"
_PAIR = rf' [A-Za-z_][A-Za-z0-9_.-]*+="{_VALUE}"'
_ID = r"(?:0|[1-9][0-9]{0,17}+)"
_DIM = r"<dim>(?:-1|[0-9]{1,18}+)</dim>"
_LAYER = re.compile(
    rf'{_SPACE}<layer id="({_ID})" name="({_VALUE})" type="({_VALUE})" version="({_VALUE})"'
    rf'(?: output_names="({_VALUE})")?+ ?+>'
)
_PORT_TEXT = (
    rf'<port id="({_ID})"( names="")?+(?: precision="(\w++)")?+( names="")?+ ?+'
    rf"(?:/>|>((?:{_SPACE}{_DIM})*+){_SPACE}</port>)"
)
_PORT = re.compile(_PORT_TEXT, re.ASCII)
_PORTS = rf"(?:{_SPACE}{_PORT_TEXT})*+{_SPACE}"
_FORM = re.compile(
    rf"{_SPACE}(?:<data(?P<data>(?:{_PAIR})*+) ?+/>{_SPACE})?+"
    rf"(?:(?P<rt_info><rt_info>(?:{_SPACE}<attribute(?:{_PAIR})*+ ?+/>)*+{_SPACE}</rt_info>)"
    rf"{_SPACE})?+"
    rf"(?:<input>(?P<input>{_PORTS})</input>{_SPACE})?+"
    rf"(?:<output>(?P<output>{_PORTS})</output>{_SPACE})?+",
    re.ASCII,
)
_ATTRIBUTE = re.compile(rf' ([^ ="]++)="({_VALUE})"')
_SIZE = re.compile(r"-?[0-9]++")
_N = "[0-9]++"
_EDGE = rf'<edge from-layer="{_N}" from-port="{_N}" to-layer="{_N}" to-port="{_N}" ?+/>'
_EDGES = re.compile(rf"(?:{_SPACE}{_EDGE})*+(?={_SPACE}</edges>)")
