"""What a model requires of an OpenVINO release, and which layers force it. `releases` has the
facts of opsets and of the file, each operation those about itself (`differs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ..element_types import ElementType
from ..model.ends import ends
from ..model.graph import Layer, Model
from ..model.wiring import OutputRef
from ..ops.declaration import LibraryOperation, Operation
from ..ops.differences import EMPTY, SQUEEZED, Site
from ..ops.movement.padding import padded_below_nothing
from ..ops.registry import UnknownOperation, find
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
    written,
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
        yield Requirement(release, "opset", f"opset{opset}", layer)


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


_Reasons = dict[tuple[Release, str], list[Layer]]
"""The layers that need a release for the same reason."""


def _by_reason(needs: Iterable[Requirement]) -> _Reasons:
    layers_of: _Reasons = {}
    for need in needs:
        layers = layers_of.setdefault((need.release, need.what), [])
        if need.layer is not None:
            layers.append(need.layer)
    return layers_of


class Requirements:
    """What a model requires of OpenVINO.

    `to_dict` is what `irshape requires --format json` prints.
    """

    def __init__(self, inference: Inference) -> None:
        """Raises `ValueError` for a model that is not an IR."""
        model = inference.model
        if not model.format.layers_as_written:
            raise ValueError(
                f"'{model.path}' is not an OpenVINO IR: its operations are of another format"
            )
        self.model = model
        self.needs = list(requirements(inference))
        self._layers = _by_reason(self.needs)
        self.oldest: Release = max((release for release, _ in self._layers), default=FIRST)
        """The oldest release from which on all read the model, as numbers: (2024, 1)."""
        self._inference = inference
        self.unknown: list[tuple[Layer, str]] = []
        """The layers whose operations nobody has declared, and what is said of each."""
        self._libraries: dict[str, list[Layer]] = {}
        """The layers whose operations a library adds, by the package that brings it."""
        self.libraries: dict[str, Release] = {}
        """The oldest release of each of those packages that has all its operations in the model."""
        for layer in model.walk():
            try:
                operation = find(layer.type, layer.version)
                if issubclass(operation, LibraryOperation):
                    package, introduced = operation.package, parse_release(operation.introduced)
                    self._libraries.setdefault(package, []).append(layer)
                    self.libraries[package] = max(self.libraries.get(package, FIRST), introduced)
            except UnknownOperation as problem:
                self.unknown.append((layer, str(problem)))

    @cached_property
    def _running(self) -> dict[tuple[Release, str], list[Layer]]:
        needs = running_requirements(self._inference)
        return _by_reason(need for need in needs if need.release > self.oldest)

    @property
    def oldest_running(self) -> Release:
        """The oldest release from which on all read the model, and run it on the CPU."""
        return max([self.oldest, *(release for release, _ in self._running)])

    @property
    def release(self) -> str:
        """The oldest release that reads the model, such as `2024.1`, with the libraries that it
        needs; operations that nobody has declared aside."""
        return written(self.oldest)

    def reads(self, release: str) -> bool:
        """Whether a release reads the model, with the libraries that it needs. False if it has
        custom operations that nobody has declared.

        Raises `ValueError` for a text that names no OpenVINO release known to irshape.
        """
        asked = parse_release(release)
        return not self.unknown and not any(need.refuses(asked) for need in self.needs)

    def __repr__(self) -> str:
        return f"<Requirements: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        return f"{self.model.path}: {self.releases}"

    @property
    def releases(self) -> str:
        """The releases that read the model and that run it, as a sentence."""
        reads, runs = f"OpenVINO {self.release} or newer", written(self.oldest_running)
        if runs == self.release:
            return reads
        return f"{reads} reads it, {runs} or newer runs it on the CPU"

    def to_dict(self) -> dict[str, Any]:
        """The release, the reasons with their layers (newest first), the libraries that add
        operations, and the custom operations that nobody has declared."""
        return {
            "version": 1,
            "model": self.model.path,
            "requires": self.release,
            "runs": written(self.oldest_running),
            "reasons": self._reasons(self._layers, self.oldest),
            "running_reasons": self._reasons(self._running, self.oldest_running),
            "libraries": [
                {
                    "install": f"pip install {package}",
                    "release": written(self.libraries[package]),
                    "layers": [self._placed(layer) for layer in layers],
                }
                for package, layers in self._libraries.items()
            ],
            "unknown": [self._placed(layer) | {"why": why} for layer, why in self.unknown],
        }

    def _reasons(self, layers_of: _Reasons, oldest: Release) -> list[dict[str, Any]]:
        return [
            {
                "release": written(release),
                "reason": what,
                "forces": release == oldest,
                "layers": [self._placed(layer) for layer in layers],
            }
            for (release, what), layers in sorted(
                layers_of.items(), key=lambda item: item[0], reverse=True
            )
        ]

    def _placed(self, layer: Layer) -> dict[str, Any]:
        return layer.reference | {"line": self.model.source.place(layer.offset)[0]}


def together(answers: Sequence[Requirements], complete: bool = True) -> dict[str, Any]:
    """What several models require of one OpenVINO, as `irshape requires --format json` prints it.

    complete: whether every file that was asked about could be read.
    """
    packages = sorted({package for answer in answers for package in answer.libraries})
    newest = max((answer.oldest for answer in answers), default=None)
    libraries = []
    for package in packages:
        using = [answer for answer in answers if package in answer.libraries]
        libraries.append(
            {
                "install": f"pip install {package}",
                "release": written(max(answer.libraries[package] for answer in using)),
                "models": [answer.model.path for answer in using],
            }
        )
    documents = [answer.to_dict() for answer in answers]
    return {
        "version": 1,
        "requires": None if newest is None else written(newest),
        "libraries": libraries,
        "unknown": [each["model"] for each in documents if each["unknown"]],
        "complete": complete,
        "models": documents,
    }
