"""Handles URLs given in place of paths: recognizes them, removes credentials, changes suffixes."""

from __future__ import annotations

import os
import re

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
"""Matches the scheme of a URL. It has at least two letters, since `C:` is a drive."""


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a URL."""
    return isinstance(path, str) and _URL.match(path) is not None


def without_credentials(path: str) -> str:
    """Returns a URL without user, password, query and fragment, for messages; a path unchanged.

    The query of a signed URL contains its signature.
    """
    if not is_url(path):
        return path
    scheme, separator, rest = path.partition("://")
    rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    place, slash, name = rest.partition("/")
    return f"{scheme}{separator}{place.rpartition('@')[2]}{slash}{name}"


def with_suffix(path: str, suffix: str) -> str:
    """Returns a path or a URL with another suffix of the file name. Keeps the query of a URL."""
    if not is_url(path):
        return os.path.splitext(path)[0] + suffix
    end = re.search(r"[?#]|$", path)
    assert end is not None
    return os.path.splitext(path[: end.start()])[0] + suffix + path[end.start() :]
