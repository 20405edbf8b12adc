"""Causes that lie in no single element: another .bin, another batch, ids that were renumbered.

They show in many findings at once, and are told as one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from ..formats.ir.edits import Edit
from ..inference.engine import infer
from ..inference.ports import declared
from ..inference.result import BodyResult
from ..model.graph import Body, Finding, Layer, Port
from ..model.ids import is_number
from ..model.weights import Weights
from ..ops.tensors import Tensor
from ..rule_ids import (
    CONSTANT_OUT_OF_RANGE,
    DANGLING_EDGE,
    DUPLICATE_ID,
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    MISSING_EDGE,
    PORT_MAP,
    UNREACHABLE_LAYER,
    RuleId,
)
from ..rules import Context
from .candidate import Candidate, Diagnosis
from .elements.constant_places import constant_spans, reaching_into_others
from .elements.writing import with_attribute, with_edge
from .trials.scene import Scene
from .trials.trial import Trial, local_rules
from .trials.work import Work

_EDGE = 80
"""An edge is no longer than this."""
SEVERAL = 3
"""How many findings it takes to look for a cause in the file as a whole."""
MAX_SHIFTED = 1 << 26
"""The largest .bin that is tried with its content moved."""


FEW = 12
"""With so many findings a single constant is looked for first."""
Single = Callable[[Context, Sequence[Finding], int], Diagnosis | None]
"""Looks for one constant that explains so many findings."""


_BETWEEN_LAYERS = (INPUT_MISMATCH, INPUT_TYPE_MISMATCH)


def whole_file_cause(
    context: Context, findings: Sequence[Finding], single: Single, work: Work
) -> Diagnosis | None:
    """The cause that lies in the file as a whole, if there is one."""
    return (
        _short_weights(context, findings)
        or _other_weights(context, findings, single, work)
        or another_batch(context, findings)
        or _renumbered(context, findings)
    )


def _told(
    lead: Finding,
    message: str,
    help: str,
    offset: int,
    layer: Layer | None,
    explained: Sequence[Finding],
    candidates: tuple[Candidate, ...] = (),
    certain: bool = False,
) -> Diagnosis:
    fault = lead.fault._replace(message=message, help=help, expected=None, actual=None)
    finding = Finding(fault, offset, layer, None, tuple(explained))
    return Diagnosis(finding, tuple(explained), candidates, certain)


# the .bin


def _name(weights: Weights) -> str:
    return os.path.basename(weights.path or "the .bin")


def _short_weights(context: Context, findings: Sequence[Finding]) -> Diagnosis | None:
    """The .bin ends before its last constants."""
    behind = [finding for finding in findings if finding.rule == CONSTANT_OUT_OF_RANGE]
    weights = context.model.weights
    if len(behind) < 2 or weights is None:
        return None
    spans = context.shared(constant_spans)
    needed = max(end for _, end, _ in spans)
    if not _dense(spans):
        return None  # some offset is wrong by itself
    lost = needed - weights.size
    explained = [*behind, *_of_constants(context, findings)]
    fitting = _fitting_sibling(context, needed)
    reason = fitting or _other_precision(context) or "it was cut off, or is another model's"
    lead = behind[0]
    return _told(
        lead,
        f"{_name(weights)} has {weights.size} bytes, but the constants take {needed}: the last "
        f"{lost} are missing, which {len(behind)} constants need; {reason}",
        "get the .bin that was written with this .xml",
        lead.offset,
        lead.layer,
        list(dict.fromkeys(explained)),
    )


def _dense(spans: Sequence[tuple[int, int, Layer]]) -> bool:
    """Whether constants lie close to each other, as writers put them."""
    taken, end = 0, 0
    for start, stop, _ in spans:
        taken += max(0, stop - max(start, end))
        end = max(end, stop)
    return taken * 2 >= end


def _of_constants(context: Context, findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings that rest on values: they are gone where the model is read without its .bin."""
    left = _without_weights(context, None, {finding.rule for finding in findings})
    for finding in findings:
        key = (finding.rule.code, finding.layer)
        if left[key]:
            left[key] -= 1
        elif finding.rule != CONSTANT_OUT_OF_RANGE:
            yield finding


def _without_weights(
    context: Context, weights: Weights | None, asked: Collection[RuleId] | None = None
) -> Counter[object]:
    """The errors and warnings of the model with another .bin, or with none.

    asked: the rules whose findings are wanted, if not those of all.
    """
    model = context.model
    before = model.weights
    model.weights = weights if weights is not None else Weights(None, None, "absent")
    try:
        other = Context(model, infer(model, compare=True), context.settings, reasons=False)
        return Counter(
            (finding.rule.code, finding.layer)
            for rule in local_rules()
            if asked is None or rule.id in asked
            for finding in rule.findings(other)
            if finding.severity != "info"
        )
    finally:
        model.weights = before


def _layers_on_values(context: Context, layers: Collection[Layer | None]) -> int:
    """How many of some layers take values that are known, or are constants or have bodies."""
    count = 0
    for body, result in context.results.items():
        for position, layer in enumerate(body.layers):
            if layer in layers and (
                layer.is_constant
                or layer.bodies
                or any(
                    each is not None and each.value is not None
                    for each in result.inputs.get(position, ())
                )
            ):
                count += 1
    return count


def _share_a_constant(context: Context, layers: Collection[Layer | None]) -> bool:
    """Whether one constant feeds all of some layers of the net."""
    result = context.results[context.model.net]
    shared: set[int] | None = None
    for at, layer in enumerate(result.body.layers):
        if layer in layers:
            row = {source[0] for source in result.wiring.sources[at] if source is not None}
            constants = {source for source in row if result.body.layers[source].is_constant}
            shared = constants if shared is None else shared & constants
    return bool(shared) and all(layer is not None and not layer.path for layer in layers)


def _other_weights(
    context: Context, findings: Sequence[Finding], single: Single, work: Work
) -> Diagnosis | None:
    """The .bin holds other values than the shapes of the model need."""
    weights = context.model.weights
    of_values = [finding for finding in findings if finding.rule.code.startswith(("IR2", "IR4"))]
    layers = {finding.layer for finding in of_values}
    if weights is None or weights.state != "ready" or len(layers) < SEVERAL:
        return None
    if len(findings) <= FEW:
        alone = single(context, findings, len(findings))
        if alone is not None:
            return alone
    if _layers_on_values(context, layers) < SEVERAL or _share_a_constant(context, layers):
        return None  # one constant may have another's bytes
    work.count_inference()
    explained = list(_of_constants(context, findings))
    explained += [finding for finding in findings if finding.rule == CONSTANT_OUT_OF_RANGE]
    if len({finding.layer for finding in explained}) < SEVERAL or len(explained) * 2 < len(
        findings
    ):
        return None
    alone = single(context, findings, len(explained))
    if alone is not None:
        return alone
    if Scene(context, context.results[context.model.net]).narrowed:
        return None  # an input has other sizes than its port
    if any(f.rule in _BETWEEN_LAYERS or f.rule.code.startswith("IR11") for f in findings):
        return None  # no .bin decides what ports say and where edges lead
    if context.shared(reaching_into_others):
        return None  # offsets are wrong, whatever the .bin holds
    spans = context.shared(constant_spans)
    needed = max((end for _, end, _ in spans), default=0)
    reason = (
        _shift(context, findings, needed)
        or _fitting_sibling(context, needed)
        or _other_precision(context)
        or "it is another model's, or was written anew"
    )
    layer = spans[0][2] if spans else None
    lead = next((f for f in explained if f.severity == "error"), explained[0])
    return _told(
        lead,
        f"{_name(weights)} does not belong to this .xml: {len(explained)} findings rest on the "
        f"values of its constants; {reason}",
        "get the .bin that was written with this .xml",
        layer.offset if layer is not None else 0,
        layer,
        explained,
    )


def _shift(context: Context, findings: Sequence[Finding], needed: int) -> str | None:
    """Whether the constants fit once the content of the .bin is moved."""
    weights = context.model.weights
    if weights is None or weights.data is None or weights.size > MAX_SHIFTED:
        return None
    scene = Scene(context, context.results[context.model.net])
    first = [scene.position[f.layer] for f in findings if f.layer in scene.position][:SEVERAL]
    part = Trial(scene, first)  # most moves show in a few layers already
    content = bytes(weights.view(0, weights.size))
    for by in dict.fromkeys((weights.size - needed, 4, 8, 16, 64, -4, -8, -16, -64)):
        if not by or abs(by) >= weights.size:
            continue
        moved = content[by:] if by > 0 else bytes(-by) + content
        other = Weights(weights.path, moved, "ready")
        if not part.check((), (), other) and not _without_weights(context, other):
            where = "behind" if by > 0 else "before"
            return f"its content lies {abs(by)} bytes {where} where the offsets say"
    return None


def _fitting_sibling(context: Context, needed: int) -> str | None:
    """The other .bin in the folder with which nothing is wrong."""
    weights = context.model.weights
    if weights is None or weights.path is None:
        return None
    folder, own = os.path.split(os.path.abspath(weights.path))
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".bin"))[:64]
    except OSError:
        return None
    sized = [
        name
        for name in names
        if name != own and 0 <= _size(os.path.join(folder, name)) - needed < 64
    ]
    for name in sized[:2]:
        other = Weights.open(os.path.join(folder, name))
        if other.state == "ready" and not _without_weights(context, other):
            return f"{name} beside it fits"
    return None


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return -1


def _other_precision(context: Context) -> str | None:
    """Whether the .bin is as large as it would be in another precision."""
    weights = context.model.weights
    spans = {(start, end): layer for start, end, layer in context.shared(constant_spans)}
    if weights is None:
        return None
    for name, other, wide, narrow in (("f32", "f16", 1, 2), ("f16", "f32", 2, 1)):
        whole = sum(
            (end - start) * wide // narrow
            if layer.attribute("element_type") == name
            else end - start
            for (start, end), layer in spans.items()
        )
        changed = any(layer.attribute("element_type") == name for layer in spans.values())
        if changed and abs(whole - weights.size) <= max(64, len(spans) * 8):
            return f"it is as large as with {other} where the .xml says {name}"
    return None


# the batch


def another_batch(context: Context, findings: Sequence[Finding]) -> Diagnosis | None:
    """One size is declared everywhere where another follows from the inputs."""
    concerned = [finding for finding in findings if finding.rule.code.startswith("IR20")]
    if len(concerned) < 2 or len(concerned) * 2 < len(findings):
        return None
    if any(finding.rule.code.startswith("IR1") for finding in findings):
        return None
    pair = _one_pair(concerned)
    layers = {finding.layer for finding in concerned}
    net = context.results[context.model.net]
    parameter = next(
        (
            layer
            for layer in context.model.parameters
            if _first(layer.attribute("shape")) in pair and not layers.isdisjoint(_near(net, layer))
        ),
        None,
    )
    if parameter is None:
        return None
    places: Counter[tuple[int, int]] = Counter()
    for port, tensor in _ports(infer(context.model).result):
        places.update(_differences(port, tensor))
    if not places or places.total() < SEVERAL:
        return None
    (here, there), count = places.most_common(1)[0]
    if count < 0.9 * places.total() or count < SEVERAL or not pair & {str(here), str(there)}:
        return None
    written = parameter.attribute("shape")
    return _told(
        concerned[0],
        f"{here} is declared in {count} places where {there} is inferred from "
        f"shape=\"{written}\" of Parameter '{parameter.name}': only a part of the file was "
        "changed to another size",
        f"declare {there} in all of them (irshape fix), or change the shape of the input",
        context.model.source.attribute(parameter.data_offset, "shape"),
        parameter,
        concerned,
    )


def _near(result: BodyResult, layer: Layer) -> set[Layer]:
    """A layer of the net and those that it feeds."""
    layers = result.body.layers
    own = layers.index(layer)
    rows = zip(layers, result.wiring.sources, strict=True)
    return {layer} | {
        other for other, row in rows if any(source and source[0] == own for source in row)
    }


def _one_pair(findings: Sequence[Finding]) -> frozenset[str]:
    """The one size and the other in its place of which all findings speak; empty if they do not."""
    pairs: set[frozenset[str]] = set()
    for finding in findings:
        there = (finding.expected or "").strip("[]").split(",")
        here = (finding.actual or "").strip("[]").split(",")
        if len(here) != len(there):
            return frozenset()
        pairs.update(
            frozenset(pair) for pair in zip(here, there, strict=True) if len(set(pair)) > 1
        )
    return pairs.pop() if len(pairs) == 1 else frozenset()


def _first(shape: str | None) -> str:
    return (shape or "").split(",")[0].strip()


def _ports(result: BodyResult) -> Iterator[tuple[Port, Tensor]]:
    """The output ports of a model with what is inferred for them, bodies included."""
    for body in result.walk():
        for layer, tensors in zip(body.body.layers, body.outputs, strict=True):
            yield from zip(layer.outputs, tensors, strict=False)


def _differences(port: Port, tensor: Tensor) -> Iterator[tuple[int, int]]:
    """The sizes that a port declares and those that are inferred instead, axis by axis."""
    given, inferred = declared(port, tensor).shape, tensor.shape
    if given == inferred or given.dims is None or inferred.dims is None:
        return
    if len(given.dims) != len(inferred.dims):
        yield -1, -1
        return
    for one, other in zip(given.dims, inferred.dims, strict=True):
        if one.is_static and other.is_static and one != other:
            yield one.low, other.low


# ids


def _renumbered(context: Context, findings: Sequence[Finding]) -> Diagnosis | None:
    """From some layer on the ids of a body were moved, and the edges still name the old ones."""
    if len(findings) < SEVERAL:
        return None
    astray = {finding.layer.path for finding in findings if _is_astray(finding) and finding.layer}
    for body, result in context.results.items():
        if body.path in astray or not body.path:
            renumbered = _renumbered_in(Scene(context, result), findings)
            if renumbered is not None:
                return renumbered
    return None


def _is_astray(finding: Finding) -> bool:
    return finding.rule in (DANGLING_EDGE, MISSING_EDGE)


def _renumbered_in(scene: Scene, findings: Sequence[Finding]) -> Diagnosis | None:
    """The same in one body."""
    path = scene.body.path
    of_ids = [
        finding
        for finding in findings
        if (not path or _concerns(finding, scene.body))
        and (
            finding.rule in (DANGLING_EDGE, DUPLICATE_ID, MISSING_EDGE, PORT_MAP, UNREACHABLE_LAYER)
            or finding.rule.code.startswith(("IR2", "IR4"))
        )
    ]
    lead = next((f for f in of_ids if f.rule == DANGLING_EDGE), None)
    if len(of_ids) < SEVERAL or lead is None:
        return None
    ids = [layer.id for layer in scene.layers]
    edges = scene.body.edges
    texts = set(ids)
    for edge in edges:
        texts.update((edge.from_layer, edge.to_layer, edge.from_port, edge.to_port))
    if not edges or not all(map(is_number, texts)):
        return None
    move = _move(scene)
    if move is None:
        return None
    start, by = move
    if abs(by) > len(ids) and sum(f.rule == DANGLING_EDGE for f in of_ids) == 1:
        return None  # it is one edge that leads astray
    first = next(layer for layer in scene.layers if int(layer.id) >= start + min(by, 0))
    candidates = (_moved_edges(scene, first, start, by), _moved_layers(scene, first, start, by))
    # a port map names the ids of a body, too
    usual = [str(number) for number in range(len(ids))]  # as writers number layers
    moved = [str(int(text) - by * (int(text) >= start + by)) for text in ids]
    if ids != usual:
        candidates = candidates[::-1]
    return _told(
        lead,
        f"from {first.label} on the ids of layers are {by:+d} to what the edges name: only a "
        "part of the file was renumbered",
        f"likely meant: {candidates[0].change}",
        first.offset,
        first,
        of_ids,
        candidates,
        certain=bool(path) and (ids == usual) != (moved == usual),
    )


def _concerns(finding: Finding, body: Body) -> bool:
    """Whether a finding is in a body, at one of its edges, or at the layer that has it."""
    layer, path = finding.layer, body.path
    if layer is None:
        edges = body.edges
        return bool(edges) and edges[0].offset < finding.offset < edges[-1].offset + _EDGE
    return layer.path[: len(path)] == path or (*layer.path, layer.id) == path[:-1]


def _moved_edges(scene: Scene, first: Layer, start: int, by: int) -> Candidate:
    """The edges follow the layers."""
    edits: list[Edit] = []
    for edge in scene.body.edges:
        ends = {"from-layer": edge.from_layer, "to-layer": edge.to_layer}
        moved = {name: str(int(text) + by) for name, text in ends.items() if int(text) >= start}
        edits += with_edge(scene, edge, moved)
    change = f"the edges that name layers from {start} on name ids {by:+d}"
    return Candidate(tuple(edits), change, change, first.offset, first, ())


def _moved_layers(scene: Scene, first: Layer, start: int, by: int) -> Candidate:
    """The layers follow the edges."""
    edits: list[Edit] = []
    for layer in scene.layers:
        if int(layer.id) >= start + by:
            number = str(int(layer.id) - by)
            edits += with_attribute(scene.source, layer.offset, "id", number)
    change = f"the layers from id {start + by} on get ids {-by:+d}"
    return Candidate(tuple(edits), change, change, first.offset, first, ())


def _move(scene: Scene) -> tuple[int, int] | None:
    """From which id on, and by how much, ids moved: then every edge leads from port to port."""
    outputs = {(int(layer.id), port.id) for layer in scene.layers for port in layer.outputs}
    inputs = {(int(layer.id), port.id) for layer in scene.layers for port in layer.inputs}
    numbers = {int(layer.id) for layer in scene.layers}
    ends = [(int(e.from_layer), e.from_port, int(e.to_layer), e.to_port) for e in scene.body.edges]
    named = {row[0] for row in ends} | {row[2] for row in ends}
    lost, idle = sorted(named - numbers), sorted(numbers - named)
    if not lost or not idle:
        return None
    by = max(numbers) - max(named)
    starts = (lost[0], idle[-1] + 1, idle[0], idle[0] - by)
    for start in dict.fromkeys(starts) if by else ():
        moved = [(a + by * (a >= start), p, b + by * (b >= start), q) for a, p, b, q in ends]
        if all((a, p) in outputs and (b, q) in inputs for a, p, b, q in moved) and len(
            {(b, q) for _, _, b, q in moved}
        ) == len(inputs):
            return start, by
    return None
