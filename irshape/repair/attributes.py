"""Proposes changes of the attributes of `<data>`: other values, and other names."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ..formats.ir.edits import Edit, rename_attribute, set_attribute
from ..inference.alternatives import Alternative, Fit, alternatives, with_attribute
from ..model.graph import Finding, Layer
from ..ops.declaration import Attribute
from ..ops.kinds import Malformed
from ..rules.attribute_values import fitting_values
from .change import Change
from .site import Site, Sites
from .spellings import likeness, only_word, renoted, respelt

MOST_RENAMED = 64
"""If a layer has more attributes than this, irshape tries no other names for an attribute."""


def attributes(sites: Sites, finding: Finding) -> Iterator[Change]:
    """Yields other values for the attribute that a finding names; if it names none, for all."""
    site = sites.of(finding.layer)
    operation = None if site is None else site.operation
    if site is None or operation is None:
        return
    layer = site.layer
    named = {each.name: each for each in operation.attributes.values()}.get(finding.fault.at)
    text = None if named is None else layer.attribute(named.name)
    if named is not None and text is not None:
        yield from _other_notation(sites, site, named, text)
    if operation.bodies or layer.is_constant:
        return
    if named is None:
        fitting = sites.context.shared(fitting_values, layer)
    else:
        names = frozenset((named.name,))
        fitting = tuple(alternatives(sites.engine, layer, operation, site.inputs, names))
    for each in fitting:
        change = value_change(sites, layer, each.attribute.name, each.after, _cost(layer, each))
        if change is not None:
            yield change._replace(exact=each.fit is Fit.EXACT)


def _other_notation(sites: Sites, site: Site, attribute: Attribute, text: str) -> Iterator[Change]:
    """Yields corrections of a malformed value: its numbers in valid notation, or a similar word."""
    try:
        attribute.read(text)
        return
    except Malformed:
        pass
    for value, decided in (
        (renoted(attribute, text), "the same numbers, as OpenVINO reads them"),
        (respelt(attribute, text), f"no other allowed word is one letter off '{text}'"),
    ):
        if value is None:
            continue
        fit = site.fit(with_attribute(site.layer.items, attribute.name, value))
        change = value_change(sites, site.layer, attribute.name, value, 0.1)
        if fit and change is not None:
            yield change._replace(exact=fit is Fit.EXACT, decided=decided)


def value_change(sites: Sites, layer: Layer, name: str, value: str, cost: float) -> Change | None:
    """Returns the change that sets an attribute of `<data>` to a value."""
    source, element = sites.source, layer.data_offset
    if element < 0:
        return None
    text = layer.attribute(name)
    offset = source.attribute(element, name)
    edit = set_attribute(source, element, name, value, after="")
    return edit and Change("attribute", (edit,), offset, layer, name, text, value, cost=cost)


_BESIDE = {"pads_begin": "pads_end", "pads_end": "pads_begin"}
"""Pairs of attributes that are usually equal."""


def _cost(layer: Layer, alternative: Alternative) -> float:
    """Returns `Change.cost` for a value: low if it is the default, or near the old value."""
    attribute, before, after, _ = alternative
    cost = 2.0
    if not attribute.refused_when_absent and attribute.default is not None:
        cost -= 0.3 * (after == attribute.kind.write(attribute.default))
    if before is None:
        return cost + 1
    like = likeness(before, after)
    try:
        near = _nearness(attribute.read(before), attribute.read(after))
        other = layer.attribute(_BESIDE.get(attribute.name, ""))
        if other is not None and attribute.read(other) == attribute.read(after):
            cost -= 0.6
    except Malformed:
        return cost - like if like > 0.6 else cost
    if "-" in after and "-" not in before:
        cost += 0.3  # axes are counted from the front, pads and strides are not negative
    return cost - (like if near is None else max(near, like / 2))


def _nearness(one: object, other: object) -> float | None:
    """Returns 1 for equal integers or lists, and less for different ones; None for other types."""
    if isinstance(one, int) and isinstance(other, int):
        return 1 / (1 + abs(one - other))
    if isinstance(one, tuple) and isinstance(other, tuple) and one and len(one) == len(other):
        parts = [_nearness(*pair) for pair in zip(one, other, strict=True)]
        return None if None in parts else sum(filter(None, parts)) / len(parts)
    return None


def names(sites: Sites, finding: Finding) -> Iterator[Change]:
    """Yields renamings of an attribute unknown to its operation; its removal if none is similar."""
    site, written = sites.of(finding.layer), finding.fault.at
    operation = None if site is None else site.operation
    if site is None or operation is None:
        return
    layer, source = site.layer, sites.source
    places = {} if layer.data_offset < 0 else sites.attributes(layer.data_offset)
    if written not in places:
        return
    start, begin, end = places[written]
    text = source.data[begin:end].decode(source.encoding, "replace")
    absent = {each.name: each for each in operation.attributes.values() if each.name not in places}
    close = get_close_matches(written, absent, 2, 0.75)
    for name in close if len(places) <= MOST_RENAMED else ():
        items = with_attribute(with_attribute(layer.items, written, None), name, text)
        fit = site.fit(items)
        edit = rename_attribute(source, start, written, name)
        if fit and edit is not None:
            # OpenVINO refuses a layer without a required attribute
            required = absent[name].refused_when_absent and only_word(written, absent) == name
            decided = f"`{name}` is required, and missing" if required else ""
            cost = 1.5 - likeness(written, name)
            yield Change(
                "name", (edit,), start, layer, name, written, name,
                cost=cost, exact=fit is Fit.EXACT, decided=decided,
            )  # fmt: skip
    if not close:
        first = start - (source.data[start - 1 : start] in (b" ", b"\t", b"\n"))
        edit = Edit(first, end + 1, b"")
        yield Change(
            "notation", (edit,), start, layer, written, text, None, cost=2.0, exact=True,
            same_model=True, settles=(finding,),
        )  # fmt: skip
