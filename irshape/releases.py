"""Which OpenVINO release reads what: opsets, IR versions and element types.

Tables, with their sources:

- OPSETS to opset15: the table of "Available Operation Sets" in OpenVINO's documentation
  (docs.openvino.ai/2024/documentation/openvino-ir-format/operation-sets/available-opsets.html).
  It names the release that fully supports an opset. Earlier releases, whose table was partial,
  already read single operations of opset15 and opset16.
- opset16: opened for 2025.0 (openvino pull request 27458), finished in January 2026 (33630) and
  released with 2026.0 (issue 34780; keras pull request 22446).
- opset17: opened in March 2026 for 2026.2 (pull request 34899); still partial in the installed
  2026.4.
- IR 10 came with 2020.1 and opset1, IR 11 with 2022.1 ("Transition to OpenVINO API 2.0",
  docs.openvino.ai/2022.1/openvino_2_0_transition_guide.html).
- i4, u4: in `Type_t` of the sources at tag 2021.4, not at 2021.3.
- nf4: pull request 19900, September 2023, and nncf pull request 2281 ("openvino==2023.2 contains
  nf4").
- f8e4m3, f8e5m2: pull request 21608, January 2024.
- string in an IR: pull request 22578, for 2024.0.
- u2, u3, u6 as constants: pull request 24006, April 2024, after 2024.1 was closed.
- f4e2m1, f8e8m0: pull requests 24863 and 24923, one work, June 2024, after 2024.2 was closed.
- Element types that are not listed are in `Type_t` of the oldest sources consulted (2020.4).
"""

from __future__ import annotations

import re

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
"""The first release that fully supports an opset."""

PARTIAL_OPSETS: dict[int, frozenset[str]] = {17: frozenset(("Convert", "Parameter", "ShapeOf"))}
"""Opsets without all earlier operations: the earlier types that they contain."""

IR_VERSIONS: dict[int, tuple[int, int]] = {10: (2020, 1), 11: (2022, 1)}
"""The first release that reads a version of the format."""

ELEMENT_TYPES: dict[str, tuple[int, int]] = {
    "i4": (2021, 4),
    "u4": (2021, 4),
    "nf4": (2023, 2),
    "f8e4m3": (2024, 0),
    "f8e5m2": (2024, 0),
    "string": (2024, 0),
    "u2": (2024, 2),
    "u3": (2024, 2),
    "u6": (2024, 2),
    "f4e2m1": (2024, 3),
    "f8e8m0": (2024, 3),
}
"""The first release that reads an element type, where it is not the first of all."""

FIRST = (2020, 1)

Release = tuple[int, int]


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
    """`2023.3` or `2023.3.0` as a pair that compares.

    Raises `ValueError` for another text, and for a release that irshape does not know.
    """
    match = re.fullmatch(r"(20[0-9]{2})\.([0-9]{1,2})(?:\.[0-9]+)*", text.strip())
    if match is None:
        raise ValueError(f"'{text}' is not an OpenVINO release; write it as 2023.3")
    year, minor = int(match[1]), int(match[2])
    first, last = MINOR_RELEASES.get(year, (1, 0))
    if not first <= minor <= last:
        newest = max(MINOR_RELEASES)
        raise ValueError(
            f"there is no OpenVINO release '{text}' that irshape knows; they go from "
            f"{written(FIRST)} to {newest}.{MINOR_RELEASES[newest][1]}"
        )
    return year, minor


def written(release: Release) -> str:
    return f"{release[0]}.{release[1]}"


def newest_opset(release: Release) -> int:
    """The newest opset that a release fully supports; 0 before the first."""
    return max((opset for opset, since in OPSETS.items() if since <= release), default=0)
