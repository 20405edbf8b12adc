"""The causes of what is wrong in a file: in the file as a whole, in single places, or in common."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..faults import MAX_SEARCHED
from ..model.graph import Finding
from ..rule_ids import (
    CONSTANT_OUT_OF_RANGE,
    CONTRADICTED_CONSTANT,
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    DUPLICATE_ID,
    HUGE_TENSOR,
    INPUT_SHAPES,
    MISSING_EDGE,
    MISSPELT_ELEMENT,
    PORT_MAP,
    REPEATED_ELEMENT,
    STRAY_TEXT,
    UNKNOWN_ELEMENT,
)
from ..rules import Context
from .candidate import Diagnosis
from .rule_groups import BETWEEN_PORTS
from .search import Search, of_values, without
from .telling import as_grave, cause_as_finding, with_likely
from .together.told import Causes
from .trials.stage import Stage
from .trials.trial import of_layers
from .trials.work import Work

FIRST = 8
"""Where the declaration of a document begins at most."""
MAX_TOLD = 8
"""With more causes than this, it is not asked whether one layer is behind several of them."""
_OF_ELEMENTS = (UNKNOWN_ELEMENT, REPEATED_ELEMENT, MISSPELT_ELEMENT, STRAY_TEXT)
_DOUBLED = (DUPLICATE_EDGE, DUPLICATE_ID)
_OF_ANOTHER_BODY = (DANGLING_EDGE, DUPLICATE_EDGE, PORT_MAP)
"""Rules of which a finding may stand at what belongs in another body."""
_WIRED = (DANGLING_EDGE, DUPLICATE_EDGE, MISSING_EDGE)
"""Rules of which findings are there where edges name wrong layers."""
_DIAGNOSED = (
    *("IR006", "IR009", "IR010", "IR016", "IR10", "IR11", "IR120", "IR121", "IR122"),
    *("IR2", "IR3", "IR4", "IR50"),
    *("IR602", "IR603", "IR604"),
)


def diagnose(
    context: Context,
    findings: Sequence[Finding],
    everything: Sequence[Finding],
    *,
    as_read: bool = False,
) -> list[Diagnosis]:
    """The causes of errors and warnings, each with what it explains and what takes it back.

    findings: those that are reported. everything: all that the rules found. as_read: the model is
    what its text says; otherwise a layer is compared with its text before a change of it is told.
    """
    graver = [
        finding
        for finding in findings
        if finding.severity != "info"
        and finding.rule.code.startswith(_DIAGNOSED)
        and finding.layer not in context.contrary  # no part of the model shows what those rest on
    ]
    if len(context.due_to_inputs) > 1:  # several layers say the same of two inputs
        graver = [
            finding
            for finding in graver
            if finding.rule != INPUT_SHAPES or finding.layer not in context.due_to_inputs
        ]
    model = context.model
    if not graver or model.kind != "net" or not model.format.fixable:
        return []
    everything = of_layers(everything)
    work, stage = Work(context), Stage(context, everything, as_read=as_read)
    huge = [finding for finding in graver if finding.rule == HUGE_TENSOR]  # true by itself
    diagnoses, graver = _causes(context, everything, graver, as_read, work, stage)
    causes = Causes(context, [*graver, *huge], diagnoses)
    _tell_together(causes, everything, stage, work)
    if any(finding.rule in BETWEEN_PORTS for finding in graver):
        from .together.groups import of_bypassed_layers

        of_bypassed_layers(causes)
    return [with_likely(as_grave(each)) for each in causes.diagnoses]


def _tell_together(causes: Causes, everything: Sequence[Finding], stage: Stage, work: Work) -> None:
    """What several findings have in common, of which no change of one place takes back all."""
    if max(len(causes.findings), len(causes.all())) < 2:
        return
    from .together import groups, lost_edges, missing_layers
    from .together.elsewhere import of_elements_elsewhere
    from .together.misfed_by_inputs import of_inputs
    from .together.suspects import of_suspects
    from .together.torn_tags import of_torn_tags

    few = len(causes.findings) <= MAX_SEARCHED
    groups.of_lost_inputs(causes)
    if few:
        groups.of_copied_layers(causes)
    lost_edges.of_doubled_edges(causes)
    missing_layers.of_blocks(causes)
    if few:
        groups.of_bodies(causes)
        groups.of_stray_texts(causes)
        missing_layers.of_pasted_layers(causes)
        missing_layers.of_shared_ids(causes)
    missing_layers.of_absent_layers(causes)
    lost_edges.of_lost_edges(causes)
    of_inputs(causes, everything)
    missing_layers.of_one_end(causes)
    groups.of_attributes(causes)
    groups.of_wrong_inputs(causes)
    missing_layers.of_both_ends(causes)
    of_elements_elsewhere(causes)
    if len(causes.all()) > 1 and any(each.rule in _WIRED for each in causes.findings):
        from .whole_file import renumbered_at_one_end

        ends = renumbered_at_one_end(stage, causes.findings)
        if ends is not None:
            causes.add(ends)
    groups.of_redirected_edges(causes)
    groups.of_pasted_pieces(causes)
    groups.of_the_same_in_several(causes)
    of_torn_tags(causes)
    if len(causes.all()) <= MAX_TOLD:
        lost_edges.of_all_lost_edges(causes)
        of_suspects(stage, causes, work)


def _causes(
    context: Context,
    everything: Sequence[Finding],
    graver: list[Finding],
    as_read: bool,
    work: Work,
    stage: Stage,
) -> tuple[list[Diagnosis], list[Finding]]:
    """The causes in the file as a whole and in single places; and the findings that neither a cause
    in the whole file explains nor are true by themselves."""
    diagnoses: list[Diagnosis] = []
    astray = len(context.results) > 1 and any(f.rule in _OF_ANOTHER_BODY for f in graver)
    data = context.model.source.data
    # a single byte is found far faster
    comments = b"!" in data and b"<!--" in data
    declared = data.find(b">") + 1
    comments = comments or (data.find(b"?", declared) >= 0 and data.find(b"<?", FIRST) >= 0)
    in_text = comments or any(f.rule in _OF_ELEMENTS for f in graver)
    doubled = 1 < sum(finding.rule in _DOUBLED for finding in graver) <= MAX_SEARCHED
    if astray or in_text or doubled:
        from .text.misplaced_elements import misplaced_cause

        misplaced = misplaced_cause(context, graver, work)
        if misplaced is not None:
            diagnoses.append(misplaced)
            graver = without(graver, [misplaced])
    if any(finding.rule == MISSING_EDGE for finding in graver):
        from .together.lost_edges import body_without_edges

        absent = body_without_edges(context, graver)
        if absent is not None:
            diagnoses.append(absent)
            graver = without(graver, [absent])
    if any(finding.rule == CONTRADICTED_CONSTANT for finding in graver):
        from .whole_file.displaced import displaced_cause

        displaced = displaced_cause(context, graver, work)
        if displaced is not None:
            diagnoses.append(displaced)
            graver = without(graver, [displaced])
    if len(graver) > 1 or any(f.rule == CONSTANT_OUT_OF_RANGE for f in graver):
        from .whole_file import whole_file_cause

        single = partial(_single, stage, as_read, work)
        whole = whole_file_cause(stage, graver, single, work)
        if whole is not None:
            diagnoses.append(whole)
            graver = without(graver, [whole])
    huge = [finding for finding in graver if finding.rule == HUGE_TENSOR]  # true by itself
    graver = [finding for finding in graver if finding.rule != HUGE_TENSOR]
    if len(graver) > MAX_SEARCHED:
        return diagnoses, graver
    diagnoses += Search(context, graver, work, huge, stage=stage, as_read=as_read).run()
    rest = without(graver, diagnoses)
    if 1 < len(rest) < len(graver):  # the others hid what they have in common
        from .whole_file import another_batch

        whole = another_batch(context, rest)
        diagnoses += [] if whole is None else [whole]
    return diagnoses, graver


def _single(
    stage: Stage,
    as_read: bool,
    work: Work,
    context: Context,
    findings: Sequence[Finding],
    count: int,
) -> Diagnosis | None:
    """The one constant that explains so many findings, if there is one."""
    search = Search(context, findings, work, stage=stage, as_read=as_read)
    for finding in search.waiting[:2]:
        for scene, position in search.places(finding):
            if position is None:
                continue
            for entry in search.tried(scene, finding, [of_values(scene, finding, position)]):
                if entry[0] >= count:
                    cause = cause_as_finding(context.model.source, entry[1], entry[2])
                    return Diagnosis(cause, entry[2], (), False)
    return None
