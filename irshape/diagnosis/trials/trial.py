"""Tries a change where it matters: on the layers that it touches and their neighbours.

They are cut out of the file as a small model of their own. What feeds them from outside has the
tensors that were inferred for it. The small model is read, inferred and checked by the same rules
as the whole; what is found in it with the change and without is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from ...element_types import DYNAMIC_TYPE
from ...formats.ir.edits import Edit
from ...inference.body_engine import BodyEngine
from ...inference.result import Inference, Mismatch, OutputCount
from ...inference.walk import Walk
from ...model.edges import Edge
from ...model.graph import Finding, Layer, Model
from ...model.ports import Port
from ...model.weights import Weights
from ...model.wiring import Wiring, rewired, wire
from ...ops.registry import UnknownOperation
from ...ops.tensors import Tensor
from ...rule_ids import (
    CONSTANT_OUT_OF_RANGE,
    CONSTANT_SIZE,
    CONSTANT_TYPE,
    CUSTOM_OPERATION,
    CYCLE,
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    DUPLICATE_ID,
    DUPLICATE_PORT,
    IGNORED_BY_TARGET,
    INPUT_MISMATCH,
    INPUT_SHAPES,
    INPUT_TYPE_MISMATCH,
    LOOSER_DECLARATION,
    MALFORMED_EDGE,
    MISSING_ATTRIBUTE,
    MISSING_BODY,
    MISSING_EDGE,
    MISSING_PRECISION,
    MISSING_RESULT,
    MISSING_WEIGHTS,
    NEWER_THAN_TARGET,
    NOT_RUN_BY_TARGET,
    OTHER_SHAPE_IN_TARGET,
    OUTPUT_COUNT,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
    RUNTIME_INFO,
    UNKNOWN_PRECISION,
    UNKNOWN_TYPE,
    UNKNOWN_VARIABLE,
    UNKNOWN_VERSION,
    UNPROVEN_DIMENSION,
    UNREACHABLE_LAYER,
    VALUE_MISMATCH,
)
from ...rules import Context, Rule, all_rules, makes_findings, rule_of
from ...rules.versions import any_misspelt
from ...shapes import DYNAMIC_SHAPE, PartialShape
from .reading import read_part
from .scene import Scene

K = TypeVar("K", bound=Hashable)
Key = tuple[str, Layer | None]
"""A finding, wherever it stands in the text: its code and its layer."""


class Wanted(NamedTuple):
    """A finding that a change is to take back, and how many the file has of its kind."""

    finding: Finding
    among: int

    def gone(self, left: Counter[Key]) -> bool:
        """Whether it is not among those that are left."""
        return left[self.finding.rule.code, self.finding.layer] < self.among


GLOBAL = {UNREACHABLE_LAYER, MISSING_RESULT, MISSING_WEIGHTS, RUNTIME_INFO, UNKNOWN_VARIABLE}
"""Rules whose findings depend on the whole model, or on a text that a part does not have."""
_AT_EDGES = {CYCLE, DANGLING_EDGE, DUPLICATE_EDGE, MALFORMED_EDGE, MISSING_EDGE}
"""Rules whose findings count where they stand at a layer that feeds the part, too."""
_JUDGED_LATER = {UNPROVEN_DIMENSION.code, LOOSER_DECLARATION.code}
"""Rules of which more may be found with a change than without it."""
_SUBJECTS = {
    **dict.fromkeys((DANGLING_EDGE, DUPLICATE_EDGE, MALFORMED_EDGE, MISSING_EDGE), "edges"),
    **dict.fromkeys((OUTPUT_SHAPE_MISMATCH, OUTPUT_TYPE_MISMATCH, UNPROVEN_DIMENSION), "outputs"),
    **dict.fromkeys((LOOSER_DECLARATION, CONSTANT_TYPE), "outputs"),
    **dict.fromkeys((INPUT_MISMATCH, INPUT_TYPE_MISMATCH), "inputs"),
    **dict.fromkeys((NEWER_THAN_TARGET, IGNORED_BY_TARGET), "target"),
    **dict.fromkeys((NOT_RUN_BY_TARGET, OTHER_SHAPE_IN_TARGET), "target"),
    **dict.fromkeys((UNKNOWN_TYPE, UNKNOWN_VERSION, CUSTOM_OPERATION), "operations"),
    **dict.fromkeys((CONSTANT_OUT_OF_RANGE, CONSTANT_SIZE), "constants"),
    **dict.fromkeys((MISSING_PRECISION, UNKNOWN_PRECISION), "precisions"),
    CYCLE: "cycles",
    DUPLICATE_ID: "ids",
    DUPLICATE_PORT: "port ids",
    INPUT_SHAPES: "demands",
    MISSING_ATTRIBUTE: "reported",
    MISSING_BODY: "bodies",
    OUTPUT_COUNT: "counts",
    VALUE_MISMATCH: "values",
}
"""What some rules are about, so that they need not be asked where nothing is to be said of it."""
_OF_TEXTS = frozenset({"bodies", "constants", "ids", "port ids", "precisions"})
"""What layers say by themselves: nothing is to be said of it where a change leaves it as it is, and
nothing was to be said before."""
_OF_ENDS = frozenset({"bodies", "ids", "port ids"})
"""What tells whether edges lead somewhere that are as they were."""
_OF_SEVERAL = ("IR0", "IR101", "IR114")
"""Rules whose findings depend on more than a layer and what feeds it."""
_FAMILIES = ("IR0", "IR1", "IR2", "IR3", "IR4", "IR50", "IR60")


def of_layers(findings: Iterable[Finding]) -> list[Finding]:
    """Those of all findings that a check of a part may have, too."""
    codes = _codes()
    return [f for f in findings if _counts(f) and f.rule.code in codes]


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    return frozenset(rule.code for rule in local_rules())


def take(gone: Counter[K], key: K) -> bool:
    """Whether a finding, by its key, is among those that are gone; it is then taken from them."""
    if gone[key] <= 0:
        return False
    gone[key] -= 1
    return True


def _counts(finding: Finding) -> bool:
    if finding.rule == MISSING_PRECISION and finding.severity == "warning":
        return False  # where few inputs of the whole file have none
    return finding.severity != "info" or finding.rule == LOOSER_DECLARATION


class _Part(NamedTuple):
    """A part of a body, read as a model of its own and inferred."""

    context: Context
    meant: dict[Layer, Layer]
    """Its layers, as they are in the whole."""
    outside: set[Layer]
    """Those that only feed it."""
    kept: frozenset[str]
    """The subjects of `_OF_TEXTS` that a change leaves as they are; so it may leave the edges."""

    def keys(self, rule: type[Rule]) -> Iterator[Key]:
        """The errors and warnings of one rule."""
        for finding in rule.findings(self.context):
            layer = finding.layer
            if _counts(finding) and (layer not in self.outside or finding.rule in _AT_EDGES):
                yield finding.rule.code, None if layer is None else self.meant.get(layer)


def _findings(
    part: _Part, wanted: Wanted | None, allowed: Counter[Key] | None
) -> Counter[Key] | None:
    """The errors and warnings in a part; see `Trial.check`.

    The rule of the finding that is to go is asked first.
    """
    graver: Counter[Key] = Counter()
    here = wanted is not None and wanted.finding.rule not in GLOBAL
    first = rule_of(wanted.finding.rule) if wanted is not None and here else None
    for rule in _asked(part, first):
        for key in part.keys(rule):
            graver[key] += 1
            over = allowed is not None and graver[key] > allowed[key]
            if over and key[0] not in _JUDGED_LATER:
                return None
        if wanted is not None and rule is first and not wanted.gone(graver):
            return None
    return graver


def _asked(part: _Part, first: type[Rule] | None) -> Iterator[type[Rule]]:
    """The rules that may find something in a part, one of them before all others."""
    if first is not None:
        yield first
    quiet, reported = _quiet(part), part.context.reported
    if not reported:
        yield from (rule for rule in _asked_at_all(quiet) if rule is not first)
        return
    for rule, may_find in _with_whether_asked(quiet):
        if (may_find or rule.id in reported) and rule is not first:
            yield rule


@lru_cache(maxsize=256)
def _with_whether_asked(quiet: frozenset[str]) -> tuple[tuple[type[Rule], bool], ...]:
    """The local rules, each with whether it may find something of what is not quiet."""
    return tuple(
        (rule, makes and subject not in quiet) for rule, makes, subject in _rules_of_parts()
    )


@lru_cache(maxsize=256)
def _asked_at_all(quiet: frozenset[str]) -> tuple[type[Rule], ...]:
    """Those that may find something where nothing is reported by the reader or the inference."""
    return tuple(rule for rule, may_find in _with_whether_asked(quiet) if may_find)


def _quiet(part: _Part) -> frozenset[str]:
    """The subjects of rules, as in `_SUBJECTS`, that a part has no finding on."""
    context = part.context
    quiet = {"reported", "values", *part.kept}
    if not any(result.demands for result in context.results.values()):
        quiet.add("demands")
    wirings = [context.wiring(body) for body in context.bodies]
    if context.settings.target is None:
        quiet.add("target")
    if not context.observed(Mismatch):
        quiet.add("outputs")
    if not context.observed(OutputCount):
        quiet.add("counts")
    if not context.observed(UnknownOperation) and not any_misspelt(context):
        quiet.add("operations")
    if not any(wiring.unlike for wiring in wirings):
        quiet.add("inputs")
    if not any(wiring.cyclic for wiring in wirings):
        quiet.add("cycles")
    if "edges" not in quiet and all(context.links(body).sound for body in context.bodies):
        quiet.add("edges")
    return frozenset(quiet)


T = TypeVar("T")
_ENTRY = 16
"""What an entry takes besides, in elements."""


class Lasting(Generic[T]):
    """What is remembered from one model to the next, by what alone decides it."""

    def __init__(self, most: int = 1 << 16) -> None:
        """most: how much is held, in elements of values, all inputs counted."""
        self.entries: dict[tuple[object, ...], T] = {}
        self._most = most
        self._size = 0

    def keep(
        self, key: tuple[object, ...], entry: T, tensors: tuple[Tensor, ...], size: int = _ENTRY
    ) -> bool:
        """Remembers something, if it is not too large; begins anew where all of it is.

        tensors: those whose values are kept with it. size: what it takes besides, in elements.
        """
        for tensor in tensors:
            if tensor.value is not None:
                size += len(tensor.value)
        if self._size + size > self._most:
            if size > self._most:
                return False
            self.entries.clear()
            self._size = 0
        self.entries[key] = entry
        self._size += size
        return True


_Row = tuple[str, Any, int]
"""Findings of a part: their code, the place of their layer among all of the part, and how many."""
_CHECKED: Lasting[list[_Row] | Literal["refuted"]] = Lasting(1 << 19)
"""What checks found, from one model to the next, by the texts of the parts and their changes."""


class Trial:
    """A part of a body, checked with and without changes."""

    def __init__(self, scene: Scene, core: Iterable[int], *, remembers: bool = False) -> None:
        """remembers: the layers are what their text says, so that it decides what is found."""
        self.scene = scene
        self.remembers = remembers
        self.core = sorted(set(core))
        self.every_layer = sum(1 for at in self.core for _ in _walk(scene.layers[at]))
        """How many layers it has, with those in bodies."""

    @cached_property
    def base(self) -> Counter[Key]:
        """What is found without a change.

        What was found in the whole is found in a part that holds its place, unless it depends on
        layers that the part may not have.
        """
        here = [finding for finding in self.scene.findings if self._holds(finding)]
        if any(finding.rule.code.startswith(_OF_SEVERAL) for finding in here):
            return self.checked_base
        return Counter((finding.rule.code, finding.layer) for finding in here)

    @cached_property
    def checked_base(self) -> Counter[Key]:
        """The same, by a check of the part itself."""
        checked = self.check((), ())
        return Counter() if checked is None else checked

    def _holds(self, finding: Finding) -> bool:
        """Whether the part has the layer or the edge at which a finding stands."""
        scene = self.scene
        edge = scene.edge_at(finding.offset)
        if edge is None:
            at = scene.layer_at(finding.offset)
            return at is not None and at in self._inside
        stray = edge.to_layer not in scene.by_id
        return edge.to_layer in self._ids or (stray and edge.from_layer in self._ids)

    @cached_property
    def _inside(self) -> set[int]:
        return set(self.core)

    @cached_property
    def _ids(self) -> set[str]:
        return {self.scene.layers[at].id for at in self.core}

    def check(
        self,
        edits: tuple[Edit, ...],
        needs: Iterable[int],
        weights: Weights | None = None,
        wanted: Wanted | None = None,
        allowed: Counter[Key] | None = None,
    ) -> Counter[Key] | None:
        """The errors and warnings with some edits; None if the part cannot be read.

        weights: the .bin, if it is another one. wanted: the finding that is to go; None is also
        the answer where it stays. allowed: what may be found; None is also the answer where there
        is more, but for sizes that are not proven.
        """
        said = self._said(edits, needs) if weights is None and self.remembers else None
        if said is None:
            part = self._part(edits, needs, weights)
            return None if part is None else _findings(part, wanted, allowed)
        layers = [each for at in self._with(needs) for each in _walk(self.scene.layers[at])]
        places = dict(zip(layers, range(len(layers)), strict=True))

        def place(layer: Layer | None) -> int | str | None:
            return None if layer is None else places.get(layer, layer.id)

        key = (
            said,
            wanted and (wanted.finding.rule.code, place(wanted.finding.layer), wanted.among),
            allowed is not None
            and frozenset([(code, place(layer), n) for (code, layer), n in allowed.items()]),
        )
        known = _CHECKED.entries.get(key)
        if known is not None:
            if known == "refuted":
                return None
            return Counter({(code, None if at is None else layers[at]): n for code, at, n in known})
        part = self._part(edits, needs, weights)
        graver = None if part is None else _findings(part, wanted, allowed)
        rows = [(code, place(layer), n) for (code, layer), n in (graver or {}).items()]
        if not any(isinstance(at, str) for _, at, _ in rows):
            _CHECKED.keep(key, "refuted" if graver is None else rows, (), size=len(said[0]) // 8)
        return graver

    def _said(self, edits: tuple[Edit, ...], needs: Iterable[int]) -> tuple[Any, ...] | None:
        """What decides a check: the text of a part, what feeds it, and where the text is changed;
        None for a change that lies elsewhere."""
        scene, positions, model = self.scene, self._with(needs), self.scene.context.model
        data, weights = scene.source.data, model.weights
        if weights is not None and weights.data is not None and weights.identity is None:
            return None
        changes: list[tuple[int, int, int, bytes]] = []
        for start, end, text in edits:
            at, edge = scene.layer_at(start), scene.edge_at(start)
            if at in positions:
                number, span = positions.index(at), scene.span(at)
            elif edge in self._edges:
                number, span = -1 - self._edges.index(edge), scene.edge_span(edge)
            elif at is None and edge is None and text.lstrip().startswith(b"<edge "):
                number, span = len(positions), (start, start)
            else:
                return None
            if end > span[1]:
                return None
            changes.append((number, start - span[0], end - span[0], text))
        spans = [*map(scene.span, positions), *map(scene.edge_span, self._edges)]
        read = [(each.rule.code, each.message, each.offset) for each in model.findings]
        return (
            b"\0".join([data[start:end] for start, end in spans]),
            tuple([(at in self._inside, scene.outputs(at)) for at in positions]),
            tuple(changes),
            (scene.body.path, scene.source.encoding, model.version, scene.context.settings),
            weights and (weights.state, weights.identity),
            (*read, *spans) if read else None,
        )

    def _with(self, needs: Iterable[int]) -> list[int]:
        """The layers of the part with others that it needs."""
        return sorted({*self.positions, *needs}) if needs else self.positions

    def check_without(self, position: int, *, declared: bool) -> Counter[Key] | None:
        """The errors and warnings if a layer outside gave what those that it feeds declare.

        declared: otherwise, nothing is known of what it gives.
        """
        scene = self.scene
        positions = sorted({*self.positions, position})
        part = read_part(scene, positions, self._inside, self._edges, ())
        if part is None:
            return None
        part.model.weights = scene.context.model.weights
        net, index = part.model.net, positions.index(position)
        stand_in, given = _stand_in(scene, position, declared)
        net.layers = [*net.layers[:index], stand_in, *net.layers[index + 1 :]]
        net.reindex()
        return _findings(self._inferred(part.model, positions, {index: given}), None, None)

    def _part(
        self, edits: tuple[Edit, ...], needs: Iterable[int], weights: Weights | None
    ) -> _Part | None:
        """The part with some edits, read and inferred; None if it cannot be read."""
        scene = self.scene
        positions = self._with(needs)
        part = read_part(scene, positions, self._inside, self._edges, edits)
        if part is None:
            return None
        part.model.weights = scene.context.model.weights if weights is None else weights
        return self._inferred(part.model, part.positions)

    @cached_property
    def positions(self) -> list[int]:
        """The layers of the part and those that feed them."""
        scene = self.scene
        positions = {*self.core}
        for at in self.core:
            positions.update(source[0] for source in scene.sources[at] if source is not None)
            for edge in scene.edges_to.get(scene.layers[at].id, ()):
                positions.update(scene.by_id.get(edge.from_layer, ()))
        return sorted(positions)

    @cached_property
    def _edges(self) -> list[Edge]:
        """The edges into the part, and those that lead astray from it, in file order."""
        scene, ids = self.scene, self._ids
        edges = [edge for number in ids for edge in scene.edges_to.get(number, ())]
        edges += [edge for edge in scene.stray_edges if edge.from_layer in ids]
        return sorted(edges, key=_offset_of)

    def _inferred(
        self,
        model: Model,
        positions: Sequence[int],
        given: Mapping[int, tuple[Tensor, ...]] = MappingProxyType({}),
    ) -> _Part:
        """The part as rules look at it. positions: those that its layers have in the whole.

        given: what layers outside give, by their index in the part, if not what was inferred.
        """
        scene = self.scene
        presets: dict[int, tuple[Tensor, ...]] = {}
        same = len(model.net.layers) == len(positions)
        changed = set(() if same else _OF_TEXTS)
        if model.weights is not scene.context.model.weights:
            changed.add("constants")
        meant: dict[Layer, Layer] = {}
        outside: set[Layer] = set()
        for index, (layer, at) in enumerate(zip(model.net.layers, positions, strict=False)):
            original = scene.layers[at]
            meant[layer] = original
            if layer is not original and layer is not scene.without_inputs(at):
                changed.update(_changed(layer, original, inside=at in self._inside))
            if layer.bodies and original.bodies:
                for bodies in zip(layer.bodies.values(), original.bodies.values(), strict=False):
                    meant.update(zip(bodies[0].walk(), bodies[1].walk(), strict=False))
            if at in self._inside:
                if scene.body.path and original.is_parameter:  # what it is fed
                    presets[index] = scene.outputs(at)
                continue
            outside.add(layer)
            outside.update(inner for body in (layer.bodies or {}).values() for inner in body.walk())
            if index in given:
                presets[index] = given[index]
            elif not original.is_constant:
                presets[index] = scene.outputs(at)
        if model.weights is scene.context.model.weights:
            engine = scene.engine
            engine.serve(model)
        else:
            engine = BodyEngine(model, lasting=True)
            engine.declarations = scene.engine.declarations
        walk = _PartWalk(engine, model, self._wiring(model, positions, changed), presets)
        walk.run({}, False)
        inference = Inference(model, walk.result)
        context = Context(model, inference, scene.context.settings, reasons=False)
        context.take_over(scene.context)
        kept = _OF_TEXTS - changed - self._told
        if kept >= _OF_ENDS and scene.soundly_linked and model.net.edges == self._edges:
            kept |= {"edges"}
        return _Part(context, meant, outside, kept)

    def _wiring(self, model: Model, positions: Sequence[int], changed: set[str]) -> Wiring:
        """What feeds the layers of the part as it was read: what feeds them in the whole, unless
        ids or edges are changed, or the whole leaves edges or inputs over."""
        whole, net = self.scene.result.wiring, model.net
        if whole.complete is None or not changed.isdisjoint(_OF_ENDS) or net.edges != self._edges:
            return wire(net)
        place = {at: index for index, at in enumerate(positions)}
        return rewired(
            net.layers,
            [
                [source and (place[source[0]], source[1]) for source in whole.sources[at]]
                if at in self._inside
                else []
                for at in positions
            ],
        )

    @cached_property
    def _told(self) -> set[str]:
        """The subjects of rules that have found something anywhere."""
        return {_SUBJECTS.get(finding.rule, "") for finding in self.scene.findings}


def _walk(layer: Layer) -> Iterator[Layer]:
    """A layer and those in its bodies."""
    yield layer
    for body in (layer.bodies or {}).values():
        yield from body.walk()


def _stand_in(scene: Scene, position: int, declared: bool) -> tuple[Layer, tuple[Tensor, ...]]:
    """A layer with the outputs that edges name, and what the inputs that they feed declare."""
    layer = scene.layers[position]
    wanted: dict[str, Port] = {}
    for edge in scene.edges_from.get(layer.id, ()):
        for at in scene.by_id.get(edge.to_layer, ()):
            for port in scene.layers[at].inputs:
                if port.id == edge.to_port:
                    wanted.setdefault(edge.from_port, port)
    stand_in = Layer(layer.id, layer.name, "Parameter", "opset1", layer.offset, layer.path)
    stand_in.outputs = [
        Port(number, port.precision if declared else None, None, layer.offset, port.dims)
        for number, port in wanted.items()
    ]
    return stand_in, tuple(
        Tensor(
            port.element_type or DYNAMIC_TYPE,
            DYNAMIC_SHAPE if port.dims is None or not declared else PartialShape(port.dims),
        )
        for port in stand_in.outputs
    )


def _changed(layer: Layer, original: Layer, *, inside: bool) -> Iterator[str]:
    """Which of `_OF_TEXTS` a layer changes that was read again. inside: its inputs, too."""
    if layer.bodies or original.bodies:
        yield from _OF_TEXTS
        return
    if (layer.type, layer.version) != (original.type, original.version):
        yield from ("bodies", "constants")
    if layer.id != original.id:
        yield "ids"
    if layer.items != original.items and original.is_constant:
        yield "constants"
    heads, before = layer.port_heads, original.port_heads
    if heads.output_ids != before.output_ids or (inside and heads.input_ids != before.input_ids):
        yield "port ids"
    if heads.output_precisions != before.output_precisions or (
        inside and heads.input_precisions != before.input_precisions
    ):
        yield "precisions"


def _offset_of(edge: Edge) -> int:
    return edge.offset


class _PartWalk(Walk):
    """A pass over a part, in which the layers at the boundary have the tensors of the whole."""

    def __init__(
        self,
        engine: BodyEngine,
        model: Model,
        wiring: Wiring,
        presets: Mapping[int, tuple[Tensor, ...]],
    ) -> None:
        super().__init__(engine, model.net, wiring, compare=True)
        self.order = [at for at in wiring.order if at not in presets]
        for at, tensors in presets.items():
            self.result.outputs[at] = tensors
            self.compare_ports(at, tensors)


@lru_cache(maxsize=1)
def _rules_of_parts() -> tuple[tuple[type[Rule], bool, str], ...]:
    """The local rules, each with whether it does more than to name what is reported, and what it
    is about.

    Those come first that most often tell against a change.
    """
    rules = sorted(
        local_rules(), key=lambda rule: not rule.code.startswith(("IR4", "IR20", "IR11"))
    )
    return tuple((rule, makes_findings(rule), _SUBJECTS.get(rule.id, "")) for rule in rules)


@lru_cache(maxsize=1)
def local_rules() -> tuple[type[Rule], ...]:
    """The rules whose findings depend on a layer and its neighbours."""
    return tuple(
        rule
        for rule in all_rules()
        if rule.default
        and rule.code.startswith(_FAMILIES)
        and rule.id not in GLOBAL
        and (rule.severity != "info" or rule.id == LOOSER_DECLARATION)
    )
