"""Parses the content of layers in OpenVINO's usual layout, from after `<layer …>` to `</layer>`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ...model.graph import NO_ATTRIBUTES, Layer
from ...model.ports import Port

NAMES = ' names="'
OFFSET = ' offset="'

OFFSET_LEFT_OUT = OFFSET + '"'

SHORT = 4096
"""The maximum number of characters in a cached content; this limits the memory of the cache."""


class PortForm(NamedTuple):
    """A port in the content of a layer, without tensor names. `place`: its position."""

    id: str
    precision: str | None
    place: int
    dims: tuple[int, ...]
    named: bool
    """Whether the port in the file has tensor names."""


class Form(NamedTuple):
    """The content of a layer, after its tensor names and its offset in the .bin were cut out.

    All positions, including those of ports, are positions in the text that is left.
    """

    items: tuple[str, ...]
    offset_at: int
    """The index in `items` of the layer's offset in the .bin; -1 if the layer has no offset."""
    data: int
    """The position of `<data>`; -1 if the layer has no `<data>`."""
    inputs: tuple[PortForm, ...]
    outputs: tuple[PortForm, ...]
    rt_info: tuple[int, int] | None

    def fill(self, layer: Layer, begun: int, offset: str, names: list[str]) -> None:
        """Sets the attributes and ports of a layer.

        begun: where the content of the layer begins in the file. offset, names: what was cut out,
        the layer's offset in the .bin and its tensor names.
        """
        items, offset_at, data, inputs, outputs, rt_info = self
        if offset_at >= 0:
            items = (*items[:offset_at], offset, *items[offset_at + 1 :])
        layer.items = items
        if data >= 0:
            layer.data_offset = begun + data
        begun += len(offset)
        if rt_info is not None:
            layer.rt_info_span = (begun + rt_info[0], begun + rt_info[1])
        layer.inputs = [
            Port(id, precision, None, begun + place, dims)
            for id, precision, place, dims, _ in inputs
        ]
        layer.outputs = ports = []
        left = iter(names)
        for id, precision, place, dims, named in outputs:
            tensor = next(left) if named else None
            ports.append(Port(id, precision, tensor, begun + place, dims))
            begun += len(tensor or "")


def form_of(text: str) -> Form | None:
    """Parses the content of a layer, after tensor names and the offset in the .bin were cut out.

    Returns None if the content is not in the usual layout.
    """
    return _known_form(text) if len(text) < SHORT else _read_form(text)


def _read_form(text: str) -> Form | None:
    match = FORM.fullmatch(text)
    if match is None:
        return None
    attributes, rt_info = match.group("data", "rt_info")
    items: tuple[str, ...] = NO_ATTRIBUTES
    if attributes:
        items = tuple([part for pair in ATTRIBUTE.findall(attributes) for part in pair])
    inputs, outputs = _ports(text, match, "input"), _ports(text, match, "output")
    if (
        len(set(items[::2])) * 2 != len(items)
        or sum([port.named for port in outputs]) != text.count(NAMES)
        or (rt_info is not None and not _distinct(rt_info))
    ):
        return None
    offset_at = -1
    if OFFSET_LEFT_OUT in text and "offset" in items[::2]:
        offset_at = items[::2].index("offset") * 2 + 1
    return Form(
        items,
        offset_at,
        match.start("data") - len("<data") if attributes is not None else -1,
        inputs,
        outputs,
        None if rt_info is None else match.span("rt_info"),
    )


_known_form = lru_cache(maxsize=4096)(_read_form)


def _ports(text: str, form: re.Match[str], side: str) -> tuple[PortForm, ...]:
    """Returns the input ports or the output ports. `side`: `input` or `output`."""
    ports: list[PortForm] = []
    start, end = form.span(side)
    for id, before, precision, after, sizes in _PORT.findall(text, max(start, 0), max(end, 0)):
        start = text.find("<port ", start)
        named = bool(before or after)
        ports.append(PortForm(id, precision or None, start, _sizes(sizes), named))
        start += 1
    return tuple(ports)


def _distinct(rt_info: str) -> bool:
    """Whether no element in an `<rt_info>` has an attribute twice."""
    return all(
        len(names) == len(set(names))
        for element in rt_info.split("<attribute")
        if (names := [name for name, _ in ATTRIBUTE.findall(element)])
    )


@lru_cache(maxsize=16384)
def _sizes(text: str) -> tuple[int, ...]:
    """Returns the dimensions in the content of a `<port>`."""
    return tuple(map(int, _SIZE.findall(text)))


# The texts below are ASCII, and no `"`, `<` or `&` is in a value. A repetition gives nothing back,
# so that a match takes linear time.
SPACE = r"[ \t\r\n]*+"
VALUE = r"[ !#-%'-;=-~]*+"
ID = r"(?:0|[1-9][0-9]{0,17}+)"
PAIR = rf' [A-Za-z_][A-Za-z0-9_.-]*+="{VALUE}"'
_DIM = r"<dim>(?:-1|[0-9]{1,18}+)</dim>"
_PORT_TEXT = (
    rf'<port id="({ID})"( names="")?+(?: precision="(\w++)")?+( names="")?+ ?+'
    rf"(?:/>|>((?:{SPACE}{_DIM})*+){SPACE}</port>)"
)
_PORT = re.compile(_PORT_TEXT, re.ASCII)
_PORTS = rf"(?:{SPACE}{_PORT_TEXT})++{SPACE}"
FORM = re.compile(
    rf"{SPACE}(?:<data(?P<data>(?:{PAIR})*+) ?+/>{SPACE})?+"
    rf"(?:(?P<rt_info><rt_info>(?:{SPACE}<attribute(?:{PAIR})*+ ?+/>)*+{SPACE}</rt_info>)"
    rf"{SPACE})?+"
    rf"(?:<input>(?P<input>{_PORTS})</input>{SPACE})?+"
    rf"(?:<output>(?P<output>{_PORTS})</output>{SPACE})?+",
    re.ASCII,
)
ATTRIBUTE = re.compile(rf' ([^ ="]++)="({VALUE})"')
_SIZE = re.compile(r"-?[0-9]++")
