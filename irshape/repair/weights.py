"""Detects a .bin that is cut off or belongs to another model, by its size or its values."""

from __future__ import annotations

from ..inference.alternatives import inputs_of
from ..model.graph import Layer
from ..model.weights import small_values
from ..rule_ids import CONSTANT_OUT_OF_RANGE
from ..rules import Context
from ..spelling import counted
from .change import Cause, Change
from .site import Sites

SENSELESS = 1 << 40
"""Every sensible size, axis or index is smaller than this number, except `WITHOUT_END`."""
WITHOUT_END = (1 << 63) - 1
"""The usual `stop` of a Slice that ends at the last element."""
ALIGNMENT = 64
"""The largest number of bytes that a writer skips to align a constant."""
MOST_ELEMENTS = 1024
"""The largest number of elements of an examined constant. Larger constants determine no shape."""


def cause_of(sites: Sites) -> Cause | None:
    """Returns a cause, with the findings that it explains, if the .bin is cut off or belongs to
    another model."""
    context, graver = sites.context, sites.graver
    weights = context.model.weights
    if weights is None or weights.state != "ready" or len(context.constants) < 2:
        return None
    past = [each for each in graver if each.rule == CONSTANT_OUT_OF_RANGE]
    beyond = sum(each.offset + each.size > weights.size for _, each in context.constants)
    senseless = _senseless(sites)
    end, size = context.constants_end, weights.size
    cut = bool(past) and len(past) == beyond and _in_order(context, weights.size)
    foreign = len(senseless) > 1 or (bool(senseless) and size != end)
    if not cut and not foreign:
        return None
    fed = _fed_by(sites) if foreign else set[Layer]()
    explained = tuple(each for each in graver if each in past or each.layer in fed)
    if not explained:
        return None
    lengths = f"the .bin has {size} bytes, and the constants of this model end at byte {end}"
    values = (
        f"{counted(len(senseless), 'constant')} would contain numbers too large for sizes or axes"
    )
    if cut and not senseless:
        told = f"the .bin is cut off, or belongs to another model: {lengths}"
    else:
        told = f"the .bin belongs to another model: {values}"
        told += f"; {lengths}" if size != end else ""
    told += "; `irshape validate --weights OTHER.bin` tries another"
    lead = min(explained, key=lambda each: (each.severity != "error", each.offset))
    change = Change(
        "weights", (), lead.offset, lead.layer, told, f"{size} bytes", "the .bin of this model"
    )
    return Cause(change, explained, "display")


def _in_order(context: Context, size: int) -> bool:
    """Returns whether the .bin must be too short: several constants end past it, or the only such
    constant has the right size and begins directly after another constant."""
    ends = [0, *(each.offset + each.size for _, each in context.constants)]
    beyond = [each for _, each in context.constants if each.offset + each.size > size]
    return len(beyond) > 1 or all(
        any(0 <= each.offset - end < ALIGNMENT for end in ends)
        and each.size == each.element_type.byte_size(each.elements)
        for each in beyond
    )


def _senseless(sites: Sites) -> set[Layer]:
    """Returns the small integer constants that contain absurdly large numbers and feed a layer with
    an error or a warning."""
    context, wrong = sites.context, {each.layer for each in sites.graver}
    beyond_use = {
        layer
        for layer, constant in context.constants
        if constant.element_type.name in ("i64", "i32")
        and 0 < constant.elements <= MOST_ELEMENTS
        and any(SENSELESS <= abs(value) < WITHOUT_END for value in small_values(constant) or ())
    }
    if not beyond_use:
        return beyond_use
    feeding = {
        result.body.layers[ref[0]]
        for result in context.results.values()
        for layer, row in zip(result.body.layers, result.wiring.sources, strict=True)
        if layer in wrong
        for ref in row
        if ref is not None
    }
    return beyond_use & feeding


def _fed_by(sites: Sites) -> set[Layer]:
    """Returns the layers with an input whose value is known, even if from a wrong .bin."""
    return {
        layer
        for result in sites.context.results.values()
        for position, layer in enumerate(result.body.layers)
        if any(each and each.value is not None for each in inputs_of(result, position))
    }
