"""The one list of known differences from OpenVINO, `known_differences.tsv` beside this module.

`Case(known="key")` names an entry, or several.
`OLDER`, from `older_differences.tsv`, has those of releases before the newest, by operation.

Kinds, each checked strictly (an entry that no longer holds fails its cases):
    values    both run it, and the results differ
    hardware  both run it, and whether the results differ depends on the CPU: values are compared
              with `Case(expected=...)` alone, and no entry is stale
    tighter   irshape's shape is narrower than OpenVINO's, and inside it
    wider     irshape's shape allows what OpenVINO's leaves out though it can happen
    stricter  OpenVINO silently accepts it, the specification forbids it: irshape reports an error
    lenient   OpenVINO refuses it for a limitation or bug of its own: irshape reports no error
    crash     OpenVINO crashes or hangs while reading it, though it is legal: irshape reports no
              error
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from irshape.releases import MINOR_RELEASES, Release, written


@dataclass(frozen=True)
class Known:
    """A difference, why it is one, and the OpenVINO versions (by prefix) in which it was seen."""

    kind: Literal["values", "hardware", "tighter", "wider", "stricter", "lenient", "crash"]
    reason: str
    versions: tuple[str, ...] = ("2026.4",)


def _rows(name: str) -> list[list[str]]:
    """The rows of a table beside this module, which are not comments."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


KNOWN = {
    key: Known(kind, reason, tuple(versions.split()) or Known.versions)  # type: ignore[arg-type]
    for key, kind, versions, reason in _rows("known_differences.tsv")
}
"""Keys are lower case with hyphens. A key says what the difference is about, not which case showed
it."""

EVER: Release = (9999, 0)
"""After all releases."""


@dataclass(frozen=True)
class Older:
    """Something that releases before the newest do otherwise with some operations.

    what: a release `takes` what irshape and the newest refuse; it `reads` what irshape says that it
    refuses; it `refuses` or `crashes` at what irshape says that it reads; its CPU plugin does `not
    run` it; or its `shapes` or `values` are others. A row of the operation may show it or not.
    """

    what: Literal["takes", "reads", "refuses", "crashes", "not run", "shapes", "values"]
    operations: tuple[str, ...]
    before: Release
    """The first release after the last one that shows it."""
    reason: str
    since: Release = (2023, 0)

    def covers(self, operation: str, what: str, release: Release) -> bool:
        in_time = self.since <= release < self.before
        return what == self.what and in_time and operation in self.operations

    @property
    def span(self) -> str:
        if self.before == EVER:
            return f"{written(self.since)} on"
        return f"{written(self.since)} to before {written(self.before)}"


def _older() -> Iterator[Older]:
    for what, since, before, operations, reason in _rows("older_differences.tsv"):
        yield Older(
            what,  # type: ignore[arg-type]
            tuple(operations.split()),
            _release(before) if before else EVER,
            reason,
            _release(since) if since else Older.since,
        )


def _release(text: str) -> Release:
    year, minor = map(int, text.split("."))
    return year, minor


OLDER = tuple(_older())
"""Differences of older releases that `requires` and `--target` do not tell."""

_MINORS = tuple(
    f"{year}.{minor}"
    for year, (first, last) in MINOR_RELEASES.items()
    for minor in range(first, last + 1)
)


def _spans(*rows: tuple[str, str, str, str]) -> dict[tuple[str, str], str]:
    return {
        (example, release): answer
        for example, answer, first, last in rows
        for release in _MINORS[_MINORS.index(first) : _MINORS.index(last) + 1]
    }


EXAMPLES: dict[tuple[str, str], str] = _spans(
    ("compressed", "refuses", "2023.0", "2023.1"),  # nf4
    ("control_flow", "refuses", "2023.0", "2023.0"),  # Pad of opset12
    # a Loop inside a Loop, whose state is wrong after the first iteration
    ("control_flow", "2 differ", "2023.1", "2026.1"),
    ("decoder", "refuses", "2023.0", "2023.2"),  # ScaledDotProductAttention
    ("decoder", "crashes", "2024.4", "2024.4"),
    ("encoder", "does not run", "2023.2", "2023.2"),
    ("int8", "does not run", "2023.0", "2023.0"),
    ("recurrent", "does not run", "2023.0", "2023.2"),
    ("reductions", "does not run", "2023.0", "2024.0"),  # a reduction whose rank it does not infer
    ("reductions", "1 differs", "2024.1", "2024.3"),  # the mean of negative integers
)
"""What a release does with an example, by its name and the release, where `irshape crosscheck` does
not find all equal."""
