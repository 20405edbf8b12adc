"""A cache of reports, by the content of the file, the settings, and the version of irshape.

An entry also records which bytes of the .bin were read, and their digest. A .bin that differs in
them, or in size, is a miss. An entry that cannot be read or written is not an error. A folder of
entries can be deleted at any time.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..diagnostics.report import Diagnostic, FileReport
from ..version import __version__

if TYPE_CHECKING:
    from ..model.source import Source
    from ..model.weights import Weights
    from ..rules.settings import Settings


def default_folder() -> str:
    """IRSHAPE_CACHE_DIR, or the place for caches of this system."""
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
    """A digest of the program: its version, the size and time of its files, and the plugins."""
    from ..rules.plugins import entry_point_files

    digest = blake2b(__version__.encode(), digest_size=16)
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        state = path.stat()
        digest.update(f"{path.name} {state.st_size} {state.st_mtime_ns};".encode())
    for text in entry_point_files():
        digest.update(text)
    if entry_point_files():
        import sys

        from ..rules.plugins import plugin_rules

        for rule in plugin_rules():
            file = getattr(sys.modules.get(rule.__module__), "__file__", None)
            if file and os.path.exists(file):
                digest.update(
                    f"{file} {os.stat(file).st_size} {os.stat(file).st_mtime_ns};".encode()
                )
    return digest.digest()


class Entry:
    """The place of one file's findings in a cache."""

    def __init__(self, folder: str, source: Source, weights: Weights, settings: Settings) -> None:
        digest = blake2b(_program(), digest_size=24)
        told = [
            tuple(sorted(value)) if isinstance(value, frozenset) else value for value in settings
        ]
        digest.update(
            repr(
                (
                    told,
                    weights.state,
                    os.path.basename(weights.path or ""),
                    weights.detail,
                    source.encoding,
                )
            ).encode("utf-8", "surrogatepass")
        )
        digest.update(source.data)
        name = digest.hexdigest()
        self.path = Path(folder) / name[:2] / f"{name[2:]}.json"
        self.weights = weights

    def get(self, shown: str) -> FileReport | None:
        """The report, under the path `shown`; None if there is none or the .bin has changed."""
        try:
            data = json.loads(self.path.read_bytes())
            reads = data["reads"]
            if data["size"] != self.weights.size or data["digest"] != _digest(
                self.weights, None if reads is None else [(start, size) for start, size in reads]
            ):
                return None
            return FileReport(
                shown, data["layers"], [_diagnostic(fields) for fields in data["diagnostics"]]
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, report: FileReport, *, whole: bool) -> None:
        """Remembers. whole: all of the .bin has been looked at."""
        from ..formats.atomic import write_atomically

        reads = None if whole else sorted(self.weights.reads or ())
        data = {
            "layers": report.layers,
            "diagnostics": [diagnostic.to_dict() for diagnostic in report.diagnostics],
            "size": self.weights.size,
            "reads": reads,
        }
        try:
            data["digest"] = _digest(self.weights, reads)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, json.dumps(data).encode())
        except (OSError, ValueError):
            return


def _diagnostic(fields: dict[str, Any]) -> Diagnostic:
    for name in ("related", "fixes"):
        if name in fields:
            fields[name] = tuple(fields[name])
    return Diagnostic(**fields)


def _digest(weights: Weights, reads: list[tuple[int, int]] | None) -> str:
    """Of some ranges of a .bin, or of all of it for None.

    Raises `ValueError` for a range beyond its end.
    """
    digest = blake2b(digest_size=16)
    if weights.data is not None:
        for start, size in [(0, weights.size)] if reads is None else reads:
            if not weights.holds(start, size):
                raise ValueError
            for at in range(start, start + size, 1 << 22):
                digest.update(weights.data[at : min(at + (1 << 22), start + size)])
    return digest.hexdigest()
