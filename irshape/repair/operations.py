"""Proposes changes of the type and version of a layer whose operation is unknown or missing."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ..formats.ir.edits import set_attribute
from ..inference.alternatives import Fit
from ..model.graph import Finding
from ..ops import registry
from ..ops.declaration import Operation
from ..releases import OPSETS
from .change import Change
from .site import Site, Sites
from .spellings import likeness, only_word


def types(sites: Sites, finding: Finding) -> Iterator[Change]:
    """Yields other types for a layer whose type is unknown or missing."""
    site = sites.of(finding.layer)
    if site is None or site.operation is not None or (finding.actual is None and site.layer.type):
        return
    layer, source = site.layer, sites.source
    if layer.version and _written_number(layer.version) is None:
        return  # the layer of a library is not a misspelt one of OpenVINO
    here = {each.type for each in sites.context.every_layer if each.type}
    known = list(dict.fromkeys(map(registry.as_writers_spell, registry.known_types())))
    only = only_word(layer.type, known) if layer.type else None
    names = known
    if layer.type:
        folded = {each.lower(): each for each in known}
        names = [folded[each] for each in get_close_matches(layer.type.lower(), folded, 4, 0.7)]
    offset = source.attribute(layer.offset, "type")
    for name in sorted(names):
        operation = registry.declaration(name, layer.version)
        fit = Fit.REFUSED if operation is None else _fit(site, operation)
        edit = set_attribute(source, layer.offset, "type", name, after="name")
        if not fit or edit is None:
            continue
        if layer.type:
            like = likeness(layer.type.lower(), name.lower())
        else:
            like = 0.9 if name.lower() in layer.name.lower() else 0.0
        yield Change(
            "type", (edit,), offset, layer, "type", layer.type or None, name,
            cost=2.0 - like - 0.2 * (name in here),
            exact=fit is Fit.EXACT,
            decided=f"no other operation is one letter off '{layer.type}'"
            if name == only else "",
        )  # fmt: skip


def _fit(site: Site, operation: type[Operation]) -> Fit:
    layer = site.layer
    if operation.type_name() == "Result":
        fits = len(layer.inputs) == 1 and not layer.outputs and not layer.items
        return Fit.EXACT if fits else Fit.REFUSED
    names = {each.name for each in operation.attributes.values()}
    if not (
        names.issuperset(layer.items[::2])
        and operation.signature.fewest <= len(layer.inputs) <= operation.signature.most
    ):
        return Fit.REFUSED
    return site.fit(operation=operation)


def versions(sites: Sites, finding: Finding) -> Iterator[Change]:
    """Yields other versions of a type; none for an extension or an opset too new for irshape."""
    site = sites.of(finding.layer)
    if site is None or site.operation is not None:
        return
    layer, source = site.layer, sites.source
    opsets = [f"opset{number}" for number in OPSETS]
    only = None if layer.version in opsets else only_word(layer.version, opsets)
    number = _written_number(layer.version)
    if layer.version and only is None and (number is None or number > max(OPSETS)):
        return  # an extension, or an opset newer than this irshape
    offset = source.attribute(layer.offset, "version")
    for operation in registry.versions(layer.type):
        written = only is not None and registry.declaration(layer.type, only) is operation
        name = only if written and only is not None else operation.version_name()
        fit = Fit.REFUSED if name == layer.version else site.fit(operation=operation)
        if not fit:
            continue
        edit = set_attribute(source, layer.offset, "version", name, after="type")
        if edit is not None:
            far = abs((number or operation.since) - operation.since) / 20
            yield Change(
                "type", (edit,), offset, layer, "version", layer.version or None, name,
                cost=0.5 if name == only else 1 + far,
                exact=fit is Fit.EXACT,
                decided=f"no other opset is one letter off '{layer.version}'"
                if name == only else "",
            )  # fmt: skip


def _written_number(version: str) -> int | None:
    """Returns the number after `opset`, even if no such opset exists; None for other versions."""
    digits = version.removeprefix("opset")
    return int(digits) if digits != version and digits.isdecimal() and len(digits) < 4 else None
