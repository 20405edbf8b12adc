"""Finds the rules of plugins: those of installed packages, and those that `irshape.register` adds.

A package names its rules as entry points in the group `irshape.rules`. Such a rule is a subclass of
`Rule` with a code (IR950 to IR999), a name, a severity and a docstring. It has a `check` method, or
an operation of the plugin reports faults under its code.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from functools import lru_cache

from ..faults import module_of
from ..ops.registry import registered_operations
from .base import Rule

ENTRY_POINT_GROUP = "irshape.rules"


class PluginError(ValueError):
    """Raised for a plugin that cannot be used. The message names the plugin."""


def plugin_rules(own: Iterable[type[Rule]] = ()) -> tuple[type[Rule], ...]:
    """Returns the rules of plugins. own: irshape's own rules. Raises `PluginError`, e.g. if a
    plugin's rule has the name of a rule in `own`."""
    taken = {rule.name: rule.code for rule in own}
    rules = (*(_of_packages() if declares(ENTRY_POINT_GROUP) else ()), *_registered)
    for rule in rules:
        if rule.name in taken:
            raise PluginError(
                f"the plugin {module_of(rule)}:{rule.__name__} declares '{rule.name}', the name of "
                f"{taken[rule.name]}; choose another name"
            )
    return rules


def plugin_codes() -> tuple[str, ...]:
    """Returns the codes that operations of plugins may report, even codes without a rule."""
    return _CODES if declares("irshape.operations") or registered_operations() else ()


_CODES = tuple(f"IR{number}" for number in range(950, 1000))

_registered: list[type[Rule]] = []
"""The rules that this process has registered."""


def register(rule: type[Rule]) -> None:
    """Adds a rule for this process; it replaces a registered class of the same name and module.

    Raises `PluginError` for a rule that cannot be used.
    """
    from . import forget_rules

    source = f"{rule.__module__}:{rule.__qualname__}"
    _registered[:] = [
        other for other in _registered if f"{other.__module__}:{other.__qualname__}" != source
    ]
    _check_rule(rule, f"{module_of(rule)}:{rule.__qualname__}", plugin_rules())
    _registered.append(rule)
    forget_rules()


def unregister() -> None:
    """Forgets all rules that this process has registered."""
    from . import forget_rules

    _registered.clear()
    forget_rules()


def forget_packages() -> None:
    """Makes the next search for plugins read the installed packages again."""
    for cached in (declares, entry_point_files, _of_packages):
        cached.cache_clear()


def registers_anything() -> bool:
    """Returns whether operations or rules were registered in this process."""
    return bool(_registered or registered_operations())


def check_plugins() -> None:
    """Loads all plugins. Raises `ValueError` for a plugin that cannot be used.

    Without plugins, this only examines the folders of installed packages.
    """
    if declares(ENTRY_POINT_GROUP):
        from . import all_rules

        all_rules()
    if declares("irshape.operations"):
        from ..ops.registry import plugins

        plugins()


@lru_cache(maxsize=1)
def _of_packages() -> tuple[type[Rule], ...]:
    from importlib.metadata import entry_points

    rules: list[type[Rule]] = []
    entries = entry_points(group=ENTRY_POINT_GROUP)
    for entry in sorted(entries, key=lambda entry: (entry.name, entry.value)):
        try:
            rule = entry.load()
        except (Exception, SystemExit) as problem:
            raise PluginError(
                f"the plugin {entry.value} cannot be loaded: {type(problem).__name__}: {problem}"
            ) from None
        _check_rule(rule, entry.value, rules)
        rules.append(rule)
    return tuple(rules)


def _check_rule(rule: object, entry: str, others: Iterable[type[Rule]]) -> None:
    """Raises `PluginError` if a plugin's rule is invalid, or has the code or name of another
    rule."""
    if not (isinstance(rule, type) and issubclass(rule, Rule)):
        raise PluginError(f"the plugin {entry} is not an irshape.rules.Rule")
    code, name, severity = (getattr(rule, key, None) for key in ("code", "name", "severity"))
    if code not in _CODES:
        raise PluginError(
            f"the plugin {entry} has the code {code!r}; the rules of plugins have codes from IR950 "
            "to IR999"
        )
    words = r"[a-z0-9]+(?:-[a-z0-9]+)*"
    if (
        not isinstance(name, str)
        or not re.fullmatch(words, name)
        or severity not in ("error", "warning", "info")
    ):
        raise PluginError(
            f"the plugin {entry} needs a name of lower-case words with hyphens, and a severity: "
            "error, warning or info"
        )
    for other in others:
        if code == other.code or name == other.name:
            raise PluginError(
                f"the plugin {entry} declares {code} {name}, but "
                f"{module_of(other)}:{other.__name__} already has this code or name"
            )


@lru_cache
def declares(group: str) -> bool:
    """Returns whether an installed package has entry points in a group.

    irshape reads the entry_points.txt files itself, which is much faster than `importlib.metadata`.
    """
    return any(f"[{group}]".encode() in text for text in entry_point_files())


@lru_cache(maxsize=1)
def entry_point_files() -> tuple[bytes, ...]:
    """Returns the entry_points.txt of every installed package that has entry points for irshape.

    Each text begins with the name of the package's folder.
    """
    files = []
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
                files.append(name.encode() + b"\n" + text)
    return tuple(files)
