"""Constants that lie where no writer puts them, and all that follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...model.graph import Finding
from ...rule_ids import CONTRADICTED_CONSTANT
from ...rules import Context
from ...rules.constant_layout import displaced_constants
from ..candidate import Candidate, Diagnosis
from ..elements.writing import with_attribute
from ..text.rereading import Rereading, graver_findings
from ..trials.trial import take
from ..trials.work import Work


def displaced_cause(context: Context, graver: Sequence[Finding], work: Work) -> Diagnosis | None:
    """The offsets with which each byte of the .bin belongs to one constant."""
    displaced = context.shared(displaced_constants)
    told = [
        finding
        for finding in graver
        if finding.rule == CONTRADICTED_CONSTANT and displaced and finding.layer is displaced[0][0]
    ]
    if not told:
        return None
    finding, source = told[0], context.model.source
    edits = tuple(
        edit
        for layer, _, place in displaced
        for edit in with_attribute(source, layer.data_offset, "offset", str(place))
    )
    checked = Rereading(context).context_with(edits)
    work.count(work.whole / 2)
    if checked is None:
        return None
    left = Counter(map(_key, graver_findings(checked)))
    explained = [each for each in graver if not take(left, _key(each))]
    if +left or finding not in explained:
        return None
    others = len(displaced) - 1
    more = "" if not others else " and the others of them" if others > 2 else f" and {others} more"
    change = f'offset="{displaced[0].place}"{more}'
    related = tuple(each for each in explained if each is not finding)
    candidate = Candidate(edits, change, finding.message, finding.offset, finding.layer, ())
    return Diagnosis(finding._replace(related=related), tuple(explained), (candidate,), True)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.rule.code, "" if finding.layer is None else finding.layer.label
