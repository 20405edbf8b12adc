"""Matches patterns of paths, as in `per-file-ignores`."""

from __future__ import annotations

import os
import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> re.Pattern[str]:
    pattern = pattern.removeprefix("./")
    if pattern.endswith("/"):
        pattern += "**"
    regex, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            regex, at = regex + "(?:[^/]+/)*", at + 3
        elif pattern.startswith("**", at):
            regex, at = regex + ".*", at + 2
        elif pattern[at] == "*":
            regex, at = regex + "[^/]*", at + 1
        elif pattern[at] == "?":
            regex, at = regex + "[^/]", at + 1
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            regex, at = regex + _characters(pattern[at + 1 : end]), end + 1
        else:
            regex, at = regex + re.escape(pattern[at]), at + 1
    return re.compile(regex, re.DOTALL)


def _characters(inside: str) -> str:
    """Returns the regular expression for the text between brackets.

    As in a shell, a range whose end comes before its start matches nothing.
    """
    negated = inside[0] in "!^"
    parts = re.findall("(.)-(.)|(.)", inside[negated:], re.DOTALL)
    listed = "".join(
        re.escape(one) or f"{re.escape(low)}-{re.escape(high)}"
        for low, high, one in parts
        if one or low <= high
    )
    if not listed:
        return "." if negated else "(?!)"
    return f"[^{listed}]" if negated else f"[{listed}]"


def matches(pattern: str, path: str, root: str | None = None) -> bool:
    """Returns whether a pattern matches a file.

    A pattern without `/` is compared with the name of the file. Any other pattern is compared with
    the path from `root` (by default the working directory). `dir/` matches every file in the
    folder.
    """
    if "/" not in pattern:
        return _pattern(pattern).fullmatch(os.path.basename(path)) is not None
    absolute = os.path.abspath(path).replace(os.sep, "/")
    if os.path.isabs(pattern):
        return _pattern(pattern.replace(os.sep, "/")).fullmatch(absolute) is not None
    return _pattern(pattern).fullmatch(relative(path, root)) is not None


def relative(path: str, root: str | None = None) -> str:
    """Returns a path relative to a folder, with `/`; the absolute path if it lies elsewhere."""
    if path in ("-", "<stdin>"):
        return "<stdin>"
    absolute = os.path.abspath(path)
    try:
        from_root = os.path.relpath(absolute, root or os.getcwd())
    except ValueError:  # another drive
        from_root = absolute
    return from_root.replace(os.sep, "/")
