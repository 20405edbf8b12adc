"""Decides where `irshape fix` writes: over its files, to another file, or to a folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..urls import is_url
from .common import usage_errors

if TYPE_CHECKING:
    from ..repair.fixing import Fixes


def is_folder(output: str) -> bool:
    """Returns whether the path of an output names a folder: it ends in `/`, or is a folder."""
    return output.endswith(("/", os.sep)) or os.path.isdir(output)


def each_once(files: Iterable[str]) -> list[str]:
    """Returns the files without duplicates. If several paths lead to one file, prefers a path that
    is not a symbolic link."""
    chosen: dict[str, str] = {}
    for file in files:
        key = file if file == "-" or is_url(file) else os.path.realpath(file)
        if key not in chosen or (os.path.islink(chosen[key]) and not os.path.islink(file)):
            chosen[key] = file
    return list(chosen.values())


def folders_of(paths: Iterable[str]) -> set[str]:
    """Returns a folder for each path: the folder itself, the folder of a file, or the part of a
    pattern before its first wildcard."""
    return {_folder_of(path) for path in paths}


def _folder_of(path: str) -> str:
    if has_magic(path) and not os.path.exists(path):
        return _folder_of(os.path.dirname(path))
    whole = os.path.abspath(path)
    return whole if os.path.isdir(whole) else os.path.dirname(whole)


def mirrored(paths: Sequence[str], files: Sequence[str], output: str) -> dict[str, str]:
    """Maps each file to its path in `output`. Keeps the subfolders of the files' common folder.

    Leaves out files inside `output` that a search has found, since they are earlier copies. Raises
    `UsageError` if `output` is a file, or if a file is `-`, a URL or on another drive.
    """
    if os.path.exists(output) and not os.path.isdir(output):
        raise click.UsageError(f"'{output}' is a file; several files need a folder")
    for file in files:
        if file == "-" or is_url(file):
            raise click.UsageError(
                f"'{file}' is not a local file, so it cannot be written to a folder"
            )
    folders = folders_of(paths) | {os.path.dirname(os.path.abspath(file)) for file in files}
    with usage_errors():  # files on several drives
        folder = os.path.commonpath(folders)
    inside = os.path.realpath(output)
    places = {}
    for file in files:
        if file not in paths and inside != os.path.realpath(folder) and _is_in(file, inside):
            continue
        places[file] = os.path.join(output, os.path.relpath(os.path.abspath(file), folder))
    return places


def _is_in(file: str, folder: str) -> bool:
    return os.path.realpath(file).startswith(os.path.join(folder, ""))


def write_over(fixes: Fixes, path: str, folders: Iterable[str] | None = None) -> None:
    """Writes the fixed text over the file. Keeps a symbolic link, and replaces its target.

    folders: the folders in which the file was found, if the user did not name the file. A link must
    not lead out of these folders. Raises `OSError`.
    """
    from ..formats.atomic import write_atomically

    target = os.path.realpath(path)
    if (
        folders is not None
        and os.path.islink(path)
        and not any(_is_in(target, os.path.realpath(folder)) for folder in folders)
    ):
        reason = f"is a link to '{target}' outside the folder; name the file itself to change it"
        raise OSError(errno.EXDEV, reason, path)
    if Path(target).read_bytes() != fixes.original:
        raise OSError(errno.EBUSY, "has changed since irshape read it, and was not written", path)
    if not (os.access(target, os.W_OK) and os.stat(target).st_mode & 0o222):
        raise PermissionError(errno.EACCES, "is read-only", path)
    write_atomically(Path(path), fixes.data)
