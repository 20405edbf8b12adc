"""Counts the findings of each rule in a report, and how many of them `irshape fix` can correct."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..rule_ids import SEVERITIES, Severity
from .report import Diagnostic, Report, summary


class RuleCount(NamedTuple):
    """How many findings a rule has, by severity, and in how many files."""

    code: str
    rule: str
    counts: Mapping[Severity, int]
    """The number of findings by severity. Every severity is a key."""
    files: int
    """The number of files with findings of the rule."""
    fixable: int
    """The number of findings that `irshape fix` can correct by default."""
    unsafely_fixable: int
    """The number of findings that `irshape fix` can correct only with --unsafe-fixes."""

    @property
    def findings(self) -> int:
        return sum(self.counts.values())

    @property
    def severity(self) -> Severity:
        """The highest severity of the findings."""
        return next(severity for severity in SEVERITIES if self.counts[severity])

    def to_dict(self) -> dict[str, Any]:
        """Returns the counts for JSON."""
        return {
            "code": self.code,
            "rule": self.rule,
            "findings": self.findings,
            "errors": self.counts["error"],
            "warnings": self.counts["warning"],
            "infos": self.counts["info"],
            "files": self.files,
            "fixable": self.fixable,
            "unsafely_fixable": self.unsafely_fixable,
        }


def statistics(groups: Iterable[Iterable[Diagnostic]]) -> list[RuleCount]:
    """Returns counts for each rule with findings; the rule with most findings first. Related
    findings count, too. groups: the findings of each file."""
    by_rule: dict[tuple[str, str], list[tuple[int, Severity, bool | None]]] = {}
    for number, group in enumerate(groups):
        for diagnostic in group:
            for each in diagnostic.whole:
                row = number, each.severity, diagnostic.fixed_safely
                by_rule.setdefault((each.code, each.rule), []).append(row)
    counted = []
    for (code, rule), own in by_rule.items():
        severities = [severity for _, severity, _ in own]
        safe = [safely for _, _, safely in own]
        counts = {severity: severities.count(severity) for severity in SEVERITIES}
        files = len({number for number, _, _ in own})
        counted.append(RuleCount(code, rule, counts, files, safe.count(True), safe.count(False)))
    return sorted(counted, key=lambda each: (-each.findings, each.code))


def to_dict(report: Report) -> dict[str, Any]:
    """Returns the document that `irshape validate --statistics --format json` prints."""
    rules = statistics(file.diagnostics for file in report.files)
    return {
        "version": 1,
        "rules": [each.to_dict() for each in rules],
        "summary": summary(report),
    }
