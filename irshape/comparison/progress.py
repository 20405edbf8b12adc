"""How a comparison tells its caller what is being done."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..execution.session import Observer


class Progress(NamedTuple):
    """Whom to tell what is being done.

    layer: called with each layer that irshape computes, its inputs and its outputs. phase: called
    when a phase begins, with what is done and how many layers `layer` will be called with.
    """

    layer: Observer | None = None
    phase: Callable[[str, int], None] | None = None

    def begin(self, text: str, layers: int = 0) -> None:
        """Tells that a phase begins."""
        if self.phase is not None:
            self.phase(text, layers)
