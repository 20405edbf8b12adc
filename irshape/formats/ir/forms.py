"""Parses the content of regular layers, between `<layer …>` and `</layer>`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ...model.graph import NO_ATTRIBUTES, Layer
from ...model.ports import PortDims, PortHeads

NAMES = ' names="'
OFFSET = ' offset="'

OFFSET_LEFT_OUT = OFFSET + '"'

SHORT = 4096
"""Longer texts are not cached, which bounds the memory of the cache."""


class Form(NamedTuple):
    """The content of a layer, except for tensor names and offsets in the .bin.

    Places are distances from the start of the text, and do not count text that is left out.
    """

    items: tuple[str, ...]
    offset_at: int
    """The index in `items` of the offset in the .bin; -1 if the form has all items."""
    data: int
    """The place of `<data>`; -1 if there is none."""
    heads: PortHeads
    dims: PortDims
    rt_info: tuple[int, int] | None

    def fill(self, layer: Layer, begun: int, offset: str, names: list[str]) -> None:
        """Gives a layer the content of the form.

        begun: where the text begins in the file. offset, names: what the form leaves out, in order.
        """
        items, offset_at, data, heads, dims, rt_info = self
        if offset_at >= 0:
            items = (*items[:offset_at], offset, *items[offset_at + 1 :])
        layer.items = items
        if data >= 0:
            layer.data_offset = begun + data
        begun += len(offset)
        if rt_info is not None:
            layer.rt_info_span = (begun + rt_info[0], begun + rt_info[1])
        layer.leave_ports(heads, dims, begun, names)


def form_of(text: str) -> Form | None:
    """Parses a text in which the names and the offset are left empty.

    Returns None if the text is not in the usual layout.
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
    inputs, outputs = (_matches(text, match, side) for side in ("input", "output"))
    ports = inputs + outputs
    if (
        len(set(items[::2])) * 2 != len(items)
        or sum(map(_has_names, outputs)) != text.count(NAMES)
        or any(map(_has_names, inputs))
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
        _heads(
            tuple([port[1] for port in inputs]),
            tuple([port[3] for port in inputs]),
            tuple([port[1] for port in outputs]),
            tuple([port[3] for port in outputs]),
            tuple([port.start() for port in ports]),
            tuple(map(_has_names, ports)),
        ),
        tuple([_sizes(port[5]) if port[5] else () for port in ports]),
        None if rt_info is None else match.span("rt_info"),
    )


_known_form = lru_cache(maxsize=4096)(_read_form)
_heads = lru_cache(maxsize=1024)(PortHeads)


def _matches(text: str, form: re.Match[str], side: str) -> list[re.Match[str]]:
    """Returns the ports on one side."""
    return [] if form[side] is None else list(_PORT.finditer(text, *form.span(side)))


def _has_names(port: re.Match[str]) -> bool:
    return port[2] is not None or port[4] is not None


def _distinct(rt_info: str) -> bool:
    """Returns whether no element in an <rt_info> repeats an attribute."""
    return all(
        len(names) == len(set(names))
        for element in rt_info.split("<attribute")
        if (names := [name for name, _ in ATTRIBUTE.findall(element)])
    )


@lru_cache(maxsize=16384)
def _sizes(text: str) -> tuple[int, ...]:
    """Returns the dimensions in the content of a port."""
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
