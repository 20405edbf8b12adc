"""Reports to the caller what a comparison is doing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..execution.session import Observer


class Progress(NamedTuple):
    """The caller's functions that are called as the comparison proceeds.

    layer: called with each layer that irshape computes, its inputs and its outputs.
    phase: called when a phase begins, with its description and how often `layer` will be called.
    """

    layer: Observer | None = None
    phase: Callable[[str, int], None] | None = None

    def begin(self, text: str, layers: int = 0) -> None:
        """Reports that a phase begins."""
        if self.phase is not None:
            self.phase(text, layers)
