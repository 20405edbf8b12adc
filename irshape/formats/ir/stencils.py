"""Reads regular layers of which hardly any is like another.

To look up whether the content of a layer has come before, its text has to be put together, which
is in vain there. A `Stencil` is a pattern of whole layers: one match tells that a layer is regular,
and gives all in which it differs from others of its kind.
"""

from __future__ import annotations

import re
from sys import intern

from ...model.graph import Body, Layer, LooseHeads
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
        self.items = _differing(form.items, form.offset_at, match, pattern)
        """The indices of the items that differ. Their values are the groups behind the name."""
        self.behind_items = pattern.groups
        self.rt_info = 0 if form.rt_info is None else pattern.add_values(*form.rt_info) + 1
        """The number of the group of `<rt_info>`; 0 where there is none."""
        self.before_ports = pattern.groups
        """The number of the group before all ports."""
        self.begin = -pattern.at if pattern.at else len(behind_name)
        """From the end of that group to where the content would begin with the values that the
        groups have in the content given."""
        self.data = form.data + len(behind_name) if form.data >= 0 else 0
        """From the end of the name to the beginning of `<data>`; 0 where there is none."""
        self.names: list[int] = []
        """The groups of tensor names."""
        self.dims: list[int] = []
        """For each port the group of its dimensions; 0 for one without."""
        places, digits = [], 0
        for port in ports_of(content, match):
            places.append(port.start() - digits)
            self.names += [
                pattern.add(port.end(i) - 1, port.end(i) - 1, VALUE) for i in (2, 4) if port[i]
            ]
            sizes = list(_SIZE.finditer(content, *port.span(5))) if port[5] else []
            self.dims.append(pattern.add_sizes(sizes) if sizes else 0)
            digits += sum(len(size[0]) for size in sizes)
        heads = form.heads
        self.heads = LooseHeads(
            heads.input_ids,
            heads.input_precisions,
            heads.output_ids,
            heads.output_precisions,
            tuple(places),
            heads.named,
        )
        self.match = re.compile(
            rf'{SPACE}<layer id="({ID})" name="({VALUE})"{re.escape(behind_name[1:])}'
            rf"{pattern.finished()}</layer>"
        ).match
        self.known: dict[tuple[str, ...], tuple[str, ...]] = {}
        """The items that have come, by what differs; equal ones are kept once. Not constants'."""
        self.followers: list[Stencil] = []
        """Those of the layers that have followed."""

    def items_of(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """The items of a layer, of which these differ from those of others."""
        items = list(self.form.items)
        for index, value in zip(self.items, values, strict=True):
            items[index] = value
        if self.form.offset_at >= 0:
            return tuple(items)
        if len(self.known) == _MOST_KNOWN:
            self.known.clear()
        return self.known.setdefault(values, tuple(items))


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
        self.text += f"{re.escape(self.content[self.at : start])}({group})"
        self.at = end
        self.groups += 1
        return self.groups - 1

    def add_values(self, start: int, end: int) -> int:
        """The same for elements whose attributes may have any values."""
        group, at = "", start
        for attribute in ATTRIBUTE.finditer(self.content, start, end):
            group += re.escape(self.content[at : attribute.start(2)]) + VALUE
            at = attribute.end(2)
        return self.add(start, end, group + re.escape(self.content[at:end]))

    def add_sizes(self, sizes: list[re.Match[str]]) -> int:
        """The same for the dimensions of a port."""
        start, end = sizes[0].start(), sizes[-1].end()
        literals = _SIZE.split(self.content[start:end])
        return self.add(start, end, _ANY_SIZE.join(map(re.escape, literals)))

    def finished(self) -> str:
        return self.text + re.escape(self.content[self.at :])


_SIZE = re.compile("-?[0-9]+")
_ANY_SIZE = "(?:-1|0|[1-9][0-9]{0,17}+)"


class _Sizes(dict[str, tuple[int, ...]]):
    """The numbers in texts; equal ones are kept once."""

    def __missing__(self, text: str) -> tuple[int, ...]:
        if len(self) == _MOST_SIZES:
            self.clear()
        sizes = self[text] = tuple(map(int, _SIZE.findall(text)))
        return sizes


_MOST_SIZES = 4096
_sizes = _Sizes()


class Stencils:
    """The stencils for the layers of one file."""

    def __init__(self) -> None:
        self._of_type: dict[str, list[Stencil]] = {}
        self._left = _MOST_AT_FIRST
        """How many more are made, unless those that there are read many layers."""
        self._met: set[tuple[object, ...]] = set()
        """The kinds of layers that no stencil fitted."""
        self._first: list[Stencil] = []
        self._followers = self._first
        """Those that have followed the last one that fitted."""

    def learn(self, head: re.Match[str], content: str, layer: Layer) -> None:
        """Makes a stencil of a layer that none fits, if layers of its kind seem to come again."""
        if head[5] is not None or self._left < 1:
            return
        kind = layer.type, layer.items[::2], *map(len, filter(None, layer.port_dims))
        if kind not in self._met:
            self._met.add(kind)
            return
        stencil = Stencil(head, content)
        self._left -= 1
        self._of_type.setdefault(head[3], []).append(stencil)
        self._follow(stencil)

    def _follow(self, stencil: Stencil) -> None:
        self._followers.insert(0, stencil)
        del self._followers[_MOST_FOLLOWERS:]
        self._followers = stencil.followers

    def read(self, text: str, at: int, origin: int, body: Body) -> int:
        """Adds the layers that begin at `at` to a body as long as a stencil fits; returns where
        they end. origin: where the text begins in the file."""
        layers, path, sizes, followers = body.layers, body.path, _sizes, self._followers
        before = len(layers)
        while True:
            for stencil in followers:
                match = stencil.match(text, at)
                if match is not None:
                    break
            else:
                other = self._other(text, at)
                if other is None:
                    self._followers = followers
                    self._left += (len(layers) - before) / _LAYERS_FOR_ONE
                    return at
                stencil, match = other
            groups = match.groups()
            layer = Layer(
                groups[0],
                groups[1],
                stencil.type,
                stencil.version,
                origin + match.start(1) - _BEFORE_ID,
                path,
            )
            if stencil.items:
                values = groups[2 : stencil.behind_items]
                layer.items = stencil.known.get(values) or stencil.items_of(values)
            else:
                layer.items = stencil.form.items
            if stencil.data:
                layer.data_offset = origin + match.end(2) + stencil.data
            if stencil.rt_info:
                start, end = match.span(stencil.rt_info)
                layer.rt_info_span = (origin + start, origin + end)
            layer.leave_ports(
                stencil.heads,
                tuple([sizes[groups[index]] if index else () for index in stencil.dims]),
                origin + match.end(stencil.before_ports) + stencil.begin,
                [groups[index] for index in stencil.names],
            )
            layers.append(layer)
            at, followers = match.end(), stencil.followers

    def _other(self, text: str, at: int) -> tuple[Stencil, re.Match[str]] | None:
        """A stencil that fits and has not followed the last one yet."""
        head = LAYER.match(text, at)
        for stencil in self._of_type.get(head[3], ()) if head is not None else ():
            match = stencil.match(text, at)
            if match is not None:
                self._follow(stencil)
                return stencil, match
        return None


_BEFORE_ID = len('<layer id="')
_MOST_FOLLOWERS = 8
_MOST_AT_FIRST = 24.0
_LAYERS_FOR_ONE = 128
"""To make a stencil takes as long as it saves for some hundred layers."""
