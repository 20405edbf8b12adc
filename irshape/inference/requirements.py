"""What a model requires of an OpenVINO release, and which layers force it. `releases` has the
facts of opsets and of the file, each operation those about itself (`differs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..element_types import ElementType
from ..model.ends import ends
from ..model.graph import Layer, Model
from ..model.wiring import OutputRef
from ..ops.declaration import LibraryOperation, Operation
from ..ops.differences import EMPTY, SQUEEZED, Site
from ..ops.movement.padding import padded_below_nothing
from ..releases import (
    ATTRIBUTE_TYPES,
    ELEMENT_TYPES,
    FIRST,
    HEADER_BYTES,
    IR_VERSIONS,
    LATE_VERSION,
    LAYER_NAMES,
    OPERATIONS,
    OPSETS,
    SHORT_FILE,
    TENSOR_NAMES,
    Detail,
    Release,
    parse_release,
)
from .result import Inference
from .sites import details, sites


class Requirement(NamedTuple):
    """A part of a model that a release must know: `opset11`, `element type nf4`, `IR version 11`.
    Without a layer: the file as a whole.
    """

    release: Release
    kind: str
    """`opset`, `element type`, `IR version`, `library` of an operation that a library adds, or
    `detail` of an operation or of the file.
    """
    name: str
    layer: Layer | None
    since: Release = FIRST
    """The first release that refuses it."""
    opset: Release = FIRST
    """The first release that reads the opset of an operation, if not the operation."""

    def refuses(self, release: Release) -> bool:
        """Whether a release does not know the part."""
        return self.since <= release < self.release

    @property
    def what(self) -> str:
        bare = self.kind in ("opset", "detail", "library")
        return self.name if bare else f"{self.kind} {self.name}"


def requirements(inference: Inference) -> Iterator[Requirement]:
    """What a model needs of a release, in file order.

    Of layers whose operation no opset holds, only the element types and, where a library adds it,
    the release: each release of openvino-tokenizers demands the OpenVINO of its own number.
    """
    model = inference.model
    if model.kind == "net" and model.version in IR_VERSIONS:
        yield Requirement(IR_VERSIONS[model.version], "IR version", str(model.version), None)
        for detail in _of_the_file(model):
            yield Requirement(detail.right, "detail", detail.what, None)
        for detail, layer in _of_names(inference):
            yield Requirement(detail.right, "detail", detail.what, layer)
    all_sites = {site.layer: site for site in sites(inference)}
    for layer, site in all_sites.items():
        if site.operation is not None and issubclass(site.operation, LibraryOperation):
            introduced, package = parse_release(site.operation.introduced), site.operation.package
            yield Requirement(introduced, "library", f"{layer.type} of {package}", layer)
        elif site.operation is not None:
            yield from _opset(layer, site.operation)
        if site.operation is not None:
            for detail in details(site, "refused"):
                since = _seen_since(detail, site, all_sites)
                if since < detail.right:
                    yield Requirement(detail.right, "detail", detail.what, layer, since)
        for name in sorted(element_types(layer) & ELEMENT_TYPES.keys()):
            release = ELEMENT_TYPES[name]
            if all(port.element_type is not ElementType.of(name) for port in layer.outputs):
                release = ATTRIBUTE_TYPES.get((layer.type, name), release)
            yield Requirement(release, "element type", name, layer)


def running_requirements(inference: Inference) -> Iterator[Requirement]:
    """What a release must know to run on the CPU what it reads, in file order."""
    for site in sites(inference):
        for detail in (*details(site, "not run"), *details(site, "ignored")):
            yield Requirement(detail.right, "detail", detail.what, site.layer, detail.since)


def _seen_since(refused: Detail, site: Site, all_sites: Mapping[Layer, Site]) -> Release:
    """The first release that sees what it refuses: those before infer less, of the layer itself or
    of one before it.
    """
    if refused.what not in (EMPTY, SQUEEZED):
        return FIRST
    around = _up_to(site, all_sites)
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


def _up_to(site: Site, all_sites: Mapping[Layer, Site]) -> list[Site]:
    """A layer and those that it depends on, in its body."""
    around, waiting = {site.layer: site}, [site]
    while waiting:
        for layer in waiting.pop().fed_by:
            if layer is not None and layer not in around:
                around[layer] = all_sites[layer]
                waiting.append(all_sites[layer])
    return list(around.values())


def _opset(layer: Layer, operation: type[Operation]) -> Iterator[Requirement]:
    # under other names (`extension`) the readers know some operations of opset6
    match = re.fullmatch(r"opset([1-9][0-9]?)", layer.version)
    opset = int(match[1]) if match else 6
    if opset in OPSETS:
        release = OPERATIONS.get((operation.type_name(), opset), OPSETS[opset])
        yield Requirement(release, "opset", f"opset{opset}", layer, opset=OPSETS[opset])


def _of_the_file(model: Model) -> Iterator[Detail]:
    """What readers that look at the first 512 bytes of a file refuse."""
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
    """The layers whose names, or the names of whose tensors, older readers refuse."""
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


def element_types(layer: Layer) -> set[str]:
    """The element types that a layer names: those of its outputs, and of its attributes that hold
    one (`element_type`, `destination_type` …).
    """
    names = {port.element_type.name for port in layer.outputs if port.element_type is not None}
    items = layer.items
    for at in range(0, len(items), 2):
        if items[at].endswith("type"):
            element_type = ElementType.of_precision(items[at + 1])
            if element_type is not None:
                names.add(element_type.name)
    return names
