"""The output formats of reports: one module for each, which irshape finds by its name.

A module (or folder) `as_NAME` implements the format NAME. irshape imports it when the user requests
the format. It has one function, `render(report: Report, options: Options) -> str`. See "An output
format" in CONTRIBUTING.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from ..report import Report
from .common import DEFAULTS, Options, without_trifles

__all__ = ["FOR_MACHINES", "Options", "Renderer", "formats", "render", "renderer"]


class Renderer(Protocol):
    """A function that renders a report. Its text depends only on the report and the options."""

    def __call__(self, report: Report, options: Options = ..., /) -> str: ...


FOR_MACHINES = ("gitlab", "junit", "markdown", "sarif")
"""The formats for merge requests and dashboards. They omit infos that need no action."""


def formats() -> list[str]:
    """Returns the names of all formats."""
    from pkgutil import iter_modules

    return sorted(
        module.name.removeprefix("as_")
        for module in iter_modules(__path__)
        if module.name.startswith("as_")
    )


def renderer(form: str) -> Renderer:
    """Returns the renderer of a format. Raises `KeyError` for an unknown name."""
    module = f"{__name__}.as_{form}"
    try:
        return cast("Renderer", import_module(module).render)
    except ModuleNotFoundError as problem:
        if problem.name == module:
            raise KeyError(form) from None
        raise


def render(report: Report, form: str, options: Options = DEFAULTS) -> str:
    """Renders the report in a format. Raises `KeyError` for an unknown name."""
    if form in FOR_MACHINES and not options.infos:
        report = without_trifles(report)
    return renderer(form)(report, options)
