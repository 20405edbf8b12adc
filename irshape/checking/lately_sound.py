"""The texts with which nothing was wrong when they were validated last.

A file that is edited is mostly such a text but for one slip.
"""

from __future__ import annotations

from collections import deque

from ..model.graph import Model
from ..model.weights import Weights
from ..rules.settings import Settings

LARGEST = 1 << 21
"""So many bytes a text has at most that is kept."""
_texts: deque[tuple[object, ...]] = deque(maxlen=4)


def _key(text: bytes, weights: Weights, settings: Settings) -> tuple[object, ...] | None:
    """What decides what is found; None for a .bin that may change."""
    if len(text) > LARGEST or (weights.data is not None and weights.identity is None):
        return None
    return text, weights.state, weights.identity, weights.path, settings


def remember_sound(model: Model, settings: Settings) -> None:
    """Notes that a model, as it was read from its text, has neither errors nor warnings."""
    weights = model.weights
    key = _key(model.source.data, weights, settings) if weights is not None else None
    if key is not None and key not in _texts:
        _texts.append(key)


def was_sound(text: bytes, weights: Weights, settings: Settings) -> bool:
    """Whether a text has neither errors nor warnings, as far as that is known."""
    return (key := _key(text, weights, settings)) is not None and key in _texts
