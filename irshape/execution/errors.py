"""What a run raises where it cannot go on."""

from __future__ import annotations

from typing import Any

from ..model.graph import Layer


class ExecutionError(RuntimeError):
    """A model cannot be run, or not with these inputs; `layer` is the one to blame.

    `diagnostics`: what `validate` reports of the model, where that is the reason.
    """

    diagnostics: tuple[Any, ...] = ()

    def __init__(self, message: str, layer: Layer | None = None) -> None:
        super().__init__(message if layer is None else f"{layer.label}: {message}")
        self.layer = layer
        self.reason = message
        """The message without the layer."""


class LayerRefusal(ExecutionError):
    """A layer refuses what reaches it in a run; the run adds where that comes from."""

    layer: Layer
