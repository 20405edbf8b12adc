"""Tries a change where it matters: on the layers that it touches and their neighbours.

They are cut out of the file as a small model of their own. What feeds them from outside has the
tensors that were inferred for it. The small model is read, inferred and checked by the same rules
as the whole; what is found in it with the change and without is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from ..formats.ir.edits import Edit
from ..formats.ir.reader import read
from ..inference.result import Inference
from ..inference.walk import BodyEngine, Walk
from ..model.graph import Edge, Finding, Layer, Model, NotReadable
from ..model.source import Source
from ..model.weights import Weights
from ..model.wiring import wire
from ..ops.tensors import Tensor
from ..rule_ids import LOOSER_DECLARATION, MISSING_RESULT, MISSING_WEIGHTS, UNREACHABLE_LAYER
from ..rules import Context, Rule, all_rules, rule_of
from ..types import PartialShape
from .scene import Scene

Key = tuple[str, Layer | None]
"""A finding, wherever it stands in the text: its code and its layer."""


class Wanted(NamedTuple):
    """A finding that a change is to take back, and how many the file has of its kind."""

    finding: Finding
    among: int


_GLOBAL = {UNREACHABLE_LAYER, MISSING_RESULT, MISSING_WEIGHTS}
"""Rules whose findings depend on the whole model."""
_FAMILIES = ("IR0", "IR1", "IR2", "IR3", "IR4", "IR50", "IR60")


class Trial:
    """A part of a body, checked with and without changes."""

    def __init__(self, scene: Scene, core: Iterable[int]) -> None:
        self.scene = scene
        self.core = sorted(set(core))
        self.size = len(self.core)
        self._base: Counter[Key] | None = None

    @property
    def base(self) -> Counter[Key]:
        """What is found without a change."""
        if self._base is None:
            checked = self.check((), ())
            self._base = Counter() if checked is None else checked
        return self._base

    def check(
        self,
        edits: tuple[Edit, ...],
        needs: Iterable[int],
        weights: Weights | None = None,
        wanted: Wanted | None = None,
    ) -> Counter[Key] | None:
        """The errors and warnings with some edits; None if the part cannot be read.

        weights: the .bin, if it is another one. wanted: the finding that is to go; None is also
        the answer where it stays.
        """
        scene = self.scene
        inside = set(self.core)
        feeding = {
            source[0] for at in self.core for source in scene.sources[at] if source is not None
        }
        for at in self.core:
            for edge in scene.edges_to.get(scene.layers[at].id, ()):
                feeding.update(scene.by_id.get(edge.from_layer, ()))
        feeding |= set(needs)
        positions = sorted(inside | feeding)
        text = self._text(positions, inside, edits)
        source = Source(scene.source.path, text, scene.source.encoding)
        try:
            model = read(source)
        except NotReadable:
            return None
        model.weights = scene.context.model.weights if weights is None else weights
        gone = {at for at in positions if any(_covers(e, scene.layers[at]) for e in edits)}
        return self._findings(model, [at for at in positions if at not in gone], inside, wanted)

    def _text(self, positions: list[int], inside: set[int], edits: tuple[Edit, ...]) -> bytes:
        """The part as an IR of its own."""
        scene = self.scene
        encoding = scene.source.encoding.replace("utf-8-sig", "utf-8")
        pending = sorted(edits)
        version = scene.context.model.version
        parts = [f'<?xml version="1.0" encoding="{encoding}"?>'.encode()]
        parts.append(f'<net name="" version="{version}"><layers>'.encode())
        for at in positions:
            spans = [scene.span(at)] if at in inside else scene.boundary(at)
            for start, end in spans:
                parts.append(self._edited(start, end, pending))
        parts += [edit.text for edit in pending if edit.text.lstrip().startswith(b"<layer ")]
        parts.append(b"</layers><edges>")
        ids = {scene.layers[at].id for at in inside}
        edges = [edge for number in ids for edge in scene.edges_to.get(number, ())]
        edges += [edge for edge in scene.stray_edges if edge.from_layer in ids]
        for edge in sorted(edges, key=_offset_of):
            start, end = scene.edge_span(edge)
            parts.append(self._edited(start, end, pending))
        parts += [edit.text for edit in pending if edit.text.lstrip().startswith(b"<edge ")]
        parts.append(b"</edges></net>")
        return b"".join(parts)

    def _edited(self, start: int, end: int, pending: list[Edit]) -> bytes:
        """A piece of the text with the edits that lie in it, which are taken from `pending`."""
        data, parts, at = self.scene.source.data, [], start
        here = [
            edit
            for edit in pending
            if (start < edit.end and edit.start < end)
            or (edit.start == edit.end and start < edit.start < end)
        ]
        for edit in here:
            parts += [data[at : max(at, edit.start)], edit.text]
            at = min(max(at, edit.end), end)
            pending.remove(edit)
            if edit.end > end:
                pending.append(Edit(end, edit.end, b""))
        parts.append(data[at:end])
        return b"".join(parts)

    def _findings(
        self, model: Model, positions: list[int], inside: set[int], wanted: Wanted | None
    ) -> Counter[Key] | None:
        """The errors and warnings in the part, with the layers of the whole.

        None if the finding that is to go stays: its rule is asked first.
        """
        scene = self.scene
        presets: dict[int, tuple[Tensor, ...]] = {}
        meant: dict[Layer, Layer] = {}
        for index, (layer, at) in enumerate(zip(model.net.layers, positions, strict=False)):
            original = scene.layers[at]
            meant[layer] = original
            for bodies in zip(
                (layer.bodies or {}).values(), (original.bodies or {}).values(), strict=False
            ):
                meant.update(zip(bodies[0].walk(), bodies[1].walk(), strict=False))
            if at not in inside and not original.is_constant:
                presets[index] = scene.outputs(at)
        if model.weights is scene.context.model.weights:
            engine = scene.engine
            engine.serve(model)
        else:
            engine = BodyEngine(model)
        walk = _PartWalk(engine, model, presets)
        walk.run({}, False)
        context = Context(model, Inference(model, walk.result), scene.context.settings)
        first = None if wanted is None else rule_of(wanted.finding.rule)
        graver: Counter[Key] = Counter()
        if wanted is not None and first is not None:
            _count(first, context, meant, graver)
            if graver[wanted.finding.rule.code, wanted.finding.layer] >= wanted.among:
                return None
        for rule in local_rules():
            if rule is not first:
                _count(rule, context, meant, graver)
        return graver


def _count(
    rule: type[Rule], context: Context, meant: Mapping[Layer, Layer], graver: Counter[Key]
) -> None:
    """Adds the errors and warnings of one rule."""
    for finding in rule.findings(context):
        if finding.severity != "info" or finding.rule == LOOSER_DECLARATION:
            graver[finding.rule.code, _meant(finding, meant)] += 1


def _offset_of(edge: Edge) -> int:
    return edge.offset


def _covers(edit: Edit, layer: Layer) -> bool:
    """Whether a layer is gone with an edit."""
    return edit.start <= layer.offset < edit.end and not edit.text


def _meant(finding: Finding, meant: Mapping[Layer, Layer]) -> Layer | None:
    return None if finding.layer is None else meant.get(finding.layer)


class _PartWalk(Walk):
    """A pass over a part, in which the layers at the boundary have the tensors of the whole."""

    def __init__(
        self, engine: BodyEngine, model: Model, presets: Mapping[int, tuple[Tensor, ...]]
    ) -> None:
        super().__init__(engine, model.net, wire(model.net), compare=True)
        self.presets = presets
        self.remembers = False  # a layer at the boundary has other outputs than one like it

    def infer(
        self,
        position: int,
        inputs: tuple[Tensor, ...],
        with_values: bool,
        fed: PartialShape | Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        preset = self.presets.get(position)
        if preset is not None:
            return preset
        return super().infer(position, inputs, with_values, fed)


@lru_cache(maxsize=1)
def local_rules() -> tuple[type[Rule], ...]:
    """The rules whose findings depend on a layer and its neighbours."""
    return tuple(
        rule
        for rule in all_rules()
        if rule.default
        and rule.code.startswith(_FAMILIES)
        and rule.id not in _GLOBAL
        and (rule.severity != "info" or rule.id == LOOSER_DECLARATION)
    )
