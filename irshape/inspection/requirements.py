"""What a model requires: an OpenVINO release, extension libraries, and devices that compile it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from ..devices.facts import DEVICES
from ..devices.verdicts import DeviceVerdict, judge, placed
from ..inference.requirements import Requirement, requirements, running_requirements
from ..inference.result import Inference
from ..model.graph import Layer
from ..ops.declaration import LibraryOperation
from ..ops.registry import UnknownOperation, find
from ..releases import FIRST, Release, parse_release, written

_Reasons = dict[tuple[Release, str], list[Layer]]
"""The layers that require a release for the same reason."""


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
        """Raises `ValueError` if the model is not an IR."""
        model = inference.model
        if not model.format.is_ir:
            raise ValueError(
                f"'{model.path}' is not an OpenVINO IR: its operations are of another format; "
                "`irshape convert` converts it to an IR"
            )
        self.model = model
        self.needs = list(requirements(inference))
        self._layers = _by_reason(self.needs)
        self.oldest: Release = max((release for release, _ in self._layers), default=FIRST)
        """The oldest release such that it and all newer ones read the model, e.g. (2024, 1)."""
        self._inference = inference
        self.unknown: list[tuple[Layer, str]] = []
        """The layers with undeclared operations, each with a message."""
        self._libraries: dict[str | None, list[Layer]] = {}
        """The layers whose operations a library adds, by the package of the library. The key None
        stands for custom operations that a user has declared."""
        self.libraries: dict[str, Release] = {}
        """For each package in `_libraries`, its oldest release with all operations of the model."""
        for layer in model.walk():
            try:
                operation = find(layer.type, layer.version)
                if issubclass(operation, LibraryOperation):
                    package, introduced = operation.package, parse_release(operation.introduced)
                    self._libraries.setdefault(package, []).append(layer)
                    self.libraries[package] = max(self.libraries.get(package, FIRST), introduced)
                elif operation.custom_version is not None:
                    self._libraries.setdefault(None, []).append(layer)
            except UnknownOperation as problem:
                self.unknown.append((layer, str(problem)))

    @cached_property
    def _running(self) -> dict[tuple[Release, str], list[Layer]]:
        needs = running_requirements(self._inference)
        return _by_reason(need for need in needs if need.release > self.oldest)

    @cached_property
    def devices(self) -> dict[str, DeviceVerdict]:
        """Whether CPU, GPU and NPU compile the model, according to the facts about the newest
        release. Each device has a `verdict`, the `layers` that do not compile, and the `unjudged`
        layers."""
        return judge(self._inference, DEVICES)

    @property
    def oldest_running(self) -> Release:
        """The oldest release such that it and all newer releases run the model on the CPU."""
        return max([self.oldest, *(release for release, _ in self._running)])

    @property
    def release(self) -> str:
        """The oldest release, such as `2024.1`, that reads the model, given the extension libraries
        that the model needs. Custom operations that nobody has declared are ignored."""
        return written(self.oldest)

    @property
    def needs_library(self) -> bool:
        """Whether the model has custom operations whose library irshape does not know. No release
        reads the model without this library."""
        return bool(self.unknown) or None in self._libraries

    def reads(self, release: str) -> bool:
        """Whether a release reads the model if its extension libraries are added. False if the
        model has custom operations that nobody has declared.

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
        """Says which releases read the model, and which releases run it on the CPU."""
        reads, runs = f"OpenVINO {self.release} or newer", written(self.oldest_running)
        if runs == self.release:
            return reads
        return f"{reads} reads it, {runs} or newer runs it on the CPU"

    def to_dict(self) -> dict[str, Any]:
        """Returns the release, the reasons with their layers (newest first), the libraries that add
        operations, the custom operations that nobody has declared, and the devices."""
        return {
            "version": 1,
            "model": self.model.path,
            "requires": self.release,
            "runs": written(self.oldest_running),
            "reasons": self._reasons(self._layers, self.oldest),
            "running_reasons": self._reasons(self._running, self.oldest_running),
            **self.outside(),
            "devices": {name: self._device(judged) for name, judged in self.devices.items()},
        }

    def outside(self) -> dict[str, Any]:
        """Returns the libraries that add operations, and the custom operations that nobody has
        declared."""
        return {
            "libraries": [
                {
                    "install": None if package is None else f"pip install {package}",
                    "release": None if package is None else written(self.libraries[package]),
                    "layers": placed(self.model, layers),
                }
                for package, layers in self._libraries.items()
            ],
            "unknown": [
                row | {"why": why}
                for layer, why in self.unknown
                for row in placed(self.model, [layer])
            ],
        }

    def _device(self, judged: DeviceVerdict) -> dict[str, Any]:
        moved = judged.moved(self.devices["CPU"])
        return judged.to_dict() | {"moved": placed(self.model, moved)}

    def _reasons(self, layers_of: _Reasons, oldest: Release) -> list[dict[str, Any]]:
        return [
            {
                "release": written(release),
                "reason": what,
                "forces": release == oldest,
                "layers": placed(self.model, layers),
            }
            for (release, what), layers in sorted(
                layers_of.items(), key=lambda item: item[0], reverse=True
            )
        ]


def together(answers: Sequence[Requirements], complete: bool = True) -> dict[str, Any]:
    """Returns what several models require of OpenVINO together, as `irshape requires --format json`
    prints it. complete: whether all given files could be read."""
    newest = max((answer.oldest for answer in answers), default=None)
    documents = [answer.to_dict() for answer in answers]
    releases: dict[str | None, dict[str, str]] = {}
    for each in documents:
        for library in each["libraries"]:
            releases.setdefault(library["install"], {})[each["model"]] = library["release"]
    libraries = [
        {
            "install": install,
            "release": install and max(of_models.values(), key=parse_release),
            "models": list(of_models),
        }
        for install, of_models in sorted(releases.items(), key=lambda item: item[0] or "")
    ]
    return {
        "version": 1,
        "requires": None if newest is None else written(newest),
        "libraries": libraries,
        "unknown": [each["model"] for each in documents if each["unknown"]],
        "complete": complete,
        "models": documents,
    }
