"""How many findings each rule has in a report, and how many of them `irshape fix` can correct."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..rule_ids import SEVERITIES, Severity
from .report import Diagnostic, Report, summary


class RuleCount(NamedTuple):
    """The findings of a rule."""

    code: str
    rule: str
    counts: Mapping[Severity, int]
    """The findings by severity; each severity is there."""
    files: int
    """How many files have any."""
    fixable: int
    """How many `irshape fix` can correct, as far as the report says."""
    unsafely_fixable: int
    """How many it can correct with --unsafe-fixes alone."""

    @property
    def findings(self) -> int:
        return sum(self.counts.values())

    @property
    def severity(self) -> Severity:
        """The gravest of its findings."""
        return next(severity for severity in SEVERITIES if self.counts[severity])

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
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
    """The counts of the rules that have findings, most findings first. groups: those of a file."""
    by_rule: dict[tuple[str, str], list[tuple[int, Diagnostic]]] = {}
    for number, group in enumerate(groups):
        for diagnostic in group:
            by_rule.setdefault((diagnostic.code, diagnostic.rule), []).append((number, diagnostic))
    counted = []
    for (code, rule), own in by_rule.items():
        severities = [diagnostic.severity for _, diagnostic in own]
        safe = [diagnostic.fixes[0]["safe"] for _, diagnostic in own if diagnostic.fixes]
        counts = {severity: severities.count(severity) for severity in SEVERITIES}
        files = len({number for number, _ in own})
        counted.append(RuleCount(code, rule, counts, files, safe.count(True), safe.count(False)))
    return sorted(counted, key=lambda each: (-each.findings, each.code))


def to_dict(report: Report) -> dict[str, Any]:
    """As JSON: what `irshape validate --statistics --format json` prints."""
    rules = statistics(file.diagnostics for file in report.files)
    return {
        "version": 1,
        "rules": [each.to_dict() for each in rules],
        "summary": summary(report),
    }
