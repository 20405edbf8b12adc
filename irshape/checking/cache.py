"""Caches reports by the content of the file, the settings, and the version of irshape.

No cache is used if plugins are installed or loaded, since their code may change at any time.

An entry is a file whose name is a digest of the model's path and the settings, so that a changed
model replaces its own entry. The entry also records which bytes of the .bin irshape read, and their
digest. If the .bin changes in these bytes or in size, the entry is invalid. An entry that cannot be
read or written is not an error. The folder can be deleted at any time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..diagnostics.report import LISTS, Diagnostic, FileReport
from ..version import __version__

if TYPE_CHECKING:
    from ..model.source import Source
    from ..model.weights import Weights
    from ..rules.settings import Settings


def default_folder() -> str:
    """Returns the folder in IRSHAPE_CACHE_DIR, or else one in the user's folder for caches."""
    given = os.environ.get("IRSHAPE_CACHE_DIR")
    if given:
        return given
    if os.name == "nt":
        return os.path.join(
            os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "irshape", "cache"
        )
    return os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"),
        "irshape",
    )


@lru_cache(maxsize=1)
def _program() -> bytes:
    """Returns a digest of irshape's version, and of the sizes and times of its files."""
    digest = blake2b(__version__.encode(), digest_size=16)
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        state = path.stat()
        digest.update(f"{path.name} {state.st_size} {state.st_mtime_ns};".encode())
    return digest.digest()


class Entry:
    """The entry for one file in a cache."""

    def __init__(self, folder: str, source: Source, weights: Weights, settings: Settings) -> None:
        told = [
            tuple(sorted(value)) if isinstance(value, frozenset) else value for value in settings
        ]
        name = blake2b(_bytes(os.path.abspath(source.path), told), digest_size=24).hexdigest()
        self.path = Path(folder, name)
        digest = blake2b(_program(), digest_size=24)
        bin_name = os.path.basename(weights.path or "")
        digest.update(_bytes(weights.state, bin_name, weights.detail, source.encoding))
        digest.update(source.data)
        self.key = digest.hexdigest()
        self.weights = weights

    def get(self, shown: str) -> FileReport | None:
        """Returns the stored report if it is still valid, otherwise None. shown: the path for the
        report."""
        try:
            data = json.loads(self.path.read_bytes())
            reads = data["reads"]
            if (data["key"], data["size"]) != (self.key, self.weights.size) or data[
                "digest"
            ] != _digest(self.weights, reads):
                return None
            return FileReport(
                shown, data["layers"], [_diagnostic(fields) for fields in data["diagnostics"]]
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, report: FileReport, *, whole: bool) -> None:
        """Stores a report. whole: whether the entire .bin was read, not only parts of it."""
        reads = None if whole else sorted(self.weights.reads or ())
        data = {
            "key": self.key,
            "layers": report.layers,
            "diagnostics": [diagnostic.to_dict() for diagnostic in report.diagnostics],
            "size": self.weights.size,
            "reads": reads,
        }
        try:
            data["digest"] = _digest(self.weights, reads)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(json.dumps(data).encode())
        except (OSError, ValueError):
            return


def _bytes(*values: object) -> bytes:
    return repr(values).encode("utf-8", "surrogatepass")


def _diagnostic(fields: dict[str, Any]) -> Diagnostic:
    for name in LISTS:
        if name in fields:
            fields[name] = tuple(fields[name])
    return Diagnostic(**fields)


def _digest(weights: Weights, reads: Iterable[tuple[int, int]] | None) -> str:
    """Returns a digest of some ranges of a .bin, or of all of it if `reads` is None.

    Raises `ValueError` for a range beyond the end of the .bin.
    """
    digest = blake2b(digest_size=16)
    if weights.data is not None:
        for start, size in [(0, weights.size)] if reads is None else reads:
            if not weights.holds(start, size):
                raise ValueError
            for at in range(start, start + size, 1 << 22):
                digest.update(weights.data[at : min(at + (1 << 22), start + size)])
    return digest.hexdigest()
