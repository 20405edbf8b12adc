"""The parts of a model that older OpenVINO releases do not read, and their layers.

`releases` has the facts about opsets and files; an operation has its own facts in `differs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ..element_types import ElementType
from ..model.ends import ends
from ..model.graph import Layer, Model
from ..model.wiring import OutputRef
from ..ops.declaration import LibraryOperation, Operation
from ..ops.differences import EMPTY, SQUEEZED, Site
from ..ops.movement.padding import padded_below_nothing
from ..releases import (
    ELEMENT_TYPES,
    FIRST,
    HEADER_BYTES,
    IR_VERSIONS,
    LATE_VERSION,
    LAYER_NAMES,
    OPSETS,
    SHORT_FILE,
    TENSOR_NAMES,
    Detail,
    Release,
    opset_number,
    parse_release,
)
from .result import Inference
from .sites import details, sites


class Requirement(NamedTuple):
    """A part of a model that older releases refuse: `opset11`, `element type nf4`, `IR version 11`.

    The `layer` is None if the part concerns the whole file.
    """

    release: Release
    kind: str
    """`opset`, `element type`, `IR version`, `library` (the operation comes from a library), or
    `detail` (a special case of an operation or of the file)."""
    name: str
    layer: Layer | None
    since: Release = FIRST
    """The first release that refuses the part; earlier releases do not check for it."""
    opset: Release = FIRST
    """The first release with the operation's opset, which may not yet contain the operation."""

    def refuses(self, release: Release) -> bool:
        """Whether a release refuses the part."""
        return self.since <= release < self.release

    @property
    def what(self) -> str:
        bare = self.kind in ("opset", "detail", "library")
        return self.name if bare else f"{self.kind} {self.name}"


def requirements(inference: Inference) -> Iterator[Requirement]:
    """Yields the parts of a model that some releases refuse, in file order.

    For a layer with an unknown operation, yields only its element types. For an operation of a
    library, yields the release of the library: openvino-tokenizers needs the OpenVINO release of
    the same number.
    """
    model = inference.model
    if model.kind == "net" and model.version in IR_VERSIONS:
        yield Requirement(IR_VERSIONS[model.version], "IR version", str(model.version), None)
        for detail in _of_the_file(model):
            yield Requirement(detail.right, "detail", detail.what, None)
        for detail, layer in _of_names(inference):
            yield Requirement(detail.right, "detail", detail.what, layer)
    opsets: dict[tuple[type[Operation], str], Requirement | None] = {}
    all_sites = {site.layer: site for site in sites(inference)}
    for layer, site in all_sites.items():
        if site.operation is not None and issubclass(site.operation, LibraryOperation):
            introduced, package = parse_release(site.operation.introduced), site.operation.package
            yield Requirement(introduced, "library", f"{layer.type} of {package}", layer)
        elif site.operation is not None and site.operation.custom_version is None:
            kind = site.operation, layer.version
            if kind not in opsets:
                opsets[kind] = _opset(*kind)
            if (known := opsets[kind]) is not None:
                yield known._replace(layer=layer)
        if site.operation is not None:
            for detail in details(site, "refused"):
                since = _seen_since(detail, site, all_sites)
                if since < detail.right:
                    yield Requirement(detail.right, "detail", detail.what, layer, since)
        for name in late_types(layer):
            release = ELEMENT_TYPES[name]
            at_ports = any(port.element_type is ElementType.of(name) for port in layer.outputs)
            if site.operation is not None and not at_ports:
                own = dict(site.operation.released_types).get(name)
                release = release if own is None else parse_release(own)
            yield Requirement(release, "element type", name, layer)


def running_requirements(inference: Inference) -> Iterator[Requirement]:
    """Yields the parts of a model that some releases do not run on the CPU, in file order."""
    for site in sites(inference):
        for detail in (*details(site, "not run"), *details(site, "ignored")):
            yield Requirement(detail.right, "detail", detail.what, site.layer, detail.since)


def _seen_since(refused: Detail, site: Site, all_sites: Mapping[Layer, Site]) -> Release:
    """Returns the first release that detects a fault, and so refuses it. Earlier releases infer too
    little about the layer, or about the layers before it."""
    if refused.what not in (EMPTY, SQUEEZED):
        return FIRST
    before = site.around.wiring.upstream(site.position)
    around = [site, *(all_sites[site.around.layers[at]] for at in before)]
    if any(padded_below_nothing(each) for each in around):
        return refused.right
    hiding = [
        difference.detail.right
        for each in around
        if each.operation is not None
        for difference in each.operation.differs
        if difference.hides == refused.what and difference.when(each)
    ]
    return max(hiding, default=FIRST)


def _opset(operation: type[Operation], version: str) -> Requirement | None:
    # under other names (`extension`) the readers know some operations of opset6
    opset = opset_number(version) or 6
    if opset not in OPSETS:
        return None
    own, whole = dict(operation.released).get(opset), OPSETS[opset]
    release = whole if own is None else parse_release(own)
    return Requirement(release, "opset", f"opset{opset}", None, opset=whole)


def _of_the_file(model: Model) -> Iterator[Detail]:
    """Yields what older releases refuse in a file. They recognise an IR by its first 512 bytes."""
    source = model.source
    data = source.data if source.raw is None else source.raw
    if len(data) <= HEADER_BYTES + 1:
        yield SHORT_FILE
    elif source.raw is None:
        net = max(data.find(b"<net"), 0)
        if any(
            name == "version" and end >= HEADER_BYTES for name, _, _, end in source.attributes(net)
        ):
            yield LATE_VERSION


def _of_names(inference: Inference) -> Iterator[tuple[Detail, Layer]]:
    """Yields the layers that older releases refuse because of a layer name or a tensor name."""
    for body in inference.model.net.all_bodies():
        known: set[str] = set()
        for layer in body.layers:
            if layer.name in known and not layer.is_result:
                yield LAYER_NAMES, layer
            known.add(layer.name)
    if inference.model.version != 10:
        return
    holders: dict[str, OutputRef] = {}
    net = inference.model.net
    for end in ends(net, inference.result.wiring, range(len(net.layers))):
        if any(holders.setdefault(name, end.ref) != end.ref for name in end.port.tensor_names):
            yield TENSOR_NAMES, end.layer


def late_types(layer: Layer) -> list[str]:
    """Returns the types in a layer's outputs and attributes that the oldest release lacks."""
    items = layer.items
    texts = [items[at + 1] for at in range(0, len(items), 2) if items[at].endswith("type")]
    texts += [port.precision for port in layer.outputs if port.precision is not None]
    return _late_types(frozenset(texts))


@lru_cache
def _late_types(precisions: frozenset[str]) -> list[str]:
    named = map(ElementType.of_precision, precisions)
    return sorted({each.name for each in named if each is not None} & ELEMENT_TYPES.keys())
