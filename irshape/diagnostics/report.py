"""Defines diagnostics, the report that contains them, and `LoadError`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from ..model.graph import Finding, Model, NotReadable
from ..model.source import Source
from ..rule_ids import SEVERITIES, Severity
from ..spelling import with_noun

_ENCODING = re.compile(r"""\A(\ufeff?<\?xml\b[^>]*?)\bencoding\s*=\s*(?:'[^']*'|"[^"]*")""")
"""Matches an XML declaration from its start to `encoding="…"`; group 1 is the part before that."""
LISTS = ("related", "causes", "fixes")
"""The fields of a diagnostic that JSON omits if they are empty."""


class Diagnostic(NamedTuple):
    """One finding: message, place, expected and actual value, and advice.

    `line` and `column` start at 1. `layer` and `port` are objects as in the JSON of the report.
    """

    code: str
    rule: str
    severity: Severity
    message: str
    line: int
    column: int
    layer: dict[str, Any] | None = None
    port: dict[str, str] | None = None
    expected: str | None = None
    actual: str | None = None
    help: str | None = None
    related: tuple[dict[str, Any], ...] = ()
    """Further findings that the fix removes, each without `related`, `causes` and `fixes`."""
    causes: tuple[dict[str, Any], ...] = ()
    """The possible causes, likeliest first: `message`, `line`, `column`, `layer`, and `fix`.

    `fix` is the index of the change in `fixes`.
    """
    fixes: tuple[dict[str, Any], ...] = ()
    """The changes that remove the finding, best first: `change`, `applicability` (`safe` or
    `unsafe`), `safe`, `reason`, and `edits` by line and column."""

    def __str__(self) -> str:
        """Returns `LINE:COLUMN: SEVERITY[CODE] LAYER: MESSAGE`, on one line."""
        return f"{self.line}:{self.column}: {self.severity}[{self.code}] {self.sentence}"

    @property
    def sentence(self) -> str:
        """The message. If the finding is about a layer, the name of the layer comes first."""
        if self.layer is None:
            return self.message
        ids = "/".join((*self.layer["path"], self.layer["id"]))
        name = f" '{self.layer['name']}'" if self.layer["name"] else ""
        return f"{self.layer['type']}{name} (id {ids}): {self.message}"

    @property
    def whole(self) -> list[Diagnostic]:
        """This finding and its related findings, as a flat list."""
        return [self._replace(related=()), *(Diagnostic(**each) for each in self.related)]

    @property
    def fixed_safely(self) -> bool | None:
        """Whether the best fix is safe; None if the finding has no fix. A fix also removes the
        related findings."""
        return self.fixes[0]["safe"] if self.fixes else None

    def count(self, severity: Severity) -> int:
        """Returns the number of findings with a severity among this finding and its related
        ones."""
        own = [self.severity, *(each["severity"] for each in self.related)]
        return own.count(severity)

    def to_dict(self) -> dict[str, Any]:
        """Returns the finding for JSON. Leaves out `related`, `causes` and `fixes` if empty."""
        fields = self._asdict()
        return {name: value for name, value in fields.items() if value or name not in LISTS}


class Trial(NamedTuple):
    """A change that irshape tried for a finding. A change of lower cost is more probably right."""

    change: str
    cost: float
    outcome: str


class Trace(NamedTuple):
    """A finding, and the changes that irshape tried for it, the most probable first."""

    finding: Diagnostic
    trials: tuple[Trial, ...]


class FileReport(NamedTuple):
    """The diagnostics of one file.

    Renderers show lines of `source`; `--trace` prints `trace`. `to_dict` leaves out both fields.
    """

    path: str
    layers: int
    diagnostics: list[Diagnostic]
    source: Source | None = None
    trace: tuple[Trace, ...] = ()
    foreign: bool = False
    """Whether the file is not an IR. Rules for a release or a device do not apply to such files."""

    def count(self, severity: Severity) -> int:
        """Returns the number of findings with a severity, including related ones."""
        return sum(each.count(severity) for each in self.diagnostics)

    def to_dict(self) -> dict[str, Any]:
        """Returns the report on the file for JSON: an element of `files` in the whole report."""
        return {
            "path": self.path,
            "layers": self.layers,
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }


class Report:
    """The diagnostics of all files, as `irshape.validate` returns them."""

    def __init__(self, files: list[FileReport]) -> None:
        self.files = files

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The findings of all files, in the order of the files."""
        return [diagnostic for file in self.files for diagnostic in file.diagnostics]

    def count(self, severity: Severity) -> int:
        """Returns the number of findings with a severity, including related ones."""
        return sum(file.count(severity) for file in self.files)

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.count("error")

    def __repr__(self) -> str:
        return f"<Report: {str(self).splitlines()[-1]}>"

    def __str__(self) -> str:
        """Returns a line for each finding, `PATH:LINE:COLUMN: …`, and a line of counts."""
        findings = [f"{file.path}:{finding}" for file in self.files for finding in file.diagnostics]
        counts = (
            (len(self.files), "file"),
            *((self.count(severity), severity) for severity in SEVERITIES),
        )
        totals = ", ".join(with_noun(count, noun) for count, noun in counts)
        return "\n".join((*findings, totals))

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `irshape validate --format json` prints."""
        files = [file.to_dict() for file in self.files]
        return {"version": 1, "files": files, "summary": summary(self)}


def summary(report: Report) -> dict[str, int]:
    """Returns the part `summary` of the JSON: the numbers of files and of findings by severity."""
    return {
        "files": len(report.files),
        "errors": report.count("error"),
        "warnings": report.count("warning"),
        "infos": report.count("info"),
    }


class LoadError(Exception):
    """Raised if no model can be read. `diagnostics` say why; `path` is the name of the model."""

    def __init__(self, file: FileReport) -> None:
        self.file = file
        self.path = file.path
        self.diagnostics = file.diagnostics
        first = file.diagnostics[0]
        super().__init__(f"{file.path}:{first}")


def diagnostic(finding: Finding, source: Source) -> Diagnostic:
    """Returns a finding as a diagnostic, with the line and column of its place in the source."""
    line, column = source.place(finding.offset)
    return Diagnostic(
        finding.rule.code,
        finding.rule.name,
        finding.severity,
        finding.message,
        line,
        column,
        finding.layer.reference if finding.layer is not None else None,
        {"direction": finding.port[0], "id": finding.port[1]} if finding.port else None,
        finding.expected,
        finding.actual,
        finding.help,
        tuple(_row(diagnostic(other, source)) for other in finding.related),
    )


def _row(diagnostic: Diagnostic) -> dict[str, Any]:
    """Returns an entry for `related` in another diagnostic: all fields of a diagnostic except those
    in `LISTS`."""
    fields = diagnostic._asdict()
    return {name: value for name, value in fields.items() if name not in LISTS}


def filtered(
    diagnostics: Iterable[Diagnostic], keep: Callable[[Diagnostic], bool]
) -> list[Diagnostic]:
    """Returns the diagnostics for which `keep` is true. Also filters their related diagnostics.

    If only related diagnostics of a diagnostic remain, the first of them replaces it.
    """
    kept: list[Diagnostic] = []
    for each in diagnostics:
        left = [one for one in each.whole if keep(one)]
        if left:
            related = tuple(map(_row, left[1:]))
            kept.append(left[0]._replace(related=related, causes=each.causes, fixes=each.fixes))
    return kept


def load(
    path: str | os.PathLike[str] | IO[bytes] | IO[str],
    weights: bytes | IO[bytes] | str | os.PathLike[str] = "beside",
) -> Model:
    """Implements `irshape.load`."""
    from ..formats.loading import load as load_model

    if isinstance(path, (str, os.PathLike)):
        if not isinstance(weights, (str, os.PathLike)) and weights is not None:
            raise TypeError("for a path, `weights` must be a path; for bytes, use irshape.loads")
        with _load_errors():
            return load_model(path, weights)
    if not hasattr(path, "read"):
        content = "; irshape.loads takes the content" if isinstance(path, bytes) else ""
        raise TypeError(f"expected the path of a model, got {type(path).__name__}{content}")
    shown = getattr(path, "name", None)
    return load_content(path.read(), shown if isinstance(shown, str) else "<file>", weights)


def load_content(
    text: object, shown: str, weights: bytes | IO[bytes] | str | os.PathLike[str]
) -> Model:
    """Implements `irshape.loads`. shown: the name of the model in messages."""
    from ..formats.loading import read_bytes

    if isinstance(text, str):  # it is decoded, whatever encoding its declaration names
        plain = _ENCODING.sub(lambda it: it[1] + " " * (len(it[0]) - len(it[1])), text)
        data = plain.encode("utf-8", "surrogatepass")
    elif isinstance(text, (bytes, bytearray, memoryview)):
        data = bytes(text)
    else:
        raise TypeError(f"expected the text or the bytes of a model, got {type(text).__name__}")
    given = weights if isinstance(weights, (str, os.PathLike)) else _content(weights)
    with _load_errors():
        return read_bytes(shown, data, None if given in ("none", "beside") else given)


def _content(weights: Any) -> bytes:
    """Returns the bytes of weights given in memory or as a file, or raises `TypeError`."""
    content = weights.read() if hasattr(weights, "read") else weights
    try:
        return content if isinstance(content, bytes) else memoryview(content).tobytes()
    except TypeError:
        given = type(content).__name__
        raise TypeError(f"weights must be bytes, a file or a path, got {given}") from None


@contextmanager
def _load_errors() -> Iterator[None]:
    try:
        yield
    except NotReadable as unreadable:
        source = unreadable.source
        raise LoadError(
            FileReport(source.path, 0, [diagnostic(unreadable.finding, source)], source)
        ) from None
