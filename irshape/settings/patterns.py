"""Patterns of paths, as in `per-file-ignores`."""

from __future__ import annotations

import os
import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> re.Pattern[str]:
    pattern = pattern.removeprefix("./")
    if pattern.endswith("/"):
        pattern += "**"
    found, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            found, at = found + "(?:[^/]+/)*", at + 3
        elif pattern.startswith("**", at):
            found, at = found + ".*", at + 2
        elif pattern[at] == "*":
            found, at = found + "[^/]*", at + 1
        elif pattern[at] == "?":
            found, at = found + "[^/]", at + 1
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inner = pattern[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            found, at = found + (f"[^{inner[1:]}]" if inner[0] == "!" else f"[{inner}]"), end + 1
        else:
            found, at = found + re.escape(pattern[at]), at + 1
    return re.compile(found, re.DOTALL)


def matches(pattern: str, path: str, root: str | None = None) -> bool:
    """Whether a pattern matches a file: its name where the pattern has no `/`, else its path from `root` (the working directory); `dir/` is all that is in it."""
    if "/" not in pattern:
        return _pattern(pattern).fullmatch(os.path.basename(path)) is not None
    absolute = os.path.abspath(path).replace(os.sep, "/")
    if os.path.isabs(pattern):
        return _pattern(pattern.replace(os.sep, "/")).fullmatch(absolute) is not None
    return _pattern(pattern).fullmatch(relative(path, root)) is not None


def relative(path: str, root: str | None = None) -> str:
    """A path from a folder, with `/`; the absolute path where it lies elsewhere (`<stdin>` stays)."""
    if path in ("-", "<stdin>"):
        return "<stdin>"
    absolute = os.path.abspath(path)
    try:
        found = os.path.relpath(absolute, root or os.getcwd())
    except ValueError:  # another drive
        found = absolute
    return found.replace(os.sep, "/")
