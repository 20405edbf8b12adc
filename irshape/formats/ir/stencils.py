"""Reads regular layers of which hardly any is like another.

To look up whether the content of a layer has come before, its text has to be put together, which
is in vain there. A `Stencil` is a pattern of whole layers: one match tells that a layer is regular,
and gives all in which it differs from others of its kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import itemgetter
from sys import intern

from ...model.graph import Body, Layer, layer_as_read
from ...model.ports import LooseHeads, PortHeads
from .forms import ATTRIBUTE, FORM, ID, SPACE, VALUE, ports_of, read_form

LAYER = re.compile(
    rf'{SPACE}<layer id="({ID})" name="({VALUE})" type="({VALUE})" version="({VALUE})"'
    rf'(?: output_names="({VALUE})")?+ ?+>'
)


class Stencil:
    """What layers have in common that differ in id, name, tensor names, dimensions, `<rt_info>`,
    and values of attributes that contain digits."""

    def __init__(self, head: re.Match[str], content: str) -> None:
        """head: the match of `LAYER` for one of these layers. content: what it contains, regular,
        with its places of names and of an offset left empty."""
        form, match = read_form(content), FORM.fullmatch(content)
        assert form is not None
        assert match is not None
        behind_name = head.string[head.end(2) : head.end()]
        pattern = _Pattern(content)
        self.type, self.version = intern(head[3]), intern(head[4])
        self.form = form
        differing = _differing(form.items, form.offset_at, match, pattern)
        indices = list(range(len(form.items)))
        for number, index in enumerate(differing, len(form.items)):
            indices[index] = number
        self._in_order = _taking(indices)
        """Takes the items of a layer out of those of the form, behind which are those that differ.
        The groups behind the name are the latter."""
        self.behind_items = pattern.groups
        self.rt_info = 0
        """From the end of the group before `<rt_info>` to where that begins; 0 where there is
        none. It ends where the group before all ports does."""
        if form.rt_info is not None:
            begin, end = form.rt_info
            self.rt_info = begin - pattern.at if pattern.at else begin + len(behind_name)
            pattern.add_values(begin, end)
        self.before_ports = pattern.groups
        """The number of the group before all ports."""
        self.begin = -pattern.at if pattern.at else len(behind_name)
        """From the end of that group to where the content would begin with the values that the
        groups have in the content given."""
        self.data = form.data + len(behind_name) if form.data >= 0 else 0
        """From the end of the name to the beginning of `<data>`; 0 where there is none."""
        ports = _Ports(ports_of(content, match), pattern)
        self.fits = ports.leads_agree
        """Whether it can stand for layers: the same stands before all dimensions."""
        self.names = _taking(ports.names)
        """Takes the tensor names out of the groups."""
        self.dims = _taking(ports.dims)
        """Takes out the dimensions of each port, as they are written; nothing of a scalar's."""
        self.heads = ports.heads(form.heads)
        self.match = re.compile(
            rf'{SPACE}<layer id="({ID})" name="({VALUE})"{_literal(behind_name[1:])}'
            rf"{pattern.finished()}</layer>"
        ).match
        self.known: dict[tuple[str, ...], tuple[str, ...]] = {}
        """The items that have come, by what differs; equal ones are kept once. Not constants'."""

    def items_of(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """The items of a layer, of which these differ from those of others."""
        items = self._in_order(self.form.items + values)
        if self.form.offset_at < 0:
            if len(self.known) == _MOST_KNOWN:
                self.known.clear()
            self.known[values] = items
        return items


_MOST_KNOWN = 256


def _differing(
    items: tuple[str, ...], offset_at: int, form: re.Match[str], pattern: _Pattern
) -> list[int]:
    """The indices of the items that may differ from layer to layer; adds them to the pattern."""
    differing = []
    start = form.start("data")
    for index, attribute in enumerate(ATTRIBUTE.finditer(form["data"] or "")):
        place, value = index * 2 + 1, attribute[2]
        if place == offset_at or (_DIGIT.search(value) and not _WORD.fullmatch(value)):
            differing.append(place)
            span = attribute.span(2)
            pattern.add(
                start + span[0], start + span[1], "[0-9]++" if place == offset_at else VALUE
            )
    return differing


_DIGIT, _WORD = re.compile("[0-9]"), re.compile(r"[A-Za-z]\w*", re.ASCII)


def _taking(indices: list[int]) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    """What takes those that have these indices out of many groups."""
    if len(indices) > 1:
        return itemgetter(*indices)
    # of one index alone, `itemgetter` makes no tuple
    return itemgetter(slice(indices[0], indices[0] + 1) if indices else slice(0))


class _Pattern:
    """The pattern of the content of a layer, as it is put together from the beginning on."""

    def __init__(self, content: str) -> None:
        self.content = content
        self.at = 0
        """Up to where the content is in the pattern."""
        self.text = ""
        self.groups = 2
        """How many groups there are up to there, those of id and name counted."""

    def add(self, start: int, end: int, group: str) -> int:
        """Puts a group in place of a part of the content; returns its index among all groups."""
        self.text += f"{_literal(self.content[self.at : start])}({group})"
        self.at = end
        self.groups += 1
        return self.groups - 1

    def add_values(self, start: int, end: int) -> None:
        """Puts elements in, whose attributes may have any values, and a group behind them."""
        for attribute in ATTRIBUTE.finditer(self.content, start, end):
            self.text += _literal(self.content[self.at : attribute.start(2)]) + VALUE
            self.at = attribute.end(2)
        self.add(end, end, "")

    def finished(self) -> str:
        return self.text + _literal(self.content[self.at :])


def _literal(text: str) -> str:
    """The pattern of a text. `re.escape` escapes more, which takes `re` longer to read."""
    return _SPECIAL.sub(r"\\\g<0>", text)


_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


_SIZE = "(?:-1|0|[1-9][0-9]{0,17}+)"
_DIMS = re.compile(rf"({SPACE})<dim>{_SIZE}</dim>(?:\1<dim>{_SIZE}</dim>)*+")


class _Ports:
    """The ports of a layer, as they are added to its pattern: tensor names and dimensions are
    groups."""

    def __init__(self, ports: list[re.Match[str]], pattern: _Pattern) -> None:
        self.names: list[int] = []
        """The groups of tensor names."""
        self.dims: list[int] = []
        """The group of the dimensions of each port."""
        self._places: list[int] = []
        self._leads: set[str] = set()
        """What stands before dimensions."""
        left_out = 0
        for port in ports:
            self._places.append(port.start() - left_out)
            self.names += [
                pattern.add(port.end(i) - 1, port.end(i) - 1, VALUE) for i in (2, 4) if port[i]
            ]
            sizes = port[5] or ""
            if sizes:
                lead = sizes[: sizes.index("<")]
                self._leads.add(lead)
                # up to `</port>`; whether these are dimensions is looked at once for each text
                self.dims.append(pattern.add(*port.span(5), f"{lead}<dim>[^p]*</dim>"))
            else:
                self.dims.append(pattern.add(port.end(), port.end(), ""))
            left_out += len(sizes)

    @property
    def leads_agree(self) -> bool:
        """Whether the same stands before all dimensions."""
        return len(self._leads) < 2

    def heads(self, heads: PortHeads) -> LooseHeads:
        """The heads of these ports, without what stands before, in and behind dimensions."""
        return LooseHeads(
            heads.input_ids,
            heads.input_precisions,
            heads.output_ids,
            heads.output_precisions,
            tuple(self._places),
            heads.named,
            around_dim=max(map(len, self._leads), default=0) + len("<dim></dim>"),
        )


class _Sizes(dict[str, tuple[int, ...]]):
    """The numbers in texts of dimensions; equal ones are kept once. Raises `_Irregular`."""

    def __missing__(self, text: str) -> tuple[int, ...]:
        if len(self) == _MOST_SIZES:
            self.clear()
        sizes: tuple[int, ...] = ()
        if text:
            match = _DIMS.fullmatch(text)
            if match is None:
                raise _Irregular
            begin = match.end(1) + len("<dim>")
            between = f"</dim>{text[:begin]}"
            sizes = tuple(map(int, text[begin : -len("</dim>")].split(between)))
        self[text] = sizes
        return sizes


class _Irregular(Exception):
    """A text is not laid out as writers lay out dimensions: one after the other, before each of
    which stands the same."""


_MOST_SIZES = 1 << 14
_sizes = _Sizes()


class Stencils:
    """The stencils for the layers of one file."""

    def __init__(self) -> None:
        self._of_type: dict[str, list[Stencil]] = {}
        """Those that have fitted last come first."""
        self._left = _MOST_AT_FIRST
        """How many more are made, unless those that there are read many layers."""
        self._met: set[tuple[object, ...]] = set()
        """The kinds of layers that no stencil fitted."""

    def learn(self, head: re.Match[str], content: str, layer: Layer) -> None:
        """Makes a stencil of a layer that none fits, if layers of its kind seem to come again."""
        if head[5] is not None or self._left < 1:
            return
        kind = layer.type, layer.items[::2], *map(bool, layer.port_dims)
        if kind not in self._met:
            self._met.add(kind)
            return
        stencil = Stencil(head, content)
        self._left -= 1
        if stencil.fits:
            self._of_type.setdefault(head[3], []).insert(0, stencil)

    def read(self, text: str, at: int, origin: int, body: Body) -> int:
        """Adds the layers that begin at `at` to a body as long as a stencil fits; returns where
        they end. origin: where the text begins in the file."""
        layers, path, of_type, find = body.layers, body.path, self._of_type, text.find
        sizes_of, none = _sizes.__getitem__, list[Stencil]()
        before = len(layers)
        while True:
            begun = find(_TYPE, at) + len(_TYPE)
            stencils = of_type.get(text[begun : find('"', begun)], none)
            for stencil in stencils:
                match = stencil.match(text, at)
                if match is not None:
                    break
            else:
                break
            if stencil is not stencils[0]:
                stencils.remove(stencil)
                stencils.insert(0, stencil)
            groups, end_of = match.groups(), match.end
            values = groups[2 : stencil.behind_items]
            before_ports = origin + end_of(stencil.before_ports)
            try:
                dims = tuple(map(sizes_of, stencil.dims(groups)))
            except _Irregular:
                break
            layers.append(
                layer_as_read(
                    groups[0],
                    groups[1],
                    stencil.type,
                    stencil.version,
                    origin + match.start(1) - _BEFORE_ID,
                    path,
                    stencil.known.get(values) or stencil.items_of(values),
                    origin + end_of(2) + stencil.data if stencil.data else -1,
                    (origin + end_of(stencil.before_ports - 1) + stencil.rt_info, before_ports)
                    if stencil.rt_info
                    else None,
                    stencil.heads,
                    dims,
                    before_ports + stencil.begin,
                    stencil.names(groups),
                )
            )
            at = end_of()
        self._left += (len(layers) - before) / _LAYERS_FOR_ONE
        return at


_TYPE = ' type="'
_BEFORE_ID = len('<layer id="')
_MOST_AT_FIRST = 24.0
_LAYERS_FOR_ONE = 128
"""To make a stencil takes as long as it saves for some hundred layers."""
