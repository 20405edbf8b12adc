"""Fixes what has one right answer, by edits of the bytes: `irshape fix`.

Ids first, then the names of attributes, then ports: each rests on what comes before it. After each step the text is read again, until there is nothing left to do.
Ports are held against what follows from the operations, their attributes and the inputs of the model alone, so that a model whose input was changed is put right in one step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from ..diagnostics.report import Diagnostic, diagnostic
from ..faults import Fault
from ..formats.ir.edits import (
    Edit,
    Edited,
    add_attribute,
    read_dims,
    rename_attribute,
    set_attribute,
    set_dims,
)
from ..formats.loading import WeightsChoice, open_model, read_source
from ..inference.engine import infer
from ..inference.ports import declared
from ..inference.result import BodyResult
from ..model.graph import Finding, Layer, Model, NotReadable, Port
from ..model.source import Source
from ..model.weights import Weights
from ..ops import registry
from ..ops.tensors import Tensor
from ..rule_ids import (
    CONSTANT_OUT_OF_RANGE,
    CYCLE,
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    DUPLICATE_ID,
    DUPLICATE_PORT,
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    LOOSER_DECLARATION,
    MALFORMED_DIM,
    MALFORMED_EDGE,
    MALFORMED_ID,
    MISSING_EDGE,
    MISSING_PRECISION,
    MISSING_RESULT,
    MISSING_WEIGHTS,
    MISSPELT_ATTRIBUTE,
    MISSPELT_ELEMENT,
    NEWER_THAN_TARGET,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
    REPAIRED_XML,
    REPEATED_ELEMENT,
    UNKNOWN_EDGE_ATTRIBUTE,
    UNKNOWN_LAYER_ATTRIBUTE,
    UNKNOWN_PORT_ATTRIBUTE,
    UNKNOWN_PRECISION,
    UNREACHABLE_LAYER,
    RuleId,
)
from ..rules import Context
from ..rules.settings import PLAIN
from ..settings.selection import Filter
from ..types import PartialShape
from .one import examine

MAX_ROUNDS = 100
"""How often a text is read again. Real ones need five."""

PORT_RULES = frozenset(
    (
        OUTPUT_SHAPE_MISMATCH,
        OUTPUT_TYPE_MISMATCH,
        LOOSER_DECLARATION,
        INPUT_MISMATCH,
        INPUT_TYPE_MISMATCH,
        MISSING_PRECISION,
        UNKNOWN_PRECISION,
        MALFORMED_DIM,
    )
)
_NAMES = frozenset(
    (
        MISSPELT_ATTRIBUTE,
        UNKNOWN_LAYER_ATTRIBUTE,
        UNKNOWN_PORT_ATTRIBUTE,
        UNKNOWN_EDGE_ATTRIBUTE,
    )
)
_IDS = frozenset((MALFORMED_ID, MALFORMED_EDGE))
FIXED_RULES = PORT_RULES | _NAMES | _IDS
"""The rules whose findings can be fixed, where one answer is right."""

_WIRING = frozenset(
    (
        DUPLICATE_ID,
        MALFORMED_ID,
        DUPLICATE_PORT,
        DANGLING_EDGE,
        MALFORMED_EDGE,
        DUPLICATE_EDGE,
        MISSING_EDGE,
        CYCLE,
        MISSPELT_ELEMENT,
        REPEATED_ELEMENT,
    )
)
"""With an error of these it is not clear who feeds whom, so no port is touched."""
_ELSEWHERE = frozenset(
    (
        MISSING_WEIGHTS,
        CONSTANT_OUT_OF_RANGE,
        UNREACHABLE_LAYER,
        MISSING_RESULT,
        NEWER_THAN_TARGET,
    )
)
"""Errors that say nothing against the ports of their layer."""


class Fixes:
    """What was, or would be, changed in a file. Nothing has been written.

    `fixed` are the findings that are gone, at their places in the original; `remaining` those that are left, at their places in the fixed text.
    """

    def __init__(self, path: str, original: bytes, encoding: str) -> None:
        self.path = path
        self.original = original
        self.encoding = encoding
        self.fixed: list[Diagnostic] = []
        self.remaining: list[Diagnostic] = []
        self.remaining_before: list[Diagnostic] = []
        """The same as `remaining`, at their places in the original."""
        self.readable = True
        """Whether the file could be read as an IR at all."""
        self.edits: list[Edit] = []
        """Edits of `original`, by byte offset."""

    @property
    def data(self) -> bytes:
        """The fixed bytes: those of the original but for the edits."""
        parts: list[bytes] = []
        at = 0
        for start, end, text in self.edits:
            parts += (self.original[at:start], text)
            at = end
        return b"".join((*parts, self.original[at:]))

    @property
    def text(self) -> str:
        """The fixed text."""
        return self.data.decode(self.encoding, "replace")

    def diff(self) -> str:
        """What changes, as a unified diff; nothing where nothing does."""
        return (
            "".join(_diff(self.path, self.original.decode(self.encoding, "replace"), self.text))
            if self.edits
            else ""
        )


def fix(path: str | os.PathLike[str], weights: WeightsChoice = "beside") -> Fixes:
    """`irshape.fix`."""
    name = os.fspath(path)
    try:
        source, weights_file = open_model(name, weights)
        model = read_source(source, weights_file)
    except NotReadable as unreadable:
        fixes = _untouched(unreadable.source, [diagnostic(unreadable.finding, unreadable.source)])
        fixes.readable = False
        return fixes
    if not model.format.fixable:
        raise ValueError(f"'{name}' is no IR; only the text of an IR can be fixed")
    if model.source.data != source.data or any(
        problem.rule == REPAIRED_XML for problem in model.findings
    ):
        found, _ = examine(model)  # a layer that is not well-formed as it stands
        return _untouched(model.source, [diagnostic(problem, model.source) for problem in found])
    return _fixed(source, model)


def _untouched(source: Source, found: list[Diagnostic]) -> Fixes:
    fixes = Fixes(source.path, *_raw(source))
    fixes.remaining = fixes.remaining_before = found
    return fixes


def _fixed(source: Source, model: Model) -> Fixes:
    edited = Edited(source.data)
    weights = model.weights
    made: dict[tuple[object, ...], Finding] = {}
    for turn in range(MAX_ROUNDS + 1):
        found, context = examine(model)
        step = next(
            (step for phase in (_ids, _names, _ports) if (step := list(phase(context, found)))),
            None,
        )
        if step is None or turn == MAX_ROUNDS:
            break
        places = [edited.origin(each.problem.offset) for each in step]
        edited.apply(edit for each in step for edit in each.edits)
        for each, place in zip(step, places, strict=True):
            made.setdefault(_key(each.problem, place), each.problem._replace(offset=place))
        model = _read(
            Source(source.path, edited.data, "utf-8" if source.raw is None else "utf-8-sig"),
            model,
            weights,
        )
    fixes = Fixes(source.path, *_raw(source))
    fixes.edits = _raw_edits(source, edited.edits)
    left = {_key(problem, edited.origin(problem.offset)) for problem in found}
    fixes.fixed = [
        diagnostic(problem, source)
        for key, problem in sorted(made.items(), key=lambda item: item[1].offset)
        if key not in left
    ]
    after = model.source
    fixes.remaining = [diagnostic(problem, after) for problem in found]
    fixes.remaining_before = [
        diagnostic(problem._replace(offset=edited.origin(problem.offset)), source)
        for problem in found
    ]
    return fixes


def _read(source: Source, before: Model, weights: Weights | None) -> Model:
    """The edited text, with the weights that were opened for the original."""
    model = read_source(source, None)
    if before.kind == "net":
        model.weights = weights
    return model


def _key(problem: Finding, place: int) -> tuple[object, ...]:
    layer = problem.layer
    return (problem.rule, place, layer.path if layer is not None else None, problem.port)


def _raw(source: Source) -> tuple[bytes, str]:
    """The bytes of the file and their encoding; a file in UTF-16 was turned into UTF-8 when it was opened."""
    if source.raw is None:
        return source.data, source.encoding
    return source.raw, "utf-16"


def _raw_edits(source: Source, edits: list[Edit]) -> list[Edit]:
    if source.raw is None:
        return edits
    wide = "utf-16-le" if source.raw[:2] == b"\xff\xfe" else "utf-16-be"
    found, at, place = [], 0, 2
    for start, end, text in edits:
        place += len(source.data[at:start].decode().encode(wide))
        past = place + len(source.data[start:end].decode().encode(wide))
        found.append(Edit(place, past, text.decode().encode(wide)))
        at, place = end, past
    return found


# what is fixed


class Step(NamedTuple):
    """A finding and the edits that put it right."""

    problem: Finding
    edits: tuple[Edit, ...]


def _ids(context: Context, found: list[Finding]) -> Iterator[Step]:
    """Ids with a sign or leading zeros, which OpenVINO reads."""
    source = context.model.source
    taken: dict[tuple[object, ...], set[str]] = {}
    for body in context.bodies:
        taken[body.path] = set(body.by_id)
        for layer in body.layers:
            for way, ports in (("input", layer.inputs), ("output", layer.outputs)):
                taken[id(layer), way] = {port.id for port in ports}
    for problem in found:
        if problem.rule not in _IDS or problem.severity != "warning" or problem.expected is None:
            continue
        if problem.rule == MALFORMED_ID and problem.layer is not None:
            others = taken[
                (id(problem.layer), problem.port[0]) if problem.port else problem.layer.path
            ]
            if problem.expected in others:
                continue
            others.add(problem.expected)
        edit = set_attribute(source, problem.offset, problem.expected)
        if edit is not None:
            yield Step(problem, (edit,))


def _names(context: Context, found: list[Finding]) -> Iterator[Step]:
    """Misspelt names of attributes, where one name alone is close."""
    source = context.model.source
    meant: dict[tuple[int, str], int] = {}
    steps: list[tuple[tuple[int, str], Step]] = []
    for problem in found:
        if problem.rule not in _NAMES or problem.actual is None or problem.expected is None:
            continue
        name = (
            problem.expected if problem.rule == MISSPELT_ATTRIBUTE else _structural(source, problem)
        )
        if name is None or (
            problem.rule == MISSPELT_ATTRIBUTE
            and problem.layer is not None
            and not _only_one(problem.layer, problem.actual, name)
        ):
            continue
        edit = rename_attribute(source, problem.offset, problem.actual, name)
        if edit is not None:
            key = (source.data.rfind(b"<", 0, problem.offset), name)
            meant[key] = meant.get(key, 0) + 1
            steps.append((key, Step(problem, (edit,))))
    yield from (step for key, step in steps if meant[key] == 1)


def _only_one(layer: Layer, name: str, meant: str) -> bool:
    """Whether no other attribute of the operation is as close to the name as the one that is taken to be meant."""
    try:
        known = [
            declared.name
            for declared in registry.find(layer.type, layer.version).attributes.values()
            if layer.attribute(declared.name) is None
        ]
    except registry.UnknownOperation:
        return True
    return all(other == meant or _alike(name, other) < _alike(name, meant) for other in known)


def _alike(name: str, other: str) -> float:
    return SequenceMatcher(None, other, name).ratio()


def _structural(source: Source, problem: Finding) -> str | None:
    """The attribute of a <layer>, <port> or <edge> that a name is close to and that the element lacks."""
    from difflib import get_close_matches

    element = source.data.rfind(b"<", 0, problem.offset)
    there = {name for name, *_ in source.attributes(element)}
    absent = [name for name in (problem.expected or "").split(", ") if name not in there]
    close = get_close_matches(problem.actual or "", absent, 2, 0.75)
    return (
        close[0]
        if len(close) == 1
        or (
            close
            and _alike(problem.actual or "", close[0]) > _alike(problem.actual or "", close[1])
        )
        else None
    )


def _ports(context: Context, found: list[Finding]) -> Iterator[Step]:
    """Ports that declare something other than what they carry."""
    errors = [problem for problem in found if problem.severity == "error"]
    if not any(problem.rule in PORT_RULES for problem in found) or any(
        problem.rule in _WIRING for problem in errors
    ):
        return
    blocked = {
        id(problem.layer)
        for problem in errors
        if problem.layer is not None and problem.rule not in FIXED_RULES | _ELSEWHERE
    }
    sieve = Filter(PLAIN, context.model.source)
    for step in _Ports(context, blocked | context.doubtful | context.mistyped).steps():
        if sieve.keep(step.problem):
            yield step


_Dims = tuple[int, ...] | None


class _Ports:
    """Holds every port of a model against an inference that believes none of them."""

    def __init__(self, context: Context, blocked: set[int]) -> None:
        self.context = context
        self.source = context.model.source
        self.blocked = blocked
        self.result = infer(context.model).result
        self.tainted: set[int] = set()
        """Layers of whose outputs nothing can be said, since something before them is in doubt, by `id`."""
        self.known: dict[int, tuple[_Dims, str | None]] = {}
        """What a port declares once it is put right, by `id`."""

    def steps(self) -> Iterator[Step]:
        for _ in range(len(self.context.bodies) + 1):
            before = len(self.tainted)
            self.taint(self.result, False)
            if len(self.tainted) == before:
                break
        yield from self.of(self.result)

    def of(self, result: BodyResult) -> Iterator[Step]:
        """The steps in one body and those inside it."""
        layers = result.body.layers
        for position in result.wiring.order:
            layer = layers[position]
            if id(layer) not in self.tainted and id(layer) not in self.blocked:
                for port, tensor in zip(
                    layer.outputs, self.tensors(result, position), strict=False
                ):
                    yield from self.output(layer, port, tensor, position not in result.unsure)
            for body in result.inner.get(position, {}).values():
                yield from self.of(body)
        for position, row in enumerate(result.wiring.sources):
            for port, source in zip(layers[position].inputs, row, strict=True):
                if source is not None and id(layers[source[0]]) not in self.tainted:
                    yield from self.input(
                        layers[position], port, layers[source[0]].outputs[source[1]]
                    )

    def tensors(self, result: BodyResult, position: int) -> tuple[Tensor, ...]:
        """What the outputs of a layer carry; a Parameter of a body says so itself."""
        layer = result.body.layers[position]
        own = _own(layer)
        return result.outputs[position] if own is None else (own,)

    def taint(self, result: BodyResult, whole: bool) -> None:
        """Marks the layers that are in doubt with ports that show it, and all behind them."""
        layers = result.body.layers
        for position in result.wiring.order:
            layer = layers[position]
            own = _own(layer)
            fed = result.outputs[position]
            doubtful = whole or any(
                source is not None and id(layers[source[0]]) in self.tainted
                for source in result.wiring.sources[position]
            )
            doubtful = doubtful or (
                own is not None and bool(fed) and not own.shape.compatible(fed[0].shape)
            )
            if id(layer) in self.blocked and not doubtful:
                doubtful = any(
                    _differ(port, tensor) for port, tensor in zip(layer.outputs, fed, strict=False)
                )
            inner = result.inner.get(position, {})
            for body in inner.values():
                self.taint(body, doubtful)
            if doubtful or any(
                id(inside) in self.tainted for body in inner.values() for inside in body.body.layers
            ):
                self.tainted.add(id(layer))

    def output(self, layer: Layer, port: Port, tensor: Tensor, certain: bool) -> Iterator[Step]:
        dims, precision = port.dims, port.precision
        shape = tensor.shape
        form = (
            None
            if shape.dims is None
            else tuple(dim.low if dim.is_static else -1 for dim in shape.dims)
        )
        given = declared(port, tensor)
        element_type = tensor.element_type
        if port.element_type is None:
            rule = MISSING_PRECISION if precision is None else UNKNOWN_PRECISION
            if (certain or not element_type.is_dynamic) and (
                precision is not None or self.context.model.kind == "net"
            ):
                precision = element_type.precision
                yield from self.precision(rule, layer, port, "output", precision)
        elif (
            not element_type.is_dynamic
            and not given.element_type.is_dynamic
            and given.element_type is not element_type
        ):
            precision = element_type.precision
            yield from self.precision(OUTPUT_TYPE_MISMATCH, layer, port, "output", precision)
        if dims is None:
            if form is not None:
                there = read_dims(self.source, port.offset)
                dims = form
                if not certain and len(there) == len(form):
                    dims = (
                        _merged(
                            tuple(
                                form[i] if size is None else size for i, size in enumerate(there)
                            ),
                            shape,
                        )
                        or form
                    )
                yield from self.dims(MALFORMED_DIM, layer, port, "output", dims)
        elif form is not None and given.shape != shape:
            if not given.shape.compatible(shape):
                dims = form if certain else _merged(dims, shape) or form
                yield from self.dims(OUTPUT_SHAPE_MISMATCH, layer, port, "output", dims)
            elif (
                certain
                and dims != form
                and layer.type.lower() not in ("parameter", "readvalue")
                and given.shape.encloses(PartialShape(form))
            ):
                dims = form
                yield from self.dims(LOOSER_DECLARATION, layer, port, "output", dims)
        self.known[id(port)] = (dims, precision)

    def input(self, layer: Layer, port: Port, feeding: Port) -> Iterator[Step]:
        dims, precision = self.known.get(id(feeding), (feeding.dims, feeding.precision))
        if not port.dims and port.dims is not None and port.precision is None:
            return  # it says nothing at all
        if dims is not None and port.dims != dims:
            yield from self.dims(
                MALFORMED_DIM if port.dims is None else INPUT_MISMATCH,
                layer,
                port,
                "input",
                dims,
            )
        there = declared(_as_port(dims, precision)).element_type
        if port.precision is None or there.is_dynamic:
            return
        here = port.element_type
        if here is None or (not here.is_dynamic and here is not there):
            yield from self.precision(
                UNKNOWN_PRECISION if here is None else INPUT_TYPE_MISMATCH,
                layer,
                port,
                "input",
                there.precision,
            )

    def dims(
        self, rule: RuleId, layer: Layer, port: Port, way: str, wanted: tuple[int, ...]
    ) -> Iterator[Step]:
        edits = set_dims(self.source, port.offset, wanted)
        if edits:
            before = (
                "malformed"
                if port.dims is None
                else str(PartialShape(port.dims))
                if port.dims
                else "no dimensions"
            )
            after = str(PartialShape(wanted)) if wanted else "no dimensions"
            yield Step(
                Finding(
                    Fault(
                        rule,
                        f"{way} port {port.id}: {before} becomes {after}",
                        expected=after,
                        actual=before,
                    ),
                    port.offset,
                    layer,
                    port=(way, port.id),
                ),
                tuple(edits),
            )

    def precision(
        self, rule: RuleId, layer: Layer, port: Port, way: str, wanted: str
    ) -> Iterator[Step]:
        if port.precision is None:
            edit, place = (
                add_attribute(self.source, port.offset, "precision", wanted, after="id"),
                port.offset,
            )
        else:
            place = self.source.attribute(port.offset, "precision")
            edit = set_attribute(self.source, place, wanted)
        if edit is not None:
            change = (
                f"precision {wanted} is added"
                if port.precision is None
                else f"precision {port.precision} becomes {wanted}"
            )
            yield Step(
                Finding(
                    Fault(
                        rule,
                        f"{way} port {port.id}: {change}",
                        expected=wanted,
                        actual=port.precision,
                    ),
                    place,
                    layer,
                    port=(way, port.id),
                ),
                (edit,),
            )


def _as_port(dims: _Dims, precision: str | None) -> Port:
    port = Port("", precision, None, 0)
    port.dims = dims
    return port


def _own(layer: Layer) -> Tensor | None:
    """What a Parameter itself says that it is."""
    if layer.type.lower() != "parameter":
        return None
    try:
        found = registry.find(layer.type, layer.version).read(layer.items)[0].infer()
    except registry.UnknownOperation:
        return None
    return found if isinstance(found, Tensor) else None


def _differ(port: Port, tensor: Tensor) -> bool:
    given = declared(port, tensor)
    types = (given.element_type, tensor.element_type)
    return (
        port.dims is None
        or given.shape != tensor.shape
        or (types[0] is not types[1] and not any(each.is_dynamic for each in types))
    )


def _merged(dims: tuple[int, ...], shape: PartialShape) -> tuple[int, ...] | None:
    """What is declared, but for the dimensions that cannot be; None where the ranks differ."""
    if shape.dims is None or len(dims) != len(shape.dims):
        return None
    return tuple(
        size if size < 0 or found.compatible(given) else found.low if found.is_static else -1
        for size, found, given in zip(dims, shape.dims, PartialShape(dims).dims or (), strict=True)
    )


# diff


def _diff(path: str, before: str, after: str, around: int = 3) -> Iterator[str]:
    """A unified diff. Lines are compared where they differ only: a model has many, and few change."""
    old, new = before.split("\n"), after.split("\n")
    blocks = list(_blocks(old, new))
    yield f"--- {_shown(path)}\n+++ {_shown(path)}\n"
    while blocks:
        hunk = [blocks.pop(0)]
        while blocks and blocks[0][0] - hunk[-1][1] <= 2 * around:
            hunk.append(blocks.pop(0))
        (first, _, first_new, _), (_, last, _, last_new) = hunk[0], hunk[-1]
        lead = min(around, first)
        tail = min(around, _lines(old) - last)
        counts = [last - first + lead + tail, last_new - first_new + lead + tail]
        starts = [first - lead + (counts[0] > 0), first_new - lead + (counts[1] > 0)]
        yield (
            "@@ -"
            + " +".join(
                f"{start},{count}" if count != 1 else str(start)
                for start, count in zip(starts, counts, strict=True)
            )
            + " @@\n"
        )
        at = first - lead
        for a, b, c, d in hunk:
            yield from (_line(" ", old, i) for i in range(at, a))
            yield from (_line("-", old, i) for i in range(a, b))
            yield from (_line("+", new, i) for i in range(c, d))
            at = b
        yield from (_line(" ", old, i) for i in range(at, last + tail))


def _lines(lines: list[str]) -> int:
    return len(lines) - (not lines[-1])


def _line(mark: str, lines: list[str], at: int) -> str:
    return (
        f"{mark}{lines[at]}\n"
        if at < len(lines) - 1
        else f"{mark}{lines[at]}\n\\ No newline at end of file\n"
    )


def _blocks(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Where the lines differ: from and to in the old ones, from and to in the new ones."""
    a = c = 0
    while a < len(old) or c < len(new):
        if a < len(old) and c < len(new) and old[a] == new[c]:
            a, c = a + 1, c + 1
            continue
        rest_old, rest_new, window = len(old) - a, len(new) - c, 4
        while True:  # the nearest place from which the lines agree again
            window = min(window * 2, max(rest_old, rest_new))
            match = SequenceMatcher(
                None, old[a : a + window], new[c : c + window], autojunk=False
            ).get_opcodes()
            same = next(
                (
                    (i, j)
                    for how, i, k, j, _ in match
                    if how == "equal" and (k - i >= 3 or (a + k == len(old)))
                ),
                None,
            )
            if same is not None or window >= max(rest_old, rest_new):
                i, j = same if same is not None else (rest_old, rest_new)
                break
        yield a, a + i, c, c + j
        a, c = a + i, c + j


def _shown(path: str) -> str:
    from ..diagnostics.renderers.common import plain

    return plain(path)
