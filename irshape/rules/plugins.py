"""Rules that installed packages declare, under the entry point group `irshape.rules`: IR950 to IR999, in the family of a user's own policy.

An entry point names a subclass of `Rule` with a code, a name, a severity, a docstring and `check`. It may find problems under its own name only.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from functools import lru_cache

from .base import Rule

ENTRY_POINT_GROUP = "irshape.rules"


class PluginError(ValueError):
    """A plugin that cannot be used; the message names it."""


def plugin_rules(taken: Collection[str] = ()) -> tuple[type[Rule], ...]:
    """The rules of plugins. taken: names that they cannot have. Raises `PluginError`."""
    found = _plugin_rules() if declares(ENTRY_POINT_GROUP) else ()
    for rule in found:
        if rule.name in taken:
            raise PluginError(
                f"the plugin {rule.__module__}:{rule.__name__} declares {rule.name}, which is a rule of irshape"
            )
    return found


def check_plugins() -> None:
    """Meets what is wrong with any plugin. Raises `ValueError`; without plugins it costs a look at the folders of installed packages."""
    if declares(ENTRY_POINT_GROUP):
        from . import all_rules

        all_rules()
    if declares("irshape.operations"):
        from ..ops.registry import plugins

        plugins()


@lru_cache(maxsize=1)
def _plugin_rules() -> tuple[type[Rule], ...]:
    from importlib.metadata import entry_points

    found: dict[str, type[Rule]] = {}
    for entry in sorted(
        entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: (entry.name, entry.value)
    ):
        try:
            rule = entry.load()
        except Exception as problem:
            raise PluginError(
                f"the plugin {entry.value} cannot be loaded: {type(problem).__name__}: {problem}"
            ) from None
        if not (isinstance(rule, type) and issubclass(rule, Rule)):
            raise PluginError(f"the plugin {entry.value} is no irshape.rules.Rule")
        code, name, severity = (getattr(rule, key, None) for key in ("code", "name", "severity"))
        if not isinstance(code, str) or not re.fullmatch(r"IR9[5-9][0-9]", code):
            raise PluginError(
                f"the plugin {entry.value} has the code {code!r}; a rule of a plugin has one from IR950 to IR999"
            )
        if (
            not isinstance(name, str)
            or not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name)
            or severity not in ("error", "warning", "info")
        ):
            raise PluginError(
                f"the plugin {entry.value} needs a name of lower-case words with hyphens, and a severity: error, warning or info"
            )
        for other in found.values():
            if code == other.code or name == other.name:
                raise PluginError(
                    f"the plugin {entry.value} declares {code} {name}, which {other.__module__}:{other.__name__} declares already"
                )
        found[code] = rule
    return tuple(found.values())


@lru_cache
def declares(group: str) -> bool:
    """Whether an installed package has entry points of a group: a look at their files, which costs far less than importlib.metadata."""
    return any(f"[{group}]".encode() in text for text in entry_point_files())


@lru_cache(maxsize=1)
def entry_point_files() -> tuple[bytes, ...]:
    """The entry_points.txt of every installed package that has one for irshape, behind the name of its folder."""
    found = []
    for folder in dict.fromkeys(sys.path):
        try:
            names = sorted(
                name
                for name in os.listdir(folder or ".")
                if name.endswith((".dist-info", ".egg-info"))
            )
        except OSError:
            continue
        for name in names:
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                    text = file.read()
            except OSError:
                continue
            if b"[irshape." in text:
                found.append(name.encode() + b"\n" + text)
    return tuple(found)
