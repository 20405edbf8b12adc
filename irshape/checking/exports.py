"""Checks folders that optimum-intel exports: their models and configurations must match."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..diagnostics.report import FileReport, diagnostic
from ..model.graph import NotReadable
from ..model.source import Source
from ..settings.selection import Filter, settings

if TYPE_CHECKING:
    from ..rules.export_folders import Export, Member
    from .request import Request

MARKS = ("openvino_tokenizer.xml", "openvino_detokenizer.xml", "openvino_language_model.xml")
JSON_FILES = ("config.json", "generation_config.json", "model_index.json")
MAX_JSON = 4 << 20
"""The largest size of a JSON file that irshape reads, in bytes."""


def configurations_of(path: str) -> set[str]:
    """Returns the real paths of the JSON files that findings on an exported model may depend on.

    The files need not exist.
    """
    folder, name = os.path.split(os.path.abspath(path))
    if not _is_exported(name):
        return set()
    places = (folder, os.path.dirname(folder))
    return {os.path.realpath(os.path.join(place, name)) for place in places for name in JSON_FILES}


def _is_exported(name: str) -> bool:
    return name.startswith("openvino_") and name.endswith(".xml")


def check_exports(reports: Sequence[FileReport], request: Request) -> list[FileReport]:
    """Returns the reports, with added findings about the exported folders of their files."""
    folders = _exported([report.path for report in reports])
    if not folders:
        return list(reports)
    by_path = {report.path: index for index, report in enumerate(reports)}
    changed = list(reports)
    for folder, paths in folders.items():
        sound = [path for path in paths if _sound(changed[by_path[path]])]
        export = _read(folder, sound, request)
        if export is None:
            continue
        from ..rules.exports import check_export

        for member, finding in check_export(export):
            path = member.model.path
            chosen = settings(request.configuration, path)
            if path not in by_path or not Filter(chosen, member.model.source).keep(finding):
                continue
            report = changed[by_path[path]]
            added = [*report.diagnostics, diagnostic(finding, member.model.source)]
            added.sort(key=lambda one: (one.line, one.column))
            source: Source | None = report.source or member.model.source
            changed[by_path[path]] = report._replace(diagnostics=added, source=source)
    return changed


def _sound(report: FileReport) -> bool:
    return not any(one.severity == "error" for one in report.diagnostics)


def _exported(paths: Sequence[str]) -> dict[str, list[str]]:
    """Returns the models in each exported folder, by folder."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, name = os.path.split(path)
        if _is_exported(name):
            folders.setdefault(folder, []).append(path)
    exported: dict[str, list[str]] = {}
    for folder, members in folders.items():
        names = {os.path.basename(path) for path in members}
        above = os.path.dirname(folder)
        if os.path.isfile(os.path.join(above, "model_index.json")):
            exported.setdefault(above, []).extend(members)
        elif not names.isdisjoint(MARKS) or any(
            os.path.isfile(os.path.join(folder, name)) for name in JSON_FILES
        ):
            exported.setdefault(folder, []).extend(members)
    return exported


def _read(folder: str, paths: Sequence[str], request: Request) -> Export | None:
    """Returns the models and JSON files of a folder; None if none of its models can be read."""
    from ..formats.loading import open_model, read_source
    from ..inference.engine import infer
    from ..rules.export_folders import Export, Member

    members: dict[str, Member] = {}
    for path in paths:
        try:
            model = read_source(*open_model(path, request.weights))
        except (NotReadable, OSError):
            continue
        if model.kind == "net":
            name = os.path.relpath(path, folder or ".").replace(os.sep, "/")
            members[name] = Member(name, model, infer(model))
    configurations: dict[str, dict[str, Any]] = {}
    faults: dict[str, str] = {}
    parts = sorted({posixpath.dirname(name) for name in members} - {""})
    for name in (*JSON_FILES, *(f"{part}/config.json" for part in parts)):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                text = file.read(MAX_JSON + 1)
        except OSError:
            continue
        try:
            if len(text) > MAX_JSON:
                raise ValueError("it is too large")
            content = json.loads(text)
            if not isinstance(content, dict):
                raise ValueError("it is not a JSON object")
        except (ValueError, RecursionError) as problem:
            faults[name] = str(problem) or type(problem).__name__
        else:
            configurations[name] = content
    return Export(members, configurations, faults) if members else None
