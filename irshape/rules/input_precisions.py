"""Finds the few input ports without a precision in a file whose other input ports have one."""

from __future__ import annotations

from ..model.graph import Layer
from ..model.ports import Port
from .context import Context

FEW = 0.1
"""If at most this share of the input ports has no precision, irshape takes it for an oversight."""
WRITTEN_AT_INPUTS = 11
"""The first IR version in which writers give the precisions of input ports."""


def inputs_unlike_others(context: Context) -> list[tuple[Layer, Port]]:
    """Returns the input ports without a precision, if they are few: writers give precisions to all
    or none."""
    if context.model.version < WRITTEN_AT_INPUTS or None not in context.ports.precisions:
        return []
    inputs = [(layer, port) for layer in context.every_layer for port in layer.inputs]
    lacking = [(layer, port) for layer, port in inputs if port.precision is None]
    return lacking if len(lacking) <= FEW * len(inputs) else []
