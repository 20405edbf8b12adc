"""Writes files so that they appear complete or not at all."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from .file_copy import FileSpan, copied, is_plain


class Hole(NamedTuple):
    """A run of zeros. It takes no space if the file system supports sparse files."""

    size: int


Piece = bytes | FileSpan | Hole
Content = bytes | Iterable[Piece]
"""The content of a file, in consecutive pieces."""


def write_atomically(path: Path, data: Content) -> None:
    """Writes a file beside its target, then renames it. Raises `OSError` and then leaves nothing
    behind."""
    write_together({path: data})


def write_together(files: Mapping[Path, Content]) -> None:
    """Writes several files beside their targets, and renames them once all are written.

    The last file refers to the others. It is moved away first and put in place last, so that a
    killed process never leaves it with files that do not belong to it. Leftovers of killed
    processes for these targets are removed. If it raises `OSError`, nothing has changed.
    A link stays, and its target is replaced. A device or pipe is written directly.
    """
    written: dict[str, str] = {}
    former: dict[str, str] = {}
    try:
        for path, data in files.items():
            target = os.path.realpath(path)
            if os.path.isdir(target):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            if os.path.exists(target) and not os.path.isfile(target):
                with open(target, "wb") as file:
                    write_pieces(file, data)
                continue
            folder, name = os.path.split(target)
            if not os.path.isdir(folder):
                raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
            _remove_debris(folder, name)
            try:
                handle, written[target] = _temporary(folder, name)
            except OSError as problem:
                problem.filename = str(path)
                raise
            with os.fdopen(handle, "wb") as file:
                write_pieces(file, data)
            os.chmod(
                written[target],
                os.stat(target).st_mode if os.path.exists(target) else 0o666 & ~_umask(),
            )
        last = next(reversed(written), "")
        if len(written) > 1 and os.path.exists(last):
            handle, former[last] = _temporary(*os.path.split(last))
            os.close(handle)
            os.replace(last, former[last])
        for target, temporary in list(written.items()):
            os.replace(temporary, target)
            del written[target]
        for old in former.values():
            os.unlink(old)
        former.clear()
    finally:
        for target, old in former.items():
            os.replace(old, target)
        for temporary in written.values():
            os.unlink(temporary)


def _temporary(folder: str, name: str) -> tuple[int, str]:
    """Creates a new file for a target, with the id of this process in its name."""
    return tempfile.mkstemp(prefix=f".{name[:60]}.{os.getpid()}.", dir=folder)


def _remove_debris(folder: str, name: str) -> None:
    """Removes the temporary files that dead processes left for a target."""
    prefix = f".{name[:60]}."
    for entry in os.listdir(folder) if os.name == "posix" else ():
        process, dot, rest = entry.removeprefix(prefix).partition(".")
        if entry.startswith(prefix) and dot and process.isdigit() and len(rest) == _RANDOM:
            try:
                os.kill(int(process), 0)
            except (ProcessLookupError, OverflowError):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, entry))
            except OSError:
                pass  # another user's, which runs


_RANDOM = 8
"""How many random characters `mkstemp` puts into a name."""


def write_pieces(file: IO[bytes], data: Content) -> None:
    """Writes to an open file. Zeros take no space if possible."""
    if isinstance(file, io.RawIOBase):  # which may write only a part of what it is given
        buffered = io.BufferedWriter(file)
        write_pieces(buffered, data)
        buffered.detach()
        return
    for piece in [data] if isinstance(data, bytes) else data:
        if isinstance(piece, FileSpan):
            copied(piece, file)
        elif not isinstance(piece, Hole):
            file.write(piece)
        elif is_plain(file):
            file.truncate(file.seek(piece.size, os.SEEK_CUR))
        else:
            for start in range(0, piece.size, _PART):
                file.write(bytes(min(_PART, piece.size - start)))


_PART = 1 << 20


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
