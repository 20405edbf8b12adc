"""Matches paths against patterns, such as those of `per-file-ignores`."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase


def _fits(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Returns whether the parts of a pattern match the parts of a path. `**` matches any number of
    parts; at the end of the pattern, at least one part."""
    if not pattern or pattern == ("**",):
        return bool(path) == bool(pattern)
    first, *rest = pattern
    if first == "**":
        return any(_fits(tuple(rest), path[at:]) for at in range(len(path)))
    return bool(path) and fnmatchcase(path[0], first) and _fits(tuple(rest), path[1:])


def matches(pattern: str, path: str, root: str | None = None) -> bool:
    """Returns whether a pattern matches a file.

    A pattern without `/` is compared with the name of the file, an absolute pattern with the
    absolute path, and any other pattern with the path from `root` (by default the working
    directory). `dir/` matches every file in the folder.
    """
    if "/" not in pattern:
        return fnmatchcase(os.path.basename(path), pattern)
    place = relative(path, root)
    if os.path.isabs(pattern):
        place = os.path.abspath(path).replace(os.sep, "/")
        pattern = pattern.replace(os.sep, "/")
    pattern = pattern.removeprefix("./") + "**" * pattern.endswith("/")
    return _fits(tuple(pattern.split("/")), tuple(place.split("/")))


def relative(path: str, root: str | None = None) -> str:
    """Returns a path relative to a folder, with `/`; the absolute path on another drive."""
    if path in ("-", "<stdin>"):
        return "<stdin>"
    absolute = os.path.abspath(path)
    try:
        from_root = os.path.relpath(absolute, root or os.getcwd())
    except ValueError:  # another drive
        from_root = absolute
    return from_root.replace(os.sep, "/")
