"""Causes that lie in no single element: another .bin, another batch, ids that were renumbered.

They show in many findings at once, and are told as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model.graph import Finding
from ...rules import Context
from ..candidate import Diagnosis
from ..trials.work import Work
from .another_batch import another_batch
from .other_weights import Single, other_weights, short_weights
from .renumbering import renumbered

__all__ = ["another_batch", "whole_file_cause"]


def whole_file_cause(
    context: Context, findings: Sequence[Finding], single: Single, work: Work
) -> Diagnosis | None:
    """The cause that lies in the file as a whole, if there is one."""
    return (
        short_weights(context, findings)
        or another_batch(context, findings)
        or other_weights(context, findings, single, work)
        or renumbered(context, findings)
    )
