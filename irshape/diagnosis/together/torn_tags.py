"""What is wrong in one tag that lacks attributes is told once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...model.graph import Finding
from ...rule_ids import (
    MALFORMED_EDGE,
    MALFORMED_ID,
    MISSING_EDGE,
    MISSING_LAYER_ATTRIBUTE,
    MISSING_PRECISION,
)
from ..candidate import Candidate, Diagnosis
from ..telling import element_start
from .told import Causes, joined

SHOWN = 4
"""So much is told of what is wrong in one tag."""
_LACKING = (MALFORMED_EDGE, MISSING_LAYER_ATTRIBUTE, MALFORMED_ID, MISSING_PRECISION)


def of_torn_tags(causes: Causes) -> None:
    """Several findings stand in one tag."""
    every = causes.all()
    tags: dict[int, list[Diagnosis]] = {}
    for each in every:
        tags.setdefault(element_start(causes.source, each.finding.offset), []).append(each)
    unfed = [each for each in every if each.finding.rule == MISSING_EDGE]
    for start, group in tags.items():
        offsets = {each.finding.offset for each in group}
        if len(group) > 1 and len(offsets) == 1 and start not in offsets:
            causes.add(_of_one_attribute(group))
            continue
        torn = [each for each in group if _is_of_tearing(each.finding, start)]
        lead = next((each for each in torn if each.finding.offset == start), None)
        if lead is not None and len(torn) > 1:
            messages = dict.fromkeys(each.finding.message for each in (lead, *torn))
            cures = _at_once([each for each in torn if each.candidates])
            certain = bool(cures) and all(each.certain for each in torn)
            also = unfed if lead.finding.rule == MALFORMED_EDGE and len(unfed) == 1 else []
            fault = lead.finding.fault._replace(
                message=f"the tag is damaged: {'; '.join(list(messages)[:SHOWN])}",
                help="write it anew, as it was",
            )
            explained = tuple(finding for each in (*torn, *also) for finding in each.explained)
            told = lead.finding._replace(fault=fault, related=explained)
            causes.add(Diagnosis(told, explained, cures, certain))


def _is_of_tearing(finding: Finding, start: int) -> bool:
    """Whether an attribute is missing, or stands in the tag with what else it may be a rest of."""
    if finding.offset == start:
        return finding.rule in _LACKING
    return finding.rule != MALFORMED_ID  # one that is written loosely is whole


def _of_one_attribute(group: Sequence[Diagnosis]) -> Diagnosis:
    """What several findings say of one attribute, told by the one that can be taken back."""
    lead = next((each for each in group if each.candidates), group[0])
    explained = tuple(finding for each in group for finding in each.explained)
    return lead._replace(finding=lead.finding._replace(related=explained), explained=explained)


def _at_once(causes: Sequence[Diagnosis]) -> tuple[Candidate, ...]:
    """The first candidates of several causes as one; none if two of them change the same."""
    firsts = [cause.candidates[0] for cause in causes]
    edits = sorted(edit for first in firsts for edit in first.edits)
    if not edits or any(later.start < edit.end for edit, later in pairwise(edits)):
        return ()
    return (joined(firsts),)
