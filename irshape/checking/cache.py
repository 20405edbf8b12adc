"""Caches reports by the content of the file, the settings, and the version of irshape.

An entry also records which bytes of the .bin were read, and their digest. If the .bin differs in
these bytes or in its size, the entry does not apply. An entry that cannot be read or written is not
an error. The folder can be deleted at any time.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..diagnostics.report import LISTS, Diagnostic, FileReport
from ..version import __version__

if TYPE_CHECKING:
    from ..model.source import Source
    from ..model.weights import Weights
    from ..rules.settings import Settings


def default_folder() -> str:
    """Returns IRSHAPE_CACHE_DIR, or the system's folder for caches."""
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
    """Returns a digest of the program: its version, the size and time of its files, and the
    plugins."""
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


class Entries:
    """The entries in a folder, as lines of one file. A separate file for each entry would take up
    to 1 ms.

    Several processes may add lines at once, since a single system call appends each line. If a
    crash or a network drive still damages a line, its checksum does not match.
    """

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "reports")
        self._places: dict[bytes, int] = {}
        """The offsets of the lines, by key."""
        self._identity = (0, 0)
        self._end = 0
        """The offset in the file up to which the lines are known."""

    def get(self, key: bytes) -> bytes | None:
        """Returns the text under a key; None if there is none. Raises `OSError` if the file is
        missing."""
        with open(self.path, "rb", opener=_open_at_once) as file:
            self._look_at(file)
            place = self._places.get(key)
            if place is None:
                return None
            file.seek(place)
            line = file.readline()
        text = line[_HEAD:-1]
        return text if line == _line(key, text) else None

    def _look_at(self, file: IO[bytes]) -> None:
        """Reads the lines that were appended to the file since the last call."""
        state = os.fstat(file.fileno())
        identity = state.st_dev, state.st_ino
        if identity != self._identity or state.st_size < self._end:
            self._places, self._identity, self._end = {}, identity, 0
        if state.st_size == self._end:
            return
        file.seek(self._end)
        for line in file:
            if not line.endswith(b"\n"):
                return  # it is being written
            self._places[line[:_KEY]] = self._end
            self._end += len(line)

    def put(self, key: bytes, text: bytes) -> None:
        """Adds a text under a key. If the file has become too large, drops all other texts.

        Raises `OSError`.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            handle = _open_at_once(self.path, flags)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            handle = _open_at_once(self.path, flags)
        try:
            os.write(handle, _line(key, text))
            full = os.fstat(handle).st_size > MAX_BYTES
        finally:
            os.close(handle)
        if full:
            os.unlink(self.path)


MAX_BYTES = 1 << 28
"""The largest size of the entries in a folder.

It is enough for 10,000 models with 25 kB of findings each, or for many more with few findings.
"""
_KEY = 48
_HEAD = _KEY + 18
"""The length of the key and the checksum, each followed by a space."""


def _open_at_once(path: str, flags: int) -> int:
    """Opens a file without waiting, even if it is a pipe. Returns its descriptor."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def _line(key: bytes, text: bytes) -> bytes:
    check = blake2b(key + text, digest_size=8).hexdigest().encode()
    return b"%s %s %s\n" % (key, check, text)


@lru_cache(maxsize=8)
def _entries(folder: str) -> Entries:
    """Returns the entries in a folder. A process reads only lines that it does not know yet."""
    return Entries(folder)


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
        self.key = digest.hexdigest().encode()
        self.entries = _entries(folder)
        self.weights = weights

    def get(self, shown: str) -> FileReport | None:
        """Returns the report, with `shown` as its path; None if there is none or the .bin has
        changed."""
        try:
            data = json.loads(self.entries.get(self.key) or b"")
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
        """Stores a report. whole: whether the entire .bin has been read."""
        reads = None if whole else sorted(self.weights.reads or ())
        data = {
            "layers": report.layers,
            "diagnostics": [diagnostic.to_dict() for diagnostic in report.diagnostics],
            "size": self.weights.size,
            "reads": reads,
        }
        try:
            data["digest"] = _digest(self.weights, reads)
            self.entries.put(self.key, json.dumps(data).encode())
        except (OSError, ValueError):
            return


def _diagnostic(fields: dict[str, Any]) -> Diagnostic:
    for name in LISTS:
        if name in fields:
            fields[name] = tuple(fields[name])
    return Diagnostic(**fields)


def _digest(weights: Weights, reads: list[tuple[int, int]] | None) -> str:
    """Returns a digest of some ranges of a .bin, or of all of it if `reads` is None.

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
