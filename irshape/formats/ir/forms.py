"""Parses the content of regular layers, between `<layer …>` and `</layer>`.

Texts that differ only in their digits share one `Outline`: the text with a 1 for every digit. The
outline has the place of every part, so that the next text with this outline is sliced instead of
parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
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
    return _form_of(text) if len(text) < SHORT else read_form(text)


@lru_cache(maxsize=4096)
def _form_of(text: str) -> Form | None:
    outline = _outline(text.encode("latin-1").translate(_ONES))
    return (None if outline is None else outline.form_of(text)) or read_form(text)


def read_form(text: str) -> Form | None:
    """Returns what `form_of` returns, by parsing the whole text with a regular expression."""
    match = FORM.fullmatch(text)
    if match is None:
        return None
    attributes, rt_info = match.group("data", "rt_info")
    items: tuple[str, ...] = NO_ATTRIBUTES
    if attributes:
        items = tuple(part for pair in ATTRIBUTE.findall(attributes) for part in pair)
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
        PortHeads(
            tuple(port[1] for port in inputs),
            tuple(port[3] for port in inputs),
            tuple(port[1] for port in outputs),
            tuple(port[3] for port in outputs),
            tuple(port.start() for port in ports),
            tuple(map(_has_names, ports)),
        ),
        tuple(_sizes(tuple(_SIZE.findall(port[5]))) if port[5] else () for port in ports),
        None if rt_info is None else match.span("rt_info"),
    )


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


class Outline(NamedTuple):
    """Says how a text with digits in certain places is sliced into its form."""

    form: Form
    """The form of the outline itself."""
    cut: Callable[[str], tuple[str, ...]]
    """Cuts the parts with digits out of a text: first ids and precisions of ports, then the
    rest."""
    few: int
    """The number of ids and precisions."""
    items: tuple[tuple[int, int], ...]
    """Which items are among the parts: their indices, and their positions in the parts."""
    dims: tuple[slice, ...]
    """The positions of each port's dimensions in the parts."""
    dynamic: bool
    """Whether any dimension has a minus sign."""
    heads: dict[tuple[str, ...], PortHeads]
    """The heads of the ports by their ids and precisions. They nearly always repeat."""

    def form_of(self, text: str) -> Form | None:
        """Returns what `read_form` returns for a text of this outline; None if `read_form` must
        decide."""
        form, cut, few, changing, dims, dynamic, known = self
        parts = cut(text)
        items = form.items
        if changing:
            changed = list(items)
            for index, at in changing:
                changed[index] = parts[at]
            items = tuple(changed)
        heads = known.get(parts[:few]) or self._heads(parts[:few])
        sizes = tuple([_sizes(parts[each]) for each in dims])
        if dynamic and any(size < -1 for port in sizes for size in port):
            return None
        return Form(items, form.offset_at, form.data, heads, sizes, form.rt_info)

    def _heads(self, parts: tuple[str, ...]) -> PortHeads:
        """Returns the heads of ports with these ids and precisions."""
        left = iter(parts)
        known = self.form.heads
        heads = PortHeads(
            tuple([next(left) for _ in known.input_ids]),
            tuple([None if text is None else next(left) for text in known.input_precisions]),
            tuple([next(left) for _ in known.output_ids]),
            tuple([None if text is None else next(left) for text in known.output_precisions]),
            known.places,
            known.named,
        )
        if len(self.heads) == _MOST_HEADS:
            self.heads.clear()
        self.heads[parts] = heads
        return heads


_MOST_HEADS = 16


@lru_cache(maxsize=1024)
def _outline(ones: bytes) -> Outline | None:
    """Returns the outline of all texts that have a digit wherever `ones` has a 1."""
    text = ones.decode("latin-1")
    match = FORM.fullmatch(text)
    form = read_form(text)
    if match is None or form is None:
        return None
    if any(len(id) > 1 for id in form.heads.input_ids + form.heads.output_ids):
        return None  # an id of several digits may begin with a zero
    sides = [_matches(text, match, side) for side in ("input", "output")]
    slices = [
        slice(*port.span(group))
        for side in sides
        for group in (1, 3)
        for port in side
        if port[group] is not None
    ]
    few = len(slices)
    items: list[tuple[int, int]] = []
    if form.items:
        places = [
            match.start("data") + each.start(group)
            for each in ATTRIBUTE.finditer(match["data"])
            for group in (1, 2)
        ]
        for index, (item, place) in enumerate(zip(form.items, places, strict=True)):
            if "1" in item:
                items.append((index, len(slices)))
                slices.append(slice(place, place + len(item)))
    dims = tuple([_dims(text, port, slices) for side in sides for port in side])
    nothing = slice(0, 0)  # for a single slice, `itemgetter` returns no tuple
    return Outline(
        form,
        itemgetter(*slices, nothing, nothing),
        few,
        tuple(items),
        dims,
        "<dim>-" in text,
        {},
    )


def _dims(text: str, port: re.Match[str], slices: list[slice]) -> slice:
    """Appends the places of a port's dimensions to `slices`. Returns their positions in it."""
    first = len(slices)
    if port[5]:
        slices += [slice(*size.span()) for size in _SIZE.finditer(text, *port.span(5))]
    return slice(first, len(slices))


@lru_cache(maxsize=4096)
def _sizes(texts: tuple[str, ...]) -> tuple[int, ...]:
    """Returns the numbers in texts. Equal results are stored once."""
    return tuple(map(int, texts))


_ONES = bytes.maketrans(b"0123456789", b"1111111111")

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
