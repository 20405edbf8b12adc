"""Causes that lie in the .bin: it was cut off, is another model's, or has other places or types."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from ...inference.engine import infer
from ...model.graph import Finding, Layer
from ...model.weights import Weights
from ...rule_ids import (
    CONSTANT_OUT_OF_RANGE,
    CONTRADICTED_CONSTANT,
    RuleId,
)
from ...rules import Context
from ..candidate import Diagnosis
from ..elements.constant_places import Const, constant_spans, reaching_into_others
from ..rule_groups import BETWEEN_PORTS
from ..telling import of_whole_file
from ..trials.scene import Scene
from ..trials.trial import Trial, local_rules
from ..trials.work import Work

MAX_SHIFTED = 1 << 26
"""The largest .bin that is tried with its content moved."""
SEVERAL = 3
"""At how many layers values show that the .bin is another one."""
FEW = 12
"""With so many findings a single constant is looked for first."""
Single = Callable[[Context, Sequence[Finding], int], Diagnosis | None]
"""Looks for one constant that explains so many findings."""


def _name(weights: Weights) -> str:
    return os.path.basename(weights.path or "the .bin")


def short_weights(context: Context, findings: Sequence[Finding]) -> Diagnosis | None:
    """The .bin ends before its last constants."""
    behind = [finding for finding in findings if finding.rule == CONSTANT_OUT_OF_RANGE]
    weights = context.model.weights
    if not behind or weights is None:
        return None
    spans = context.shared(constant_spans)
    if not spans or not _dense(spans):
        return None  # some offset is wrong by itself
    needed = max(end for _, end, _ in spans)
    if len(behind) == 1 and not _is_cut_through(context, behind[0]):
        return None
    lost = needed - weights.size
    of_values = list(_of_constants(context, findings))
    reason = _other_precision(context, needed)
    if reason is None and of_values:
        moved = _shift(context, findings, needed)
        if moved is not None:
            return _of_another(context, [*of_values, *behind], moved)
    sibling = None if reason else _fitting_sibling(context, needed)
    if sibling is not None:
        reason = f"{sibling} beside it fits"
    elif reason is None and of_values:
        reason = "it is another model's: the values before do not fit either"
    elif reason is None:
        reason = "it was cut off" + ", or is another model's" * (not _has_values(spans, weights))
    lead = behind[0]
    concerned = "1 constant needs" if len(behind) == 1 else f"{len(behind)} constants need"
    last = "last byte is" if lost == 1 else f"last {lost} are"
    return of_whole_file(
        lead,
        f"{_name(weights)} has {weights.size} bytes, but the constants take {needed}: the {last} "
        f"missing, which {concerned}; {reason}",
        _cure(sibling),
        lead.offset,
        lead.layer,
        [*behind, *of_values],
    )


def _is_cut_through(context: Context, finding: Finding) -> bool:
    """Whether a constant follows all others in the .bin, which ends inside it."""
    weights, spans = context.model.weights, context.shared(constant_spans)
    start, end, layer = max(spans, key=lambda span: span[1])
    if weights is None or layer is not finding.layer or start >= weights.size:
        return False
    before = max((stop for _, stop, other in spans if other is not layer), default=0)
    body = next(r for b, r in context.results.items() if layer in b.layers)
    scene = Scene(context, body)
    const = Const(scene, scene.position[layer])
    return start == before and end - start == const.bytes_of(const.type, const.shape)


def _has_values(spans: Sequence[tuple[int, int, Layer]], weights: Weights) -> bool:
    """Whether the .bin still has integers, which would show that it is another model's."""
    return any(
        end <= weights.size and layer.attribute("element_type") in ("i64", "i32")
        for _, end, layer in spans
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


def other_weights(
    context: Context, findings: Sequence[Finding], single: Single, work: Work
) -> Diagnosis | None:
    """The .bin holds other values than the shapes of the model need."""
    weights = context.model.weights
    of_values = [finding for finding in findings if finding.rule.code.startswith(("IR2", "IR4"))]
    behind = [finding for finding in findings if finding.rule == CONSTANT_OUT_OF_RANGE]
    layers = {finding.layer for finding in (*of_values, *behind)}
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
    explained += behind
    if len({finding.layer for finding in explained}) < SEVERAL or len(explained) * 2 < len(
        findings
    ):
        return None
    if len(findings) > FEW or len(explained) < len(findings):
        alone = single(context, findings, len(explained))
        if alone is not None:
            return alone
    if Scene(context, context.results[context.model.net]).narrowed:
        return None  # an input has other sizes than its port
    if any(f.rule in BETWEEN_PORTS or f.rule.code.startswith("IR11") for f in findings):
        return None  # no .bin decides what ports say and where edges lead
    if context.shared(reaching_into_others):
        return None  # offsets are wrong, whatever the .bin holds
    spans = context.shared(constant_spans)
    needed = max((end for _, end, _ in spans), default=0)
    reason = _other_precision(context, needed) or _shift(context, findings, needed)
    sibling = None if reason else _fitting_sibling(context, needed)
    if sibling is not None:
        reason = f"{sibling} beside it fits"
    reason = reason or "it is another model's, or was written anew"
    return _of_another(context, explained, reason, sibling)


def _cure(sibling: str | None) -> str:
    if sibling is None:
        return "get the .bin that was written with this .xml"
    return f"rename {sibling}, or read it with --weights {sibling}"


def _of_another(
    context: Context, explained: Sequence[Finding], reason: str, sibling: str | None = None
) -> Diagnosis:
    """Told at the first constant."""
    spans, weights = context.shared(constant_spans), context.model.weights
    layer = spans[0][2] if spans else None
    name = "the .bin" if weights is None else _name(weights)
    return of_whole_file(
        next((f for f in explained if f.severity == "error"), explained[0]),
        f"{name} does not belong to this .xml: {len(explained)} findings rest on the values of its "
        f"constants; {reason}",
        _cure(sibling),
        layer.offset if layer is not None else 0,
        layer,
        explained,
        rule=CONTRADICTED_CONSTANT,
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
            return name
    return None


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return -1


def _other_precision(context: Context, needed: int) -> str | None:
    """Whether the .bin is as large as it would be in another precision."""
    weights = context.model.weights
    spans = {(start, end): layer for start, end, layer in context.shared(constant_spans)}
    tolerance = max(64, len(spans) * 8)
    if weights is None or abs(weights.size - needed) <= tolerance:
        return None
    for name, other, wide, narrow in (("f32", "f16", 1, 2), ("f16", "f32", 2, 1)):
        whole = sum(
            (end - start) * wide // narrow
            if layer.attribute("element_type") == name
            else end - start
            for (start, end), layer in spans.items()
        )
        changed = any(layer.attribute("element_type") == name for layer in spans.values())
        if changed and abs(whole - weights.size) <= tolerance:
            return f"it is as large as with {other} where the .xml says {name}"
    return None
