"""Writes the pages of `irshape view` and of the option `--view` of other commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .common import Decorator, deliver

if TYPE_CHECKING:
    from ..model.graph import Model
    from ..view.document import Numbering
    from ..view.overlays import Overlay
    from ..view.showing import Subject

Reader = Callable[[Mapping[str, Any], "Numbering"], "list[Overlay]"]


def view_option(help: str) -> Decorator:
    """Returns the option `--view FILE`, passed as `view`."""
    return click.option("--view", metavar="FILE", help=help)


def read_result(path: str, command: str) -> dict[str, Any]:
    """Reads the JSON that a command wrote. Raises `UsageError` for any other file, and
    `OSError`."""
    import json

    try:
        result = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, dict):
        raise not_a_result(path, command)
    return result


def not_a_result(path: str, command: str) -> click.UsageError:
    return click.UsageError(f"'{path}' is not what `irshape {command} --format json` prints")


def write_view(output: str, *subjects: Subject, beside: dict[str, Any] | None = None) -> None:
    """Writes the page of one model, or of two side by side. It appears complete or not at all."""
    from ..view.page import page

    names = " → ".join(os.path.basename(subject.document["path"]) for subject in subjects)
    document: dict[str, Any] = {"models": [subject.document for subject in subjects]}
    if beside is not None:
        document["beside"] = beside
    deliver(page(document, f"{names} · irshape view"), output)


def write_result(output: str, model: Model, reader: Reader, result: Mapping[str, Any]) -> None:
    """Writes a model's page with a run's result. Raises `ValueError` for another model's result."""
    from ..view.showing import Subject

    subject = Subject(model)
    subject.lay_over(reader(result, subject.numbering))
    write_view(output, subject)


def write_beside(
    output: str, first: Model, second: Model, compared: Mapping[str, Any] | None = None
) -> None:
    """Writes the page of two models side by side. Raises `ValueError`."""
    from ..view.showing import Subject
    from ..view.side_by_side import beside_document

    subjects = Subject(first), Subject(second)
    write_view(output, *subjects, beside=beside_document(*subjects, compared))
