"""Loads plugins from files that the user names: `--plugin FILE.py`.

A configuration cannot name plugin files: otherwise irshape would run code from whoever wrote the
configuration.
"""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

from ..faults import PLUGIN_FILE
from ..ops import registry
from ..ops.declaration import Operation
from ..rules import Rule
from ..rules.plugins import PluginError, register, unregister

_loaded: dict[str, ModuleType] = {}
"""The modules of the plugin files, by their absolute paths."""


def loaded() -> tuple[str, ...]:
    """Returns the plugin files of this process, which its worker processes must load too."""
    return tuple(_loaded)


def unload() -> None:
    """Forgets the plugin files, and everything else that this process has registered."""
    _loaded.clear()
    registry.unregister()
    unregister()


def load(path: str) -> None:
    """Registers each operation and rule in a file, except classes whose names begin with `_`.

    Raises `PluginError` if the file cannot be run, or has nothing to register.
    """
    path = os.path.abspath(path)
    if path in _loaded:
        return
    module = _run(path)
    declared = [
        value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, (Operation, Rule))
        and value.__module__ == module.__name__
        and not name.startswith("_")
    ]
    if not declared:
        raise PluginError(f"the plugin {path} has no class derived from Operation or Rule")
    for each in declared:
        try:
            if issubclass(each, Operation):
                registry.register(each)
            else:
                register(each)
        except ValueError as problem:
            raise PluginError(f"{path}: {problem}") from None
    _loaded[path] = module


def _run(path: str) -> ModuleType:
    stem = os.path.splitext(os.path.basename(path))[0]
    name = f"{PLUGIN_FILE}{stem}_{len(_loaded)}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"the plugin {path} is not a Python file")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as problem:  # no file ends a check with status 0
        del sys.modules[name]
        raise PluginError(
            f"the plugin {path} cannot be loaded: {type(problem).__name__}: {problem}"
        ) from None
    return module
