"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path


def write_atomically(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Writes beside the target and renames. Raises `OSError`; then nothing is left behind."""
    write_together({path: data})


def write_together(files: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Writes several files beside their targets, and renames them once all are written. Raises `OSError`; then nothing is left behind."""
    written: dict[Path, str] = {}
    try:
        for path, data in files.items():
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            handle, written[path] = tempfile.mkstemp(prefix=f".{path.name[:200]}.", dir=path.parent or ".")
            with os.fdopen(handle, "wb") as file:
                for chunk in [data] if isinstance(data, bytes) else data:
                    file.write(chunk)
            os.chmod(written[path], os.stat(path).st_mode if path.exists() else 0o666 & ~_umask())
        for path in files:
            os.replace(written[path], path)
            del written[path]
    finally:
        for name in written.values():
            os.unlink(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
