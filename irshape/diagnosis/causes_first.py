"""The order in which causes of findings are looked for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..model.graph import Finding
from ..model.source import Source
from ..rule_ids import DANGLING_EDGE, DUPLICATE_EDGE, MISSING_EDGE
from .rule_groups import BETWEEN_PORTS
from .telling import element_start

_ASTRAY = (DANGLING_EDGE, DUPLICATE_EDGE)
"""Rules whose findings stand at an edge that leads where it should not."""
_EARLY = ("IR009", "IR10", "IR11", "IR60", "IR3", "IR50", "IR2", "IR4")
"""What findings begin with that may be causes of others, those first that hardly follow."""
_LATE = (("IR115", "IR116", "IR408"), ("IR203",))
"""Rules whose findings mostly follow from others."""


def causes_first(findings: Sequence[Finding], source: Source) -> list[Finding]:
    """What is wrong by itself comes first, what may only follow from it last."""
    around = {f.layer.path[:at] for f in findings if f.layer for at in range(len(f.layer.path))}
    ordered = sorted(findings, key=lambda finding: (_depth(finding, around), finding.offset))
    edges = {element_start(source, each.offset) for each in ordered if each.rule in _ASTRAY}
    if len(edges) == 1 and ordered[0].rule == MISSING_EDGE:
        # the cause of the edge that is missing is that of the one that leads astray
        ordered.sort(key=lambda finding: finding.rule not in _ASTRAY)
    return ordered


def _depth(finding: Finding, around: Collection[tuple[str, ...]]) -> int:
    """How likely a finding follows from others: 0 is least likely.

    around: the layers in whose bodies something is wrong, too, each with the layers around it.
    """
    code, layer = finding.rule.code, finding.layer
    for index, codes in enumerate(_LATE, start=1):
        if code in codes:
            return len(_EARLY) + index
    decided = code.startswith(("IR2", "IR4")) and finding.rule not in BETWEEN_PORTS
    if layer is not None and (*layer.path, layer.id) in around and decided:
        return len(_EARLY)
    return next((at for at, begin in enumerate(_EARLY) if code.startswith(begin)), len(_EARLY))
