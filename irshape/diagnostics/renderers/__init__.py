"""The output formats of reports, each in a module of its own.

The module (or folder) `as_NAME` implements the format NAME. irshape imports it when the user asks
for the format. Its `render(report: Report, options: Options) -> str` returns a text that depends
only on the report and the options. See "An output format" in CONTRIBUTING.md.
"""

from __future__ import annotations

from importlib import import_module

from ..report import Report
from .common import DEFAULTS, Options, without_trifles

__all__ = ["FOR_MACHINES", "Options", "formats", "render"]

FOR_MACHINES = ("gitlab", "junit", "markdown", "sarif")
"""Formats for code hosts and dashboards. Without --verbose, they omit infos that need no action."""


def formats() -> list[str]:
    """Returns the names of all formats."""
    from pkgutil import iter_modules

    return sorted(
        module.name.removeprefix("as_")
        for module in iter_modules(__path__)
        if module.name.startswith("as_")
    )


def render(report: Report, form: str, options: Options = DEFAULTS) -> str:
    """Renders the report in a format. Raises `KeyError` for an unknown name."""
    if form not in formats():
        raise KeyError(form)
    if form in FOR_MACHINES and not options.infos:
        report = without_trifles(report)
    text: str = import_module(f"{__name__}.as_{form}").render(report, options)
    return text
