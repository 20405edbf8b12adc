"""Proposes another type, shape, size or offset of a Const. Only shows other values of a Const."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ..formats.ir.edits import set_attribute
from ..inference.alternatives import Fit, declared_by, with_attribute
from ..model.graph import Finding, Layer
from ..model.ports import Port
from ..model.weights import Constant
from ..ops.kinds import INTS
from ..ops.tensors import Tensor, Value
from ..rule_ids import CONSTANT_OUT_OF_RANGE, OVERLAPPING_CONSTANTS
from ..rules.attribute_values import fitting_values
from .attributes import value_change
from .change import Change
from .site import Site, Sites
from .weights import ALIGNMENT

MOST_VALUES = 8
"""irshape proposes other values only for constants of at most this many elements."""


def constants(sites: Sites, finding: Finding) -> Iterator[Change]:
    """Yields changes of the Const of a finding, or of a Const that feeds the finding's layer."""
    site = sites.of(finding.layer)
    if site is None:
        return
    if site.layer.is_constant:
        yield from _place(sites, site, finding)
        return
    for port, source in zip(site.layer.inputs, site.sources, strict=True):
        about = finding.port is None or finding.port[0] == "output" or finding.port[1] == port.id
        producer = None if source is None else Site(sites, site.result, source[0])
        if about and producer is not None and producer.layer.is_constant:
            output = producer.layer.outputs[0] if producer.layer.outputs else None
            if output is not None and port.precision and port.precision != output.precision:
                yield from _retyped(sites, producer, port)
    yield from _values(sites, site)


def _values(sites: Sites, site: Site) -> Iterator[Change]:
    """Yields other values of small constants that feed a layer: values that give its outputs the
    shapes that its ports declare.

    Yields nothing if another value of an attribute of the layer does so, too.
    """
    operation, layer = site.operation, site.layer
    known = sites.context.shared(fitting_values, layer)
    if operation is None or operation.bodies or any(each.fit is Fit.EXACT for each in known):
        return
    for position, _ in operation.signature.valued:
        if position >= len(site.inputs):
            continue
        tensor, source = site.inputs[position], site.sources[position]
        exact = None if tensor is None or tensor.value is None else tensor.value.exact
        producer = None if source is None else site.result.body.layers[source[0]]
        if producer is None or not producer.is_constant or tensor is None or not exact:
            continue
        if len(exact) > MOST_VALUES or not all(isinstance(each, int) for each in exact):
            continue
        before = tuple(map(int, exact))
        for after in INTS.domain(before, declared_by(layer)):
            if len(after) != len(before) or after == before:
                continue
            fed = list(site.inputs)
            fed[position] = Tensor(tensor.element_type, tensor.shape, Value(after))
            if site.fit(inputs=tuple(fed)) is Fit.EXACT:
                far = float(sum(one != other for one, other in zip(before, after, strict=True)))
                if min(after, default=0) < 0 <= min(before, default=0):
                    far += 0.5  # axes are counted from the front
                yield Change(
                    "value", (), producer.offset, layer, producer.label,
                    str(list(before)), str(list(after)), cost=2.5 + far / 10, exact=True,
                )  # fmt: skip


def _retyped(sites: Sites, site: Site, port: Port) -> Iterator[Change]:
    """Yields the change of a Const and its port to the element type that a consumer declares."""
    layer, wanted = site.layer, port.element_type
    if wanted is None:
        return
    change = value_change(sites, layer, "element_type", wanted.name, 1.0)
    output = layer.outputs[0]
    own = set_attribute(sites.source, output.offset, "precision", wanted.precision)
    items = with_attribute(layer.items, "element_type", wanted.name)
    if change is not None and own is not None and _size_is_right(sites, items):
        edits = change.edits if output.element_type is wanted else (*change.edits, own)
        yield change._replace(kind="constant", edits=edits)


def _constant(sites: Sites, items: tuple[str, ...]) -> Constant | None:
    try:
        return Constant.of(items, sites.context.model.weights)
    except (ValueError, LookupError):
        return None


def _size_is_right(sites: Sites, items: tuple[str, ...]) -> bool:
    constant = _constant(sites, items)
    return constant is not None and constant.size == _needed(constant)


def _needed(constant: Constant) -> int:
    """Returns the number of bytes that a constant needs for its type and shape."""
    return constant.element_type.byte_size(prod(constant.shape))


def _place(sites: Sites, site: Site, finding: Finding) -> Iterator[Change]:
    """Yields changes of one attribute of a Const: the element type or shape to that of its port,
    the size to the number of bytes that it needs, or the offset to unused bytes."""
    layer = site.layer
    if not layer.outputs:
        return
    port, said = layer.outputs[0], list[tuple[str, str]]()
    if port.dims is not None:
        comma = ", " if ", " in (layer.attribute("shape") or "") else ","
        said.append(("shape", comma.join(map(str, port.dims))))
    if port.element_type is not None:
        said.append(("element_type", port.element_type.name))
    constant = _constant(sites, layer.items)
    if constant is not None and constant.element_type.kind != "string":
        needed = _needed(constant)
        if constant.size not in (2 * needed, 4 * needed, 8 * needed):  # as of a wider type
            said.append(("size", str(needed)))
    misplaced = finding.rule in (CONSTANT_OUT_OF_RANGE, OVERLAPPING_CONSTANTS)
    if constant is not None and misplaced:
        gaps = _gaps(sites, layer, constant.size)
        said += [("offset", str(gaps[0]))] if len(gaps) == 1 else []
    for name, value in said:
        text = layer.attribute(name)
        items = with_attribute(layer.items, name, value)
        if text is None or text.replace(" ", "") == value.replace(" ", ""):
            continue
        fit = site.fit(items) if _size_is_right(sites, items) else Fit.REFUSED
        change = value_change(sites, layer, name, value, 1.0)
        if fit and change is not None:
            yield change._replace(kind="constant", exact=fit is Fit.EXACT)


def _gaps(sites: Sites, layer: Layer, size: int) -> list[int]:
    """Returns the offsets of gaps of exactly `size` bytes between the other constants."""
    context = sites.context
    stored = context.model.weights
    taken = {
        (each.offset, each.offset + each.size) for it, each in context.constants if it is not layer
    }
    gaps, last = [], 0
    for begin, end in sorted({*taken, (stored.size, stored.size)} if stored else taken):
        gaps += [at for at in {last, -(-last // ALIGNMENT) * ALIGNMENT} if begin - at == size]
        last = max(last, end)
    return gaps
