"""A text with some edits as a whole, of which only what stands around the edits is read again.

Layers and edges that no edit touches are those of the model, so that what is known of them holds.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

from ...formats.ir.edits import Edit
from ...formats.ir.reader import read
from ...formats.ir.text_between import MORE_TEXTS
from ...inference.body_engine import BodyEngine
from ...inference.engine import infer
from ...inference.result import Inference
from ...model.edges import Edge
from ...model.graph import Finding, Layer, Model, NotReadable
from ...model.source import Source
from ...rule_ids import MISSPELT_ELEMENT, REPEATED_ELEMENT, STRAY_TEXT, UNKNOWN_ELEMENT
from ...rules import Context, Rule, all_rules
from .format_tables import KNOWN, NAME
from .slip import edited
from .structure import Structure, is_sound_inside

T = TypeVar("T")
_SPACES = re.compile(rb">\s+<")
_UTF8 = ("utf-8", "utf-8-sig", "us-ascii")
_SECTIONS = {"layers", "edges"}


class _Stretch(NamedTuple):
    """A piece of a text with the layers or edges of the net in it."""

    start: int
    end: int
    layers: slice
    edges: slice
    begins: str
    """What the piece begins in: `layers` or `edges`."""
    ends: str
    """What it ends in."""


class Rereading:
    """A model that was read from a text, and the models of the text with some edits."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.model = context.model
        self.data = context.model.source.data
        self.tried = 0
        """How many texts were checked as a whole."""

    def is_sound(self, edits: Sequence[Edit]) -> bool:
        """Whether every known element of the text with some edits stands where it belongs."""
        stretch = self._stretch(edits)
        if stretch is None or self._misplaced is None:
            return self.structure.is_sound_after(edits, edited(self.data, edits))
        if not all(stretch.start <= place < stretch.end for place in self._misplaced):
            return False  # what is wrong elsewhere stays
        piece = self._piece(stretch, edits)
        at, opened = self.structure.before_as_seen(min(edits).start)
        if at <= stretch.start:
            return is_sound_inside(piece, ("net", stretch.begins), stretch.ends)
        around = [name for name, _, _ in opened]
        return is_sound_inside(piece[at - stretch.start :], around, stretch.ends)

    def context_with(self, edits: Sequence[Edit]) -> Context | None:
        """The text with some edits as rules look at it; None if it cannot be read."""
        model = self.model
        try:
            spliced = self._spliced(edits)
            if spliced is None:
                source = Source(model.path, edited(self.data, edits), model.source.encoding)
                spliced = read(source)
                spliced.weights = model.weights
                inference = infer(spliced, compare=True)
                return Context(spliced, inference, self.context.settings, reasons=False)
        except NotReadable:
            return None
        engine = self.context.inference.engine
        if not isinstance(engine, BodyEngine):
            engine = BodyEngine(model, lasting=True)
        engine.serve(spliced)
        inference = Inference(spliced, engine.infer_body(spliced.net, {}, compare=True))
        engine.serve(model)
        context = Context(spliced, inference, self.context.settings, reasons=False)
        context.take_over(self.context, constants=self._same_constants(edits))
        return context

    def _same_constants(self, edits: Sequence[Edit]) -> bool:
        """Whether no constant stands around some edits, nor does one with them."""
        stretch = self._stretch(edits)
        return stretch is not None and not any(
            b"const" in text.lower()
            for text in (self.data[stretch.start : stretch.end], self._piece(stretch, edits))
        )

    @cached_property
    def has_texts_between(self) -> bool:
        """Whether several texts stand between elements."""
        texts = [each for each in self.model.findings if each.rule == STRAY_TEXT]
        return len(texts) > 1 or any(MORE_TEXTS in each.message for each in texts)

    @cached_property
    def structure(self) -> Structure:
        """The elements of the text, looked at from the first that may be misplaced on."""
        return Structure.behind(self.model, min(self._misplaced or [0]))

    @cached_property
    def _misplaced(self) -> list[int] | None:
        """Where the reader has met what does not belong there; None if that is unknown."""
        places = []
        for finding in self.model.findings:
            if finding.rule == STRAY_TEXT:
                if MORE_TEXTS in finding.message:
                    return None
                places.append(finding.offset)
            elif finding.rule in (UNKNOWN_ELEMENT, MISSPELT_ELEMENT):
                name = NAME.match(self.data, finding.offset)
                if name is not None and name[2].decode("ascii", "replace") in KNOWN:
                    places.append(finding.offset)
        return places

    # what is read again

    def _stretch(self, edits: Sequence[Edit]) -> _Stretch | None:
        """What stands around some edits, as far as to the next layers or edges of the net."""
        net = self.model.net
        if self.model.source.encoding.lower() not in _UTF8:
            return None
        layers: list[Layer] | list[Edge] = net.layers
        first, last = min(edits).start, max(edit.end for edit in edits)
        behind = bisect_left(net.layers, last, key=_offset)
        before = bisect_left(net.layers, first, key=_offset) - 1
        if behind < len(layers):
            if before < 0:
                return None
            start, end = layers[before].offset, layers[behind].offset
            return _Stretch(start, end, slice(before, behind), slice(0, 0), "layers", "layers")
        edges, rest = net.edges, len(net.layers)
        if not edges or not rest or edges[0].offset < layers[-1].offset:
            return None
        to = bisect_left(edges, last, key=_offset)
        end = edges[to].offset if to < len(edges) else self._end_of_edges(last)
        if end < 0:
            return None
        since = bisect_left(edges, first, key=_offset) - 1
        if since >= 0:
            start = edges[since].offset
            return _Stretch(start, end, slice(rest, rest), slice(since, to), "edges", "edges")
        if before < 0:
            return None
        start = layers[before].offset
        return _Stretch(start, end, slice(before, rest), slice(0, to), "layers", "edges")

    def _end_of_edges(self, place: int) -> int:
        """Where the end tag behind the last edge begins; -1 where that is before a place."""
        behind = self.data.find(b">", self.model.net.edges[-1].offset) + 1
        end = self.data.find(b"</edges", behind)
        return end if end >= place and not self.data[behind:end].strip() else -1

    def _piece(self, stretch: _Stretch, edits: Sequence[Edit]) -> bytes:
        """The piece of the text with some edits."""
        start, end = stretch[:2]
        return edited(
            self.data[start:end],
            [Edit(edit.start - start, edit.end - start, edit.text) for edit in edits],
        )

    def _spliced(self, edits: Sequence[Edit]) -> Model | None:
        """The model, of which only a piece is read again; None if it has to be read as a whole.

        Raises `NotReadable`.
        """
        stretch = self._stretch(edits)
        if stretch is None:
            return None
        piece, size = self._piece(stretch, edits), stretch.end - stretch.start
        if len(piece) > size:
            piece = _SPACES.sub(b"><", piece)
        head = f'<net version="{self.model.version}"><layers>'.encode()
        head += b"</layers><edges>" if stretch.begins == "edges" else b""
        if len(piece) > size or len(head) > stretch.start:
            return None
        # each element stays at its place
        piece += b" " * (size - len(piece))
        text = (
            head + b" " * (stretch.start - len(head)) + piece + f"</{stretch.ends}></net>".encode()
        )
        source = self.model.source
        part = read(Source(source.path, text, source.encoding))
        return self._joined(stretch, piece, part)

    def _joined(self, stretch: _Stretch, piece: bytes, part: Model) -> Model | None:
        """The model with a part in place of what was in a stretch."""
        if any(
            finding.rule in (REPEATED_ELEMENT, MISSPELT_ELEMENT)
            and not _SECTIONS.isdisjoint((finding.expected, finding.actual))
            for finding in part.findings
        ):
            return None
        if (part.net.edges and stretch.ends == "layers") or (
            part.net.layers and stretch.begins == "edges"
        ):
            return None
        whole, start, end = copy(self.model), stretch.start, stretch.end
        source = self.model.source
        data = b"".join((source.data[:start], piece, source.data[end:]))
        whole.source = Source(source.path, data, source.encoding)
        whole.findings = [each for each in self.model.findings if not start <= each.offset < end]
        whole.findings += part.findings
        whole.net = copy(self.model.net)
        whole.net.layers = _replaced(whole.net.layers, stretch.layers, part.net.layers)
        if stretch.ends == "edges":
            whole.net.edges = _replaced(whole.net.edges, stretch.edges, part.net.edges)
        whole.net.reindex()
        return whole


def _replaced(items: list[T], at: slice, others: list[T]) -> list[T]:
    """A list with others in place of some items."""
    return [*items[: at.start], *others, *items[at.stop :]]


def _offset(item: Layer | Edge) -> int:
    return item.offset


def graver_findings(context: Context) -> Iterator[Finding]:
    """The errors and warnings in a model."""
    for rule in _graver_rules():
        yield from (each for each in rule.findings(context) if each.severity != "info")


def place_of(finding: Finding) -> tuple[object, ...]:
    """What a finding has in common with the same one in a text with edits: its rule, the ids that
    lead to its layer, and its port."""
    layer = finding.layer
    return finding.rule.code, None if layer is None else (layer.path, layer.id), finding.port


@lru_cache(maxsize=1)
def _graver_rules() -> tuple[type[Rule], ...]:
    """The rules that are asked by default and may find errors and warnings.

    Those come first that most often tell against a change.
    """
    rules = (rule for rule in all_rules() if rule.default and rule.severity != "info")
    return tuple(sorted(rules, key=lambda rule: not rule.code.startswith(("IR4", "IR20", "IR11"))))
