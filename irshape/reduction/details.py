"""Removes runtime information."""

from __future__ import annotations

from copy import copy

from ..model.graph import Layer
from .edits import mapped
from .search import Search


def drop_info(search: Search) -> None:
    """Removes the rt_info of the net and of all layers."""
    search.first([mapped(search.best.net, _without_info)], bare=True)


def _without_info(layer: Layer) -> Layer:
    plain = copy(layer)
    plain.rt_info_span = None
    return plain
