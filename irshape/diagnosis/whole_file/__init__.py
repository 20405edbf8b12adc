"""Causes that lie in no single element: another .bin, another batch, ids that were renumbered.

They show in many findings at once, and are told as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model.graph import Finding
from ..candidate import Diagnosis
from ..trials.stage import Stage
from ..trials.work import Work
from .another_batch import another_batch
from .other_weights import Single, other_weights, short_weights
from .renumbering import renumbered, renumbered_at_one_end

__all__ = ["another_batch", "renumbered_at_one_end", "whole_file_cause"]


def whole_file_cause(
    stage: Stage, findings: Sequence[Finding], single: Single, work: Work
) -> Diagnosis | None:
    """The cause that lies in the file as a whole, if there is one."""
    context = stage.context
    return (
        short_weights(context, findings)
        or another_batch(context, findings)
        or other_weights(context, findings, single, work)
        or renumbered(stage, findings)
    )
