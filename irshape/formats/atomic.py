"""Writes files so that they appear complete, or not at all."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple


class Hole(NamedTuple):
    """A run of zeros in a file. It takes no disk space if the file system supports sparse files."""

    size: int


Piece = bytes | Hole
Content = bytes | Iterable[Piece]
"""The content of a file: bytes, or pieces that are written one after the other."""


def write_atomically(path: Path, data: Content) -> None:
    """Writes a temporary file beside the target, then renames it to the target. If this raises
    `OSError`, no temporary file is left behind."""
    write_together({path: data})


def write_together(files: Mapping[Path, Content]) -> None:
    """Writes temporary files beside the targets, and renames them when all are written.

    The last file, such as an .xml, refers to the other files. Its old version is moved away first,
    and its new version is put in place last: even if the process is killed, the last file never
    refers to other versions. Temporary files of killed processes are removed. If a file cannot be
    written, raises `OSError` before any file is replaced. Replaces the target of a link, not the
    link. Writes directly to a device or pipe.
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
    """Returns the handle and path of a new temporary file, named after a target and the process."""
    return tempfile.mkstemp(prefix=f".{name[:60]}.{os.getpid()}.", dir=folder)


def _remove_debris(folder: str, name: str) -> None:
    """Removes temporary files for a target if the processes that wrote them have ended."""
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
"""The number of random characters that `mkstemp` puts into a name."""


def write_pieces(file: IO[bytes], data: Content) -> None:
    """Writes data to an open file. A `Hole` takes no disk space if the file supports this."""
    if isinstance(file, io.RawIOBase):  # which may write only a part of what it is given
        buffered = io.BufferedWriter(file)
        write_pieces(buffered, data)
        buffered.detach()
        return
    for piece in [data] if isinstance(data, bytes) else data:
        if not isinstance(piece, Hole):
            file.write(piece)
        elif isinstance(file, io.BufferedWriter) and file.seekable():  # a plain file on disk
            file.truncate(file.seek(piece.size, os.SEEK_CUR))
        else:
            for start in range(0, piece.size, _PART):
                file.write(bytes(min(_PART, piece.size - start)))


_PART = 1 << 20


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
