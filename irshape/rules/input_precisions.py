"""Input ports without a precision in a file whose other input ports have one."""

from __future__ import annotations

from ..model.graph import Layer
from ..model.ports import Port
from .context import Context

FEW = 0.1
"""What part of the input ports has no precision by a slip."""
WRITTEN_AT_INPUTS = 11
"""The IR version from which on writers give the precisions of input ports."""


def inputs_unlike_others(context: Context) -> list[tuple[Layer, Port]]:
    """The few input ports without a precision: who writes that of one writes those of all."""
    if context.model.version < WRITTEN_AT_INPUTS or None not in context.ports.precisions:
        return []
    inputs = [(layer, port) for layer in context.every_layer for port in layer.inputs]
    lacking = [(layer, port) for layer, port in inputs if port.precision is None]
    return lacking if len(lacking) <= FEW * len(inputs) else []
