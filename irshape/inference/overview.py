"""Groups the dynamic dimensions of a model by the reason why they are dynamic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..model.graph import Layer
from ..shapes import UNBOUNDED
from ..spelling import counted
from ..symbols.conditions import Constraint
from ..symbols.expressions import Expression, Symbol
from .bounding import Binding
from .conflicts import conflicts_of_layers
from .explaining import Place, Reasons, counterparts
from .named_sizes import located, tensor_name, value_of
from .reasons import Group, Overview, ProposedSize, Verdict, spaced
from .result import BodyResult

if TYPE_CHECKING:
    from .result import Inference

EXAMPLES = 3
ORDER: tuple[Verdict, ...] = ("lost", "unbounded", "data-dependent", "computed", "input")
"""The reasons for dynamic dimensions, the most important to act on first."""


def overview(inference: Inference) -> Overview:
    """Returns an overview of the dynamic dimensions of a model that was inferred with symbols."""
    reasons = Reasons(inference)
    members: dict[tuple[Verdict, tuple[str, int]], dict[str, list[str]]] = {}
    for place in dynamic_places(inference.result):
        verdict = reasons.verdict(place)
        known = reasons.expression(place)
        if known is None:
            maker, cause = reasons.maker(place), _made_by(reasons, place)
            kind = maker.layer.type, maker.at
        else:
            names = sorted(known.symbols, key=lambda symbol: symbol.order)
            cause = ", ".join(symbol.name for symbol in names)
            kind = cause, 0
        said = "" if known is None else f" = {spaced(str(known))}"
        at = "" if place.dimension_in(place.body) is None else f"[{place.at}]"
        text = f"{reasons.label(place)}{at}{said}"
        members.setdefault((verdict, kind), {}).setdefault(cause, []).append(text)
    groups = [
        Group(verdict, cause, len(texts), tuple(dict.fromkeys(texts))[:EXAMPLES])
        for (verdict, kind), causes in members.items()
        for cause, texts in _folded(kind[0], causes).items()
    ]
    groups.sort(key=lambda group: (ORDER.index(group.verdict), -group.dimensions))
    proposals = reasons.proposals
    unbounded = any(_open(reasons, reasons.result, unbounded=True))
    bind = _bounding(reasons) if unbounded else None
    every = [
        symbol
        for symbol in inference.sizes.symbols
        if inference.sizes.facts.ranges[symbol][0] != inference.sizes.facts.ranges[symbol][1]
    ]
    fix = proposals.binding(fixed=every)
    contradictions = conflicts_of_layers(inference.model, inference.result, inference.sizes)
    return Overview(
        tuple(groups),
        None if bind is None else bind.shapes,
        _left(reasons, reasons.result if bind is None else bind.result, unbounded=True),
        None if fix is None else fix.shapes,
        () if fix is None else _left(reasons, fix.result, unbounded=False),
        tuple(text for _, text in contradictions),
        tuple(
            f"{symbol.name} is at {which} {size}, which {why}"
            for symbol, which, size, why in limits(inference)
        ),
        inference.model.path,
        refused=_refused(reasons) if every and fix is None else "",
        sizes=() if fix is None else tuple(_sizes(reasons)),
        searched=bool(every),
    )


def _sizes(reasons: Reasons) -> Iterator[ProposedSize]:
    """Yields the proposed sizes of inputs, each with the layer that requires it."""
    steps = {size.atom: step for size, step in reasons.sizes.facts.multiples}
    for layer, axis, number, by in reasons.proposals.chosen():
        size = (reasons.inference.expressions(layer)[0] or ())[axis]
        equals = "" if by is not None or size is None else _equal(reasons, layer, axis, size)
        reason = _equating(reasons, layer, axis) if equals else ""
        if by is not None:
            reason = _limiting(reasons.inference, by, number)
        step = 1 if size is None else steps.get(size.atom, 1)
        yield ProposedSize(tensor_name(layer), axis, number, by is not None, step, reason, equals)


def _equal(reasons: Reasons, layer: Layer, axis: int, size: Expression) -> str:
    """Returns a size as text, such as `past[2] + seq`, if other dimensions decide it; else ""."""
    others: dict[Symbol, Symbol] = {}
    for symbol in size.symbols:
        origin = reasons.sizes.origin(symbol.name)
        if origin is not None and (origin.layer, origin.axis) != (layer, axis):
            owned = symbol.name in reasons.sizes.origins  # else you gave it as a part of a sum
            name = f"{origin.tensor}[{origin.axis}]" if owned else symbol.name
            others[symbol] = Symbol(name, symbol.order)
    return spaced(str(size.renamed(others))) if others else ""


def _equating(reasons: Reasons, layer: Layer, axis: int) -> str:
    """Names the layer that requires a dimension of an input to equal another; "" if none does."""
    for each in reasons.inference.constraints:
        if each.relation == "==" and isinstance(each.source, Layer):
            for symbol in each.left.symbols | each.right.symbols:
                origin = reasons.sizes.origin(symbol.name)
                if origin is not None and origin.layer is layer and origin.axis == axis:
                    verb = "probably requires" if each.assumed else "requires"
                    return f"{located(reasons.inference.model, each.source)} {verb}"
    return ""


def _refused(reasons: Reasons) -> str:
    """Describes a layer that refuses the sizes tried for the inputs; "" if none is found."""
    refusal = reasons.proposals.refusal()
    if refusal is None:
        return ""
    layer, shapes = refusal
    given = ", ".join(f"{name}={shape}" for name, shape in shapes.items())
    return f"{located(reasons.inference.model, layer)} refuses {given}"


def _bounding(reasons: Reasons) -> Binding | None:
    """Returns shapes of inputs that bound as many dimensions as possible. Fixes as few sizes as
    possible."""
    proposals = reasons.proposals
    bind = proposals.binding()
    if bind is None or not _not_bounded(reasons, bind.result):
        return bind
    filled = proposals.binding(filled=True) or bind
    fixed = _not_bounded(reasons, filled.result)
    bind = proposals.binding(fixed=fixed) or filled if fixed else filled
    least = len(_not_bounded(reasons, bind.result))
    for symbol in sorted(fixed, key=lambda symbol: symbol.order):
        fewer = proposals.binding(fixed=fixed - {symbol})
        if fewer is not None and len(_not_bounded(reasons, fewer.result)) <= least:
            bind, fixed = fewer, fixed - {symbol}
    return bind


def _not_bounded(reasons: Reasons, result: BodyResult) -> set[Symbol]:
    """Returns the symbols of the dimensions that are unbounded in `result`, an inference of the
    model with other input shapes. Omits symbols that come from variables."""
    states = {
        symbol
        for place in dynamic_places(reasons.result)
        if place.layer.is_read_value and (known := reasons.expression(place)) is not None
        for symbol in known.symbols
    }
    symbols: set[Symbol] = set()
    for place in _open(reasons, result, unbounded=True):
        known = reasons.expression(place)
        if known is None:
            continue
        used = known.symbols
        if known.constant is not None:  # bounds alone do not show that it is
            behind = [reasons.expression(each) for each in reasons.inputs(place)]
            used = used.union(*(each.symbols for each in behind if each is not None))
        if states.isdisjoint(used):
            symbols |= used
    return symbols


def _open(reasons: Reasons, result: BodyResult, *, unbounded: bool) -> Iterator[Place]:
    """Yields the dimensions that are dynamic in `result` or, with `unbounded`, unbounded there."""
    own = counterparts(result, reasons.result)
    for place in dynamic_places(result):
        body = own[place.body]
        if place.port >= len(body.outputs[place.position]):
            continue  # the number of outputs depends on sizes
        dim = place.dimension_in(place.body)
        if not unbounded or dim is None or dim.high == UNBOUNDED:
            yield place._replace(body=body)


def dynamic_places(root: BodyResult) -> Iterator[Place]:
    """Yields the dynamic dimensions of a model, including dimensions in its bodies."""
    for result in root.walk():
        for position, tensors in enumerate(result.outputs):
            for port, tensor in enumerate(tensors):
                dims = tensor.shape.dims
                if tensor.shape.is_static:
                    continue
                for index in (
                    (0,) if dims is None else (at for at, dim in enumerate(dims) if dim.is_dynamic)
                ):
                    yield Place(result, position, port, "dimension", index)


def _left(reasons: Reasons, result: BodyResult, *, unbounded: bool) -> tuple[str, ...]:
    """Returns a text for each layer that makes dimensions dynamic. For `unbounded`, see `_open`."""
    own = counterparts(reasons.result, result)
    makers: dict[tuple[str, int], dict[str, list[str]]] = {}
    for place in _open(reasons, result, unbounded=unbounded):
        maker, origin = _made_by(reasons, place), reasons.maker(place)
        kind = origin.layer.type, origin.at
        dim = origin.dimension_in(own.get(origin.body))
        if origin.layer.is_read_value:
            maker += "; irshape edit --make-stateless turns the variable into an input"
        elif dim is not None and dim.is_static and place.body in reasons.names.around:
            outer, position, tag = reasons.names.around[place.body]
            layer = outer.body.layers[position]
            kind = layer.type, 0
            maker = f"{tag} of {located(reasons.inference.model, layer)}, which does not run"
        makers.setdefault(kind, {}).setdefault(maker, []).append(maker)
    return tuple(
        f"{counted(len(each), 'dimension')} made by {maker}"
        for kind, causes in makers.items()
        for maker, each in _folded(kind[0], causes).items()
    )


def _folded(type: str, causes: dict[str, list[str]]) -> dict[str, list[str]]:
    """Replaces more than `EXAMPLES` causes by one: `12 Slice layers, such as …`."""
    if len(causes) <= EXAMPLES:
        return causes
    said = f"{len(causes)} {type} layers, such as {next(iter(causes))}"
    return {said: [text for texts in causes.values() for text in texts]}


def limits(inference: Inference) -> Iterator[tuple[Symbol, str, int, str]]:
    """Yields the limits that layers set on symbols, as (symbol, "most" or "least", size, layer as
    text). The inference must have symbols."""
    conditions = inference.constraints
    for symbol in inference.sizes.symbols:
        low, high = inference.sizes.facts.ranges[symbol]
        for which, size, beyond in (("most", high, high + 1), ("least", low, low - 1)):
            if low == high or size == math.inf or beyond < 1:
                continue
            for each in conditions:
                if isinstance(each.source, Layer) and _excludes(each, symbol, int(beyond)):
                    yield symbol, which, int(size), _limiting(inference, each.source, int(size))
                    break


def _excludes(condition: Constraint, symbol: Symbol, size: int) -> bool:
    """Whether a layer's condition concerns only `symbol`, and excludes this size of it."""
    left, right = condition.left, condition.right
    if condition.assumed or condition.conditional or left.symbols | right.symbols != {symbol}:
        return False
    difference = value_of(left, {symbol.name: size}) - value_of(right, {symbol.name: size})
    if condition.relation == "==":
        return symbol in (left.atom, right.atom) and difference != 0
    return difference < 0


def _limiting(inference: Inference, layer: Layer, high: int) -> str:
    """Describes the layer that limits a size, and the nearest constant that has this size."""
    said = f"{located(inference.model, layer)} requires"
    body = next(each for each in inference.result.walk() if layer in each.body.layers)
    for constant, sizes in body.constants_before(layer):
        if high in sizes:
            line = inference.model.source.line_number(constant.offset)
            given = ",".join(map(str, sizes))
            return f"{said}: constant '{constant.name}' (line {line}) is [{given}]"
    return said


def _made_by(reasons: Reasons, place: Place) -> str:
    maker = reasons.maker(place)
    layer = maker.layer
    return f"{layer.type} '{layer.name}' {reasons.reason(maker)} (line {reasons.line(layer)})"
