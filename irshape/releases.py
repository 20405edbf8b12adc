"""The opsets, IR versions and element types that each OpenVINO release reads.

`inference.requirements` uses these tables. Their sources:

- OPSETS to opset15: the table of "Available Operation Sets" in OpenVINO's documentation
  (docs.openvino.ai/2024/documentation/openvino-ir-format/operation-sets/available-opsets.html),
  which names the release that supports an opset in full. From opset12 on, the release that reads
  the operations of earlier opsets under the new number was measured, too.
- "Measured": small IRs that the newest patch of every minor release from 2023.0 to 2026.4 read, or
  refused. Facts about earlier releases are from documentation and sources.
- IR 10 came with 2020.1 and opset1, IR 11 with 2022.1 ("Transition to OpenVINO API 2.0",
  docs.openvino.ai/2022.1/openvino_2_0_transition_guide.html).
- i4, u4: in `Type_t` of the sources at tag 2021.4, not at 2021.3.
- nf4: pull request 19900, September 2023, and nncf pull request 2281 ("openvino==2023.2 contains
  nf4"). f8e4m3, f8e5m2: pull request 21608, January 2024. f4e2m1, f8e8m0: pull requests 24863 and
  24923, June 2024, after 2024.2 was closed.
- string (2023.3), u2, u3, u6 (2024.1), and FakeConvert to f8 (2023.3): measured.
- Element types that are not listed are in `Type_t` of the oldest sources consulted (2020.4).
"""

from __future__ import annotations

import re
from typing import NamedTuple

OPSETS: dict[int, tuple[int, int]] = {
    1: (2020, 1),
    2: (2020, 2),
    3: (2020, 4),
    4: (2021, 1),
    5: (2021, 2),
    6: (2021, 3),
    7: (2021, 4),
    8: (2022, 1),
    9: (2022, 2),
    10: (2022, 3),
    11: (2023, 0),
    12: (2023, 1),
    13: (2023, 2),
    14: (2024, 0),
    15: (2024, 5),
    16: (2026, 0),
    17: (2026, 2),
}
"""For each opset, the first release that supports all of it. From opset 13 on, releases added the
operations of an opset gradually: `Operation.released` has the release of each operation that was
added at another time."""

PARTIAL_OPSETS: dict[int, frozenset[str]] = {17: frozenset(("Convert", "Parameter", "ShapeOf"))}
"""Opsets that lack most operations of earlier opsets, each with the operations that it contains."""

ABSENT: dict[int, frozenset[str]] = {2: frozenset(("RNNCell", "ShuffleChannels"))}
"""Operations that one opset lacks, although earlier and later opsets have them. Measured: all
releases refuse these operations in this opset."""


def lacks(opset: int, type_name: str) -> bool:
    """Whether an opset lacks an operation that earlier opsets have."""
    partial = PARTIAL_OPSETS.get(opset)
    return type_name in ABSENT.get(opset, ()) or (partial is not None and type_name not in partial)


IR_VERSIONS: dict[int, tuple[int, int]] = {10: (2020, 1), 11: (2022, 1)}
"""For each IR version, the first release that reads it."""

ELEMENT_TYPES: dict[str, tuple[int, int]] = {
    "i4": (2021, 4),
    "u4": (2021, 4),
    "nf4": (2023, 2),
    "f8e4m3": (2024, 0),
    "f8e5m2": (2024, 0),
    "string": (2023, 3),
    "u2": (2024, 1),
    "u3": (2024, 1),
    "u6": (2024, 1),
    "f4e2m1": (2024, 3),
    "f8e8m0": (2024, 3),
}
"""For each element type that the oldest release lacks, the first release that reads it."""

FIRST = (2020, 1)

Release = tuple[int, int]


class Detail(NamedTuple):
    """A property of a model that some releases refuse, ignore, do not run, or infer differently.
    These are the releases from `since` on, up to the one before `right`."""

    right: Release
    """The first release that treats the property as the newest release does."""
    what: str
    """The property, as a noun phrase: `an .xml of at most 513 bytes`."""
    since: Release = FIRST
    consequence: str = ""
    """What releases before `self.right` do, as a verb phrase; empty if they refuse the model."""


SHORT_FILE = Detail((2024, 5), "an .xml of at most 513 bytes")
LATE_VERSION = Detail((2024, 5), "a `version` of <net> after the first 511 bytes")
LAYER_NAMES = Detail((2024, 1), "a layer with the name of an earlier layer")
TENSOR_NAMES = Detail((2025, 1), "an input or output in IR 10 with the tensor name of another")
# `Operation.differs` states how older releases treat an operation

HEADER_BYTES = 512
"""The number of bytes in which OpenVINO looks for the version, before it parses the file."""


def shows(detail: Detail, release: Release) -> bool:
    """Whether a release treats a property differently from the newest release."""
    return detail.since <= release < detail.right


MINOR_RELEASES: dict[int, tuple[int, int]] = {
    2020: (1, 4),
    2021: (1, 4),
    2022: (1, 3),
    2023: (0, 3),
    2024: (0, 6),
    2025: (0, 4),
    2026: (0, 4),
}
"""The first and the last minor release of each year.

Source: github.com/openvinotoolkit/openvino/releases
"""


def parse_release(text: str) -> Release:
    """Parses a release such as `2023.3` or `2023.3.0`. Returns a tuple (year, number).

    Raises `ValueError` for another text, and for a release that irshape does not know.
    """
    match = re.fullmatch(r"(20[0-9]{2})\.([0-9]{1,2})(?:\.[0-9]+)*", str(text).strip())
    if match is None or not isinstance(text, str):  # 2024.1 and 2024.10 are one number
        raise ValueError(f"{text!r} is not an OpenVINO release; write it as '2023.3'")
    year, minor = int(match[1]), int(match[2])
    first, last = MINOR_RELEASES.get(year, (1, 0))
    if not first <= minor <= last:
        newest = max(MINOR_RELEASES)
        raise ValueError(
            f"there is no OpenVINO release '{text}' among those that irshape knows: "
            f"{written(FIRST)} to {newest}.{MINOR_RELEASES[newest][1]}"
        )
    return year, minor


def written(release: Release) -> str:
    return f"{release[0]}.{release[1]}"


def opset_number(version: str) -> int | None:
    """Returns the number in a version such as `opset13`; None for a version of another form."""
    match = re.fullmatch(r"opset([1-9][0-9]?)", version)
    return int(match[1]) if match else None


def newest_opset(release: Release) -> int:
    """Returns the newest opset that a release supports in full; 0 if it supports none."""
    return max((opset for opset, since in OPSETS.items() if since <= release), default=0)
