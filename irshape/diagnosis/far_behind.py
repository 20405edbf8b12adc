"""What a cause explains far behind it, where no part of a body reaches that is checked.

A wrong attribute may be taken as it stands, and first be refused a thousand layers behind. Looked
at alone, that layer would be given a cause of its own, and a sound attribute be changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model.graph import Finding
from .candidate import Diagnosis
from .text.rereading import Rereading, graver_findings, place_of
from .trials.parts import behind, flagged_layers
from .trials.scene import Scene
from .trials.work import Work


def far_behind(net: Scene, diagnosis: Diagnosis, rest: Sequence[Finding], work: Work) -> Diagnosis:
    """A cause with those of the other findings behind it that are gone once the whole is inferred
    with its likeliest change."""
    here = flagged_layers(net, [diagnosis.finding, *diagnosis.explained])
    reached = behind(net, sorted(here), len(net.layers)) - here
    rest = [each for each in rest if not flagged_layers(net, [each]).isdisjoint(reached)]
    if not rest:
        return diagnosis
    work.count_inference()
    after = Rereading(net.context).context_with(diagnosis.candidates[0].edits)
    if after is None:
        return diagnosis
    left = {place_of(each) for each in graver_findings(after)}
    more = [each for each in rest if place_of(each) not in left]
    finding = diagnosis.finding
    return diagnosis._replace(
        finding=finding._replace(related=(*finding.related, *more)),
        explained=(*diagnosis.explained, *more),
    )
