"""The errors that a run raises."""

from __future__ import annotations

from typing import Any

from ..model.graph import Layer


class ExecutionError(RuntimeError):
    """Raised if a model cannot be run at all, or not with these inputs. `layer`: the layer that
    fails. `diagnostics`: the errors that `irshape.validate` finds in the model, if they are the
    reason."""

    diagnostics: tuple[Any, ...] = ()

    def __init__(self, message: str, layer: Layer | None = None) -> None:
        super().__init__(message if layer is None else f"{layer.label}: {message}")
        self.layer = layer
        self.reason = message
        """The message without the label of the layer."""


class LayerRefusal(ExecutionError):
    """Raised if a layer refuses its inputs in a run. The run then names the inputs of the model
    from which the inputs of the layer are computed."""

    layer: Layer
