"""Applies the settings for all files together: `per-file-ignores`, the baseline, `max-errors`.

A baseline is a JSON file of findings that a team accepts. An entry consists of the file (relative
to the folder of the baseline), the code, the ids of the layer and of the bodies around it, the
port, the severity, and the number of equal findings. It has no line and no message, so that it
stays valid when other parts of the file change. An entry hides findings of its severity or a lower
severity.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..diagnostics.report import Diagnostic, FileReport, Report, filtered
from ..rule_ids import SEVERITIES
from ..settings.configuration import Configuration
from ..settings.errors import ConfigurationError
from ..settings.patterns import relative
from ..settings.selection import ignored_in

Key = tuple[str, str, str, str]
"""The code, the layer (for example `5/then_body/1`), the port (for example `output:2`) and the
severity. Layer and port are empty if the finding has none."""


class Finished(NamedTuple):
    """A report without the findings that settings leave out, and the number of these findings."""

    report: Report
    baselined: int
    """The number of findings that the baseline suppresses."""
    stale: int
    """The number of findings in the baseline that no longer occur in the checked files."""
    cut: int
    """The number of findings in the last file that `max-errors` leaves out."""
    unchecked: int
    """The number of files that `max-errors` leaves out."""


def finish(report: Report, configuration: Configuration) -> Finished:
    """Applies `per-file-ignores`, the baseline and `max_errors` to a report.

    Raises `ConfigurationError` for a baseline that cannot be used.
    """
    leave = left_of(configuration)
    left = list(map(leave, report.files))
    files = [each.file for each in left]
    held = sum(each.baselined for each in left)
    stale = sum(each.stale for each in left)
    cut = 0
    if configuration.max_errors is not None:
        files, cut = _limited(files, configuration.max_errors)
    return Finished(Report(files), held, stale, cut, len(left) - len(files))


class Left(NamedTuple):
    """The report on one file after the settings are applied. The counts are those of `Finished`."""

    file: FileReport
    baselined: int
    stale: int


def left_of(configuration: Configuration) -> Callable[[FileReport], Left]:
    """Returns a function that removes ignored and baselined findings from the report on a file.

    Raises `ConfigurationError` for a baseline that cannot be used.
    """
    if not configuration.baseline:
        return lambda file: Left(without_ignored(file, configuration), 0, 0)
    entries = read(configuration.baseline)
    folder = os.path.dirname(os.path.abspath(configuration.baseline))
    return lambda file: _without(without_ignored(file, configuration), entries, folder)


def without_ignored(file: FileReport, configuration: Configuration) -> FileReport:
    """Returns the report on a file without the findings that `per-file-ignores` excludes."""
    codes = ignored_in(file.path, configuration) if configuration.per_file_ignores else frozenset()
    if not codes:
        return file
    return file._replace(
        diagnostics=filtered(file.diagnostics, lambda each: each.code not in codes)
    )


def _limited(files: list[FileReport], limit: int) -> tuple[list[FileReport], int]:
    """Cuts off the findings after the maximum number of errors. Returns a pair: the files that
    remain, and how many findings are cut from the last of them."""
    left = limit
    for position, file in enumerate(files):
        for at, diagnostic in enumerate(file.diagnostics, 1):
            left -= diagnostic.severity == "error"
            if left == 0:
                last = file._replace(diagnostics=file.diagnostics[:at])
                return [*files[:position], last], len(file.diagnostics) - at
    return files, 0


def key(diagnostic: Diagnostic) -> Key:
    layer, port = diagnostic.layer, diagnostic.port
    path = "" if layer is None else "/".join([*layer["path"], layer["id"]])
    end = "" if port is None else f"{port['direction']}:{port['id']}"
    return diagnostic.code, path, end, diagnostic.severity


def read(path: str) -> dict[str, Counter[Key]]:
    """Returns the entries of a baseline by file. Raises `ConfigurationError` if it is invalid."""
    import json

    try:
        data = json.loads(Path(path).read_bytes())
        if data["version"] != 1:
            raise ConfigurationError(
                f"the baseline '{path}' has version {data['version']!r}; this version of irshape "
                "reads version 1"
            )
        by_file: dict[str, Counter[Key]] = {}
        for name, rows in data["files"].items():
            entries = by_file[name] = Counter()
            for row in rows:
                layer, port = str(row.get("layer", "")), str(row.get("port", ""))
                entry = str(row["code"]), layer, port, str(row.get("severity", "error"))
                entries[entry] += int(row.get("count", 1))
    except FileNotFoundError:
        raise ConfigurationError(
            f"there is no baseline '{path}'; --update-baseline writes one"
        ) from None
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as problem:
        if isinstance(problem, ConfigurationError):
            raise
        raise ConfigurationError(
            f"'{path}' is not a baseline of irshape: {type(problem).__name__}: {problem}"
        ) from None
    return by_file


def _without(file: FileReport, entries: dict[str, Counter[Key]], folder: str) -> Left:
    known = entries.get(relative(file.path, folder))
    if not known:
        return Left(file, 0, 0)
    open_entries = Counter(known)

    def is_new(diagnostic: Diagnostic) -> bool:
        code, layer, port, severity = key(diagnostic)
        for covering in reversed(SEVERITIES[: SEVERITIES.index(severity) + 1]):
            entry = code, layer, port, covering
            if open_entries[entry] > 0:
                open_entries[entry] -= 1
                return False
        return True

    stays = filtered(file.diagnostics, is_new)
    left = (+open_entries).total()
    return Left(file._replace(diagnostics=stays), known.total() - left, left)


def update(report: Report, path: str) -> None:
    """Writes the findings of a report as a baseline.

    Keeps the entries of files that exist but were not checked.
    """
    import json

    folder = os.path.dirname(os.path.abspath(path))
    entries = read(path) if os.path.exists(path) else {}
    checked = {
        relative(file.path, folder): Counter(
            key(part) for each in file.diagnostics for part in each.whole
        )
        for file in report.files
    }
    kept = {
        name: known
        for name, known in entries.items()
        if name == "<stdin>" or os.path.exists(os.path.join(folder, name))
    }
    rows = {
        name: [
            {"code": code}
            | ({"layer": layer} if layer else {})
            | ({"port": port} if port else {})
            | ({"severity": severity} if severity != "error" else {})
            | ({"count": count} if count > 1 else {})
            for (code, layer, port, severity), count in sorted(known.items())
            if count > 0
        ]
        for name, known in sorted((kept | checked).items())
    }
    files = {name: listed for name, listed in rows.items() if listed}
    text = json.dumps({"version": 1, "files": files}, indent=1, ensure_ascii=False) + "\n"
    from ..formats.atomic import write_atomically

    write_atomically(Path(path), text.encode("utf-8", "surrogatepass"))
