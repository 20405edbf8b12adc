"""The forms of regular layers: what is between `<layer …>` and `</layer>`, read once for each text.

Texts that differ in their digits alone have one `Outline`: the text with a 1 for every digit. It
says where everything stands, so that the next such text is cut instead of read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from ...model.graph import NO_ATTRIBUTES, Layer, Port

NAMES = ' names="'
OFFSET = ' offset="'

OFFSET_LEFT_OUT = OFFSET + '"'

SHORT = 4096
"""Nothing of a longer text is remembered, which bounds the memory that this takes."""

PortForm = tuple[str, str | None, int, tuple[int, ...], bool]
"""A port: its id, its precision, its place, its dimensions, and whether it has names."""


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

    def fill(self, layer: Layer, text: str, begun: int, offset: str, names: list[str]) -> None:
        """Gives a layer what the form says.

        begun: where the text begins in the file. offset, names: what it leaves out, in order.
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
                if name == layer.name:
                    name = layer.name  # which is kept once
                ports.append(Port(id, precision, name, begun + place, dims))
                if name is not None:
                    begun += len(name)


def form_of(text: str) -> Form | Outline | None:
    """What a text says that has its places of names and of an offset left empty.

    None where it is not laid out as writers lay it out. A text that comes again and again has a
    form, which is remembered from one model to the next. For any other an outline will do: where
    hardly any layer comes again, forms would only be made to push each other out.
    """
    if text in FORMS:
        return FORMS[text]
    if len(text) >= SHORT:
        return read_form(text)
    outline = outline_of(text)
    if outline is not None and not outline.dynamic:
        mark = hash(text)
        times = _times.get(mark, 0)
        if times < _FEW_TIMES:
            if len(_times) == _MOST_FORMS:
                _times.clear()
            _times[mark] = times + 1
            return outline
    form = (None if outline is None else outline.form_of(text)) or read_form(text)
    if len(FORMS) == _MOST_FORMS:
        FORMS.clear()
    FORMS[text] = form
    return form


FORMS: dict[str, Form | None] = {}
"""Those that are remembered."""
_MOST_FORMS = 4096
_FEW_TIMES = 2
_times: dict[int, int] = {}
"""How often texts have come, by their hashes."""


def read_form(text: str) -> Form | None:
    """The same, read from beginning to end."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    attributes, rt_info, incoming, outgoing = match.group("data", "rt_info", "input", "output")
    items: tuple[str, ...] = NO_ATTRIBUTES
    if attributes:
        items = tuple(part for pair in ATTRIBUTE.findall(attributes) for part in pair)
    inputs = None if incoming is None else tuple(_ports(text, *match.span("input")))
    outputs = None if outgoing is None else tuple(_ports(text, *match.span("output")))
    if (
        len(set(items[::2])) * 2 != len(items)
        or sum(named for *_, named in outputs or ()) != text.count(NAMES)
        or any(named for *_, named in inputs or ())
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


def _ports(text: str, start: int, end: int) -> Iterator[PortForm]:
    for match in _PORT.finditer(text, start, end):
        dims = _sizes(tuple(_SIZE.findall(match[5]))) if match[5] else ()
        named = match[2] is not None or match[4] is not None
        yield match[1], match[3], match.start(), dims, named


def _distinct(rt_info: str) -> bool:
    """Whether no element of an <rt_info> has an attribute twice."""
    return all(
        len(names) == len(set(names))
        for element in rt_info.split("<attribute")
        if (names := [name for name, _ in ATTRIBUTE.findall(element)])
    )


PortOutline = tuple[int, int, int, slice, bool]
"""A port: where its id, its precision and its dimensions are among the parts; its place, and
whether it has names."""


class Outline(NamedTuple):
    """How a text with digits in certain places is cut into its form."""

    form: Form
    """That of the outline itself."""
    offset_at: int
    """The same as that of the form."""
    cut: Callable[[str], tuple[str, ...]]
    """Cuts out the parts of a text that have digits."""
    items: tuple[tuple[int, int], ...]
    """The items that are among the parts: their indices, and where they are there."""
    inputs: tuple[PortOutline, ...] | None
    outputs: tuple[PortOutline, ...] | None
    dynamic: bool
    """Whether some dimension has a minus."""

    def fill(self, layer: Layer, text: str, begun: int, offset: str, names: list[str]) -> None:
        """Gives a layer what the form of a text of this outline says.

        To make that form first takes a tenth longer to read a file of layers that never repeat.
        """
        form, offset_at, cut, _, inputs, outputs, _ = self
        parts: tuple[Any, ...] = (*cut(text), None)
        items = self._items(parts)
        if offset_at >= 0:
            items = (*items[:offset_at], offset, *items[offset_at + 1 :])
        layer.items = items
        if form.data >= 0:
            layer.data_offset = begun + form.data
        begun += len(offset)
        if form.rt_info is not None:
            layer.rt_info_span = (begun + form.rt_info[0], begun + form.rt_info[1])
        if inputs is not None:
            layer.inputs = [
                Port(parts[id], parts[precision], None, begun + place, _sizes(parts[dims]))
                for id, precision, place, dims, _ in inputs
            ]
        if outputs is not None:
            left = iter(names)
            layer.outputs = ports = []
            for id, precision, place, dims, named in outputs:
                name = next(left) if named else None
                if name == layer.name:
                    name = layer.name  # which is kept once
                port = Port(parts[id], parts[precision], name, begun + place, _sizes(parts[dims]))
                ports.append(port)
                if name is not None:
                    begun += len(name)

    def form_of(self, text: str) -> Form | None:
        """The same as `read_form` of a text of this outline; None where that has to be asked."""
        form, offset_at, cut, _, inputs, outputs, dynamic = self
        parts: tuple[Any, ...] = (*cut(text), None)
        read = Form(
            self._items(parts),
            offset_at,
            form.data,
            None if inputs is None else _ports_from(parts, inputs),
            None if outputs is None else _ports_from(parts, outputs),
            form.rt_info,
        )
        if dynamic and any(
            dim < -1 for port in (*(read.inputs or ()), *(read.outputs or ())) for dim in port[3]
        ):
            return None
        return read

    def _items(self, parts: tuple[Any, ...]) -> tuple[str, ...]:
        """The items of the text that has these parts."""
        items = self.form.items
        if not self.items:
            return items
        changed = list(items)
        for index, at in self.items:
            changed[index] = parts[at]
        return tuple(changed)


def _ports_from(parts: tuple[Any, ...], outlines: tuple[PortOutline, ...]) -> tuple[PortForm, ...]:
    return tuple(
        [
            (parts[id], parts[precision], place, _sizes(parts[dims]), named)
            for id, precision, place, dims, named in outlines
        ]
    )


def outline_of(text: str) -> Outline | None:
    """The outline of a text; None for one that has to be read."""
    return _outline(text.encode("latin-1").translate(_ONES))


@lru_cache(maxsize=1024)
def _outline(ones: bytes) -> Outline | None:
    """The outline of all texts that have a digit wherever this one has a 1."""
    text = ones.decode("latin-1")
    match = _FORM.fullmatch(text)
    form = read_form(text)
    if match is None or form is None:
        return None
    slices: list[slice] = []
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
    inputs, outputs = (_port_outlines(text, match.span(side), slices) for side in _SIDES)
    if any(len(port[0]) > 1 for port in (*(form.inputs or ()), *(form.outputs or ()))):
        return None  # an id of several digits may begin with a zero
    nothing = slice(0, 0)  # of one slice alone, `itemgetter` makes no tuple
    return Outline(
        form,
        form.offset_at,
        itemgetter(*slices, nothing, nothing),
        tuple(items),
        inputs,
        outputs,
        "<dim>-" in text,
    )


def _port_outlines(
    text: str, span: tuple[int, int], slices: list[slice]
) -> tuple[PortOutline, ...] | None:
    """The outlines of the ports in a span, whose parts are added to the slices."""
    if span[0] < 0:
        return None
    outlines = []
    for match in _PORT.finditer(text, *span):
        id, precision = len(slices), -1
        slices.append(slice(*match.span(1)))
        if match[3] is not None:
            precision = len(slices)
            slices.append(slice(*match.span(3)))
        first = len(slices)
        if match[5]:
            slices += [slice(*size.span()) for size in _SIZE.finditer(text, *match.span(5))]
        named = match[2] is not None or match[4] is not None
        outlines.append((id, precision, match.start(), slice(first, len(slices)), named))
    return tuple(outlines)


@lru_cache(maxsize=4096)
def _sizes(texts: tuple[str, ...]) -> tuple[int, ...]:
    """The numbers in texts; equal ones are kept once."""
    return tuple(map(int, texts))


_SIDES = ("input", "output")
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
_PORTS = rf"(?:{SPACE}{_PORT_TEXT})*+{SPACE}"
_FORM = re.compile(
    rf"{SPACE}(?:<data(?P<data>(?:{PAIR})*+) ?+/>{SPACE})?+"
    rf"(?:(?P<rt_info><rt_info>(?:{SPACE}<attribute(?:{PAIR})*+ ?+/>)*+{SPACE}</rt_info>)"
    rf"{SPACE})?+"
    rf"(?:<input>(?P<input>{_PORTS})</input>{SPACE})?+"
    rf"(?:<output>(?P<output>{_PORTS})</output>{SPACE})?+",
    re.ASCII,
)
ATTRIBUTE = re.compile(rf' ([^ ="]++)="({VALUE})"')
_SIZE = re.compile(r"-?[0-9]++")
